# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The result of inverse kinematics: status, solutions, residuals, and a message."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from arm_common.errors import number_text
from arm_common.transforms import Array

from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.search_model import SearchModel, used_slots, with_slots
from arm_kinematics.kernels.forward import LEADER, PERIOD
from arm_kinematics.kernels.residuals import OPTIONS
from arm_kinematics.kernels.search import BEST, COUNT, FOUND, HEAD, SINGULAR, USED

_SINGULAR = "; singular: one of infinitely many solutions, with the free joints kept at the seed"


class IkStatus(IntEnum):
    """Outcome of a search; the values are those of arm_interfaces/srv/SolveIK."""

    SUCCESS = 1
    """Every solution is within tolerance and limits."""
    APPROXIMATE = 2
    """Out of reach; the solution is the nearest reachable pose that was found, a local best."""
    UNREACHABLE_POSITION = -1
    """The position is out of reach."""
    UNREACHABLE_ORIENTATION = -2
    """The position is within reach, but not with this orientation."""
    JOINT_LIMIT = -3
    """The pose would be within reach without the limits of some joints."""
    TIMEOUT = -5
    """Time ran out before a solution was found."""


class IkSolution(NamedTuple):
    """One solution, inside the joint limits.

    Attributes:
        q: Joint positions (n,) [rad or m].
        position_error: Distance from the target position [m].
        orientation_error: Angle from the target orientation [rad]: of the whole rotation in mode
            "pose", between the two tool axes in mode "position_axis", 0 in mode "position".
        distance: Distance of q from the seed: the root of the weighted sum of squares.
    """

    q: Array
    position_error: float
    orientation_error: float
    distance: float


class Reason(NamedTuple):
    """Why there is no solution."""

    status: IkStatus
    clause: str  # the reason in words, without a capital and a full stop
    joints: tuple[str, ...] = ()  # the joints that cause it


class IkResult:
    """The result for one target; read-only.

    Attributes:
        status: Outcome of the search.
    """

    __slots__ = ("_n", "_out", "_reason", "_solutions", "status")

    def __init__(self, status: IkStatus, out: Array, n: int, reason: Reason | None = None) -> None:
        out.setflags(False)  # type: ignore[call-arg]  # write; by name it is slower
        self.status, self._out, self._n, self._reason = status, out, n, reason
        self._solutions: tuple[IkSolution, ...] | None = None

    def __bool__(self) -> bool:
        """Return whether there is a solution, as ``ok``."""
        return self.ok

    @property
    def cause(self) -> IkStatus:
        """The status that would be returned without allow_approximate."""
        return self._reason.status if self._reason else self.status

    @property
    def reason(self) -> Reason | None:
        """Why there is no solution; None if there is one."""
        return self._reason

    @property
    def limiting_joints(self) -> tuple[str, ...]:
        """Joints whose limits rule out the pose (JOINT_LIMIT), otherwise those at a limit."""
        return self._reason.joints if self._reason else ()

    @property
    def ok(self) -> bool:
        """True for SUCCESS and for APPROXIMATE (which must be allowed)."""
        return self.status > 0

    @property
    def solutions(self) -> tuple[IkSolution, ...]:
        """The solutions, the preferred one first; without any, only the best effort."""
        if self._solutions is None:
            self._solutions = tuple([_solution(slot, self._n) for slot in used_slots(self._out)])
        return self._solutions

    @property
    def q(self) -> Array:
        """Joint positions (n,) of the first solution or of the best effort [rad or m]."""
        return self._out[BEST, : self._n]

    @property
    def every_q(self) -> Array:
        """Joint positions (k, n) of all solutions, the preferred one first, or of the best effort.

        Cheaper than ``solutions`` if only the positions are needed.
        """
        out = self._out
        return out[BEST : BEST + (int(out.item(HEAD, FOUND)) or 1), : self._n]

    @property
    def position_error(self) -> float:
        """Distance of the first solution from the target position [m]."""
        return self.solutions[0].position_error

    @property
    def orientation_error(self) -> float:
        """Angle of the first solution from the target orientation [rad]."""
        return self.solutions[0].orientation_error

    @property
    def starts(self) -> int:
        """Number of descents tried."""
        return int(self._out[HEAD, USED])

    @property
    def evaluations(self) -> int:
        """Number of forward kinematics and Jacobians computed."""
        return int(self._out[HEAD, COUNT])

    @property
    def message(self) -> str:
        """One sentence: the outcome and the residuals."""
        best = self.solutions[0]
        away = f"{residual_text(best.position_error, best.orientation_error)} from the target"
        if self.status == IkStatus.SUCCESS:
            count = len(self.solutions)
            found = "Solved" if count == 1 else f"{count} solutions, the nearest"
            return f"{found}: {away}{_SINGULAR if self._out[HEAD, SINGULAR] else ''}."
        if self.status == IkStatus.APPROXIMATE:
            return f"Approximate answer, {away}: {self.why}."
        return f"{self.why[:1].upper()}{self.why[1:]}; the best found is {away}."

    @property
    def why(self) -> str:
        """Why there is no exact solution, without a capital and a full stop."""
        return self._reason.clause if self._reason else self.status.name

    def selected(self, indices: Sequence[int]) -> IkResult:
        """Return the result with some of its solutions, by index; later ones may be missing."""
        slots = used_slots(self._out)
        kept = slots[[i for i in indices if i < len(slots)]]
        out = with_slots(self._out, kept, len(kept) if self._out[HEAD, FOUND] > 0 else 0)
        return IkResult(self.status, out, self._n, self._reason)

    def measured_from(self, distances: Array) -> IkResult:
        """Return the result with other distances (k,) of its solutions from the seed."""
        out = self._out.copy()
        used_slots(out)[:, -1] = distances
        return IkResult(self.status, out, self._n, self._reason)

    def refused(
        self, status: IkStatus, reason: Reason, best_effort: tuple[Array, Array] | None = None
    ) -> IkResult:
        """Return a result without solution: status, reason and best effort.

        Args:
            status: its status.
            reason: why there is none.
            best_effort: joint positions (n,) and the error there (6,); None for the first slot.
        """
        out = self._out[: BEST + 1].copy()
        out[HEAD, FOUND] = out[HEAD, SINGULAR] = 0.0
        if best_effort is not None:
            out[BEST, : self._n], out[BEST, self._n : self._n + 6] = best_effort
        return IkResult(status, out, self._n, reason)

    def __repr__(self) -> str:
        return f"IkResult({self.status.name}, q={np.round(self.q, 6)}, {self.message!r})"


