# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The simulated world: sees tool and gripper on tf, and says where nut and payloads are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import LATCHED
from arm_common.ros.tf import TfListener, TransformError
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from arm_description import load_robot
from arm_interfaces.msg import NutState
from arm_tasks.errors import TasksError
from arm_tasks.ros.messages import pose_message, transform_message
from arm_tasks.ros.scene_publisher import NUT_FRAME
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.nut_state import NutReport
from arm_tasks.scene.scene import BASE_FRAME
from arm_tasks.world.nut_world import NutWorld
from arm_tasks.world.payload_world import PayloadWorld

TOOL_FRAME = "tool0"
REPEAT_SECONDS = 1.0
NAP = 0.02  # [s]: robot and nut come on tf every 40 ms, each in a message of its own
BACKLOG = 2000  # messages of tf; on a busy machine a turn that is not seen is a turn lost


@dataclass(frozen=True)
class NutWorldParameters:
    """Parameters of the node; of the robot only the names of the fingers are used."""

    scene: str = parameter("nut_transfer", "Scene with the nut, name or path.")
    robot: str = parameter("nut_arm", "Robot with the gripper, name or path.")


class NutWorldNode(Node):
    """Watches the tool and the gripper; knows nothing of tasks.

    Publishers:
        nut_world/state: when the nut moved or its state changed, and once a second; never in a
            scene without a nut.
        payload_world/poses: where the payloads of the scene are, latched, when one has moved.

    Subscribers:
        tf, tf_static: the tool, and the fingers, whose distance is the gripper's width. Both come
        in one message, so that pose and width belong together however late it is.
    """

    def __init__(self) -> None:
        super().__init__("nut_world")
        given = declare(self, NutWorldParameters)
        model = load_robot(given.robot)
        gripper = model.gripper
        if gripper is None:
            raise TasksError(f"robot {given.robot} has no gripper; the nut cannot be held")
        self._fingers = [f"{finger}_link" for finger in gripper.joints]
        stands = load_scene(given.scene, model.name)
        self._world = NutWorld(stands) if stands.nut is not None else None
        self._payloads = PayloadWorld(stands, gripper)
        self._publisher = self.create_publisher(NutState, "nut_world/state", 10)
        self._shown = self.create_publisher(TFMessage, "payload_world/poses", LATCHED)
        self._own = {NUT_FRAME, *self._payloads.poses}  # frames that move as this node says
        self._tf = TfListener(self, on_change=self._on_tf, depth=BACKLOG)
        # by the clock on the wall, so that it speaks even when simulated time stands still
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(REPEAT_SECONDS, self._publish, clock=steady)
        self._publish_payloads()

    def _on_tf(self, message: TFMessage) -> None:
        """Let the world move on to the tool's present pose."""
        if all(stamped.child_frame_id in self._own for stamped in message.transforms):
            return
        tree = self._tf.tree
        try:
            T = tree.lookup(BASE_FRAME, TOOL_FRAME)
            width = float(np.linalg.norm(tree.lookup(*self._fingers)[:3, 3]))
        except TransformError:
            return  # the robot is not on tf yet
        if self._payloads.update(T, width):
            self._publish_payloads()
        if self._world is None:
            return
        before = self._world.report
        if changed(before, self._world.update(T, width)):
            self._publish()

    def _publish_payloads(self) -> None:
        """Publish where the payloads are."""
        stamp = self.get_clock().now().to_msg()
        poses = self._payloads.poses.items()
        frames = [transform_message(BASE_FRAME, name, T, stamp) for name, T in poses]
        self._shown.publish(TFMessage(transforms=frames))

    def _publish(self) -> None:
        """Publish where the nut is."""
        if self._world is None:
            return
        report = self._world.report
        message = NutState()
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = BASE_FRAME
        message.state = int(report.status)
        message.bolt = report.bolt
        message.turns_engaged = report.turns_engaged
        message.grasped = report.grasped
        message.pose.header = message.header
        message.pose.pose = pose_message(report.pose)
        message.message = report.message
        self._publisher.publish(message)


def changed(before: NutReport, after: NutReport) -> bool:
    """Whether there is something new to say."""
    said = (before.status, before.bolt, before.message) != (
        after.status,
        after.bolt,
        after.message,
    )
    return said or not np.array_equal(before.pose, after.pose)


def main() -> int:
    """Run the node until it is told to end."""
    return run_node(lambda: [NutWorldNode()], (TasksError,), NAP)
