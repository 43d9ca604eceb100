# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the simulated world says of the nut; the fields of arm_interfaces/NutState."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from arm_common.transforms import Array


class NutStatus(IntEnum):
    """Where the nut is; the values are those of NutState.msg."""

    FALLEN = 0
    ON_BOLT = 1
    ON_BOLT_HELD = 2
    HELD = 3


@dataclass(frozen=True)
class NutReport:
    """The nut at one moment.

    Attributes:
        status: Where it is.
        bolt: Name of the bolt that it is on, or "".
        turns_engaged: Turns of thread inside the nut, 0 to thickness / pitch.
        grasped: True while the gripper holds it.
        pose: base_link <- nut (4, 4), at its centre, z along its axis, read-only [m].
        message: The last thing that happened to it, one sentence.
    """

    status: NutStatus
    bolt: str
    turns_engaged: float
    grasped: bool
    pose: Array
    message: str
