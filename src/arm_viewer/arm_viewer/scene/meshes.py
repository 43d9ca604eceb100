# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reads mesh files with trimesh and caches them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from arm_viewer.errors import ViewerError, required


class MeshFiles:
    """A cache of meshes; share_folder (of a package) raises LookupError if it is not installed."""

    def __init__(self, share_folder: Callable[[str], Path]) -> None:
        self._share_folder = share_folder
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
            try:
                path = self._share_folder(parts.netloc) / unquote(parts.path).lstrip("/")
            except LookupError as error:
                raise _problem(uri, f'no package "{parts.netloc}" is installed') from error
        elif parts.scheme in ("", "file"):
            path = Path(unquote(parts.path))
        else:
            raise _problem(uri, f"{parts.scheme}:// is not read; use package:// or file://")
        if not path.is_file():
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
