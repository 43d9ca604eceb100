# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The live numbers of the tool: its pose T, the Jacobian J, and how near a singular posture is."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from arm_common.transforms import Array
from arm_kinematics.dexterity.conditioning import homogeneous_jacobian, motion_directions
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import MOVE
from arm_viewer.browser.texts import status_line
from arm_viewer.panels.interface import Panel, PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where

from arm_kinematics import Chain, KinematicsError
from arm_studio.editing.model_chain import ModelChain
from arm_studio.editing.number_tables import cosine, matrix_html, pose_rows

SINGULAR, NEAR_SINGULAR = 1e-6, 2e-2  # smallest over largest singular value


class MatricesPanel(Panel):
    """Shows T and J at the present posture, in the units of the file."""

    title = "Tool"

    def __init__(self, context: PanelContext) -> None:
        self._context, self._model_chain = context, ModelChain(context)
        self._chain: Chain | None = None
        self._directions: Array | None = None  # (k, 3) in which the tip moves; None: all count
        self._shown: Array = np.empty(0)  # (n,) [rad or m]

    def build(self, gui: PageGui) -> None:
        """Add the place of the numbers."""
        with gui.elements.add_folder("T and J", expand_by_default=False):
            self._html = gui.elements.add_html("")

    def update(self, state: PanelState) -> None:
        """Show the numbers of another posture or robot."""
        chain, robot = self._model_chain.chain(), state.robot
        q = self._model_chain.q(state.positions)
        if chain is None or q is None or robot is None:
            return
        if chain is not self._chain:
            self._take(chain)
        if np.array_equal(q, self._shown):
            return
        self._shown = q
        self._html.content = self._numbers(chain, q, robot.reach)

    def close(self) -> None:
        """Do nothing: nothing was drawn."""

    def _take(self, chain: Chain) -> None:
        self._chain, self._shown, self._directions = chain, np.empty(0), None
        with suppress(KinematicsError):  # the tip only turns: then its turning counts
            if chain.n < 6:
                self._directions = motion_directions(chain)

    def _numbers(self, chain: Chain, q: Array, reach: float) -> str:
        units, (T, J) = self._context.units, chain.fk_jacobian(q)
        lengths = [[units.written(float(v), "prismatic") for v in row] for row in J[:3]]
        rows = [[f"{v:.5g}" for v in np.round(row, 6) + 0.0] for row in lengths]
        rows += [[cosine(v) for v in row] for row in J[3:]]
        html = matrix_html(f"T, base to tool [{units.length}]", pose_rows(T, units), "T")
        html += matrix_html(f"J, v over ω [{units.length}/rad, rad/rad]", rows, "J")
        return html + status_line("condition", "Condition number", self._condition(J, reach))

    def _condition(self, J: Array, reach: float) -> str:
        """Return the condition number, with lengths over the reach, and whether J is singular."""
        H = homogeneous_jacobian(J, reach)
        rows = H if self._directions is None else self._directions @ H[:3]
        values = np.linalg.svd(rows, compute_uv=False)
        ratio = float(values[-1] / values[0]) if values[0] > 0.0 else 0.0
        of = "" if self._directions is None else " (of the translation)"
        if ratio < SINGULAR:
            return f"singular{of}"
        near = ", near a singular posture" if ratio < NEAR_SINGULAR else ""
        return f"{1.0 / ratio:.4g}{of}{near}"


def _entry(context: PanelContext) -> MatricesPanel | None:
    return None if context.model() is None else MatricesPanel(context)


ENTRY = PanelEntry(_entry, 1.52, Where.EVERYWHERE, folded=False, tab=MOVE)
