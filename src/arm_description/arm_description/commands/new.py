# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: a new robot file, by answering questions or from a shipped robot.

new my_arm.yaml
new my_arm.yaml --from puma560

Each question has a default, and is repeated until its answer is valid. Numbers may be expressions,
as in a robot file. The questions cover the table with its limits; gripper, postures and sources
are then added to the file by hand.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar, cast

from arm_common.atomic_file import write_bytes
from arm_common.expressions import Expressions
from arm_common.suggestions import did_you_mean

from arm_common import cli
from arm_description.errors import DescriptionError
from arm_description.library import robot_path
from arm_description.model.dh import CONVENTIONS, Convention, DhRow, JointType
from arm_description.model.elements import Joint
from arm_description.model.units import ANGLES, LENGTHS, Units
from arm_description.robot_file.joints import DEFAULT_EFFORT, DEFAULT_VELOCITY, taken_by
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.scope import LONGEST, MOST_ROTATION, name_problem
from arm_description.robot_file.writer import robot_yaml
from arm_description.robot_model import RobotModel

T = TypeVar("T")
TYPES: tuple[JointType, ...] = ("revolute", "prismatic")
MOST_JOINTS = 64


def interview(
    name: str, answer: Callable[[str], str], say: Callable[[str], object]
) -> tuple[RobotModel, Units]:
    """Ask for a robot.

    Args:
        name: of the robot, the default.
        answer: shows a question and returns the line typed (``input``); may raise EOFError.
        say: shows a text.

    Returns:
        The robot, and the units it was told in.
    """
    asker = _Asker(answer, say)
    say("Press Enter for what stands in brackets; Ctrl-C ends, and nothing is written then.\n")
    name = asker.ask("name of the robot", name, _name)
    count = asker.ask("number of joints", "6", _count)
    say("standard: Rz(theta) Tz(d) Tx(a) Rx(alpha); modified (Craig): Rx Tx Rz Tz\n")
    convention = asker.choose("convention", CONVENTIONS)
    length = asker.choose("unit of lengths", ("mm", *(u for u in LENGTHS if u != "mm")))
    units = Units(length, asker.choose("unit of angles", ANGLES))
    joints = list[Joint]()
    for number in range(1, count + 1):
        say(f"\nJoint {number} of {count}; theta or d of its own variable is the offset added\n")
        joints.append(_Row(asker, units, tuple(joint.name for joint in joints)).joint(number))
    rest = {joint.name: min(max(0.0, joint.lower), joint.upper) for joint in joints}
    model = RobotModel(
        name=name,
        convention=cast(Convention, convention),
        joints=tuple(joints),
        postures=MappingProxyType({"rest": MappingProxyType(rest)}),
    )
    return model, units


class _Asker:
    """Asks until an answer is right."""

    def __init__(self, answer: Callable[[str], str], say: Callable[[str], object]) -> None:
        self._answer = answer
        self._say = say

    def ask(self, question: str, default: str, read: Callable[[str], T]) -> T:
        while True:
            text = self._answer(f"  {question} [{default}]: ").strip() or default
            try:
                return read(text)
            except DescriptionError as error:
                self._say(f"    {error}\n")

    def choose(self, question: str, options: tuple[str, ...]) -> str:
        def read(text: str) -> str:
            found = [option for option in options if option.startswith(text)]
            if text in options or len(found) == 1:
                return text if text in options else found[0]
            raise DescriptionError(f"cannot be {text!r}", remedy=did_you_mean(text, options))

        return self.ask(f"{question} ({', '.join(options)})", options[0], read)


