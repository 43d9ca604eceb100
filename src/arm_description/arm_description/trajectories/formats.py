# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Formats of trajectory files: CSV with times, bare rows of positions, and YAML.

CSV has a header with time and the joint names, then one point per line. A unit may follow each
name in brackets, as in ``shoulder [deg]``; a comment ``# units: deg, mm`` sets it for all columns.
By default angles are in rad and lengths in m.

Rows are one posture per line, without times, in the robot's units and joint order: the format of
RVS, the Robot Visualization System of McGill University (RVS2006, 2006, section 5.2).

YAML has points in time, or every joint as a sampled function of time, written as
``functions: {waist: 30*sin(90*t), ...}``. Units, constants and expressions are those of robot
files.

Errors name file and line; limits are not checked here.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from arm_common.files import FileAccess
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Vector
from arm_common.yaml.document import Field, read_yaml
from arm_common.yaml.editing import flow_word

from arm_description.errors import DescriptionError
from arm_description.library import read_text
from arm_description.model.elements import Joint
from arm_description.model.units import ANGLES, LENGTHS, SI, Units
from arm_description.robot_file.scope import EvaluationContext, read_scope, read_units
from arm_description.robot_model import RobotModel
from arm_description.trajectories.trajectory import (
    MAX_POINTS,
    JointTrajectory,
    TrajectoryPoints,
    joint_order,
)

_MAX_BYTES = 50_000_000
TIME = "time"
_UNITS = re.compile(r"\s*#\s*units\s*:\s*(.*)", re.IGNORECASE)
_HEADING = re.compile(r"(?P<name>.*?)\s*(?:\[(?P<unit>\w*)\])?")


@dataclass(frozen=True)
class _Line:
    file: str
    number: int
    text: str

    def error(self, problem: str, remedy: str) -> DescriptionError:
        return DescriptionError(problem, remedy=remedy, file=self.file, line=self.number)

    def value(self, text: str) -> float:
        """Parse a finite number."""
        try:
            value = float(text)
        except ValueError:
            raise self.error(
                f"{text.strip()!r} is not a number", "write for example 1.5"
            ) from None
        if not math.isfinite(value):
            raise self.error(f"{text.strip()} is not finite", "write a finite number")
        return value


def _lines(path: Path, files: FileAccess) -> list[_Line]:
    texts = read_text(path, _MAX_BYTES, files).splitlines()
    return [_Line(str(path), number, text) for number, text in enumerate(texts, start=1)]


def _data_lines(lines: Iterable[_Line]) -> Iterator[_Line]:
    """Return the lines that are neither empty nor a comment (#)."""
    return (line for line in lines if line.text.strip() and not line.text.lstrip().startswith("#"))


def read_csv(path: Path, model: RobotModel, files: FileAccess) -> TrajectoryPoints:
    """Read a CSV file."""
    lines = _lines(path, files)
    default, rows = _default_units(lines), _data_lines(lines)
    header, headings = _csv_header(path, rows, model.joint_names)
    order = joint_order([name for name, _ in headings[1:]], model, header.file, header.number)
    columns = [
        (i, _unit(headings[1 + i][1], joint, default, header), joint.type)
        for i, joint in zip(order, model.joints, strict=True)
    ]
    times, positions, at = [], [], []
    for line in rows:
        time, *values = _csv_numbers(line, len(headings))
        times.append(time)
        positions.append([units.si(values[i], kind) for i, units, kind in columns])
        at.append(line.number)
    shaped = np.array(positions).reshape(-1, model.n)
    return TrajectoryPoints(str(path), np.array(times), shaped, at)


def check_csv(path: Path, files: FileAccess) -> None:
    """Raise DescriptionError unless a file is a CSV file of some robot."""
    rows = _data_lines(_lines(path, files))
    header, headings = _csv_header(path, rows, ("joint", ".."))
    if not [_csv_numbers(line, len(headings)) for line in rows]:
        raise header.error("has no points", "write one per line")


