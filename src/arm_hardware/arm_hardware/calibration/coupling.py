# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The axes of a robot description, and how its joints depend on each other and on actuators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from arm_common.transforms import Array
from arm_description.model.constraints import ConstraintSet, JointConstraint
from arm_description.model.elements import mimic_names
from arm_description.model.transmissions.drivetrain import Drivetrain
from arm_description.model.transmissions.transmission import (
    ActuatorLimits,
    SeveralActuatorsTransmission,
)
from arm_description.model.units import SHOWN
from arm_description.robot_model import ServoLimits

from arm_description import RobotModel
from arm_hardware.calibration.axes import GRIPPER, UNITS, Axes, Axis, DependentAxis
from arm_hardware.calibration.calibration import Calibration
from arm_hardware.calibration.servo_map import ServoMap, resolution
from arm_hardware.errors import CalibrationError

_SAMPLES = 181  # of a joint's range, in which a curved transmission is evaluated
_ROUNDING = 1e-9
_STEP = 1e-5  # [s] of the differences that make velocities
Row: TypeAlias = tuple[float, ...]


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

    def driven(
        self, arm: tuple[Axis, ...], actuators: tuple[Axis, ...]
    ) -> tuple[tuple[Axis, ...], Coupling]:
        """Return joints and coupling with the limits of actuators narrowed by a calibration."""
        given = replace(self, actuators=actuators)
        return _driven(arm, given, "the linkage and its servo allow")

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
                    f"{_written(amount, first)}, more than the allowed "
                    f"{_written(allowed, first)}, and would work against each other.",
                )
        return None


def _written(amount: float, axis: Axis) -> str:
    return SHOWN.text(amount, "revolute" if axis.unit == "rad" else "prismatic", 3)


def _driven(
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


def _coupling_of(model: RobotModel) -> Coupling | None:
    """Return the coupling of a robot description, None if it has none."""
    drivetrain = Drivetrain.of(model)
    if drivetrain.is_identity and not model.constraints:
        return None
    units = {joint.name: UNITS[joint.type] for joint in model.joints}
    drives = zip(drivetrain.actuators, drivetrain.drives(), strict=True)
    actuators = tuple(
        Axis(
            name, units[t.joints[0]], limit.lower, limit.upper, limit.velocity, limit.acceleration
        )
        for name, (t, _) in drives
        for limit in (t.limits,)
    )
    own = tuple(joint.constraint for joint in model.joints if joint.constraint)
    return Coupling(drivetrain, actuators, model.constraint_set, own)


def _dependents_of(model: RobotModel) -> tuple[DependentAxis, ...]:
    return tuple(
        DependentAxis(name, leader, ratio)
        for joint in model.dependents
        for name, (leader, ratio) in zip(
            mimic_names(joint.name, joint.terms), joint.terms, strict=True
        )
    )


def axes_of(model: RobotModel) -> Axes:
    """Return the axes of a robot description."""
    arm = tuple(
        Axis(j.name, UNITS[j.type], j.lower, j.upper, j.velocity, j.acceleration)
        for j in model.joints
    )
    coupling = _coupling_of(model)
    if coupling is not None:
        arm, coupling = _driven(arm, coupling, "the linkage allows")
    grip, dependents = model.gripper, _dependents_of(model)
    if grip is None:
        return Axes(arm, coupling=coupling, dependents=dependents)
    width = Axis(GRIPPER, "m", grip.min_width, grip.max_width, grip.velocity, grip.acceleration)
    return Axes(arm, width, grip, coupling, dependents)


def driven_axes(
    model: RobotModel, calibration: Calibration | None, dt: float
) -> tuple[Axes, tuple[ServoMap, ...]]:
    """Return the axes as a driver with ticks of dt [s] moves them, and a map for each servo.

    Without a calibration, as of fake hardware, the limits are those of the robot description.

    Raises:
        CalibrationError: The calibration does not suit the robot.
    """
    axes = axes_of(model)
    if calibration is None:
        return axes, ()
    maps = calibration.maps(axes)
    return kept_together(calibration.narrowed(axes), maps, dt), maps


def driven_model(model: RobotModel, axes: Axes) -> RobotModel:
    """Return the robot with the limits of its axes, which those of its servos narrow."""
    gripper, coupling = axes.gripper, axes.coupling
    return model.limited(
        ServoLimits(
            {axis.name: _limits(axis) for axis in axes.arm},
            {axis.name: _limits(axis) for axis in coupling.actuators} if coupling else {},
            None if gripper is None else _limits(gripper),
        )
    )


def _limits(axis: Axis) -> ActuatorLimits:
    return ActuatorLimits(axis.lower, axis.upper, axis.velocity, axis.acceleration)


def kept_together(axes: Axes, maps: Sequence[ServoMap], dt: float) -> Axes:
    """Return axes on which several servos move at most their allowed difference in a tick.

    The bus may be lost when one of them has moved by a tick of dt [s] and its partner has not.

    Raises:
        CalibrationError: Servos are allowed to differ by less than a count.
    """
    if axes.coupling is None:
        return axes
    actuators = list(axes.actuators)
    for i, (transmission, _) in enumerate(axes.coupling.drivetrain.drives()):
        if not isinstance(transmission, SeveralActuatorsTransmission):
            continue
        allowed, count = transmission.allowed_difference, resolution(maps[i], None)
        if allowed <= count:
            raise CalibrationError(
                f"{transmission.joints[0]}: its servos may differ by "
                f"{_written(allowed, actuators[i])}, no more than one count of "
                f"{actuators[i].name}, {_written(count, actuators[i])}",
                remedy="set a larger allowed_difference in the robot file",
            )
        speed = (allowed - count) / dt
        actuators[i] = actuators[i].narrowed(-math.inf, math.inf, speed)
    return axes.driven_by(actuators)
