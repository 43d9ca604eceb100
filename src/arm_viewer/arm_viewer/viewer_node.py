# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""ROS node arm_viewer: shows the standard topics in a browser.

Everything here runs in the executor's thread; a user's actions arrive through the mailbox.
Pictures are made at most 30 times a second, 5 times while nobody looks, and only after something
arrived.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
from functools import partial
from typing import Any

from arm_description.on_demand import OnDemand
from arm_description.static_executor import QUIET
from arm_description.tf_listener import TfListener
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from .cameras import watch_clients
from .commanders import DriverCommander, SliderCommander
from .controls import Controls
from .errors import ViewerError
from .frame_poses import WatchedTree, poses_in
from .hearing import Hearing
from .layer_switches import LayerSwitches
from .mailbox import Mailbox
from .mesh_files import MeshFiles, share_folder
from .panel import Panel, PanelActions
from .parameters import declare
from .postures import PostureBook
from .robot_picture import RobotPicture
from .scene_drawer import SceneDrawer
from .scene_store import SceneStore
from .slider_publisher import SliderPublisher
from .stage import Stage
from .tool_trace import ToolTrace
from .view_server import address_of, close_server, open_server

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
        self._mailbox = Mailbox()
        self._values: dict[str, float] = {}
        self._complaints: set[str] = set()
        self._picture_due = self._numbers_due = True
        self._pictures = 0
        self._sliders_moved = False
        self._slid = -SLIDING
        self._server: Any = None
        self._joints = OnDemand()  # joint_states wait until numbers are shown, or joints moved

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

    def _set_stage(self, server: Any) -> Stage:
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
        return Stage(SceneStore(), drawer, panel, trace, tool, self._robot_drawn, self._complain)

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
        Hearing(self, self._stage, topics, self._touch, self._on_saved, self._complain)
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

    def _robot_drawn(self, robot: RobotPicture) -> None:
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
