# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a panel of the page is, what it may use, and what holds all of them.

A panel is a box of controls that can be folded: one class in one file. It never imports another
panel: what several of them need is in `PanelContext`. Panels are plugins; each says where it is
shown, and whether its folder is folded at first (`PanelEntry`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from arm_common.transforms import Array
from arm_description.model.units import Units
from arm_description.robot_model import RobotModel

from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.view import SceneView
from arm_viewer.control.command_table import CommandTable
from arm_viewer.port import PageTimer, Where
from arm_viewer.scene.robot import VisualRobot

NO_FILE = Units("mm", "deg")
Content = TypeVar("Content")


def _nothing_edited() -> str:
    return ""


@dataclass
class ShownFile(Generic[Content]):
    """A file that the page shows, for a panel that edits it."""

    show: Callable[[Content], None]  # shows a content, which need not be saved
    take: Callable[[Content], None]  # takes one that is shown already
    watch: Callable[[Path], None]  # follows another file
    # called when another program has saved the file; returns why that is refused, or ""
    on_saved: Callable[[], str] = _nothing_edited


@dataclass(frozen=True)
class PanelState:
    """What is shown at one moment."""

    robot: VisualRobot | None  # None until a robot_description has arrived
    positions: Mapping[str, float]  # of all joints, by name [rad or m]
    fixed_frame: str  # the frame that stays in the picture; "" if unknown
    tool: Array | None  # (4, 4), fixed <- tool; None if unknown


@dataclass(frozen=True)
class PanelContext:
    """What every panel may use; its functions are called in the page's thread."""

    where: Where  # the kind of the page
    robot: str  # a shipped name, the path of a robot file, or ""
    scene: str  # a shipped name, the path of a scene file, or ""
    tool_frame: str  # the frame at the tool, with its prefix
    view: SceneView  # what is drawn: `store` (robot, frames, markers), `drawer`, `trace`
    model: Callable[[], RobotModel | None]  # the robot as it is shown; None without a file
    robot_file: ShownFile[RobotModel] | None  # None where it cannot be edited
    scene_file: ShownFile[str]
    commands: CommandTable  # what can be typed; panels add theirs
    positions: Callable[[], Mapping[str, float]]  # the newest ones, by name [rad or m]
    move: Callable[[Mapping[str, float]], str]  # moves joints; returns why not, or ""
    move_tool: Callable[[Array], None]  # as the handle does: takes (4, 4), root <- tool
    postures: Callable[[], Mapping[str, Mapping[str, float]]]  # the named ones [rad or m]
    report: Callable[[str], None]  # shows one sentence at the top; "" removes it
    limited: Callable[[RobotModel], RobotModel]  # to what the servos of a driver allow
    redraw: Callable[[], None]  # draws a frame soon, and calls `update` of all panels
    # calls a function periodically: takes the period of wall time [s]
    every: Callable[[float, Callable[[], None]], PageTimer]
    shared: dict[type, Any] = field(default_factory=dict)  # of several panels, by its class

    @property
    def units(self) -> Units:
        """The units of all that is typed: those of the robot's file, else mm and degrees."""
        model = self.model()
        return NO_FILE if model is None else model.units


class Panel(Protocol):
    """A panel of the page; if it inherits from this one, `update` and `close` do nothing."""

    title: str  # the label of its folder

    def build(self, gui: PageGui) -> None:
        """Add the elements; called once, inside the folder."""

    def update(self, state: PanelState) -> None:
        """Show a new state; called at most five times a second, while a browser is connected."""

    def close(self) -> None:
        """Remove what was drawn and stop all timers; the folder is removed by the host."""


@dataclass(frozen=True)
class PanelEntry:
    """A plugin of the group arm_viewer.panels; one of the same title continues that folder."""

    make: Callable[[PanelContext], Panel | None]  # None where it has nothing to show
    order: float  # of its folder: 1 joints, 1.4 task, 1.5 tool, 1.6 jog, 4 show, 5 kinematics
    where: Where
    folded: bool = True


@dataclass
class PanelHost:
    """The panels of one page. Its methods are called by one thread."""

    gui: PageGui
    context: PanelContext
    _open: list[tuple[Panel, list[Any]]] = field(default_factory=list)  # with their elements
    _folders: dict[str, Any] = field(default_factory=dict)  # by title

    def add(self, entries: Sequence[PanelEntry]) -> None:
        """Build the panels that are shown at such a page; one that fails is left out."""
        for entry in sorted(entries, key=lambda entry: entry.order):
            if self.context.where & entry.where:
                try:
                    self._build(entry)
                except Exception as error:  # noqa: BLE001 - one fault must not end the page
                    self.gui.failed(getattr(entry.make, "title", "of a file"), error)

    def _build(self, entry: PanelEntry) -> None:
        panel = entry.make(self.context)
        if panel is None:
            return
        if (folder := self._folders.get(panel.title)) is None:
            folder = self._folders[panel.title] = self.gui.elements.add_folder(
                panel.title, order=entry.order, expand_by_default=not entry.folded
            )
        with self.gui.noted() as added:
            try:
                with folder:
                    panel.build(self.gui)
            except Exception as error:  # noqa: BLE001 - one fault must not end the page
                self._leave_out(panel, added, error)
            else:
                self._open.append((panel, added))

    def update(self, state: PanelState) -> None:
        """Show a new state; a panel that fails is left out from then on."""
        for panel, added in tuple(self._open):
            try:
                panel.update(state)
            except Exception as error:  # noqa: BLE001 - one fault must not end the page
                self._open.remove((panel, added))
                self._leave_out(panel, added, error)

    def _leave_out(self, panel: Panel, added: list[Any], error: Exception) -> None:
        with suppress(Exception):  # what was not built cannot be closed
            panel.close()
        self._remove(panel, added)
        self.gui.failed(panel.title, error)

    def _remove(self, panel: Panel, added: list[Any]) -> None:
        """Remove the elements of a panel, with its folder unless another panel is in it."""
        if all(other.title != panel.title for other, _ in self._open):
            self._folders.pop(panel.title).remove()
        else:
            self.gui.remove(added)

    def close(self) -> None:
        """Close all panels and remove their folders."""
        while self._open:
            panel, added = self._open.pop()
            panel.close()
            self._remove(panel, added)
