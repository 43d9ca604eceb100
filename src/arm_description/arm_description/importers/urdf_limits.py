# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/importers/test_urdf.py
"""Limits of the joints of a URDF as those of a table: of followers, and by other joints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from arm_description.errors import UrdfError
from arm_description.model.constraints import LinearExpression, LinearLimits
from arm_description.model.elements import DhRow, Joint, JointType
from arm_description.robot_file.robot_keys import DEFAULT_VELOCITY
from arm_description.robot_file.scope import MAX_ROTATION, MAX_VELOCITY
from arm_description.robot_model import RobotModel
from arm_description.urdf.elements import NO_EFFORT, Drive, UrdfJoint, driving_range, joint_range
from arm_description.urdf.reader import UrdfTree

_Bound: TypeAlias = tuple[str, bool, LinearExpression]  # joint, whether lower, limit


def joint_type(joint: UrdfJoint) -> JointType:
    """Return the type that a table has for a moving joint."""
    return "prismatic" if joint.kind == "prismatic" else "revolute"


def limited_joint(
    joint: UrdfJoint, row: DhRow, followers: Sequence[tuple[UrdfJoint, Drive]]
) -> Joint:
    """Return a joint that keeps itself and its followers inside their limits.

    Raises:
        UrdfError: it has no room to move.
    """
    kind = joint_type(joint)
    (lower, upper, velocity), problem = driving_range(joint, followers)
    if problem:
        raise UrdfError(problem, remedy="correct their limits or the multiplier")
    if lower >= upper:
        problem = f"joint {joint.name!r} cannot move: both limits are {lower:g}"
        raise UrdfError(problem, remedy="give it limits or make it fixed")
    notes = []
    if kind == "revolute" and max(-lower, upper) > MAX_ROTATION:
        unlimited = joint_range(joint).upper == math.inf
        limits = "continuous" if unlimited else f"limits of {lower:g} to {upper:g} rad"
        notes.append(f"{limits} in the URDF, limited to half a turn either way")
        inside = max(lower, -math.pi), min(upper, math.pi)
        lower, upper = inside if inside[0] < inside[1] else (-math.pi, math.pi)
    if not 0.0 < velocity <= MAX_VELOCITY[kind]:
        speed = "no velocity" if velocity == math.inf else f"a velocity of {velocity:g}"
        notes.append(f"{speed} in the URDF, limited to {DEFAULT_VELOCITY[kind]:g}")
        velocity = DEFAULT_VELOCITY[kind]
    effort = joint.limit.effort if joint.limit else 0.0
    if effort <= 0.0 or effort == NO_EFFORT:
        notes.append("no effort in the URDF" + (" (10 stands for none)" if effort > 0.0 else ""))
        effort = math.inf
    return Joint(
        name=joint.name,
        type=kind,
        row=row,
        lower=lower,
        upper=upper,
        velocity=velocity,
        acceleration=4.0 * velocity,
        effort=effort,
        source="; ".join(notes),
    )


def constrained(
    joints: dict[str, Joint], tree: UrdfTree, clean: Mapping[str, str]
) -> dict[str, Joint]:
    """Return the joints with the constraints of the URDF that are linear, as a file has them."""
    bounds = _bounds(tree, list(joints), clean)
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


def _bounds(tree: UrdfTree, names: Sequence[str], clean: Mapping[str, str]) -> list[_Bound]:
    """Return the linear constraints between joints, so that none depends on itself."""
    bounds = [
        (clean[one.joint], is_lower, _renamed(bound, clean))
        for one in tree.constraints
        if isinstance(one, LinearLimits) and {clean.get(name) for name in one.joints} <= set(names)
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


def lost_limits(model: RobotModel, tree: UrdfTree, clean: Mapping[str, str]) -> str:
    """Return a sentence about limits that depend on other joints and are not in the model."""
    names = set(model.joint_names)
    lost = [
        f"{one.joint} by {' and '.join(one.joints[1:])}"
        for one in tree.constraints
        if not (isinstance(one, LinearLimits) and set(map(clean.get, one.joints)) <= names)
    ]
    if not lost:
        return ""
    return f"limits omitted, as they are not linear or not of the arm: {', '.join(lost)}"


def _renamed(bound: LinearExpression, clean: Mapping[str, str]) -> LinearExpression:
    """Return a bound with the names that a robot file can have."""
    factors = tuple((clean[name], factor) for name, factor in bound.factors)
    return LinearExpression(bound.constant, factors)
