# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conversions between ROS messages and matrices, trajectories and reports."""

from __future__ import annotations

from arm_common.transforms import Array, matrix_to_pose, pose_to_matrix
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Pose, Transform, TransformStamped
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.msg import NutState
from arm_interfaces.msg import StepReport as StepReportMessage
from arm_tasks.planning.plan import StepReport
from arm_tasks.scene.nut_state import NutReport, NutStatus


def pose_message(T: Array) -> Pose:
    """Return a transform (4, 4) [m] as a pose message."""
    position, quaternion = matrix_to_pose(T)
    message = Pose()
    p, q = message.position, message.orientation
    p.x, p.y, p.z = map(float, position)
    q.x, q.y, q.z, q.w = map(float, quaternion)
    return message


def pose_matrix(message: Pose) -> Array:
    """Return a pose message as a transform (4, 4) [m]."""
    p, q = message.position, message.orientation
    return pose_to_matrix((p.x, p.y, p.z), (q.x, q.y, q.z, q.w))


def transform_matrix(message: Transform) -> Array:
    """Return a transform message as a transform (4, 4) [m]."""
    p, q = message.translation, message.rotation
    return pose_to_matrix((p.x, p.y, p.z), (q.x, q.y, q.z, q.w))


def transform_message(parent: str, child: str, T: Array, stamp: Time) -> TransformStamped:
    """Return parent <- child (4, 4) [m] as a tf message."""
    pose = pose_message(T)
    message = TransformStamped()
    message.header.frame_id = parent
    message.header.stamp = stamp
    message.child_frame_id = child
    translation = message.transform.translation
    translation.x, translation.y, translation.z = pose.position.x, pose.position.y, pose.position.z
    message.transform.rotation = pose.orientation
    return message


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


def duration_message(seconds: float) -> Duration:
    """Return a time span [s] as a message."""
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


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
