# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The axes of a robot description, as its servos drive them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from arm_description.model.elements import mimic_names
from arm_description.model.transmissions.transmission import (
    ActuatorLimits,
    SeveralActuatorsTransmission,
)
from arm_description.robot_model import RobotModel

from arm_hardware.calibration.axes import (
    GRIPPER,
    UNITS,
    Axes,
    Axis,
    Coupling,
    DependentAxis,
    narrowed_by_actuators,
    written,
)
from arm_hardware.calibration.calibration import Calibration
from arm_hardware.calibration.servo_map import ServoMap, resolution
from arm_hardware.errors import CalibrationError


def _coupling_of(model: RobotModel) -> Coupling | None:
    """Return the coupling of a robot description, None if it has none."""
    drivetrain = model.drivetrain
    if drivetrain.is_identity and not model.constraints:
        return None
    units = {joint.name: UNITS[joint.type] for joint in model.joints}
    actuators = tuple(
        Axis(
            name, units[t.joints[0]], limit.lower, limit.upper, limit.velocity, limit.acceleration
        )
        for name, (t, _) in drivetrain.drives().items()
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
        arm, coupling = narrowed_by_actuators(arm, coupling, "the linkage allows")
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
        {axis.name: _limits(axis) for axis in axes.arm},
        {axis.name: _limits(axis) for axis in coupling.actuators} if coupling else None,
        None if gripper is None else _limits(gripper),
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
    for i, (transmission, _) in enumerate(axes.coupling.drivetrain.drives().values()):
        if not isinstance(transmission, SeveralActuatorsTransmission):
            continue
        allowed, count = transmission.allowed_difference, resolution(maps[i], None)
        if allowed <= count:
            raise CalibrationError(
                f"{transmission.joints[0]}: its servos may differ by "
                f"{written(allowed, actuators[i])}, no more than one count of "
                f"{actuators[i].name}, {written(count, actuators[i])}",
                remedy="set a larger allowed_difference in the robot file",
            )
        speed = (allowed - count) / dt
        actuators[i] = actuators[i].narrowed(-math.inf, math.inf, speed)
    return axes.driven_by(actuators)
