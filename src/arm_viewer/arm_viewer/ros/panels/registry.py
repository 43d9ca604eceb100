# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The one list of the page's folders: where each is shown, and which are folded at first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module

from rclpy.node import Node

from arm_viewer.control.robot_editing import RobotEditing
from arm_viewer.errors import ViewerError
from arm_viewer.panels.commands import CommandsPanel
from arm_viewer.panels.interface import PagePanel, PanelContext, PanelEntry, Where
from arm_viewer.panels.keys import BY_DRIVER, BY_PAGE, KeysPanel
from arm_viewer.panels.look import LookPanel
from arm_viewer.panels.motion import MotionPanel
from arm_viewer.panels.picture import PicturePanel
from arm_viewer.panels.play import PlayPanel
from arm_viewer.panels.pose import PosePanel
from arm_viewer.panels.robot_file import RobotFilePanel
from arm_viewer.panels.symbols import SymbolsPanel
from arm_viewer.panels.table import TablePanel


def panel_entries(node: Node, modules: Sequence[str] = ()) -> tuple[PanelEntry, ...]:
    """Return all panels, also those of other packages; those that call services get the node.

    Args:
        node: the node of the page.
        modules: names of modules of other packages, with a function `panel_entries(node)`.

    Raises:
        ViewerError: There is no such module, or it has no panels.
    """
    entries: tuple[PanelEntry, ...] = (
        PanelEntry(CommandsPanel, 1.2, Where.MOVING),
        PanelEntry(PosePanel, 1.55, Where.MOVING),
        PanelEntry(_editing(TablePanel), 2.0, Where.ALONE),
        PanelEntry(_editing(SymbolsPanel), 2.1, Where.ALONE),
        PanelEntry(_editing(RobotFilePanel), 2.2, Where.ALONE),
        PanelEntry(MotionPanel, 3.0, Where.ALONE),
        PanelEntry(PlayPanel, 3.1, Where.ALONE),
        PanelEntry(LookPanel, 4.1, Where.EVERYWHERE),
        PanelEntry(PicturePanel, 4.2, Where.EVERYWHERE),
        PanelEntry(partial(KeysPanel, rate=BY_PAGE), 9.0, Where.ALONE),
        PanelEntry(partial(KeysPanel, rate=BY_DRIVER), 9.0, Where.RUNNING),
        PanelEntry(KeysPanel, 9.0, Where.WATCHING),
    )
    for module in modules:
        entries += _of_package(module, node)
    return tuple(sorted(entries, key=lambda entry: entry.order))


def _of_package(module: str, node: Node) -> tuple[PanelEntry, ...]:
    try:
        found: tuple[PanelEntry, ...] = import_module(module).panel_entries(node)
    except (ImportError, AttributeError) as error:
        raise ViewerError(f"parameter panels: {module} has no panels ({error})") from error
    return found


def _editing(
    kind: Callable[[PanelContext, RobotEditing], PagePanel],
) -> Callable[[PanelContext], PagePanel | None]:
    """Return the maker of a panel that needs a robot file."""

    def make(context: PanelContext) -> PagePanel | None:
        return None if context.editing is None else kind(context, context.editing)

    return make
