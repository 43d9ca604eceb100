# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/test_tool_path.py
"""The steps of a task, one class per kind, in SI units and radians."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

from arm_common.transforms import Array
from arm_description.trajectories.trajectory import AS_DRAWN, DrawingOptions

from arm_tasks.task.condition import Condition

Orientation = Literal["full", "axis", "any"]


@dataclass(frozen=True)
class Tolerance:
    """Tolerance of a tool pose."""

    position: float = 1e-5  # largest distance [m]
    # largest angle between target and actual tool z [rad]; a required roll about z is always
    # exact. An arm with fewer than six joints needs some tilt to move straight
    tilt: float = math.radians(8.0)


@dataclass(frozen=True, kw_only=True)
class StepBase:
    """Fields of every step."""

    name: str  # name in the task file, or the kind
    kind: str  # key in the task file, such as "move_linear"
    file: str  # the task file
    line: int  # its line in the file
    speed: float  # fraction of the joints' velocity limits, above 0 to 1
    retries: int = 0  # how often it is tried again if it fails at run time
    on_failure: tuple[StepBase, ...] = ()  # run if it has failed; () fails the task
    gripper: float | None = None  # width to which the jaws move while the arm moves [m]


@dataclass(frozen=True)
class Target:
    """Target of the tool."""

    frame: str  # scene frame, "base_link", or "tool0" for the tool pose before the step
    pose: Array  # frame <- tool0 (4, 4) [m]
    orientation: Orientation  # "full", "axis" (the roll about the tool's z is free) or "any"
    taught: str = ""  # name of the taught pose that was given as the frame, or ""


@dataclass(frozen=True, kw_only=True)
class MoveJoints(StepBase):
    """Move some joints; the others keep their positions."""

    positions: Mapping[str, float]  # by joint name [rad or m]
    degrees: bool  # whether the file uses degrees, which prismatic joints cannot have


@dataclass(frozen=True, kw_only=True)
class MovePosture(StepBase):
    """Move the arm to a taught pose or a posture of the robot file; the gripper does not move."""

    posture: str
    taught: Mapping[str, float] | None = None  # of a taught pose: by joint name [rad or m]


@dataclass(frozen=True, kw_only=True)
class Play(StepBase):
    """Move to the beginning of a trajectory and play it at its own pace, or draw."""

    path: str  # its file, or a name shipped for the robot; "" for a text
    reverse: bool  # whether to play it backwards
    frame: str = ""  # of a trajectory of the tool: frame of its poses; "" for base_link
    orientation: Orientation | None = None  # of it; None for full, or any if it has none
    tool_speed: float | None = None  # along it, if it has no times [m/s]
    tolerance: Tolerance  # on it
    text: str = ""  # to write with a pen, or ""
    drawing: DrawingOptions = AS_DRAWN  # of a text or an SVG file
    touch: str = ""  # object of the scene that the hand may touch, or ""
    depth: float = 0.0  # how deep it may be in it [m]

    @property
    def what(self) -> str:
        """What is played, for people."""
        return f"'{self.text}'" if self.text else Path(self.path).stem


@dataclass(frozen=True, kw_only=True)
class ToTarget(StepBase):
    """Fields of the steps that move the tool to a target."""

    target: Target
    tolerance: Tolerance  # on the whole path


@dataclass(frozen=True, kw_only=True)
class MovePose(ToTarget):
    """Move the tool to a pose, straight in joint space."""


@dataclass(frozen=True, kw_only=True)
class PathStep(ToTarget):
    """Fields of the steps that move the tool along a given path."""

    blend: float  # how far before its end the corner to the next step begins [m]


@dataclass(frozen=True, kw_only=True)
class MoveLinear(PathStep):
    """Move the tool to a pose along a straight line."""


@dataclass(frozen=True, kw_only=True)
class MoveArc(PathStep):
    """Move the tool to a pose along an arc."""

    via: tuple[float, float, float]  # a point of the arc, in the frame of the target [m]


@dataclass(frozen=True, kw_only=True)
class MoveBlended(StepBase):
    """Move the tool along several paths without stopping: the steps of one motion.

    The planner makes it of steps that have a blend and the step after them.
    """

    steps: tuple[PathStep, ...]

    @classmethod
    def of(cls, steps: Sequence[PathStep]) -> MoveBlended:
        """Return one motion, at the lowest speed of its steps."""
        first, last = steps[0], steps[-1]
        more = last.name if last.name != first.name else f"{len(steps) - 1} more"
        common = {f.name: getattr(first, f.name) for f in fields(StepBase)}
        common["name"] = f"{first.name} and {more}"
        common["speed"] = min(step.speed for step in steps)
        return cls(**common, steps=tuple(steps))

    @property
    def problem(self) -> str:
        """Why its steps cannot be one motion, or ""."""
        if len({step.target.orientation for step in self.steps}) > 1:
            return "steps that blend into each other need the same orientation"
        for step in self.steps[1:]:
            if step.retries or step.on_failure or step.gripper is not None:
                what = "retries, on_failure and gripper belong to the first step of a motion"
                return f"{what}, but {step.name} (line {step.line}) has one of them"
        return ""


@dataclass(frozen=True, kw_only=True)
class GripStep(StepBase):
    """Move the jaws to a width."""

    width: float | None  # [m]; None without a payload opens them completely
    payload: str = ""  # object to grip, or ""


@dataclass(frozen=True, kw_only=True)
class Approach(ToTarget):
    """Move in front of a target, then straight to it along the tool's z."""

    distance: float  # how far in front [m]


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
class HandleNut(StepBase):
    """Fields of the steps that handle the nut on a bolt."""

    doing: ClassVar[str] = "on"  # what is done on the bolt, for people

    bolt: str  # the bolt's name
    approach: float  # length of the straight approach to the bolt's end or the nut [m]
    # dead band and backlash of revolute joints, to compensate before gripping and threading [rad]
    play: float
    approach_tilt: float  # largest tilt on the approach and the retreat [rad]
    tolerance: Tolerance  # while it turns


