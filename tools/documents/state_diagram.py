# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Draws states in a row as SVG: changes to the right as arcs above them, to the left below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

HEIGHT, GAP, LEVEL, PORT = 34, 50, 24, 15  # [px]
START = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}">
<style>text {{ font: 11px sans-serif; fill: #222; text-anchor: middle }} path {{ fill: none; \
stroke: #557 }} rect {{ fill: #fff }} .state {{ fill: #e8ecf8; stroke: #557 }}</style>
<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" \
orient="auto"><path d="M0 0L8 4L0 8" /></marker>
<rect width="{0}" height="{1}"/>"""


class Arc(NamedTuple):
    """A change from one state to another, by their indices, with ends and level as drawn."""

    start: int
    end: int
    label: str
    x1: float = 0.0
    x2: float = 0.0
    level: int = 0


def state_diagram(names: Sequence[str], changes: Iterable[tuple[str, str, str]]) -> str:
    """Return the SVG of changes: state, next state, event."""
    events: dict[tuple[int, int], list[str]] = {}
    for state, after, event in changes:
        events.setdefault((names.index(state), names.index(after)), []).append(event)
    arcs = [Arc(*edge, ", ".join(labels)) for edge, labels in events.items()]
    sides = [[a for a in arcs if a.end > a.start], [a for a in arcs if a.end < a.start]]
    boxes, left = [], 10.0
    for i, name in enumerate(names):
        ports = max(sum(i in (a.start, a.end) for a in side) for side in sides)
        boxes.append((left, max(PORT * ports + 10.0, 7.0 * len(name) + 14.0, 70.0)))
        left += boxes[-1][1] + GAP
    above, below = (_placed(side, boxes) for side in sides)
    top, bottom = (LEVEL * (max((a.level for a in s), default=0) + 1) for s in (above, below))
    lines = [START.format(left, top + HEIGHT + bottom)]
    lines += [_line(arc, top, -LEVEL) for arc in above]
    lines += [_line(arc, top + HEIGHT, LEVEL) for arc in below]
    for (x, width), name in zip(boxes, names, strict=True):
        box = f'x="{x}" y="{top}" width="{width}" height="{HEIGHT}" rx="6"'
        lines += [f'<rect class="state" {box}/>', _text(name, x + width / 2, top + 21)]
    lines += [_label(arc, top - LEVEL * arc.level - 4) for arc in above]
    lines += [_label(arc, top + HEIGHT + LEVEL * arc.level + 12) for arc in below]
    return "\n".join([*lines, "</svg>\n"])


def _placed(arcs: Sequence[Arc], boxes: Sequence[tuple[float, float]]) -> list[Arc]:
    """Return the arcs of one side such that shorter ones are inside and none covers another."""

    def port(state: int, arc: Arc) -> float:
        ends = [(a.start + a.end - state, a) for a in arcs if state in (a.start, a.end)]
        order = [a for _, a in sorted(ends, key=lambda end: (end[0] > state, -end[0]))]
        left, width = boxes[state]
        return left + width / 2 + PORT * (order.index(arc) - (len(order) - 1) / 2)

    placed: list[Arc] = []
    for arc in sorted(arcs, key=lambda a: (abs(a.end - a.start), min(a.start, a.end))):
        new = arc._replace(x1=port(arc.start, arc), x2=port(arc.end, arc))
        under = (a.level for a in placed if _apart(a, new) < _width(a) + _width(new))
        placed.append(new._replace(level=max(under, default=0) + 1))
    return placed


def _apart(one: Arc, other: Arc) -> float:
    return abs(one.x1 + one.x2 - other.x1 - other.x2)


def _width(arc: Arc) -> float:
    return max(abs(arc.x2 - arc.x1), 6.0 * len(arc.label))


def _line(arc: Arc, y: float, step: float) -> str:
    path = f"M{arc.x1} {y}V{y + step * arc.level}H{arc.x2}V{y}"
    return f'<path d="{path}" marker-end="url(#arrow)"/>'


def _label(arc: Arc, y: float) -> str:
    x, width = (arc.x1 + arc.x2) / 2, 5.6 * len(arc.label)
    back = f'<rect x="{x - width / 2}" y="{y - 10}" width="{width}" height="13"/>'
    return back + _text(arc.label, x, y)


def _text(text: str, x: float, y: float) -> str:
    return f'<text x="{x}" y="{y}">{escape(text)}</text>'
