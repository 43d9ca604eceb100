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
from collections.abc import Iterator, Sequence

import numpy as np
from arm_common.transforms import Array
from arm_description.errors import DescriptionError
from arm_description.library import (
    add_calibration,
    description_path,
    is_xml,
    load_robot,
    shipped_robots,
)
from arm_description.model.units import ANGLES, LENGTHS, Units
from arm_description.robot_file.editor import RobotEditor
from arm_description.robot_model import RobotModel

from arm_common import cli
from arm_kinematics.commands.summary import WIDTH, robot_summary
from arm_kinematics.dexterity.loads import ActuatorLoads, HeaviestPosture, not_checked
from arm_kinematics.errors import KinematicsError

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
    more = list(_Torques(model, units).lines())
    if arguments.calibration:
        more += ["", f"The limits are those of the robot file and of {arguments.calibration}."]
    constants = () if is_xml(path) else RobotEditor(path.read_bytes(), str(path)).constants()
    sys.stdout.write(robot_summary(model, units, tuple(constants), more))


class _Torques:
    """What gravity asks of the actuators, and what the arm can hold, as text."""

    def __init__(self, model: RobotModel, units: Units) -> None:
        self._model, self._units = model, units
        self._loads = ActuatorLoads.of_model(model)
        self._sliding = dict(zip(model.joint_names, self._loads.chain.sliding, strict=True))

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
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
            yield from textwrap.wrap(line, WIDTH, subsequent_indent=" " * (sum(widths) + 6))
        if self._loads.known:
            yield from textwrap.wrap(self._capacity(every), WIDTH)
        if unchecked := not_checked(self._model.without_effort):
            yield from textwrap.wrap(f"{unchecked}.", WIDTH)

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


def _grams(mass: float) -> str:
    if mass > _ANY_MASS:
        return "any mass, as its weight loads no actuator"
    return f"{1e3 * mass:.0f} g" if mass < 10.0 else f"{mass:.1f} kg"
