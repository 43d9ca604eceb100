# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion between messages and the driver's own types, and their stamps.

Stamps are of the node's clock at speed 1, else of the driver's own time as published on /clock.
"""

from __future__ import annotations

import math
import time
from typing import Any

from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from arm_hardware.calibration.axes import Axes
from arm_hardware.calibration.calibration import Calibration
from arm_hardware.calibration.servo_map import ServoMap, resolution
from arm_hardware.clock import Clock
from arm_hardware.control.state_machine import DriverSnapshot
from arm_hardware.driver import Driver
from arm_hardware.errors import INVALID_JOINTS, CommandError
from arm_hardware.motion.execution import Tolerances
from arm_hardware.motion.goal_validation import GoalPoint, TrajectoryGoal
from arm_interfaces.msg import HardwareStatus, JointPulse


def request_of(message: JointTrajectory, start: float | None) -> TrajectoryGoal:
    """Return a trajectory message as plain numbers, to begin in ``start`` seconds (None: now)."""
    points = tuple(
        GoalPoint(
            p.time_from_start.sec + p.time_from_start.nanosec * 1e-9,
            tuple(p.positions),
            tuple(p.velocities),
            tuple(p.accelerations),
            tuple(p.effort),
        )
        for p in message.points
    )
    return TrajectoryGoal(tuple(message.joint_names), points, start)


def tolerances_of(goal: FollowJointTrajectory.Goal, axes: Axes) -> Tolerances:
    """Return the tolerances of a goal (control_msgs/msg/JointTolerance).

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


def joint_state(axes: Axes, snapshot: DriverSnapshot, stamp: Time) -> JointState | None:
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


def goal(axes: Axes, snapshot: DriverSnapshot, stamp: Time) -> JointState:
    """Return where the arm is bound for; without joints if it goes nowhere."""
    message = JointState(position=snapshot.goal_positions)
    message.header.stamp = stamp
    message.name = list(axes.names) if snapshot.goal_positions else []
    return message


def status(
    hardware: str, driver: Driver | None, snapshot: DriverSnapshot, stamp: Time
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
    i: int, name: str, servo: ServoMap, snapshot: DriverSnapshot, calibration: Calibration | None
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


NANO = 1_000_000_000
TRIES, AT_ONCE = 5, 5e-4  # [s]


class DriverTime:
    """The time that messages carry.

    Attributes:
        simulated: Whether it runs at another speed than the wall.
    """

    def __init__(self, node: Any, clock: Clock, speed: float) -> None:
        """Begin at the present time of day.

        Args:
            node: Its clock is the time at speed 1.
            clock: The driver's.
            speed: Of that clock.
        """
        self.simulated = speed != 1.0
        self._node_clock = node.get_clock()
        self._clock = clock
        self._epoch = time.time_ns() - round(clock.now() * NANO)

    def now(self) -> Time:
        """Return the present stamp."""
        return _stamp(self._nanoseconds())

    def at(self, moment: float) -> Time:
        """Return the stamp of a moment of the driver's clock [s]."""
        if self.simulated:
            return _stamp(self._epoch + round(moment * NANO))
        for _ in range(TRIES):
            before, now, after = self._clock.now(), self._nanoseconds(), self._clock.now()
            if after - before < AT_ONCE:
                break  # else the thread had to wait between the two clocks
        return _stamp(now - round((after - moment) * NANO))

    def seconds_until(self, stamp: Time) -> float | None:
        """Return how far ahead a stamp lies [s], None for the stamp 0 ("now")."""
        if stamp.sec == 0 and stamp.nanosec == 0:
            return None
        return float(stamp.sec * NANO + stamp.nanosec - self._nanoseconds()) / NANO

    def _nanoseconds(self) -> int:
        if self.simulated:
            return int(self._epoch + round(self._clock.now() * NANO))
        return int(self._node_clock.now().nanoseconds)


def _stamp(nanoseconds: int) -> Time:
    seconds, rest = divmod(nanoseconds, NANO)
    return Time(sec=seconds, nanosec=rest)
