# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The axes that the driver moves: joints from base to tip, then the gripper; and their limits.

The joints of an arm with transmissions are moved by actuators, whose limits bound those of joints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arm_common.errors import number_text

from arm_hardware.errors import CommandError

if TYPE_CHECKING:
    from arm_description.model.gripper import Claw
    from arm_description.model.units import Units

    from arm_description import Gripper, RobotModel
    from arm_hardware.calibration.coupling import Coupling

# Of its servo in calibrations and its width in postures: GRIPPER_KEY of arm_description, whose
# import needs YAML, which the command `release` does without.
GRIPPER = "gripper"
UNITS = {"revolute": "rad", "prismatic": "m"}  # of a joint's position
LIMIT_TOLERANCE = 1e-6  # [rad or m] for rounding at a position limit
# Extra distance allowed between the current command and the first point of a trajectory, for
# rounding to counts and for motion since planning.
START_TOLERANCE = {"rad": 0.02, "m": 0.002}
# Largest distance from the end of a motion, of servos that answer unless parameters set others:
# above the sag of a servo that holds 63 % of its torque with half of its position gain (0.06 rad),
# below what a person would call a miss.
GOAL_TOLERANCE = {"rad": 0.1, "m": 0.01}


@dataclass(frozen=True)
class Axis:
    """A joint or the gripper, and its limits."""

    name: str  # joint name, or "gripper"
    unit: str  # "rad" or "m"
    lower: float  # smallest position [unit]
    upper: float  # largest position [unit]
    velocity: float  # largest speed [unit/s]
    acceleration: float  # largest acceleration [unit/s^2]
    whose: str = ""  # whose its position limits are if not the robot's, such as MEASURED

    def text(self, value: float, units: Units | None = None) -> str:
        """Return a position or speed [unit or unit/s] with four digits and its unit.

        It is that of the axis unless others are given, in which people write and read.
        """
        if units is None:
            return f"{number_text(value, 4)} {self.unit}"
        return units.text(value, "revolute" if self.unit == "rad" else "prismatic", 4)

    def range_text(self, units: Units | None = None) -> str:
        """Return the position limits and whose they are, a clause; units as in text()."""
        limits = f"its limits {self.text(self.lower, units)} to {self.text(self.upper, units)}"
        return f"{limits}, those of {self.whose}" if self.whose else limits

    def narrowed(self, lower: float, upper: float, velocity: float, whose: str = "") -> Axis:
        """Return the axis with its limits reduced to these positions [unit] and speed [unit/s].

        ``whose`` says where those positions come from.
        """
        room = LIMIT_TOLERANCE  # the same limits may differ by rounding
        narrower = lower > self.lower + room or upper < self.upper - room
        return replace(
            self,
            lower=max(self.lower, lower),
            upper=min(self.upper, upper),
            velocity=min(self.velocity, velocity),
            whose=whose if narrower else self.whose,
        )


@dataclass(frozen=True)
class DependentAxis:
    """A mimic joint of the robot description: it is at ``ratio`` times the position of a joint."""

    name: str
    leader: str  # name of the joint that it follows
    ratio: float