@dataclass(frozen=True, kw_only=True)
class Regrasp(HandleNut):
    """Hang the nut in the jaws on a smooth pin, grip it by other flats and retreat with it."""

    grip_width: float | None  # as for Screw
    open_width: float | None


@dataclass(frozen=True, kw_only=True)
class TurnNut(HandleNut):
    """Fields of the steps that turn the nut on a thread."""

    press: float  # distance to push the nut against the bolt's end [m]
    search: float  # radius of the search for the bolt's tip; 0 for none [m]


@dataclass(frozen=True, kw_only=True)
class Screw(TurnNut):
    """Fields of unscrew and screw_on."""

    turns: float | None  # turns of thread to undo or make; None is all turns of the scene
    grip_width: float | None  # width that holds the nut [m]; None is a little less than the nut
    open_width: float | None  # width that clears its corners [m]; None is a little more


@dataclass(frozen=True, kw_only=True)
class Unscrew(Screw):
    """Unscrew the nut from a bolt and retreat with it."""

    doing: ClassVar[str] = "unscrewing from"

    extra_turns: float  # additional turns, for an inexact arm
    # turns of thread left at which the nut is pulled off, instead of being released again; 0: none
    pull_off_turns: float


@dataclass(frozen=True, kw_only=True)
class ScrewOn(Screw):
    """Screw the nut in the jaws onto a bolt, release it and retreat."""

    doing: ClassVar[str] = "screwing onto"

    extra_turns: float  # additional turns, for an unknown thread start
    # whether the pressure stays until the first release; else the tool first goes back to where
    # the nut should be, which pulls off a nut that does not slide in the jaws
    keep_pressing: bool


@dataclass(frozen=True, kw_only=True)
class FindThread(TurnNut):
    """Turn the nut in the jaws back on a bolt's end, until someone sees or hears the click."""

    click_depth: float  # of the bolt's tip in the nut at the click [m]
    around: float  # roll of the nut in the middle of the turn, if possible [rad]


@dataclass(frozen=True, kw_only=True)
class Wait(StepBase):
    """Wait [s]."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class WaitUntil(StepBase):
    """Wait until a condition holds; fail after a timeout [s]."""

    when: Condition
    timeout: float


@dataclass(frozen=True, kw_only=True)
class FindFrame(StepBase):
    """Find a frame of tf; the steps below are planned with its pose."""

    frame: str
    timeout: float  # [s]


@dataclass(frozen=True, kw_only=True)
class Command(StepBase):
    """Call a service, publish a message, or run a function, by the kind of the step."""

    to: str  # name of the service, topic or function
    type: str  # of service or topic, or ""
    content: Mapping[str, Any]  # fields, or keyword arguments
    timeout: float  # [s]


@dataclass(frozen=True, kw_only=True)
class Repeat(StepBase):
    """Repeat steps."""

    times: int
    steps: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class For(StepBase):
    """Run steps once for each value of the loop's variables."""

    values: tuple[str, ...]  # of each round, such as "row 0, column 1"
    rounds: tuple[tuple[StepBase, ...], ...]  # the steps of each round

    @property
    def steps(self) -> tuple[StepBase, ...]:
        """The steps of all rounds."""
        return tuple(step for steps in self.rounds for step in steps)


@dataclass(frozen=True, kw_only=True)
class SetSpeed(StepBase):
    """Mark a change of speed, which the parser has applied to the steps below."""


@dataclass(frozen=True, kw_only=True)
class Call(StepBase):
    """Run the steps of another task."""

    steps: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class If(StepBase):
    """Run one of two lists of steps, by a condition."""

    when: Condition
    then: tuple[StepBase, ...]
    otherwise: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class Until(StepBase):
    """Repeat steps until a condition holds; fail if it does not after a number of times."""

    when: Condition
    at_most: int
    steps: tuple[StepBase, ...]


@dataclass(frozen=True, kw_only=True)
class PauseForPerson(StepBase):
    """Pause until a person resumes the task."""

    say: str  # instruction for the person
    nut_back: bool  # whether the nut is then at its initial place


@dataclass(frozen=True)
class Expectation:
    """Required result of a task."""

    nut_on: str = ""  # bolt that the released nut is on; "" for any
    turns: float = 0.0  # least turns of thread engaged
    payload: str = ""  # released payload, or ""
    lies_on: str = ""  # object that it lies on
    line_within: float | None = None  # largest distance from the lines of move_linear steps [m]
    line: int = 0  # its line in the task file


@dataclass(frozen=True)
class Task:
    """A task that is not yet checked against a scene and a robot."""

    name: str
    file: str  # its file
    steps: tuple[StepBase, ...]  # repetitions not expanded
    scene: str = ""  # its own scene, or ""
    expect: Expectation | None = None  # required result


def all_steps(steps: Sequence[StepBase]) -> Iterator[StepBase]:
    """Yield steps and those nested in them."""
    for step in steps:
        yield step
        for name in ("steps", "then", "otherwise", "on_failure"):
            yield from all_steps(getattr(step, name, ()))
