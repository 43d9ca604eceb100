# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shows a robot that is being edited: in the picture at once, and to the state publisher."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from arm_common.ros.qos import STEADY_CLOCK
from arm_common.ros.service_client import ServiceClient
from arm_common.ros.tf import TransformTree
from arm_description.robot_model import RobotModel
from arm_description.ros.description import POLL_PERIOD, DescriptionSender
from arm_description.urdf.kinematics import joint_pose
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_viewer.errors import ViewerError
from arm_viewer.port import ShownPage
from arm_viewer.ros.joint_commands import SliderPublisher
from arm_viewer.scene.robot import VisualRobot, read_robot


class RobotDisplay:
    """Draws robots, and sends them to robot_state_publisher; sends files to robot_file_watcher.

    The way through the state publisher and back takes two messages and the time of every other
    node that receives the robot. So the picture does not wait for it.

    Args:
        node: of the page.
        page: draws them, and says why one cannot be shown.
        tree: the frames of what is drawn.
        sliders: the positions of its joints.
    """

    def __init__(
        self, node: Node, page: ShownPage, tree: TransformTree, sliders: SliderPublisher
    ) -> None:
        self._page, self._tree, self._sliders = page, tree, sliders
        self._report = partial(page.show_text, "file")
        self._drawn = ""  # the description drawn last
        self._sender = DescriptionSender(node, "robot_state_publisher", self._report)
        self._watcher = ServiceClient(node, SetParameters, "robot_file_watcher/set_parameters")
        self._timer = node.create_timer(POLL_PERIOD, self._send_again, clock=STEADY_CLOCK)

    def show(self, model: RobotModel) -> None:
        """Show a robot."""
        self._drawn = model.to_urdf(self._page.postures.prefix, dh_frames=True)
        try:
            self._draw(read_robot(self._drawn))
        except ViewerError as error:
            self._report(str(error))
            return
        self._sender.send(self._drawn)
        self._timer.reset()

    def _draw(self, robot: VisualRobot) -> None:
        self._page.store.set_robot(robot)
        self._sliders.set_robot(robot)
        values = self._sliders.values()
        for link, joint in robot.carriers.items():
            self._tree.set(joint.parent, link, joint_pose(joint, values.get(joint.name, 0.0)))

    def _send_again(self) -> None:
        if self._sender.is_busy:
            self._sender.poll()
        else:
            self._timer.cancel()

    def is_drawn(self, urdf: str) -> bool:
        """Return whether a description that arrives is drawn already, or older than what is."""
        if self._sender.is_busy or urdf == self._drawn:
            return True
        self._drawn = ""
        return False

    def watch(self, path: Path) -> None:
        """Let the watcher follow another file."""
        robot = Parameter("robot", value=str(path))
        self._watcher.send(parameters=[robot.to_parameter_msg()])
