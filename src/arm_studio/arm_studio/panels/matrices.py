# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The live numbers of the tool: its pose T, the Jacobian J, and how near a singular posture is."""

from __future__ import annotations

import math

import numpy as np
from arm_common.transforms import Array
from arm_description.model.units import Units
from arm_description.robot_model import RobotModel
from arm_kinematics.dexterity.conditioning import homogeneous_jacobian, motion_directions
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import MOVE
from arm_viewer.browser.texts import status_line
from arm_viewer.panels.interface import Panel, PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where

from arm_kinematics import Chain, KinematicsError
from arm_studio.editing.row_steps import cosine, matrix_html, pose_rows

SINGULAR, NEAR = 1e-6, 2e-2  # smallest over largest singular value


class MatricesPanel(Panel):
    """Shows T and J at the present posture, in the units of the file."""

    title = "Tool"

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._model: RobotModel | None = None
        self._chain: Chain | None = None
        self._directions: Array | None = None  # (k, 3) in which the tip moves; None: all count
        self._shown: tuple[float, ...] = ()

    def build(self, gui: PageGui) -> None:
        """Add the place of the numbers."""
        with gui.elements.add_folder("T and J", expand_by_default=False):
            self._html = gui.elements.add_html("")

    def update(self, state: PanelState) -> None:
        """Show the numbers of another posture or robot."""
        model, robot = self._context.model(), state.robot
        if model is None or robot is None:
            return
        if model is not self._model:
            self._take(model)
        if (chain := self._chain) is None:
            return
        positions = tuple(state.positions.get(name, math.nan) for name in chain.joint_names)
        if positions == self._shown or not np.isfinite(positions).all():
            return
        self._shown = positions
        self._html.content = self._numbers(chain, np.array(positions), robot.reach, model.units)

    def close(self) -> None:
        """Do nothing: nothing was drawn."""

    def _take(self, model: RobotModel) -> None:
        self._model, self._chain, self._shown = model, None, ()
        self._directions = None
        try:
            chain = self._chain = Chain.from_model(model)
            if chain.n < 6:
                self._directions = motion_directions(chain)
        except KinematicsError:
            return  # the tip only turns: then its turning counts

    def _numbers(self, chain: Chain, q: Array, reach: float, units: Units) -> str:
        T, J = chain.fk_jacobian(q)
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
        return f"{1.0 / ratio:.4g}{of}" + (", near a singular posture" if ratio < NEAR else "")


def _entry(context: PanelContext) -> MatricesPanel | None:
    return None if context.model() is None else MatricesPanel(context)


ENTRY = PanelEntry(_entry, 1.52, Where.EVERYWHERE, folded=False, tab=MOVE)
