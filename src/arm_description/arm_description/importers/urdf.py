# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A URDF as a RobotModel: same joints, same zero, same sign, same limits, in a DH table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from arm_common.transforms import Matrix

from arm_description.errors import UrdfError
from arm_description.importers.dh_from_axes import AxisLine, dh_from_axes
from arm_description.importers.urdf_structure import (
    ArmChain,
    find_chain,
    find_hand,
    some,
    zero_pose,
)
from arm_description.model.elements import Convention, DhRow, Joint, JointType
from arm_description.robot_file.joints import DEFAULT_EFFORT, DEFAULT_VELOCITY, taken_by
from arm_description.robot_file.scope import FASTEST, MOST_ROTATION, name_problem
from arm_description.robot_model import RobotModel
from arm_description.urdf.elements import UrdfJoint
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import read_urdf

# Five written digits of pi are this far from it, with some room [rad].
PARALLEL = 1e-5
SAMPLES = 100


@dataclass(frozen=True)
class UrdfImport:
    """A model from a URDF and how faithful it is."""

    model: RobotModel
    notes: tuple[str, ...]  # what there is to know about it, in sentences
    # largest difference of any element of the tool's pose from the URDF's, at SAMPLES random
    # positions within the limits [m or -]
    error: float


def import_urdf(
    text: str,
    convention: Convention = "standard",
    base: str = "",
    tip: str = "",
    *,
    parallel: float = PARALLEL,
    name: str = "",
    file: str = "",
) -> UrdfImport:
    """Find the DH table of an arm given as URDF.

    Args:
        text: the URDF.
        convention: of the table.
        base: link that becomes base_link, the root if empty.
        tip: link that becomes tool0, the arm's one end if empty.
        parallel: axes closer than this are taken as parallel [rad].
        name: of the robot, that of the URDF if empty.
        file: where the text comes from, for the model's source.

    Raises:
        DescriptionError: not a URDF, not one arm, or one that a DH table cannot hold.
    """
    tree = read_urdf(text)
    chain = find_chain(tree, base, tip)
    hand = find_hand(tree, chain)
    frames = {joint.name: zero_pose(chain.way, joint) for joint in chain.moving}
    axes = [
        AxisLine(j.name, frames[j.name][:3, 3], frames[j.name][:3, :3] @ j.axis)
        for j in chain.moving
    ]
    table = dh_from_axes(axes, hand.tool, convention, parallel)
    joints = tuple(map(_joint, chain.moving, table.rows))
    called = _clean(name or tree.name)
    model = RobotModel(
        name=called,
        convention=convention,
        joints=joints,
        base=table.base,
        tool=table.tool,
        gripper=hand.gripper,
        postures=MappingProxyType({"rest": MappingProxyType({j.name: j.rest for j in joints})}),
        description=f"{called}, {len(joints)} joints, from its URDF",
        source=f"{file or 'URDF'}, from {chain.base} to {chain.tip}",
    )
    error = _difference(model, chain, hand.tool)
    return UrdfImport(model, tuple(_notes(chain, hand.note, table.notes, error)), error)


def _notes(chain: ArmChain, hand: str, table: tuple[str, ...], error: float) -> Iterator[str]:
    yield f"From {chain.base} to {chain.tip}: {', '.join(joint.name for joint in chain.moving)}."
    yield (
        f"The table differs from the URDF by at most {error:.1e} (m, or an element of the "
        f"rotation) at {SAMPLES} random positions."
    )
    for note in (*table, hand):
        if note:
            yield f"{note[0].upper()}{note[1:]}."
    if chain.others:
        yield f"Not on the way, left out: {some(chain.others)}."


def _joint(joint: UrdfJoint, row: DhRow) -> Joint:
    kind: JointType = "prismatic" if joint.kind == "prismatic" else "revolute"
    lower, upper, said = _limits(joint)
    notes = [said] if said else []
    velocity, effort = (joint.limit.velocity, joint.limit.effort) if joint.limit else (0.0, 0.0)
    if not 0.0 < velocity <= FASTEST[kind]:
        notes.append(f"{'no' if velocity <= 0.0 else 'an endless'} velocity in the URDF")
        velocity = DEFAULT_VELOCITY[kind]
    if effort <= 0.0:
        effort = DEFAULT_EFFORT
        notes.append("no effort in the URDF")
    return Joint(
        name=_clean(joint.name),
        type=kind,
        row=row,
        lower=lower,
        upper=upper,
        velocity=velocity,
        acceleration=4.0 * velocity,
        effort=effort,
        source="; ".join(notes),
    )


def _limits(joint: UrdfJoint) -> tuple[float, float, str]:
    """Limits, and what to say about them. Endless turning becomes one turn: every pose, once."""
    limit = joint.limit
    if joint.kind == "continuous" or limit is None:
        return -math.pi, math.pi, "continuous in the URDF, half a turn either way here"
    if limit.lower >= limit.upper:
        problem = f"joint {joint.name!r} cannot move: both its limits are {limit.lower:g}"
        raise UrdfError(problem, remedy="give it limits, or make it fixed")
    if joint.kind == "revolute" and max(-limit.lower, limit.upper) > MOST_ROTATION:
        return -math.pi, math.pi, "without bound in the URDF, half a turn either way here"
    return limit.lower, limit.upper, ""


def _clean(name: str) -> str:
    cleaned = "".join("_" if name_problem(c)[0] else c for c in name)
    return f"{cleaned}_joint" if taken_by(cleaned) else cleaned


def _difference(model: RobotModel, chain: ArmChain, tool: Matrix) -> float:
    """Largest difference of the tool's pose at random positions; repeatable."""
    rng = np.random.default_rng(0)
    fixed = np.linalg.inv(zero_pose(chain.way)) @ tool
    worst = 0.0
    for q in rng.uniform(model.lower, model.upper, (SAMPLES, model.n)):
        values = dict(zip((joint.name for joint in chain.moving), q, strict=True))
        T = link_poses(chain.base, chain.way, values)[chain.tip]
        worst = max(worst, float(np.abs(T @ fixed - model.fk(q)).max()))
    return worst
