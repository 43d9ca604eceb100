# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An ideal run of a plan, which gives the expected state of the nut at any time.

A run that starts or ends in the middle of the plan is compared with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np
from arm_common.transforms import Array

from arm_tasks.planning.plan import TaskPlan
from arm_tasks.scene.nut_state import NutReport, NutStatus
from arm_tasks.scene.scene import Scene
from arm_tasks.task.request import ArmConfiguration
from arm_tasks.world.ideal_arm import Recording, simulate
from arm_tasks.world.nut_world import NutWorld

_RATE = 50.0  # updates of the simulated world per second
_TURN_TOLERANCE = 0.25  # largest deviation of the nut [turns]
_SAME_MOMENT = 0.02  # [rad, m/10] largest deviation of the arm within one moment of a plan


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


@dataclass(frozen=True)
class ReferenceRun:
    """An ideal run of a plan."""

    plan: TaskPlan  # its scene has a nut
    recording: Recording

    @classmethod
    def of(cls, plan: TaskPlan) -> ReferenceRun:
        """Simulate a plan."""
        return cls(plan, simulate(plan, NutWorld(plan.request.scene), _RATE))

    def nut(self, step: int, current: ArmConfiguration) -> NutReport:
        """Return the expected nut for an arm on the path of a step."""
        return next(self.moments(step, current))

    def disagreement(self, step: int, current: ArmConfiguration, nut: NutReport) -> str:
        """Return why a nut does not fit a step, or "" if it does."""
        expected = list(self.moments(step, current))
        if any(_matches(nut, moment) for moment in expected):
            return ""
        needed, actual = _clause(expected[0]), _clause(nut)
        return f"{self.plan.steps[step].label}, needs the nut {needed}; it is {actual}"

    def moments(self, step: int, current: ArmConfiguration) -> Iterator[NutReport]:
        """Yield the nut when the arm was at a configuration in a step, the nearest time first."""
        run, q = self.recording, current.array(self.plan.joint_names)
        of_step = [i for i, k in enumerate(run.steps) if k == step]
        later = (i for i, k in enumerate(run.steps) if k > step)  # if the run took another branch
        first = of_step[0] if of_step else next(later, len(run.steps) - 1)
        moments = [max(first - 1, 0), *of_step]

        def off(i: int) -> float:
            width = 10.0 * abs(run.widths[i] - current.width)
            return max(float(np.abs(run.joints[i] - q).max()), width)

        distances = {i: off(i) for i in moments}
        nearest = min(distances.values())
        for i in sorted(distances, key=distances.__getitem__):
            if distances[i] <= nearest + _SAME_MOMENT:
                yield run.nuts[i]


def start_disagreement(scene: Scene, nut: NutReport) -> str:
    """Return why a nut is not where a scene has it at the beginning, or "" if it is there."""
    expected = NutWorld(scene).report
    if _matches(nut, expected):
        return ""
    return (
        f"the task begins with the nut {_clause(expected)}; it is {_clause(nut)}; put it back,"
        " in simulation by the service nut_world/reset"
    )


def _matches(nut: NutReport, expected: NutReport) -> bool:
    fallen = NutStatus.FALLEN in (nut.status, expected.status)
    on_both = min(nut.turns_engaged, expected.turns_engaged) > _TURN_TOLERANCE
    return (
        not fallen
        and nut.grasped == expected.grasped
        and abs(nut.turns_engaged - expected.turns_engaged) <= _TURN_TOLERANCE
        and (nut.bolt == expected.bolt or not on_both)
    )


def _clause(nut: NutReport) -> str:
    jaws = "in the jaws" if nut.grasped else "released"
    if nut.status is NutStatus.FALLEN:
        return f"fallen: {nut.message}"
    if not nut.bolt:
        return jaws
    return f"on {nut.bolt} by {nut.turns_engaged:.1f} turns, {jaws}"
