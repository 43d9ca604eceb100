# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/ros/test_port.py
"""ROS node arm_viewer: shows the standard topics in a browser, and moves the arm from there.

`RosArm` is the port of its page to the arm in the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

from arm_common.network import LAST_PORT
from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.names import prefix_parameter, remember_positions
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import GOAL, JOINT_STATES, STEADY_CLOCK
from arm_common.ros.service_client import ServiceClient
from arm_common.ros.tf import TfListener
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty, String
from std_srvs.srv import Trigger

from arm_viewer.errors import ViewerError
from arm_viewer.page.arm_page import SHOWS_ONLY, ArmPage, PageSettings
from arm_viewer.page.render_loop import FRAME_RATE, NUMBERS_EVERY
from arm_viewer.port import IkRequest, PageLogger, PageTimer, ResponseCallback, ShownPage, Where
from arm_viewer.ros.driver_panel import DriverPanel, SharedControl
from arm_viewer.ros.joint_commands import DriverCommander, SliderPublisher
from arm_viewer.ros.page_services import IkClient
from arm_viewer.ros.robot_display import RobotDisplay
from arm_viewer.ros.subscriptions import LayerSwitches, SceneSubscriptions
from arm_viewer.ros.task_panel import RosTasks, TaskPanel, TeachPanel
from arm_viewer.scene.robot import VisualRobot

# mypy: disable-error-code="no-untyped-call"

BATCH_DELAY = 0.02  # [s], shorter than the 33 ms between two frames


@dataclass(frozen=True)
class ViewerParameters:
    """Parameters of the node."""

    host: str = parameter(
        "127.0.0.1",
        "Address to serve at; 127.0.0.1: this machine only, 0.0.0.0: the whole network.",
    )
    port: int = parameter(
        8080,
        "First TCP port to try, then the next free one; 0: any free port.",
        low=0,
        high=LAST_PORT,
    )
    allowed_hosts: str = parameter(
        "",
        "Names of this computer in the address of the page, separated by spaces, besides its host "
        "name; IP addresses and localhost always work.",
    )
    robot: str = parameter(
        "", "Robot whose postures get buttons: a shipped name or the path of a YAML file."
    )
    mesh_path: str = parameter(
        "",
        "Folders, separated by colons, whose meshes a robot description or a marker may name by "
        "path; others only those of installed packages and in the folder of robot.",
    )
    scene: str = parameter("", "Scene whose file the page edits, name or path.")
    sliders: bool = parameter(
        False,
        "Publish joint_states, moved by a slider for each joint, while no driver does.",
    )
    drive: bool = parameter(
        False,
        "Move the arm through its driver: sliders, handle, jogging, tasks; not with sliders.",
    )
    opened_file: str = parameter(
        "", "File that the view creates when a browser first opens its page; empty: none."
    )
    fixed_frame: str = parameter(
        "", "Frame that is fixed in the picture; empty: the robot's root link."
    )
    prefix: str = prefix_parameter()
    tool_frame: str = parameter(
        "",
        "Frame whose position is written and whose path is drawn; empty: tool0, with the prefix.",
    )
    marker_topics: tuple[str, ...] = parameter(
        ("scene_markers", "task_markers", "kinematics_markers"),
        "Topics of visualization_msgs/MarkerArray to draw.",
    )
    portrait: bool = parameter(False, "Fill the picture with the arm as it stands at first.")
    show_axes: bool = parameter(True, "Whether frames are drawn at first; the panel has a switch.")
    show_labels: bool = parameter(
        False, "Whether frames carry their names at first; the panel has a switch."
    )
    show_trace: bool = parameter(
        True, "Whether the tool's path is drawn at first; the panel has a switch."
    )


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
        self._driver_reset = ServiceClient(node, Trigger, "arm_hardware/reset", GOAL)
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
            self._display = RobotDisplay(node, page, self._tf.tree, self._sliders)
        is_drawn = self._display.is_drawn if self._display else lambda urdf: False
        SceneSubscriptions(node, page, self._parameters.marker_topics, is_drawn)
        if self._sliders is None:
            states, callback = self._joint_states, self._on_joint_states
            states.subscribe(node, JointState, "joint_states", callback, JOINT_STATES)
            node.create_timer(NUMBERS_EVERY / FRAME_RATE, states.take, clock=STEADY_CLOCK)

    def _add_panels(self, page: ShownPage) -> None:
        """Add the panels that move the arm, and what commands it."""
        node, postures = self._node, page.postures
        if self._tasks is not None:
            TaskPanel(self._tasks, page.gui, TeachPanel(self._tasks, page.gui).show)
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
        return SHOWS_ONLY if commander is None else commander.move(joints)

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
        self._driver_reset.send(lambda response: report(response.message))

    def limited(self, model: RobotModel) -> RobotModel:
        """Return a robot with the limits of its driver where those are narrower."""
        return model if self._shared is None else self._shared.limited(model)

    def describe(self, model: RobotModel) -> None:
        """Draw a robot, and send it to the state publisher."""
        if self._display is not None:
            self._display.show(model)

    def begin(self, positions: Mapping[str, float]) -> None:
        """Set the initial joint positions of the next robot, by name [rad or m]."""
        if self._sliders is not None:
            self._sliders.begin(positions)

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


class ViewerNode(Node):
    """A page of the arm in this namespace; `RosArm` lists topics. `destroy_node` closes it."""

    def __init__(self) -> None:
        super().__init__("arm_viewer")
        self._chosen = declare(self, ViewerParameters)
        self._page: ArmPage | None = None

    def start(self) -> None:
        """Open the page.

        Raises:
            ViewerError: The server cannot be opened, or parameters contradict each other.
            DescriptionError: The parameter `robot` names no robot.
        """
        values = {f.name: getattr(self._chosen, f.name) for f in fields(PageSettings)}
        arm = RosArm(self, self._chosen)
        self._page = ArmPage(PageSettings(**values), arm)
        self._page.open()

    def announce(self) -> bool:
        """Write the address of the page; return True."""
        if self._page is not None:
            self._page.announce()
        return True

    def destroy_node(self) -> None:
        """Close the page, and destroy the node."""
        if self._page is not None:
            self._page.close()
            self._page = None
        super().destroy_node()


def main() -> int:
    """Run the node; return the exit code: 0 after a signal, 1 if it cannot start."""
    nodes: list[ViewerNode] = []

    def make() -> Iterator[Node]:
        nodes.append(ViewerNode())
        yield nodes[0]
        nodes[0].start()

    return run_node(make, (ViewerError,), BATCH_DELAY, begin=lambda _: nodes[0].announce())


if __name__ == "__main__":
    sys.exit(main())
