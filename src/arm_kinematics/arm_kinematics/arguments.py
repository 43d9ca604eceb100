# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Check the arguments of callers: return arrays of numbers, or raise KinematicsError."""

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
    """Return values as a contiguous float array (count,).

    Args:
        values: What the caller gave.
        count: How many there must be.
        what: Name of the argument.
        expected: What they must be, for the message.
        accept: Returns which of them are acceptable.
    """
    array = _floats(values)
    if array is None or array.shape != (count,) or not np.all(accept(array)):
        raise KinematicsError(
            f"{what}: expected {count} {expected}, got {values!r}", what=what, value=values
        )
    return array


def joint_positions(values: ArrayLike, names: tuple[str, ...], what: str) -> Array:
    """Return positions of the named joints as a contiguous float array (n,) [rad or m]."""
    return vector(values, len(names), what, f"finite numbers in the order {', '.join(names)}")


def positive(value: Any, what: str, expected: str = "a positive number") -> float:
    """Return value as a float above 0, which may be infinite."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number > 0.0:
        raise KinematicsError(f"{what} is {value!r}; expected {expected}", what=what, value=value)
    return number


def one_of(word: Any, what: str, known: tuple[str, ...]) -> int:
    """Return the number of a word among those known."""
    if word not in known:
        raise KinematicsError(
            f"{what} is {word!r}; expected one of {', '.join(known)}", what=what, value=word
        )
    return known.index(word)


def rigid_transform(T: ArrayLike, what: str) -> Array:
    """Return T as a contiguous float array (4, 4)."""
    matrix = _floats(T)
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


def _floats(values: Any) -> Array | None:
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
