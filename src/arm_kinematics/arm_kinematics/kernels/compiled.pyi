# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The compiled kernels, cpp/module.cpp. Lengths in metres, angles in radians.

Arrays are C-contiguous float64, records those of `layout`; anything else raises TypeError,
ValueError or OverflowError and changes nothing. Chains have n rows of JOINT behind that of the
base. But for `fk` and `fk_jacobian`, the interpreter's lock is released meanwhile: no other thread
may change the arguments.
"""

from collections.abc import Callable
from typing import Any

from arm_common.transforms import Array
from numpy.typing import ArrayLike

from arm_kinematics.kernels.layout import Records

RECORD_SIZES: tuple[int, ...]
SOURCES: str
"""The digest of the sources from which it was compiled."""

class Result:
    """The base of IkResult: status, the numbers of a result of n joints, and the reason."""

    status: Any
    _numbers: Array
    _n: int
    _reason: Any
    _solutions: Any
    def __init__(self, status: Any, numbers: Array, n: int, reason: Any, /) -> None: ...
    @property
    def q(self) -> Array: ...
    @property
    def every_q(self) -> Array: ...

def prepare_nearest(
    chain: Records,
    options: Records,
    exact: Records,
    plan: Records | None,
    middle: Array,
    kind: type[Any],
    success: Any,
    /,
) -> Callable[[ArrayLike, ArrayLike | None], Any]:
    """Return the function of T (4, 4) and a seed (n,), or None for mid-range, that solves.

    It returns the solution nearest to the seed, as a result of a kind; None without one or for
    invalid arguments. Without a plan it searches.
    """

def prepare_all(
    chain: Records,
    options: Records,
    exact: Records,
    plan: Records | None,
    middle: Array,
    kind: type[Any],
    success: Any,
    /,
) -> Callable[[ArrayLike, ArrayLike | None], Any]:
    """Return likewise the function for all solutions of the closed form, the nearest first."""

def fk(chain: Records, q: ArrayLike, /) -> Array | None:
    """Return the pose (4, 4) of the tip in the base frame; None if q is not n finite numbers."""

def fk_jacobian(chain: Records, q: ArrayLike, /) -> tuple[Array, Array] | None:
    """Return that and the Jacobian (6, n) at the tip's origin, base axes, linear rows first."""

def search(chain: Records, options: Records, T: Array, seed: Array, result: Records, /) -> int:
    """Continue a search; return the number of solutions, -1 for a bad target or seed."""

def solve_all(
    chain: Records, options: Records, plan: Records, T: Array, seed: Array, result: Records, /
) -> int:
    """Find all solutions of a closed form, nearest to the seed first; return as `search` does."""

def solve_given(
    chain: Records,
    options: Records,
    length: float,
    postures: Array,
    T: Array,
    seed: Array,
    result: Records,
    /,
) -> int:
    """Find the solutions among postures (k, n); ``length`` is that of the arm."""

def solve_many(
    chain: Records,
    options: Records,
    exact: Records,
    plan: Records | None,
    Ts: Array,
    seeds: Array,
    results: Array,
    /,
) -> None:
    """Fill the numbers (m, k) of a result with one slot for each target.

    Each is solved by the closed form, or by a search without one or if that finds no solution.
    """

def fill_postures(chain: Records, plan: Records, Ts: Array, seed: Array, out: Array, /) -> None:
    """Fill out (MAX_BRANCHES m, n) with the branches inside the limits at Ts (m, 4, 4) or NaN."""

def collect(
    chain: Records,
    T: Array,
    unit: float,
    order: int,
    before: Array,
    behind: Array,
    q3: Array,
    v: Array,
    limits: Array,
    solutions: Array,
    count: int,
    /,
) -> tuple[int, int]:
    """Add the solutions of eigenvalues, q3 (k,) and v (k, 12), to the first ones (m, 6).

    The coefficients of the loop are (9, 14). Candidates with errors below limits (k,) are
    polished; their errors replace those that are not negative. Returns how many solutions are
    here, and all.
    """

def trace(
    chain: Records,
    T: Array,
    unit: float,
    longest: float,
    ahead: Array,
    points: Array,
    count: int,
    /,
) -> tuple[int, int]:
    """Continue a self-motion of which points (m, 7) has count; return the count and an Ending.

    The first step is about in direction ``ahead`` (7,).
    """

def passes(
    chain: Records, T: Array, unit: float, longest: float, points: Array, q: Array, /
) -> bool:
    """Return whether a traced self-motion (m, 7) passes through q."""

def fill_point(
    chain: Records, T: Array, unit: float, near: Array, step: Array, q: Array, /
) -> bool:
    """Fill q with the point of a self-motion at a step from a near one; False if there is none."""

def inverse_dynamics(
    bodies: Array, q: Array, velocity: Array, acceleration: Array, gravity: Array, tau: Array, /
) -> bool:
    """Fill tau (m, n) with the torques of the motion in each row (m, n).

    Returns False if an input is not n finite numbers a row.
    """

def backward_pass(offset: Array, gain: Array, x: Array, /) -> None:
    """Do as `arm_common.time_scaling.backward_pass`."""

def forward_pass(offset: Array, gain: Array, x: Array, /) -> None:
    """Do as `arm_common.time_scaling.forward_pass`."""
