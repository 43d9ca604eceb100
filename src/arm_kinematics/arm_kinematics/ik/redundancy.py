# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Self-motion of a 7R arm: all postures that hold the tip at a pose, as continuous branches.

Six equations in seven joints leave curves (Burdick, "On the inverse kinematics of redundant
manipulators: characterization of the self-motion manifolds", IEEE Int. Conf. Robotics and
Automation 1989). One joint is locked at some values; the other six are a 6R arm, for which
`general_6r` finds every solution. From each, the curve is traced until it closes (see
cpp/self_motion.hpp); a curve that misses all values of one joint meets those of
another, so the two joints that move most in self-motions are used. Joint limits cut the curves
into arcs.

Where the other six have a closed form, the last joint is locked at many values instead. Such are
the Panda family and arms with a spherical shoulder and wrist: read from the tip, joints 6, 5 and 4
place the centre of the shoulder, which the first three turn (for the Panda alone: Lopez-Custodio,
Gong and Figueredo, "GeoFIK", arXiv 2503.03992, 2025). With B7 = inverse(Ad(M)) S7,

    E1 ... E6 exp([S7] q7) M = T    is    E1 ... E6 M = T exp(-[B7] q7)
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from arm_common.transforms import Array, inverse
from numpy.typing import ArrayLike, NDArray

from arm_kinematics.arguments import one_of, require, rigid_transform, vector
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.closed_form import recognise
from arm_kinematics.ik.general_6r import EliminationPlan, General6R
from arm_kinematics.ik.search_model import SerialChain, arm_length, kernel_constants
from arm_kinematics.kernels import compiled
from arm_kinematics.kernels.layout import MAX_BRANCHES, Ending, Records
from arm_kinematics.model.lie import adjoint, hat, se3_exp

TURN = 2.0 * math.pi
ROUND_OFF = 1e-10
Finder = Callable[[Array, Array], Array | None]
"""Function of a point (7,) and a step (7,): the point of the curve at that step, or None."""
LOCKED_VALUES, LOCKED_COUNT = 48, 32  # of the locked joint, over its range; and most postures


class Branch(NamedTuple):
    """One continuous motion of the arm that keeps its tip at rest."""

    # joint angles (m, 7) along it [rad]; no joint moves more than a step between two rows
    q: Array
    length: Array  # Euclidean path length from the first to each (m,) [rad]
    closed: bool  # whether the last posture equals the first one, up to whole turns
    # joints at whose limits it begins and ends; "" if it is closed, or the tracing got stuck
    ends: tuple[str, str]
    distance: float  # Euclidean distance of its nearest posture from the seed [rad]


