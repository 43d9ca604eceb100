# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command that prints a summary of a robot.

describe nut_arm
describe my_arm.yaml --length m --angle rad
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from arm_common.errors import aligned, number_text
from arm_common.transforms import Array, matrix_rpy
from arm_description.errors import DescriptionError
from arm_description.library import (
    add_calibration,
    description_path,
    is_xml,
    load_robot,
    shipped_robots,
)
from arm_description.model.constraints import LinearExpression, LinearLimits
from arm_description.model.elements import Convention, DependentJoint
from arm_description.model.units import ANGLES, LENGTHS, Units
from arm_description.robot_file.editor import Constant, RobotEditor
from arm_description.robot_model import RobotModel

from arm_common import cli
from arm_kinematics.dexterity.loads import ActuatorLoads, HeaviestPosture, not_checked
from arm_kinematics.dexterity.reach import reach
from arm_kinematics.errors import KinematicsError

_DECIMALS = 9  # of the table, whose numbers are exact
_WIDTH = 96
_PRODUCTS: dict[Convention, str] = {"standard": "Rz Tz Tx Rx", "modified": "Rx Tx Rz Tz"}
_LEFT = ("joint", "posture", "constant", "moves")
_NOTABLE = 1e-4  # share of the largest torque below which one is left out
_ANY_MASS = 1e6  # [kg] no arm bears it: only rounding limits it
_MOVED = 1e-3  # [rad or m]; a joint that changes a load by less is not named


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="describe",
        description="Show a robot's table, limits, reach, home pose, torques and sources.",
    )
    cli.add_robot(parser, shipped_robots())
    parser.add_argument("--length", choices=LENGTHS, help="unit of lengths (default: the file's)")
    add_calibration(parser)
    parser.add_argument("--angle", choices=ANGLES, help="unit of angles (default: the file's)")
    return cli.run(parser, _describe, argv, (DescriptionError, KinematicsError))


def _describe(arguments: argparse.Namespace) -> None:
    path = description_path(arguments.robot)
    model = load_robot(path, arguments.calibration)
    units = Units(arguments.length or model.units.length, arguments.angle or model.units.angle)
    summary = _Summary(model, units)
    more = list(summary.torques())
    if arguments.calibration:
        more += ["", f"The limits are those of the robot file and of {arguments.calibration}."]
    # in the units of the file
    constants = (
        () if is_xml(path) else tuple(RobotEditor(path.read_bytes(), str(path)).constants())
    )
    parts = [*summary.parts(), more, _constants(constants, model.units), summary.sources()]
    sys.stdout.write("\n\n".join("\n".join(part) for part in map(list, parts) if part) + "\n")


