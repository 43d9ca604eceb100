# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Texts of the page as HTML, and joint positions in the units that it shows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

from arm_common.transforms import Array
from arm_description.model.units import SHOWN, millimetres, with_degree_sign

from arm_viewer.scene.robot import VisualJoint

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
WRONG = "#dc2626"  # of entries that are refused
SLIDER_STEP = 0.1  # degrees or millimetres
BREAKS = "overflow-wrap:anywhere"  # a long path must not widen the sidebar

# As wide as the sidebar, however long its text.
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
    """Return all messages of now as escaped HTML, each once, in a box that is always as high."""
    now = {key: texts[key] for key in MESSAGES if texts.get(key)}
    lines = [
        f"<div>{MESSAGES[key]}{_marked(key, text)}</div>"
        for number, (key, text) in enumerate(now.items())
        # A line of the log may be about what another part says.
        if not any(said in text for said in list(now.values())[:number])
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


def set_problem(element: Any, problem: str) -> None:
    """Show the sentence about a wrong entry below its field, or nothing for ""."""
    if problem:
        style = f"color:{WRONG};font-size:.75em;padding:0 .8em .3em;{BREAKS}"
        element.content = f'<div data-arm="wrong" style="{style}">{escape(problem)}</div>'
    if element.visible != bool(problem):
        element.visible = bool(problem)


def set_choice(element: Any, options: tuple[str, ...], chosen: str) -> None:
    """Offer options in a drop-down list, and show the chosen one; what is the same is not sent."""
    if element.options != options:
        element.options = options
    if element.value != chosen:
        element.value = chosen


def set_html(handle: Any, html: str) -> None:
    """Show HTML in an element, which is hidden without any."""
    if html:
        handle.content = html
    handle.visible = bool(html)


def nut_text(state: Any) -> str:
    """Return a NutState message as one line of text."""
    where = NUT_STATES.get(state.state, f"state {state.state}").format(bolt=state.bolt or "bolt")
    turns = f", {state.turns_engaged:.2f} turns engaged" if state.state in (1, 2) else ""
    return f"{where}{turns}" + (f": {state.message}" if state.message else "")


def value_text(joint: VisualJoint, value: float) -> str:
    """Return a joint's value [rad or m] in degrees or millimetres, with the unit."""
    return with_degree_sign(SHOWN.fixed(value, _kind(joint)))


def joint_table(joints: tuple[VisualJoint, ...], values: Mapping[str, float]) -> str:
    """Return the joints that have a value as a table."""
    known = [joint for joint in joints if math.isfinite(values.get(joint.name, math.nan))]
    return _table(
        "joints", [(joint.name, value_text(joint, values[joint.name])) for joint in known]
    )


def tool_table(frame: str, pose: Array | None) -> str:
    """Return the tool's position, (4, 4) fixed <- tool, as a table in millimetres."""
    return "" if pose is None else _table("tool", [(frame, f"{millimetres(pose[:3, 3])} mm")])


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


def to_display(joint: VisualJoint, value: float) -> float:
    """Return a joint's value in degrees or millimetres, without float noise."""
    return round(SHOWN.written(value, _kind(joint)), 11)


def from_display(joint: VisualJoint, value: float) -> float:
    """Return a joint's value [rad or m] from degrees or millimetres."""
    return SHOWN.si(value, _kind(joint))


def _kind(joint: VisualJoint) -> str:
    return "prismatic" if joint.prismatic else "revolute"


def display_limits(joint: VisualJoint) -> tuple[float, float]:
    """Return a joint's limits in degrees or millimetres, rounded inwards to the slider's step."""
    low, high = to_display(joint, joint.lower), to_display(joint, joint.upper)
    inner_low = round(SLIDER_STEP * math.ceil(low / SLIDER_STEP - 1e-6), 6)
    inner_high = round(SLIDER_STEP * math.floor(high / SLIDER_STEP + 1e-6), 6)
    return (inner_low, inner_high) if inner_low < inner_high else (low, high)


def displayed(joint: VisualJoint, value: float) -> float:
    """Return a displayed value within the displayed limits."""
    low, high = display_limits(joint)
    return min(max(value, low), high)
