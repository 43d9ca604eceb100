# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is the least change that makes a refused step possible, found by trying small ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from arm_common.transforms import Array, pose
from arm_kinematics.paths.result import PathStatus

from arm_description import RobotModel
from arm_kinematics import Chain
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.planning.planner import can_step
from arm_tasks.scene.scene import Scene
from arm_tasks.task.steps import Approach, MoveLinear, MovePose, Screw, StepBase, Tolerance, Turn

MoveTo: TypeAlias = MovePose | MoveLinear | Approach

_MM = (2, 5, 10, 20, 40, 80)  # shifts that are tried
_MM_HIT = (10, 40)  # the same where it collides, which takes long to look for
_DEG = (6, 12, 20, 30, 45)  # tilts that are tried
_MOST_SCREW = 12  # deg; jaws that are tilted more miss a nut (GripRules.tilt)
_WAYS = {
    f"{sign}{axis}": (1 if sign == "+" else -1) * unit
    for axis, unit in zip("xyz", np.eye(3), strict=True)
    for sign in "+-"
}


@dataclass(frozen=True)
class Remedy:
    """A change with which the refused step can be done.

    Attributes:
        kind: "move" a thing or a target, or "tilt": allow more of it.
        what: The thing that is moved, or the step that may tilt.
        way: Displacement (3,) along the axes of base_link [m]; zeros if nothing is moved.
        tilt: Largest angle to allow [rad], or 0.
        text: What to do, one sentence without a full stop.
    """

    kind: Literal["move", "tilt"]
    what: str
    way: tuple[float, float, float]
    tilt: float
    text: str


@dataclass(frozen=True)
class Case:
    """A refused step and all that is needed to try it again.

    Attributes:
        model: The robot.
        chain: Its kinematics.
        plan: The refusal.
    """

    model: RobotModel
    chain: Chain
    plan: TaskPlan

    @property
    def step(self) -> StepBase:
        """The step that is refused."""
        assert self.plan.refused_at is not None
        return self.plan.refused_at.step

    @property
    def scene(self) -> Scene:
        """Where things are when it begins."""
        assert self.plan.refused_at is not None
        return self.plan.refused_at.world.scene

    def turned_matters(self, step: Screw | MoveTo | Turn) -> bool:
        """Return whether the orientation can be what is in the way."""
        if isinstance(step, MoveTo) and step.target.orientation == "any":
            return False
        return not self.collides and self.reason != PathStatus.UNREACHABLE_POSITION.name

    @property
    def reason(self) -> str:
        """The name of the PathStatus of the refusal, "" if it is none."""
        assert self.plan.refusal is not None
        return self.plan.refusal.reason

    @property
    def collides(self) -> bool:
        """Whether a collision is what is in the way."""
        return self.reason == PathStatus.COLLISION.name

    def shift_matters(self, step: Screw | MoveTo) -> bool:
        """Return whether it can help that the bolt or the target is elsewhere."""
        refusal = self.plan.refusal
        assert refusal is not None
        if isinstance(step, Screw) and not refusal.reason:
            return False  # of the strokes none suits: that is so wherever the bolt is
        near = refusal.near
        if isinstance(step, Screw) and self.collides and near is not None:
            return not self.scene.moves_with(near.second, step.bolt)
        return True

    def possible(self, step: StepBase, scene: Scene) -> bool:
        """Return whether the step can be done with another step in its place, or elsewhere."""
        at = self.plan.refused_at
        assert at is not None
        return can_step(step, scene, self.model, self.chain, at)


def remedies(case: Case) -> list[Remedy]:
    """Return the least changes found: a shift along one axis of base_link, and a tilt."""
    return [found for found in (_shift(case), _tilt(case)) if found is not None]


def _shift(case: Case) -> Remedy | None:
    step = case.step
    if isinstance(step, Screw):
        what, apply = step.bolt, partial(_with_bolt_moved, case, step)
    elif isinstance(step, MoveTo):
        what, apply = f"the target of {step.name}", partial(_with_target_moved, case, step)
    else:
        return None
    if not case.shift_matters(step):
        return None
    sizes = _MM_HIT if case.collides else _MM
    found = _least_shift(lambda way: case.possible(*apply(way)), sizes)
    if found is None:
        return None
    axis, mm = found
    x, y, z = (float(v) * mm * 1e-3 for v in _WAYS[axis])
    text = f"move {what} by {mm} mm along {axis} of base_link"
    return Remedy("move", what, (x, y, z), 0.0, text)


def _with_bolt_moved(case: Case, step: Screw, way: Array) -> tuple[StepBase, Scene]:
    return step, case.scene.moved(step.bolt, way)


def _with_target_moved(case: Case, step: MoveTo, way: Array) -> tuple[StepBase, Scene]:
    assert case.plan.refused_at is not None
    frame = step.target.frame
    at = case.chain.fk(case.plan.refused_at.q) if frame == "tool0" else case.scene.frame(frame)
    moved = pose(p=tuple(at[:3, :3].T @ way)) @ step.target.pose
    return replace(step, target=replace(step.target, pose=moved)), case.scene


def _least_shift(
    possible: Callable[[Array], bool], sizes: Sequence[int]
) -> tuple[str, int] | None:
    """Return axis and millimetres of the least shift of whole millimetres that was found."""
    below = 0
    for mm in sizes:
        for axis, way in _WAYS.items():
            if possible(way * mm * 1e-3):
                found = partial(_possible_by, possible, way)
                return axis, _least(found, below, mm)
        below = mm
    return None


def _possible_by(possible: Callable[[Array], bool], way: Array, mm: int) -> bool:
    return possible(way * mm * 1e-3)


def _tilt(case: Case) -> Remedy | None:
    step = case.step
    if not isinstance(step, Screw | MoveTo | Turn):
        return None
    if not case.turned_matters(step) or (isinstance(step, Screw) and not case.reason):
        return None
    below = math.floor(math.degrees(step.tolerance.tilt))
    most = _MOST_SCREW if isinstance(step, Screw) else _DEG[-1]
    for deg in (d for d in _DEG if below < d <= most):
        if _tilts(case, step, deg):
            least = _least(partial(_tilts, case, step), below, deg)
            tilt = math.radians(least)
            keys = f"tilt_deg: {least}"
            if isinstance(step, Screw) and step.approach_tilt < tilt:
                keys += f", approach_tilt_deg: {least}"
            text = f"allow {step.name} to tilt by {least} deg ({keys})"
            return Remedy("tilt", step.name, (0.0, 0.0, 0.0), tilt, text)
        below = deg
    return None


def _tilts(case: Case, step: Screw | MoveTo | Turn, deg: int) -> bool:
    tilt = math.radians(deg)
    loose = replace(step, tolerance=Tolerance(step.tolerance.position, tilt))
    if isinstance(loose, Screw):
        loose = replace(loose, approach_tilt=max(tilt, loose.approach_tilt))
    return case.possible(loose, case.scene)


def _least(possible: Callable[[int], bool], no: int, yes: int) -> int:
    """Return the least whole number that is possible, to a tenth, from one that is not up."""
    while yes - no > max(1, yes // 10):
        middle = (no + yes) // 2
        no, yes = (no, middle) if possible(middle) else (middle, yes)
    return yes
