# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The steps of a task, one class for each kind; SI units and radians."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from arm_common.transforms import Array

from arm_tasks.task.condition import Condition

Orientation = Literal["full", "axis", "any"]


@dataclass(frozen=True)
class Tolerance:
    """Tolerance of a tool pose.

    Attributes:
        position: Largest distance [m].
        tilt: Largest angle between target and actual tool z [rad]; a required roll about z is
            always exact. An arm of fewer than six joints needs some tilt to move straight.
    """

    position: float = 1e-5
    tilt: float = math.radians(8.0)


@dataclass(frozen=True, kw_only=True)
class StepBase:
    """Fields of every step.

    Attributes:
        name: What the task file calls it, or its kind.
        kind: The key in the task file, such as "move_linear".
        file: The task file.
        line: Its line there.
        speed: Share of the joints' velocity limits, above 0 to 1.
    """

    name: str
    kind: str
    file: str
    line: int
    speed: float


@dataclass(frozen=True)
class Target:
    """Target of the tool.

    Attributes:
        frame: Scene frame, "base_link", or "tool0" for where the tool is before the step.
        pose: frame <- tool0 (4, 4) [m].
        orientation: "full", "axis" (the roll about the tool's z is free) or "any".
    """

    frame: str
    pose: Array
    orientation: Orientation


@dataclass(frozen=True, kw_only=True)
class MoveJoints(StepBase):
    """Move some joints; the others keep their positions.

    Attributes:
        positions: By joint name [rad or m].
        degrees: Whether the file has degrees; then no joint may be prismatic.
    """

    positions: Mapping[str, float]
    degrees: bool


@dataclass(frozen=True, kw_only=True)
class MovePosture(StepBase):
    """Move the arm to a posture of the robot file; the gripper does not move."""

    posture: str


@dataclass(frozen=True, kw_only=True)
class Play(StepBase):
    """Move to the beginning of a recorded trajectory and play it at its own pace.

    Attributes:
        path: Its file, or a name shipped for the robot.
        reverse: Whether to play it backwards.
    """

    path: str
    reverse: bool


@dataclass(frozen=True, kw_only=True)
class MovePose(StepBase):
    """Move the tool to a pose, straight in joint space."""

    target: Target
    tolerance: Tolerance


@dataclass(frozen=True, kw_only=True)
class MoveLinear(StepBase):
    """Move the tool to a pose along a straight line."""

    target: Target
    tolerance: Tolerance


@dataclass(frozen=True, kw_only=True)
class GripStep(StepBase):
    """Move the jaws to a width.

    Attributes:
        width: [m]; None without a payload opens them completely.
        payload: Object to grip, or "".
    """

    width: float | None
    payload: str = ""


@dataclass(frozen=True, kw_only=True)
class Approach(StepBase):
    """Move in front of a pose, then straight to it along the tool's z.

    Attributes:
        target: The pose.
        distance: How far in front [m].
        tolerance: On the whole path.
    """

    target: Target
    distance: float
    tolerance: Tolerance


@dataclass(frozen=True, kw_only=True)
class Retreat(StepBase):
    """Move straight back along the tool's z by a distance [m]."""

    distance: float
    tolerance: Tolerance


@dataclass(frozen=True, kw_only=True)
class Turn(StepBase):
    """Turn the tool about its own z [rad], advancing along it [m] at the same time."""

    angle: float
    advance: float
    tolerance: Tolerance


@dataclass(frozen=True, kw_only=True)
class Screw(StepBase):
    """Fields of unscrew and screw_on.

    Attributes:
        bolt: The bolt's name.
        turns: Turns of thread to undo or to make; None is all turns of the scene.
        extra_turns: Additional turns, for an inexact arm and an unknown thread start.
        approach: Length of the straight approach to the bolt's end or the nut [m].
        grip_width: Width that holds the nut [m]; None is a little less than the nut.
        open_width: Width that clears its corners [m]; None is a little more than they need.
        press: How far the nut is pushed against the bolt's end (screw_on) [m].
        search: Radius of the search for the bolt's tip (screw_on); 0 for none [m].
        play: Dead band and backlash of revolute joints, compensated before the jaws close and
            before the thread starts [rad].
        approach_tilt: Largest tilt on the approach and the retreat [rad].
        tolerance: While it turns.
    """

    bolt: str
    turns: float | None
    extra_turns: float
    approach: float
    grip_width: float | None
    open_width: float | None
    press: float
    search: float
    play: float
    approach_tilt: float
    tolerance: Tolerance


@dataclass(frozen=True, kw_only=True)
class Unscrew(Screw):
    """Unscrew the nut from a bolt and retreat with it."""


@dataclass(frozen=True, kw_only=True)
class ScrewOn(Screw):
    """Screw the nut in the jaws onto a bolt, release it and retreat."""


@dataclass(frozen=True, kw_only=True)
class Wait(StepBase):
    """Wait [s]."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Repeat(StepBase):
    """Repeat steps."""

    times: int
    steps: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class SetSpeed(StepBase):
    """Mark a change of speed; the steps below it already have the new one."""


@dataclass(frozen=True, kw_only=True)
class Call(StepBase):
    """Run the steps of another task."""

    task: str
    steps: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class If(StepBase):
    """Run one of two lists of steps, by a condition."""

    when: Condition
    then: tuple[StepBase, ...]
    otherwise: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class Until(StepBase):
    """Repeat steps until a condition holds, a limited number of times; then it must hold."""

    when: Condition
    at_most: int
    steps: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class PauseForPerson(StepBase):
    """Pause until a person resumes the task.

    Attributes:
        say: Instruction for the person.
        nut_back: Whether the nut is then at its place in the scene.
    """

    say: str
    nut_back: bool


@dataclass(frozen=True)
class Expectation:
    """Required result of a task.

    Attributes:
        nut_on: Name of the bolt that the nut is on, released; "" if that does not matter.
        turns: Least turns of thread engaged.
        payload: Name of the payload that lies on something, released, or "".
        lies_on: Name of the object that it lies on.
        line_within: Largest distance of the tool from the lines of move_linear steps [m], or None.
    """

    nut_on: str = ""
    turns: float = 0.0
    payload: str = ""
    lies_on: str = ""
    line_within: float | None = None


@dataclass(frozen=True)
class Task:
    """A task, not yet checked against a scene or a robot.

    Attributes:
        name: Name of the task.
        file: Where it was read from.
        steps: The steps, repetitions not expanded.
        scene: The scene it was written for, or "".
        expect: Required result, or None.
    """

    name: str
    file: str
    steps: tuple[StepBase, ...]
    scene: str = ""
    expect: Expectation | None = None