def _csv_header(
    path: Path, rows: Iterator[_Line], joints: Iterable[str]
) -> tuple[_Line, list[tuple[str, str]]]:
    """Return the first line and its headings, name and unit of each."""
    header = next(rows, _Line(str(path), 1, ""))
    headings = [_heading(cell) for cell in _cells(header)]
    if headings[0][0].lower() != TIME or headings[0][1] not in ("", "s"):
        problem = "the first column must be 'time', in seconds"
        raise header.error(problem, "start with the line: " + ",".join((TIME, *joints)))
    return header, headings


def _csv_numbers(line: _Line, count: int) -> list[float]:
    cells = _cells(line)
    if len(cells) != count:
        raise line.error(
            f"has {len(cells)} columns, the header has {count}",
            "write time and a position for every joint, with a decimal point as in 0.5",
        )
    return list(map(line.value, cells))


def csv_text(trajectory: JointTrajectory) -> str:
    """Return a trajectory as CSV in rad and m; every number reads back the same."""
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
    """Return the units of the first comment that specifies them."""
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
    turns = joint.type == "revolute"
    allowed = ANGLES if turns else LENGTHS
    if not word:
        return default
    if word not in allowed:
        problem = f"joint {joint.name!r} is {joint.type}, its unit cannot be {word!r}"
        raise line.error(problem, did_you_mean(word, allowed))
    return replace(SI, **{"angle" if turns else "length": word})


def read_rows(path: Path, model: RobotModel, files: FileAccess) -> TrajectoryPoints:
    """Read a file of rows."""
    positions, at = [], []
    for line in _data_lines(_lines(path, files)):
        values = _row(line)
        if len(values) != model.n:
            problem = f"has {len(values)} numbers, {model.name} has {model.n} joints"
            raise line.error(problem, "write one for each of " + ", ".join(model.joint_names))
        pairs = zip(values, model.joints, strict=True)
        positions.append([model.units.si(value, joint.type) for value, joint in pairs])
        at.append(line.number)
    return TrajectoryPoints(str(path), None, np.array(positions).reshape(-1, model.n), at)


def check_rows(path: Path, files: FileAccess) -> None:
    """Raise DescriptionError unless a file has rows of numbers."""
    if not [_row(line) for line in _data_lines(_lines(path, files))]:
        raise _Line(str(path), 1, "").error("has no points", "write one per line")


def _row(line: _Line) -> list[float]:
    return list(map(line.value, re.split(r"\s*,\s*|\s+", line.text.strip())))


def rows_text(trajectory: JointTrajectory, model: RobotModel) -> str:
    """Return the positions of a trajectory as rows, without its times."""
    types = [joint.type for joint in model.joints]
    rows = (
        " ".join(
            f"{model.units.written(v, kind):.12g}" for v, kind in zip(row, types, strict=True)
        )
        for row in trajectory.positions.tolist()
    )
    return "\n".join(rows) + "\n"


VARIABLE = "t"
DEFAULT_STEP = 0.02  # [s] the period of the servos


def _read_functions(
    keys: Mapping[str, Field], model: RobotModel, scope: EvaluationContext
) -> TrajectoryPoints:
    duration = scope.positive(keys["duration"])
    step = scope.positive(keys["step"]) if "step" in keys else DEFAULT_STEP
    if duration / step >= MAX_POINTS:
        problem = f"gives {duration / step:.3g} points, at most {MAX_POINTS} are supported"
        raise keys["duration"].error(problem, "increase step")
    times = np.linspace(0.0, duration, 1 + math.ceil(duration / step - 1e-9))
    functions = keys["functions"]
    fields = functions.mapping(None)
    joint_order(tuple(fields), model, functions.file, functions.line)
    columns = [_sampled(fields[joint.name], joint, times, scope) for joint in model.joints]
    lines = [fields[name].line for name in model.joint_names]
    return TrajectoryPoints(functions.file, times, np.column_stack(columns), joint_lines=lines)


