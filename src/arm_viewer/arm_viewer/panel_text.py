# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Lines of the panel as small, escaped HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

from .robot_picture import PictureJoint
from .shapes import Array

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


def value_text(joint: PictureJoint, value: float) -> str:
    """Return a joint's value in degrees or millimetres, for people to read."""
    if joint.prismatic:
        return f"{1e3 * value:.1f} mm"
    return f"{math.degrees(value):.1f}°"


def joint_table(joints: tuple[PictureJoint, ...], values: Mapping[str, float]) -> str:
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
