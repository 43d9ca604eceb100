# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/urdf/optional/test_bars.py
"""The element <joint_constraints> of a URDF: limits of joints that depend on other joints.

URDF has no element for them, and its readers ignore those that they do not know. Nodes that get
nothing but the robot description find them here. The joint is at least each <lower> and at most
each <upper>: offset + factor * position, summed over the terms, in radians and metres:

    <joint_constraints name="my_arm">
      <limits joint="elbow" reason="the linkage allows">
        <lower offset="-1.2351"><term joint="shoulder" factor="-0.6755" /></lower>
        <upper offset="-0.2294"><term joint="shoulder" factor="-0.7165" /></upper>
      </limits>
    </joint_constraints>

Limits that are not linear are samples of the other joint's position, lower and upper, with
straight lines in between: <sample joint="shoulder" at="0.5" lower="-1.2" upper="0.1" />.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from arm_common.errors import InputError, finite_number
from arm_common.transforms import Array

from arm_description.errors import UrdfError
from arm_description.model.constraints import JointConstraint, LinearExpression, LinearLimits
from arm_description.urdf.elements import CONSTRAINTS, MOVING, UrdfJoint

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

_SIDES = ("lower", "upper")
_SAMPLES = 257
_Ranges: TypeAlias = Mapping[str, tuple[float, float]]  # of each independent joint [rad or m]


@dataclass(frozen=True)
class SampledLimits(JointConstraint):
    """Limits of a joint that depend on one other joint, linear between samples."""

    joint: str  # name of the joint
    other: str  # name of the joint that they depend on
    # position of the other joint, least and greatest one of the joint [rad or m]
    samples: tuple[tuple[float, float, float], ...]
    reason: str = "the linkage allows"  # subject and verb for messages

    @classmethod
    def of(
        cls, constraint: JointConstraint, limits: Mapping[str, tuple[float, float]]
    ) -> SampledLimits:
        """Return the samples of a constraint between two joints, no wider than it.

        Args:
            constraint: the constraint.
            limits: lower and upper of each joint [rad or m].
        """
        (other,) = (name for name in constraint.joints if name != constraint.joint)
        fine = np.linspace(*limits[other], 2 * _SAMPLES - 1)
        bounds = np.array([constraint.bounds({other: float(x)}) for x in fine])
        coarse = bounds[::2]
        # By how much the straight lines between samples are wider than the constraint halfway.
        excess = (bounds[1::2] - 0.5 * (coarse[:-1] + coarse[1:])) * (1.0, -1.0)
        inwards = np.maximum(excess.max(axis=0), 0.0) * (1.0, -1.0)
        rows = np.column_stack([fine[::2], coarse + inwards])
        samples = tuple((float(x), float(low), float(high)) for x, low, high in rows)
        return cls(constraint.joint, other, samples, constraint.reason)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joint itself, then the one that its limits depend on."""
        return (self.joint, self.other)

    def ends(self, q: Array) -> tuple[Array, Array]:
        """Return the limits between the samples."""
        x, low, high = np.array(self.samples).T
        return np.interp(q[..., 1], x, low), np.interp(q[..., 1], x, high)


def constraint_elements(model: RobotModel, prefix: str = "") -> list[ET.Element]:
    """Return the element of a robot's constraints, none without any.

    Args:
        model: the robot.
        prefix: prefix of the joint names, and of the name of the element.
    """
    ranges = {joint.name: (joint.lower, joint.upper) for joint in model.joints}
    element = ET.Element(CONSTRAINTS, name=f"{prefix}{model.name}")
    for one in model.constraints:
        entry = ET.SubElement(element, "limits", joint=prefix + one.joint, reason=one.reason)
        if isinstance(one, LinearLimits):
            _write_bounds(entry, one, prefix)
            continue
        sampled = one if isinstance(one, SampledLimits) else SampledLimits.of(one, ranges)
        for at, lower, upper in sampled.samples:
            numbers = {"at": repr(at), "lower": repr(lower), "upper": repr(upper)}
            ET.SubElement(entry, "sample", {"joint": prefix + sampled.other, **numbers})
    return [element] if len(element) else []


