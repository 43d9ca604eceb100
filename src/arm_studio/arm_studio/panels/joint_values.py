# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The joints in motion: position, velocity, acceleration, and the effort that the motion takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
        self._context = context
        self._model: RobotModel | None = None
        self._chain: Chain | None = None
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
        if not self._samples:
            return
        model = self._context.model()
        if model is not self._model:
            self._take(model)
        if model is None or (chain := self._chain) is None:
            return
        samples = [
            (time, np.array([positions[name] for name in chain.joint_names]))
            for time, positions in self._samples
            if all(name in positions for name in chain.joint_names)
        ]
        if not samples:
            return
        rates = motion(samples)
        masses = "those of the file" if model.masses else "estimated"
        rows = _cells(chain, model.units, rates, self._efforts(chain, *rates))
        if (html := _html(rows, masses)) != self._html.content:
            self._html.content = html

    def _sample(self) -> None:
        now = self._context.now()
        if self._samples and now <= self._samples[-1][0]:
            self._samples.clear()  # the clock was reset
        self._samples.append((now, dict(self._context.positions())))
        while now - self._samples[0][0] > SPAN:
            self._samples.popleft()

    def _take(self, model: RobotModel | None) -> None:
        self._model, self._chain = model, None
        self._html.content = ""
        if model is not None:
            with suppress(KinematicsError):  # nothing moves
                self._chain = Chain.from_model(model)

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
