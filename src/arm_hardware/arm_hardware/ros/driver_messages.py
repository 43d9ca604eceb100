# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/ros/test_messages.py
"""Converts between messages and the driver's types."""

from __future__ import annotations

import math

import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_hardware.calibration.axes import Axes
from arm_hardware.calibration.calibration import Calibration
from arm_hardware.calibration.servo_map import ServoMap, resolution
from arm_hardware.control.snapshot import DriverSnapshot, Tracking
from arm_hardware.driver import Driver
from arm_hardware.errors import INVALID_JOINTS, CommandError
from arm_hardware.motion.execution import MeasuredState, TrajectoryState
from arm_hardware.motion.goal_validation import GoalPoint, Tolerances, TrajectoryGoal
from arm_interfaces.msg import HardwareStatus, JointPulse


def trajectory_goal(message: JointTrajectory, start: float | None) -> TrajectoryGoal:
    """Return the goal of a trajectory message that starts in ``start`` seconds (None: now)."""
    points = [
        GoalPoint(
            _seconds(p.time_from_start), p.positions, p.velocities, p.accelerations, p.effort
        )
        for p in message.points
    ]
    return TrajectoryGoal(tuple(message.joint_names), points, start)


def goal_tolerances(
    goal: FollowJointTrajectory.Goal, axes: Axes, defaults: Tolerances
) -> Tolerances:
    """Return the tolerances of a goal (control_msgs/msg/JointTolerance).

    0 means the default, -1 no bound.

    Raises:
        CommandError: The goal names an unknown joint, has multi-DOF points, or has a negative
            tolerance other than -1.
    """
    for entry in (*goal.path_tolerance, *goal.goal_tolerance):
        if entry.name not in axes.names:
            raise CommandError(
                f"A tolerance names '{entry.name}', not one of {', '.join(axes.names)}.",
                INVALID_JOINTS,
                entry.name,
            )
    if goal.multi_dof_trajectory.points:
        raise CommandError("This arm does not support multi-DOF trajectories.")
    path, at_goal, stopped = dict(defaults.path), dict(defaults.goal), dict(defaults.stopped)
    for entry in goal.path_tolerance:
        _override(path, entry.name, entry.position)
    for entry in goal.goal_tolerance:
        _override(at_goal, entry.name, entry.position)
        _override(stopped, entry.name, entry.velocity)
    late = {"goal_time": defaults.goal_time}
    _override(late, "goal_time", _seconds(goal.goal_time_tolerance))
    time = late["goal_time"]
    return Tolerances(path, at_goal, stopped, time if math.isfinite(time) else 0.0)


def _override(bounds: dict[str, float], name: str, value: float) -> None:
    """Set a bound to a tolerance of a goal; raise CommandError if it is invalid."""
    if value == -1.0:
        bounds[name] = math.inf
    elif value > 0.0:
        bounds[name] = value
    elif value != 0.0:
        raise CommandError(f"{name}: {value:g} is not a valid tolerance; use -1 for no bound.")


def _seconds(duration: Duration) -> float:
    return float(duration.sec + duration.nanosec * 1e-9)


def joint_state(axes: Axes, snapshot: DriverSnapshot, stamp: Time) -> JointState | None:
    """Return the measured joint state, of servos that do not answer the commanded one.

    Finger joints stand for the gripper's width, and joints that follow others come last; None
    while a position is unknown.
    """
    measured = snapshot.measured
    if measured is None and any(p is None for p in snapshot.positions):
        return None
    positions = [float(p) for p in snapshot.positions if p is not None]
    velocities = snapshot.velocities
    if measured is not None:
        positions, velocities = list(measured.positions), measured.velocities
    n, hand = len(axes.arm), axes.hand
    fingers = hand.positions(positions[n]) if hand else {}
    rates = hand.rates(positions[n], velocities[n]) if hand and velocities else {}
    message = JointState(name=[*axes.names, *fingers, *(d.name for d in axes.dependents)])
    message.header.stamp = stamp
    arm, speeds = positions[:n], velocities[:n]
    message.position = [*arm, *fingers.values(), *axes.dependent(arm)]
    if speeds:
        message.velocity = [*speeds, *rates.values(), *axes.dependent(speeds)]
    if measured is not None:
        efforts = [*measured.efforts[:n], *_finger_efforts(axes, measured)]
        message.effort = [*efforts, *(0.0 for _ in axes.dependents)]
    return message


