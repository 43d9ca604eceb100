# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Import a URDF as a RobotModel: a DH table with the same joints, zeros, signs and limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from arm_common.transforms import Matrix
from arm_common.yaml.linear_expressions import LinearExpression

from arm_description.errors import UrdfError
from arm_description.importers.dh_from_axes import ROUNDING, AxisLine, dh_from_axes
from arm_description.importers.urdf_structure import (
    ArmChain,
    find_chain,
    find_hand,
    shortened,
    zero_pose,
)
from arm_description.model.constraints import ConstraintSet, LinearLimits
from arm_description.model.elements import (
    Convention,
    DependentJoint,
    DhRow,
    Joint,
    JointType,
    dependent_joint,
)
from arm_description.robot_file.joints import DEFAULT_EFFORT, DEFAULT_VELOCITY, name_owner
from arm_description.robot_file.scope import MAX_ROTATION, MAX_VELOCITY, name_problem
from arm_description.robot_model import RobotModel
from arm_description.urdf.elements import Drive, UrdfJoint
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import UrdfTree, read_urdf

# Exceeds the error of pi/2 written with five decimals [rad].
PARALLEL = 1e-5
SAMPLES = 100


@dataclass(frozen=True)
class UrdfImport:
    """A model from a URDF, and its deviation from it."""

    model: RobotModel
    notes: tuple[str, ...]  # remarks for the user, in sentences
    # largest deviation of any element of the tool pose from the URDF's, at SAMPLES random
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
    """Compute the DH table of an arm from its URDF.

    Args:
        text: the URDF.
        convention: DH convention of the table.
        base: link that becomes base_link, by default the root.
        tip: link that becomes tool0, by default the only end of the arm.
        parallel: axes within this angle count as parallel [rad].
        name: name of the robot, by default that of the URDF.
        file: origin of the text, for the source of the model.

    Raises:
        DescriptionError: not a URDF, not a single arm, or not representable by a DH table.
    """
    tree = read_urdf(text)
    chain = find_chain(tree, base, tip)
    hand = find_hand(tree, chain)
    rows = _rows(chain)
    frames = {joints[0].name: zero_pose(chain.path, joints[0]) for joints in rows}
    axes = [
        AxisLine(j.name, frames[j.name][:3, 3], frames[j.name][:3, :3] @ j.axis) for j, *_ in rows
    ]
    table = dh_from_axes(axes, hand.tool, convention, parallel)
    joints, dependents = _joints(tree, rows, table.rows)
    rest = ConstraintSet([j.name for j in joints], [j.constraint for j in joints if j.constraint])
    posture = dict(zip(rest.names, rest.inside([j.rest for j in joints]).tolist(), strict=True))
    clean_name = _clean(name or tree.name)
    model = RobotModel(
        name=clean_name,
        convention=convention,
        joints=joints,
        dependents=dependents,
        base=table.base,
        tool=table.tool,
        gripper=hand.gripper,
        postures=MappingProxyType({"rest": MappingProxyType(posture)}),
        description=f"{clean_name}, {len(joints)} joints, from its URDF",
        source=f"{file or 'URDF'}, from {chain.base} to {chain.tip}",
    )
    error = _difference(model, tree, chain, hand.tool)
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
        yield f"Omitted, as not on the path: {shortened(chain.others)}."


def _rows(chain: ArmChain) -> list[list[UrdfJoint]]:
    """Return the joints of each row: one, or mimic joints of one kind on one axis at one point."""
    rows: list[list[UrdfJoint]] = []
    for joint in chain.moving:
        if rows and joint.mimic and (first := rows[-1][0]).mimic and first.kind == joint.kind:
            between = zero_pose(chain.path, joint) - zero_pose(chain.path, first)
            if np.abs(between).max() < ROUNDING and first.axis == joint.axis:
                rows[-1].append(joint)
                continue
        rows.append([joint])
    return rows


def _joints(
    tree: UrdfTree, rows: list[list[UrdfJoint]], table: tuple[DhRow, ...]
) -> tuple[tuple[Joint, ...], tuple[DependentJoint, ...]]:
    """Return the independent and the dependent joints of a table."""
    mimics = [joint for joints in rows for joint in joints if joint.mimic]
    drives = [(joint, tree.drive_of(joint)) for joint in mimics]
    independent = {
        joints[0].name: _joint(joints[0], row, [d for d in drives if d[1].leader is joints[0]])
        for joints, row in zip(rows, table, strict=True)
        if joints[0].mimic is None
    }
    leaders = _constrained({joint.name: joint for joint in independent.values()}, tree)
    dependents = []
    for index, (joints, row) in enumerate(zip(rows, table, strict=True)):
        if joints[0].mimic is None:
            continue
        total = LinearExpression(0.0)
        for leader, ratio, offset in map(tree.drive_of, joints):
            total = total.plus(LinearExpression(offset, ((_clean(leader.name), ratio),)))
        kind = _kind(joints[0])
        key = "d" if kind == "prismatic" else "theta"
        row = replace(row, **{key: getattr(row, key) + total.constant})
        name = joints[0].name if len(joints) == 1 else joints[-1].child.removesuffix("_link")
        dependents.append(dependent_joint(_clean(name), kind, row, total.factors, leaders, index))
    return tuple(leaders.values()), tuple(dependents)


