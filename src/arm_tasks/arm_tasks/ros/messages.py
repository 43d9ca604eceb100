# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conversions between ROS messages and matrices, trajectories and reports."""

from __future__ import annotations

from arm_common.ros.messages import duration_message, pose_matrix
from arm_common.transforms import Array
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.msg import NutState
from arm_interfaces.msg import StepReport as StepReportMessage
from arm_tasks.planning.plan import StepReport
from arm_tasks.scene.nut_state import NutReport, NutStatus


def nut_report(message: NutState) -> NutReport:
    """Return the state of the nut in a message."""
    return NutReport(
        status=NutStatus(message.state),
        bolt=message.bolt,
        turns_engaged=message.turns_engaged,
        grasped=message.grasped,
        pose=pose_matrix(message.pose.pose),
        message=message.message,
    )


def step_report(message: StepReportMessage) -> StepReport:
    """Return a message of the feasibility check as the report of a step."""
    names = message.get_fields_and_field_types()
    return StepReport(**{name: getattr(message, name) for name in names})


def trajectory_message(
    joints: tuple[str, ...], times: Array, positions: Array, velocities: Array
) -> JointTrajectory:
    """Return a joint trajectory as a message.

    Args:
        joints: Names of the n columns.
        times: (m,) from the start [s].
        positions: (m, n) [rad or m].
        velocities: (m, n) [rad/s or m/s].
    """
    message = JointTrajectory(joint_names=list(joints))
    for time, position, velocity in zip(times, positions, velocities, strict=True):
        point = JointTrajectoryPoint()
        point.positions = position.tolist()
        point.velocities = velocity.tolist()
        point.time_from_start = duration_message(float(time))
        message.points.append(point)
    return message