def _write_bounds(entry: ET.Element, limits: LinearLimits, prefix: str) -> None:
    for side in _SIDES:
        for bound in getattr(limits, side):
            place = ET.SubElement(entry, side, offset=repr(bound.constant))
            for name, factor in bound.factors:
                ET.SubElement(place, "term", joint=prefix + name, factor=repr(factor))


def read_constraints(
    robot: ET.Element, joints: Iterable[UrdfJoint]
) -> tuple[JointConstraint, ...]:
    """Return the constraints of a URDF.

    Args:
        robot: the root element.
        joints: its joints.

    Raises:
        UrdfError: a joint does not move on its own, a number is invalid, or a joint has no
            position that its limits allow.
    """
    ranges = {
        joint.name: (joint.limit.lower, joint.limit.upper)
        if joint.limit and joint.kind != "continuous"
        else (-math.inf, math.inf)
        for joint in joints
        if joint.kind in MOVING and joint.mimic is None
    }
    return tuple(_limits(entry, ranges) for entry in robot.findall(f"{CONSTRAINTS}/limits"))


def _limits(entry: ET.Element, ranges: _Ranges) -> JointConstraint:
    joint = _joint(entry, ranges)
    reason = entry.get("reason") or "the linkage allows"
    found: SampledLimits | LinearLimits
    if samples := entry.findall("sample"):
        found = _sampled(joint, samples, ranges, reason)
        lower, upper = min(s[1] for s in found.samples), max(s[2] for s in found.samples)
    else:
        found = _linear(joint, entry, ranges, reason)
        lower = max(bound.range(ranges)[0] for bound in found.lower)
        upper = min(bound.range(ranges)[1] for bound in found.upper)
    if max(lower, ranges[joint][0]) > min(upper, ranges[joint][1]):
        problem = f"<limits> of joint {joint!r} never allow a position"
        raise UrdfError(problem, remedy="correct the numbers")
    return found


def _sampled(
    joint: str, samples: Sequence[ET.Element], ranges: _Ranges, reason: str
) -> SampledLimits:
    others = {_other(sample, joint, ranges) for sample in samples}
    rows = [
        tuple(_number(sample, key, joint) for key in ("at", "lower", "upper"))
        for sample in samples
    ]
    if len(others) > 1 or any(b[0] <= a[0] for a, b in pairwise(rows)):
        raise UrdfError(f"the <sample>s of joint {joint!r} must increase, of one joint")
    return SampledLimits(joint, others.pop(), tuple((x, a, b) for x, a, b in rows), reason)


def _linear(joint: str, entry: ET.Element, ranges: _Ranges, reason: str) -> LinearLimits:
    lower, upper = (
        tuple(_bound(bound, joint, ranges) for bound in entry.findall(side)) for side in _SIDES
    )
    if not lower or not upper:
        raise UrdfError(f"<limits> of joint {joint!r} have no <lower> or no <upper>")
    return LinearLimits(joint, lower, upper, reason)


def _bound(bound: ET.Element, joint: str, ranges: _Ranges) -> LinearExpression:
    total = LinearExpression(_number(bound, "offset", joint))
    for term in bound.findall("term"):
        factor = _number(term, "factor", joint)
        total = total.plus(LinearExpression(0.0, ((_other(term, joint, ranges), factor),)))
    return total


def _other(element: ET.Element, joint: str, ranges: _Ranges) -> str:
    """Return the joint that limits of a joint depend on, which is not itself."""
    name = _joint(element, ranges)
    if name == joint:
        raise UrdfError(f"<limits> of joint {joint!r} depend on itself")
    return name


def _joint(element: ET.Element, ranges: _Ranges) -> str:
    name = element.get("joint", "")
    if name not in ranges:
        problem = f"<{element.tag}> in <{CONSTRAINTS}> refers to the joint {name!r}"
        raise UrdfError(problem, remedy="name one that moves and mimics no other")
    return name


def _number(element: ET.Element, key: str, joint: str) -> float:
    text = element.get(key, "")
    try:
        return finite_number(text)
    except InputError:
        problem = f'<{element.tag} {key}="{text}"> of joint {joint!r} must be a number'
        raise UrdfError(problem) from None
