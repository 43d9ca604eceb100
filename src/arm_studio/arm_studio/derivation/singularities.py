# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The singular postures of one arm: conditions in symbols, and their zeros within the limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from enum import Enum

import numpy as np
import sympy as sp
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_kinematics.chain.chain import Chain
from arm_kinematics.model.chain_model import one_turn
from scipy.optimize import brentq, least_squares

from arm_studio.derivation.document import DerivationPage
from arm_studio.symbolic.arm import SymbolicArm
from arm_studio.symbolic.elimination import TooLongError
from arm_studio.symbolic.singularities import LONGEST, Condition, RankLoss, rank_loss

SINGULAR = 1e-9
"""Smallest over largest singular value, lengths over that of the arm, of a singular posture."""

_GRID = 2001
_ROOT = 1e-13  # tolerance of a root [rad or m]
_NEAR = 1e-12  # fraction of the largest value below which a formula is 0
_EXACT = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
_TRIES = 40
_EXAMPLES = 3


class ToolTask(Enum):
    """What the joints move: all of the tool's pose, or its position alone."""

    POSITION = "position"
    POSE = "pose"


def tasks_of(arm: SymbolicArm, chain: Chain) -> list[ToolTask]:
    """Return the tasks whose singular postures are of interest.

    Up to three joints place the tool if they can, more move its pose. With four or five, of which
    the last one turns about an axis through the tool, both are of interest.
    """
    n = chain.n
    J = chain.jacobian(np.random.default_rng(3).uniform(-1.0, 1.0, n))[:3]
    if n >= 6 or np.linalg.matrix_rank(J, 1e-9) < min(n, 3):
        return [ToolTask.POSE]
    if n <= 3 or arm.is_geared:
        return [ToolTask.POSITION]
    return (
        [ToolTask.POSITION, ToolTask.POSE] if np.abs(J[:, -1]).max() < 1e-12 else [ToolTask.POSE]
    )


def conditions_of(arm: SymbolicArm, task: ToolTask, seconds: float = np.inf) -> RankLoss | None:
    """Return where a task's Jacobian loses rank, None if its formulas are too long.

    After a time [s] no more conditions are looked for.
    """
    form = arm.local_velocities if task is ToolTask.POSITION else arm.local_screws
    forms = [form(row) for row in range(len(arm.rows) + 1)]
    try:
        return rank_loss(forms, arm.joints.values(), arm.values, seconds)
    except TooLongError:
        return None


class TaskJacobian:
    """The numerical Jacobian of a task, with lengths over that of the arm.

    Attributes:
        lower, upper: Limits (n,) of its random postures, see `one_turn` [rad or m].
    """

    def __init__(self, chain: Chain, task: ToolTask) -> None:
        self._chain, self._task = chain, task
        self.lower, self.upper = one_turn(chain.lower, chain.upper, chain.sliding)

    def at(self, q: Array) -> Array:
        """Return the Jacobian (3 or 6, n)."""
        J = np.array(self._chain.jacobian(q))
        sliding = np.asarray(self._chain.sliding)
        J[:, sliding] *= self._chain.length  # a slide by the length, as a turn by one radian
        J[:3] /= self._chain.length
        return J[:3] if self._task is ToolTask.POSITION else J

    def ratio(self, q: Array, rank: int = 0) -> float:
        """Return the singular value at the usual rank, by default the last, over the largest."""
        sizes = np.linalg.svd(self.at(q), compute_uv=False)
        return float(sizes[rank - 1] / sizes[0])

    def nearest_singular(self, rng: np.random.Generator) -> Array:
        """Return a posture (n,) at which a vector x of length 1 has J x = 0, or nearly so.

        For more joints than rows it is x J = 0.
        """
        n = self._chain.n
        rows = min(self.at(self.lower).shape)

        def error(z: Array) -> Array:
            J, x = self.at(z[:n]), z[n:]
            return np.append(J @ x if len(x) == n else x @ J, x @ x - 1.0)

        x = rng.normal(size=n if rows == n else len(self.at(self.lower)))
        start = np.append(rng.uniform(self.lower, self.upper), x / np.linalg.norm(x))
        free = np.full(len(x), np.inf)
        bounds = np.append(self.lower, -free), np.append(self.upper, free)
        result = least_squares(error, start, bounds=bounds, **_EXACT)
        return np.asarray(result.x[:n])


