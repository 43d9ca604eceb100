# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The joints in motion: position, velocity, acceleration, and the effort that the motion takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np
from arm_common.transforms import Array
from arm_description.model.units import Units
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import MOVE
from arm_viewer.panels.interface import Panel, PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where

from arm_kinematics import Chain, KinematicsError
from arm_studio.editing.model_chain import ModelChain
from arm_studio.editing.number_tables import hint_html, rows_html, wide_box

PERIOD = 0.05  # [s] of wall time between two samples
SPAN = 0.4  # [s] of the page's clock to which a parabola is fitted
REST = 1e-4  # [rad/s or m/s], [rad/s^2 or m/s^2]: less is rounding
SWITCH = "Show them"
HEAD = ("joint", "position", "velocity", "acceleration", "effort")
HINT = (
    "Velocity and acceleration: of a parabola through the positions of the last 0.4 s. Effort: "
    "computed for this motion by inverse dynamics, with masses that are {}."
)


class JointValuesPanel(Panel):
    """Shows a row for each joint; it moves nothing."""

    title = "Joint values"

    def __init__(self, context: PanelContext) -> None:
        self._context, self._model_chain = context, ModelChain(context)
        self._samples = deque[tuple[float, Mapping[str, float]]]()  # positions by time [s]

    def build(self, gui: PageGui) -> None:
        """Add the switch, without which nothing is computed, and the place of the table."""
        gui.checkbox(SWITCH, False, self._switch)
        self._html = gui.elements.add_html("")
        self._timer = self._context.every(PERIOD, self._sample)
        self._timer.cancel()

    def _switch(self, on: bool) -> None:
        self._samples.clear()
        if on:
            self._timer.reset()
            return
        self._timer.cancel()
        self._html.content = ""

    def close(self) -> None:
        """Stop sampling."""
        self._timer.cancel()

    def update(self, state: PanelState) -> None:
        """Show the newest values."""
        html = self._table() if self._samples else ""
        if html != self._html.content:
            self._html.content = html

    def _table(self) -> str:
        model, chain = self._context.model(), self._model_chain.chain()
        vectors = ((time, self._model_chain.q(positions)) for time, positions in self._samples)
        samples = [(time, q) for time, q in vectors if q is not None]
        if model is None or chain is None or not samples:
            return ""
        state = motion(samples)
        masses = "those of the file" if model.masses else "estimated"
        return _html(_cells(chain, model.units, state, self._efforts(chain, *state)), masses)

    def _sample(self) -> None:
        now = self._context.now()
        if self._samples and now <= self._samples[-1][0]:
            self._samples.clear()  # the clock was reset
        self._samples.append((now, dict(self._context.positions())))
        while now - self._samples[0][0] > SPAN:
            self._samples.popleft()
        self._context.redraw()

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
    chain: Chain, units: Units, state: Sequence[Array], efforts: Array | None
) -> list[tuple[str, ...]]:
    """Return the texts of a row for each joint."""
    rows: list[tuple[str, ...]] = []
    for i, name in enumerate(chain.joint_names):
        kind, force = ("prismatic", "N") if chain.prismatic[i] else ("revolute", "N m")
        q, v, a = (float(vector[i]) for vector in state)
        unit = units.unit(kind)
        effort = "unknown" if efforts is None else f"{round(float(efforts[i]), 3) + 0.0:g} {force}"
        speed, change = (units.number(rate, kind, 3) for rate in (v, a))
        rows.append(
            (name, units.fixed(q, kind), f"{speed} {unit}/s", f"{change} {unit}/s²", effort)
        )
    return rows


def _html(rows: Sequence[Sequence[str]], masses: str) -> str:
    head = f"<tr>{''.join(f'<th>{name}</th>' for name in HEAD)}</tr>"
    style = "font-variant-numeric:tabular-nums;text-align:right;border-spacing:.6em 0"
    table = f'<table data-arm="joint-values" style="{style}">{head}{rows_html(rows)}</table>'
    return wide_box(table) + hint_html(HINT.format(masses))


def _entry(context: PanelContext) -> JointValuesPanel | None:
    return None if context.model() is None else JointValuesPanel(context)


ENTRY = PanelEntry(_entry, 1.55, Where.EVERYWHERE, tab=MOVE)
