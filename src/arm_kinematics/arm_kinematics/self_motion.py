# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Redundancy of a 7R arm: all ways to hold the tip at a pose, as continuous branches.

Six equations in seven joints leave curves. Without limits each is closed, round the torus of the
joint angles; limits cut it into parts (`seven_r.py`, `self_motion_limits.py`). Burdick, "On the
inverse kinematics of redundant manipulators: characterization of the self-motion manifolds", IEEE
Int. Conf. Robotics and Automation 1989, has the theory.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_kinematics.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.lie import Array, transform
from arm_kinematics.self_motion_limits import Arc, Limits, arcs_within
from arm_kinematics.seven_r import SevenR

COARSEST, FINEST = 0.3, 1e-3
SAME = 1e-3  # [rad]


class Branch(NamedTuple):
    """One continuous way to move the arm while its tip rests.

    Attributes:
        q: Joint angles (m, 7) along it [rad], inside the limits; no joint moves by more than the
            step from one to the next.
        length: Way from the first to each (m,), Euclidean [rad].
        closed: True if the last posture is the first one again, up to whole turns.
        ends: Names of the joints at whose limits it begins and ends; "" if it is closed, or ends
            at a posture where it cannot be followed.
        distance: Euclidean distance of its nearest posture from the seed [rad].
    """

    q: Array
    length: Array
    closed: bool
    ends: tuple[str, str]
    distance: float


class SelfMotion(NamedTuple):
    """All branches at one pose, the nearest to the seed first; none if it is out of reach."""

    branches: tuple[Branch, ...]


def self_motion(
    chain: Chain,
    T: ArrayLike,
    seed: ArrayLike | None = None,
    *,
    step: float = 0.05,
    joint: str | None = None,
    deadline: float = math.inf,
) -> SelfMotion:
    """Return all ways in which a 7R arm holds its tip at a pose. Equal input, equal output.

    Where limits allow a joint more than a turn, a branch is given once, in the turns next to the
    seed.

    Args:
        chain: An arm of seven turning joints.
        T: Pose of the tip in the base frame (4, 4).
        seed: What to be near, (7,) [rad]; None is mid-range.
        step: Longest way of a joint between two postures of a branch [rad], 0.001 to 0.3.
        joint: Name of the joint that is locked to find first postures; None takes two that suit.
        deadline: When to stop with what is found, on the monotonic clock [s].

    Raises:
        KinematicsError: The arm is no 7R arm, or another argument makes no sense.
    """
    if chain.S.shape != (6, 7) or any(chain.prismatic):
        raise KinematicsError("self-motion needs an arm of seven turning joints", what="chain")
    if not FINEST <= step <= COARSEST:
        raise KinematicsError(
            f"step: expected {FINEST} to {COARSEST} rad, got {step}", what="step", value=step
        )
    target, start = transform(T, "target"), _seed(chain, seed)
    arm = _arm(chain.S.tobytes(), chain.M.tobytes())
    joints = arm.by_motion[:2] if joint is None else (_number(chain, joint),)
    limits = Limits(chain.lower, chain.upper)
    near = np.clip(start, chain.lower, chain.upper)
    branches: list[Branch] = []
    for curve, closed in arm.curves(target, step, joints, deadline):
        arcs = arcs_within(curve, closed, limits, near, partial(arm.point_at, target))
        branches += [_branch(arc, chain, start) for arc in arcs]
    return SelfMotion(tuple(sorted(branches, key=lambda b: (b.distance, *b.q[0]))))


def sampled_solutions(
    chain: Chain,
    T: ArrayLike,
    seed: ArrayLike | None = None,
    *,
    count: int = 32,
    deadline: float = math.inf,
) -> Array:
    """Return up to ``count`` postures (k, 7) spread evenly over all branches, nearest first.

    Of each branch the posture nearest to the seed is one; no two are the same to 1e-3 rad.
    Arguments as for `self_motion`.
    """
    if count < 1:
        raise KinematicsError(f"count: expected 1 or more, got {count}", what="count", value=count)
    start = _seed(chain, seed)
    branches = self_motion(chain, T, seed, deadline=deadline).branches
    whole = sum(float(b.length[-1]) for b in branches)
    picked = [b.q[_spread(b, start, whole / count)] for b in branches]
    q = np.concatenate([np.empty((0, 7)), *picked])
    q = q[np.argsort(np.linalg.norm(q - start, axis=1), kind="stable")]
    apart = np.abs(q[:, None] - q[None]).max(axis=2) > SAME
    return np.asarray(q[np.tril(~apart, -1).sum(axis=1) == 0][:count])


def _spread(branch: Branch, seed: Array, spacing: float) -> Array:
    """Return numbers of postures about a spacing apart, the nearest to the seed among them."""
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


def _branch(arc: Arc, chain: Chain, seed: Array) -> Branch:
    length = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(arc.q, axis=0), axis=1)))
    first, last = (chain.joint_names[i] if i >= 0 else "" for i in arc.ends)
    distance = float(np.linalg.norm(arc.q - seed, axis=1).min())
    return Branch(arc.q, length, arc.closed, (first, last), distance)


def _seed(chain: Chain, seed: ArrayLike | None) -> Array:
    q = np.array(chain.middle if seed is None else seed, dtype=np.float64)
    if q.shape != (chain.n,) or not np.isfinite(q).all():
        raise KinematicsError(f"seed: expected {chain.n} finite numbers", what="seed", value=seed)
    return q


def _number(chain: Chain, joint: str) -> int:
    if joint not in chain.joint_names:
        raise KinematicsError(
            f"joint: '{joint}' is none of {', '.join(chain.joint_names)}",
            what="joint",
            value=joint,
        )
    return chain.joint_names.index(joint)
