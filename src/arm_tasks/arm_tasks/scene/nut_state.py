# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""State of the nut in the world, and the events that change it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from typing import NamedTuple

from arm_common.transforms import Array


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
