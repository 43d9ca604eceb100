# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compares an observed nut with the one that a task expects: at its start, or in one of its steps.

What a step expects is known from a reference run of the plan, which a simulated world makes.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol

import numpy as np
from arm_common.plugins import PluginGroup
from arm_common.transforms import Array

from arm_tasks.scene.nut_state import NutEvent, NutReport, NutStatus
from arm_tasks.scene.scene import Scene
from arm_tasks.task.request import ArmConfiguration

REFERENCE_RUNS = PluginGroup("arm_tasks.reference_runs", "reference run")
"""Functions of a TaskPlan whose scene has a nut that return a NutPrediction."""

_TURN_TOLERANCE = 0.25  # largest deviation of the nut [turns]


class NutPrediction(Protocol):
    """The nut at any time of a plan."""

    def nut(self, step: int, current: ArmConfiguration) -> NutReport:
        """Return the expected nut for an arm on the path of a step."""

    def disagreement(self, step: int, current: ArmConfiguration, nut: NutReport) -> str:
        """Return why a nut does not fit a step, or "" if it does."""


class SafeState(Enum):
    """State of a stopped arm; the values are those of RunTask's result."""

    CLEAR = "clear"
    AT_NUT = "at_nut"
    HOLDS_NUT_ON_THREAD = "holds_nut_on_thread"
    HOLDS_NUT = "holds_nut"


def safe_state(T_tool: Array, nut: NutReport, across_flats: float) -> SafeState:
    """Return the state of an arm at base_link <- tool0 (4, 4), for a nut of a size [m]."""
    if nut.grasped:
        on = nut.status is NutStatus.ON_BOLT_HELD
        return SafeState.HOLDS_NUT_ON_THREAD if on else SafeState.HOLDS_NUT
    near = float(np.linalg.norm(T_tool[:3, 3] - nut.pose[:3, 3])) < across_flats
    at_nut = near and nut.status is NutStatus.ON_BOLT
    return SafeState.AT_NUT if at_nut else SafeState.CLEAR


def initial_nut(scene: Scene) -> NutReport:
    """Return the nut where a scene has it at the beginning."""
    nut = scene.require_nut()
    engaged = scene.bolt(nut.on).engaged(nut.turns, nut.thickness)
    message = f"on {nut.on} from the start"
    return NutReport(
        NutStatus.ON_BOLT, nut.on, engaged, False, scene.nut_start(), message, NutEvent.START
    )


def start_disagreement(scene: Scene, nut: NutReport) -> str:
    """Return why a nut is not where a scene has it at the beginning, or "" if it is there."""
    expected = initial_nut(scene)
    if is_same_nut(nut, expected):
        return ""
    return (
        f"the task begins with the nut {nut_clause(expected)}; it is {nut_clause(nut)}; put it"
        " back, in simulation by the service nut_world/reset"
    )


def is_same_nut(nut: NutReport, expected: NutReport) -> bool:
    """Return True if a nut is where it is expected, within a fraction of a turn."""
    fallen = NutStatus.FALLEN in (nut.status, expected.status)
    on_both = min(nut.turns_engaged, expected.turns_engaged) > _TURN_TOLERANCE
    return (
        not fallen
        and nut.grasped == expected.grasped
        and abs(nut.turns_engaged - expected.turns_engaged) <= _TURN_TOLERANCE
        and (nut.bolt == expected.bolt or not on_both)
    )


def nut_clause(nut: NutReport) -> str:
    """Return where a nut is, in a clause."""
    jaws = "in the jaws" if nut.grasped else "released"
    if nut.status is NutStatus.FALLEN:
        return f"fallen: {nut.message}"
    if not nut.bolt:
        return jaws
    return f"on {nut.bolt} by {nut.turns_engaged:.1f} turns, {jaws}"
