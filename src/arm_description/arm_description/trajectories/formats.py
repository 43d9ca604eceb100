# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/trajectories/test_files.py
"""Formats of trajectory files: CSV with times, bare rows of positions, and YAML.

CSV has a header with time and the joint names, then one point per line. A unit may follow each
name in brackets, as in ``shoulder [deg]``; a comment ``# units: deg, mm`` sets it for all columns.
By default angles are in rad and lengths in m. Semicolons or tabs may separate the columns;
numbers may then have decimal commas. In place of joints it may have poses of the tool:
x, y, z and, for the orientation, roll, pitch, yaw, a quaternion qx, qy, qz, qw, or the direction
i, j, k of the tool's z alone; then the first column may be the arc length in place of time.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from arm_common.files.access import FileAccess
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Matrix, Vector, frame_along, pose, pose_to_matrix, rpy_matrix
from arm_common.yaml.document import Field, read_yaml
from arm_common.yaml.editing import flow_word
from arm_common.yaml.schema_types import Key, Leaf, ListOf, Named, Table
from arm_common.yaml.typed_mapping import MAX_LENGTH

from arm_description.errors import DescriptionError
from arm_description.model.elements import Joint
from arm_description.model.units import ANGLES, LENGTHS, SI, Units
from arm_description.robot_file.robot_keys import HEAD, POSITION, TEXT
from arm_description.robot_file.scope import EvaluationContext, Section, read_scope
from arm_description.robot_model import RobotModel
from arm_description.trajectories.lines import CsvTable, Line, data_lines, read_lines, trimmed
from arm_description.trajectories.trajectory import (
    LONGEST,
    MAX_POINTS,
    JointTrajectory,
    Specified,
    ToolTrajectory,
    TrajectoryPoints,
    joint_order,
    spacing_problem,
)

TIME = "time"


def read_csv(
    path: Path, model: RobotModel, files: FileAccess, without: Sequence[str] = ()
) -> TrajectoryPoints:
    """Read a CSV file without the columns of some names."""
    table = CsvTable.read(path, files, without)
    header, default, headings = table.header, table.units, _headings(table, model.joint_names)
    order = joint_order([name for name, _ in headings[1:]], model, header.file, header.number)
    columns = [
        (i, _unit(headings[1 + i][1], joint, default, header), joint.type)
        for i, joint in zip(order, model.joints, strict=True)
    ]
    times, positions, at = [], [], []
    for line, cells in table.rows:
        time, *values = _csv_numbers(line, cells, len(headings))
        times.append(time)
        positions.append([units.si(values[i], kind) for i, units, kind in columns])
        at.append(line.number)
    shaped = np.array(positions).reshape(-1, model.n)
    no_units = default is SI and not any(unit for _, unit in headings[1:])
    return TrajectoryPoints(str(path), np.array(times), shaped, at, no_units=no_units)


TOOL_POSITION = ("x", "y", "z")
TOOL_ANGLES = ("roll", "pitch", "yaw")
_TOOL_QUATERNION = ("qx", "qy", "qz", "qw")
_TOOL_AXIS = ("i", "j", "k")  # as in the programs of machine tools
TOOL_ORIENTATIONS: Mapping[tuple[str, ...], Specified] = {
    (): "position",
    TOOL_ANGLES: "pose",
    _TOOL_QUATERNION: "pose",
    _TOOL_AXIS: "position_axis",
}
_LENGTH = "length"
_LONGEST = {TIME: LONGEST, _LENGTH: 1000.0}  # from the first point to the last [s], [m]
_TOO_SHORT = 1e-6  # an arc may be shorter than its chord by rounding [m]


def read_tool_csv(
    path: Path, joints: Sequence[str], files: FileAccess, fewest: int = 2
) -> ToolTrajectory | None:
    """Read poses of the tool from a CSV file, None if its columns are not those of poses.

    Columns that are all joints of the robot are never poses, whatever their names.
    """
    table = CsvTable.read(path, files)
    header, headings = table.header, _headings(table, joints)
    names = [name for name, _ in headings]
    if not set(TOOL_POSITION) <= set(names) or set(names[1:]) <= set(joints):
        return None
    turned = _tool_orientation(header, names)
    units = [_column_unit(header, *heading, table.units) for heading in headings]
    points, at = [], []
    for line, cells in table.rows:
        numbers = _csv_numbers(line, cells, len(headings))
        values = (convert(number) for convert, number in zip(units, numbers, strict=True))
        point = dict(zip(names, values, strict=True))
        points.append((point[names[0]], _tool_pose(line, point, turned)))
        at.append(line)
    if not fewest <= len(points) <= MAX_POINTS:
        remedy = f"write {fewest} to {MAX_POINTS}, one per line"
        raise header.error(f"has {len(points)} points", remedy)
    poses = np.array([T for _, T in points])
    along = _increasing_along(at, names[0], np.array([value for value, _ in points]), poses)
    is_timed = names[0] == TIME
    return ToolTrajectory(
        poses, along if is_timed else None, None if is_timed else along, TOOL_ORIENTATIONS[turned]
    )


def _tool_orientation(header: Line, names: list[str]) -> tuple[str, ...]:
    """Return the columns of the orientation, () without one."""
    others = [name for name in names[1:] if name not in TOOL_POSITION]
    for turned in TOOL_ORIENTATIONS:
        if sorted(others) == sorted(turned) and len(set(names)) == len(names):
            return turned
    known = " or ".join(",".join(columns) for columns in TOOL_ORIENTATIONS if columns)
    problem = f"poses of the tool cannot have the columns {', '.join(names[1:])}"
    raise header.error(problem, f"write x,y,z, and for the orientation {known}, each once")


def _column_unit(header: Line, name: str, unit: str, default: Units) -> Callable[[float], float]:
    """Return the conversion of a column of a tool's trajectory to SI units."""
    turns = name in TOOL_ANGLES
    if name == TIME or name in (*_TOOL_QUATERNION, *_TOOL_AXIS):
        return float
    allowed = ANGLES if turns else LENGTHS
    if unit and unit not in allowed:
        raise header.error(f"{name!r} cannot be in {unit!r}", did_you_mean(unit, allowed))
    units = default.using(unit) if unit else default
    return units.radians if turns else units.metres