class _Summary:
    """Table, limits, reach, home pose, torques and sources of a robot, as text."""

    def __init__(self, model: RobotModel, units: Units) -> None:
        self._model, self._units, self._unit = model, units, units.length
        self._loads = ActuatorLoads.of_model(model)
        self._sliding = dict(zip(model.joint_names, self._loads.chain.sliding, strict=True))

    def parts(self) -> list[Iterator[str]]:
        """Return the lines of each part but the sources."""
        return [
            self._head(),
            self._table(),
            self._limits(),
            self._load(),
            self._postures(),
            self._home(),
            self._reach(),
        ]

    def _text(self, value: float, kind: str = "prismatic") -> str:
        """Return a length, or an angle of a revolute joint, in the chosen unit."""
        return self._units.number(value, kind, decimals=_DECIMALS)

    def _texts(self, values: Iterable[float], kind: str = "prismatic") -> str:
        return " ".join(self._text(value, kind) for value in values)

    def _head(self) -> Iterator[str]:
        model, units = self._model, self._units
        title = f"{model.name}: {model.description}" if model.description else model.name
        yield from textwrap.wrap(title, _WIDTH)
        rows = f"{model.n} joint" + ("s" if model.n > 1 else "")
        if model.dependents:
            rows += f" and {len(model.dependents)} dependent"
        yield (
            f"{rows}, {model.convention} DH ({_PRODUCTS[model.convention]}"
            f"{' Ry' if model.is_tilted else ''}), "
            f"lengths in {units.length}, angles in {units.angle}"
        )

    def _table(self) -> Iterator[str]:
        tilted = self._model.is_tilted
        rows = [("", "joint", "moves", "theta", "d", "a", "alpha", *(("beta",) if tilted else ()))]
        for number, joint in enumerate(self._model.rows, start=1):
            row, slides, plain = joint.row, joint.type == "prismatic", joint.axis == "z"
            theta, d = self._text(row.theta, "revolute"), self._text(row.d)
            q = ""
            if isinstance(joint, DependentJoint):
                q = self._sum(LinearExpression(0.0, joint.terms), joint.type)
            rows.append(
                (
                    str(number),
                    joint.name,
                    ("slides" if slides else "turns") + ("" if plain else f" about {joint.axis}"),
                    _variable(theta, q) if plain and not slides else theta,
                    _variable(d, q) if slides else d,
                    self._text(row.a),
                    self._text(row.alpha, "revolute"),
                    *((self._text(row.beta, "revolute"),) if tilted else ()),
                )
            )
        yield from _columns(rows)
        for name, origin in (("base", self._model.base), ("tool", self._model.tool)):
            if any((*origin.xyz, *origin.rpy)):
                rpy = self._texts(origin.rpy, "revolute")
                yield f"  {name}: xyz {self._texts(origin.xyz)}, rpy {rpy}"

    def _limits(self) -> Iterator[str]:
        rows = [("", "joint", "lower", "upper", "speed", "acceleration", "effort")]
        for number, joint in enumerate(self._model.rows, start=1):
            unit, kind = self._units.unit(joint.type), joint.type
            rows.append(
                (
                    str(number),
                    joint.name,
                    self._text(joint.lower, kind),
                    f"{self._text(joint.upper, kind)} {unit}",
                    f"{self._text(joint.velocity, kind)} {unit}/s",
                    f"{self._text(joint.acceleration, kind)} {unit}/s2",
                    f"{number_text(joint.effort)} {'N m' if kind == 'revolute' else 'N'}"
                    if joint.has_effort
                    else "not given",
                )
            )
        yield from _columns(rows)
        for constraint in self._model.constraints:
            others = " and ".join(name for name in constraint.joints if name != constraint.joint)
            allowed = f"a range that depends on {others}"
            if isinstance(constraint, LinearLimits):
                allowed = self._linear_range(constraint)
            yield from textwrap.wrap(
                f"{constraint.joint}: {constraint.reason} {allowed}",
                _WIDTH,
                initial_indent="  ",
                subsequent_indent="    ",
            )

    def _linear_range(self, limits: LinearLimits) -> str:
        """Return the bounds of a joint that are linear in others, with the unit."""
        kind = next(joint.type for joint in self._model.joints if joint.name == limits.joint)
        lower, upper = (
            texts[0] if len(texts) == 1 else f"{outermost}({', '.join(texts)})"
            for outermost, side in (("max", limits.lower), ("min", limits.upper))
            for texts in ([self._sum(one, kind) for one in side],)
        )
        return f"{lower} .. {upper} {self._units.unit(kind)}"

    def _sum(self, one: LinearExpression, kind: str) -> str:
        """Return a linear expression over joints in the chosen units."""
        types = {joint.name: joint.type for joint in self._model.joints}
        text = ""
        for name, factor in one.factors:
            scale = self._units.written(1.0, kind) / self._units.written(1.0, types[name])
            number = number_text(abs(factor) * scale)
            term = name if number == "1" else f"{number}*{name}"
            text += _signed(factor, term, first=not text)
        if one.constant or not text:
            text += _signed(one.constant, self._text(abs(one.constant), kind), first=not text)
        return text

    def _load(self) -> Iterator[str]:
        gripper, payload, unit = self._model.gripper, self._model.payload, self._unit
        if tool := self._model.mounted:
            about = f": {tool.description}" if tool.description else ""
            yield f"Tool: {Path(tool.name).stem}, {number_text(tool.mass)} kg{about}"
        if gripper:
            low, high, speed = map(
                self._text, (gripper.min_width, gripper.max_width, gripper.velocity)
            )
            yield (
                f"Gripper: opens {low} .. {high} {unit}, {speed} {unit}/s; "
                f"{'jaws' if gripper.claw else 'fingers'} {' and '.join(gripper.moving)}"
            )
        if (tool or gripper) and payload:
            yield ""
        if payload:
            centre = self._texts(payload.centre)
            yield f"Payload: {number_text(payload.mass)} kg at {centre} {unit} in tool0"

    def torques(self) -> Iterator[str]:
        """Yield what gravity asks of the actuators, and what the arm can hold."""
        every = self._loads.heaviest_postures()
        least = max(_NOTABLE * max(each.torque for each in every), 1e-9)
        heaviest = [each for each in every if each.torque > least]
        mass = self._loads.chain.bodies.mass
        if not heaviest:
            yield "Gravity loads no joint."
            return
        estimated = "" if self._model.masses else ", all estimated from the skeleton"
        yield f"Most that gravity asks of an actuator; the joints move {mass:.3g} kg{estimated}"
        rows = [("joint", "torque", "of its limit", "")]
        for found in heaviest:
            unit = "N" if self._sliding.get(found.actuator) else "N m"
            share = f"{100 * found.share:.0f} %" if found.share else "not checked"
            where = self._posture(found.q)
            rows.append((found.actuator, f"{found.torque:.3g} {unit}", share, where))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        for joint, torque, share, where in rows:
            line = f"{joint:<{widths[0]}}  {torque:>{widths[1]}}  {share:>{widths[2]}}  {where}"
            yield from textwrap.wrap(line, _WIDTH, subsequent_indent=" " * (sum(widths) + 6))
        if self._loads.known:
            yield from textwrap.wrap(self._capacity(every), _WIDTH)
        if unchecked := not_checked(self._model.without_effort):
            yield from textwrap.wrap(f"{unchecked}.", _WIDTH)

    def _capacity(self, every: Sequence[HeaviestPosture]) -> str:
        loads, tip = self._loads, self._loads.chain.tip
        least, worst = loads.least_capacity()
        q = np.array([loads.chain.positions(p) for p in self._model.postures.values()])
        each = loads.payload_capacity(q).tolist() if len(q) else []
        named = (
            f"in the posture {name} {_grams(mass)}"
            for name, mass in zip(self._model.postures, each, strict=True)
        )
        payload = self._model.payload
        besides = f" besides its payload of {_grams(payload.mass)}" if payload else ""
        if least > 0.0:
            where = f"{_grams(least)}{besides} at {tip} anywhere in reach"
            where += f" (least at {self._posture(worst)})"
            return f"The arm can hold {', '.join([where, *named])}."
        itself = f"its own weight and a payload of {_grams(payload.mass)}" if payload else "itself"
        most = max(every, key=lambda each: each.share)
        weak = (
            f"The arm cannot hold {itself} everywhere in reach: at {self._posture(most.q)} the "
            f"servo of {most.actuator} needs {100.0 * most.share:.0f} % of its limit."
        )
        able = [text for text, mass in zip(named, each, strict=True) if mass > 0.0]
        return f"{weak} It can hold {', '.join(able)}{besides}." if able else weak

    def _posture(self, q: Array) -> str:
        """Return the positions of the joints that matter for the load, in the chosen units."""
        chain, kept = self._loads.chain, []
        torques = chain.gravity_torques(q, 1.0)
        for i, name in enumerate(chain.joint_names):
            moved = np.tile(q, (2, 1)) + 0.3 * np.array([[1.0], [-1.0]]) * np.eye(chain.n)[i]
            gap = np.abs(chain.gravity_torques(moved, 1.0) - torques).max()
            if gap > _MOVED * np.abs(torques).max():
                kind = "prismatic" if self._sliding[name] else "revolute"
                kept.append(f"{name} {self._units.number(q[i], kind, 4)}")
        return ", ".join(kept) or "any posture"

    def _postures(self) -> Iterator[str]:
        model = self._model
        types = {joint.name: str(joint.type) for joint in model.joints}
        if model.gripper:
            types["gripper"] = "prismatic"
        places = {joint.name: str(i) for i, joint in enumerate(model.rows, start=1)}
        numbers = [places[name] for name in model.joint_names]
        rows = [("posture", *numbers, *["gripper"] * bool(model.gripper))]
        for name, posture in model.postures.items():
            cells = (self._text(posture[j], types[j]) if j in posture else "-" for j in types)
            rows.append((name, *cells))
        if model.postures:
            yield from _columns(rows)

    def _home(self) -> Iterator[str]:
        name, home = self._model.home_posture
        xyz, rpy = matrix_rpy(self._model.fk([home[joint] for joint in self._model.joint_names]))
        yield (
            f"Home ({name}): tool0 in base_link at xyz {self._texts(xyz)} {self._unit}, "
            f"rpy {self._texts(rpy, 'revolute')} {self._units.angle}"
        )

    def _reach(self) -> Iterator[str]:
        def text(length: float) -> str:  # rounded to the accuracy of the search
            return self._text(round(length, 4))

        found, unit = reach(self._model), self._unit
        farthest = text(found.from_base)
        yield f"Reach of tool0 within the limits: {farthest} {unit} from base_link's origin,"
        if found.from_axis is not None:
            first = self._model.joints[0].name
            yield f"  {text(found.from_axis)} {unit} from the axis of {first},"
        yield f"  heights from {text(found.lowest)} to {text(found.highest)} {unit}"
        how = "maximised joint by joint from 100 positions"
        if self._model.dependents or self._model.constraints:
            how = "the best of random steps from 2000 positions"
        yield f"  ({how}; collisions are ignored)"

    def sources(self) -> Iterator[str]:
        """Yield the lines of the sources."""
        model = self._model
        rows = [("Source", model.source), *((j.name, j.source) for j in model.rows)]
        for name, part in (
            ("gripper", model.gripper),
            ("mounted tool", model.mounted),
            ("payload", model.payload),
        ):
            if part:
                rows.append((name, part.source))
        known = {text for _, text in rows}
        rows += [row for row in model.sources.items() if row[1] not in known]
        for name, source in rows:
            if source and not name.startswith("constants."):
                yield from textwrap.wrap(f"{name}: {source}", _WIDTH, subsequent_indent="  ")


