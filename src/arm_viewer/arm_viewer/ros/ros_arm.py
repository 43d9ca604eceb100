# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The port of a page to an arm in a ROS graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.names import remember_positions
from arm_common.ros.qos import GOAL, JOINT_STATES, STEADY_CLOCK
from arm_common.ros.tf import TfListener
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty, String
from std_srvs.srv import Trigger

from arm_viewer.errors import ViewerError
from arm_viewer.page.render_loop import FRAME_RATE, NUMBERS_EVERY
from arm_viewer.port import (
    IkRequest,
    PageLogger,
    PageTimer,
    ResponseCallback,
    ShownPage,
    Where,
)
from arm_viewer.ros.joint_commands import DriverCommander, SliderPublisher
from arm_viewer.ros.panels.driver_panel import DriverPanel
from arm_viewer.ros.panels.layer_switches import ContactSwitch, LayerSwitches
from arm_viewer.ros.panels.task_panel import TaskPanel, TeachPanel
from arm_viewer.ros.parameters import ViewerParameters
from arm_viewer.ros.robot_display import RobotDisplay
from arm_viewer.ros.service_client import IkClient, ServiceClient
from arm_viewer.ros.shared_control import SharedControl
from arm_viewer.ros.subscriptions import SceneSubscriptions
from arm_viewer.ros.tasks import RosTasks
from arm_viewer.scene.robot import VisualRobot

# mypy: disable-error-code="no-untyped-call"

NO_CONTROL = "This page shows the arm and moves nothing."


