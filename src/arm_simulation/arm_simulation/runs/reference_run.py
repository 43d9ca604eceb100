# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An ideal run of a plan, which gives the expected state of the nut at any time.

A run that starts or ends in the middle of the plan is compared with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.scene.nut_state import NutReport, is_same_nut, nut_clause
from arm_tasks.task.request import ArmConfiguration

from arm_simulation.arms.ideal_arm import Recording, simulate
from arm_simulation.geometric.nut_world import NutWorld

_RATE = 50.0  # updates of the simulated world per second
_SAME_MOMENT = 0.02  # [rad, m/10] largest deviation of the arm within one moment of a plan


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
        if any(is_same_nut(nut, moment) for moment in expected):
            return ""
        needed, actual = nut_clause(expected[0]), nut_clause(nut)
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
