# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/motion/test_limiter.py
"""The axes that the driver moves: joints from base to tip, then the gripper; and their limits.

The joints of an arm with transmissions are moved by actuators, whose limits bound those of joints;
limits of joints may depend on other joints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from arm_common.transforms import Array
from arm_description.model.constraints import ConstraintSet, JointConstraint
from arm_description.model.elements import ActuatorLimits
from arm_description.model.gripper import Claw, Gripper
from arm_description.model.transmissions.transmission import Drivetrain
from arm_description.model.units import SHOWN, SI, Units
from arm_description.robot_model import RobotModel

from arm_hardware.errors import CommandError

GRIPPER = "gripper"  # of its servo in calibrations and its width in postures
UNITS = {"revolute": "rad", "prismatic": "m"}  # of a joint's position
LIMIT_TOLERANCE = 1e-6  # [rad or m] for rounding at a position limit
# Extra distance allowed between the current command and the first point of a trajectory, for
# rounding to counts and for motion since planning.
START_TOLERANCE = {"rad": 0.02, "m": 0.002}
# Largest distance from the end of a motion, of servos that answer unless parameters set others:
# above the sag of a servo that holds 63 % of its torque with half of its position gain (0.06 rad),
# below what a person would call a miss.
GOAL_TOLERANCE = {"rad": 0.1, "m": 0.01}
_SAMPLES = 181  # of a joint's range, in which a curved transmission is evaluated
_ROUNDING = 1e-9
_STEP = 1e-5  # [s] of the differences that make velocities
Row: TypeAlias = tuple[float, ...]


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

    def text(self, value: float, units: Units = SI) -> str:
        """Return a position or speed [unit or unit/s] with four digits and its unit.

        It is that of the axis unless others are given, in which people write and read.
        """
        return units.text(value, "revolute" if self.unit == "rad" else "prismatic", 4)

    def range_text(self, units: Units = SI) -> str:
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


class Fight(NamedTuple):
    """Servos of one joint that differ by more than is allowed."""

    servos: tuple[int, ...]  # their places among the actuators
    sentence: str


@dataclass(frozen=True)
class Coupling:
    """How joints depend on each other and on actuators: by transmissions, by limits.

    Joints and actuators are positions in rad, or m if prismatic.
    """

    drivetrain: Drivetrain
    actuators: tuple[Axis, ...]  # of the joints, (m,)
    constraints: ConstraintSet  # limits of joints that depend on others
    own: tuple[JointConstraint, ...]  # those that are not the actuators' travel
    # actuators that could be too fast although all joints keep their limits
    tight: tuple[int, ...] = ()
    prefix: str = ""  # of joints' names in messages

    def to_actuators(self, joints: Sequence[float]) -> list[float]:
        """Return the actuators' positions (m,) with the joints at (n,)."""
        positions: list[float] = self.drivetrain.to_actuators(np.array(joints, float)).tolist()
        return positions

    def to_joints(self, actuators: Sequence[float | None]) -> list[float | None]:
        """Return the joints' positions (n,), None where an actuator that moves it is unknown."""
        known = np.array([math.nan if a is None else a for a in actuators])
        found = self.drivetrain.to_joints(known).tolist()
        return [None if math.isnan(q) else q for q in found]

    def measured_joints(
        self, positions: Row, velocities: Row, efforts: Row
    ) -> tuple[Row, Row, Row]:
        """Return positions, velocities and efforts of the axes from those of the servos.

        Servos beyond the actuators, such as the gripper's, are axes themselves.
        """
        m = len(self.actuators)
        a, v, tau = (np.array(values[:m]) for values in (positions, velocities, efforts))
        q = self.drivetrain.to_joints(a)
        rates = (self.drivetrain.to_joints(a + _STEP * v) - q) / _STEP
        moments = tau @ self.drivetrain.jacobian(q)
        joints = (tuple(float(x) for x in values) for values in (q, rates, moments))
        first, second, third = joints
        return (
            (*first, *positions[m:]),
            (*second, *velocities[m:]),
            (*third, *efforts[m:]),
        )

    def with_partners(self, actuators: Sequence[float | None]) -> list[float | None]:
        """Return actuators (m,), unknown ones where others of the same joint are."""
        known = np.array([math.nan if a is None else a for a in actuators])
        found = self.drivetrain.with_partners(known).tolist()
        return [None if math.isnan(a) else a for a in found]

    def fighting(self, actuators: Sequence[float | None], tolerance: float = 0.0) -> Fight | None:
        """Return the actuators (m,) of one joint that differ too much; more are ignored."""
        m = len(self.actuators)
        known = np.array([math.nan if a is None else a for a in actuators[:m]])
        for transmission, amount in self.drivetrain.differences(known):
            allowed = transmission.allowed_difference
            if amount > allowed + tolerance:
                places = map(self.drivetrain.actuators.index, transmission.actuators)
                servos = tuple(places)
                names = " and ".join(self.actuators[i].name for i in servos)
                first = self.actuators[servos[0]]
                return Fight(
                    servos,
                    f"{self.prefix}{transmission.joints[0]}: its servos {names} differ by "
                    f"{written(amount, first)}, more than the allowed "
                    f"{written(allowed, first)}, and would work against each other.",
                )
        return None


