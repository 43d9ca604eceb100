# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""ROS node arm_viewer: shows the standard topics in a browser, and moves the arm from there.

Everything runs in the executor's thread; the users' actions arrive through a queue.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from arm_common.files.access import installed_share
from arm_common.files.requests import RestrictedFiles, folders_in
from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.names import remember_positions
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare
from arm_common.ros.qos import JOINT_STATES, STEADY_CLOCK
from arm_common.ros.tf import TfListener
from arm_description.urdf.optional.shape_meshes import shape_folder
from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_description import RobotModel, load_robot, robot_path
from arm_viewer.browser.access import make_access
from arm_viewer.browser.callbacks import CallbackQueue, PanelGui
from arm_viewer.browser.cameras import watch_clients
from arm_viewer.browser.panel import Panel, PanelActions
from arm_viewer.browser.render_loop import FRAME_RATE, NUMBERS_EVERY, RenderLoop
from arm_viewer.browser.scene_drawer import SceneDrawer
from arm_viewer.browser.server import (
    address_of,
    close_server,
    free_after_visits,
    mark_first_visit,
    open_server,
)
from arm_viewer.browser.view import SceneView
from arm_viewer.control.command_table import CommandTable
from arm_viewer.control.robot_editing import RobotEditing, changed_at
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import PanelContext, PanelHost, PanelState, Where
from arm_viewer.ros.joint_commands import DriverCommander, SliderPublisher
from arm_viewer.ros.panels.controls import Controls
from arm_viewer.ros.panels.layer_switches import ContactSwitch, LayerSwitches
from arm_viewer.ros.panels.registry import panel_entries
from arm_viewer.ros.panels.stop_panel import StopPanel
from arm_viewer.ros.parameters import ViewerParameters
from arm_viewer.ros.robot_display import RobotDisplay
from arm_viewer.ros.shared_control import SharedControl
from arm_viewer.ros.subscriptions import SceneSubscriptions
from arm_viewer.scene.meshes import MeshFiles
from arm_viewer.scene.robot import PostureBook, VisualRobot
from arm_viewer.scene.store import SceneStore
from arm_viewer.scene.tool_trace import ToolTrace

if TYPE_CHECKING:
    import viser

# mypy: disable-error-code="no-untyped-call"

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
BATCH_DELAY = 0.02  # [s], shorter than the 33 ms between two frames
SLIDER_HOLD = 15  # frames after a user moved a slider, in which no slider moves by itself
FOLDER_PERIOD = 2.0  # [s] after which panels list new files in the folder of the robot
SHOWS_ONLY = "This page shows the arm and moves nothing."
DROPPED_SHOWN = 10.0  # [s]
MAX_REPORTED = 200  # problems that are remembered and not logged again


