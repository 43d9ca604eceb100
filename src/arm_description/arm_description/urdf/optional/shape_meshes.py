# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/urdf/test_looks.py
"""Meshes of the shapes that URDF lacks, written as STL files into the user's cache.

The name of a file follows from its shape, so that each is written once and a description names
the same file whenever it is made.
"""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
from arm_common.errors import InputError
from arm_common.files.saving import write_bytes
from arm_common.transforms import Matrix

from arm_description.errors import DescriptionError
from arm_description.urdf.appearance import profile
from arm_description.urdf.elements import shape_folder

_SIDES = 48
_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def mesh_file(kind: str, size: tuple[float, ...]) -> Path:
    """Return the mesh of a cone, ring or fillet in metres, which is written if it is missing.

    Raises:
        DescriptionError: it cannot be written.
    """
    return _mesh_file(kind, size, shape_folder())


@lru_cache(maxsize=1024)
def _mesh_file(kind: str, size: tuple[float, ...], folder: Path) -> Path:
    data = stl(triangles(kind, size))
    path = folder / f"{kind}_{hashlib.sha256(data).hexdigest()[:12]}.stl"
    try:
        if not (path.is_file() and path.read_bytes() == data):
            folder.mkdir(parents=True, exist_ok=True)
            write_bytes(data, path)
    except (OSError, InputError):
        raise DescriptionError(
            f"the mesh of a {kind} cannot be written to {folder}",
            remedy="set XDG_CACHE_HOME to a folder that can be written",
        ) from None
    return path


def triangles(kind: str, size: tuple[float, ...]) -> Matrix:
    """Return the surface of a body of revolution as triangles (n, 3, 3), seen from outside."""
    outline = profile(kind, size)
    angles = np.arange(_SIDES + 1) * (2.0 * math.pi / _SIDES)
    angles[-1] = 0.0  # closed without a seam
    x, y = (np.outer(turn(angles), outline[:, 0]) for turn in (np.cos, np.sin))
    grid = np.stack((x, y, np.broadcast_to(outline[:, 1], x.shape)), axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    both = np.stack((a, b, c, a, c, d), axis=2).reshape(-1, 3, 3)
    flat = np.cross(both[:, 1] - both[:, 0], both[:, 2] - both[:, 0])
    solid: Matrix = both[np.linalg.norm(flat, axis=1) > 1e-15]
    return solid


def stl(corners: Matrix) -> bytes:
    """Return triangles (n, 3, 3) as a binary STL file."""
    out = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    records = np.zeros(len(corners), dtype=_RECORD)
    records["normal"] = out / np.linalg.norm(out, axis=1, keepdims=True)
    records["corners"] = corners
    count = len(corners).to_bytes(4, "little")
    return bytes(80) + count + records.tobytes()