def written(amount: float, axis: Axis) -> str:
    """Return an amount [rad or m] with its unit, as people write it."""
    return SHOWN.text(amount, "revolute" if axis.unit == "rad" else "prismatic", 3)


def narrowed_by_actuators(
    arm: tuple[Axis, ...], given: Coupling, reason: str
) -> tuple[tuple[Axis, ...], Coupling]:
    """Return the joints narrowed to what their actuators can do, and the coupling by both."""
    drivetrain, actuators = given.drivetrain, given.actuators
    rates, bends = _gains(drivetrain, arm)
    travel = [ActuatorLimits(a.lower, a.upper) for a in actuators]
    joints, whose = list(arm), next((a.whose for a in actuators if a.whose), "")
    for constraint in drivetrain.constraints(travel, alone=True):
        i = drivetrain.joint_names.index(constraint.joint)
        joints[i] = joints[i].narrowed(*constraint.bounds({}), math.inf, whose)
    joints = _all_slowed(joints, actuators, rates, bends)
    speed = np.array([joint.velocity for joint in joints])
    acceleration = np.array([joint.acceleration for joint in joints])
    fastest, hardest = rates @ speed, rates @ acceleration + bends @ speed**2
    bounded = tuple(
        replace(
            a, velocity=min(a.velocity, float(v)), acceleration=min(a.acceleration, float(most))
        )
        for a, v, most in zip(actuators, fastest, hardest, strict=True)
    )
    tight = tuple(
        i
        for i, (a, v, most) in enumerate(zip(actuators, fastest, hardest, strict=True))
        if a.velocity < v * (1.0 - _ROUNDING) or a.acceleration < most * (1.0 - _ROUNDING)
    )
    constraints = (*given.own, *drivetrain.constraints(travel, reason))
    prismatic = [axis.name for axis in arm if axis.unit == "m"]
    bound = ConstraintSet(drivetrain.joint_names, constraints, prismatic)
    return tuple(joints), replace(given, actuators=bounded, constraints=bound, tight=tight)


def _all_slowed(
    joints: Sequence[Axis], actuators: Sequence[Axis], rates: Array, bends: Array
) -> list[Axis]:
    """Return the joints, slowed where an actuator depends on one joint only; see _gains()."""
    slowed = list(joints)
    for actuator, rate, bend in zip(actuators, rates, bends, strict=True):
        if np.count_nonzero(rate) == 1:
            i = int(np.flatnonzero(rate)[0])
            slowed[i] = _slowed(slowed[i], actuator, float(rate[i]), float(bend[i]))
    return slowed


def _slowed(joint: Axis, actuator: Axis, rate: float, bend: float) -> Axis:
    """Return a joint that its only actuator can follow, by the largest derivatives of its map."""
    velocity = min(joint.velocity, actuator.velocity / rate)
    if bend > 0.0:  # at most half of the acceleration goes into the changing ratio
        velocity = min(velocity, math.sqrt(0.5 * actuator.acceleration / bend))
    most = (actuator.acceleration - bend * velocity**2) / rate
    return replace(joint, velocity=velocity, acceleration=min(joint.acceleration, most))


def _gains(drivetrain: Drivetrain, arm: tuple[Axis, ...]) -> tuple[Array, Array]:
    """Return the largest first and second derivatives of the actuators by each joint, (m, n)."""
    middle = np.array([0.5 * (a.lower + a.upper) if _is_bounded(a) else 0.0 for a in arm])
    rates = np.abs(drivetrain.jacobian(middle))
    bends = np.zeros_like(rates)
    for j, axis in enumerate(arm if not drivetrain.is_linear else ()):
        if not _is_bounded(axis):
            continue
        q = np.repeat(middle[None], _SAMPLES, axis=0)
        q[:, j] = np.linspace(axis.lower, axis.upper, _SAMPLES)
        column = drivetrain.jacobian(q)[:, :, j]
        rates[:, j] = np.abs(column).max(axis=0)
        bends[:, j] = np.abs(np.gradient(column, q[:, j], axis=0)).max(axis=0)
    return rates, bends


def _is_bounded(axis: Axis) -> bool:
    return math.isfinite(axis.lower) and math.isfinite(axis.upper)


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
        requested = replace(self.coupling, actuators=tuple(actuators[:n]))
        reason = "the linkage and its servo allow"
        arm, coupling = narrowed_by_actuators(self.arm, requested, reason)
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
    posture = model.home_posture[1]
    rest = [float(posture[axis.name]) for axis in axes.arm]
    if axes.gripper is not None:
        width = float(posture.get(GRIPPER, axes.gripper.upper))
        rest.append(max(width, axes.gripper.lower) if width >= 0.0 else width)
    return tuple(rest)


def check_position(axis: Axis, value: float, where: str = "", units: Units = SI) -> None:
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
