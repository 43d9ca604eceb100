# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Validation of arguments: functions that return float arrays or raise KinematicsError."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from arm_common.transforms import Array, is_rotation, pose
from numpy.typing import ArrayLike

from arm_kinematics.errors import KinematicsError

FEW_DIGITS = 1e-4
"""Largest error of an element of a rotation matrix that counts as rounding."""


def vector(
    values: ArrayLike,
    count: int,
    what: str,
    expected: str = "finite numbers",
    accept: Callable[[Array], Any] = np.isfinite,
) -> Array:
    """Return the argument ``what`` as a contiguous float array (count,) of accepted values."""
    array = floats(values)
    if array is None or array.shape != (count,) or not np.all(accept(array)):
        raise KinematicsError(
            f"{what}: expected {count} {expected}, got {values!r}", what=what, value=values
        )
    return array


def joint_positions(values: ArrayLike, names: tuple[str, ...], what: str) -> Array:
    """Return positions of the named joints as a contiguous float array (n,) [rad or m]."""
    return vector(values, len(names), what, f"finite numbers in the order {', '.join(names)}")


def require(is_valid: Any, what: str, value: Any, expected: str) -> None:
    """Raise KinematicsError unless the value of an argument is valid."""
    if not is_valid:
        raise KinematicsError(f"{what} is {value!r}; expected {expected}", what=what, value=value)


def positive(value: Any, what: str) -> float:
    """Return value as a positive float, possibly infinite."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    require(number > 0.0, what, value, "a positive number")
    return number


def one_of(word: Any, what: str, known: tuple[str, ...]) -> int:
    """Return the index of a word in the tuple of known words."""
    require(word in known, what, word, f"one of {', '.join(known)}")
    return known.index(word)


def rigid_transform(T: ArrayLike, what: str) -> Array:
    """Return the rigid transform T as a contiguous float array (4, 4).

    A rotation of few digits is replaced by the nearest one.
    """
    matrix = floats(T)
    if matrix is None or matrix.shape != (4, 4):
        found = "something else" if matrix is None else str(matrix.shape)
        problem = f"expected numbers of shape (4, 4), got {found}"
    elif not all(map(math.isfinite, matrix.ravel().tolist())):
        problem = "contains NaN or infinity"
    elif problem := _rotation_problem(matrix[:3, :3]):
        problem = f"the (3, 3) part is not a rotation matrix: {problem}"
    elif np.abs(matrix[3] - (0.0, 0.0, 0.0, 1.0)).sum() > 1e-9:
        problem = "the last row must be 0 0 0 1"
    elif is_rotation(matrix[:3, :3]):
        return matrix
    else:
        return pose(nearest_rotation(matrix[:3, :3]), matrix[:3, 3])
    raise KinematicsError(f"{what}: {problem}", what=what, value=T)


def _rotation_problem(R: Array) -> str:
    """Return why a matrix (3, 3) is no rotation, not even one of few digits; "" if it is."""
    if is_rotation(R):
        return ""
    if np.linalg.det(R) <= 0.0:
        return "its determinant is not +1"
    off = float(np.abs(nearest_rotation(R) - R).max())
    mend = "u, _, v = numpy.linalg.svd(R) gives the nearest one, u @ v"
    return "" if off <= FEW_DIGITS else f"an element is off by {off:.2g}; {mend}"


def nearest_rotation(R: Array) -> Array:
    """Return the rotation (3, 3) that is nearest to a matrix."""
    u, _, v = np.linalg.svd(R)
    return np.asarray(u @ v)


def target_pose(T: ArrayLike, position_only: bool) -> Array:
    """Return a target as a pose (4, 4); where only the position counts, it may be that (3,)."""
    point = floats(T)
    if point is not None and point.shape == (3,):
        if position_only:
            return rigid_transform(pose(p=point), "target")
        problem = "a position alone needs mode 'position'; expected numbers of shape (4, 4)"
        raise KinematicsError(f"target: {problem}", what="target", value=T)
    return rigid_transform(T, "target")


def floats(values: Any) -> Array | None:
    """Return values as a contiguous float array; None if they are not numbers."""
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def row(values: Any) -> Array:
    """Return values as a contiguous row of numbers, empty if they are not one."""
    array = floats(values)
    return array if array is not None and array.ndim == 1 else np.empty(0)


def frozen(array: Array) -> Array:
    """Return a read-only copy of an array."""
    array = np.array(array, dtype=np.float64)
    array.setflags(write=False)
    return array
