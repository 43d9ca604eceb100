# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""ROS node arm_viewer: shows the standard topics in a browser.

Everything here runs in the executor's thread; a user's actions arrive through the mailbox.
Pictures are made at most 30 times a second, 5 times while nobody looks, and only after something
arrived.

The executable `viewer`: starts the node, and ends cleanly on SIGINT and SIGTERM at any moment.

No exception is ever raised from a signal handler: it could land in code that swallows it. Before
rclpy is up a signal ends the process at once, for there is nothing to clean up; afterwards rclpy
shuts its context down on a signal, and whatever then fails or returns leads to the clean end.

The viewer node's parameters: one row each, all fixed at the start.
"""

from __future__ import annotations

import math
import os
import signal
import sys
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from arm_common.ros.executor import QUIET, PolledSubscriptions
from arm_common.ros.tf import TfListener
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from arm_viewer.browser.cameras import watch_clients
from arm_viewer.browser.panel import Panel, PanelActions
from arm_viewer.browser.scene_drawer import SceneDrawer
from arm_viewer.browser.server import CallbackQueue, address_of, close_server, open_server
from arm_viewer.browser.view import SceneView
from arm_viewer.errors import ViewerError
from arm_viewer.ros.controls import Controls
from arm_viewer.ros.joint_commands import DriverCommander, SliderCommander, SliderPublisher
from arm_viewer.ros.layer_switches import LayerSwitches
from arm_viewer.ros.subscriptions import SceneSubscriptions
from arm_viewer.scene.meshes import MeshFiles, share_folder
from arm_viewer.scene.robot import PostureBook, VisualRobot
from arm_viewer.scene.store import SceneStore, WatchedTree, poses_in
from arm_viewer.scene.tool_trace import ToolTrace

if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

    from rclpy.executors import Executor

# mypy: disable-error-code="no-untyped-call"


LOCAL = ("127.0.0.1", "localhost", "::1")
LONGEST_WAIT = 0.5  # s
NAP = 0.02  # s; a picture is made every 33 ms at most


def main() -> NoReturn:
    """Run the viewer; exit code 0 after a signal, 1 with one sentence if it cannot start."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _on_signal)
    import rclpy
    from arm_common.ros.executor import StaticExecutor
    from rclpy.utilities import try_shutdown

    pass  # moved

    rclpy.init()
    _Signals.rclpy_is_up = True
    try:
        code = _run(ViewerNode, StaticExecutor(NAP))
    finally:
        try_shutdown()
    sys.exit(code)


class _Signals:
    rclpy_is_up = False


def _on_signal(number: int, frame: FrameType | None) -> None:
    if not _Signals.rclpy_is_up:
        os._exit(0)


def _run(make_node: type[ViewerNode], executor: Executor) -> int:
    from rclpy.exceptions import ParameterException
    from rclpy.logging import get_logger

    from arm_description import DescriptionError
    from arm_viewer.errors import ViewerError

    node = None
    try:
        node = make_node()
        address = node.start()
        executor.add_node(node)
        if executor.context.ok():
            _announce(node, address)
        while executor.context.ok():
            # With a bound, for rclpy may miss the signal while it waits for ever.
            executor.spin_once(timeout_sec=LONGEST_WAIT)
    except (ViewerError, DescriptionError, ParameterException) as error:
        get_logger("arm_viewer").fatal(str(error))
        return 1
    except Exception:
        if executor.context.ok():
            raise  # A fault; otherwise a step that failed because a signal ended the context.
    finally:
        executor.shutdown()
        if node is not None:
            node.stop()
    return 0


def _announce(node: ViewerNode, address: str) -> None:
    logger = node.get_logger()
    logger.info(f"Browser view: {address}")
    if node.parameters.host not in LOCAL:
        moves = ", and moves it" if node.parameters.sliders or node.parameters.drive else ""
        logger.warning(
            f"host is {node.parameters.host}: whoever reaches this machine by network sees the "
            f"robot{moves}; there is no password"
        )


@dataclass(frozen=True)
class ViewerParameters:
    """The values; each field's description is in `DESCRIPTIONS`, the defaults are here."""

    host: str = "127.0.0.1"
    port: int = 8080
    robot: str = ""
    sliders: bool = False
    drive: bool = False
    fixed_frame: str = ""
    tool_frame: str = "tool0"
    marker_topics: tuple[str, ...] = ("scene_markers", "kinematics_markers")
    show_axes: bool = True
    show_labels: bool = False
    show_trace: bool = True


