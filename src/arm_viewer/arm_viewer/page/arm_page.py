# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/test_local_arm.py
"""A page in browsers that shows an arm and moves it through a port.

Everything runs in one thread, that of the port; the users' actions arrive through a queue.
"""

from __future__ import annotations

import logging
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from arm_common.files.access import installed_share
from arm_common.files.requests import RestrictedFiles, folders_in
from arm_common.plugins import PluginGroup
from arm_description.library import robot_path
from arm_description.robot_model import RobotModel
from arm_description.urdf.elements import shape_folder

from arm_viewer.browser.access import make_access
from arm_viewer.browser.callbacks import CallbackQueue, PageGui
from arm_viewer.browser.cameras import watch_clients
from arm_viewer.browser.server import (
    address_of,
    close_server,
    free_after_visits,
    mark_first_visit,
    open_server,
)
from arm_viewer.browser.sidebar import Sidebar, SidebarActions
from arm_viewer.browser.view import SceneDrawer, SceneView
from arm_viewer.control.controls import Controls
from arm_viewer.control.stop_panel import StopPanel
from arm_viewer.errors import ViewerError
from arm_viewer.page.render_loop import FRAME_RATE, RenderLoop
from arm_viewer.panels.interface import (
    CommandTable,
    PanelContext,
    PanelEntry,
    PanelHost,
    PanelState,
    ShownFile,
)
from arm_viewer.port import PagePort, Where
from arm_viewer.scene.robot import PostureBook, VisualRobot, read_robot
from arm_viewer.scene.shapes import MeshFiles
from arm_viewer.scene.store import SceneStore, ToolTrace

PANELS = PluginGroup(
    "arm_viewer.panels",
    "panel",
    {name: f"arm_viewer.panels.{name}:ENTRY" for name in ("pose", "look", "keyboard")}
    | {"frames": "arm_viewer.panels.look:FRAMES_ENTRY"},
)
_LOGGER = logging.getLogger(__name__)
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
SLIDER_HOLD = 15  # frames after a user moved a slider, in which no slider moves by itself
SHOWS_ONLY = "This page shows the arm and moves nothing."
DROPPED_SHOWN = 10.0  # [s]
MAX_REPORTED = 200  # problems that are remembered and not logged again


@dataclass(frozen=True)
class PageSettings:
    """The choices; those of the same name are parameters of the node, which explains them."""

    host: str = "127.0.0.1"
    port: int = 0
    allowed_hosts: str = ""
    robot: str = ""
    mesh_path: str = ""
    scene: str = ""
    opened_file: str = ""
    fixed_frame: str = ""
    prefix: str = ""
    tool_frame: str = ""
    portrait: bool = False
    show_axes: bool = True
    show_labels: bool = False
    show_trace: bool = True

    @property
    def tool(self) -> str:
        """The frame whose path is drawn, and which the handle drags."""
        return self.tool_frame or f"{self.prefix}tool0"


