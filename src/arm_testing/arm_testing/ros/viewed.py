# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A node that publishes the topics shown in the browser view."""

from __future__ import annotations

from arm_common.ros.message_conversions import transform_message
from arm_common.ros.qos import LATCHED
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from arm_interfaces.msg import NutState
from arm_testing.ros.probe import Probe

PATIENCE = 240.0  # [s], an upper bound; a browser without a graphics card may be slow


def tf_message(poses):
    """Return poses in base_link as tf: name -> (4, 4)."""
    moved = {name: T for name, T in poses.items() if name != "base_link"}
    return TFMessage(
        transforms=[transform_message("base_link", n, T, Time()) for n, T in moved.items()]
    )


class ViewedNode(Probe):
    """Publishes a robot, its joints, frames, markers, a task and a nut."""

    def __init__(self, domain: int | None = None) -> None:
        super().__init__("test", domain, PATIENCE)
        publish = self.node.create_publisher
        self.robot = publish(String, "robot_description", LATCHED)
        self.task = publish(String, "task_text", LATCHED)
        self.markers = publish(MarkerArray, "scene_markers", LATCHED)
        self.frames = publish(TFMessage, "/tf_static", LATCHED)
        self.nut = publish(NutState, "nut_world/state", LATCHED)
        self.joints = publish(JointState, "joint_states", 10)
        self.joint_states: list[JointState] = []
        self.node.create_subscription(JointState, "joint_states", self.joint_states.append, 10)

    def wait_for_joint_states(self):
        """Wait for joint_states that are published after everything that has happened."""
        count = len(self.joint_states)
        self.until(lambda: len(self.joint_states) > count + 10)

    def show_robot(self, urdf):
        self.robot.publish(String(data=urdf))

    def show_task(self, text):
        self.task.publish(String(data=text))

    def show_nut(self, **fields):
        self.nut.publish(NutState(**fields))

    def show_joints(self, values):
        message = JointState(name=list(values), position=list(values.values()))
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.joints.publish(message)

    def show_frames(self, poses):
        """Publish poses in base_link as tf: name -> (4, 4)."""
        self.frames.publish(tf_message(poses))

    def show_marker(self, position=(0.0, 0.0, 0.0), scale=(0.1, 0.1, 0.1), color=(), **fields):
        message = Marker(ns="test", **fields)
        message.header.frame_id = "base_link"
        p, s, c = message.pose.position, message.scale, message.color
        (p.x, p.y, p.z), (s.x, s.y, s.z) = map(float, position), map(float, scale)
        c.r, c.g, c.b, c.a = (*color, 1.0) if color else (1.0, 1.0, 1.0, 1.0)
        self.markers.publish(MarkerArray(markers=[message]))