def _tool_pose(line: Line, point: Mapping[str, float], turned: tuple[str, ...]) -> Matrix:
    """Return frame <- tool0 (4, 4) of a point."""
    p = [point[name] for name in TOOL_POSITION]
    if (far := max(map(abs, p))) > MAX_LENGTH:
        problem = f"a coordinate is {far:g} m, but nothing may be larger than {MAX_LENGTH:g} m"
        raise line.error(problem, "name the unit in the header, as in x [mm]")
    values = [point[name] for name in turned]
    if turned in ((), TOOL_ANGLES):
        return np.asarray(rpy_matrix(p, values or (0.0, 0.0, 0.0)))
    norm = math.hypot(*values)
    if not abs(norm - 1.0) < 0.01:
        what = "quaternion" if turned == _TOOL_QUATERNION else "direction"
        raise line.error(f"the {what} has a length of {norm:.4g}", "write one of length 1")
    if turned == _TOOL_AXIS:
        return pose(frame_along(np.array(values) / norm), p)
    return pose_to_matrix(p, values)


def _increasing_along(lines: Sequence[Line], what: str, values: Vector, poses: Vector) -> Vector:
    """Return times or arc lengths relative to the first; raise an error unless they increase."""
    chords = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
    for line, before, value, chord in zip(lines[1:], values[:-1], values[1:], chords, strict=True):
        if wrong := spacing_problem(what, "", (values[0], before, value), _LONGEST[what]):
            raise line.error(*wrong)
        if what == _LENGTH and value - before < chord - _TOO_SHORT:
            problem = f"the length grows by {value - before:.6g} m, the distance is {chord:.6g} m"
            raise line.error(problem, "an arc is never shorter than its chord")
    return np.asarray(values - values[0])


def check_csv(path: Path, files: FileAccess) -> None:
    """Raise DescriptionError unless a file is a CSV file of some robot or of its tool."""
    if read_tool_csv(path, (), files) is not None:
        return
    table = CsvTable.read(path, files)
    count = len(_headings(table, ("joint", "..")))
    if not [_csv_numbers(line, cells, count) for line, cells in table.rows]:
        raise table.header.error("has no points", "write one per line")


def _headings(table: CsvTable, joints: Iterable[str]) -> list[tuple[str, str]]:
    """Return the headings of a table whose first column is the time or the arc length."""
    headings = list(table.headings)
    first, unit = headings[0]
    if first.lower() in (TIME, _LENGTH):
        headings[0] = first.lower(), unit
    if first.lower() == _LENGTH and {name for name, _ in headings} >= set(TOOL_POSITION):
        return headings
    if first.lower() != TIME or unit not in ("", "s"):
        problem = "the first column must be 'time', in seconds"
        raise table.header.error(problem, "start with the line: " + ",".join((TIME, *joints)))
    return headings


