# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reads mesh files with trimesh and caches them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from arm_viewer.errors import MeshError, MissingPackageError


class MeshFiles:
    """A cache of meshes.

    Args:
        share_folder: Package name -> its share folder, for `package://` names; raises
            LookupError for a package that is not installed.
    """

    def __init__(self, share_folder: Callable[[str], Path]) -> None:
        self._share_folder = share_folder
        self._known: dict[str, Any] = {}

    def load(self, uri: str) -> Any:
        """Return the trimesh.Trimesh of a file, all parts joined; lengths as in the file.

        Args:
            uri: `package://name/path`, `file:///path` or a path.

        Raises:
            MeshError: If there is no such file or it cannot be understood.
            MissingPackageError: If trimesh is not installed.
        """
        if uri not in self._known:
            self._known[uri] = _read(uri, self.path(uri))
        return self._known[uri]

    def path(self, uri: str) -> Path:
        """Return the file of a URI.

        Raises:
            MeshError: If the scheme or the package is unknown, or there is no such file.
        """
        parts = urlparse(uri)
        if parts.scheme == "package":
            try:
                path = self._share_folder(parts.netloc) / unquote(parts.path).lstrip("/")
            except LookupError as error:
                raise MeshError(uri, f'no package "{parts.netloc}" is installed') from error
        elif parts.scheme in ("", "file"):
            path = Path(unquote(parts.path))
        else:
            raise MeshError(uri, f"{parts.scheme}:// is not read; use package:// or file://")
        if not path.is_file():
            raise MeshError(uri, f"there is no file {path}")
        return path


def _read(uri: str, path: Path) -> Any:
    try:
        import trimesh
    except ImportError as error:
        raise MissingPackageError("trimesh", f"the mesh {uri} needs it") from error
    try:
        mesh: Any = trimesh.load(path, force="mesh")
    except Exception as error:  # Every format's reader raises its own kind.
        raise MeshError(uri, f"it cannot be read ({error}); try STL, OBJ or GLB") from error
    if not len(mesh.faces):
        raise MeshError(uri, f"it cannot be read as {path.suffix}, no triangle is in it")
    return mesh


def share_folder(package: str) -> Path:
    """Return the share folder of an installed ROS package.

    Raises:
        LookupError: If it is not installed.
    """
    from ament_index_python.packages import get_package_share_directory

    return Path(get_package_share_directory(package))
