# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command that converts an architecture file of RVS, the Robot Visualization System (McGill).

rvs2dh REDIESTRO -o rediestro.yaml

The format, after the printed file of REDIESTRO (F. Bauer, "The Development and Implementation of
Kinematics Algorithms on RVS", 2006, appendix A), as words in any layout:

    REDIESTRO                title: everything before the first keyword
    geomtype full            how RVS draws it; ignored
    Link 1                   links are numbered from 1 in order
    a 0.0  b 9.5229          along x and along z, in an unspecified unit of length
    al 58.3127  th 20.0      alpha and theta, in degrees
    type prismatic           default revolute
    limits -170.0 95.0       of theta (revolute) or b (prismatic), optional
    EndEffector hand         what RVS draws at the end; left out, see `left_out`

Comments run from #, %, !, // or * to the end of the line, or from /* to */. The table is standard
DH with b for d. Limits include the offset, and th is the position in which RVS first shows the
arm: so the joint is 0 where theta is 0, and th becomes the posture ``home``.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType

from arm_common.errors import InputError, finite_number
from arm_common.files.access import read_text
from arm_common.suggestions import did_you_mean
from arm_description.errors import DescriptionError
from arm_description.model.elements import JOINT_TYPES, DhRow, Joint, JointType
from arm_description.model.units import LENGTHS, Units
from arm_description.robot_file.robot_keys import DEFAULT_VELOCITY
from arm_description.robot_file.writer import robot_yaml
from arm_description.robot_model import RobotModel

from arm_common import cli

NUMBERS = {"a": 1, "b": 1, "al": 1, "th": 1, "limits": 2}
KEYWORDS = ("Link", *NUMBERS, "type", "geomtype", "EndEffector")
IGNORED = ("geomtype", "endeffector")
FIRST = ("link", "geomtype")
_MAX_BYTES = 32_000_000  # of a file
_COMMENT = re.compile(r"(#|%|!|//|\*).*")
_BLOCK = re.compile(r"/\*.*?\*/", re.DOTALL)
_SEPARATORS = str.maketrans("=:,;", "    ")


@dataclass
class _Statement:
    """A keyword with the words after it, each with its line."""

    key: str
    line: int
    words: list[tuple[str, int]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The words."""
        return " ".join(word for word, _ in self.words)


def parse_rvs(text: str, name: str, units: Units, file: str = "") -> RobotModel:
    """Parse an architecture file.

    Args:
        text: text of the file.
        name: name of the robot.
        units: unit of its lengths; angles are always in degrees.
        file: name of the file for errors and the source.

    Raises:
        DescriptionError: something is missing or invalid; names the line.
    """
    title, links = _links(text, file)
    units = Units(units.length, "deg")
    joints = tuple(link.joint(units) for link in links)
    home = {j.name: link.home(j, units) for link, j in zip(links, joints, strict=True)}
    return RobotModel(
        name=name,
        convention="standard",
        joints=joints,
        postures=MappingProxyType({"home": MappingProxyType(home)}),
        description=title or name,
        source=f"RVS architecture file {file}, lengths read in {units.length}".replace("  ", " "),
    )


def left_out(text: str) -> tuple[str, ...]:
    """Return a sentence for each part of an architecture file that has no DH numbers."""
    _, statements = _statements(text)
    hands = [s.text for s in statements if s.key == "endeffector" and s.text.lower() != "none"]
    return tuple(
        f"EndEffector {hand} was left out, for the file has no numbers of it: add gripper or tool "
        "by hand."
        for hand in hands
    )


def _links(text: str, file: str) -> tuple[str, list[_Link]]:
    title, statements = _statements(text)
    links = list[_Link]()
    for statement in statements:
        error = partial(DescriptionError, file=file, line=statement.line)
        if statement.key == "link":
            number = len(links) + 1
            if statement.text != str(number):
                problem = f"link {number} is numbered {statement.text!r}"
                raise error(problem, remedy="number them 1, 2, ..")
            links.append(_Link(file, statement.line, number))
        elif statement.key not in IGNORED:
            if not links:
                raise error(f"{statement.key!r} comes before the first link")
            links[-1].store(statement)
    if not links:
        raise DescriptionError(
            "there is no link",
            remedy="start the first one with 'Link 1'",
            file=file,
            line=max(1, len(text.splitlines())),
        )
    return title, links


def _statements(text: str) -> tuple[str, list[_Statement]]:
    """Return title and statements; a title may contain any word but those in FIRST."""
    title, statements = list[str](), list[_Statement]()
    known = {word.lower() for word in KEYWORDS}
    for word, line in _words(text):
        key = word.lower()
        if key in FIRST or (statements and key in known):
            statements.append(_Statement(key, line))
        elif statements:
            statements[-1].words.append((word, line))
        else:
            title.append(word)
    return " ".join(title), statements


def _words(text: str) -> Iterator[tuple[str, int]]:
    text = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), start=1):
        for word in _COMMENT.sub("", line).translate(_SEPARATORS).split():
            yield word, number


@dataclass
class _Link:
    """A link of a file; errors name the file and a line."""

    file: str
    line: int
    number: int
    values: dict[str, list[float]] = field(default_factory=dict)
    type: JointType = "revolute"

    def store(self, statement: _Statement) -> None:
        key, line, of_link = statement.key, statement.line, f"of link {self.number}"
        if key == "type":
            self.type = self._type(statement)
            return
        values = [self._number(*word) for word in statement.words]
        if len(values) != NUMBERS[key]:
            problem = f"takes {NUMBERS[key]} number(s), not {statement.text or 'none'}"
            raise self._error(f"{key} {of_link} {problem}", line=line)
        if key in self.values:
            raise self._error(f"{key} {of_link} is given twice", "delete one", line)
        if key == "limits" and values[0] >= values[1]:
            raise self._error(
                f"the lower limit {values[0]:g} {of_link} is not below the upper, {values[1]:g}",
                "give the lower limit first; check the minus signs",
                line,
            )
        self.values[key] = values

    def joint(self, units: Units) -> Joint:
        for key in ("a", "b", "al", "th"):
            if key not in self.values:
                raise self._error(f"link {self.number} has no {key}", "add it")
        a, b, al, th = (self.values[key][0] for key in ("a", "b", "al", "th"))
        slides = self.type == "prismatic"
        if slides and "limits" not in self.values:
            problem = f"link {self.number} is prismatic and has no limits"
            raise self._error(problem, "add for example 'limits 0 5'")
        lower, upper = self.values.get("limits", (-180.0, 180.0))
        velocity = DEFAULT_VELOCITY[self.type]
        return Joint(
            name=f"joint_{self.number}",
            type=self.type,
            row=DhRow(
                theta=units.radians(th) if slides else 0.0,
                d=0.0 if slides else units.metres(b),
                a=units.metres(a),
                alpha=units.radians(al),
            ),
            lower=units.si(lower, self.type),
            upper=units.si(upper, self.type),
            velocity=velocity,
            acceleration=4.0 * velocity,
            effort=math.inf,
            source="" if "limits" in self.values else "no limits in the RVS file",
        )

    def home(self, joint: Joint, units: Units) -> float:
        """Return the initial position in RVS, shifted by whole turns into the limits."""
        slides = joint.type == "prismatic"
        shown = self.values["b" if slides else "th"][0]
        for turn in (0.0,) if slides else (0.0, -360.0, 360.0):
            value = units.si(shown + turn, joint.type)
            if joint.lower <= value <= joint.upper:
                return value
        problem = f"link {self.number} is at {shown:g}, outside its limits"
        raise self._error(problem, "check the minus signs of the limits")

    def _number(self, word: str, line: int) -> float:
        try:
            return finite_number(word)
        except InputError:
            problem = f"{word!r} is not a keyword or number"
            raise self._error(problem, did_you_mean(word, KEYWORDS), line) from None

    def _type(self, statement: _Statement) -> JointType:
        word = statement.text
        for known in JOINT_TYPES:
            if word and known.startswith(word.lower()):
                return known
        remedy = did_you_mean(word, JOINT_TYPES)
        raise self._error(f"{word!r} is not a joint type", remedy, statement.line)

    def _error(self, problem: str, remedy: str = "", line: int | None = None) -> DescriptionError:
        return DescriptionError(problem, remedy=remedy, file=self.file, line=line or self.line)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="rvs2dh", description="Convert an RVS architecture file to a robot file."
    )
    add = parser.add_argument
    add("file", help="architecture file")
    unit = "unit of its lengths, which the format does not specify (default: dm)"
    add("--length", choices=LENGTHS, default="dm", help=unit)
    add("--name", default="", help="name of the robot (default: that of the file)")
    cli.add_output(parser)
    cli.add_force(parser)
    return cli.run(parser, _convert_rvs, argv)


def _convert_rvs(arguments: argparse.Namespace) -> None:
    cli.refuse_overwriting(arguments.output, arguments.force)
    path = Path(arguments.file)
    units = Units(arguments.length, "deg")
    name = arguments.name or re.sub(r"[^\w-]+", "_", path.stem).lower()
    text = read_text(path, _MAX_BYTES, DescriptionError)
    model = parse_rvs(text, name, units, path.name)
    notes = [
        *left_out(text),
        f"Lengths were read in {units.length}; RVS files do not specify a unit (--length).",
        "RVS files have no velocity and effort limits: these are defaults.",
    ]
    cli.write_text(robot_yaml(model, units, notes), arguments.output)
    if arguments.output:
        for note in notes[:-1]:
            cli.print_status(note)
