# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a task is made of: one small class a kind of step. SI units and radians."""

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
    """What may be wrong with a tool pose.

    Attributes:
        position: Largest distance [m].
        tilt: Largest angle between wanted and real tool z [rad]; the roll about z is always exact
            where it is asked for. An arm of fewer than six joints needs some tilt to go straight.
    """

    position: float = 1e-5
    tilt: float = math.radians(8.0)


@dataclass(frozen=True, kw_only=True)
class StepBase:
    """What every step has.

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
    """Where the tool shall be.

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
    """Move some joints, the others stay.

    Attributes:
        positions: By joint name [rad or m].
        degrees: True if the file gave degrees, so that no joint may be prismatic.
    """

    positions: Mapping[str, float]
    degrees: bool


@dataclass(frozen=True, kw_only=True)
class MovePosture(StepBase):
    """Move the arm to a posture of the robot file; the gripper stays as it is."""

    posture: str


@dataclass(frozen=True, kw_only=True)
class Play(StepBase):
    """Go to the beginning of a recorded trajectory and along it, at its own pace.

    Attributes:
        path: Of its file, or name of one that is shipped for the robot.
        reverse: Whether to go from its end to its beginning.
    """

    path: str
    reverse: bool


@dataclass(frozen=True, kw_only=True)
class MovePose(StepBase):
    """Move the tool to a pose, the joints taking the shortest way."""

    target: Target
    tolerance: Tolerance


@dataclass(frozen=True, kw_only=True)
class MoveLinear(StepBase):
    """Move the tool to a pose along a straight line."""

    target: Target
    tolerance: Tolerance


@dataclass(frozen=True, kw_only=True)
class GripStep(StepBase):
    """Bring the jaws to a width.

    Attributes:
        width: [m]; None is as wide as they open, without a payload.
        payload: What they shall hold then, or "".
    """

    width: float | None
    payload: str = ""


@dataclass(frozen=True, kw_only=True)
class Approach(StepBase):
    """Move in front of a pose, then straight to it along the tool's z.

    Attributes:
        target: The pose.
        distance: How far in front [m].
        tolerance: On the whole way.
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
    """What unscrew and screw_on share.

    Attributes:
        bolt: The bolt's name.
        turns: Turns of thread to undo or to make; None is all that the scene says.
        extra_turns: Turns beyond, for an arm that is not exact and a thread start not known.
        approach: Distance before the bolt's end or the nut from which the tool comes straight [m].
        grip_width: Width that holds the nut [m]; None is a little less than the nut.
        open_width: Width that clears its corners [m]; None is a little more than they need.
        press: How far the nut is pushed against the bolt's end (screw_on) [m].
        search: Radius in which it looks for the bolt's tip (screw_on); 0 is not at all [m].
        play: Whole play of the joints that turn: dead band and backlash; taken up before the jaws
            close and before the thread starts [rad].
        approach_tilt: Largest tilt while it comes and goes [rad].
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
    """Take the nut off a bolt and draw it back in the jaws."""


@dataclass(frozen=True, kw_only=True)
class ScrewOn(Screw):
    """Screw the nut in the jaws onto a bolt, leave it there and draw back."""


@dataclass(frozen=True, kw_only=True)
class Wait(StepBase):
    """Stand still [s]."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Repeat(StepBase):
    """Do some steps several times."""

    times: int
    steps: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class SetSpeed(StepBase):
    """Mark where the speed changes; the steps that it holds for have it already."""


@dataclass(frozen=True, kw_only=True)
class Call(StepBase):
    """Do the steps of another task."""

    task: str
    steps: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class If(StepBase):
    """Do the one or the other, by what is seen then."""

    when: Condition
    then: tuple[StepBase, ...]
    otherwise: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class Until(StepBase):
    """Do some steps until a condition holds, at most so often; then it must hold."""

    when: Condition
    at_most: int
    steps: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class PauseForPerson(StepBase):
    """Stand still until a person says to go on.

    Attributes:
        say: What the person shall do.
        nut_back: Whether the nut is then where the scene has it.
    """

    say: str
    nut_back: bool


@dataclass(frozen=True)
class Expectation:
    """What must have come of a task, for it to have succeeded.

    Attributes:
        nut_on: Name of the bolt that the nut is on, let go; "" if that is not asked.
        turns: At least so many turns of thread engaged.
        payload: Name of the payload that lies on something, let go, or "".
        lies_on: Name of the thing that it lies on.
        line_within: How far the tool may leave the lines of move_linear steps [m], or None.
    """

    nut_on: str = ""
    turns: float = 0.0
    payload: str = ""
    lies_on: str = ""
    line_within: float | None = None


@dataclass(frozen=True)
class Task:
    """A task, checked by itself but not yet against a scene or a robot.

    Attributes:
        name: Name of the task.
        file: Where it was read from.
        steps: The steps, repetitions not expanded.
        scene: The scene it was written for, or "".
        expect: What must have come of it, or None.
    """

    name: str
    file: str
    steps: tuple[StepBase, ...]
    scene: str = ""
    expect: Expectation | None = None
