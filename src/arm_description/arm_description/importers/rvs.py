# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Architecture files of RVS, the Robot Visualization System of McGill University.

The format, after the printed file of REDIESTRO (F. Bauer, "The Development and Implementation of
Kinematics Algorithms on RVS", 2006, appendix A), word by word and in any layout:

    REDIESTRO                title: whatever stands before the first keyword
    geomtype full            how RVS draws it; read over
    Link 1                   links are numbered from 1 in order
    a 0.0  b 9.5229          along x and along z, in a unit of length that the file does not tell
    al 58.3127  th 20.0      alpha and theta, in degrees
    type prismatic           revolute if left out
    limits -170.0 95.0       of theta (revolute) or b (prismatic), if it has any
    EndEffector hand         what RVS draws at the end; read over

Comments run from #, %, !, //, or a star to the end of the line, or stand in /* */. The table is
standard DH with b for d. Limits are of the whole angle, and th is where RVS shows the arm first:
so the joint is 0 where theta is 0, and th becomes the posture ``home``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import MappingProxyType

from arm_common.suggestions import did_you_mean

from arm_description.errors import DescriptionError
from arm_description.model.dh import DhRow, JointType
from arm_description.model.elements import Joint
from arm_description.model.units import Units
from arm_description.robot_file.joints import DEFAULT_EFFORT, DEFAULT_VELOCITY
from arm_description.robot_model import RobotModel

NUMBERS = {"a": 1, "b": 1, "al": 1, "th": 1, "limits": 2}
KEYWORDS = ("Link", *NUMBERS, "type", "geomtype", "EndEffector")
READ_OVER = ("geomtype", "endeffector")
FIRST = ("link", "geomtype")
TYPES: tuple[JointType, ...] = ("revolute", "prismatic")
_COMMENT = re.compile(r"(#|%|!|//|\*).*")
_BLOCK = re.compile(r"/\*.*?\*/", re.DOTALL)
_SEPARATORS = str.maketrans("=:,;", "    ")


@dataclass
class _Link:
    number: int
    line: int
    values: dict[str, list[float]] = field(default_factory=dict)
    type: JointType = "revolute"


def parse_rvs(text: str, name: str, units: Units, file: str = "") -> RobotModel:
    """Read an architecture file.

    Args:
        text: its text.
        name: name of the robot.
        units: the unit of its lengths; angles are in degrees whatever they say.
        file: what errors and the source call it.

    Raises:
        DescriptionError: something is missing or wrong; names the line.
    """
    links, title = _RvsReader(file).links(text)
    units = Units(units.length, "deg")
    joints = tuple(_joint(link, units, file) for link in links)
    home = {
        joint.name: _home(link, joint, units, file)
        for link, joint in zip(links, joints, strict=True)
    }
    return RobotModel(
        name=name,
        convention="standard",
        joints=joints,
        postures=MappingProxyType({"home": MappingProxyType(home)}),
        description=title or name,
        source=f"RVS architecture file {file}, lengths read in {units.length}".replace("  ", " "),
    )


@dataclass
class _Statement:
    """A keyword with the words behind it."""

    key: str
    line: int
    words: list[tuple[str, int]] = field(default_factory=list)


class _RvsReader:
    """Reads the statements of a file into links."""

    def __init__(self, file: str) -> None:
        self._file = file

    def links(self, text: str) -> tuple[list[_Link], str]:
        title, statements = _statements(text)
        links = list[_Link]()
        for statement in statements:
            if statement.key == "link":
                links.append(self._link(statement, len(links) + 1))
            elif statement.key not in READ_OVER:
                if not links:
                    problem = f"{statement.key!r} stands before the first link"
                    raise self._error(statement.line, problem)
                self._store(links[-1], statement)
        if not links:
            line = max(1, len(text.splitlines()))
            raise self._error(line, "there is no link", "begin the first one with 'Link 1'")
        return links, title

    def _link(self, statement: _Statement, expected: int) -> _Link:
        words = [word for word, _ in statement.words]
        if words != [str(expected)]:
            called = " ".join(words)
            raise self._error(
                statement.line, f"link {expected} is called {called!r}", "number them 1, 2, .."
            )
        return _Link(expected, statement.line)

    def _store(self, link: _Link, statement: _Statement) -> None:
        if statement.key == "type":
            link.type = self._type(statement)
            return
        key, line, of_link = statement.key, statement.line, f"of link {link.number}"
        values = [self._number(*word) for word in statement.words]
        if len(values) != NUMBERS[key]:
            shown = " ".join(word for word, _ in statement.words) or "none"
            problem = f"{key} {of_link} takes {NUMBERS[key]} number(s), not {shown}"
            raise self._error(line, problem)
        if key in link.values:
            raise self._error(line, f"{key} {of_link} is given twice", "delete one")
        if key == "limits" and values[0] >= values[1]:
            raise self._error(
                line,
                f"the lower limit {values[0]:g} {of_link} is not below the upper, {values[1]:g}",
                "was a minus sign lost? the lower limit comes first",
            )
        link.values[key] = values

    def _number(self, word: str, line: int) -> float:
        try:
            value = float(word)
        except ValueError:
            raise self._error(
                line, f"{word!r} is not known here", did_you_mean(word, KEYWORDS)
            ) from None
        if not math.isfinite(value):
            raise self._error(line, f"{word} is not a finite number")
        return value

    def _type(self, statement: _Statement) -> JointType:
        word = " ".join(word for word, _ in statement.words)
        for known in TYPES:
            if word and known.startswith(word.lower()):
                return known
        raise self._error(statement.line, f"a joint cannot be {word!r}", did_you_mean(word, TYPES))

    def _error(self, line: int, problem: str, remedy: str = "") -> DescriptionError:
        return _error(self._file, line, problem, remedy)


def _error(file: str, line: int, problem: str, remedy: str = "") -> DescriptionError:
    return DescriptionError(problem, remedy=remedy, file=file, line=line)


def _statements(text: str) -> tuple[str, list[_Statement]]:
    """The title and the statements; a title may hold any word but those that begin a file."""
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
    """Words and their line numbers, without comments."""
    text = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), start=1):
        for word in _COMMENT.sub("", line).translate(_SEPARATORS).split():
            yield word, number


