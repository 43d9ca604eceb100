# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Limits of a joint that depend on where other joints are.

The limits of a joint are a range; those of a linkage arm are not: how far the elbow goes depends
on the shoulder. A constraint narrows the range of one joint by the positions of others. Units are
radians and metres.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from arm_common.transforms import Array
from numpy.typing import ArrayLike

from arm_description.model.units import SHOWN

SLACK = 1e-9
"""Excess that counts as inside, for numbers that differ by rounding [rad or m]."""
READ_TOLERANCE = 0.03
"""Excess of positions that servos report: of counts, several of which move a joint [rad or m]."""


class JointConstraint(ABC):
    """Limits of a joint that depend on other joints."""

    joint: str  # name of the joint whose range it narrows
    reason: str  # subject and verb for messages: "the linkage allows"

    @property
    @abstractmethod
    def joints(self) -> tuple[str, ...]:
        """Names of all joints that it needs, the joint first: the columns of ``ends``."""

    @abstractmethod
    def ends(self, q: Array) -> tuple[Array, Array]:
        """Return the least and greatest position (...) of the joint [rad or m].

        Lower is above upper if there is none.

        Args:
            q: (..., k) positions of ``joints`` in their order [rad or m]; the first is ignored.
        """

    def bounds(self, q: Mapping[str, float]) -> tuple[float, float]:
        """Return `ends` at positions of the other joints by name [rad or m]; more are ignored."""
        lower, upper = self.ends(np.array([q.get(name, 0.0) for name in self.joints]))
        return float(lower), float(upper)

    def violation(self, q: Array) -> Array:
        """Return how far the joint is outside (...), 0 or less inside; q is that of `ends`."""
        lower, upper = self.ends(q)
        return np.asarray(np.maximum(lower - q[..., 0], q[..., 0] - upper))