def _grams(mass: float) -> str:
    if mass > _ANY_MASS:
        return "any mass, as its weight loads no actuator"
    return f"{1e3 * mass:.0f} g" if mass < 10.0 else f"{mass:.1f} kg"


def _constants(constants: Sequence[Constant], units: Units) -> Iterator[str]:
    if constants:
        yield f"Constants of the file, in {units.length} and {units.angle}"
    width = max((len(constant.name) for constant in constants), default=0)
    for constant in constants:
        text = "" if _is_number(constant.text) else f" = {constant.text}"
        comment = f"   {constant.comment}" if constant.comment else ""
        yield from textwrap.wrap(
            f"{constant.name:<{width}}  {number_text(constant.value)}{text}{comment}",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent=" " * (width + 6),
        )


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows with aligned columns: words to the left, numbers to the right."""
    return aligned(rows, [i for i, head in enumerate(rows[0]) if head in _LEFT])


def _variable(offset: str, q: str) -> str:
    """Return the table cell of a joint variable, q or a sum of joints, with its offset."""
    q = q or "q"
    if offset == "0":
        return q
    return f"{q} - {offset[1:]}" if offset.startswith("-") else f"{q} + {offset}"


def _signed(value: float, text: str, first: bool) -> str:
    """Return a term of a sum with the sign of its value."""
    if first:
        return f"-{text}" if value < 0.0 else text
    return f" - {text}" if value < 0.0 else f" + {text}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