def _joint(link: _Link, units: Units, file: str) -> Joint:
    missing = [key for key in ("a", "b", "al", "th") if key not in link.values]
    if missing:
        raise _error(file, link.line, f"link {link.number} has no {missing[0]}", "add it")
    a, b, al, th = (link.values[key][0] for key in ("a", "b", "al", "th"))
    slides = link.type == "prismatic"
    row = DhRow(
        theta=units.radians(th) if slides else 0.0,
        d=0.0 if slides else units.metres(b),
        a=units.metres(a),
        alpha=units.radians(al),
    )
    if slides and "limits" not in link.values:
        problem = f"link {link.number} slides and has no limits"
        raise _error(file, link.line, problem, "add for example 'limits 0 5'")
    lower, upper = link.values.get("limits", (-180.0, 180.0))
    velocity = DEFAULT_VELOCITY[link.type]
    return Joint(
        name=f"joint_{link.number}",
        type=link.type,
        row=row,
        lower=units.si(lower, link.type),
        upper=units.si(upper, link.type),
        velocity=velocity,
        acceleration=4.0 * velocity,
        effort=DEFAULT_EFFORT,
        source="" if "limits" in link.values else "no limits in the RVS file",
    )


def _home(link: _Link, joint: Joint, units: Units, file: str) -> float:
    """Where RVS shows the joint first, if need be by whole turns inside the limits."""
    slides = joint.type == "prismatic"
    shown = link.values["b" if slides else "th"][0]
    for turn in (0.0,) if slides else (0.0, -360.0, 360.0):
        value = units.si(shown + turn, joint.type)
        if joint.lower <= value <= joint.upper:
            return value
    problem = f"link {link.number} stands at {shown:g}, outside its limits"
    raise _error(file, link.line, problem, "was a minus sign lost in the limits?")
