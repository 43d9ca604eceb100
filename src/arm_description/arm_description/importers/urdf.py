# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Import a URDF as a RobotModel: a DH table with the same joints, zeros, signs and limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from arm_common.transforms import Matrix
from arm_common.yaml.linear_expressions import LinearExpression

from arm_description.errors import UrdfError
from arm_description.importers.urdf_structure import (
    ArmChain,
    find_chain,
    find_hand,
    shortened,
    zero_pose,
)
from arm_description.model.constraints import ConstraintSet, LinearLimits
from arm_description.model.dh_from_axes import ROUNDING, AxisLine, dh_from_axes
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
_Bound: TypeAlias = tuple[str, bool, LinearExpression]  # joint, whether lower, limit


@dataclass(frozen=True)
class UrdfImport:
    """A model from a URDF, and its deviation from it."""

    model: RobotModel
    notes: tuple[str, ...]  # remarks for the user, in sentences
    # largest deviation of any element of the tool pose from the URDF's, at SAMPLES random
    # positions within the limits [m or -]
    error: float

    @property
    def losses(self) -> tuple[str, ...]:
        """The remarks without the first two, which name the path and the deviation."""
        return self.notes[2:]


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
    clean_name = _clean(name or tree.name)
    model = RobotModel(
        name=clean_name,
        convention=convention,
        joints=joints,
        dependents=dependents,
        base=table.base,
        tool=table.tool,
        gripper=hand.gripper,
        postures=MappingProxyType({"rest": _rest(joints)}),
        description=f"{clean_name}, {len(joints)} joints, from its URDF",
        source=f"{file or 'URDF'}, from {chain.base} to {chain.tip}",
    )
    error = _difference(model, tree, chain, hand.tool)
    notes = (*table.notes, hand.note, _lost_limits(model, tree))
    return UrdfImport(model, tuple(_notes(chain, notes, error)), error)


def _rest(joints: Sequence[Joint]) -> Mapping[str, float]:
    """Return a posture near zero, within limits that depend on other joints, too."""
    names, constraints = [j.name for j in joints], [j.constraint for j in joints if j.constraint]
    limits = ConstraintSet(names, constraints)
    zero, ends = [j.rest for j in joints], np.array([(j.lower, j.upper) for j in joints]).T
    found = limits.nearest(zero, *ends) if limits else None
    q = zero if found is None else found.tolist()
    return MappingProxyType(dict(zip(names, q, strict=True)))


def _notes(chain: ArmChain, found: Sequence[str], error: float) -> Iterator[str]:
    yield f"From {chain.base} to {chain.tip}: {', '.join(joint.name for joint in chain.moving)}."
    yield (
        f"The table differs from the URDF by at most {error:.1e} (m, or an element of the "
        f"rotation) at {SAMPLES} random positions."
    )
    for note in found:
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
    bounds = _bounds(tree, list(joints))
    ranges = {name: (joint.lower, joint.upper) for name, joint in joints.items()}
    for joint in tuple(joints.values()):
        lower, upper = (
            [bound for name, side, bound in bounds if name == joint.name and side is is_lower]
            for is_lower in (True, False)
        )
        if not any(bound.factors for bound in (*lower, *upper)):
            continue
        if max((bound.range(ranges)[0] for bound in lower), default=None) != joint.lower:
            lower.append(LinearExpression(joint.lower))
        if min((bound.range(ranges)[1] for bound in upper), default=None) != joint.upper:
            upper.append(LinearExpression(joint.upper))
        joints[joint.name] = replace(
            joint,
            lower=max(bound.range(ranges)[0] for bound in lower),
            upper=min(bound.range(ranges)[1] for bound in upper),
            constraint=LinearLimits(joint.name, tuple(lower), tuple(upper)),
        )
    return joints


def _bounds(tree: UrdfTree, names: Sequence[str]) -> list[_Bound]:
    """Return the linear constraints between joints, so that none depends on itself."""
    bounds = [
        (_clean(one.joint), is_lower, _renamed(bound))
        for one in tree.constraints
        if isinstance(one, LinearLimits) and {_clean(name) for name in one.joints} <= set(names)
        for is_lower, side in ((True, one.lower), (False, one.upper))
        for bound in side
    ]
    return [_of_last(b, names) for b in bounds] if _is_circular(bounds, names) else bounds


def _is_circular(bounds: Sequence[_Bound], names: Sequence[str]) -> bool:
    """Return whether limits of joints depend on each other in a circle."""
    left = set(names)
    while left:
        free = left - {name for name, _, bound in bounds if left & {n for n, _ in bound.factors}}
        if not free:
            return True
        left -= free
    return False


def _of_last(bound: _Bound, names: Sequence[str]) -> _Bound:
    """Return a bound as one of the last joint in it, which is never circular."""
    joint, is_lower, limit = bound
    sign = 1.0 if is_lower else -1.0
    beyond = limit.plus(LinearExpression(0.0, ((joint, 1.0),)), -1.0).times(sign)  # inside, <= 0
    last = max((name for name, _ in beyond.factors), key=names.index)
    factor = dict(beyond.factors)[last]
    rest = LinearExpression(beyond.constant, tuple(f for f in beyond.factors if f[0] != last))
    return last, factor < 0.0, rest.times(-1.0 / factor)


def _lost_limits(model: RobotModel, tree: UrdfTree) -> str:
    """Return a sentence about limits that depend on other joints and are not in the model."""
    names = set(model.joint_names)
    lost = [
        f"{one.joint} by {' and '.join(one.joints[1:])}"
        for one in tree.constraints
        if not (isinstance(one, LinearLimits) and set(map(_clean, one.joints)) <= names)
    ]
    if not lost:
        return ""
    return f"limits omitted, as they are not linear or not of the arm: {', '.join(lost)}"


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
