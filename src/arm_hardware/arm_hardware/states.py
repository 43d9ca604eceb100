# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the driver says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class State(IntEnum):
    """As in arm_interfaces/msg/HardwareStatus."""

    UNKNOWN = 0
    DISARMED = 1
    ARMED = 2
    MOVING = 3
    STOPPED = 4
    FAULT = 5


@dataclass(frozen=True)
class Snapshot:
    """What is commanded at one moment; axes in the order of ``axes.all``.

    Attributes:
        state: See State.
        message: One sentence about it.
        positions: Commanded, quantised to counts; None where no pulse is sent [rad or m].
        velocities: Commanded [rad/s or m/s].
        counts: As sent; None where no pulse is sent.
        estimated: Where a model of the servos is by now, None where that is unknown [rad or m].
        bound_for: Where the running trajectory ends, as ``axes.arm``; empty if none runs, or if
            it was given up [rad or m].
        moment: What time it is for, on the driver's clock [s]; None before the first tick.
    """

    state: State
    message: str
    positions: tuple[float | None, ...]
    velocities: tuple[float, ...]
    counts: tuple[int | None, ...]
    estimated: tuple[float | None, ...] = ()
    bound_for: tuple[float, ...] = ()
    moment: float | None = None


UNCONFIGURED = Snapshot(State.DISARMED, "Not configured: configure the node.", (), (), ())
