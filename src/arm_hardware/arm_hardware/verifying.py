# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reference postures for a calibrated arm: read, driven slowly within the driver's limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from arm_description.nearest import nearest

from arm_description import RobotModel
from arm_hardware.axes import rest_of
from arm_hardware.bounds import check_position
from arm_hardware.driver import Driver
from arm_hardware.errors import CommandError, HardwareError
from arm_hardware.goal import Goal, Outcome
from arm_hardware.request import Point, Request, check
from arm_hardware.tip import tick_limit, tip_of

BRIEFEST = 0.5  # [s] of any motion
PATIENCE = 5.0  # [s] of the wall, after the time that a motion should take


@dataclass(frozen=True)
class Posture:
    """Where to go.

    Attributes:
        name: As it was asked for.
        positions: Of all axes of the driver, in their order [rad or m].
    """

    name: str
    positions: tuple[float, ...]


def posture(driver: Driver, model: RobotModel, asked: str) -> Posture:
    """Return a posture by its name, or by joints: ``waist=30,elbow=-10`` in deg or mm.

    Axes that it leaves out stand as in the posture rest.

    Raises:
        CommandError: There is none of that name, or an axis would be out of its limits.
    """
    if "=" in asked:
        values: Mapping[str, float] = dict(_value(driver, part) for part in asked.split(","))
    elif asked in model.postures:
        values = model.postures[asked]
    else:
        known = nearest(asked, model.postures)
        raise CommandError(f"{model.name} has no posture {asked!r}; {known}; or joint=value,...")
    rest = rest_of(model, driver.axes)
    goal = [values.get(a.name, r) for a, r in zip(driver.axes, rest, strict=True)]
    for axis, position in zip(driver.axes, goal, strict=True):
        check_position(axis, position, f" of posture {asked}")
    return Posture(asked, tuple(goal))


def drive(driver: Driver, to: Posture, share: float) -> None:
    """Bring an armed arm to a posture with a share of its highest speeds, and wait.

    Raises:
        HardwareError: The motion was refused, or ended elsewhere.
    """
    here = driver.motion.command()[0]
    ways = zip(driver.axes, here, to.positions, strict=True)
    seconds = max([BRIEFEST, *(abs(b - a) / (share * axis.velocity) for axis, a, b in ways)])
    n = len(driver.axes.arm)
    request = Request(driver.axes.names, [Point(seconds, to.positions[:n])])
    goals = [driver.motion.follow(check(request, driver.axes))]
    if driver.axes.gripper is not None:
        goals.append(driver.motion.grip(to.positions[-1]))
    for goal in goals:
        _finish(goal, seconds / driver.options.speed + PATIENCE)


def report(driver: Driver, model: RobotModel, at: Posture) -> str:
    """Return what is to be measured at a posture: joints, tip and the tip's step, as told."""
    told = [math.nan if p is None else p for p in driver.motion.snapshot().positions]
    q = told[: model.n]
    joints = ", ".join(
        f"{axis.name} {_written(value, axis.unit)}"
        for axis, value in zip(driver.axes, told, strict=True)
    )
    x, y, z = tip_of(model, q) * 1e3
    tick = tick_limit(model, q, driver.output.maps[: model.n]) * 1e3
    return (
        f"{at.name}: {joints}\n"
        f"  expect the tip (tool0) at {x:.1f} {y:.1f} {z:.1f} mm in base_link; "
        f"one count of a servo moves it by up to {tick:.1f} mm"
    )


def _value(driver: Driver, part: str) -> tuple[str, float]:
    name, _, text = (piece.strip() for piece in part.partition("="))
    units = {axis.name: axis.unit for axis in driver.axes}
    if name not in units:
        raise CommandError(f"There is no joint {name!r}; {nearest(name, units)}.")
    try:
        value = float(text)
    except ValueError:
        raise CommandError(f"{part!r}: {text!r} is not a number.") from None
    return name, math.radians(value) if units[name] == "rad" else value / 1e3


def _written(value: float, unit: str) -> str:
    return f"{math.degrees(value):.1f} deg" if unit == "rad" else f"{value * 1e3:.1f} mm"


def _finish(goal: Goal, patience: float) -> None:
    if not goal.wait(patience):
        raise HardwareError("The motion does not end; is the computer overloaded?")
    if goal.outcome is not Outcome.SUCCEEDED:
        raise HardwareError(goal.message)
