# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Validation of arguments: functions that return float arrays or raise KinematicsError."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from arm_common.transforms import Array, is_rotation
from numpy.typing import ArrayLike

from arm_kinematics.errors import KinematicsError


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
    """Return the rigid transform T as a contiguous float array (4, 4)."""
    matrix = floats(T)
    if matrix is None or matrix.shape != (4, 4):
        found = "something else" if matrix is None else str(matrix.shape)
        problem = f"expected numbers of shape (4, 4), got {found}"
    elif not all(map(math.isfinite, matrix.ravel().tolist())):
        problem = "contains NaN or infinity"
    elif not is_rotation(matrix[:3, :3]):
        problem = "the (3, 3) part is not a rotation matrix (orthonormal, determinant +1)"
    elif np.abs(matrix[3] - (0.0, 0.0, 0.0, 1.0)).sum() > 1e-9:
        problem = "the last row must be 0 0 0 1"
    else:
        return matrix
    raise KinematicsError(f"{what}: {problem}", what=what, value=T)


def floats(values: Any) -> Array | None:
    """Return values as a contiguous float array; None if they are not numbers."""
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
