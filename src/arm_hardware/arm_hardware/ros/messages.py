# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Messages from and to the driver's own types."""

from __future__ import annotations

import math

from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from arm_hardware.axes import Axes
from arm_hardware.calibration import Calibration
from arm_hardware.driver import Driver
from arm_hardware.errors import INVALID_JOINTS, CommandError
from arm_hardware.request import Point, Request
from arm_hardware.runs import Tolerances
from arm_hardware.servo_map import ServoMap, resolution
from arm_hardware.states import Snapshot
from arm_interfaces.msg import HardwareStatus, JointPulse


def request_of(message: JointTrajectory, start: float | None) -> Request:
    """Return a trajectory message as plain numbers, to begin in ``start`` seconds (None: now)."""
    points = tuple(
        Point(
            p.time_from_start.sec + p.time_from_start.nanosec * 1e-9,
            tuple(p.positions),
            tuple(p.velocities),
            tuple(p.accelerations),
            tuple(p.effort),
        )
        for p in message.points
    )
    return Request(tuple(message.joint_names), points, start)


def tolerances_of(goal: FollowJointTrajectory.Goal, axes: Axes) -> Tolerances:
    """Return what a goal says about tolerances (control_msgs/msg/JointTolerance).

    0 means the default, which is none; -1 means none too.

    Raises:
        CommandError: It names an unknown joint, brings points for free-flying joints, or a
            tolerance is negative but not -1.
    """
    for entry in (*goal.path_tolerance, *goal.goal_tolerance):
        if entry.name not in axes.names:
            raise CommandError(
                f"A tolerance names '{entry.name}', not one of {', '.join(axes.names)}.",
                INVALID_JOINTS,
                entry.name,
            )
    if goal.multi_dof_trajectory.points:
        raise CommandError("Multi-dof trajectories are not for this arm.")
    late = goal.goal_time_tolerance.sec + goal.goal_time_tolerance.nanosec * 1e-9
    return Tolerances(
        {e.name: e.position for e in goal.path_tolerance if _bounds(e.name, e.position)},
        {
            e.name: e.position if e.position > 0.0 else math.inf
            for e in goal.goal_tolerance
            if _bounds(e.name, e.position) or e.position < 0.0
        },
        late if _bounds("goal_time", late) else 0.0,
    )


def _bounds(name: str, value: float) -> bool:
    """Return whether a tolerance bounds anything; refuse what is neither a bound nor a sign."""
    if value > 0.0 or value == 0.0 or value == -1.0:
        return value > 0.0
    raise CommandError(f"{name}: a tolerance of {value:g} means nothing; give -1 for none.")


def joint_state(axes: Axes, snapshot: Snapshot, stamp: Time) -> JointState | None:
    """Return what is commanded, fingers at half the width; None while a position is unknown."""
    if any(p is None for p in snapshot.positions):
        return None
    positions = [float(p) for p in snapshot.positions if p is not None]
    message = JointState()
    message.header.stamp = stamp
    n = len(axes.arm)
    message.name = [*axes.names, *axes.fingers]
    message.position = [*positions[:n], *(p / 2.0 for p in positions[n:] for _ in axes.fingers)]
    rates = snapshot.velocities
    message.velocity = [*rates[:n], *(v / 2.0 for v in rates[n:] for _ in axes.fingers)]
    return message


def goal(axes: Axes, snapshot: Snapshot, stamp: Time) -> JointState:
    """Return where the arm is bound for; without joints if it goes nowhere."""
    message = JointState(position=snapshot.bound_for)
    message.header.stamp = stamp
    message.name = list(axes.names) if snapshot.bound_for else []
    return message


def status(
    hardware: str, driver: Driver | None, snapshot: Snapshot, stamp: Time
) -> HardwareStatus:
    """Return the status message."""
    message = HardwareStatus()
    message.header.stamp = stamp
    message.state = int(snapshot.state)
    message.hardware = hardware
    message.message = snapshot.message
    if driver is not None:
        message.joints = [
            _pulse(i, axis.name, driver.output.maps[i], snapshot, driver.calibration)
            for i, axis in enumerate(driver.axes)
        ]
    return message


def _pulse(
    i: int, name: str, servo: ServoMap, snapshot: Snapshot, calibration: Calibration | None
) -> JointPulse:
    """Return one servo's line of the status; fake hardware has neither channels nor pulses."""
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
