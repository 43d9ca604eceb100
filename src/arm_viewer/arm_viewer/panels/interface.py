# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a panel of the page is, what it may use, and what holds all of them.

A panel is a box of controls that can be folded: one class in one file. It never imports another
panel: what several of them need is in `PanelContext`, such as the commands that can be typed.
Panels are plugins; each says where it is shown, in which tab, and whether its folder is folded at
first (`PanelEntry`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array
from arm_description.model.units import Units
from arm_description.robot_model import RobotModel

from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import MORE
from arm_viewer.browser.view import SceneView
from arm_viewer.errors import ViewerError
from arm_viewer.port import PageTimer, Where
from arm_viewer.scene.robot import VisualRobot


@dataclass(frozen=True)
class PageCommand:
    """One command."""

    name: str  # the first word of a line
    usage: str  # the words after it, for people, such as ``JOINT=VALUE ...``
    text: str  # what it does, in one line
    # takes the words after the name; returns the answer in one sentence or "", and raises a
    # ViewerError (or another ValueError with a sentence) for wrong words
    run: Callable[[Sequence[str]], str]
    # returns the words that may follow now, for completion; each is offered in the command
    # palette, too, as a line of its own if `listed`
    words: Callable[[], Iterable[str]] = tuple
    listed: bool = False  # whether name and word are a complete line, such as ``trace off``
    pause: str = ""  # the word that only pauses a motion; "" for none


class CommandTable:
    """Commands by name."""

    def __init__(self) -> None:
        self._commands: dict[str, PageCommand] = {}

    def add(self, command: PageCommand) -> None:
        """Add a command, or replace the one with its name."""
        self._commands[command.name] = command

    def remove(self, name: str) -> None:
        """Remove a command."""
        self._commands.pop(name, None)

    @property
    def commands(self) -> tuple[PageCommand, ...]:
        """All commands, by name."""
        return tuple(self._commands[name] for name in sorted(self._commands))

    def run(self, line: str) -> str:
        """Run a line and return its answer in one sentence.

        Raises:
            ViewerError: There is no such command, or its words are wrong.
        """
        words = line.split()
        if not words:
            return ""
        command = self._commands.get(words[0])
        if command is None:
            known = did_you_mean(words[0], sorted(self._commands))
            raise ViewerError(f"there is no command {words[0]!r}: {known}")
        try:
            return command.run(words[1:])
        except ViewerError:
            raise
        except ValueError as error:
            raise ViewerError(f"{command.name}: {error}") from None

    def only_pauses(self, line: str) -> bool:
        """Return whether a line does nothing but pause a motion."""
        name, _, word = line.strip().partition(" ")
        command = self._commands.get(name)
        return command is not None and bool(word) and word.strip() == command.pause

    def lines(self) -> dict[str, str]:
        """Return all complete lines that can be chosen without typing, with what they do."""
        lines: dict[str, str] = {}
        for command in self.commands:
            if not command.usage:
                lines[command.name] = command.text
            elif command.listed:
                lines |= {f"{command.name} {word}": command.text for word in command.words()}
        return lines

    def complete(self, line: str) -> tuple[str, ...]:
        """Return the lines that can follow from the start of one, sorted."""
        before, _, last = line.rpartition(" ")
        if not before:
            return tuple(
                f"{name} " if command.usage else name
                for name, command in sorted(self._commands.items())
                if name.startswith(last)
            )
        command = self._commands.get(before.split()[0])
        words = () if command is None else sorted(command.words())
        return tuple(f"{before} {word}" for word in words if word.startswith(last))


NO_FILE = Units("mm", "deg")
Content = TypeVar("Content")


@dataclass
class ShownFile(Generic[Content]):
    """A file that the page shows, for a panel that edits it."""

    show: Callable[[Content], None]  # shows a content, which need not be saved
    take: Callable[[Content], None]  # takes one that is shown already
    watch: Callable[[Path], None]  # follows another file
    # called when another program has saved the file; returns why that is refused, or ""
    on_saved: Callable[[], str] = str
    begin: Callable[[Content], None] = lambda content: None  # shows that of another file
    report: Callable[[str], None] = lambda text: None  # a sentence about the file; "" removes it


@dataclass(frozen=True)
class PanelState:
    """What is shown at one moment."""

    robot: VisualRobot | None  # None until a robot_description has arrived
    positions: Mapping[str, float]  # of all joints, by name [rad or m]


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
    now: Callable[[], float]  # the time of the positions [s], which a simulation may scale
    # calls a function periodically: takes the period of wall time [s]
    every: Callable[[float, Callable[[], None]], PageTimer]
    prefix: str = ""  # of the names of joints and links, which those of `model` lack
    shared: dict[type, Any] = field(default_factory=dict)  # of several panels, by its class

    @property
    def units(self) -> Units:
        """The units of all that is typed: those of the robot's file, else mm and degrees."""
        model = self.model()
        return NO_FILE if model is None else model.units


class Panel(Protocol):
    """A panel of the page; if it inherits from this one, `update` and `close` do nothing."""

    title: str  # the label of its folder, and its name in messages

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
    order: float  # of its folder in the tab
    where: Where
    folded: bool = True
    tab: str = MORE  # one of `browser.tabs`, or one of its own; "": it shows no folder


@dataclass
class PanelHost:
    """The panels of one page. Its methods are called by one thread."""

    gui: PageGui
    context: PanelContext
    # with their tabs and elements
    _open: list[tuple[Panel, str, list[Any]]] = field(default_factory=list)

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
        folder: Any = nullcontext()
        if entry.tab:
            options = {"order": entry.order, "expand_by_default": not entry.folded}
            folder = self.gui.tabs.folder(entry.tab, panel.title, **options)
        with self.gui.noted() as added:
            try:
                with folder:
                    panel.build(self.gui)
            except Exception as error:  # noqa: BLE001 - one fault must not end the page
                self._leave_out(panel, entry.tab, added, error)
            else:
                self._open.append((panel, entry.tab, added))

    def update(self, state: PanelState) -> None:
        """Show a new state; a panel that fails is left out from then on."""
        for panel, tab, added in tuple(self._open):
            try:
                panel.update(state)
            except Exception as error:  # noqa: BLE001 - one fault must not end the page
                self._open.remove((panel, tab, added))
                self._leave_out(panel, tab, added, error)

    def _leave_out(self, panel: Panel, tab: str, added: list[Any], error: Exception) -> None:
        with suppress(Exception):  # what was not built cannot be closed
            panel.close()
        self._remove(panel, tab, added)
        self.gui.failed(panel.title, error)

    def _remove(self, panel: Panel, tab: str, added: list[Any]) -> None:
        """Remove the elements of a panel, with its folder unless something else is in it."""
        self.gui.remove(added)
        if tab:
            self.gui.tabs.leave(tab, panel.title)

    def close(self) -> None:
        """Close all panels and remove their folders."""
        while self._open:
            panel, tab, added = self._open.pop()
            panel.close()
            self._remove(panel, tab, added)
