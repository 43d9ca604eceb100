# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conversions between ROS messages and matrices, trajectories and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arm_common.ros.messages import duration_message, pose_matrix
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.msg import NutState
from arm_interfaces.msg import StepReport as StepReportMessage
from arm_tasks.planning.plan import PlannedTrajectory, StepReport
from arm_tasks.scene.nut_state import NutReport, NutStatus

if TYPE_CHECKING:
    from arm_tasks.manual.jogger import TrajectorySegment


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
    joints: Sequence[str], motion: PlannedTrajectory | TrajectorySegment
) -> JointTrajectory:
    """Return a motion of joints as a message."""
    message = JointTrajectory(joint_names=list(joints))
    rows = zip(motion.times, motion.positions, motion.velocities, strict=True)
    for time, position, velocity in rows:
        point = JointTrajectoryPoint()
        point.positions = position.tolist()
        point.velocities = velocity.tolist()
        point.time_from_start = duration_message(float(time))
        message.points.append(point)
    return message
