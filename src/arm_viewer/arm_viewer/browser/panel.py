# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel beside the picture: status lines, joints, postures and switches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

from arm_common.transforms import Array

from arm_viewer.browser.callbacks import PanelGui
from arm_viewer.browser.cameras import LOOKS
from arm_viewer.scene.robot import VisualJoint, VisualRobot

# NutState.msg's constants.
NUT_STATES = {
    0: "fallen",
    1: "on {bolt}",
    2: "on {bolt}, held",
    3: "held, clear of any bolt",
    4: "unknown",
}
STATUS = {"driver": "Driver", "task": "Task", "nut": "Nut"}  # each keeps its row once it has one
# All in one place:
MESSAGES = {
    "fault": "Fault: ",
    "problem": "",
    "beside": "",
    "page": "",
    "left_out": "",
    "file": "Robot file: ",
    "scene": "Scene file: ",
    "ik": "",
    "log": "",
}
QUIET = "Ready."  # what stands there while there are none
SWITCHES = {"axes": "Frames", "labels": "Frame names", "trace": "Tool path"}
MARKED = "#c2410c"  # the label of a slider that stands out
WRONG = "#dc2626"  # of entries that are refused
SLIDER_STEP = 0.1  # degrees or millimetres


BREAKS = "overflow-wrap:anywhere"  # a long path must not widen the panel

# As wide as the panel, however long its text.
_ROW = "padding:0 .8em;box-sizing:border-box;width:0;min-width:100%;font-size:.8125em;"
_ROW += "overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
# Three lines, with none cut off; more of them scroll.
_BOX = "padding:.1em .8em;font-size:.8125em;line-height:1.4;height:4.2em;overflow:auto;"
_BOX += f"box-sizing:content-box;{BREAKS}"


def status_line(key: str, label: str, text: str) -> str:
    """Return one labelled line as escaped HTML; `key` marks the element for tests."""
    if not text:
        return ""
    return (
        f'<div data-arm="{escape(key)}" style="padding:.25em .8em;font-size:.875em;{BREAKS}">'
        f'<div style="opacity:.6;font-size:.85em">{escape(label)}</div>{escape(text)}</div>'
    )


def status_row(key: str, text: str) -> str:
    """Return one labelled row as escaped HTML, as high as any other; `key` marks its text."""
    label = f'<span style="opacity:.6">{STATUS[key]}</span> '
    return f'<div style="{_ROW}" title="{escape(text)}">{label}{_marked(key, text)}</div>'


def message_box(texts: Mapping[str, str]) -> str:
    """Return all messages of now as escaped HTML, in a box that is always as high."""
    lines = [
        f"<div>{label}{_marked(key, texts[key])}</div>"
        for key, label in MESSAGES.items()
        if texts.get(key)
    ]
    return f'<div style="{_BOX}">{"".join(lines) or _dimmed(QUIET)}</div>'


def _marked(key: str, text: str) -> str:
    return f'<span data-arm="{escape(key)}">{escape(text)}</span>' if text else _dimmed("–")


def _dimmed(text: str) -> str:
    return f'<span style="opacity:.6">{text}</span>'


def answer_line(text: str, key: str = "answer") -> str:
    """Return the place of an answer beside its button, as high with one as without."""
    style = f"padding:.1em .8em;font-size:.8125em;min-height:1.6em;{BREAKS}"
    return f'<div style="{style}"><span data-arm="{escape(key)}">{escape(text)}</span></div>'


def problem_line(problem: str) -> str:
    """Return the sentence about a wrong entry as HTML, to stand below its field."""
    if not problem:
        return ""
    style = f"color:{WRONG};font-size:.75em;padding:0 .8em .3em;{BREAKS}"
    return f'<div data-arm="wrong" style="{style}">{escape(problem)}</div>'


def set_problem(element: Any, problem: str) -> None:
    """Show the sentence about a wrong entry below its field, or nothing for ""."""
    if problem:
        element.content = problem_line(problem)
    if element.visible != bool(problem):
        element.visible = bool(problem)


def nut_text(state: Any) -> str:
    """Return a NutState message as one line of text."""
    where = NUT_STATES.get(state.state, f"state {state.state}").format(bolt=state.bolt or "bolt")
    turns = f", {state.turns_engaged:.2f} turns engaged" if state.state in (1, 2) else ""
    return f"{where}{turns}" + (f": {state.message}" if state.message else "")


def value_text(joint: VisualJoint, value: float) -> str:
    """Return a joint's value [rad or m] in degrees or millimetres, with the unit."""
    return f"{round(to_display(joint, value), 1) + 0.0:.1f}{' mm' if joint.prismatic else '°'}"


def joint_table(joints: tuple[VisualJoint, ...], values: Mapping[str, float]) -> str:
    """Return the joints that have a value as a table."""
    known = [joint for joint in joints if math.isfinite(values.get(joint.name, math.nan))]
    return _table(
        "joints", [(joint.name, value_text(joint, values[joint.name])) for joint in known]
    )


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


@dataclass(frozen=True)
class PanelActions:
    """The actions of the panel's elements; all run in the node's thread."""

    switch: Callable[[str, bool], None]  # takes the name of a switch, and whether it is on now
    move: Callable[[str, float], None]  # takes a joint's name and value [rad or m]
    posture: Callable[[str], None]
    clear_trace: Callable[[], None]
    look: Callable[[Any, str], None]  # takes viser's handle of a browser, and one of LOOKS