class SelfMotionLimits:
    """Joint limits that cut a curve into branches; infinite where there are none."""

    def __init__(self, chain: SerialChain, seed: Array, find: Finder) -> None:
        """Prepare for branches in the whole turns nearest to a seed (7,) [rad]."""
        self.lower, self.upper, self._names = chain.lower, chain.upper, chain.joint_names
        self.near, self._seed, self.find = np.clip(seed, self.lower, self.upper), seed, find

    def branches(self, curve: Array, closed: bool) -> list[Branch]:
        """Return the parts of a curve (m, 7) that are inside the limits.

        A closed curve is repeated three times, so that a part may cross its seam and wind on as
        far as limits of more than a turn allow.
        """
        curve = self._with_short_visits(curve)
        ring, period = (curve[:-1], curve[-1] - curve[0]) if closed else (curve, 0.0 * curve[0])
        m = len(ring)
        path = np.concatenate([ring - period, ring, ring + period]) if closed else ring
        turns = self._turns(ring)
        pending = self._inside(ring + turns)
        branches = []
        for i in np.argsort(np.linalg.norm(ring + turns - self.near, axis=1), kind="stable"):
            if not pending[i]:
                continue
            index, shifted = (m + int(i) if closed else int(i)), path + turns[i]
            start, stop = _run_around(self._inside(shifted), index)
            pending[np.arange(start, stop) % m] = False
            if closed and stop - start == 3 * m:
                branches.append(self._branch(shifted[index : index + m + 1], True, ("", "")))
            else:
                branches.append(self._arc(shifted, start, stop))
        return branches

    def _branch(self, q: Array, closed: bool, ends: tuple[str, str]) -> Branch:
        length = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1)))
        distance = float(np.linalg.norm(q - self._seed, axis=1).min())
        return Branch(q, length, closed, ends, distance)

    def _turns(self, q: Array) -> Array:
        """Return the whole turns that bring q (m, 7) inside the limits, nearest to the posture."""
        turns: Array = TURN * np.round((self.near - q) / TURN)
        over, under = q + turns > self.upper, q + turns < self.lower
        other = turns - TURN * over + TURN * under
        helps = (q + other >= self.lower) & (q + other <= self.upper)
        return np.where(helps, other, turns)

    def _inside(self, q: Array) -> NDArray[np.bool_]:
        return np.asarray(np.all((q >= self.lower) & (q <= self.upper), axis=-1))

    def _with_short_visits(self, curve: Array) -> Array:
        """Return the curve with extra points where it is inside only between two points."""
        start, step = curve[:-1] + self._turns(curve[:-1]), np.diff(curve, axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            to_lower, to_upper = (self.lower - start) / step, (self.upper - start) / step
        enter = np.fmin(to_lower, to_upper).max(axis=1)
        leave = np.fmax(to_lower, to_upper).min(axis=1)
        visits = np.flatnonzero((enter > 0.0) & (leave < 1.0) & (enter < leave))
        for j in visits[::-1]:
            point = self.find(curve[j], 0.5 * (enter[j] + leave[j]) * step[j])
            if point is not None:
                curve = np.insert(curve, j + 1, point, axis=0)
        return curve

    def _arc(self, curve: Array, start: int, stop: int) -> Branch:
        """Return the branch of points start to stop, with its ends on the limits."""
        points, first, last = [curve[start:stop]], "", ""
        if start > 0:
            first, end = self._end(curve[start], curve[start - 1])
            points = [end, *points]
        if stop < len(curve):
            last, end = self._end(curve[stop - 1], curve[stop])
            points = [*points, end]
        return self._branch(np.concatenate(points), False, (first, last))

    def _end(self, inside: Array, outside: Array) -> tuple[str, Array]:
        """Return the joint that reaches its limit first on a step, and the point (0 or 1, 7)."""
        bound = np.clip(outside, self.lower, self.upper)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(outside == bound, np.inf, (bound - inside) / (outside - inside))
        for joint in np.argsort(share, kind="stable"):
            if share[joint] > 1.0:
                break
            step = np.zeros(7)
            step[joint] = bound[joint] - inside[joint]
            point = self.find(inside, step) if step[joint] else None
            if point is None:
                continue
            kept = np.clip(point, self.lower, self.upper)
            if np.abs(kept - point).max() < ROUND_OFF:
                return self._names[joint], kept[None]
        return self._names[int(np.argmin(share))], np.empty((0, 7))


def _run_around(inside: NDArray[np.bool_], index: int) -> tuple[int, int]:
    """Return start and stop of the run of True around an index."""
    outside = np.flatnonzero(~inside)
    k = int(np.searchsorted(outside, index))
    start = int(outside[k - 1]) + 1 if k > 0 else 0
    return start, int(outside[k]) if k < len(outside) else len(inside)


CAPACITY = 8192
SAMPLES = 16
_STEP = 0.9115923534820549 ** np.arange(1, 8)  # 1/x with x^8 = x + 1 (Roberts 2018)
_OFFSET = 0.137  # keeps the locked values off quarter turns, where axes tend to be parallel


class SevenR:
    """The self-motions of an arm of seven revolute joints, without limits.

    Attributes:
        by_motion: Indices of the joints, those that move most in self-motions first.
    """

    def __init__(self, S: Array, M: Array) -> None:
        """Prepare the arm of screws S (6, 7) and home pose M (4, 4)."""
        infinite = np.full(7, np.inf)
        self._S, self._M = S, M
        self._c = kernel_constants(S, M, [False] * 7, -infinite, infinite)
        self._unit = arm_length(S, M) / 3.0
        self._plans: dict[int, EliminationPlan] = {}
        self._locked: dict[tuple[int, float], General6R] = {}
        self.by_motion = tuple(int(i) for i in np.argsort(-self._motion(), kind="stable"))

    def _motion(self) -> Array:
        """Return the total motion of each joint (7,) in self-motions at sample postures."""
        total = np.zeros(7)
        for i in range(12):
            total += np.abs(self._tangent(TURN * ((0.5 + (i + 1) * _STEP) % 1.0)))
        return total

    def _tangent(self, q: NDArray[Any]) -> Array:
        """Return a unit vector of joint motion (7,) at q that leaves the tip at rest."""
        found = compiled.fk_jacobian(self._c, q)
        assert found is not None  # q is finite
        found[1][:3] /= self._unit
        return np.asarray(np.linalg.svd(found[1])[2][6])

    def locked(self, T: Array, joint: int, value: float) -> Array:
        """Return all joint angles (k, 7) with the tip at T and one joint locked at a value."""
        key = joint, value
        if key not in self._locked:
            self._locked[key] = self._lock(joint, value)
        return np.insert(self._locked[key].solve(T), joint, value, axis=1)

    def _lock(self, joint: int, value: float) -> General6R:
        """Return the 6R arm that remains when one joint is locked at a value."""
        turned = se3_exp(self._S[:, joint] * value)
        behind = adjoint(turned) @ self._S[:, joint + 1 :]
        screws = np.hstack([self._S[:, :joint], behind])
        arm = General6R(screws, turned @ self._M, self._plans.get(joint))
        self._plans[joint] = arm.plan
        return arm

    def curves(
        self, T: Array, step: float, joints: Sequence[int], deadline: float = math.inf
    ) -> Iterator[tuple[Array, bool]]:
        """Yield the curves (m, 7) of the self-motion at T, and whether each is closed.

        ``step`` is the largest motion of a joint between two points [rad], ``joints`` are locked
        to find first points. Each curve leaves half of the time until the deadline to the caller.
        """
        T = np.ascontiguousarray(T)
        found: list[Array] = []
        longest = 0.0  # time that an elimination takes [s]; it cannot be ended early
        for joint, i in itertools.product(joints, range(SAMPLES)):
            start = time.monotonic()
            if start + 2.0 * longest > deadline:
                return
            points = self.locked(T, joint, TURN * (i + 0.5) / SAMPLES - math.pi + _OFFSET)
            longest = max(longest, time.monotonic() - start)
            for q in points:
                now = time.monotonic()
                if now + longest > deadline:
                    return
                if not any(
                    compiled.passes(self._c, T, self._unit, step, curve, q) for curve in found
                ):
                    curve, closed = self._curve(T, q, step, now + 0.5 * (deadline - now))
                    found.append(curve)
                    yield curve, closed

    def _curve(self, T: Array, q: Array, step: float, deadline: float) -> tuple[Array, bool]:
        """Return the curve through q until the deadline, and whether it is closed."""
        tangent = self._tangent(q)
        ahead, closed = self._trace(T, q, step, tangent, deadline)
        if closed or time.monotonic() > deadline:
            return ahead, closed
        back, _ = self._trace(T, q, step, -tangent, deadline)
        return np.concatenate([back[:0:-1], ahead]), False

    def _trace(
        self, T: Array, q: Array, step: float, ahead: Array, deadline: float
    ) -> tuple[Array, bool]:
        points = np.empty((CAPACITY, 7))
        points[0] = q
        count, before, ending = 1, 0, int(Ending.FULL)
        while before < count and ending == Ending.FULL:
            before = count
            count, ending = compiled.trace(self._c, T, self._unit, step, ahead, points, count)
            ahead = points[count - 1] - points[count - 2]
            if time.monotonic() > deadline:
                break
        return points[:count].copy(), ending == Ending.CLOSED

    def point_at(self, T: Array, near: Array, step: Array) -> Array | None:
        """Return the point (7,) of the self-motion at a step (7,) from a near one, or None."""
        near, step, T = (np.ascontiguousarray(x) for x in (near, step, T))
        q = np.empty(7)
        return q if compiled.fill_point(self._c, T, self._unit, near, step, q) else None


MAX_STEP, MIN_STEP = 0.3, 1e-3  # [rad]
SAME = 1e-3  # [rad]


class SelfMotion(NamedTuple):
    """All branches at one pose, the nearest to the seed first; none if it is out of reach."""

    branches: tuple[Branch, ...]


def self_motion(
    chain: SerialChain,
    T: ArrayLike,
    seed: ArrayLike | None = None,
    *,
    step: float = 0.05,
    joint: str | None = None,
    deadline: float = math.inf,
) -> SelfMotion:
    """Return all postures in which a 7R arm holds its tip at a pose, as branches.

    Where limits allow a joint more than a turn, a branch is returned once, in the turns nearest to
    the seed. Equal input gives equal output.

    Args:
        chain: An arm of seven revolute joints.
        T: Pose of the tip in the base frame (4, 4).
        seed: Posture to stay near, (7,) [rad]; None is mid-range.
        step: Largest motion of a joint between two postures of a branch [rad], 0.001 to 0.3.
        joint: Name of the joint to lock for first postures; None uses the two that move most.
        deadline: Time on the monotonic clock [s] after which the branches found so far are
            returned.

    Raises:
        KinematicsError: The arm is not a 7R arm, or another argument is invalid.
    """
    if chain.S.shape != (6, 7) or any(chain.prismatic):
        raise KinematicsError("self-motion needs an arm of seven revolute joints", what="chain")
    require(MIN_STEP <= step <= MAX_STEP, "step", step, f"{MIN_STEP} to {MAX_STEP} rad")
    target, start = rigid_transform(T, "target"), _start_posture(chain, seed)
    arm = _arm(chain.S.tobytes(), chain.M.tobytes())
    joints = arm.by_motion[:2] if joint is None else (one_of(joint, "joint", chain.joint_names),)
    limits = SelfMotionLimits(chain, start, partial(arm.point_at, target))
    branches = [
        branch
        for curve, closed in arm.curves(target, step, joints, deadline)
        for branch in limits.branches(curve, closed)
    ]
    return SelfMotion(tuple(sorted(branches, key=lambda b: (b.distance, *b.q[0]))))


def sampled_solutions(
    chain: SerialChain,
    T: ArrayLike,
    seed: ArrayLike | None = None,
    *,
    count: int = 32,
    deadline: float = math.inf,
) -> Array:
    """Return up to ``count`` postures (k, 7) spread evenly over all branches, nearest first.

    They include the posture of each branch nearest to the seed; no two are the same to 1e-3 rad.
    Arguments are those of `self_motion`.
    """
    require(count >= 1, "count", count, "1 or more")
    start = _start_posture(chain, seed)
    branches = self_motion(chain, T, seed, deadline=deadline).branches
    total = sum(float(b.length[-1]) for b in branches)
    samples = [b.q[_sample_indices(b, start, total / count)] for b in branches]
    q = np.concatenate([np.empty((0, 7)), *samples])
    q = q[np.argsort(np.linalg.norm(q - start, axis=1), kind="stable")]
    differ = np.abs(q[:, None] - q[None]).max(axis=2) > SAME
    return np.asarray(q[np.tril(~differ, -1).sum(axis=1) == 0][:count])


def _sample_indices(branch: Branch, seed: Array, spacing: float) -> Array:
    """Return indices of postures about a spacing apart, with the one nearest to the seed."""
    nearest = int(np.argmin(np.linalg.norm(branch.q - seed, axis=1)))
    phase = branch.length[nearest] % spacing if spacing > 0.0 else 0.0
    marks = np.arange(phase, branch.length[-1], max(spacing, 1e-9))
    if branch.closed and len(marks) > 1 and branch.length[-1] - marks[-1] + phase < 0.5 * spacing:
        marks = marks[:-1]
    near = np.clip(np.searchsorted(branch.length, marks - 1e-9), 0, len(branch.q) - 1)
    return np.unique(np.append(near, nearest))


@lru_cache(maxsize=8)
def _arm(S: bytes, M: bytes) -> SevenR:
    return SevenR(np.frombuffer(S).reshape(6, 7), np.frombuffer(M).reshape(4, 4))


def _start_posture(chain: SerialChain, seed: ArrayLike | None) -> Array:
    return vector(chain.middle if seed is None else seed, chain.n, "seed")


class LockedForm:
    """The closed form of a 7R arm with its last joint locked."""

    def __init__(self, plan: Records, chain: SerialChain, constants: Records) -> None:
        """Prepare for the plan of the first six joints and the chain's table of constants."""
        self._plan, self._c = plan, np.ascontiguousarray(constants[:7])
        v, w = np.split(adjoint(inverse(chain.M)) @ chain.S[:, 6], 2)
        B = np.zeros((4, 4))
        B[:3, :3], B[:3, 3] = hat(w), v
        self._B, self._BB = B, B @ B
        low = max(float(constants["lower"][7]), -math.pi)
        high = min(float(constants["upper"][7]), math.pi)
        self._values = low + (high - low) * (np.arange(LOCKED_VALUES) + 0.5) / LOCKED_VALUES
        self._motions = np.array([self._undone(q) for q in self._values.tolist()])
        self._range = low, high

    def _undone(self, q7: float) -> Array:
        """Return exp(-[B7] q7)."""
        return np.eye(4) - math.sin(q7) * self._B + (1.0 - math.cos(q7)) * self._BB

    def __call__(self, T: Array, seed: Array) -> Array:
        """Return up to LOCKED_COUNT postures (k, 7) at T (4, 4), spread over the locked values.

        They are inside the limits to rounding, and of all that were found the one nearest to the
        seed (7,) is among them. A fraction of a millisecond does, so there is no deadline.
        """
        own = min(max(float(seed[6]), self._range[0]), self._range[1])
        Ts = T @ np.concatenate([self._motions, self._undone(own)[None]])
        found = np.empty((MAX_BRANCHES, len(Ts), 7))
        first = np.empty((MAX_BRANCHES, len(Ts), 6))
        compiled.fill_postures(self._c, self._plan, Ts, seed[:6].copy(), first.reshape(-1, 6))
        found[:, :, :6], found[:, :-1, 6], found[:, -1, 6] = first, self._values, own
        q = found[~np.isnan(first[:, :, 0])]
        nearest = int(np.argmin(((q - seed) ** 2).sum(axis=1))) if len(q) else 0
        if len(q) > LOCKED_COUNT:
            picked = np.linspace(0, len(q) - 1, LOCKED_COUNT - 1).astype(int)
            q = q[np.append(nearest, picked)]
        return q


def prepared(
    chain: SerialChain, tool: Array | None, constants: Records
) -> Callable[[Array, Array, float], Array]:
    """Return the function of a target, a seed and a deadline for samples of a 7R arm's postures.

    With the last joint locked if that leaves a closed form, otherwise by `sampled_solutions`.
    """
    form = recognise(chain.S[:, :6], chain.M, chain.prismatic[:6])
    locked = None if form is None else LockedForm(form.plan, chain, constants)

    def postures(T: Array, seed: Array, deadline: float) -> Array:
        tip = T if tool is None else T @ inverse(tool)
        if locked is None:
            return sampled_solutions(chain, tip, seed, deadline=deadline)
        return locked(tip, seed)

    return postures
