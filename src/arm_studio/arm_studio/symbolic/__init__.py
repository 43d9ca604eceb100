# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of a robot model as formulas, by SymPy, which is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arm_common.suggestions import install_command
from arm_description.errors import DescriptionError

from arm_description import RobotModel

if TYPE_CHECKING:
    from arm_studio.symbolic.arm import SymbolicArm


def symbolic_arm(model: RobotModel) -> SymbolicArm:
    """Return the kinematics of a robot as SymPy expressions in metres and radians.

    Raises:
        DescriptionError: SymPy is not installed.
    """
    try:
        from arm_studio.symbolic.arm import SymbolicArm
    except ModuleNotFoundError as error:
        raise DescriptionError(
            f"formulas need SymPy, and {error.name} is not installed",
            remedy=install_command("sympy", "python3-sympy"),
        ) from None
    return SymbolicArm(model)