class ViewerNode(Node):
    """Draws the received scene and moves the arm; `destroy_node` closes the server.

    Subscribes:
        tf, tf_static, and the topics of SceneSubscriptions; joint_states, or with sliders
        joint_targets (sensor_msgs/JointState), the sliders' target positions.

    Publishes:
        joint_states (sensor_msgs/JointState), only with sliders and without a driver;
        arm_controller/joint_trajectory (trajectory_msgs/JointTrajectory), only with drive;
        arm_hardware/emergency_stop (std_msgs/Empty), with either.
    """

    def __init__(self) -> None:
        super().__init__("arm_viewer")
        self.parameters = declare(self, ViewerParameters)
        self._tool = self.parameters.tool_frame or f"{self.parameters.prefix}tool0"
        self._queue = CallbackQueue(self._on_failed_action)
        self._values: dict[str, float] = {}
        self._reported: set[str] = set()
        self._sliders_moved = False
        self._left_out: list[str] = []  # folders
        self._dropped_until = 0.0  # until when a dropped command is shown [s]
        self._written: dict[str, float] = {}  # the joint positions that the panel shows
        self._last_slider_tick = -SLIDER_HOLD
        self._server: viser.ViserServer | None = None
        self._joint_states = PolledSubscriptions()  # until numbers or joints need them

    def start(self) -> None:
        """Open the server and subscribe.

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
        self._postures = PostureBook(parameters.robot, parameters.prefix)
        self._sliders = SliderPublisher(self, self._postures.home) if parameters.sliders else None
        access = make_access(parameters.host, parameters.allowed_hosts.split())
        self._server = server = open_server(parameters.host, parameters.port, access)
        self._gui = PanelGui(server, self._queue, access)
        self._gui.failed = self._leave_out
        self._store = SceneStore()
        self._loop = RenderLoop(
            self._draw,
            self._write_numbers,
            lambda: bool(server.get_clients()),
            self._store.markers.next_expiry,
            self._now,
        )
        moves = parameters.sliders or parameters.drive
        self._stop_panel = StopPanel(self, self._gui, self._show_status) if moves else None
        access.link.on_dropped = lambda text: self._queue.post(partial(self._show_dropped, text))
        self._view = self._make_view(server)
        self._shared = (
            SharedControl(
                *(self, self._gui, self._sliders, self._postures, self._store),
                self._on_moved_sliders,
                lambda: self._controls is not None and self._controls.stopped,
            )
            if self._sliders is not None
            else None
        )
        self._controls: Controls | None = None
        with self._gui.part("Tool"):
            self._controls = self._make_controls(server)
        LayerSwitches(self, self._gui)
        self._tf = TfListener(self, on_set=partial(self._loop.request_redraw, numbers=False))
        self._display = self._make_display()
        self._editing = self._make_editing()
        self._panels = PanelHost(self._gui, self._panel_context())
        self._panels.add(panel_entries(self, parameters.panels.split()), self._where)
        self._subscribe()
        ContactSwitch(self, self._gui, self._topics.switch_markers)
        self._loop.timer = self.create_timer(1.0 / FRAME_RATE, self._loop.tick, clock=STEADY_CLOCK)
        free_after_visits(server)
        mark_first_visit(server, parameters.opened_file)
        self._queue.open(self.create_guard_condition(self._on_user_action).trigger)
        self._address = address_of(server, access)

    def destroy_node(self) -> None:
        """Close the server, free its port, and destroy the node."""
        self._queue.close()
        if self._server is not None:
            self._panels.close()
            close_server(self._server)
            self._server = None
        super().destroy_node()

    def announce(self) -> bool:
        """Write the address, and a warning if it is reached from the network; return True."""
        if self.parameters.host not in LOCAL_HOSTS:
            moves = "" if self._controls is None else " and can stop it"
            self.get_logger().warning(
                f"host is {self.parameters.host}: everyone on the network sees the robot{moves}; "
                "the token in the address crosses the network unencrypted"
            )
        # Not logged: files of logs and /rosout must not contain the token.
        sys.stdout.write(f"Browser view: {self._address}\n")
        sys.stdout.flush()
        return True

    def _mesh_files(self) -> RestrictedFiles:
        """Return the files that URIs of meshes may name, beside those of packages."""
        robot = self.parameters.robot
        folders = [*folders_in(self.parameters.mesh_path, "mesh_path"), shape_folder()]
        folders += [robot_path(robot).resolve().parent] if robot else []
        meshes = load_robot(robot).meshes.values() if robot else ()
        uris = (uri for mesh in meshes for uri in (mesh.visual, mesh.collision))
        return RestrictedFiles(folders, (Path(unquote(urlparse(uri).path)) for uri in uris))

    def _make_view(self, server: viser.ViserServer) -> SceneView:
        switches = {
            "axes": self.parameters.show_axes,
            "labels": self.parameters.show_labels,
            "trace": self.parameters.show_trace,
        }
        postures, trace = self._postures, ToolTrace()
        meshes = MeshFiles(installed_share, self._mesh_files())
        drawer = SceneDrawer(server, meshes, switches, lambda: postures.poses)
        drawer.cameras.portrayed = postures.home_poses if self.parameters.portrait else {}
        drawer.cameras.tool = self._tool if self.parameters.sliders else ""
        actions = PanelActions(
            drawer.switch,
            self._move_joint,
            self._move_to_posture,
            trace.clear,
            drawer.cameras.look,
        )
        movable = self.parameters.sliders or self.parameters.drive
        panel = Panel(self._gui, actions, switches, movable)
        watch_clients(server, drawer.cameras, self._queue)
        return SceneView(
            self._store,
            drawer,
            panel,
            trace,
            self._tool,
            self._on_robot_drawn,
            self._report_problem,
            nut_frame=f"{self.parameters.prefix}nut",
        )

    def _make_controls(self, server: viser.ViserServer) -> Controls | None:
        if self._stop_panel is None:
            return None
        return Controls(
            self,
            server,
            self._gui,
            self._shared
            or DriverCommander(self, self._positions, width_at=self._postures.width_at),
            self._tool,
            self._show_status,
            self._positions,
            handle=self._sliders is not None,
            show_task_here=partial(self._view.panel.remove_status, "task"),
            stop_panel=self._stop_panel,
        )

    @property
    def _where(self) -> Where:
        moves = Where.RUNNING if self.parameters.drive else Where.WATCHING
        return Where.ALONE if self.parameters.sliders else moves

    def _make_display(self) -> RobotDisplay | None:
        """Return what shows an edited robot, where nothing but this page moves the robot."""
        if self._sliders is None or not self.parameters.robot:
            return None
        return RobotDisplay(
            self,
            self._view.store,
            self._tf.tree,
            self._sliders,
            self._postures,
            self.parameters.prefix,
            partial(self._show_status, "file"),
        )

    def _make_editing(self) -> RobotEditing | None:
        """Return the robot file to be edited."""
        if (display := self._display) is None:
            return None

        def show(model: RobotModel) -> None:
            display.show(model)
            self._loop.request_redraw()

        editing = RobotEditing(self.parameters.robot, show, display.watch)
        known = changed_at(editing.folder)

        def watch_folder() -> None:
            nonlocal known
            former, known = known, changed_at(editing.folder)
            if known != former:
                self._loop.request_redraw()

        self.create_timer(FOLDER_PERIOD, watch_folder, clock=STEADY_CLOCK)
        return editing

    def _panel_context(self) -> PanelContext:
        controls = self._controls
        return PanelContext(
            robot=self.parameters.robot,
            scene=self.parameters.scene,
            tool_frame=self._tool,
            view=self._view,
            editing=self._editing,
            commands=CommandTable(),
            positions=self._positions,
            move=controls.move if controls else lambda joints: SHOWS_ONLY,
            move_tool=controls.move_tool if controls else lambda pose: None,
            postures=lambda: self._postures.postures,
            report=partial(self._show_status, "ik"),
            limited=self._shared.limited if self._shared else lambda model: model,
            redraw=self._loop.request_redraw,
            every=partial(self.create_timer, clock=STEADY_CLOCK),
        )

    def _subscribe(self) -> None:
        self._topics = SceneSubscriptions(
            self,
            self._view,
            self.parameters.marker_topics,
            self._loop.request_redraw,
            self._on_file_saved,
            self._display.is_drawn if self._display else lambda urdf: False,
        )
        if self._sliders is None:
            states, callback = self._joint_states, self._on_joint_states
            states.subscribe(self, JointState, "joint_states", callback, JOINT_STATES)
            self.create_timer(NUMBERS_EVERY / FRAME_RATE, states.take, clock=STEADY_CLOCK)

    def _on_file_saved(self) -> str:
        """Take a robot file that was saved; return why it cannot be taken, or ""."""
        problem = ""
        if self._editing is not None:
            problem = self._editing.reload()
            changed = self._postures.take(self._editing.editor.model)
        else:
            changed = self._postures.reload()
        if changed:
            self._show_postures()
        return problem

    def _show_postures(self) -> None:
        if (robot := self._view.store.robot) is not None:
            self._on_robot_drawn(robot)

    def _on_joint_states(self, message: JointState) -> None:
        values: dict[str, float] = {}
        remember_positions(values, message.name, message.position)
        if not values.items() <= self._values.items():
            remember_positions(self._values, values, values.values())
            self._sliders_moved = self.parameters.drive
            self._loop.request_redraw()

    def _on_moved_sliders(self) -> None:
        self._sliders_moved = True
        self._loop.request_redraw()

    def _positions(self) -> dict[str, float]:
        """Return the newest joint positions, by name [rad or m]."""
        self._joint_states.take()
        return self._values if self._shared is None else self._shared.positions()

    def _on_user_action(self) -> None:
        if time.monotonic() > self._dropped_until:
            self._store.set_text("page", "")
        self._queue.drain()
        self._loop.request_redraw()

    def _on_failed_action(self, error: Exception) -> None:
        if isinstance(error, ViewerError):
            self._report_problem(error)
            return
        self.get_logger().error("".join(traceback.format_exception(error)))
        self._show_status("page", f"That failed: {error}. Nothing else is affected; see the log.")

    def _leave_out(self, folder: str, error: Exception) -> None:
        """Say that a folder of the page is missing, and log its error."""
        self.get_logger().error("".join(traceback.format_exception(error)))
        self._left_out.append(folder)
        folders = ", ".join(self._left_out)
        self._show_status(
            "left_out", f"Left out, as they failed: {folders} ({error}). The log tells where."
        )

    def _show_dropped(self, text: str) -> None:
        """Show for a while that a command was too late to be executed."""
        self._dropped_until = time.monotonic() + DROPPED_SHOWN
        self._show_status("page", text)

    def _move_joint(self, joint: str, value: float) -> None:
        if self._controls is not None:
            self._controls.move({joint: value})
            self._last_slider_tick = self._loop.ticks
            self._sliders_moved = True  # if the joint does not follow

    def _move_to_posture(self, name: str) -> None:
        if self._controls is not None:
            self._controls.move(self._postures.postures[name])

    def _show_status(self, key: str, text: str) -> None:
        self._store.set_text(key, text)
        self._on_moved_sliders()

    def _on_robot_drawn(self, robot: VisualRobot) -> None:
        if self._sliders is not None:
            self._sliders.set_robot(robot)
            self._values = self._sliders.values()
        if self._controls is not None:
            self._controls.set_robot(robot)
        self._view.panel.set_robot(robot, self._values, tuple(self._postures.postures))

    def _write_numbers(self) -> bool:
        """Write the panel's numbers; return whether the sliders must be moved later."""
        values = self._values if self._sliders is None else self._sliders.values()
        self._view.write_numbers(values)
        store = self._view.store
        tool = store.frames.get(self._tool)
        self._panels.update(PanelState(store.robot, values, store.fixed_frame, tool))
        self._sliders_moved |= values != self._written
        self._written = dict(values)
        if self._sliders_moved and self._loop.ticks > self._last_slider_tick + SLIDER_HOLD:
            self._sliders_moved = False
            self._view.panel.set_sliders(values)
        return self._sliders_moved

    def _draw(self) -> bool:
        """Draw a frame; return whether it differs from the last one."""
        robot = self._view.store.robot
        fixed = self.parameters.fixed_frame or ("" if robot is None else robot.root)
        frames = self._tf.tree.poses_in(fixed) if fixed else {}
        changed = self._view.draw(fixed, frames, self._now())
        if self._controls is not None:
            tool = self._view.store.frames.get(self._tool)
            self._controls.set_tool(fixed, tool, self._view.drawer.size)
        if self._view.drawer.cameras.glide():
            self._loop.request_redraw(numbers=False)
        return changed

    def _report_problem(self, error: ViewerError) -> None:
        """Log a problem, unless it has been logged before."""
        if str(error) not in self._reported:
            if len(self._reported) >= MAX_REPORTED:
                self._reported.clear()
            self._reported.add(str(error))
            self.get_logger().warning(str(error))

    def _now(self) -> float:
        return 1e-9 * float(self.get_clock().now().nanoseconds)


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
