# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command that draws an arm in a posture as a vector picture.

draw nut_arm -o nut_arm.svg
draw puma560 --posture ready --view side --frames --labels -o puma560.pdf
draw my_arm.yaml --joints elbow=30deg slide=120mm --dh-frames -o my_arm.png
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from arm_common.files.saving import write_bytes
from arm_common.suggestions import did_you_mean
from arm_description.errors import DescriptionError
from arm_description.library import load_robot, shipped_robots
from arm_description.model.constraints import SLACK
from arm_description.model.units import ANGLES, LENGTHS, Units
from arm_description.robot_file.robot_keys import GRIPPER_KEY
from arm_description.robot_model import RobotModel

from arm_common import cli
from arm_studio.pictures.canvas import VIEWS
from arm_studio.pictures.drawing import Style, picture
from arm_studio.pictures.figure import FORMATS


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="draw", description="Draw an arm as a vector picture (SVG, PDF, EPS, PS) or PNG."
    )
    cli.add_robot(parser, shipped_robots())
    add = parser.add_argument
    add("--posture", default="", help="posture of the robot file (default: rest, or the first)")
    joints = "positions that override the posture: elbow=30deg slide=12mm gripper=5mm"
    add("--joints", nargs="+", default=[], metavar="NAME=VALUE", help=joints)
    pale = "a second, pale arm with other positions of these joints: elbow=60deg"
    add("--ghost", nargs="+", default=[], metavar="NAME=VALUE", help=pale)
    add("--view", choices=VIEWS, default="iso", help="direction of view (default: iso)")
    add("--frames", action="store_true", help="draw the axes of base, joints and tool")
    add("--dh-frames", action="store_true", help="draw the axes of the DH frames")
    add("--labels", action="store_true", help="write joint names and positions")
    add("-o", "--output", required=True, metavar="FILE", help=f"ends in .{', .'.join(FORMATS)}")
    return cli.run(parser, _draw, argv)


def _draw(arguments: argparse.Namespace) -> None:
    kind = Path(arguments.output).suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise DescriptionError(
            f"cannot draw a {kind!r} file" if kind else "its name has no ending",
            remedy=f"choose a name that ends in .{', .'.join(FORMATS)}",
            file=arguments.output,
        )
    model = load_robot(arguments.robot)
    name, values = _posture(model, arguments.posture)
    overrides, ghost = (_joints(model, each) for each in (arguments.joints, arguments.ghost))
    title = f"{model.name}, {name}" + (" and changed joints" if overrides else "")
    for changed in filter(None, (overrides, ghost)):
        _check_limits(model, {**values, **overrides, **changed})
    flags = arguments.frames, arguments.dh_frames, arguments.labels
    style = Style(arguments.view, *flags, ghost)
    write_bytes(picture(model, {**values, **overrides}, title, style, kind), arguments.output)


def _check_limits(model: RobotModel, values: Mapping[str, float]) -> None:
    violation = model.constraint_set.worst([values[joint] for joint in model.joint_names])
    if violation:
        raise DescriptionError(
            f"the joints are outside the limits ({violation.sentence})",
            remedy="change --joints, --ghost or the posture",
        )


def _posture(model: RobotModel, name: str) -> tuple[str, Mapping[str, float]]:
    """Return name and positions of a posture, by default the home posture."""
    if not name:
        return model.home_posture
    if name not in model.postures:
        raise DescriptionError(
            f"{model.name} has no posture {name!r}", remedy=did_you_mean(name, model.postures)
        )
    return name, model.postures[name]


def _joints(model: RobotModel, words: Sequence[str]) -> dict[str, float]:
    """Return positions by joint from words such as elbow=30deg, by default in the file's unit."""
    kinds = {joint.name: (joint.type, joint.lower, joint.upper) for joint in model.joints}
    if model.gripper:
        kinds[GRIPPER_KEY] = ("prismatic", model.gripper.min_width, model.gripper.max_width)
    values = {}
    for word in words:
        name, _, text = word.partition("=")
        if name not in kinds:
            raise DescriptionError(
                f"{model.name} has no joint {name!r}", remedy=did_you_mean(name, kinds)
            )
        kind, lower, upper = kinds[name]
        value, units = _number(word, text, kind, model.units)
        if not lower - SLACK <= value <= upper + SLACK:
            low, high = (units.number(limit, kind) for limit in (lower, upper))
            problem = f"{word} is outside the limits of {name}"
            limits = f"{low} .. {high} {units.unit(kind)}"
            raise DescriptionError(problem, remedy=f"choose a value in {limits}")
        values[name] = value
    return values


def _number(word: str, text: str, kind: str, units: Units) -> tuple[float, Units]:
    """Return a number with or without a unit, in rad or m, and its units."""
    units, number = units.named(text, kind)
    try:
        return units.evaluate(number, kind), units
    except DescriptionError as error:
        choices = ANGLES if kind == "revolute" else LENGTHS
        remedy = f"write for example {word.partition('=')[0]}=0.5, in {' or '.join(choices)}"
        form = error.problem if text else f"{word!r} is not of the form NAME=VALUE"
        raise DescriptionError(form, remedy=remedy) from None
