# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The parts of a chain: joints, links and screws; and these parts from a DH model."""

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
from arm_kinematics.model.mimic_joints import MimicJoints

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


@dataclass(frozen=True)
class ChainLink:
    """A frame after the first ``joints`` screws; its pose at q = 0 is ``home`` (4, 4)."""

    name: str
    joints: int
    home: Array


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