def _csv_numbers(line: Line, cells: Sequence[str], count: int) -> list[float]:
    cells = trimmed(cells)
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


def tool_csv_text(tool: ToolTrajectory) -> str:
    """Return a trajectory of the tool as CSV in m, with the direction of its z axis."""
    first, along = (TIME, tool.times) if tool.lengths is None else (_LENGTH, tool.lengths)
    assert along is not None
    rows = np.column_stack([along, tool.poses[:, :3, 3], tool.poses[:, :3, 2]])
    head = ",".join((first, *TOOL_POSITION, *_TOOL_AXIS))
    lines = (",".join(f"{value + 0.0:.9g}" for value in row) for row in rows.tolist())
    return "\n".join(("# units: m", head, *lines)) + "\n"


def _unit(word: str, joint: Joint, default: Units, line: Line) -> Units:
    turns = joint.type == "revolute"
    allowed = ANGLES if turns else LENGTHS
    if not word:
        return default
    if word not in allowed:
        problem = f"joint {joint.name!r} is {joint.type}, its unit cannot be {word!r}"
        raise line.error(problem, did_you_mean(word, allowed))
    return SI.using(word)


def read_rows(path: Path, model: RobotModel, files: FileAccess) -> TrajectoryPoints:
    """Read a file of rows."""
    positions, at = [], []
    for line in data_lines(read_lines(path, files)):
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
    if not [_row(line) for line in data_lines(read_lines(path, files))]:
        raise Line(str(path), 1, "").error("has no points", "write one per line")


def _row(line: Line) -> list[float]:
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
_SECONDS = Leaf("s", above=0.0)
POINT = Table(
    {
        "time": Key(Leaf("s"), "its time", True),
        "positions": Key(ListOf(POSITION, 1, None), "of all joints, in the order of `joints`"),
        "posture": Key(TEXT, "a posture of the robot, in place of positions"),
    }
)
POINTS = Table(
    {
        **HEAD,
        "joints": Key(ListOf(TEXT, 1, None), "names of all joints, in the order of positions"),
        "points": Key(ListOf(POINT, 1, None), "points in time", True),
    }
)
FUNCTIONS = Table(
    {
        **HEAD,
        "functions": Key(
            Named(Leaf(f"expression of {VARIABLE} in s"), "joint"), "of all joints, sampled", True
        ),
        "duration": Key(_SECONDS, "time of the last point", True),
        "step": Key(_SECONDS, "between two points, as the period of the servos", default=0.02),
    }
)


def _read_functions(
    keys: Section, model: RobotModel, scope: EvaluationContext
) -> TrajectoryPoints:
    duration, step = keys.number("duration"), keys.number("step")
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


def read_trajectory_yaml(path: Path, model: RobotModel, files: FileAccess) -> TrajectoryPoints:
    """Read a YAML file."""
    keys, scope = _yaml_keys(path, files)
    if "functions" in keys:
        return _read_functions(keys, model, scope)
    return _read_points(keys, model, scope)


def check_trajectory_yaml(path: Path, files: FileAccess) -> None:
    """Raise DescriptionError unless a YAML file has the keys of a trajectory."""
    _yaml_keys(path, files)


def _yaml_keys(path: Path, files: FileAccess) -> tuple[Section, EvaluationContext]:
    root = read_yaml(path, DescriptionError, files=files)
    given = root.mapping({**POINTS.keys, **FUNCTIONS.keys}, required=("units",))
    keys = (FUNCTIONS if "functions" in given else POINTS).read(root)
    for name in ("description", "source"):
        keys.text(name)
    scope = read_scope(keys)
    if VARIABLE in scope.expressions.names:
        raise keys["constants"].error(f"{VARIABLE!r} is the time", "rename the constant")
    return Section(keys, scope), scope


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


def _read_points(keys: Section, model: RobotModel, scope: EvaluationContext) -> TrajectoryPoints:
    order = None
    if "joints" in keys:
        names = [field.text() for field in keys["joints"].items()]
        order = joint_order(names, model, keys["joints"].file, keys["joints"].line)
    times, positions, at = [], [], []
    for item in keys["points"].items():
        point = scope.read(POINT, item)
        times.append(point.number("time"))
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