def _constrained(joints: dict[str, Joint], tree: UrdfTree) -> dict[str, Joint]:
    """Return the joints with the constraints of the URDF that are linear, as a file has them."""
    found = [one for one in tree.constraints if isinstance(one, LinearLimits)]
    ranges = {name: (joint.lower, joint.upper) for name, joint in joints.items()}
    for joint in tuple(joints.values()):
        own = [one for one in found if _clean(one.joint) == joint.name]
        lower = [_renamed(bound) for one in own for bound in one.lower]
        upper = [_renamed(bound) for one in own for bound in one.upper]
        named = {name for bound in (*lower, *upper) for name, _ in bound.factors}
        if not named or not named < ranges.keys():
            continue
        if max(bound.range(ranges)[0] for bound in lower) != joint.lower:
            lower.append(LinearExpression(joint.lower))
        if min(bound.range(ranges)[1] for bound in upper) != joint.upper:
            upper.append(LinearExpression(joint.upper))
        joints[joint.name] = replace(
            joint,
            lower=max(bound.range(ranges)[0] for bound in lower),
            upper=min(bound.range(ranges)[1] for bound in upper),
            constraint=LinearLimits(joint.name, tuple(lower), tuple(upper)),
        )
    return joints


def _renamed(bound: LinearExpression) -> LinearExpression:
    """Return a bound with the names that a robot file can have."""
    factors = tuple((_clean(name), factor) for name, factor in bound.factors)
    return LinearExpression(bound.constant, factors)


def _kind(joint: UrdfJoint) -> JointType:
    return "prismatic" if joint.kind == "prismatic" else "revolute"


def _joint(joint: UrdfJoint, row: DhRow, followers: list[tuple[UrdfJoint, Drive]]) -> Joint:
    kind = _kind(joint)
    lower, upper, note = _limits(joint)
    for follower, (_, ratio, offset) in followers:
        limit = follower.limit
        if limit and limit.lower < limit.upper and follower.kind != "continuous":
            ends = sorted((end - offset) / ratio for end in (limit.lower, limit.upper))
            lower, upper = max(lower, ends[0]), min(upper, ends[1])
    notes = [note] if note else []
    velocity, effort = (joint.limit.velocity, joint.limit.effort) if joint.limit else (0.0, 0.0)
    if not 0.0 < velocity <= MAX_VELOCITY[kind]:
        notes.append(f"{'no' if velocity <= 0.0 else 'an unbounded'} velocity in the URDF")
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
    """Return limits and a note; unbounded rotation becomes one turn, which reaches every pose."""
    limit = joint.limit
    if joint.kind == "continuous" or limit is None:
        return -math.pi, math.pi, "continuous in the URDF, limited to half a turn either way"
    if limit.lower >= limit.upper:
        problem = f"joint {joint.name!r} cannot move: both limits are {limit.lower:g}"
        raise UrdfError(problem, remedy="give it limits or make it fixed")
    if joint.kind == "revolute" and max(-limit.lower, limit.upper) > MAX_ROTATION:
        return -math.pi, math.pi, "unbounded in the URDF, limited to half a turn either way"
    return limit.lower, limit.upper, ""


def _clean(name: str) -> str:
    cleaned = "".join("_" if name_problem(c)[0] else c for c in name)
    return f"{cleaned}_joint" if name_owner(cleaned) else cleaned


def _difference(model: RobotModel, tree: UrdfTree, chain: ArmChain, tool: Matrix) -> float:
    """Return the largest deviation of the tool pose at random positions; deterministic."""
    rng = np.random.default_rng(0)
    fixed = np.linalg.inv(zero_pose(chain.path)) @ tool
    worst = 0.0
    for q in rng.uniform(model.lower, model.upper, (SAMPLES, model.n)):
        free = [joint.name for joint in chain.moving if joint.mimic is None]
        values, drives = dict(zip(free, q, strict=True)), map(tree.drive_of, chain.moving)
        for joint, (leader, ratio, offset) in zip(chain.moving, drives, strict=True):
            values[joint.name] = ratio * values[leader.name] + offset
        T = link_poses(chain.base, chain.path, values)[chain.tip]
        worst = max(worst, float(np.abs(T @ fixed - model.fk(q)).max()))
    return worst
