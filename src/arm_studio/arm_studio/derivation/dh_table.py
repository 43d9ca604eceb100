# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The DH table of an arm on a page, and numbers of a page, in the units of the robot's file."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
from arm_common.transforms import Array
from arm_description.model.elements import AXES, Convention
from arm_description.model.units import Units
from arm_description.robot_model import RobotModel

from arm_studio.derivation.notation import number_text
from arm_studio.symbolic.arm import SymbolicArm

COLUMNS: dict[Convention, dict[str, str]] = {
    "standard": {"theta": r"\theta_i", "d": "d_i", "a": "a_i", "alpha": r"\alpha_i"},
    "modified": {"alpha": r"\alpha_{i-1}", "a": "a_{i-1}", "theta": r"\theta_i", "d": "d_i"},
}
"""Columns of a table and their symbols, in the order of the motions."""
LENGTHS = ("d", "a")


class UnitsOfPage:
    """Shows the numbers of an arm, which are in metres and radians, in the units of its file.

    Args:
        model: The arm.

    Attributes:
        arm: Its formulas, with lengths in the unit of the file and angles in radians.
        units: Those of its file.
    """

    def __init__(self, model: RobotModel) -> None:
        self.units: Units = model.units
        self.arm = SymbolicArm(model, model.units.length)
        self._model = model
        self._types = {joint.name: joint.type for joint in model.joints}

    @property
    def sentence(self) -> str:
        """Which units the page has."""
        inside = "" if self.units.angle == "rad" else "; angles inside formulas are in rad"
        return f"Lengths are in {self.units.length}, angles in {self.units.angle}{inside}."

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Return the head and the rows of the DH table, with the variable of each joint."""
        columns = dict(COLUMNS[self._model.convention])
        if self._model.is_tilted:
            columns["beta"] = r"\beta_i"
        kinds = {key: "prismatic" if key in LENGTHS else "revolute" for key in columns}
        head = ["$i$", "joint", "moves"]
        head += [f"${sign}$ [{self.units.unit(kinds[key])}]" for key, sign in columns.items()]
        rows = []
        for i, (joint, cells) in enumerate(zip(self._model.rows, self.arm.cells, strict=True), 1):
            moves = "slides" if joint.type == "prismatic" else "turns"
            moves += f" about ${joint.axis}$" if joint.axis != next(iter(AXES)) else ""
            shown = [self._cell(cells[key], kinds[key]) for key in columns]
            rows.append([str(i), joint.name, moves, *shown])
        return head, rows

    def _cell(self, cell: sp.Expr, kind: str) -> Any:
        """Return what a cell shows: an expression, and its value if it has no variable."""
        shown, values = self._in_unit(cell, kind), self.arm.values
        if not cell.free_symbols:
            return float(shown)
        if not set(cell.free_symbols) <= set(values):
            return shown
        number = self.arm.numbers(cell)
        return shown, sp.Float(float(self._in_unit(number, kind)))

    def _in_unit(self, cell: sp.Expr, kind: str) -> sp.Expr:
        """Return an angle of the formulas in the unit of the table; a length is in it already."""
        cell = sp.sympify(cell)
        if kind == "prismatic" or self.units.angle == "rad":
            return cell
        joints = dict(zip(self.arm.joints.values(), self._types.values(), strict=True))
        angles = {
            s: s * sp.pi / 180
            for s in cell.free_symbols
            if (joints[s] if s in joints else self.arm.kinds[s]) == "revolute"
        }
        return sp.expand(cell.subs(angles) * 180 / sp.pi)

    def symbols(self) -> list[list[Any]]:
        """Return the symbols of the arm: symbol, value, unit, and where it is in the file."""
        return [
            [s, self._written(value, s), self.units.unit(self.arm.kinds[s]), meaning]
            for (s, value), meaning in zip(
                self.arm.values.items(), self.arm.meanings.values(), strict=True
            )
        ]

    def _written(self, value: float, symbol: sp.Symbol) -> float:
        kind = self.arm.kinds[symbol]
        return value if kind == "prismatic" else self.units.written(value, kind)

    def posture(self, q: Array, without: int = -1) -> str:
        """Return joint positions [rad or m] as a sentence, without that of one joint."""
        parts = (
            f"$q_{{{i}}} = {number_text(self.units.written(x, kind))}$ {self.units.unit(kind)}"
            for i, (x, kind) in enumerate(zip(q.tolist(), self._types.values(), strict=True), 1)
            if i != without + 1
        )
        return ", ".join(parts)

    def pose(self, T: Array) -> Array:
        """Return a pose (4, 4) [m] in the unit of the page."""
        shown = np.array(T, dtype=float)
        shown[:3, 3] *= self.arm.metre
        return shown

    def jacobian(self, J: Array) -> Array:
        """Return a Jacobian (6, n) [m, rad] in the unit of the page."""
        shown, turning = np.array(J, dtype=float), [t == "revolute" for t in self._types.values()]
        shown[:3, turning] *= self.arm.metre
        return shown
