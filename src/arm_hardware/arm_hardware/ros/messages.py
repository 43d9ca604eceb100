# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Converts between messages and the driver's types."""

from __future__ import annotations

import math
from collections.abc import Sequence

from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from arm_hardware.calibration.axes import Axes
from arm_hardware.calibration.calibration import Calibration
from arm_hardware.calibration.servo_map import ServoMap, resolution
from arm_hardware.control.state_machine import DriverSnapshot
from arm_hardware.driver import Driver
from arm_hardware.errors import INVALID_JOINTS, CommandError
from arm_hardware.motion.execution import Tolerances
from arm_hardware.motion.goal_validation import GoalPoint, TrajectoryGoal
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


def goal_tolerances(goal: FollowJointTrajectory.Goal, axes: Axes) -> Tolerances:
    """Return the tolerances of a goal (control_msgs/msg/JointTolerance).

    0 means the default, which is no bound; -1 also means no bound.

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
    late = _seconds(goal.goal_time_tolerance)
    return Tolerances(
        {e.name: e.position for e in goal.path_tolerance if _bounds(e.name, e.position)},
        {
            e.name: e.position if e.position > 0.0 else math.inf
            for e in goal.goal_tolerance
            if _bounds(e.name, e.position) or e.position < 0.0
        },
        late if _bounds("goal_time", late) else 0.0,
    )


def _seconds(duration: Duration) -> float:
    return float(duration.sec + duration.nanosec * 1e-9)


def _bounds(name: str, value: float) -> bool:
    """Return whether a tolerance is a bound; raise CommandError if it is invalid."""
    if value >= 0.0 or value == -1.0:
        return value > 0.0
    raise CommandError(f"{name}: {value:g} is not a valid tolerance; use -1 for no bound.")


def joint_state(axes: Axes, snapshot: DriverSnapshot, stamp: Time) -> JointState | None:
    """Return the commanded joint state, with each finger at half the gripper's width.

    None while a position is unknown.
    """
    if any(p is None for p in snapshot.positions):
        return None
    positions = [float(p) for p in snapshot.positions if p is not None]
    message = JointState(name=[*axes.names, *axes.fingers])
    message.header.stamp = stamp
    message.position = _with_fingers(axes, positions)
    message.velocity = _with_fingers(axes, snapshot.velocities)
    return message


def _with_fingers(axes: Axes, values: Sequence[float]) -> list[float]:
    """Return the axes' values as joint values: each finger gets half of the gripper's."""
    n = len(axes.arm)
    return [*values[:n], *(width / 2.0 for width in values[n:] for _ in axes.fingers)]


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
        state=int(snapshot.state), hardware=hardware, message=snapshot.message
    )
    message.header.stamp = stamp
    if driver is not None:
        message.joints = [
            _pulse(i, axis.name, driver.output.maps[i], snapshot, driver.calibration)
            for i, axis in enumerate(driver.axes)
        ]
    return message


def _pulse(
    i: int, name: str, servo: ServoMap, snapshot: DriverSnapshot, calibration: Calibration | None
) -> JointPulse:
    """Return the status of one servo; fake hardware has neither channels nor pulses."""
    position, estimated = snapshot.positions[i], snapshot.estimated[i]
    count = snapshot.counts[i]
    pulse = JointPulse(name=name, channel=-1)
    pulse.position = math.nan if position is None else float(position)
    pulse.estimated_position = math.nan if estimated is None else float(estimated)
    if calibration is not None:
        pulse.resolution = resolution(servo, count)
        pulse.channel = servo.channel
        pulse.count = count or 0
        pulse.pulse_us = float((count or 0) * calibration.board.count_us)
    return pulse
