# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reads mesh files with trimesh and caches them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from arm_common.files.access import ANY_FILE, FileAccess

from arm_viewer.errors import ViewerError, required

MAX_BYTES = 50_000_000  # of a file
MAX_FACES = 2_000_000  # of a mesh, and of all that are kept


class MeshFiles:
    """A cache of meshes; the oldest are dropped where they have more than `MAX_FACES` triangles.

    Args:
        share_folder: Returns the share folder of a package; raises LookupError if it is not
            installed. Its files may be links, which its installer has made.
        files: The files that other URIs may refer to.
    """

    def __init__(self, share_folder: Callable[[str], Path], files: FileAccess = ANY_FILE) -> None:
        self._share_folder, self._files = share_folder, files
        self._known: dict[str, Any] = {}

    def load(self, uri: str) -> Any:
        """Return the trimesh.Trimesh of a file, all parts joined; lengths as in the file.

        Its URI is `package://name/path`, `file:///path` or a path.

        Raises:
            ViewerError: There is no such file, or trimesh is missing or cannot read it.
        """
        if uri not in self._known:
            mesh = _read(uri, self._path(uri))
            while self._known and self._faces + len(mesh.faces) > MAX_FACES:
                self._known.pop(next(iter(self._known)))
            self._known[uri] = mesh
        return self._known[uri]

    @property
    def _faces(self) -> int:
        return sum(len(mesh.faces) for mesh in self._known.values())

    def _path(self, uri: str) -> Path:
        parts = urlparse(uri)
        if parts.scheme == "package":
            return self._in_package(uri, parts.netloc, unquote(parts.path).lstrip("/"))
        if parts.scheme not in ("", "file"):
            raise _problem(uri, f"{parts.scheme}:// is not read; use package:// or file://")
        path = Path(unquote(parts.path))
        if not self._files.has(path):
            raise _problem(uri, f"there is no file {path} in a folder of the parameter mesh_path")
        return path

    def _in_package(self, uri: str, package: str, name: str) -> Path:
        try:
            share = self._share_folder(package)
        except LookupError as error:
            raise _problem(uri, f'no package "{package}" is installed') from error
        path = Path(os.path.normpath(share / name))
        if not path.is_relative_to(share) or not ANY_FILE.has(path):
            raise _problem(uri, f"there is no file {path}")
        return path


def _read(uri: str, path: Path) -> Any:
    with required("trimesh", f"the mesh {uri} needs it"):
        import trimesh
    if (size := path.stat().st_size) > MAX_BYTES:
        raise _problem(uri, f"it has {size // 10**6} MB; at most {MAX_BYTES // 10**6} MB are read")
    try:
        mesh: Any = trimesh.load(path, force="mesh")
    except Exception as error:  # Every format's reader raises its own kind.
        raise _problem(uri, f"it cannot be read ({error}); try STL, OBJ or GLB") from error
    if not len(mesh.faces):
        raise _problem(uri, f"it cannot be read as {path.suffix}: it contains no triangles")
    if (count := len(mesh.faces)) > MAX_FACES:
        raise _problem(uri, f"it has {count} triangles; at most {MAX_FACES} are drawn")
    return mesh


def _problem(uri: str, problem: str) -> ViewerError:
    return ViewerError(f"mesh {uri}: {problem}")
