# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The modes of inverse kinematics: what of a target pose counts. All that has modes follows."""

from __future__ import annotations

from typing import Literal, NamedTuple

from arm_kinematics.kernels.layout import Orientation


class IkMode(NamedTuple):
    """One mode.

    Attributes:
        name: Its name in ``Chain.ik``; in capitals, its constant in arm_interfaces/srv/SolveIK.
        title: Its name in drop-downs and menus.
        step: The orientation of a step of a task that needs it: "full", "axis" or "any".
        orientation: The part of the orientation that counts.
    """

    name: str
    title: str
    step: Literal["full", "axis", "any"]
    orientation: Orientation


_DECLARED = (  # in the order of the constants of SolveIK
    IkMode("pose", "Pose", "full", Orientation.ROTATION),
    IkMode("position", "Position", "any", Orientation.NOTHING),
    IkMode("position_axis", "Position and axis", "axis", Orientation.AXIS),
)
MODES = {mode.name: mode for mode in _DECLARED}
OF_ORIENTATION = {mode.orientation: mode.name for mode in _DECLARED}
OF_STEP = {mode.step: mode.name for mode in _DECLARED}


def constants(names: tuple[str, ...]) -> str:
    """Return the constants of a service field as text: POSE=0, POSITION=1 or POSITION_AXIS=2."""
    *most, last = (f"{name.upper()}={code}" for code, name in enumerate(names))
    return f"{', '.join(most)} or {last}"
