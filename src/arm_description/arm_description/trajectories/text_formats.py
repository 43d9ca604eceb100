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
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from arm_common.suggestions import did_you_mean

from arm_description.errors import DescriptionError
from arm_description.library import read_text
from arm_description.model.units import ANGLES, LENGTHS, SI, Units
from arm_description.robot_model import RobotModel
from arm_description.trajectories.trajectory import JointTrajectory, TrajectoryPoints, order_of

_MOST_BYTES = 50_000_000


def _filled(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is neither empty nor a comment (#)."""
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.strip()


def _number(text: str, file: str, line: int) -> float:
    error = partial(DescriptionError, file=file, line=line)
    try:
        value = float(text)
    except ValueError:
        raise error(f"{text.strip()!r} is not a number", remedy="write for example 1.5") from None
    if not math.isfinite(value):
        raise error(f"{text.strip()} is not finite", remedy="write a finite number")
    return value


TIME = "time"
_UNITS = re.compile(r"\s*#\s*units\s*:\s*(.*)", re.IGNORECASE)
_HEADING = re.compile(r"(?P<name>.*?)\s*(?:\[(?P<unit>\w*)\])?")


def read_csv(path: Path, model: RobotModel) -> TrajectoryPoints:
    """Read a file; limits are not checked here.

    Raises:
        DescriptionError: something in it is wrong; names the line.
    """
    lines, file = read_text(path, _MOST_BYTES).splitlines(), str(path)
    default = _default_units(lines, file)
    rows = _filled(lines)
    line, header = next(rows, (1, ""))
    headings = [_heading(cell) for cell in _cells(header)]
    if headings[0][0].lower() != TIME or headings[0][1] not in ("", "s"):
        raise DescriptionError(
            "the first column must be 'time', in seconds",
            remedy="begin with the line: " + ",".join((TIME, *model.joint_names)),
            file=file,
            line=line,
        )
    names = [name for name, _ in headings[1:]]
    order = order_of(names, model, file, line)
    units = [_unit(headings[1 + i][1], j, model, default, file, line) for j, i in enumerate(order)]
    times, positions, at = [], [], []
    for line, text in rows:
        cells = _cells(text)
        if len(cells) != len(headings):
            raise DescriptionError(
                f"has {len(cells)} columns, the header has {len(headings)}",
                remedy="write time and a position for every joint, with a point in 0.5",
                file=file,
                line=line,
            )
        time, *values = (_number(cell, file, line) for cell in cells)
        times.append(time)
        positions.append(
            [
                u.si(values[i], joint.type)
                for u, i, joint in zip(units, order, model.joints, strict=True)
            ]
        )
        at.append(line)
    return TrajectoryPoints(file, np.array(times), np.array(positions).reshape(-1, model.n), at)


def csv_text(trajectory: JointTrajectory) -> str:
    """Write a trajectory in rad and m; every number reads back the same."""
    text = io.StringIO()
    text.write("# units: rad, m\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((TIME, *trajectory.names))
    for time, row in zip(trajectory.times.tolist(), trajectory.positions.tolist(), strict=True):
        writer.writerow([repr(value) for value in (time, *row)])
    return text.getvalue()


def _cells(line: str) -> list[str]:
    return next(csv.reader([line], skipinitialspace=True), []) or [""]


def _heading(cell: str) -> tuple[str, str]:
    match = _HEADING.fullmatch(cell.strip())
    return (cell, "") if match is None else (match["name"], match["unit"] or "")


def _default_units(lines: list[str], file: str) -> Units:
    """Units of the first comment that states them."""
    for number, line in enumerate(lines, start=1):
        match = _UNITS.fullmatch(line)
        if match:
            length, angle = SI.length, SI.angle
            for word in re.split(r"[\s,]+", match[1].strip()):
                if word in ANGLES:
                    angle = word
                elif word in LENGTHS:
                    length = word
                else:
                    raise DescriptionError(
                        f"there is no unit {word!r}",
                        remedy=did_you_mean(word, (*ANGLES, *LENGTHS)),
                        file=file,
                        line=number,
                    )
            return Units(length, angle)
    return SI


def _unit(word: str, index: int, model: RobotModel, default: Units, file: str, line: int) -> Units:
    """Units for one joint's column."""
    joint = model.joints[index]
    allowed = ANGLES if joint.type == "revolute" else LENGTHS
    if not word:
        return default
    if word not in allowed:
        raise DescriptionError(
            f"joint {joint.name!r} is {joint.type}, its unit cannot be {word!r}",
            remedy=did_you_mean(word, allowed),
            file=file,
            line=line,
        )
    return Units(SI.length, word) if joint.type == "revolute" else Units(word, SI.angle)


def read_rows(path: Path, model: RobotModel) -> TrajectoryPoints:
    """Read a file; limits are not checked here.

    Raises:
        DescriptionError: a row has not a number for every joint; names the line.
    """
    file, positions, at = str(path), [], []
    for line, text in _filled(read_text(path, _MOST_BYTES).splitlines()):
        values = [_number(cell, file, line) for cell in re.split(r"\s*,\s*|\s+", text)]
        if len(values) != model.n:
            raise DescriptionError(
                f"has {len(values)} numbers, {model.name} has {model.n} joints",
                remedy="write one for each of " + ", ".join(model.joint_names),
                file=file,
                line=line,
            )
        types = (joint.type for joint in model.joints)
        positions.append([model.units.si(v, kind) for v, kind in zip(values, types, strict=True)])
        at.append(line)
    return TrajectoryPoints(file, None, np.array(positions).reshape(-1, model.n), at)


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