class SingularPostures:
    """Writes the singular postures of an arm on a page.

    Args:
        page: The page.
        model: The arm.
        arm: Its formulas in metres.
        seconds: Time for all tasks together [s].
        solve: Called with the formulas, a task and its time [s]; returns `conditions_of`, or None
            if that takes too long.
    """

    def __init__(
        self,
        page: DerivationPage,
        model: RobotModel,
        arm: SymbolicArm,
        seconds: float,
        solve: Callable[[SymbolicArm, ToolTask, float], RankLoss | None],
    ) -> None:
        self._page, self._model, self._arm = page, model, arm
        self._seconds, self._solve = seconds, solve
        self._chain = Chain.from_model(model)
        self._largest = 0.0  # ratio at a root

    def write(self) -> None:
        """Append the conditions for each task."""
        tasks, end = tasks_of(self._arm, self._chain), time.monotonic() + self._seconds
        for i, task in enumerate(tasks):
            self._jacobian = TaskJacobian(self._chain, task)
            seconds = (end - time.monotonic()) / (len(tasks) - i)
            loss = self._solve(self._arm, task, seconds)
            if loss is None:
                self._unsolved(task)
            else:
                self._write(task, loss)

    def _unsolved(self, task: ToolTask) -> None:
        self._page.say(
            f"{_subject(task)} is singular where it loses rank. Its determinant does not factor "
            f"into conditions of at most {LONGEST} terms that were found in time."
            if self._chain.n == 6
            else f"{_subject(task)} is singular where it loses rank. No condition of at most "
            f"{LONGEST} terms was found in time."
        )
        self._examples(min(self._jacobian.at(self._jacobian.lower).shape))

    def _write(self, task: ToolTask, loss: RankLoss) -> None:
        page = self._page
        page.say(f"{_subject(task)} has the rank {loss.rank} in most postures. {_intro(loss)}")
        self._largest = 0.0
        for i, condition in enumerate(sorted(loss.conditions, key=len)):
            if i and len(condition) > 1:
                page.say("or where these are 0 together:")
            self._condition(condition, loss.rank)
        if self._largest:
            page.say(
                "At these positions the smallest singular value, with lengths over that of the "
                f"arm, is at most {self._largest:.0e} of the largest."
            )
        for condition in loss.long:
            size = max(len(sp.Add.make_args(factor)) for factor in condition)
            page.say(
                f"A factor of {size} terms does not factor further: the arm is singular where it "
                + ("is 0, too." if len(condition) == 1 else "and others are 0 together, too.")
            )
        if not loss.complete:
            page.say("Further singular postures exist whose conditions are not resolved here.")
        if loss.long or not loss.complete:
            self._examples(loss.rank)

    def _condition(self, condition: Condition, rank: int) -> None:
        for factor in condition:
            self._page.show(factor, sp.Integer(0))
            self._roots(factor, [other for other in condition if other != factor], rank)

    def _roots(self, factor: sp.Expr, zeros: Sequence[sp.Expr], rank: int) -> None:
        """Append the roots of a factor in one joint; check the Jacobian where ``zeros`` are 0."""
        used = [s for s in self._arm.joints.values() if s in factor.free_symbols]
        if len(used) != 1:
            return
        index = list(self._arm.joints.values()).index(used[0])
        joint = self._model.joints[index]
        lower, upper = float(self._chain.lower[index]), float(self._chain.upper[index])
        roots = roots_within(self._arm.numbers(factor), used[0], lower, upper)
        units, kind = self._model.units, joint.type
        written = ", ".join(units.number(x, kind, decimals=6) for x in roots)
        if not roots:
            limits = f"{units.number(lower, kind)} to {units.text(upper, kind)}"
            self._page.say(f"{joint.name} has no such position within its limits, {limits}.")
            return
        self._page.say(f"Within the limits: {joint.name} = {written} {units.unit(kind)}.")
        for root in roots:
            q = self._posture(index, root, zeros)
            if q is not None:
                self._largest = max(self._largest, self._jacobian.ratio(q, rank), 1e-16)

    def _posture(self, index: int, root: float, zeros: Sequence[sp.Expr]) -> Array | None:
        """Return a posture (n,) with a joint at a root and formulas 0, None if none is found.

        The other joints are within their limits.
        """
        rng, free = np.random.default_rng(11), np.arange(self._chain.n) != index
        f = sp.lambdify(
            list(self._arm.joints.values()), [self._arm.numbers(zero) for zero in zeros]
        )
        lower, upper = self._jacobian.lower[free], self._jacobian.upper[free]
        q = np.full(self._chain.n, root)

        def error(z: Array) -> Array:
            q[free] = z
            return np.array(f(*q), dtype=float)

        for _ in range(_TRIES):
            z = rng.uniform(lower, upper)
            if zeros:
                # Unlike the default, this method ends on the limits
                z = least_squares(error, z, bounds=(lower, upper), method="dogbox", **_EXACT).x
            if np.abs(error(z)).max(initial=0.0) < _NEAR:
                return q
        return None

    def _examples(self, rank: int) -> None:
        """Append some singular postures found by a numerical search."""
        rng, rows = np.random.default_rng(17), []
        for _ in range(_TRIES):
            q = self._jacobian.nearest_singular(rng)
            ratio = self._jacobian.ratio(q, rank)
            if ratio < SINGULAR:
                rows.append((*self._written(q), f"{ratio:.0e}"))
            if len(rows) == _EXAMPLES:
                break
        if not rows:
            self._page.say("A search from random postures within the limits found none.")
            return
        units = self._model.units
        head = [f"{joint.name} [{units.unit(joint.type)}]" for joint in self._model.joints]
        self._page.say(
            "A numerical search found these singular postures; the last column has the smallest "
            "singular value over the largest, with lengths over that of the arm:"
        )
        self._page.table((*head, "ratio"), rows)

    def _written(self, q: Array) -> list[str]:
        units = self._model.units
        return [
            units.number(x, joint.type, decimals=6)
            for x, joint in zip(q, self._model.joints, strict=True)
        ]