@dataclass(frozen=True)
class LinearExpression:
    """A constant plus a sum of variables times factors."""

    constant: float  # the value with all variables at 0
    factors: tuple[tuple[str, float], ...] = ()  # name and factor of each variable, none of them 0

    def at(self, values: Mapping[str, Any]) -> Any:
        """Return the value with the variables at these values, numbers or arrays of them."""
        return sum((factor * values[name] for name, factor in self.factors), self.constant)

    def range(self, limits: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
        """Return the least and greatest value with each variable anywhere within its limits."""
        ends = [sorted((f * limits[name][0], f * limits[name][1])) for name, f in self.factors]
        low, high = (self.constant + sum(end[side] for end in ends) for side in (0, 1))
        return low, high

    def plus(self, other: LinearExpression, sign: float = 1.0) -> LinearExpression:
        """Return the sum of both, or the difference if the sign is -1."""
        factors = dict(self.factors)
        for name, factor in other.factors:
            factors[name] = factors.get(name, 0.0) + sign * factor
        kept = tuple((name, factor) for name, factor in factors.items() if factor != 0.0)
        return LinearExpression(self.constant + sign * other.constant, kept)

    def times(self, number: float) -> LinearExpression:
        """Return the expression times a number."""
        factors = tuple((name, number * factor) for name, factor in self.factors if number)
        return LinearExpression(number * self.constant, factors)


@dataclass(frozen=True)
class LinearLimits(JointConstraint):
    """Limits of a joint that are linear in other joints."""

    joint: str  # name of the joint
    lower: tuple[LinearExpression, ...]  # its position is at least each of these
    upper: tuple[LinearExpression, ...]  # its position is at most each of these
    reason: str = "the linkage allows"  # subject and verb for messages

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """The joint itself, then those that its limits depend on."""
        others = (name for c in (*self.lower, *self.upper) for name, _ in c.factors)
        return tuple(dict.fromkeys((self.joint, *others)))

    def ends(self, q: Array) -> tuple[Array, Array]:
        """Return the greatest of the lower and the least of the upper limits."""
        by_name = {name: q[..., i] for i, name in enumerate(self.joints)}
        lower, upper = ([c.at(by_name) for c in side] for side in (self.lower, self.upper))
        return reduce(np.maximum, lower), reduce(np.minimum, upper)


_HALVINGS = 30
_POSTURES = 256  # from which one inside is sought
_DENSE = 0.05  # step between checked postures [rad or m]


def largest_share(fits: Callable[[float], bool]) -> float:
    """Return the largest share (0 to 1) that fits, if all below it do; 0 is taken to fit."""
    if fits(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


class Violation(NamedTuple):
    """A constraint that a posture violates."""

    joint: str  # whose range is left
    amount: float  # by how much [rad or m]
    sentence: str  # "elbow: at shoulder 95 deg the linkage allows -135 to -81 deg"


class ConstraintSet:
    """The constraints that apply to joints in a given order.

    Args:
        names: names of the joints, in the order of the positions.
        constraints: the constraints; those that need another joint are left out.
        prismatic: names of the joints whose positions are lengths, for messages.
    """

    def __init__(
        self,
        names: Sequence[str],
        constraints: Iterable[JointConstraint],
        prismatic: Collection[str] = (),
    ) -> None:
        self.names, self._prismatic = tuple(names), frozenset(prismatic)
        self.constraints = tuple(c for c in constraints if set(c.joints) <= set(self.names))
        self._columns = [[self.names.index(name) for name in c.joints] for c in self.constraints]
        self._prefix = ""

    def prefixed(self, prefix: str) -> ConstraintSet:
        """Return the same constraints; messages name the joints with a prefix."""
        named = copy(self)
        named._prefix = prefix
        return named

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.constraints)

    def violation(self, q: ArrayLike) -> Array:
        """Return the largest violation (...) at positions q (..., n), -inf without constraints."""
        rows = np.asarray(q, dtype=np.float64)
        worst = np.full(rows.shape[:-1], -math.inf)
        for constraint, columns in zip(self.constraints, self._columns, strict=True):
            worst = np.maximum(worst, constraint.violation(rows[..., columns]))
        return worst

    def worst(self, q: ArrayLike) -> Violation | None:
        """Return the constraint that a posture q (n,) violates most, None inside all."""
        tightest = self.tightest(q)
        return tightest if tightest and tightest.amount > SLACK else None

    def tightest(self, q: ArrayLike) -> Violation | None:
        """Return the constraint whose limit a posture q (n,) is nearest to or most beyond.

        None without constraints.
        """
        row = np.asarray(q, dtype=np.float64)
        amounts = [
            float(constraint.violation(row[columns]))
            for constraint, columns in zip(self.constraints, self._columns, strict=True)
        ]
        if not amounts:
            return None
        constraint = self.constraints[int(np.argmax(amounts))]
        joint = self._prefix + constraint.joint
        return Violation(joint, max(amounts), self._sentence(constraint, row))

    def share(self, q: ArrayLike, step: ArrayLike) -> float:
        """Return the share (0 to 1) of a step (n,) from q (n,) that keeps to the constraints.

        From outside, a step may go as far as it does not lead farther outside.
        """
        row, motion = np.asarray(q, dtype=np.float64), np.asarray(step, dtype=np.float64)
        return largest_share(lambda share: self.keeps(row, row + share * motion))

    def keeps(self, q: ArrayLike, positions: ArrayLike) -> bool:
        """Return whether positions (..., n) of a motion from q (n,) keep to the constraints.

        From outside, they may not lead farther outside.
        """
        allowed = max(float(self.violation(q)), SLACK)
        return not self.constraints or float(self.violation(positions).max()) <= allowed

    def along(self, path: ArrayLike) -> Violation | None:
        """Return the worst violation on straight lines through postures (m, n), None inside.

        A path that starts outside may not lead farther outside.
        """
        rows = np.atleast_2d(np.asarray(path, dtype=np.float64))
        if not self.constraints or not len(rows):
            return None
        dense = [rows[:1]]
        for a, b in pairwise(rows):
            count = int(np.ceil(np.abs(b - a).max() / _DENSE)) or 1
            dense.append(a + np.linspace(0.0, 1.0, count + 1)[1:, None] * (b - a))
        points = np.vstack(dense)
        amounts = self.violation(points)
        k = int(np.argmax(amounts))
        within = amounts[k] <= max(float(amounts[0]), SLACK)
        return None if within else self.tightest(points[k])

    def inside(self, q: ArrayLike) -> Array:
        """Return a posture (n,) near q that moves each joint into the range of its constraints.

        One that no such motion brings inside is returned as far as it came.
        """
        row = np.array(q, dtype=np.float64)
        for _ in range(len(self.constraints) + 1):
            for constraint in self.constraints:
                lower, upper = constraint.bounds(dict(zip(self.names, row.tolist(), strict=True)))
                if lower <= upper:
                    joint = self.names.index(constraint.joint)
                    row[joint] = min(max(row[joint], lower), upper)
        return row

    def put_inside(self, q: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Array:
        """Return a posture (n,) that servos report, moved into constraints and limits if near.

        A joint that this would move by READ_TOLERANCE or more stays.
        """
        row = np.asarray(q, dtype=np.float64)
        near = self.inside(np.clip(row, lower, upper))
        return np.where(np.abs(near - row) < READ_TOLERANCE, near, row)

    def nearest(self, q: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Array | None:
        """Return a posture (n,) inside the constraints and limits, q itself if it is inside.

        Otherwise the nearest to q of postures moved inside from there and from everywhere within
        lower and upper (n,); None if there is none.
        """
        low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
        start = np.clip(np.asarray(q, dtype=np.float64), low, high)
        spread = np.random.default_rng(0).uniform(low, high, (_POSTURES, len(start)))
        for rows in (start[None], spread):
            moved = np.array([self.inside(row) for row in rows])
            fits = (moved >= low - SLACK).all(axis=1) & (moved <= high + SLACK).all(axis=1)
            moved = moved[fits & (self.violation(moved) <= SLACK)]
            if len(moved):
                return np.asarray(moved[np.argmin(np.linalg.norm(moved - start, axis=1))])
        return None

    def _sentence(self, constraint: JointConstraint, q: Array) -> str:
        values = dict(zip(self.names, q.tolist(), strict=True))
        others = [name for name in constraint.joints if name != constraint.joint]
        at = " and ".join(
            f"{self._prefix}{name} {self._text(name, values[name])}" for name in others
        )
        lower, upper = constraint.bounds(values)
        low = SHOWN.number(lower, self._kind(constraint.joint), 4)
        span = f"{low} to {self._text(constraint.joint, upper)}"
        allowed = span if lower <= upper else "no position"
        where = f"at {at} " if at else ""
        return f"{self._prefix}{constraint.joint}: {where}{constraint.reason} {allowed}"

    def _text(self, joint: str, value: float) -> str:
        return SHOWN.text(value, self._kind(joint), 4)

    def _kind(self, joint: str) -> str:
        return "prismatic" if joint in self._prismatic else "revolute"