DESCRIPTIONS = {
    "host": "Address to serve at; 127.0.0.1: this machine only, 0.0.0.0: the whole network.",
    "port": "First TCP port to try, then the next free one; 0: any free port.",
    "robot": "Robot whose postures get buttons: a shipped name or the path of a YAML file.",
    "sliders": "Publish joint_states, moved by a slider a joint; only where nothing else does.",
    "drive": "Move the arm through its driver: sliders, handle, jogging, tasks; not with sliders.",
    "fixed_frame": "Frame that stands still in the picture; empty: the robot's root link.",
    "tool_frame": "Frame whose position is written and whose path is drawn.",
    "marker_topics": "Topics of visualization_msgs/MarkerArray to draw.",
    "show_axes": "Whether frames are drawn at first; the panel has a switch.",
    "show_labels": "Whether frames carry their names at first; the panel has a switch.",
    "show_trace": "Whether the tool's path is drawn at first; the panel has a switch.",
}


def declare(node: Node) -> ViewerParameters:
    """Declare all parameters of the viewer and return their values.

    Raises:
        rclpy.exceptions.ParameterException: If one was given a value of another type.
    """
    return ViewerParameters(
        **{f.name: _declare(node, f.name, f.default) for f in fields(ViewerParameters)}
    )


def _declare(node: Node, name: str, default: Any) -> Any:
    descriptor = ParameterDescriptor(description=DESCRIPTIONS[name], read_only=True)
    if isinstance(default, tuple):
        return tuple(node.declare_parameter(name, list(default), descriptor).value)
    return node.declare_parameter(name, default, descriptor).value


# mypy: disable-error-code="no-untyped-call"


PICTURES_PER_SECOND = 30.0
NUMBERS_EVERY = 6  # Pictures from one update of the panel's numbers to the next.
UNSEEN_EVERY = NUMBERS_EVERY  # Of these one is made while nobody looks: the tool's path goes on.
SLIDING = 15  # Pictures after a person moved a slider, in which no slider moves by itself.
JOINT_STATES = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
MOST_COMPLAINTS = 200  # Kept in mind, so as not to repeat them.


