# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/commands/test_new.py
"""Robot file of a kit arm whose lengths were measured with a ruler.

Such kits have a turning base, shoulder, elbow and wrist whose axes are parallel, mostly a wrist
that rolls, and a gripper: a "6-DOF kit" has five joints and a gripper. With all joints at 0, in
the middle of servos that turn by 180 degrees, the arm stands straight up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template

from arm_common.yaml.editing import flow_word

from arm_description.model.servo_types import SERVO_TYPES


@dataclass(frozen=True)
class KitLength:
    """A length of a kit arm, measured with a ruler."""

    name: str  # of the constant in the robot file; also that of the option, with hyphens
    default: float  # that of a common kit [mm]
    where: str  # from where to where it is measured
    may_be_zero: bool = False


MEASUREMENTS = (
    KitLength("base_height", 95, "from the table up to the axis of the shoulder"),
    KitLength("upper_arm", 105, "from the axis of the shoulder to that of the elbow"),
    KitLength("forearm", 98, "from the axis of the elbow to that of the wrist"),
    KitLength("hand", 160, "from the axis of the wrist to the tips of the fingers"),
    KitLength("gripper", 55, "between the tips of the open fingers; 0 without gripper", True),
)
WRISTS = ("rolls", "fixed")
SERVOS = (*SERVO_TYPES, "other")

_FILE = Template("""\
# $name: a kit arm of $count joints, each with a servo of its own$jaws.
# Lengths by a ruler: measure them again with a calliper where a millimetre matters.
name: $name

convention: standard
units: {length: mm, angle: deg}
$servo
constants:
$constants
  quarter: {value: 90, source: "of servos that turn by 180 deg; measure yours"}
  speed: 120            # deg/s, chosen: half of what such servos do without a load

$tool

# With all angles at 0 the arm stands straight up.
joints:
  - {name: waist, type: revolute, theta: 0, d: base_height, a: 0, alpha: -90,
     limits: {lower: -quarter, upper: quarter, velocity: speed}}
  - {name: shoulder, type: revolute, theta: -90, d: 0, a: upper_arm, alpha: 0,
     limits: {lower: -quarter, upper: quarter, velocity: speed}}
  - {name: elbow, type: revolute, theta: 0, d: 0, a: forearm, alpha: 0,
     limits: {lower: -quarter, upper: quarter, velocity: speed}}
$wrist
$gripper
postures:
  rest: {waist: 0, shoulder: 0, elbow: 0, wrist: 0$zeros}
  ready: {waist: 0, shoulder: -30, elbow: 80, wrist: 40$ready}
""")
_ROLLING_TOOL = "tool: {rpy: [0, 0, 180]}      # x up when the hand is level"
_FIXED_TOOL = "tool: {rpy: [-90, 0, -90]}    # z along the hand, x up when it is level"
_ROLLING = """\
  - {name: wrist, type: revolute, theta: 90, d: 0, a: 0, alpha: 90,
     limits: {lower: -quarter, upper: quarter, velocity: speed}}
  - {name: wrist_roll, type: revolute, theta: 0, d: hand, a: 0, alpha: 0,
     limits: {lower: -quarter, upper: quarter, velocity: speed}}
"""
_FIXED = """\
  - {name: wrist, type: revolute, theta: 0, d: 0, a: hand, alpha: 0,
     limits: {lower: -quarter, upper: quarter, velocity: speed}}
"""
_GRIPPER = """\
gripper:
  joints: [finger_left, finger_right]
  min_width: 0
  max_width: gripper
  velocity: 60          # of the width, mm/s, chosen
  finger: {length: hand*0.3, width: 12, thickness: 6}          # chosen
  palm: {length: hand*0.3, width: gripper, thickness: 30}      # chosen
"""


def kit_arm_yaml(name: str, wrist: str, servo: str, lengths: Mapping[str, str]) -> str:
    """Return the robot file of a kit arm.

    Args:
        name: of the robot.
        wrist: one of WRISTS.
        servo: one of SERVOS, of all joints.
        lengths: by the names of MEASUREMENTS, numbers or expressions in mm; gripper is "0"
            without one.
    """
    grips, rolls = lengths["gripper"] != "0", wrist == WRISTS[0]
    return _FILE.substitute(
        name=flow_word(name),
        servo=f"servo: {servo}\n" if servo in SERVO_TYPES else "",
        count="five" if rolls else "four",
        jaws=", and a gripper" if grips else "",
        constants=_constants(lengths, [m for m in MEASUREMENTS if grips or not m.may_be_zero]),
        tool=_ROLLING_TOOL if rolls else _FIXED_TOOL,
        wrist=_ROLLING if rolls else _FIXED,
        gripper=_GRIPPER if grips else "",
        zeros=(", wrist_roll: 0" if rolls else "") + (", gripper: 0" if grips else ""),
        ready=(", wrist_roll: 0" if rolls else "") + (", gripper: gripper*0.7" if grips else ""),
    )


def _constants(lengths: Mapping[str, str], measured: Sequence[KitLength]) -> str:
    return "\n".join(
        f'  {m.name}: {{value: {lengths[m.name]}, source: "ruler, {m.where.partition(";")[0]}"}}'
        for m in measured
    )