@dataclass(frozen=True)
class Axes:
    """All axes of one arm."""

    arm: tuple[Axis, ...]  # the joints, base to tip
    gripper: Axis | None = None  # the width of the gripper, or None
    hand: Gripper | None = None  # its fingers, whose positions follow from the width
    coupling: Coupling | None = None  # None if each joint has a servo and limits of its own
    dependents: tuple[DependentAxis, ...] = ()  # joints without servos

    @property
    def all(self) -> tuple[Axis, ...]:
        """The arm's axes, then the gripper if there is one."""
        return self.arm if self.gripper is None else (*self.arm, self.gripper)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arm's joints."""
        return tuple(axis.name for axis in self.arm)

    @property
    def actuators(self) -> tuple[Axis, ...]:
        """The shafts that the servos turn: those of the joints, then the gripper."""
        if self.coupling is None:
            return self.all
        return (*self.coupling.actuators, *(() if self.gripper is None else (self.gripper,)))

    def driven_by(self, actuators: Sequence[Axis]) -> Axes:
        """Return the axes with what ``actuators``, narrowed by a calibration, allow."""
        gripper = None if self.gripper is None else actuators[-1]
        n = len(actuators) - (gripper is not None)
        if self.coupling is None:
            return replace(self, arm=tuple(actuators[:n]), gripper=gripper)
        arm, coupling = self.coupling.driven(self.arm, tuple(actuators[:n]))
        return replace(self, arm=arm, gripper=gripper, coupling=coupling)

    def claw(self, axis: Axis) -> Claw | None:
        """Return the claw whose width is this axis, None for any other axis."""
        return self.hand.claw if self.hand and axis.name == GRIPPER else None

    def prefixed(self, prefix: str) -> Axes:
        """Return the axes with the names that joints have in messages."""
        hand, coupling = self.hand and self.hand.prefixed(prefix), self.coupling
        if coupling is not None:
            coupling = replace(
                coupling,
                actuators=_prefixed(coupling.actuators, prefix),
                constraints=coupling.constraints.prefixed(prefix),
                prefix=prefix,
            )
        dependents = tuple(
            DependentAxis(prefix + d.name, prefix + d.leader, d.ratio) for d in self.dependents
        )
        return Axes(_prefixed(self.arm, prefix), self.gripper, hand, coupling, dependents)

    def dependent(self, values: Sequence[float]) -> list[float]:
        """Return positions or rates of the dependent joints at those of the arm's joints."""
        by_name = dict(zip(self.names, values, strict=True))
        return [d.ratio * by_name[d.leader] for d in self.dependents]

    def __iter__(self) -> Iterator[Axis]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)


def _prefixed(axes: tuple[Axis, ...], prefix: str) -> tuple[Axis, ...]:
    return tuple(replace(axis, name=prefix + axis.name) for axis in axes)


def rest_positions(model: RobotModel, axes: Axes) -> tuple[float, ...]:
    """Return the posture at which everything starts, in the order of ``axes.all`` [rad or m].

    A gripper that it does not name rests at its largest width, and jaws that do not close to 0 as
    far as they can for a smaller width.
    """
    from arm_description.home_posture import home_posture

    posture = home_posture(model)[1]
    rest = [float(posture[axis.name]) for axis in axes.arm]
    if axes.gripper is not None:
        width = float(posture.get(GRIPPER, axes.gripper.upper))
        rest.append(max(width, axes.gripper.lower) if width >= 0.0 else width)
    return tuple(rest)


def check_position(axis: Axis, value: float, where: str = "", units: Units | None = None) -> None:
    """Raise CommandError for a position [rad or m] that is not finite or outside the limits.

    The error carries the excess; ``where`` follows the number in its message, whose units are
    those of Axis.text().
    """
    if not math.isfinite(value):
        raise CommandError(f"{axis.name}: the position{where} is {value}.", joint=axis.name)
    beyond = max(value - axis.upper, axis.lower - value)
    if beyond > LIMIT_TOLERANCE:
        raise CommandError(
            f"{axis.name}: {axis.text(value, units)}{where} is {axis.text(beyond, units)} outside "
            f"of {axis.range_text(units)}.",
            joint=axis.name,
            amount=beyond,
        )


def check_speed(axis: Axis, speed: float, margin: float, where: str) -> None:
    """Raise CommandError for a speed [rad/s or m/s] above ``margin`` times the limit.

    The error carries the excess, and ``where`` follows the number in its message; the margin
    allows for planners' rounding.
    """
    if speed > margin * axis.velocity:
        raise CommandError(
            f"{axis.name}: {axis.text(speed)}/s {where} is faster than its limit "
            f"{axis.text(axis.velocity)}/s; allow more time.",
            joint=axis.name,
            amount=speed - axis.velocity,
        )