class RosArm:
    """What topics tell of an arm; moved by the page's own joint_states, or by its driver.

    Subscribes:
        tf, tf_static, and the topics of SceneSubscriptions; joint_states, or with sliders
        joint_targets (sensor_msgs/JointState), the sliders' target positions.

    Publishes:
        joint_states (sensor_msgs/JointState), only with sliders and without a driver;
        arm_controller/joint_trajectory (trajectory_msgs/JointTrajectory), only with drive;
        arm_hardware/emergency_stop (std_msgs/Empty), with either; scene_file/edited
        (std_msgs/String), only with a scene.

    Args:
        node: of the page.
        parameters: of the node.

    Raises:
        ViewerError: The parameters contradict each other.
    """

    def __init__(self, node: Node, parameters: ViewerParameters) -> None:
        if parameters.sliders and parameters.drive:
            raise ViewerError(
                "parameters sliders and drive: the view publishes joint_states, or the arm's "
                "driver does; set one of them"
            )
        self._node, self._parameters = node, parameters
        driven = Where.RUNNING if parameters.drive else Where.WATCHING
        self.where = Where.ALONE if parameters.sliders else driven
        self.logger: PageLogger = node.get_logger()
        self._values: dict[str, float] = {}
        self._joint_states = PolledSubscriptions()  # until numbers or joints need them
        self._emergency_stop = (
            node.create_publisher(Empty, "arm_hardware/emergency_stop", 10)
            if self.where & Where.MOVING
            else None
        )
        self._tasks = RosTasks(node) if self.where & Where.MOVING else None
        self._driver_reset = ServiceClient(node, Trigger, "arm_hardware/reset", qos=GOAL)
        self._ik = IkClient(node, parameters.tool_frame or f"{parameters.prefix}tool0")
        self._sliders: SliderPublisher | None = None
        self._shared: SharedControl | None = None
        self._driver: DriverCommander | None = None
        self._display: RobotDisplay | None = None
        self._scene = (
            node.create_publisher(String, "scene_file/edited", 10) if parameters.scene else None
        )

    def now(self) -> float:
        """Return the node's time [s]."""
        return 1e-9 * float(self._node.get_clock().now().nanoseconds)

    def every(self, period: float, action: Callable[[], None]) -> PageTimer:
        """Return a timer that calls an action once in a period of wall time [s]."""
        timer: PageTimer = self._node.create_timer(period, action, clock=STEADY_CLOCK)
        return timer

    def waker(self, action: Callable[[], None]) -> Callable[[], None]:
        """Return the trigger of a guard condition."""
        trigger: Callable[[], None] = self._node.create_guard_condition(action).trigger
        return trigger

    def open(self, page: ShownPage) -> None:
        """Subscribe, and add the panels of a driver and a kinematics node."""
        node = self._node
        self._page = page
        if self.where & Where.MOVING:
            self._add_panels(page)
        LayerSwitches(node, page.gui)
        self._tf = TfListener(node, on_set=page.frames_moved)
        if self._sliders is not None and self._parameters.robot:
            self._display = RobotDisplay(
                node,
                page.store,
                self._tf.tree,
                self._sliders,
                self._parameters.prefix,
                partial(page.show_text, "file"),
            )
        is_drawn = self._display.is_drawn if self._display else lambda urdf: False
        topics = SceneSubscriptions(node, page, self._parameters.marker_topics, is_drawn)
        if self._sliders is None:
            states, callback = self._joint_states, self._on_joint_states
            states.subscribe(node, JointState, "joint_states", callback, JOINT_STATES)
            node.create_timer(NUMBERS_EVERY / FRAME_RATE, states.take, clock=STEADY_CLOCK)
        ContactSwitch(node, page.gui, topics.switch_markers)

    def _add_panels(self, page: ShownPage) -> None:
        """Add the panels that move the arm, and what commands it."""
        node, postures = self._node, page.postures
        if self._tasks is not None:
            _add_task_panels(page, self._tasks)
        with page.gui.part("Driver"):
            DriverPanel(node, page)
        if self.where is Where.ALONE:
            self._sliders = SliderPublisher(node, postures.home)
            self._shared = SharedControl(node, page, self._sliders)
        else:
            self._driver = DriverCommander(node, self.positions, width_at=postures.width_at)

    def frames(self, fixed: str) -> Mapping[str, Array]:
        """Return the pose (4, 4) of each frame of tf in a fixed one."""
        return self._tf.tree.poses_in(fixed)

    def positions(self) -> Mapping[str, float]:
        """Return the newest position of each joint, by name [rad or m]."""
        if self._shared is not None:
            return self._shared.positions()
        self._joint_states.take()
        return self._values

    def set_robot(self, robot: VisualRobot, tool: str) -> None:
        """Move the joints of another robot."""
        if self._sliders is not None:
            self._sliders.set_robot(robot)
        if (commander := self._shared or self._driver) is not None:
            commander.set_arm(robot.joints_to(tool), robot.constraints)

    def move(self, joints: Mapping[str, float]) -> str:
        """Move joints, by name [rad or m]; return why they cannot move, or ""."""
        commander = self._shared or self._driver
        return NO_CONTROL if commander is None else commander.move(joints)

    def solve(
        self, frame: str, pose: Array, request: IkRequest, on_response: ResponseCallback
    ) -> bool:
        """Call kinematics/solve_ik; return False if no node provides it."""
        return self._ik.send(frame, pose, request, on_response)

    def stop(self) -> None:
        """Stop the driver, and the task of a task server."""
        if self._emergency_stop is not None:
            self._emergency_stop.publish(Empty())
        if self._tasks is not None:
            self._tasks.stop()

    def reset(self) -> None:
        """Allow the driver to move again."""
        report = partial(self._page.show_text, "driver")
        self._driver_reset.call(lambda response: report(response.message))

    def limited(self, model: RobotModel) -> RobotModel:
        """Return a robot with the limits of its driver where those are narrower."""
        return model if self._shared is None else self._shared.limited(model)

    def describe(self, model: RobotModel) -> None:
        """Draw a robot, and send it to the state publisher."""
        if self._display is not None:
            self._display.show(model)

    def watch(self, path: Path) -> None:
        """Let robot_file_watcher follow another file."""
        if self._display is not None:
            self._display.watch(path)

    def send_scene(self, text: str) -> None:
        """Publish the text of a scene file to the node that shows the scene."""
        if self._scene is not None:
            self._scene.publish(String(data=text))

    def _on_joint_states(self, message: JointState) -> None:
        values: dict[str, float] = {}
        remember_positions(values, message.name, message.position)
        if not values.items() <= self._values.items():
            remember_positions(self._values, values, values.values())
            self._page.joints_moved()


def _add_task_panels(page: ShownPage, tasks: RosTasks) -> None:
    """Add the panels of a task server, which appear with it and replace the task's line."""
    on_server: list[Callable[[], None]] = [partial(page.remove_row, "task")]
    with page.gui.part("Teach"):
        on_server.append(TeachPanel(tasks, page.gui).show)

    def show_server() -> None:
        for show in on_server:
            show()

    with page.gui.part("Task"):
        TaskPanel(tasks, page.gui, show_server)
