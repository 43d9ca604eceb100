# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A robot as plain text for a terminal: its table, limits, reach, home pose and sources."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from arm_common.transforms import matrix_rpy

from arm_description.exporters.reach import reach
from arm_description.model.dh import Convention
from arm_description.model.elements import Joint
from arm_description.model.units import Units
from arm_description.robot_file.scope import Constant
from arm_description.robot_model import RobotModel

WIDTH = 96
_PRODUCTS: dict[Convention, str] = {"standard": "Rz Tz Tx Rx", "modified": "Rx Tx Rz Tz"}
_LEFT = ("joint", "posture", "constant", "moves")


def robot_summary(
    model: RobotModel, units: Units | None = None, constants: Sequence[Constant] = ()
) -> str:
    """Describe a robot.

    Args:
        model: the robot.
        units: what to write numbers in, those of the robot's file if None.
        constants: of its file; in that file's units whatever ``units`` says.
    """
    units = units or model.units
    parts = [
        _head(model, units),
        _table(model, units),
        _limits(model, units),
        _gripper(model, units),
        _payload(model, units),
        _postures(model, units),
        _home(model, units),
        _reach(model, units),
        _constants(constants, model.units),
        _sources(model),
    ]
    return "\n\n".join("\n".join(part) for part in map(list, parts) if part) + "\n"


def home_posture(model: RobotModel) -> tuple[str, list[float]]:
    """Name and positions (rad or m) of the posture to begin with.

    It is ``rest``, else the first one of the file, else every joint at 0 or the limit next to it.
    """
    for name in ("rest", *model.postures):
        if name in model.postures:
            return name, [model.postures[name][joint.name] for joint in model.joints]
    zero = [min(max(0.0, joint.lower), joint.upper) for joint in model.joints]
    return "every joint at 0", zero


def _head(model: RobotModel, units: Units) -> Iterator[str]:
    title = f"{model.name}: {model.description}" if model.description else model.name
    yield from textwrap.wrap(title, WIDTH)
    rows = f"{model.n} joint" + ("s" if model.n > 1 else "")
    yield (
        f"{rows}, {model.convention} DH ({_PRODUCTS[model.convention]}), "
        f"lengths in {units.length}, angles in {units.angle}"
    )


def _table(model: RobotModel, units: Units) -> Iterator[str]:
    rows = [("", "joint", "moves", "theta", "d", "a", "alpha")]
    for number, joint in enumerate(model.joints, start=1):
        row, slides = joint.row, joint.type == "prismatic"
        plain = joint.axis == "z"
        rows.append(
            (
                str(number),
                joint.name,
                ("slides" if slides else "turns") + ("" if plain else f" about {joint.axis}"),
                _variable(_angle(row.theta, units), plain and not slides),
                _variable(_length(row.d, units), slides),
                _length(row.a, units),
                _angle(row.alpha, units),
            )
        )
    yield from _columns(rows)
    for what, origin in (("base", model.base), ("tool", model.tool)):
        xyz = " ".join(_length(value, units) for value in origin.xyz)
        rpy = " ".join(_angle(value, units) for value in origin.rpy)
        if any((*origin.xyz, *origin.rpy)):
            yield f"  {what}: xyz {xyz}, rpy {rpy}"


def _limits(model: RobotModel, units: Units) -> Iterator[str]:
    rows = [("", "joint", "lower", "upper", "speed", "acceleration", "effort")]
    for number, joint in enumerate(model.joints, start=1):
        unit = units.unit(joint.type)
        rows.append(
            (
                str(number),
                joint.name,
                _position(joint.lower, joint, units),
                f"{_position(joint.upper, joint, units)} {unit}",
                f"{_position(joint.velocity, joint, units)} {unit}/s",
                f"{_position(joint.acceleration, joint, units)} {unit}/s2",
                f"{_short(joint.effort)} {'N m' if joint.type == 'revolute' else 'N'}",
            )
        )
    yield from _columns(rows)


def _gripper(model: RobotModel, units: Units) -> Iterator[str]:
    if model.gripper:
        gripper = model.gripper
        low, high = (_length(w, units) for w in (gripper.min_width, gripper.max_width))
        yield (
            f"Gripper: opens {low} .. {high} {units.length}, "
            f"{_length(gripper.velocity, units)} {units.length}/s; "
            f"fingers {' and '.join(gripper.joints)}"
        )


