# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel beside the picture: status lines, joints, postures and switches.

Lines of the panel as small, escaped HTML.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from arm_viewer.browser.server import CallbackQueue, on_user
from arm_viewer.scene.robot import VisualJoint, VisualRobot
from arm_viewer.scene.shapes import Array

if TYPE_CHECKING:
    import viser

# NutState.msg's constants, as words.
NUT_STATES = {0: "fallen", 1: "on {bolt}", 2: "on {bolt}, held", 3: "held, clear of any bolt"}


def line(key: str, label: str, text: str) -> str:
    """Return one labelled line; `key` marks the element for tests and style sheets."""
    if not text:
        return ""
    return (
        f'<div data-arm="{escape(key)}" style="padding:.25em .8em;font-size:.875em">'
        f'<div style="opacity:.6;font-size:.85em">{escape(label)}</div>{escape(text)}</div>'
    )


def nut_text(state: Any) -> str:
    """Return a NutState message as one line of words."""
    where = NUT_STATES.get(state.state, f"state {state.state}").format(bolt=state.bolt or "bolt")
    turns = f", {state.turns_engaged:.2f} turns engaged" if state.state in (1, 2) else ""
    return f"{where}{turns}" + (f": {state.message}" if state.message else "")


def value_text(joint: VisualJoint, value: float) -> str:
    """Return a joint's value in degrees or millimetres, for people to read."""
    if joint.prismatic:
        return f"{1e3 * value:.1f} mm"
    return f"{math.degrees(value):.1f}°"


def joint_table(joints: tuple[VisualJoint, ...], values: Mapping[str, float]) -> str:
    """Return the joints that have a value as a table."""
    rows = [
        (joint.name, value_text(joint, values[joint.name]))
        for joint in joints
        if joint.name in values and math.isfinite(values[joint.name])
    ]
    return _table("joints", rows)


def tool_table(frame: str, pose: Array | None) -> str:
    """Return the tool's position, (4, 4) fixed <- tool, as a table in millimetres."""
    if pose is None:
        return ""
    x, y, z = (f"{1e3 * value:.1f}" for value in pose[:3, 3])
    return _table("tool", [(frame, f"{x}, {y}, {z} mm")])


def _table(key: str, rows: list[tuple[str, str]]) -> str:
    if not rows:
        return ""
    cell = "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"
    body = "".join(
        f'<tr><td style="opacity:.7">{escape(name)}</td>'
        f'<td style="{cell}">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return (
        f'<table data-arm="{escape(key)}" style="width:100%;padding:.1em .8em;font-size:.8125em">'
        f"{body}</table>"
    )


STATUS = {
    "problem": "Attention",
    "driver": "Driver",
    "ik": "Tool",
    "file": "Robot file",
    "task": "Task",
    "nut": "Nut",
    "log": "Log",
}
SWITCHES = {"axes": "Frames", "labels": "Frame names", "trace": "Tool path"}
STEP = 0.1  # Of a slider, degrees or millimetres.


@dataclass(frozen=True)
class PanelActions:
    """What the panel's elements do; all are called in the node's thread.

    Attributes:
        switch: Name of a switch, and whether it is on now.
        move: Joint name and value [rad or m].
        posture: Name of a posture.
        clear_trace: Without arguments.
    """

    switch: Callable[[str, bool], None]
    move: Callable[[str, float], None]
    posture: Callable[[str], None]
    clear_trace: Callable[[], None]


