# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/ik/test_constrained.py
"""The parts of a chain: joints, mimic joints, links and screws; and these parts from a DH model.

With mimic joints, screw i is at ratios[i] times the position of joint leaders[i]. The compiled
loops have a row for each screw; the first one that a joint drives is its owner, which the others
follow. Offsets are part of the home pose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from arm_common.transforms import Array, pose, so3_exp
from arm_description.model.elements import DependentJoint, mimic_names
from numpy.typing import ArrayLike

from arm_kinematics.errors import KinematicsError
from arm_kinematics.kernels.layout import Records, empty_result, with_slots

if TYPE_CHECKING:
    from arm_description.model.constraints import JointConstraint
    from arm_description.robot_model import RobotModel


@dataclass(frozen=True)
class ChainJoint:
    """One moving joint of a chain.

    Attributes:
        name: Name of the joint.
        prismatic: True for a prismatic joint, False for a revolute one.
        lower: Smallest position [rad or m], -inf if there is none.
        upper: Largest position [rad or m], inf if there is none.
        velocity: Largest speed [rad/s or m/s], inf if unknown.
        acceleration: Largest acceleration [rad/s^2 or m/s^2], inf if unknown.
        effort: Largest torque or force [N m or N], inf if unknown.
    """

    name: str
    prismatic: bool
    lower: float
    upper: float
    velocity: float = math.inf
    acceleration: float = math.inf
    effort: float = math.inf


def one_turn(lower: ArrayLike, upper: ArrayLike, sliding: ArrayLike) -> tuple[Array, Array]:
    """Return limits (n,) [rad or m] of which those of a turn span at most one turn.

    They are within half a turn of 0 where the range reaches in there.
    """
    low = np.where(sliding, lower, np.maximum(lower, -np.pi))
    high = np.where(sliding, upper, np.minimum(upper, np.pi))
    beyond = low >= high
    high = np.where(beyond, np.minimum(upper, np.add(lower, math.tau)), high)
    return np.where(beyond, lower, low), high


@dataclass(frozen=True)
class ChainLink:
    """A frame after the first ``joints`` screws; its pose at q = 0 is ``home`` (4, 4)."""

    name: str
    joints: int
    home: Array


class MimicJoints:
    """The mapping from joints to screws.

    Attributes:
        leaders: Index of the joint that drives each screw.
        ratios: Motion of each screw per motion of its joint, never 0.
        sliding: Whether each screw is prismatic.
        screw_names: Name of each screw.
        owners: Index of the first screw of each joint.
    """

    def __init__(
        self,
        leaders: Sequence[int],
        ratios: Sequence[float],
        sliding: Sequence[bool],
        screw_names: Sequence[str],
    ) -> None:
        self.sliding, self.screw_names = tuple(sliding), tuple(screw_names)
        self.leaders = np.array(leaders)
        self.ratios = np.array(ratios, dtype=np.float64)
        joints = max(leaders) + 1
        self.owners = np.array([int(np.argmax(self.leaders == j)) for j in range(joints)])

    def positions(self, q: Array) -> Array:
        """Return the positions of the screws (s,) at joint positions (n,)."""
        return np.asarray(self.ratios * q[self.leaders])

    def joints(self, positions: Array) -> Array:
        """Return the joint positions (..., n) at positions of the screws (..., s)."""
        return np.asarray(positions[..., self.owners] / self.ratios[self.owners])

    def columns(self, J: Array) -> Array:
        """Return the columns (6, n) of the joints; those of followers are already added."""
        return np.ascontiguousarray(J[:, self.owners] * self.ratios[self.owners])

    def gradient_by_screws(self, by_joints: Array) -> Array:
        """Return the gradient (..., s) by columns of screws from that by joints' (..., n)."""
        return np.asarray(by_joints[..., self.leaders] * self.ratios)

    def gradient_by_joints(self, by_screws: Array) -> Array:
        """Return the gradient (n,) by the joints' positions from that by the screws' (s,)."""
        return np.asarray(np.bincount(self.leaders, by_screws * self.ratios), dtype=np.float64)

    def rows(self, values: Array, of_followers: float) -> Array:
        """Return an array (s,) with the joint values (n,) at their owners, another elsewhere."""
        row = np.full(len(self.leaders), of_followers)
        row[self.owners] = values
        return row

    def limits(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Return the limits of the screws (s,): of each joint at its owner, infinite elsewhere."""
        ratio = self.ratios[self.owners]
        ends = np.sort([lower * ratio, upper * ratio], axis=0)
        return self.rows(ends[0], -np.inf), self.rows(ends[1], np.inf)

    def weights(self, weights: Array) -> Array:
        """Return the screw weights (s,) that give the same distance as the joint weights."""
        return self.rows(weights / self.ratios[self.owners] ** 2, 0.0)

    def result(self, out: Records) -> Records:
        """Return a search result with joint positions instead of screw positions."""
        slots = out["slots"]
        joined = empty_result(len(self.owners), len(slots))["slots"]
        joined["q"] = self.joints(slots["q"])
        for name in ("error", "cost", "distance"):
            joined[name] = slots[name]
        return with_slots(out, joined, int(out["solutions"]))

    def write(self, c: Records) -> None:
        """Write leaders and ratios into the constants; rows that share a joint have no period."""
        for i, joint in enumerate(self.leaders):
            owner = self.owners[joint]
            c["leader"][i + 1] = owner
            c["ratio"][i + 1] = self.ratios[i] / self.ratios[owner]
            if (self.leaders == joint).sum() > 1:
                c["period"][i + 1] = 0.0
        c["leader"][0] = float(len(self.owners) < len(self.leaders))


class Parts(NamedTuple):
    """The arguments of Chain: screws (6, s), home pose (4, 4), joints, links, and what is rare."""

    S: Array
    M: Array
    joints: list[ChainJoint]
    links: list[ChainLink]
    gearing: MimicJoints | None = None
    constraints: tuple[JointConstraint, ...] = ()


def parts_of_model(model: RobotModel) -> Parts:
    """Return the parts of the chain from base_link to tool0 of an arm."""
    zero = np.zeros(model.n)
    frames, M = model.dh_frames(zero), model.fk(zero)
    first = 0 if model.convention == "standard" else 1  # index of the frame on joint 1's axis
    screws: list[Array] = []
    driven: list[tuple[str, str, float, bool]] = []  # screw, its leader, ratio, prismatic
    links = [ChainLink("base_link", 0, np.eye(4))]
    for i, joint in enumerate(model.rows):
        frame, sliding = frames[i + first], joint.type == "prismatic"
        terms = joint.terms if isinstance(joint, DependentJoint) else ((joint.name, 1.0),)
        names = mimic_names(joint.name, terms)
        for name, (leader, ratio) in zip(names, terms, strict=True):
            screws.append(screw_of(frame, joint.direction, sliding))
            driven.append((name, leader, ratio, sliding))
        # Links turn with their joint only, as in the URDF: the theta offset comes after them.
        offset = so3_exp([0.0, 0.0, -first * joint.row.theta])
        home = frame @ pose(offset)
        links += [
            ChainLink(f"{name}_link", len(screws) - len(names) + k, home)
            for k, name in enumerate((*names[:-1], joint.name), start=1)
        ]
    end = len(screws)
    links += [ChainLink("flange", end, frames[-1]), ChainLink("tool0", end, M)]
    joints = [
        ChainJoint(
            j.name,
            j.type == "prismatic",
            j.lower,
            j.upper,
            j.velocity,
            j.acceleration,
            j.effort,
        )
        for j in model.joints
    ]
    gearing = _gearing(model, driven) if model.dependents else None
    return Parts(np.transpose(screws), M, joints, links, gearing, model.constraints)


def _gearing(model: RobotModel, driven: Sequence[tuple[str, str, float, bool]]) -> MimicJoints:
    """Return the mimic joints for rows of screw, its leader, ratio, and whether it slides."""
    screw_names, leaders, ratios, slides = zip(*driven, strict=True)
    order = [model.joint_names.index(leader) for leader in leaders]
    return MimicJoints(order, ratios, slides, screw_names)


def checked_screws(S: ArrayLike, prismatic: Sequence[bool], names: Sequence[str]) -> Array:
    """Return S as an array (6, s); raise KinematicsError if it does not match the joints."""
    if not names:
        raise KinematicsError("a chain needs at least one moving joint", what="joints")
    screws = np.asarray(S, dtype=np.float64)
    if screws.shape != (6, len(names)) or not np.isfinite(screws).all():
        raise KinematicsError(
            f"screw axes: expected finite numbers of shape (6, {len(names)}), got {screws.shape}",
            what="S",
            value=S,
        )
    for screw, slides, name in zip(screws.T, prismatic, names, strict=True):
        v, w = screw[:3], screw[3:]
        turning = abs(w @ w - 1.0) < 1e-9 and abs(v @ w) < 1e-9 * (1.0 + abs(v).max())
        sliding = not w.any() and abs(v @ v - 1.0) < 1e-9
        if not (sliding if slides else turning):
            raise KinematicsError(
                f"joint '{name}': screw axis is neither a pure rotation nor a pure translation",
                what=name,
                value=screw,
            )
    return screws


MAX_JOINTS = 128  # of a chain, for which time limits are kept within 0.2 s


def check_limits(joints: Sequence[ChainJoint]) -> None:
    """Raise KinematicsError for too many joints, a name used twice, or limits out of order."""
    names = [j.name for j in joints]
    if len(names) > MAX_JOINTS:
        raise KinematicsError(
            f"the chain has {len(names)} joints; at most {MAX_JOINTS}: its end at an earlier link "
            "has fewer",
            what="joints",
        )
    if len(set(names)) < len(names):
        raise KinematicsError(f"joint names are not unique: {', '.join(names)}", what="joints")
    for joint in joints:
        if not joint.lower <= joint.upper:
            raise KinematicsError(
                f"joint '{joint.name}': lower limit {joint.lower} is not below {joint.upper}",
                what=joint.name,
            )


def screw_of(frame: Array, axis: ArrayLike, sliding: bool) -> Array:
    """Return the screw [v; w] (6,) of a joint on ``axis`` through the origin of ``frame``."""
    direction = frame[:3, :3] @ np.asarray(axis, dtype=np.float64)
    if sliding:
        return np.concatenate([direction, np.zeros(3)])
    return np.concatenate([np.cross(frame[:3, 3], direction), direction])
