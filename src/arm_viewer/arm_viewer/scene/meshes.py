# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reads mesh files with trimesh and caches them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from arm_common.files import ANY_FILE, FileAccess

from arm_viewer.errors import ViewerError, required


class MeshFiles:
    """A cache of meshes.

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
            self._known[uri] = _read(uri, self._path(uri))
        return self._known[uri]

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
    try:
        mesh: Any = trimesh.load(path, force="mesh")
    except Exception as error:  # Every format's reader raises its own kind.
        raise _problem(uri, f"it cannot be read ({error}); try STL, OBJ or GLB") from error
    if not len(mesh.faces):
        raise _problem(uri, f"it cannot be read as {path.suffix}: it contains no triangles")
    return mesh


def _problem(uri: str, problem: str) -> ViewerError:
    return ViewerError(f"mesh {uri}: {problem}")
