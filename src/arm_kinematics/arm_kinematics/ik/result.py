# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/kernels/test_module.py
"""The result of inverse kinematics: status, solutions, residuals, and a message."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from arm_common.errors import number_text
from arm_common.transforms import Array

from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.search_model import SearchModel
from arm_kinematics.kernels.compiled import Result
from arm_kinematics.kernels.layout import Records, result_dtype, used_slots, with_slots

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


class IkResult(Result):
    """The result for one target; read-only.

    Attributes:
        status: Outcome of the search.
    """

    __slots__ = ()
    status: IkStatus
    _reason: Reason | None
    _solutions: tuple[IkSolution, ...] | None

    @classmethod
    def of(cls, status: IkStatus, record: Records, reason: Reason | None = None) -> IkResult:
        """Return the result of a record of `result_dtype`."""
        n = record["slots"]["q"].shape[-1]
        return cls(status, record.reshape(1).view(np.float64), n, reason)

    @property
    def _record(self) -> Records:
        """The numbers by name, as `result_dtype`."""
        n, numbers = self._n, self._numbers
        return numbers.view(result_dtype(n, (len(numbers) - 5) // (n + 8))).reshape(())

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how another process makes the same result."""
        return type(self), (self.status, self._numbers, self._n, self._reason)

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
            self._solutions = tuple(map(_solution, used_slots(self._record)))
        return self._solutions

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
        return int(self._record["starts"])

    @property
    def evaluations(self) -> int:
        """Number of forward kinematics and Jacobians computed."""
        return int(self._record["evaluations"])

    @property
    def message(self) -> str:
        """One sentence: the outcome and the residuals."""
        best = self.solutions[0]
        away = f"{residual_text(best.position_error, best.orientation_error)} from the target"
        if self.status == IkStatus.SUCCESS:
            count = len(self.solutions)
            found = "Solved" if count == 1 else f"{count} solutions, the nearest"
            singular = _SINGULAR if self._record["singular"] else ""
            return f"{found}: {away}{singular}."
        if self.status == IkStatus.APPROXIMATE:
            return f"Approximate answer, {away}: {self.why}."
        return f"{self.why[:1].upper()}{self.why[1:]}; the best found is {away}."

    @property
    def why(self) -> str:
        """Why there is no exact solution, without a capital and a full stop."""
        return self._reason.clause if self._reason else self.status.name

    def selected(self, indices: Sequence[int]) -> IkResult:
        """Return the result with some of its solutions, by index; later ones may be missing."""
        slots = used_slots(self._record)
        kept = slots[[i for i in indices if i < len(slots)]]
        out = with_slots(self._record, kept, len(kept) if self._record["solutions"] else 0)
        return IkResult.of(self.status, out, self._reason)

    def measured_from(self, distances: Array) -> IkResult:
        """Return the result with other distances (k,) of its solutions from the seed."""
        out = self._record.copy()
        used_slots(out)["distance"] = distances
        return IkResult.of(self.status, out, self._reason)

    def refused(
        self, status: IkStatus, reason: Reason, best_effort: tuple[Array, Array] | None = None
    ) -> IkResult:
        """Return a result without solution: status, reason and best effort.

        Args:
            status: its status.
            reason: why there is none.
            best_effort: joint positions (n,) and the error there (6,); None for the first slot.
        """
        out = with_slots(self._record, self._record["slots"][:1], 0)
        out["singular"] = 0.0
        if best_effort is not None:
            out["slots"]["q"], out["slots"]["error"] = best_effort
        return IkResult.of(status, out, reason)

    def __repr__(self) -> str:
        return f"IkResult({self.status.name}, q={np.round(self.q, 6)}, {self.message!r})"


def _solution(slot: Any) -> IkSolution:
    px, py, pz, x, y, z = slot["error"].tolist()
    distance = float(slot["distance"])
    return IkSolution(slot["q"], math.hypot(px, py, pz), math.hypot(x, y, z), distance)


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


def with_whole_turns(model: SearchModel, opt: Records, seed: Array, out: Records) -> Records:
    """Return a result with all whole-turn variants of its solutions, the preferred one first.

    A joint without limits stays as it is. Raises KinematicsError if there would be more than
    MAX_VARIANTS.
    """
    slots = used_slots(out)
    choices = [
        [_turn_variants(model, i, q) for i, q in enumerate(row)] for row in slots["q"].tolist()
    ]
    count = sum(math.prod(map(len, choice)) for choice in choices)
    if count > MAX_VARIANTS:
        raise KinematicsError(
            f"whole turns make {count} solutions of {len(slots)}; narrow the joint limits, or "
            "call without whole_turns",
            what="whole_turns",
        )
    variants = np.repeat(slots, [math.prod(map(len, choice)) for choice in choices])
    variants["q"] = [q for choice in choices for q in itertools.product(*choice)]
    gaps = variants["q"] - seed
    variants["distance"] = np.sqrt((opt["joint_weights"] * gaps**2).sum(axis=1))
    out = with_slots(out, variants, len(variants))
    return model.sorted_result(opt, seed, out, len(variants))


def _turn_variants(model: SearchModel, i: int, q: float) -> list[float]:
    """Return the positions of row i inside its limits that differ from q by whole turns."""
    period = float(model.constants["period"][i + 1])
    lower, upper = float(model.lower[i]), float(model.upper[i])
    if period == 0.0 or model.constants["leader"][i + 1] != i or math.isinf(upper - lower):
        return [q]
    first = math.ceil((lower - q) / period - _ROUNDING)
    last = math.floor((upper - q) / period + _ROUNDING)
    return [min(max(q + k * period, lower), upper) for k in range(first, last + 1)]