def _postures(model: RobotModel, units: Units) -> Iterator[str]:
    if not model.postures:
        return
    rows = [("posture", *(str(i + 1) for i in range(model.n)), *["gripper"] * bool(model.gripper))]
    for name, posture in model.postures.items():
        cells = [_position(posture[joint.name], joint, units) for joint in model.joints]
        if model.gripper:
            cells.append(_length(posture["gripper"], units) if "gripper" in posture else "-")
        rows.append((name, *cells))
    yield from _columns(rows)


def _home(model: RobotModel, units: Units) -> Iterator[str]:
    name, q = home_posture(model)
    xyz, rpy = matrix_rpy(model.fk(q))
    position = " ".join(_length(float(value), units) for value in xyz)
    angles = " ".join(_angle(float(value), units) for value in rpy)
    yield (
        f"Home ({name}): tool0 in base_link at xyz {position} {units.length}, "
        f"rpy {angles} {units.angle}"
    )


def _reach(model: RobotModel, units: Units) -> Iterator[str]:
    found = reach(model)
    length, farthest = units.length, _round(found.from_base, units)
    yield f"Reach of tool0 within the limits: {farthest} {length} from base_link's origin,"
    if found.from_axis is not None:
        first = model.joints[0].name
        yield f"  {_round(found.from_axis, units)} {length} from the axis of {first},"
    low, high = _round(found.lowest, units), _round(found.highest, units)
    yield f"  heights from {low} to {high} {length}"
    yield "  (maximised joint by joint from 100 positions; collisions not considered)"


def _constants(constants: Sequence[Constant], units: Units) -> Iterator[str]:
    if constants:
        yield f"Constants of the file, in {units.length} and {units.angle}"
    wide = max((len(constant.name) for constant in constants), default=0)
    for constant in constants:
        value = _short(constant.value)
        text = "" if _is_number(constant.text) else f" = {constant.text}"
        comment = f"   {constant.comment}" if constant.comment else ""
        yield from textwrap.wrap(
            f"{constant.name:<{wide}}  {value}{text}{comment}",
            WIDTH,
            initial_indent="  ",
            subsequent_indent=" " * (wide + 6),
        )


def _payload(model: RobotModel, units: Units) -> Iterator[str]:
    if model.payload:
        centre = " ".join(_length(value, units) for value in model.payload.centre)
        yield f"Payload: {_short(model.payload.mass)} kg at {centre} {units.length} in tool0"


def _sources(model: RobotModel) -> Iterator[str]:
    rows = [("Source", model.source), *((j.name, j.source) for j in model.joints)]
    if model.gripper:
        rows.append(("gripper", model.gripper.source))
    if model.payload:
        rows.append(("payload", model.payload.source))
    said = {text for _, text in rows}
    rows += [
        (key, text)
        for key, text in model.sources.items()
        if text not in said and not key.startswith("constants.")
    ]
    for name, source in rows:
        if source:
            yield from textwrap.wrap(f"{name}: {source}", WIDTH, subsequent_indent="  ")


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows with aligned columns: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            f"{cell:<{width}}" if head in _LEFT else f"{cell:>{width}}"
            for cell, width, head in zip(row, widths, rows[0], strict=True)
        )
        yield "  ".join(cells).rstrip()


def _variable(offset: str, moves: bool) -> str:
    """A cell of the table with the joint's variable q in it."""
    if not moves:
        return offset
    if offset == "0":
        return "q"
    return f"q - {offset[1:]}" if offset.startswith("-") else f"q + {offset}"


def _position(value: float, joint: Joint, units: Units) -> str:
    return _short(units.written(value, joint.type))


def _angle(value: float, units: Units) -> str:
    return _short(units.written(value, "revolute"))


def _length(value: float, units: Units) -> str:
    return _short(units.written(value, "prismatic"))


def _round(value: float, units: Units) -> str:
    """A length found by search, to a tenth of a millimetre."""
    return _short(units.written(round(value, 4), "prismatic"))


def _short(value: float) -> str:
    """Six digits; what is left of rounding is 0."""
    return f"{0.0 if math.isclose(value, 0.0, abs_tol=1e-9) else value:.6g}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
