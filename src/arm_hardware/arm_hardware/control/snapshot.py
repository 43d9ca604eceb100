# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/control/test_controller.py
"""What the driver reports: its state, and snapshots of what it commands and measures."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from arm_hardware.errors import ARM
from arm_hardware.motion.execution import MeasuredState, TrajectoryState


class DriverState(IntEnum):
    """States with the values of arm_interfaces/msg/HardwareStatus."""

    UNKNOWN = 0
    DISARMED = 1
    ARMED = 2
    MOVING = 3
    STOPPED = 4
    FAULT = 5


@dataclass(frozen=True)
class DriverSnapshot:
    """The commanded state at one moment; axes in the order of ``axes.all``."""

    state: DriverState
    message: str  # one sentence about the state
    # commanded, quantised to counts; None where no pulse is sent [rad or m]
    positions: tuple[float | None, ...]
    velocities: tuple[float, ...]  # commanded [rad/s or m/s]
    counts: tuple[int | None, ...]  # of the servos as sent; None where no pulse is sent
    # where the running trajectory ends, as ``axes.arm`` [rad or m]; empty without one
    goal_positions: tuple[float, ...] = ()
    speed_scaling: float = 1.0  # requested, 0 to 1
    # of the servos, as ``axes.actuators``: commanded, and estimated by a model of them
    # [rad or m]; None if unknown
    servo_positions: tuple[float | None, ...] = ()
    servo_estimates: tuple[float | None, ...] = ()
    moment: float | None = None  # its time on the driver's clock [s]; None before the first tick
    measured: MeasuredState | None = None  # None unless the servos answer


@dataclass(frozen=True)
class Tracking:
    """What the arm's trajectory requests and what is commanded."""

    reference: TrajectoryState | None  # on the running trajectory, None without one
    positions: list[float]  # commanded, within the limits, unquantised (n,) [rad or m]
    velocities: list[float]  # (n,) [rad/s or m/s]
    snapshot: DriverSnapshot

    @property
    def actual(self) -> tuple[list[float], list[float]]:
        """Positions and velocities (n,) as measured, otherwise as commanded."""
        measured, n = self.snapshot.measured, len(self.positions)
        if measured is None:
            return self.positions, self.velocities
        return list(measured.positions[:n]), list(measured.velocities[:n])


UNCONFIGURED = DriverSnapshot(DriverState.DISARMED, f"Not configured: run {ARM}.", (), (), ())