def _finger_efforts(axes: Axes, measured: MeasuredState) -> list[float]:
    """Return efforts of the finger joints [N or N m] that do the work of the width's force."""
    if axes.hand is None:
        return []
    rates = axes.hand.rates(measured.positions[-1], 1.0).values()
    return [measured.efforts[-1] / (len(rates) * rate) if rate else 0.0 for rate in rates]


def trajectory_point(state: TrajectoryState) -> JointTrajectoryPoint:
    """Return a state on a trajectory as a message."""
    point = JointTrajectoryPoint(
        positions=state.positions,
        velocities=state.velocities,
        accelerations=state.accelerations,
    )
    point.time_from_start = _duration(state.time)
    return point


def controller_state(
    axes: Axes, tracking: Tracking, stamp: Time
) -> JointTrajectoryControllerState:
    """Return trajectory, actual state and their difference.

    ``feedback`` is what servos measure, otherwise the command within the limits; ``output`` is
    the command in counts of the board. Without a trajectory, the reference is the command.
    """
    reference, snapshot = tracking.reference, tracking.snapshot
    message = JointTrajectoryControllerState(joint_names=list(axes.names))
    message.header.stamp = stamp
    message.reference.positions = tracking.positions
    message.reference.velocities = tracking.velocities
    message.feedback.positions, message.feedback.velocities = tracking.actual
    message.speed_scaling_factor = snapshot.speed_scaling
    if reference is not None:
        message.reference = trajectory_point(reference)
        message.feedback.time_from_start = _duration(reference.elapsed)
        message.speed_scaling_factor = reference.scaling
    message.error = difference(message.reference, message.feedback)
    sent = snapshot.positions[: len(axes.arm)]
    message.output.positions = [math.nan if p is None else p for p in sent]
    return message


def difference(
    reference: JointTrajectoryPoint, actual: JointTrajectoryPoint
) -> JointTrajectoryPoint:
    """Return the differences of positions and velocities."""
    return JointTrajectoryPoint(
        **{
            what: np.subtract(getattr(reference, what), getattr(actual, what))
            for what in ("positions", "velocities")
        }
    )


def _duration(seconds: float) -> Duration:
    whole = math.floor(seconds)
    return Duration(sec=whole, nanosec=min(999_999_999, round((seconds - whole) * 1e9)))


def goal(axes: Axes, snapshot: DriverSnapshot, stamp: Time) -> JointState:
    """Return the end of the running trajectory as a message, without joints if there is none."""
    names = list(axes.names) if snapshot.goal_positions else []
    message = JointState(name=names, position=snapshot.goal_positions)
    message.header.stamp = stamp
    return message


def status(
    hardware: str, driver: Driver | None, snapshot: DriverSnapshot, stamp: Time
) -> HardwareStatus:
    """Return the status message."""
    message = HardwareStatus(
        state=int(snapshot.state),
        hardware=hardware,
        message=snapshot.message,
        speed_scaling=snapshot.speed_scaling,
    )
    message.header.stamp = stamp
    if driver is not None:
        message.joints = [
            _pulse(i, axis.name, driver.output.maps[i], snapshot, driver.calibration)
            for i, axis in enumerate(driver.axes.actuators)
        ]
    return message


def _pulse(
    i: int, name: str, servo: ServoMap, snapshot: DriverSnapshot, calibration: Calibration | None
) -> JointPulse:
    """Return the status of one servo; fake hardware has neither channels nor pulses."""
    position, estimated = snapshot.servo_positions[i], snapshot.servo_estimates[i]
    count = snapshot.counts[i]
    pulse = JointPulse(name=name, channel=-1)
    pulse.position = math.nan if position is None else float(position)
    pulse.estimated_position = math.nan if estimated is None else float(estimated)
    if calibration is not None:
        pulse.resolution = resolution(servo, count)
        pulse.channel = servo.channel
        pulse.count = count or 0
        pulse.pulse_us = float((count or 0) * calibration.board.setpoint_per_count)
    return pulse
