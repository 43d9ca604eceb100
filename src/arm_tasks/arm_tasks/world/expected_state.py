# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the nut must be at each moment of a plan: what the simulated world says of a perfect run.

A run that begins in the middle, or ends there, is held against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np
from arm_common.transforms import Array

from arm_kinematics import Chain
from arm_tasks.execution.ports import Standing
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.scene.nut_state import NutReport, NutStatus
from arm_tasks.scene.scene import Scene
from arm_tasks.world.ideal_arm import Recording, simulate
from arm_tasks.world.nut_world import NutWorld

RATE = 50.0  # updates of the simulated world a second
TURNS = 0.25  # by which the nut may be off
ALIKE = 0.02  # rad, m/10: moments of a plan that are taken for the same by where the arm stands


class SafeState(Enum):
    """What an arm holds still with; the values are those of RunTask's result."""

    CLEAR = "clear"
    AT_NUT = "at_nut"
    HOLDS_NUT_ON_THREAD = "holds_nut_on_thread"
    HOLDS_NUT = "holds_nut"


def safe_state(T_tool: Array, nut: NutReport, across_flats: float) -> SafeState:
    """Return what an arm that stands now holds still with.

    Args:
        T_tool: base_link <- tool0 (4, 4) [m].
        nut: Where the nut is.
        across_flats: Of the nut [m].
    """
    if nut.grasped:
        on = nut.status is NutStatus.ON_BOLT_HELD
        return SafeState.HOLDS_NUT_ON_THREAD if on else SafeState.HOLDS_NUT
    near = float(np.linalg.norm(T_tool[:3, 3] - nut.pose[:3, 3])) < across_flats
    at_nut = near and nut.status is NutStatus.ON_BOLT
    return SafeState.AT_NUT if at_nut else SafeState.CLEAR


@dataclass(frozen=True)
class ReferenceRun:
    """A perfect run of a plan.

    Attributes:
        plan: The plan.
        recording: The run.
    """

    plan: TaskPlan
    recording: Recording

    @classmethod
    def of(cls, plan: TaskPlan, scene: Scene, chain: Chain) -> ReferenceRun:
        """Return the perfect run of a plan in a scene with a nut."""
        return cls(plan, simulate(plan, chain, NutWorld(scene), RATE))

    def nut(self, step: int, here: Standing) -> NutReport:
        """Return where the nut must be for an arm that stands somewhere on a step's way."""
        return next(self.moments(step, here))

    def disagreement(self, step: int, here: Standing, nut: NutReport) -> str:
        """Return why a nut that is there does not fit a step, or "" if it does."""
        wanted = list(self.moments(step, here))
        if any(_fits(nut, moment) for moment in wanted):
            return ""
        name = self.plan.steps[step].name
        return f"step {step} ({name}) needs the nut {_said(wanted[0])}; it is {_said(nut)}"

    def moments(self, step: int, here: Standing) -> Iterator[NutReport]:
        """Yield the nut at the moments of a step when the arm stood as it does, likest first."""
        run, q = self.recording, np.array([here.positions[n] for n in self.plan.joint_names])
        of_step = [i for i, k in enumerate(run.steps) if k == step]
        later = (i for i, k in enumerate(run.steps) if k > step)  # if the run took another way
        first = of_step[0] if of_step else next(later, len(run.steps) - 1)
        moments = [max(first - 1, 0), *of_step]
        off = {
            i: max(float(np.abs(run.joints[i] - q).max()), 10.0 * abs(run.widths[i] - here.width))
            for i in moments
        }
        best = min(off.values())
        for i in sorted(moments, key=lambda i: off[i]):
            if off[i] <= best + ALIKE:
                yield run.nuts[i]


def _fits(nut: NutReport, wanted: NutReport) -> bool:
    fallen = NutStatus.FALLEN in (nut.status, wanted.status)
    on_both = min(nut.turns_engaged, wanted.turns_engaged) > TURNS
    return (
        not fallen
        and nut.grasped == wanted.grasped
        and abs(nut.turns_engaged - wanted.turns_engaged) <= TURNS
        and (nut.bolt == wanted.bolt or not on_both)
    )


def _said(nut: NutReport) -> str:
    jaws = "in the jaws" if nut.grasped else "let go"
    if nut.status is NutStatus.FALLEN:
        return f"fallen: {nut.message}"
    if not nut.bolt:
        return jaws
    return f"on {nut.bolt} by {nut.turns_engaged:.1f} turns, {jaws}"