class ArmPage:
    """Draws what the port tells, and passes on what users want.

    Args:
        settings: what is chosen.
        port: the arm.

    Raises:
        ViewerError: The server cannot be opened.
        DescriptionError: The setting `robot` names no robot.
    """

    def __init__(self, settings: PageSettings, port: PagePort) -> None:
        self._settings, self.port = settings, port
        self._reported: set[str] = set()
        self._sliders_moved = False
        self._left_out: list[str] = []  # parts of the page
        self._dropped_until = 0.0  # until when a dropped command is shown [s]
        self._written: dict[str, float] = {}  # the joint positions that the sidebar shows
        self._last_slider_tick = -SLIDER_HOLD
        self._controls: Controls | None = None
        self._panels: PanelHost | None = None
        self.postures = PostureBook(settings.robot, settings.prefix)
        self.store = SceneStore()
        self._queue = CallbackQueue(self._on_failed_action)
        access = make_access(settings.host, settings.allowed_hosts.split())
        self._server = open_server(settings.host, settings.port, access)
        self.gui = PageGui(self._server, self._queue, access)
        self.gui.failed = self._leave_out
        self._loop = RenderLoop(
            self._draw,
            self._write_numbers,
            lambda: bool(self._server.get_clients()),
            self.store.markers.next_expiry,
            port.now,
        )
        access.link.on_dropped = lambda text: self._queue.post(partial(self._show_dropped, text))
        self.address = address_of(self._server, access)

    def open(self) -> None:
        """Build the page and begin to show the arm."""
        settings, port, server = self._settings, self.port, self._server
        self._stop_panel = StopPanel(port, self.gui) if port.where & Where.MOVING else None
        self._view = self._make_view()
        self._robot_file = ShownFile(
            self._show_model,
            self._take_model,
            port.watch,
            self._reload_postures,
            self._begin_model,
            partial(self.show_text, "file"),
        )
        self._scene_file = ShownFile(port.send_scene, lambda text: None, lambda path: None)
        if self._stop_panel is not None:
            with self.gui.part("Tool"):
                self._controls = self._make_controls(self._stop_panel)
        port.open(self)
        self._panels = PanelHost(self.gui, self._panel_context())
        self._panels.add([*PANELS.load_all(PanelEntry, _LOGGER.warning).values()])
        self.gui.tabs.remove_empty_tabs()
        self._loop.timer = port.every(1.0 / FRAME_RATE, self._loop.tick)
        port.every(1.0, self._hide_dropped)
        free_after_visits(server)
        mark_first_visit(server, settings.opened_file)
        self._queue.open(port.waker(self._on_user_action))

    def close(self) -> None:
        """Close the server and free its port."""
        self._queue.close()
        if self._panels is not None:
            self._panels.close()
        close_server(self._server)

    def announce(self) -> None:
        """Write the address, and a warning if it is reached from the network."""
        host = self._settings.host
        if host not in LOCAL_HOSTS:
            moves = "" if self._controls is None else " and can stop it"
            self.port.logger.warning(
                f"host is {host}: everyone on the network sees the robot{moves}; "
                "the token in the address crosses the network unencrypted"
            )
        # Not logged: files of logs and /rosout must not contain the token.
        sys.stdout.write(f"Browser view: {self.address}\n")
        sys.stdout.flush()

    def _mesh_files(self) -> RestrictedFiles:
        """Return the files that URIs of meshes may name, beside those of packages."""
        robot = self._settings.robot
        folders = [*folders_in(self._settings.mesh_path, "mesh_path"), shape_folder()]
        folders += [robot_path(robot).resolve().parent] if robot else []
        model = self.postures.model
        meshes = () if model is None else model.meshes.values()
        uris = (uri for mesh in meshes for uri in (mesh.visual, mesh.collision))
        return RestrictedFiles(folders, (Path(unquote(urlparse(uri).path)) for uri in uris))

    def _make_view(self) -> SceneView:
        settings, postures = self._settings, self.postures
        switches = {
            "axes": settings.show_axes,
            "labels": settings.show_labels,
            "trace": settings.show_trace,
        }
        trace, meshes = ToolTrace(), MeshFiles(installed_share, self._mesh_files())
        drawer = SceneDrawer(self._server, meshes, switches, lambda: postures.postures)
        drawer.cameras.portrayed = postures.home if settings.portrait else {}
        drawer.cameras.tool = settings.tool if self.port.where is Where.ALONE else ""
        actions = SidebarActions(
            drawer.switch,
            self._move_joint,
            self._move_to_posture,
            trace.clear,
            drawer.cameras.look,
        )
        movable = bool(self.port.where & Where.MOVING)
        sidebar = Sidebar(self.gui, actions, switches, movable)
        watch_clients(self._server, drawer.cameras, self._queue)
        return SceneView(
            self.store,
            drawer,
            sidebar,
            trace,
            settings.tool,
            self._on_robot_drawn,
            self._report_problem,
            nut_frame=f"{settings.prefix}nut",
        )

    def _make_controls(self, stop_panel: StopPanel) -> Controls:
        show = partial(self.show_text, "ik")
        controls = Controls(self.port, self._server, self.gui, self._settings.tool, show)
        stop_panel.follow(controls.stop, controls.reset)
        return controls

    def _panel_context(self) -> PanelContext:
        controls, port, settings = self._controls, self.port, self._settings
        is_edited = port.where is Where.ALONE and bool(settings.robot)
        return PanelContext(
            where=port.where,
            robot=settings.robot,
            scene=settings.scene,
            tool_frame=settings.tool,
            view=self._view,
            model=lambda: self.postures.model,
            robot_file=self._robot_file if is_edited else None,
            scene_file=self._scene_file,
            commands=CommandTable(),
            positions=port.positions,
            move=controls.move if controls else lambda joints: SHOWS_ONLY,
            move_tool=controls.move_tool if controls else lambda pose: None,
            postures=lambda: self.postures.postures,
            report=partial(self.show_text, "ik"),
            limited=port.limited,
            redraw=self._loop.request_redraw,
            now=port.now,
            every=port.every,
            prefix=settings.prefix,
        )

    # What the port calls.

    @property
    def stopped(self) -> bool:
        """Whether nothing may move until a reset."""
        return self._controls is not None and self._controls.stopped

    def show_robot(self, urdf: str) -> None:
        """Show another robot, unless its description is invalid, which is reported."""
        try:
            self.store.set_robot(read_robot(urdf))
            self._view.description_problem = ""
        except ViewerError as error:
            self._view.description_problem = str(error)
            self._report_problem(error)
        self._loop.request_redraw()

    def show_markers(self, topic: str, markers: Sequence[Any]) -> None:
        """Show markers with the fields of visualization_msgs/Marker."""
        for error in self.store.markers.apply(topic, markers, self.port.now()):
            self._report_problem(error)
        self._loop.request_redraw()

    def show_text(self, key: str, text: str) -> None:
        """Show a sentence in its line of the page, which is removed by ""."""
        self.store.set_text(key, text)
        self.joints_moved()

    def joints_moved(self) -> None:
        """Show the joint positions soon, which have changed."""
        self._sliders_moved = True
        self._loop.request_redraw()

    def frames_moved(self) -> None:
        """Show the frames soon, some of which have moved."""
        self._loop.request_redraw(numbers=False)

    def robot_file_changed(self) -> str:
        """Take the saved robot file; return why that is refused, or ""."""
        return self._robot_file.on_saved()

    def scene_file_changed(self) -> None:
        """Take the saved scene file."""
        self._scene_file.on_saved()

    def work_on_nut(self, holding: bool) -> None:
        """Note whether the jaws hold the nut, which is then shown from near."""
        self._view.working = holding

    def offer_reset(self) -> None:
        """Show the button that allows motion again."""
        if self._stop_panel is not None:
            self._stop_panel.offer_reset()

    # The robot file.

    def _show_model(self, model: RobotModel) -> None:
        self.postures.take(model)
        self.port.describe(model)
        self._loop.request_redraw()

    def _begin_model(self, model: RobotModel) -> None:
        """Show another robot; its joints are not those of the one before, whatever their names."""
        self.postures.take(model)
        self.port.begin(self.postures.home)
        self._show_model(model)

    def _take_model(self, model: RobotModel) -> None:
        if self.postures.take(model):
            self._show_postures()

    def _reload_postures(self) -> str:
        if self.postures.reload():
            self._show_postures()
        return ""

    def _show_postures(self) -> None:
        if (robot := self.store.robot) is not None:
            self._on_robot_drawn(robot)

    # What users do.

    def _on_user_action(self) -> None:
        if time.monotonic() > self._dropped_until:
            self.store.set_text("page", "")
        self._queue.drain()
        self._loop.request_redraw()

    def _on_failed_action(self, error: Exception) -> None:
        if isinstance(error, ViewerError):
            self._report_problem(error)
            return
        self.port.logger.error("".join(traceback.format_exception(error)))
        self.show_text("page", f"That failed: {error}. Nothing else is affected; see the log.")

    def _leave_out(self, part: str, error: Exception) -> None:
        """Say that a part of the page is missing, and log its error."""
        self.port.logger.error("".join(traceback.format_exception(error)))
        self._left_out.append(part)
        parts = ", ".join(self._left_out)
        self.show_text(
            "left_out", f"Left out, as they failed: {parts} ({error}). The log tells where."
        )

    def _show_dropped(self, text: str) -> None:
        """Show for a while that a command was too late to be executed."""
        self._dropped_until = time.monotonic() + DROPPED_SHOWN
        self.show_text("page", text)

    def _hide_dropped(self) -> None:
        if 0.0 < self._dropped_until < time.monotonic():
            self._dropped_until = 0.0
            self.show_text("page", "")

    def _move_joint(self, joint: str, value: float) -> None:
        if self._controls is not None:
            self._controls.move({joint: value})
            self._last_slider_tick = self._loop.ticks
            self._sliders_moved = True  # if the joint does not follow

    def _move_to_posture(self, name: str) -> None:
        if self._controls is not None:
            self._controls.move(self.postures.postures[name])

    # What is drawn.

    def _on_robot_drawn(self, robot: VisualRobot) -> None:
        self.port.set_robot(robot, self._settings.tool)
        if self._controls is not None:
            self._controls.set_robot(robot)
        postures = tuple(self.postures.postures)
        self._view.sidebar.set_robot(robot, self.port.positions(), postures)

    def _write_numbers(self) -> bool:
        """Write the sidebar's numbers; return whether the sliders must be moved later."""
        values = self.port.positions()
        self._view.write_numbers(values)
        if self._panels is not None:
            self._panels.update(PanelState(self.store.robot, values))
        self._sliders_moved |= values != self._written
        self._written = dict(values)
        if self._sliders_moved and self._loop.ticks > self._last_slider_tick + SLIDER_HOLD:
            self._sliders_moved = False
            self._view.sidebar.set_sliders(values)
        return self._sliders_moved

    def _draw(self) -> bool:
        """Draw a frame; return whether it differs from the last one."""
        robot = self.store.robot
        fixed = self._settings.fixed_frame or ("" if robot is None else robot.root)
        frames: Mapping[str, Any] = self.port.frames(fixed) if fixed else {}
        changed = self._view.draw(fixed, frames, self.port.now())
        if self._controls is not None:
            tool = self.store.frames.get(self._settings.tool)
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
            self.port.logger.warning(str(error))