def _sampled(field: Field, joint: Joint, times: Vector, scope: EvaluationContext) -> list[float]:
    text, when = field.raw("an expression of t"), ""
    try:
        function, values = scope.expressions.function(text, VARIABLE), []
        for time in times.tolist():
            when = f" at {VARIABLE} = {time:.6g} s"
            values.append(scope.units.si(function(time), joint.type))
    except DescriptionError as error:
        raise field.error(f"{error.problem}{when}", error.remedy) from None
    return values


COMMON_KEYS = ("description", "source", "units", "constants")
POINT_KEYS = ("joints", "points")
FUNCTION_KEYS = ("functions", "duration", "step")


def read_trajectory_yaml(path: Path, model: RobotModel, files: FileAccess) -> TrajectoryPoints:
    """Read a YAML file."""
    keys, scope = _yaml_keys(path, files)
    if "functions" in keys:
        return _read_functions(keys, model, scope)
    return _read_points(keys, model, scope)


def check_trajectory_yaml(path: Path, files: FileAccess) -> None:
    """Raise DescriptionError unless a YAML file has the keys of a trajectory."""
    _yaml_keys(path, files)


def _yaml_keys(path: Path, files: FileAccess) -> tuple[Mapping[str, Field], EvaluationContext]:
    root = read_yaml(path, DescriptionError, files=files)
    keys = root.mapping((*COMMON_KEYS, *POINT_KEYS, *FUNCTION_KEYS), required=("units",))
    for name in ("description", "source"):
        if name in keys:
            keys[name].text()
    scope = read_scope(read_units(keys["units"]), keys.get("constants"))
    if VARIABLE in scope.expressions.names:
        raise keys["constants"].error(f"{VARIABLE!r} is the time", "rename the constant")
    own, required = (FUNCTION_KEYS, "duration") if "functions" in keys else (POINT_KEYS, "points")
    root.mapping((*COMMON_KEYS, *own), required=(required,))
    return keys, scope


def yaml_text(trajectory: JointTrajectory) -> str:
    """Return a trajectory as YAML in rad and m; every number reads back the same."""
    lines = [
        "units: {length: m, angle: rad}",
        f"joints: [{', '.join(flow_word(name) for name in trajectory.names)}]",
        "points:",
    ]
    for time, row in zip(trajectory.times.tolist(), trajectory.positions.tolist(), strict=True):
        lines.append(f"  - {{time: {time!r}, positions: [{', '.join(map(repr, row))}]}}")
    return "\n".join(lines) + "\n"


def _read_points(
    keys: Mapping[str, Field], model: RobotModel, scope: EvaluationContext
) -> TrajectoryPoints:
    order = None
    if "joints" in keys:
        names = [field.text() for field in keys["joints"].items()]
        order = joint_order(names, model, keys["joints"].file, keys["joints"].line)
    times, positions, at = [], [], []
    for item in keys["points"].items():
        point = item.mapping(("time", "positions", "posture"), required=("time",))
        times.append(scope.number(point["time"]))
        positions.append(_position(item, point, order, model, scope))
        at.append(item.line)
    shaped = np.array(positions).reshape(-1, model.n)
    return TrajectoryPoints(keys["points"].file, np.array(times), shaped, at)


def _position(
    item: Field,
    point: Mapping[str, Field],
    order: list[int] | None,
    model: RobotModel,
    scope: EvaluationContext,
) -> list[float]:
    if ("positions" in point) == ("posture" in point):
        raise item.error("needs either positions or a posture", "write one of the two")
    if "posture" in point:
        name = point["posture"].text()
        if name not in model.postures:
            problem = f"{model.name} has no posture {name!r}"
            raise point["posture"].error(problem, did_you_mean(name, model.postures))
        return [model.postures[name][joint] for joint in model.joint_names]
    if order is None:
        raise point["positions"].error(
            "has no order of joints", f"add joints: [{', '.join(model.joint_names)}]"
        )
    cells = point["positions"].items()
    if len(cells) != model.n:
        raise point["positions"].error(
            f"has {len(cells)} numbers for {model.n} joints", "write one for each joint"
        )
    return [
        scope.position(cells[i], joint.type) for i, joint in zip(order, model.joints, strict=True)
    ]