class _Row:
    """Asks for one row of the table."""

    def __init__(self, asker: _Asker, units: Units, taken: tuple[str, ...]) -> None:
        self._asker = asker
        self._units = units
        self._taken = taken
        self._expressions = Expressions({}, units.radian)

    def joint(self, number: int) -> Joint:
        name = self._asker.ask("name", f"joint_{number}", self._free_name)
        kind = cast(JointType, self._asker.choose("type", TYPES))
        theta, d = self._number("theta", "0", "revolute"), self._number("d", "0", "prismatic")
        a, alpha = self._number("a", "0", "prismatic"), self._number("alpha", "0", "revolute")
        lower, upper = self._limits(kind)
        default = f"{self._units.written(DEFAULT_VELOCITY[kind], kind):.6g}"
        speed = self._number("highest speed, per second", default, kind, positive=True)
        row = DhRow(theta, d, a, alpha)
        return Joint(name, kind, row, lower, upper, speed, 4.0 * speed, DEFAULT_EFFORT)

    def _limits(self, kind: JointType) -> tuple[float, float]:
        turn = {"deg": "180", "rad": "pi"}[self._units.angle]
        lowest = f"-{turn}" if kind == "revolute" else "0"
        highest = turn if kind == "revolute" else f"{self._units.written(0.1, kind):g}"
        lower = self._number("lower limit", lowest, kind)

        def read(text: str) -> float:
            value = self._read(text, kind)
            if value <= lower:
                raise DescriptionError("must be above the lower limit")
            return value

        return lower, self._asker.ask("upper limit", highest, read)

    def _number(self, what: str, default: str, kind: str, positive: bool = False) -> float:
        def read(text: str) -> float:
            value = self._read(text, kind, bounded=not positive)
            if positive and value <= 0.0:
                raise DescriptionError("must be more than 0")
            return value

        return self._asker.ask(f"{what} ({self._units.unit(kind)})", default, read)

    def _read(self, text: str, kind: str, bounded: bool = True) -> float:
        value = self._units.si(self._expressions.evaluate(text), kind)
        most = MOST_ROTATION if kind == "revolute" else LONGEST
        if bounded and abs(value) > most:
            raise DescriptionError(f"{text} is more than an arm has", remedy="is the unit right?")
        return value

    def _free_name(self, text: str) -> str:
        owner = "another joint" if text in self._taken else taken_by(text)
        if owner:
            raise DescriptionError(f"the name {text!r} is taken by {owner}")
        return _name(text)


def _name(text: str) -> str:
    problem, remedy = name_problem(text)
    if problem:
        raise DescriptionError(problem, remedy=remedy)
    return text


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MOST_JOINTS):
        raise DescriptionError(f"{text!r} is not a number from 1 to {MOST_JOINTS}")
    return int(text)


_NAME = re.compile(r"^name:[^#\n]*?(?=\s*(#|$))", re.MULTILINE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="new", description="Write a new robot file: asks for the table, or copies a robot."
    )
    parser.add_argument("file", help="the file to write, such as my_arm.yaml")
    parser.add_argument(
        "--from",
        dest="template",
        default="",
        metavar="ROBOT",
        help="copy this robot (a shipped name or a path) with its comments, to be edited",
    )
    cli.add_force(parser)
    return cli.run(parser, _new, argv)


def _new(arguments: argparse.Namespace) -> None:
    path = Path(arguments.file)
    if path.suffix not in (".yaml", ".yml"):
        raise DescriptionError(
            "a robot file is found by its ending",
            remedy=f"call it {path.name or 'my_arm'}.yaml",
            file=arguments.file,
        )
    cli.refuse_overwriting(arguments.file, arguments.force)
    name = re.sub(r"[^\w-]+", "_", path.stem)
    text = _copy(arguments.template, name) if arguments.template else _asked(name)
    parse_robot(text, arguments.file)
    write_bytes(text.encode(), arguments.file)
    cli.say(f"{arguments.file} is written; look at it: ./arm view {arguments.file}")


def _copy(template: str, name: str) -> str:
    """Text of a robot's file under another name, comments and all."""
    text = robot_path(template).read_text(encoding="utf-8-sig")
    return _NAME.sub(
        f'name: "{name}"' if not name[0].isalpha() else f"name: {name}", text, count=1
    )


def _asked(name: str) -> str:
    try:
        model, units = interview(name, input, sys.stdout.write)
    except EOFError:
        sys.stdout.write("\n")
        raise DescriptionError(
            "the answers ended before the last question", remedy="nothing is written"
        ) from None
    return robot_yaml(model, units)
