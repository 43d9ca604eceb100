# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command that writes a new robot file, from answers to questions or a shipped robot.

new my_arm.yaml
new my_kit.yaml --ruler
new my_arm.yaml --from puma560

Each question has a default and is repeated until the answer is valid; "<" returns to the previous
one. Numbers may be expressions, as in a robot file, and may have a unit: 25 cm. The questions
cover the DH table and the limits, or the lengths of a kit arm, whose options answer them; add
sources, and to a table gripper and postures, to the file by hand.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast

from arm_common.files.saving import contents, save_edit
from arm_common.suggestions import did_you_mean, program

from arm_common import cli
from arm_description.commands.kit_arm import MEASUREMENTS, SERVOS, WRISTS, KitLength, kit_arm_yaml
from arm_description.errors import DescriptionError
from arm_description.library import robot_path
from arm_description.model.elements import CONVENTIONS, Convention, DhRow, Joint, JointType
from arm_description.model.units import ANGLES, LENGTHS, SHOWN, Units
from arm_description.robot_file.joints import compound_joints, name_owner
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.robot_keys import COMPOUND, DEFAULT_VELOCITY, MAX_ROWS, TYPES
from arm_description.robot_file.scope import MAX_ROTATION, name_problem
from arm_description.robot_file.writer import robot_yaml
from arm_description.robot_model import RobotModel

T = TypeVar("T")
BACK = "<"


FORMS = ("table", "ruler")


def interview(name: str, answers: Mapping[str, str]) -> str:
    """Ask for a robot, by default with this name; return its file.

    The answers are those that options give, by their names: form, wrist, servo and MEASUREMENTS.

    Raises:
        DescriptionError: an option is invalid.
        EOFError: the input ended before the last question.
    """
    kit = {"wrist", "servo", *(m.name for m in MEASUREMENTS)}
    if answers.get("form") != FORMS[1] or kit - {*answers}:
        _print(
            "Press Enter for the default in brackets, < to return to the previous question, Ctrl-C"
            " to quit without writing a file.\n\n"
        )
    dialog = _Dialog(answers)
    while True:
        try:
            return _robot(dialog, name)
        except _ReturnError:
            dialog.forget_last()


def _robot(dialog: _Dialog, name: str) -> str:
    dialog.say("table: by Denavit and Hartenberg; ruler: measure the lengths of a kit arm\n")
    if dialog.option("form", "described by", FORMS) == FORMS[1]:
        return _kit_arm(dialog, name)
    return robot_yaml(*_table(dialog, name))


def _kit_arm(dialog: _Dialog, name: str) -> str:
    name = name if dialog.options else dialog.ask("name of the robot", name, _name)
    wrist = dialog.option("wrist", "the wrist", WRISTS)
    servo = dialog.option("servo", "servos", SERVOS)
    dialog.say("\nLengths in mm, or with another unit: 9.5 cm\n")
    read = _Row(dialog, SHOWN, ()).bounded
    lengths = {m.name: dialog.measure(m, partial(_millimetres, read, m)) for m in MEASUREMENTS}
    return kit_arm_yaml(name, wrist, servo, lengths)


def _millimetres(read: Callable[[str, str], float], measured: KitLength, text: str) -> str:
    value = read("prismatic", text)
    if value < 0.0 or (value == 0.0 and not measured.may_be_zero):
        raise DescriptionError("must be greater than 0")
    return f"{1e3 * value:.10g}"


def _table(dialog: _Dialog, name: str) -> tuple[RobotModel, Units]:
    name = dialog.ask("name of the robot", name, _name)
    count = dialog.ask("number of joints", "6", _count)
    dialog.say("standard: Rz(theta) Tz(d) Tx(a) Rx(alpha); modified (Craig): Rx Tx Rz Tz\n")
    convention = dialog.choose("convention", CONVENTIONS)
    length = dialog.choose("unit of lengths", ("mm", *(u for u in LENGTHS if u != "mm")))
    units = Units(length, dialog.choose("unit of angles", ANGLES))
    joints = list[Joint]()
    for number in range(1, count + 1):
        dialog.say(f"\nJoint {number} of {count}; its own theta or d is an offset\n")
        taken = tuple(joint.name for joint in joints)
        joints += _Row(dialog, units, taken).joints(number, cast(Convention, convention))
    rest = MappingProxyType({joint.name: joint.rest for joint in joints})
    postures = MappingProxyType({"rest": rest})
    return RobotModel(name, cast(Convention, convention), tuple(joints), postures=postures), units