class Panel:
    """viser's control panel. Its methods are called by one thread.

    Args:
        server: viser's server.
        mailbox: Takes the users' actions over to the node's thread.
        actions: What to do then.
        switches: Name of each switch -> its first state.
        sliders: Whether the joints get sliders.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        mailbox: CallbackQueue,
        actions: PanelActions,
        switches: Mapping[str, bool],
        sliders: bool,
    ) -> None:
        self._server, self._mailbox, self._actions = server, mailbox, actions
        self._with_sliders = sliders
        self._sliders: dict[str, tuple[VisualJoint, Any]] = {}
        self._drawn = 0
        gui = server.gui
        self._status = {key: gui.add_html("", order=0, visible=False) for key in STATUS}
        self._joints = gui.add_folder("Joints", order=1, visible=False)
        self._joint_table = gui.add_html("", order=2, visible=False)
        self._tool = gui.add_html("", order=3, visible=False)
        with gui.add_folder("Show", order=4):
            for key, on in switches.items():
                self._add_switch(key, on)
            self._add_clear_button()
        self._revision = gui.add_html(_revision(0))

    def set_status(self, key: str, text: str) -> None:
        """Show a line of text at the top; empty to hide it."""
        _set_html(self._status[key], line(key, STATUS[key], text))

    def set_joints(self, joints: tuple[VisualJoint, ...], values: Mapping[str, float]) -> None:
        """Show the joints' values [rad or m] as text, where they have no sliders."""
        html = "" if self._with_sliders else joint_table(joints, values)
        _set_html(self._joint_table, html)

    def set_tool(self, frame: str, pose: Any) -> None:
        """Show the tool's position, (4, 4) fixed <- tool, or nothing for None."""
        _set_html(self._tool, tool_table(frame, pose))

    def set_robot(
        self, robot: VisualRobot, values: Mapping[str, float], postures: tuple[str, ...]
    ) -> None:
        """Name the robot and, if sliders are wanted, make one a joint and a button a posture."""
        self._server.gui.set_panel_label(robot.name)
        if not self._with_sliders:
            return
        self._sliders.clear()
        self._joints.remove()
        self._joints = self._server.gui.add_folder("Joints", order=1)
        with self._joints:
            for joint in robot.joints:
                if joint.mimic is None:
                    self._add_slider(joint, values.get(joint.name, 0.0))
            if postures:
                self._add_postures(postures)

    def set_sliders(self, values: Mapping[str, float]) -> None:
        """Move the sliders to these values [rad or m], without calling `move`."""
        for name, (joint, slider) in self._sliders.items():
            if name in values:
                low, high = _range(joint)
                slider.value = min(max(round(_shown(joint, values[name]), 1), low), high)

    def count_drawing(self) -> None:
        """Note in the page that a robot was drawn, for programs that wait for it."""
        self._drawn += 1
        self._revision.content = _revision(self._drawn)

    def _add_slider(self, joint: VisualJoint, value: float) -> None:
        unit = "mm" if joint.prismatic else "°"
        low, high = _range(joint)
        slider = self._server.gui.add_slider(
            f"{joint.name} [{unit}]",
            min=low,
            max=high,
            step=STEP,
            initial_value=min(max(_shown(joint, value), low), high),
        )
        self._sliders[joint.name] = (joint, slider)
        on_user(
            self._mailbox,
            slider.on_update,
            lambda: self._actions.move(joint.name, _meant(joint, slider.value)),
        )

    def _add_postures(self, names: tuple[str, ...]) -> None:
        buttons = self._server.gui.add_button_group("Posture", names)
        on_user(self._mailbox, buttons.on_click, lambda: self._actions.posture(buttons.value))

    def _add_switch(self, key: str, on: bool) -> None:
        box = self._server.gui.add_checkbox(SWITCHES[key], on)
        on_user(self._mailbox, box.on_update, lambda: self._actions.switch(key, box.value))

    def _add_clear_button(self) -> None:
        button = self._server.gui.add_button("Clear tool path", color="gray")
        on_user(self._mailbox, button.on_click, self._actions.clear_trace)


def _set_html(handle: Any, html: str) -> None:
    if html:
        handle.content = html
    handle.visible = bool(html)


def _revision(number: int) -> str:
    return f'<span data-arm="drawn" data-revision="{number}" hidden></span>'


def _range(joint: VisualJoint) -> tuple[float, float]:
    """Return a joint's limits as shown, rounded inwards to the slider's step."""
    low, high = _shown(joint, joint.lower), _shown(joint, joint.upper)
    inner = (
        round(STEP * math.ceil(low / STEP - 1e-6), 6),
        round(STEP * math.floor(high / STEP + 1e-6), 6),
    )
    return inner if inner[0] < inner[1] else (low, high)


def _shown(joint: VisualJoint, value: float) -> float:
    """Return a value as the slider shows it: degrees or millimetres, 12 and no hair more."""
    return round(1e3 * value if joint.prismatic else math.degrees(value), 11)


def _meant(joint: VisualJoint, shown: float) -> float:
    """Return the joint's value [rad or m] that a slider's value stands for."""
    return 1e-3 * shown if joint.prismatic else math.radians(shown)
