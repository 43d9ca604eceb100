# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a folder of the page's panel is, what it may use, and what holds all of them.

A panel is one class in one file. It never imports another panel: what several of them need is in
`PanelContext`. One registry (`arm_viewer.ros.panels.registry`) lists all panels, and says where
each is shown and whether its folder is folded at first.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from arm_common.errors import InputError
from arm_common.transforms import Array
from arm_description.model.units import Units

from arm_description import RobotModel, load_robot
from arm_viewer.browser.callbacks import PanelGui
from arm_viewer.browser.view import SceneView
from arm_viewer.control.command_table import CommandTable
from arm_viewer.control.robot_editing import RobotEditing
from arm_viewer.scene.robot import VisualRobot

NO_FILE = Units("mm", "deg")


class Where(enum.Flag):
    """The kinds of pages that show a panel."""

    ALONE = enum.auto()  # `./arm view`: the page moves the joints itself
    RUNNING = enum.auto()  # beside an arm with a driver
    WATCHING = enum.auto()  # a page that moves nothing, such as that of a recording
    MOVING = ALONE | RUNNING
    EVERYWHERE = ALONE | RUNNING | WATCHING


@dataclass(frozen=True)
class PanelState:
    """What is shown at one moment."""

    robot: VisualRobot | None  # None until a robot_description has arrived
    positions: Mapping[str, float]  # of all joints, by name [rad or m]
    fixed_frame: str  # the frame that stays in the picture; "" if unknown
    tool: Array | None  # (4, 4), fixed <- tool; None if unknown


class PanelTimer(Protocol):
    """The part of rclpy's Timer that panels use."""

    def cancel(self) -> None:
        """Stop calling."""

    def reset(self) -> None:
        """Call again, a full period from now."""


@dataclass(frozen=True)
class PanelContext:
    """What every panel may use; its functions are called in the node's thread."""

    robot: str  # the parameter: a shipped name, the path of a robot file, or ""
    scene: str  # the parameter: a shipped name, the path of a scene file, or ""
    tool_frame: str  # the frame at the tool, with its prefix
    view: SceneView  # what is drawn: `store` (robot, frames, markers), `drawer`, `trace`
    editing: RobotEditing | None  # the robot file, where it can be edited
    commands: CommandTable  # what can be typed; panels add theirs
    positions: Callable[[], Mapping[str, float]]  # the newest ones, by name [rad or m]
    move: Callable[[Mapping[str, float]], str]  # moves joints; returns why not, or ""
    move_tool: Callable[[Array], None]  # as the handle does: takes (4, 4), root <- tool
    postures: Callable[[], Mapping[str, Mapping[str, float]]]  # the named ones [rad or m]
    report: Callable[[str], None]  # shows one sentence at the top; "" removes it
    limited: Callable[[RobotModel], RobotModel]  # to what the servos of a driver allow
    redraw: Callable[[], None]  # draws a frame soon, and calls `update` of all panels
    # calls a function periodically: takes the period of wall time [s]
    every: Callable[[float, Callable[[], None]], PanelTimer]

    @property
    def units(self) -> Units:
        """The units of all that is typed: those of the robot's file, else mm and degrees."""
        if self.editing is not None:
            return self.editing.editor.model.units
        try:
            return load_robot(self.robot).units if self.robot else NO_FILE
        except InputError:
            return NO_FILE  # reported where the file is


class PagePanel(Protocol):
    """A folder of the page."""

    title: str  # the label of its folder

    def build(self, gui: PanelGui) -> None:
        """Add the elements; called once, inside the folder."""

    def update(self, state: PanelState) -> None:
        """Show a new state; called at most five times a second, while a browser is connected."""

    def close(self) -> None:
        """Remove what was drawn and stop all timers; the folder is removed by the host."""


@dataclass(frozen=True)
class PanelEntry:
    """A row of the registry."""

    make: Callable[[PanelContext], PagePanel | None]  # None where it has nothing to show
    order: float  # of its folder: 1 joints, 1.4 task, 1.5 tool, 1.6 jog, 4 show, 5 kinematics
    where: Where
    folded: bool = True


@dataclass
class PanelHost:
    """The panels of one page. Its methods are called by one thread."""

    gui: PanelGui
    context: PanelContext
    _open: list[tuple[PagePanel, Any]] = field(default_factory=list)  # with their folders

    def add(self, entries: Sequence[PanelEntry], where: Where) -> None:
        """Build the panels that are shown at such a page; one that fails is left out."""
        for entry in entries:
            if where & entry.where:
                try:
                    self._build(entry)
                except Exception as error:  # noqa: BLE001 - one fault must not end the page
                    self.gui.failed(getattr(entry.make, "title", "of a file"), error)

    def _build(self, entry: PanelEntry) -> None:
        panel = entry.make(self.context)
        if panel is None:
            return
        folder = self.gui.elements.add_folder(
            panel.title, order=entry.order, expand_by_default=not entry.folded
        )
        try:
            with folder:
                panel.build(self.gui)
        except Exception as error:  # noqa: BLE001 - one fault must not end the page
            self._leave_out(panel, folder, error)
        else:
            self._open.append((panel, folder))

    def update(self, state: PanelState) -> None:
        """Show a new state; a panel that fails is left out from then on."""
        for panel, folder in tuple(self._open):
            try:
                panel.update(state)
            except Exception as error:  # noqa: BLE001 - one fault must not end the page
                self._open.remove((panel, folder))
                self._leave_out(panel, folder, error)

    def _leave_out(self, panel: PagePanel, folder: Any, error: Exception) -> None:
        with suppress(Exception):  # what was not built cannot be closed
            panel.close()
        folder.remove()
        self.gui.failed(panel.title, error)

    def close(self) -> None:
        """Close all panels and remove their folders."""
        while self._open:
            panel, folder = self._open.pop()
            panel.close()
            folder.remove()