def _solution(slot: Array, n: int) -> IkSolution:
    px, py, pz, x, y, z, _, distance = slot[n:].tolist()
    return IkSolution(slot[:n], math.hypot(px, py, pz), math.hypot(x, y, z), distance)


def residual_text(distance: float, angle: float) -> str:
    """Return a distance [m] and an angle [rad] as text: 3.2 mm and 20 deg."""
    return f"{_short(1e3 * distance)} mm and {_short(math.degrees(angle))} deg"


def _short(value: float) -> str:
    """Return a number with three digits; what cannot be noticed is 0."""
    return number_text(value, 3, 3) if abs(value) < 1e3 else number_text(value, 15, 0)


def joint_list(names: Sequence[str]) -> str:
    """Return names as a list in words: a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


MAX_VARIANTS = 100_000
_ROUNDING = 1e-12


def with_whole_turns(model: SearchModel, opt: Array, seed: Array, out: Array) -> Array:
    """Return a result with all whole-turn variants of its solutions, the preferred one first.

    A joint without limits stays as it is. Raises KinematicsError if there would be more than
    MAX_VARIANTS.
    """
    n = model.size
    slots = used_slots(out)
    choices = [[_turn_variants(model, i, float(slot[i])) for i in range(n)] for slot in slots]
    count = sum(math.prod(map(len, choice)) for choice in choices)
    if count > MAX_VARIANTS:
        raise KinematicsError(
            f"whole turns make {count} solutions of {len(slots)}; narrow the joint limits, or "
            "call without whole_turns",
            what="whole_turns",
        )
    rests = slots[:, n:].tolist()
    variants = np.array(
        [
            (*q, *rest)
            for rest, choice in zip(rests, choices, strict=True)
            for q in itertools.product(*choice)
        ]
    )
    variants[:, -1] = np.sqrt((opt[OPTIONS:] * (variants[:, :n] - seed) ** 2).sum(axis=1))
    out = with_slots(out, variants, len(variants))
    return model.sorted_result(opt, seed, out, len(variants))


def _turn_variants(model: SearchModel, i: int, q: float) -> list[float]:
    """Return the positions of row i inside its limits that differ from q by whole turns."""
    period = float(model.constants[i + 1, PERIOD])
    lower, upper = float(model.lower[i]), float(model.upper[i])
    if period == 0.0 or model.constants[i + 1, LEADER] != i or math.isinf(upper - lower):
        return [q]
    first = math.ceil((lower - q) / period - _ROUNDING)
    last = math.floor((upper - q) / period + _ROUNDING)
    return [min(max(q + k * period, lower), upper) for k in range(first, last + 1)]