class Panel:
    """viser's control panel. Its methods are called by one thread.

    `switches` is name -> first state, `sliders` whether the joints get sliders.
    """

    def __init__(
        self, gui: PanelGui, actions: PanelActions, switches: Mapping[str, bool], sliders: bool
    ) -> None:
        self._gui, self._actions, self._with_sliders = gui, actions, sliders
        self._sliders: dict[str, tuple[VisualJoint, Any]] = {}
        self._shown: tuple[Any, ...] = ()  # what the sliders and buttons were made for
        self._robots = 0
        add = gui.elements
        self._box = add.add_html(message_box({}), order=0)
        self._messages: dict[str, str] = {}
        self._status = {key: add.add_html("", order=0.1, visible=False) for key in STATUS}
        gui.views("Camera", LOOKS, actions.look, order=0.5)
        self._joints = add.add_folder("Joints", order=1, visible=False)
        self._joint_table = add.add_html("", order=1.05, visible=False)
        self._tool = add.add_html("", order=1.1, visible=False)
        with add.add_folder("Show", order=4, expand_by_default=False):
            for key, on in switches.items():
                switch = gui.checkbox(SWITCHES[key], on, partial(actions.switch, key))
                gui.remember(SWITCHES[key], switch)
            gui.button("Clear tool path", actions.clear_trace)
        self._mark = add.add_html("", visible=False)
        self._marked = ""  # the joint whose slider stands out
        self._revision = add.add_html(_revision(0))

    def set_status(self, key: str, text: str) -> None:
        """Show a line of text at the top, "" for none; what stands below it keeps its place."""
        if key in MESSAGES:
            if self._messages.get(key, "") != text:
                self._messages[key] = text
                self._box.content = message_box(self._messages)
        elif key in self._status and (text or self._status[key].visible):
            _set_html(self._status[key], status_row(key, text))

    def remove_status(self, key: str) -> None:
        """Remove a row, because another place of the page shows the same."""
        if key in self._status:
            self._status.pop(key).remove()

    def set_joints(self, joints: tuple[VisualJoint, ...], values: Mapping[str, float]) -> None:
        """Show the joints' values [rad or m] as text, unless they have sliders."""
        if not self._with_sliders:
            _set_html(self._joint_table, joint_table(joints, values))

    def set_tool(self, frame: str, pose: Array | None) -> None:
        """Show the tool's position, (4, 4) fixed <- tool, or nothing for None."""
        _set_html(self._tool, tool_table(frame, pose))

    def set_robot(
        self, robot: VisualRobot, values: Mapping[str, float], postures: tuple[str, ...]
    ) -> None:
        """Show the robot's name and, if requested, its sliders and posture buttons."""
        add = self._gui.elements
        add.set_panel_label(robot.name)
        shown = robot.joints, postures
        if not self._with_sliders or self._shown == shown:
            self.set_sliders(values)
            return
        self._shown = shown
        self._sliders.clear()
        self._joints.remove()
        self._joints = add.add_folder("Joints", order=1)
        with self._joints:
            for joint in robot.joints:
                if joint.mimic is None:
                    self._add_slider(joint, values.get(joint.name, 0.0))
            if postures:
                buttons = add.add_button_group("Posture", postures)
                self._gui.on_user(buttons.on_click, lambda: self._actions.posture(buttons.value))
        self.mark(self._marked)

    def set_sliders(self, values: Mapping[str, float]) -> None:
        """Move the sliders to these values [rad or m], without calling `move`."""
        for name, (joint, slider) in self._sliders.items():
            if name in values:
                slider.value = _displayed(joint, round(to_display(joint, values[name]), 1))

    def mark(self, joint: str) -> None:
        """Let the slider of a joint stand out; "" for none."""
        self._marked = joint
        _, slider = self._sliders.get(joint, (None, None))
        _set_html(self._mark, "" if slider is None else _highlight(slider._impl.uuid))

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
            initial_value=_displayed(joint, to_display(joint, value)),
        )
        self._sliders[joint.name] = (joint, slider)
        self._gui.on_change(
            slider, lambda shown: self._actions.move(joint.name, from_display(joint, shown))
        )


def _highlight(element: str) -> str:
    """Return the style of the row of an element, as HTML."""
    row = f'label[for="{element}"]'
    return f"<style>{row} {{ color: {MARKED}; font-weight: 700 }}</style>"


def _set_html(handle: Any, html: str) -> None:
    if html:
        handle.content = html
    handle.visible = bool(html)


def _revision(number: int) -> str:
    return f'<span data-arm="drawn" data-revision="{number}" hidden></span>'


def to_display(joint: VisualJoint, value: float) -> float:
    """Return a joint's value in degrees or millimetres, without float noise."""
    return round(1e3 * value if joint.prismatic else math.degrees(value), 11)


def from_display(joint: VisualJoint, value: float) -> float:
    """Return a joint's value [rad or m] from degrees or millimetres."""
    return 1e-3 * value if joint.prismatic else math.radians(value)


def display_limits(joint: VisualJoint) -> tuple[float, float]:
    """Return a joint's limits in degrees or millimetres, rounded inwards to the slider's step."""
    low, high = to_display(joint, joint.lower), to_display(joint, joint.upper)
    inner_low = round(SLIDER_STEP * math.ceil(low / SLIDER_STEP - 1e-6), 6)
    inner_high = round(SLIDER_STEP * math.floor(high / SLIDER_STEP + 1e-6), 6)
    return (inner_low, inner_high) if inner_low < inner_high else (low, high)


def _displayed(joint: VisualJoint, value: float) -> float:
    low, high = display_limits(joint)
    return min(max(value, low), high)
