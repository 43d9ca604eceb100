# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Trajectories as text: CSV with times, or bare rows of positions.

CSV has a header with time and the joints' names, then one point a line. A unit may follow each
name in brackets, as in ``shoulder [deg]``; a comment ``# units: deg, mm`` sets it for all columns.
Without either, angles are in rad and lengths in m.

Rows are one posture a line, without times, in the robot's units and joint order: the format of
RVS, the Robot Visualization System of McGill University (RVS2006, 2006, section 5.2).
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from arm_common.suggestions import did_you_mean

from arm_description.errors import DescriptionError
from arm_description.library import read_text
from arm_description.model.elements import Joint
from arm_description.model.units import ANGLES, LENGTHS, SI, Units
from arm_description.robot_model import RobotModel
from arm_description.trajectories.trajectory import JointTrajectory, TrajectoryPoints, order_of

_MOST_BYTES = 50_000_000
TIME = "time"
_UNITS = re.compile(r"\s*#\s*units\s*:\s*(.*)", re.IGNORECASE)
_HEADING = re.compile(r"(?P<name>.*?)\s*(?:\[(?P<unit>\w*)\])?")


@dataclass(frozen=True)
class _Line:
    """A line of a file."""

    file: str
    number: int
    text: str

    def error(self, problem: str, remedy: str) -> DescriptionError:
        return DescriptionError(problem, remedy=remedy, file=self.file, line=self.number)

    def value(self, text: str) -> float:
        """Return the finite number that is written in it."""
        try:
            value = float(text)
        except ValueError:
            raise self.error(
                f"{text.strip()!r} is not a number", "write for example 1.5"
            ) from None
        if not math.isfinite(value):
            raise self.error(f"{text.strip()} is not finite", "write a finite number")
        return value


def _lines(path: Path) -> list[_Line]:
    texts = read_text(path, _MOST_BYTES).splitlines()
    return [_Line(str(path), number, text) for number, text in enumerate(texts, start=1)]


def _filled(lines: Iterable[_Line]) -> Iterator[_Line]:
    """Yield the lines that are neither empty nor a comment (#)."""
    return (line for line in lines if line.text.strip() and not line.text.lstrip().startswith("#"))


def read_csv(path: Path, model: RobotModel) -> TrajectoryPoints:
    """Read a file, whose errors name the line; limits are not checked here."""
    lines = _lines(path)
    default, rows = _default_units(lines), _filled(lines)
    header = next(rows, _Line(str(path), 1, ""))
    headings = [_heading(cell) for cell in _cells(header)]
    if headings[0][0].lower() != TIME or headings[0][1] not in ("", "s"):
        raise header.error(
            "the first column must be 'time', in seconds",
            "begin with the line: " + ",".join((TIME, *model.joint_names)),
        )
    order = order_of([name for name, _ in headings[1:]], model, header.file, header.number)
    columns = [
        (i, _unit(headings[1 + i][1], joint, default, header), joint.type)
        for i, joint in zip(order, model.joints, strict=True)
    ]
    times, positions, at = [], [], []
    for line in rows:
        cells = _cells(line)
        if len(cells) != len(headings):
            raise line.error(
                f"has {len(cells)} columns, the header has {len(headings)}",
                "write time and a position for every joint, with a point in 0.5",
            )
        time, *values = map(line.value, cells)
        times.append(time)
        positions.append([units.si(values[i], kind) for i, units, kind in columns])
        at.append(line.number)
    shaped = np.array(positions).reshape(-1, model.n)
    return TrajectoryPoints(str(path), np.array(times), shaped, at)


def csv_text(trajectory: JointTrajectory) -> str:
    """Write a trajectory in rad and m; every number reads back the same."""
    text = io.StringIO()
    text.write("# units: rad, m\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((TIME, *trajectory.names))
    for time, row in zip(trajectory.times.tolist(), trajectory.positions.tolist(), strict=True):
        writer.writerow([repr(value) for value in (time, *row)])
    return text.getvalue()


def _cells(line: _Line) -> list[str]:
    return next(csv.reader([line.text.strip()], skipinitialspace=True), []) or [""]


def _heading(cell: str) -> tuple[str, str]:
    match = _HEADING.fullmatch(cell.strip())
    return (cell, "") if match is None else (match["name"], match["unit"] or "")


def _default_units(lines: list[_Line]) -> Units:
    """Units of the first comment that states them."""
    for line in lines:
        match = _UNITS.fullmatch(line.text)
        if match:
            units = SI
            for word in re.split(r"[\s,]+", match[1].strip()):
                if word not in (*ANGLES, *LENGTHS):
                    remedy = did_you_mean(word, (*ANGLES, *LENGTHS))
                    raise line.error(f"there is no unit {word!r}", remedy)
                units = replace(units, **{"angle" if word in ANGLES else "length": word})
            return units
    return SI


def _unit(word: str, joint: Joint, default: Units, line: _Line) -> Units:
    """Units for one joint's column."""
    turns = joint.type == "revolute"
    allowed = ANGLES if turns else LENGTHS
    if not word:
        return default
    if word not in allowed:
        raise line.error(
            f"joint {joint.name!r} is {joint.type}, its unit cannot be {word!r}",
            did_you_mean(word, allowed),
        )
    return replace(SI, **{"angle" if turns else "length": word})


def read_rows(path: Path, model: RobotModel) -> TrajectoryPoints:
    """Read a file, whose errors name the line; limits are not checked here."""
    positions, at = [], []
    for line in _filled(_lines(path)):
        values = list(map(line.value, re.split(r"\s*,\s*|\s+", line.text.strip())))
        if len(values) != model.n:
            raise line.error(
                f"has {len(values)} numbers, {model.name} has {model.n} joints",
                "write one for each of " + ", ".join(model.joint_names),
            )
        pairs = zip(values, model.joints, strict=True)
        positions.append([model.units.si(value, joint.type) for value, joint in pairs])
        at.append(line.number)
    return TrajectoryPoints(str(path), None, np.array(positions).reshape(-1, model.n), at)


def rows_text(trajectory: JointTrajectory, model: RobotModel) -> str:
    """Write the positions of a trajectory; its times are lost."""
    types = [joint.type for joint in model.joints]
    rows = (
        " ".join(
            f"{model.units.written(v, kind):.12g}" for v, kind in zip(row, types, strict=True)
        )
        for row in trajectory.positions.tolist()
    )
    return "\n".join(rows) + "\n"