def _intro(loss: RankLoss) -> str:
    if loss.conditions:
        alone = any(len(condition) == 1 for condition in loss.conditions)
        which = "one of these is 0" if alone else "these are 0 together"
        return f"It has less, and the arm is singular, where {which}:"
    if loss.complete and not loss.long:
        return "There is no posture in which it has less."
    return f"No condition of at most {LONGEST} terms says where it has less."


def _subject(task: ToolTask) -> str:
    if task is ToolTask.POSITION:
        return "The Jacobian of the tool's position (the upper three rows)"
    return "The Jacobian (all six rows, velocity and angular velocity of the tool)"


def roots_within(factor: sp.Expr, joint: sp.Symbol, lower: float, upper: float) -> list[float]:
    """Return the zeros of a formula in one joint between limits, in ascending order.

    Zeros without a change of sign are zeros of the derivative.
    """
    f, slope = (sp.lambdify(joint, form) for form in (factor, sp.diff(factor, joint)))
    grid = np.linspace(lower, upper, _GRID)
    tolerance = _NEAR * max(abs(float(f(x))) for x in grid)
    candidates = [
        *_crossings(f, grid),
        *(x for x in _crossings(slope, grid) if abs(f(x)) < tolerance),
    ]
    roots: list[float] = []
    for x in sorted(candidates):
        if not roots or x - roots[-1] > 1e-9:
            roots.append(0.0 if abs(x) < 1e-12 else x)
    return roots


def _crossings(f: Callable[[float], float], grid: Array) -> list[float]:
    """Return the zeros of a function on a grid, and those where it changes its sign."""
    values = np.array([float(f(x)) for x in grid])
    zero = np.abs(values) < 1e-13 * np.abs(values).max()
    crossings = [float(x) for x in grid[zero]]
    for i in np.flatnonzero(values[:-1] * values[1:] < 0.0):
        if not zero[i] and not zero[i + 1]:
            crossings.append(float(brentq(f, grid[i], grid[i + 1], xtol=_ROOT)))
    return crossings
