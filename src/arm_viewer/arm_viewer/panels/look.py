# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panels "Look" and "Frames": how the bodies are drawn, and which frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from arm_description.urdf.elements import is_dh_frame

from arm_viewer.browser.callbacks import PageGui, element_id
from arm_viewer.browser.drawers import BodyLook
from arm_viewer.browser.sidebar import FRAMES
from arm_viewer.browser.tabs import VIEW
from arm_viewer.panels.interface import Panel, PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where
from arm_viewer.scene.robot import VisualRobot

OPACITY = 40  # [%] of see-through bodies at first
ON_TOP = "Frames on top"


class LookPanel(Panel):
    """Switches the look of the bodies."""

    title = "Look"

    def __init__(self, context: PanelContext) -> None:
        self._context = context

    def build(self, gui: PageGui) -> None:
        """Add the elements."""
        looks = tuple(look.value for look in BodyLook)
        self._look = gui.choice("Bodies", looks, looks[0], lambda _: self._set_look())
        gui.remember("Bodies", self._look)
        self._opacity = gui.elements.add_slider(
            "Opacity [%]", min=5, max=95, step=5, initial_value=OPACITY
        )
        gui.on_change(self._opacity, lambda _: self._set_look())
        gui.remember("Opacity", self._opacity)

    def _set_look(self) -> None:
        view = self._context.view
        look = BodyLook(self._look.value)
        for problem in view.drawer.set_look(look, 0.01 * self._opacity.value):
            view.report_problem(problem)


class FramesPanel(Panel):
    """Switches each frame by itself."""

    title = FRAMES[0]

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._robot: VisualRobot | None = None
        self._shown = ""

    def build(self, gui: PageGui) -> None:
        """Add the elements."""
        gui.remember(ON_TOP, gui.checkbox(ON_TOP, False, self._set_on_top))
        self._line = gui.text("", "", self.receive, visible=False)
        self._frames: Any = gui.elements.add_html("")
        self._top: Any = gui.mark(on_top_mark(False))

    def update(self, state: PanelState) -> None:
        """Show a switch for each frame of the robot."""
        if (robot := state.robot) is None:
            return
        self._robot = robot
        is_shown, uuid = self._context.view.drawer.frames.is_shown, element_id(self._line)
        own, dh = frame_names(robot, self._context.tool_frame)
        shown = frame_buttons("Frames", own, is_shown, uuid)
        shown += frame_buttons("DH frames", dh, is_shown, uuid)
        if shown != self._shown:
            self._shown = self._frames.content = shown

    def receive(self, line: str) -> None:
        """Take a line of the page's script: ``LINK #COUNT``."""
        name = line.rpartition(" #")[0]
        if self._robot is not None and name in self._robot.links:
            frames = self._context.view.drawer.frames
            frames.switch_frame(name, not frames.is_shown(name))
            self._context.redraw()

    def _set_on_top(self, on: bool) -> None:
        self._top.content = on_top_mark(on)
        self._context.view.drawer.set_on_top(on)


def frame_names(robot: VisualRobot, tool: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return label -> link of the robot's frames, base to tool, and of its DH frames.

    The root is 0, the link that the n-th joint moves is n; other links have their names.
    """
    moved = [robot.root]
    for joint in robot.joints_to(tool):
        moved += [link for link, carrier in robot.carriers.items() if carrier.name == joint.name]
    own = {str(number): link for number, link in enumerate(moved)}
    own |= {link: link for link in robot.links if link not in moved and not is_dh_frame(link)}
    dh = [link for link in robot.links if is_dh_frame(link)]
    return own, {str(number): link for number, link in enumerate(dh)}


def frame_buttons(
    label: str, names: Mapping[str, str], is_shown: Callable[[str], bool], element: str
) -> str:
    """Return a row of switches, label -> link, as HTML; "" for none."""
    buttons = []
    for text, link in names.items():
        on = is_shown(link)
        colour = "var(--mantine-primary-color-filled)"
        colours = f"background:{colour};color:#fff" if on else f"background:none;color:{colour}"
        buttons.append(
            f'<button type="button" data-send="{escape(link)}" data-element="{element}" '
            f'title="{escape(link)}" aria-pressed="{str(on).lower()}" '
            f'style="border:1px solid;border-radius:3px;margin:1px;min-width:1.9em;{colours}">'
            f"{escape(text)}</button>"
        )
    row = f'<span style="opacity:.6">{label}</span> {"".join(buttons)}'
    style = "padding:.1em .8em;font-size:.8125em"
    return f'<div style="{style}">{row}</div>' if buttons else ""


def on_top_mark(on: bool) -> str:
    """Return what tells the page's script whether frames are drawn on top of bodies."""
    return f'<span data-arm="on_top" data-on="{int(on)}" hidden></span>'


ENTRY = PanelEntry(LookPanel, 4.1, Where.EVERYWHERE, folded=False, tab=VIEW)
FRAMES_ENTRY = PanelEntry(FramesPanel, FRAMES[1], Where.EVERYWHERE, folded=False, tab=VIEW)
