# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Smallest changes that make a refused step feasible, found by trial."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from arm_common.transforms import Array, pose
from arm_kinematics.paths.cartesian_path import PathStatus

from arm_tasks.planning.plan import Situation, StepReport, TaskPlan
from arm_tasks.planning.planner import can_step
from arm_tasks.scene.scene import TOOL_FRAME, Scene
from arm_tasks.task.steps import HandleNut, StepBase, Tolerance, ToTarget, Turn

_SHIFTS = (2, 5, 10, 20, 40, 80)  # mm to try
_COLLISION_SHIFTS = (10, 40)  # mm to try for a collision, as its check is slow
_TILTS = (6, 12, 20, 30, 45)  # deg to try
# [s] for plan and search together; the part of a step that is being tried then is still planned
_TOTAL_TIME = 4.0
_MAX_NUT_TILT = 12  # deg; jaws tilted by more miss the nut (GRIP.tilt)
_DIRECTIONS = {
    f"{sign}{axis}": (1 if sign == "+" else -1) * unit
    for axis, unit in zip("xyz", np.eye(3), strict=True)
    for sign in "+-"
}


@dataclass(frozen=True)
class Remedy:
    """A change that makes the refused step feasible."""

    kind: Literal["move", "tilt"]  # "move" an object or a target, or allow more "tilt"
    what: str  # the object to move, or the step that may tilt
    way: tuple[float, float, float]  # displacement along the axes of base_link, or zeros [m]
    tilt: float  # largest angle to allow [rad], or 0
    text: str  # what to do, a clause


def remedies(
    plan: TaskPlan, clock: Callable[[], float] = time.process_time, spent: float = 0.0
) -> list[Remedy]:
    """Return the smallest changes found: a shift along an axis of base_link, and a tilt.

    The search ends after 4 s of the clock, by default the processor's time, less the time spent
    to plan [s]: a trial under way is given up after its present part, and none begins that takes
    longer than is left if it takes as long as an earlier feasible one.
    """
    assert plan.refusal is not None and plan.refused_at is not None
    trials = _Trials(plan, clock, clock() + _TOTAL_TIME - spent)
    search = _RemedySearch(plan, plan.refusal, plan.refused_at, trials)
    return [found for found in (search.shift(), search.tilt()) if found is not None]


class _Trials:
    """Tries steps in place of a refused one until the end of a clock's time [s]."""

    def __init__(self, plan: TaskPlan, clock: Callable[[], float], end: float) -> None:
        self._plan, self._clock, self._end = plan, clock, end
        self._longest = 0.0  # time of a feasible trial [s]; an infeasible one may end early

    def can_step(self, step: StepBase, scene: Scene) -> bool:
        """Return whether a step was found to be feasible in a scene in the time left."""
        begin = self._clock()
        if begin + self._longest >= self._end:
            return False
        feasible = can_step(step, scene, self._plan, lambda: self._clock() >= self._end)
        if feasible:
            self._longest = max(self._longest, self._clock() - begin)
        return feasible


@dataclass(frozen=True)
class _RemedySearch:
    """Searches for changes of a refused step."""

    plan: TaskPlan
    refusal: StepReport
    situation: Situation  # where the refused step starts
    trials: _Trials

    def shift(self) -> Remedy | None:
        """Return the smallest shift of the bolt or the target, or None."""
        step = self.situation.step
        if not isinstance(step, HandleNut | ToTarget) or not self._shift_matters(step):
            return None
        below = 0
        for mm in _COLLISION_SHIFTS if self._collides else _SHIFTS:
            for axis, direction in _DIRECTIONS.items():
                shifted = partial(self._shifted, step, direction)
                if shifted(mm):
                    mm = _least(shifted, below, mm)
                    what = (
                        step.bolt if isinstance(step, HandleNut) else f"the target of {step.name}"
                    )
                    x, y, z = (float(v) * mm * 1e-3 for v in direction)
                    text = f"move {what} by {mm} mm along {axis} of base_link"
                    return Remedy("move", what, (x, y, z), 0.0, text)
            below = mm
        return None

    def tilt(self) -> Remedy | None:
        """Return the smallest tilt to allow, or None."""
        step = self.situation.step
        if not isinstance(step, HandleNut | ToTarget | Turn) or not self._tilt_matters(step):
            return None
        below = math.floor(math.degrees(step.tolerance.tilt))
        most = _MAX_NUT_TILT if isinstance(step, HandleNut) else _TILTS[-1]
        tilted = partial(self._tilted, step)
        for deg in (d for d in _TILTS if below < d <= most):
            if tilted(deg):
                least = _least(tilted, below, deg)
                tilt = math.radians(least)
                keys = f"tilt_deg: {least}"
                if isinstance(step, HandleNut) and step.approach_tilt < tilt:
                    keys += f", approach_tilt_deg: {least}"
                text = f"allow {step.name} to tilt by {least} deg ({keys})"
                return Remedy("tilt", step.name, (0.0, 0.0, 0.0), tilt, text)
            below = deg
        return None

    @property
    def _collides(self) -> bool:
        return self.refusal.reason == PathStatus.COLLISION

    def _shift_matters(self, step: HandleNut | ToTarget) -> bool:
        """Return whether moving the bolt or the target can help."""
        if not isinstance(step, HandleNut):
            return True
        if self.refusal.reason is None:
            return False  # no stroke fits, wherever the bolt is
        near, scene = self.refusal.near, self.situation.world.scene
        moving = near is not None and scene.moves_with(near.second, step.bolt)
        return not (self._collides and moving)

    def _tilt_matters(self, step: HandleNut | ToTarget | Turn) -> bool:
        """Return whether allowing another orientation can help."""
        if isinstance(step, ToTarget) and step.target.orientation == "any":
            return False
        if isinstance(step, HandleNut) and self.refusal.reason is None:
            return False
        return self.refusal.reason not in (PathStatus.COLLISION, PathStatus.UNREACHABLE_POSITION)

    def _shifted(self, step: HandleNut | ToTarget, direction: Array, mm: int) -> bool:
        scene = self.situation.world.scene
        displacement = direction * mm * 1e-3
        if isinstance(step, HandleNut):
            return self.trials.can_step(step, scene.shifted(step.bolt, displacement))
        frame = step.target.frame
        chain = self.plan.request.chain
        T = chain.fk(self.situation.q) if frame == TOOL_FRAME else scene.frame(frame)
        moved = pose(p=tuple(T[:3, :3].T @ displacement)) @ step.target.pose
        target = replace(step.target, pose=moved)
        return self.trials.can_step(replace(step, target=target), scene)

    def _tilted(self, step: HandleNut | ToTarget | Turn, deg: int) -> bool:
        tilt = math.radians(deg)
        loose = replace(step, tolerance=Tolerance(step.tolerance.position, tilt))
        if isinstance(loose, HandleNut):
            loose = replace(loose, approach_tilt=max(tilt, loose.approach_tilt))
        return self.trials.can_step(loose, self.situation.world.scene)


def _least(feasible: Callable[[int], bool], no: int, yes: int) -> int:
    """Bisect for the smallest feasible integer, to a tenth, above an infeasible one."""
    while yes - no > max(1, yes // 10):
        middle = (no + yes) // 2
        no, yes = (no, middle) if feasible(middle) else (middle, yes)
    return yes