class ViewerNode(Node):
    """Draws what it hears, and moves the arm if it may. `start` begins, `stop` frees the port.

    Subscribes:
        tf, tf_static, and what Hearing does; joint_states, or with sliders joint_targets
        (sensor_msgs/JointState), where the sliders go to.

    Publishes:
        joint_states (sensor_msgs/JointState), only with sliders;
        arm_controller/joint_trajectory (trajectory_msgs/JointTrajectory), only with drive;
        arm_hardware/stop_now (std_msgs/Empty), with either.
    """

    def __init__(self) -> None:
        super().__init__("arm_viewer")
        self.parameters = declare(self)
        self._mailbox = CallbackQueue()
        self._values: dict[str, float] = {}
        self._complaints: set[str] = set()
        self._picture_due = self._numbers_due = True
        self._pictures = 0
        self._sliders_moved = False
        self._slid = -SLIDING
        self._server: Any = None
        self._joints = (
            PolledSubscriptions()
        )  # joint_states wait until numbers are shown, or joints moved

    def start(self) -> str:
        """Open the server, subscribe, and return the address to look at.

        Raises:
            ViewerError: If the server cannot be opened.
            DescriptionError: If the parameter `robot` names no robot.
        """
        parameters = self.parameters
        if parameters.sliders and parameters.drive:
            raise ViewerError(
                "parameters sliders and drive: the view publishes joint_states, or the arm's "
                "driver does; set one of them"
            )
        self._book = PostureBook(parameters.robot)
        self._sliders = SliderPublisher(self, self._book.rest) if parameters.sliders else None
        self._server = open_server(parameters.host, parameters.port)
        self._stage = self._set_stage(self._server)
        self._controls = self._set_controls(self._server)
        self._switches = LayerSwitches(self, self._server, self._mailbox)
        self._tf = TfListener(self)
        self._tf.tree = WatchedTree(partial(self._touch, numbers=False))
        self._subscribe()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(1.0 / PICTURES_PER_SECOND, self._picture, clock=steady)
        self._mailbox.open(self.create_guard_condition(self._on_mail).trigger)
        return address_of(self._server)

    def stop(self) -> None:
        """Close the server and free its port."""
        self._mailbox.close()
        if self._server is not None:
            close_server(self._server)

    def _set_stage(self, server: Any) -> SceneView:
        switches = {
            "axes": self.parameters.show_axes,
            "labels": self.parameters.show_labels,
            "trace": self.parameters.show_trace,
        }
        meshes, book = MeshFiles(share_folder), self._book
        trace = ToolTrace()
        drawer = SceneDrawer(server, meshes, switches, lambda: book.poses)
        actions = PanelActions(drawer.switch, self._move, self._posture, trace.clear)
        moves = self.parameters.sliders or self.parameters.drive
        panel = Panel(server, self._mailbox, actions, switches, moves)
        watch_clients(server, drawer.cameras, self._mailbox)
        tool = self.parameters.tool_frame
        return SceneView(
            SceneStore(), drawer, panel, trace, tool, self._robot_drawn, self._complain
        )

    def _set_controls(self, server: Any) -> Controls | None:
        if self._sliders is None and not self.parameters.drive:
            return None
        sliders = self._sliders
        return Controls(
            self,
            server,
            self._mailbox,
            DriverCommander(self) if sliders is None else SliderCommander(sliders),
            self.parameters.tool_frame,
            self._say,
            self._joints.take,
            handle=sliders is not None,
        )

    def _subscribe(self) -> None:
        topics = self.parameters.marker_topics
        SceneSubscriptions(self, self._stage, topics, self._touch, self._on_saved, self._complain)
        if self._sliders is None:
            self._joints.subscribe(self, JointState, "joint_states", self._on_joints, JOINT_STATES)
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self.create_timer(NUMBERS_EVERY / PICTURES_PER_SECOND, self._joints.take, clock=steady)
        else:
            self.create_subscription(
                JointState, "joint_targets", self._on_targets, 10, event_callbacks=QUIET
            )

    def _on_saved(self) -> None:
        """Take postures from a robot file that was saved."""
        robot = self._stage.store.robot
        if self._book.reload() and robot:
            self._robot_drawn(robot)

    def _on_joints(self, message: JointState) -> None:
        values = dict(zip(message.name, message.position, strict=False))
        if not values.items() <= self._values.items():
            self._values |= values
            self._sliders_moved = self.parameters.drive
            if self._controls is not None:
                self._controls.set_values(self._values)
            self._touch()

    def _on_targets(self, message: JointState) -> None:
        if self._sliders is None or (self._controls is not None and self._controls.stopped):
            return
        try:
            self._sliders.follow(message)
        except ViewerError as error:
            self._complain(error)
        self._sliders_moved = True
        self._touch()

    def _on_mail(self) -> None:
        try:
            self._mailbox.drain()
        except ViewerError as error:
            self._complain(error)
        self._touch()

    def _move(self, joint: str, value: float) -> None:
        if self._controls is not None:
            self._controls.move({joint: value})
            self._slid = self._pictures
            self._touch()

    def _posture(self, name: str) -> None:
        if self._controls is not None:
            self._controls.move(self._book.postures[name])
            self._sliders_moved = True
            self._touch()

    def _say(self, key: str, text: str) -> None:
        """Show a line of text at the top of the panel."""
        self._stage.store.set_text(key, text)
        self._sliders_moved = True
        self._touch()

    def _robot_drawn(self, robot: VisualRobot) -> None:
        if self._sliders is not None:
            self._sliders.set_robot(robot)
            self._values = self._sliders.values()
        if self._controls is not None:
            self._controls.set_robot(robot)
            self._controls.set_values(self._values)
        self._stage.panel.set_robot(robot, self._values, tuple(self._book.postures))

    def _touch(self, numbers: bool = True) -> None:
        """Make a picture soon, and write the panel's numbers even if nothing moved."""
        self._picture_due = True
        self._numbers_due |= numbers
        if self._timer.is_canceled():
            self._timer.reset()

    def _picture(self) -> None:
        """Make a picture if something arrived; rest from now on if nothing is left to do."""
        self._pictures += 1
        if self._pictures % UNSEEN_EVERY and not self._server.get_clients():
            return
        markers = self._stage.store.markers
        if self._picture_due or markers.next_expiry() <= self._now():
            self._draw()
        if self._numbers_due and self._pictures % NUMBERS_EVERY == 0:
            self._numbers_due = False
            self._write_numbers()
        if not self._numbers_due and math.isinf(markers.next_expiry()):
            self._timer.cancel()

    def _write_numbers(self) -> None:
        values = self._values if self._sliders is None else self._sliders.values()
        self._stage.write_numbers(values)
        if self._controls is not None:
            self._controls.set_values(values)
        if not self._sliders_moved:
            return
        if self._pictures <= self._slid + SLIDING:
            self._numbers_due = True  # Again, when nobody holds a slider any more.
            return
        self._sliders_moved = False
        self._stage.panel.set_sliders(values)

    def _draw(self) -> None:
        self._picture_due = False
        robot = self._stage.store.robot
        fixed = self.parameters.fixed_frame or ("" if robot is None else robot.root)
        changed = self._stage.draw(fixed, poses_in(self._tf.tree, fixed), self._now())
        self._numbers_due |= changed
        if self._controls is not None:
            tool = self._stage.store.frames.get(self.parameters.tool_frame)
            self._controls.set_tool(fixed, tool, self._stage.drawer.size)

    def _complain(self, error: ViewerError) -> None:
        """Log a problem, once for as long as it is the same."""
        if str(error) not in self._complaints:
            if len(self._complaints) >= MOST_COMPLAINTS:
                self._complaints.clear()
            self._complaints.add(str(error))
            self.get_logger().warning(str(error))

    def _now(self) -> float:
        return 1e-9 * float(self.get_clock().now().nanoseconds)
