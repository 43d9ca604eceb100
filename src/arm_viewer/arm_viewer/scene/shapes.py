# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/scene/test_markers.py
"""Drawable shapes, to which URDF visuals and markers are converted, their boxes, and mesh files.

Lengths in metres, in the shape's own frame; colours red, green, blue, alpha, each 0 to 1. Shapes
are immutable; their arrays are read-only. trimesh reads the files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlparse

import numpy as np
from arm_common.files.access import ANY_FILE, FileAccess
from arm_common.transforms import Array

from arm_viewer.errors import ViewerError, required

Colour = tuple[float, float, float, float]

MAX_BYTES = 50_000_000  # of a file
MAX_FACES = 2_000_000  # of a mesh, and of all that are kept
GREY: Colour = (0.62, 0.65, 0.70, 1.0)


def unit_colour(rgb: tuple[int, int, int], opacity: float = 1.0) -> Colour:
    """Return a colour of 0 to 255 as one of 0 to 1."""
    red, green, blue = rgb
    return red / 255.0, green / 255.0, blue / 255.0, opacity


@dataclass(frozen=True, eq=False)
class DrawnShape:
    """The base of all shapes; two are equal if they look the same."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __hash__(self) -> int:
        return id(self)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    return bool(a == b)


@dataclass(frozen=True, eq=False)
class Box(DrawnShape):
    """A box centred at the origin. `size`: edge lengths along x, y, z [m]."""

    size: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Cylinder(DrawnShape):
    """A cylinder along z, centred at the origin. `diameters`: along x and y [m]."""

    diameters: tuple[float, float]
    length: float


@dataclass(frozen=True, eq=False)
class Ellipsoid(DrawnShape):
    """An ellipsoid (a sphere if all are equal) at the origin. `diameters`: along x, y, z [m]."""

    diameters: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class MeshFile(DrawnShape):
    """A mesh in a file. `uri`: package://, file:// or a path; `scale`: factor along x, y, z."""

    uri: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    own_colours: bool = True


@dataclass(frozen=True, eq=False)
class Arrows(DrawnShape):
    """Arrows from points[i, 0] to points[i, 1].

    `points`: (n, 2, 3) [m]; diameters of shaft and head and the head's length [m].
    """

    points: Array
    shaft_diameter: float
    head_diameter: float
    head_length: float


@dataclass(frozen=True, eq=False)
class Lines(DrawnShape):
    """Line segments. `points`: (n, 2, 3) [m]; `colours`: (n, 2, 3) or None; `width` [m]."""

    points: Array
    colours: Array | None
    width: float


@dataclass(frozen=True, eq=False)
class PointCloud(DrawnShape):
    """Flat points that face the camera. `points`: (n, 3) [m]; `colours`: (n, 3) or None."""

    points: Array
    colours: Array | None
    size: float


@dataclass(frozen=True, eq=False)
class Copies(DrawnShape):
    """The same solid at many positions. `positions`: (n, 3) [m]; `colours`: (n, 3) or None."""

    solid: Box | Ellipsoid
    positions: Array
    colours: Array | None


@dataclass(frozen=True, eq=False)
class Triangles(DrawnShape):
    """Triangles, both sides drawn. `vertices`: (3 n, 3) [m]; `colours`: (3 n, 3) or None."""

    vertices: Array
    colours: Array | None


@dataclass(frozen=True, eq=False)
class TextLabel(DrawnShape):
    """Text that faces the camera. `height`: of a capital letter [m]."""

    text: str
    height: float


class PlacedShape(NamedTuple):
    """A shape at its place."""

    shape: DrawnShape
    pose: Array  # (4, 4), fixed frame <- shape
    colour: Colour
    wireframe: bool = False
    on_top: bool = False  # of all bodies, wherever it is


def frozen(values: Any, shape: tuple[int, ...]) -> Array:
    """Return a read-only copy of the values as a float array of a shape."""
    array = np.array(values, dtype=float).reshape(shape)
    array.setflags(write=False)
    return array


SIGNS = np.array(list(product((-0.5, 0.5), repeat=3)))


def corners(shape: DrawnShape, pose: Array) -> Array:
    """Return the corners of a posed solid's box, (8, 3); of other shapes the origin, (1, 3)."""
    if isinstance(shape, Box):
        size: tuple[float, ...] = shape.size
    elif isinstance(shape, Cylinder):
        size = (*shape.diameters, shape.length)
    elif isinstance(shape, Ellipsoid):
        size = shape.diameters
    else:
        return np.array(pose[:3, 3][None])
    return np.array((SIGNS * size) @ pose[:3, :3].T + pose[:3, 3])


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
