# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The closed form of a chain, if it has one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from arm_common.transforms import Array

from arm_kinematics.ik.closed_form.branches import solve_all
from arm_kinematics.ik.closed_form.geometry import ScrewAxes
from arm_kinematics.ik.closed_form.invariants import COLUMNS, FAMILY, GIVEN, JOINTS, LENGTH, MOST
from arm_kinematics.ik.closed_form.recognition import axis_form, pose_form, position_form
from arm_kinematics.ik.search_model import arm_length
from arm_kinematics.kernels.search import HEAD, SLOT

_zeros = np.zeros


class ClosedForm:
    """All solutions of one chain for one kind of target.

    Attributes:
        name: The kind of geometry, in words.
        plan: The same for the compiled loops, see invariants.py.
        size: Length of a result.
    """

    def __init__(self, name: str, plan: Array, joints: int, branches: int = MOST) -> None:
        self.name, self.plan = name, plan
        self.size = HEAD + branches * (joints + SLOT)

    def solve(self, c: Array, opt: Array, T: Array, seed: Array) -> tuple[int, bool, Array]:
        """Return the number of solutions, whether one stands for infinitely many, and all of them.

        Args:
            c: Constants of the chain, see kernels/forward.py.
            opt: Options, see residuals.py.
            T: Wanted pose (4, 4).
            seed: Joint positions (n,) to stay near to.

        Returns:
            The first is negative if T or seed make no sense; the last is laid out as in
            kernels/search.py, the nearest first.
        """
        out = _zeros(self.size)
        found, singular = solve_all(c, opt, self.plan, T, seed, out)
        return found, singular, out


def recognise(
    S: Array,
    M: Array,
    prismatic: Sequence[bool],
    mode: str = "pose",
    axis: Sequence[float] | Array = (0.0, 0.0, 1.0),
) -> ClosedForm | None:
    """Return the closed form of a chain, None if it has none that is known here.

    Args:
        S: Screw axes (6, n) [v; w] in the base frame.
        M: Pose (4, 4) of the tip at q = 0.
        prismatic: Which joints slide.
        mode: "pose"; "position", where last joints that do not move the tip are kept at the seed;
            or "position_axis", where a last joint that turns about the tool axis is.
        axis: The tool axis of "position_axis", a unit vector (3,) in the tip's frame.
    """
    axes = ScrewAxes(S, M, prismatic)
    if mode == "pose":
        form = pose_form(axes)
    elif mode == "position":
        form = position_form(axes)
    else:
        form = axis_form(axes, np.asarray(axis, dtype=np.float64))
    if form is None:
        return None
    return ClosedForm(form.name, form.plan, S.shape[1])


def given_branches(S: Array, M: Array, branches: Array) -> ClosedForm:
    """Return a form whose branches are given joint positions (k, n)."""
    plan = _zeros((JOINTS + len(branches), COLUMNS))
    plan[0, FAMILY], plan[0, LENGTH] = GIVEN, arm_length(S, M)
    plan[JOINTS:, : branches.shape[1]] = branches
    return ClosedForm("given", plan, branches.shape[1], len(branches))
