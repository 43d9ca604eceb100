# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/task_server/test_monitors.py
"""State of the nut in the world, the events that change it, and what a task expects of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array

from arm_tasks.scene.scene import Scene

_TURN_TOLERANCE = 0.25  # largest deviation of the nut [turns]


class NutStatus(IntEnum):
    """Where the nut is; the values are those of NutState.msg."""

    FALLEN = 0
    ON_BOLT = 1
    ON_BOLT_HELD = 2
    HELD = 3
    NOT_JUDGED = 4


class NutEvent(Enum):
    """Events of the nut."""

    UNKNOWN = auto()  # of a message, which has only a sentence
    START = auto()
    MISSED = auto()  # the jaws closed beside the nut
    CLOSED_ON_NOTHING = auto()
    GRIPPED = auto()
    RELEASED = auto()  # on a thread
    SLIPPED = auto()  # out of the jaws, on a thread
    TIGHT = auto()  # at the end of a thread
    CAME_FREE = auto()  # of a thread
    TOUCHED_TIP = auto()
    SEATED = auto()  # on the tip of a bolt
    SLID_OFF_TIP = auto()
    CLICKED = auto()  # turned back past the start of a thread
    NOT_CAUGHT = auto()  # the thread cannot start
    CAUGHT = auto()  # the thread started
    DROPPED = auto()  # the jaws opened with no thread engaged
    STRUCK_BOLT = auto()  # and fell
    PUSHED_OUT = auto()  # of the jaws by a bolt, and fell


class NutIncident(NamedTuple):
    """An event and its sentence for a person."""

    event: NutEvent
    message: str


@dataclass(frozen=True)
class NutReport:
    """State of the nut at one time."""

    status: NutStatus
    bolt: str  # name of the bolt that it is on, or ""
    turns_engaged: float  # turns of thread inside the nut, 0 to thickness / pitch
    grasped: bool  # whether the gripper holds it
    pose: Array  # base_link <- nut (4, 4), at its centre, z along its axis, read-only [m]
    message: str  # the last event, one sentence
    event: NutEvent = NutEvent.UNKNOWN  # the last event


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
