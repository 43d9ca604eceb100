# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/panels/test_joint_values.py
"""The joints in motion: position, velocity, acceleration, and the effort that the motion takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from html import escape

import numpy as np
from arm_common.transforms import Array
from arm_description.model.units import Units
from arm_description.robot_model import RobotModel
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import MOVE
from arm_viewer.panels.interface import Panel, PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where

from arm_kinematics import Chain, KinematicsError

PERIOD = 0.05  # [s] of wall time between two samples
SPAN = 0.4  # [s] of the page's clock to which a parabola is fitted
REST = 1e-4  # [rad/s or m/s], [rad/s^2 or m/s^2]: less is rounding
HEAD = ("joint", "position", "velocity", "acceleration", "effort")
HINT = (
    "Velocity and acceleration: of a parabola through the positions of the last 0.4 s. Effort: "
    "computed for this motion by inverse dynamics, with masses that are {}."
)


class JointValuesPanel(Panel):
    """Shows a row for each joint; it moves nothing."""

    title = "Joint values"

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._model: RobotModel | None = None
        self._chain: Chain | None = None
        self._samples = deque[tuple[float, Array]]()  # times [s] and positions (n,)

    def build(self, gui: PageGui) -> None:
        """Add the place of the table, and begin to sample."""
        self._html = gui.elements.add_html("")
        self._timer = self._context.every(PERIOD, self._sample)

    def close(self) -> None:
        """Stop sampling."""
        self._timer.cancel()

    def update(self, state: PanelState) -> None:
        """Show the newest values."""
        if self._chain is None or self._model is None or not self._samples:
            return
        rates = motion(self._samples)
        efforts = self._efforts(self._chain, *rates)
        masses = "those of the file" if self._model.masses else "estimated"
        html = _html(_cells(self._chain, self._model.units, rates, efforts), masses)
        if html != self._html.content:
            self._html.content = html

    def _sample(self) -> None:
        model = self._context.model()
        if model is not self._model:
            self._take(model)
        if self._chain is None:
            return
        positions, now = self._context.positions(), self._context.now()
        if any(name not in positions for name in self._chain.joint_names):
            return
        q = np.array([positions[name] for name in self._chain.joint_names])
        if self._samples and now <= self._samples[-1][0]:
            self._samples.clear()  # the clock began anew
        self._samples.append((now, q))
        while now - self._samples[0][0] > SPAN:
            self._samples.popleft()

    def _take(self, model: RobotModel | None) -> None:
        self._model, self._chain = model, None
        self._samples.clear()
        if model is not None:
            try:
                self._chain = Chain.from_model(model)
            except KinematicsError:
                self._html.content = ""

    def _efforts(self, chain: Chain, q: Array, v: Array, a: Array) -> Array | None:
        try:
            return chain.inverse_dynamics(q, v, a)
        except KinematicsError:  # nothing has a mass
            return None


def motion(samples: Sequence[tuple[float, Array]]) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration (n,) at the last of some samples.

    They are of the parabola that fits the samples best; at rest, and before there are enough
    samples, velocity and acceleration are 0.
    """
    times, rows = np.array([time for time, _ in samples]), np.array([q for _, q in samples])
    still = np.zeros(rows.shape[1])
    if len(times) < 4 or times[-1] - times[0] < 0.5 * SPAN:
        return rows[-1], still, still
    a, v, _ = np.polyfit(times - times[-1], rows - rows[-1], 2)
    v, a = (np.where(np.abs(rate) < REST, 0.0, rate) for rate in (v, 2.0 * a))
    return rows[-1], v, a


def _cells(
    chain: Chain, units: Units, rates: Sequence[Array], efforts: Array | None
) -> list[tuple[str, ...]]:
    """Return the texts of a row for each joint."""
    rows: list[tuple[str, ...]] = []
    for i, name in enumerate(chain.joint_names):
        kind, force = ("prismatic", "N") if chain.prismatic[i] else ("revolute", "N m")
        q, v, a = (float(rate[i]) for rate in rates)
        unit = units.unit(kind)
        effort = "unknown" if efforts is None else f"{round(float(efforts[i]), 3) + 0.0:g} {force}"
        speed, change = (units.number(rate, kind, 3) for rate in (v, a))
        rows.append(
            (name, units.fixed(q, kind), f"{speed} {unit}/s", f"{change} {unit}/s²", effort)
        )
    return rows


def _html(rows: Sequence[Sequence[str]], masses: str) -> str:
    cells = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    style = "font-variant-numeric:tabular-nums;text-align:right;border-spacing:.6em 0"
    return (
        '<div style="padding:.2em .4em;font-size:.75em;overflow-x:auto;white-space:nowrap;'
        'box-sizing:border-box;width:0;min-width:100%">'
        f'<table data-arm="joint-values" style="{style}"><tr>{head}</tr>{cells}</table></div>'
        f'<div style="padding:.1em .8em;font-size:.75em;opacity:.6">{HINT.format(masses)}</div>'
    )


def _entry(context: PanelContext) -> JointValuesPanel | None:
    return None if context.model() is None else JointValuesPanel(context)


ENTRY = PanelEntry(_entry, 1.55, Where.EVERYWHERE, tab=MOVE)
