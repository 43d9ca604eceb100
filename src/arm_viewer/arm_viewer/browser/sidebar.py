# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/browser/test_view.py
"""The sidebar beside the picture: status lines, joints, postures and switches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from arm_common.transforms import Array

from arm_viewer.browser.callbacks import PageGui, element_id
from arm_viewer.browser.cameras import LOOKS
from arm_viewer.browser.tabs import MOVE, VIEW
from arm_viewer.browser.texts import (
    MESSAGES,
    SLIDER_STEP,
    STATUS,
    display_limits,
    displayed,
    from_display,
    joint_table,
    message_box,
    set_html,
    status_row,
    to_display,
    tool_table,
)
from arm_viewer.scene.robot import VisualJoint, VisualRobot

SWITCHES = {"axes": "Frames", "labels": "Frame names", "trace": "Tool path"}
FRAMES, PATH = ("Frames", 4.2), ("Tool path", 4.3)  # folders of the tab View, and their order
MARKED = "#c2410c"  # the label of a slider that stands out


@dataclass(frozen=True)
class SidebarActions:
    """The actions of the sidebar's elements; all run in the page's thread."""

    switch: Callable[[str, bool], None]  # takes the name of a switch, and whether it is on now
    move: Callable[[str, float], None]  # takes a joint's name and value [rad or m]
    posture: Callable[[str], None]
    clear_trace: Callable[[], None]
    look: Callable[[Any, str], None]  # takes viser's handle of a browser, and one of LOOKS


class Sidebar:
    """viser's control panel, which holds the panels. Its methods are called by one thread.

    `switches` is name -> first state, `sliders` whether the joints get sliders.
    """

    def __init__(
        self, gui: PageGui, actions: SidebarActions, switches: Mapping[str, bool], sliders: bool
    ) -> None:
        self._gui, self._actions, self._with_sliders = gui, actions, sliders
        self._sliders: dict[str, tuple[VisualJoint, Any]] = {}
        self._shown: tuple[Any, ...] = ()  # what the sliders and buttons were made for
        self._robots = 0
        add = gui.elements
        self._box = add.add_html(message_box({}), order=0)
        self._messages: dict[str, str] = {}
        self._status = {key: add.add_html("", order=0.1, visible=False) for key in STATUS}
        gui.views(LOOKS, actions.look)
        self._joints: Any = gui.tabs.folder(MOVE, "Joints", order=1) if sliders else None
        self._joint_table = add.add_html("", order=0.6, visible=False)
        self._tool = add.add_html("", order=0.7, visible=False)
        for key, on in switches.items():
            title, place = PATH if key == "trace" else FRAMES
            with gui.tabs.folder(VIEW, title, order=place):
                switch = gui.checkbox(SWITCHES[key], on, partial(actions.switch, key))
                gui.remember(SWITCHES[key], switch)
        with gui.tabs.folder(VIEW, PATH[0]):
            gui.button("Clear tool path", actions.clear_trace)
        self._mark = gui.mark()
        self._marked = ""  # the joint whose slider stands out
        self._revision = gui.mark(_revision(0))

    def set_status(self, key: str, text: str) -> None:
        """Show a line of text at the top, "" for none; what stands below it keeps its place."""
        if key in MESSAGES:
            if self._messages.get(key, "") != text:
                self._messages[key] = text
                self._box.content = message_box(self._messages)
        elif key in self._status and (text or self._status[key].visible):
            set_html(self._status[key], status_row(key, text))

    def set_joints(self, joints: tuple[VisualJoint, ...], values: Mapping[str, float]) -> None:
        """Show the joints' values [rad or m] as text, unless they have sliders."""
        if not self._with_sliders:
            set_html(self._joint_table, joint_table(joints, values))

    def set_tool(self, frame: str, pose: Array | None) -> None:
        """Show the tool's position, (4, 4) fixed <- tool, or nothing for None."""
        set_html(self._tool, tool_table(frame, pose))

    def set_robot(
        self, robot: VisualRobot, values: Mapping[str, float], postures: tuple[str, ...]
    ) -> None:
        """Show the robot's name and, if requested, its sliders and posture buttons.

        Other limits of the same joints change their sliders: a new one would lose what a person
        enters meanwhile.
        """
        self._gui.elements.set_panel_label(robot.name)
        shown = [(j.name, j.prismatic) for j in robot.joints if j.mimic is None], postures
        if not self._with_sliders or self._shown == shown:
            self._limit_sliders(robot.joints)
            self.set_sliders(values)
            return
        self._shown = shown
        self._sliders.clear()
        with self._gui.emptied(self._joints):
            for joint in robot.joints:
                if joint.mimic is None:
                    self._add_slider(joint, values.get(joint.name, 0.0))
            if postures:
                buttons = self._gui.elements.add_button_group("Posture", postures)
                self._gui.on_user(buttons.on_click, lambda: self._actions.posture(buttons.value))
        self.mark(self._marked)

    def _limit_sliders(self, joints: tuple[VisualJoint, ...]) -> None:
        for joint in joints:
            former, slider = self._sliders.get(joint.name, (joint, None))
            if slider is not None and joint != former:
                self._sliders[joint.name] = (joint, slider)
                slider.min, slider.max = display_limits(joint)

    def set_sliders(self, values: Mapping[str, float]) -> None:
        """Move the sliders to these values [rad or m], without calling `move`."""
        for name, (joint, slider) in self._sliders.items():
            if name in values:
                slider.value = displayed(joint, round(to_display(joint, values[name]), 1))

    def mark(self, joint: str) -> None:
        """Let the slider of a joint stand out; "" for none."""
        self._marked = joint
        _, slider = self._sliders.get(joint, (None, None))
        set_html(self._mark, "" if slider is None else _highlight(element_id(slider)))

    def count_robot(self) -> None:
        """Increase the number of drawn robots in the page, for programs that wait for one."""
        self._robots += 1
        self._revision.content = _revision(self._robots)

    def _add_slider(self, joint: VisualJoint, value: float) -> None:
        low, high = display_limits(joint)
        slider = self._gui.elements.add_slider(
            f"{joint.name} [{'mm' if joint.prismatic else '°'}]",
            min=low,
            max=high,
            step=SLIDER_STEP,
            initial_value=displayed(joint, to_display(joint, value)),
        )
        self._sliders[joint.name] = (joint, slider)
        self._gui.on_change(
            slider, lambda shown: self._actions.move(joint.name, from_display(joint, shown))
        )


def _highlight(element: str) -> str:
    """Return the style of the row of an element, as HTML."""
    row = f'label[for="{element}"]'
    return f"<style>{row} {{ color: {MARKED}; font-weight: 700 }}</style>"


def _revision(number: int) -> str:
    return f'<span data-arm="drawn" data-revision="{number}" hidden></span>'