class _ReturnError(Exception):
    """The previous question is to be asked again."""


class _Dialog:
    """Questions and valid answers, which are repeated silently after a return to one of them."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = options  # answers that options give, by their names
        self._given: list[str] = []  # valid answers
        self._next = 0  # index of the next question
        self._heading = ""  # printed before the next question that is asked

    def forget_last(self) -> None:
        """Begin again, with the answers up to the last but one."""
        self._given, self._next = self._given[:-1], 0
        self._heading = ""

    def say(self, text: str) -> None:
        """Print a text before the next question that is asked."""
        if self._next >= len(self._given):
            self._heading += text

    def ask(self, question: str, default: str, read: Callable[[str], T]) -> T:
        """Return the value of an answer, which is asked for until it is valid."""
        self._next += 1
        if self._next <= len(self._given):
            return read(self._given[self._next - 1])
        _print(self._heading)
        self._heading = ""
        while True:
            text = input(f"  {question} [{default}]: ").strip() or default
            if text == BACK:
                raise _ReturnError
            try:
                value = read(text)
            except DescriptionError as error:
                _print(f"    {error}\n")
                continue
            self._given.append(text)
            return value

    def measure(self, measured: KitLength, read: Callable[[str], T]) -> T:
        """Return a length, that of its option if there is one."""
        if measured.name in self.options:
            return self._read_option(measured.name, read)
        title = measured.name.replace("_", " ")
        return self.ask(f"{title}, {measured.where}", f"{measured.default:g}", read)

    def _read_option(self, name: str, read: Callable[[str], T]) -> T:
        try:
            return read(self.options[name])
        except DescriptionError as error:
            problem = f"--{name.replace('_', '-')}: {error.problem}"
            raise DescriptionError(problem, remedy=error.remedy) from None

    def option(self, name: str, question: str, choices: tuple[str, ...]) -> str:
        """Return one of some choices, that of its option if there is one."""
        return self.options.get(name) or self.choose(question, choices)

    def choose(self, question: str, options: tuple[str, ...]) -> str:
        """Return one of some options, which may be abbreviated."""

        def read(text: str) -> str:
            found = [option for option in options if option.startswith(text)]
            if text in options or len(found) == 1:
                return text if text in options else found[0]
            raise DescriptionError(f"cannot be {text!r}", remedy=did_you_mean(text, options))

        return self.ask(f"{question} ({', '.join(options)})", options[0], read)


def _print(text: str) -> None:
    sys.stdout.write(text)


class _Row:
    def __init__(self, dialog: _Dialog, units: Units, taken: tuple[str, ...]) -> None:
        self._ask, self._choose = dialog.ask, dialog.choose
        self._units, self._taken = units, taken

    def joints(self, number: int, convention: Convention) -> tuple[Joint, ...]:
        name = self._ask("name", f"joint_{number}", self._free_name)
        written = self._choose("type", TYPES)
        kind: JointType = "prismatic" if written == "prismatic" else "revolute"
        theta, d = self._number("theta", "0", "revolute"), self._number("d", "0", "prismatic")
        a, alpha = self._number("a", "0", "prismatic"), self._number("alpha", "0", "revolute")
        row = DhRow(theta, d, a, alpha)
        if written in COMPOUND:
            limits = {x: self._limits(kind, f" about {x}") for x in COMPOUND[written]}
            return compound_joints(name, row, limits, "", convention)
        return (Joint(name, kind, row, **self._limits(kind)),)

    def _limits(self, kind: JointType, about: str = "") -> dict[str, Any]:
        lower, upper = self._range(kind, about)
        default = f"{self._units.written(DEFAULT_VELOCITY[kind], kind):.6g}"
        question = f"maximum velocity{about} ({self._units.unit(kind)}/s)"
        speed = self._ask(question, default, partial(self._speed, kind))
        return {
            "lower": lower,
            "upper": upper,
            "velocity": speed,
            "acceleration": 4.0 * speed,
            "effort": math.inf,
        }

    def _range(self, kind: JointType, about: str) -> tuple[float, float]:
        turn = {"deg": "180", "rad": "pi"}[self._units.angle]
        lowest, highest = f"-{turn}", turn
        if kind == "prismatic":
            lowest, highest = "0", f"{self._units.written(0.1, kind):g}"
        lower = self._number(f"lower limit{about}", lowest, kind)

        def read(text: str) -> float:
            value = self.bounded(kind, text)
            if value <= lower:
                raise DescriptionError("must be above the lower limit")
            return value

        return lower, self._ask(f"upper limit{about}", highest, read)

    def _number(self, name: str, default: str, kind: str) -> float:
        return self._ask(
            f"{name} ({self._units.unit(kind)})", default, partial(self.bounded, kind)
        )

    def bounded(self, kind: str, text: str) -> float:
        value = self._units.read(text, kind)
        if abs(value) > (MAX_ROTATION if kind == "revolute" else self._units.max_length):
            raise DescriptionError(f"{text} is too large for an arm", remedy="check the unit")
        return value

    def _speed(self, kind: str, text: str) -> float:
        value = self._units.read(text, kind)
        if value <= 0.0:
            raise DescriptionError("must be greater than 0")
        return value

    def _free_name(self, text: str) -> str:
        used = {text, f"{text}_z"} & set(self._taken)
        owner = "another joint" if used else name_owner(text)
        if owner:
            raise DescriptionError(f"the name {text!r} is already used by {owner}")
        return _name(text)


def _name(text: str) -> str:
    problem, remedy = name_problem(text)
    if problem:
        raise DescriptionError(problem, remedy=remedy)
    return text


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MAX_ROWS):
        raise DescriptionError(f"{text!r} is not a number from 1 to {MAX_ROWS}")
    return int(text)


_NAME = re.compile(r"^name:[^#\n]*?(?=\s*(#|$))", re.MULTILINE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="new",
        description="Write a new robot file: ask for the DH table or the lengths of a kit arm, or "
        "copy a robot.",
    )
    add = parser.add_argument
    add("file", help="output file, such as my_arm.yaml")
    copied = "copy this robot (a shipped name or a path) with its comments"
    add("--from", dest="template", default="", metavar="ROBOT", help=copied)
    add(
        "--ruler",
        dest="form",
        action="store_const",
        const=FORMS[1],
        help="a kit arm, measured with a ruler; what these options do not answer is asked for:",
    )
    add("--wrist", choices=WRISTS, help="whether the hand rolls: five joints, or four")
    add("--servo", choices=SERVOS, help="servos of the joints; other: torques are not checked")
    for measured in MEASUREMENTS:
        option = f"--{measured.name.replace('_', '-')}"
        add(option, metavar="LENGTH", help=f"mm, or with a unit as in 9.5cm: {measured.where}")
    kit = ["--wrist", "--servo", *(f"--{m.name.replace('_', '-')}" for m in MEASUREMENTS)]
    cli.unused(parser, kit, lambda given: not given.form, "without --ruler")
    cli.unused(parser, ["--ruler"], lambda given: given.template, "with --from")
    cli.add_force(parser)
    return cli.run(parser, _new, argv)


def _new(arguments: argparse.Namespace) -> None:
    path = Path(arguments.file)
    if path.suffix not in (".yaml", ".yml"):
        raise DescriptionError(
            "a robot file must end in .yaml",
            remedy=f"call it {path.name or 'my_arm'}.yaml",
            file=arguments.file,
        )
    cli.refuse_overwriting(arguments.file, arguments.force)
    before = contents(path)
    name = re.sub(r"[^\w-]+", "_", path.stem)
    text = _copy(arguments.template, name) if arguments.template else _asked(name, arguments)
    parse_robot(text, arguments.file)
    save_edit(text.encode(), path, before)
    cli.print_status(
        f"Wrote {arguments.file}; view it with {program('arm_tasks', 'view')} {arguments.file}"
    )


def _copy(template: str, name: str) -> str:
    text = robot_path(template).read_text(encoding="utf-8-sig")
    return _NAME.sub(
        f'name: "{name}"' if not name[0].isalpha() else f"name: {name}", text, count=1
    )


def _asked(name: str, arguments: argparse.Namespace) -> str:
    asked = ("form", "wrist", "servo", *(m.name for m in MEASUREMENTS))
    answers = {key: text for key in asked if (text := getattr(arguments, key)) is not None}
    try:
        return interview(name, answers)
    except EOFError:
        sys.stdout.write("\n")
        raise DescriptionError(
            "the input ended before the last question", remedy="no file was written"
        ) from None
