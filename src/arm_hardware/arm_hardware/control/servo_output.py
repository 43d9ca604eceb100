# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The last layer before the bus, which passes only changed, finite positions within limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from arm_hardware.bus.interface import Bus
from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.calibration.axes import Axes
from arm_hardware.calibration.servo_map import ServoMap, resolution
from arm_hardware.control.watchdogs import BoardMonitor
from arm_hardware.errors import HardwareError

ROUNDING = 1e-6  # [rad or m] tolerance of these checks; the layers above keep the exact bounds


class ServoOutput:
    """Sends axis positions to a bus; raises BusError if the bus is lost."""

    def __init__(self, bus: Bus, axes: Axes, maps: Sequence[ServoMap], dt: float) -> None:
        """Create the output for axes already narrowed to their maps; a tick is dt [s]."""
        self.bus = RetryingBus(bus)
        self._axes = axes.all
        self._dt = dt
        self.maps = tuple(maps)
        # The last count sent to each axis' channel and its position [rad or m]; None for no pulses
        # or unknown.
        self.counts: list[int | None] = [None] * len(axes)
        self.sent: list[float | None] = [None] * len(axes)
        self._steps = [0.0] * len(axes)
        self.monitor = BoardMonitor(self.bus, [m.channel for m in self.maps], dt)
        self.writes = 0  # channels written

    def verify_registers(self) -> None:
        """Compare the board's registers, if due, with what was sent; raise BusError."""
        self.monitor.poll(self.counts)

    def read(self) -> list[float | None]:
        """Read the registers; return their positions [rad or m], None where no pulse is sent."""
        found = self.bus.read(m.channel for m in self.maps)
        self.counts = [found[m.channel] for m in self.maps]
        self.sent = self.positions()
        return self.positions()

    def positions(self) -> list[float | None]:
        """Return the positions [rad or m] of the last counts, None where no pulse is sent."""
        return [
            None if count is None else servo.position_of(count)
            for servo, count in zip(self.maps, self.counts, strict=True)
        ]

    def write(self, positions: Sequence[float], first: bool = False) -> None:
        """Send positions [rad or m], one per axis, where their count has changed.

        With ``first``, steps are not bounded: channels may be new or far from their position.

        Raises:
            HardwareError: A position is NaN or breaks a bound; nothing was sent.
        """
        for i, position in enumerate(positions):
            self._guard(i, position)
            if not first:
                self._guard_step(i, position)
        for i, position in enumerate(positions):
            sent = self.sent[i]
            self._steps[i] = 0.0 if first or sent is None else position - sent
        self._send(dict(enumerate(positions)))
        self.monitor.check_written(self.counts)

    def write_one(self, index: int, position: float) -> None:
        """Send a first position [rad or m] to one axis; errors as in write()."""
        self._guard(index, position)
        self._send({index: position})
        self.monitor.check_written(self.counts)

    def release_one(self, index: int) -> None:
        """End the pulses of one axis."""
        if self.counts[index] is not None:
            self.bus.release([self.maps[index].channel])
            self.counts[index] = self.sent[index] = None
            self.monitor.check_written(self.counts)

    def release(self) -> None:
        """End the pulses of every channel."""
        self.bus.release(m.channel for m in self.maps)
        self.forget()

    def forget(self) -> None:
        """Regard all counts and positions as unknown until they are read."""
        self.counts = [None] * len(self.maps)
        self.sent = [None] * len(self.maps)

    def _send(self, positions: Mapping[int, float]) -> None:
        """Send positions [rad or m] by axis where their count has changed."""
        counts = {i: self.maps[i].count_of(position) for i, position in positions.items()}
        changed = {i: count for i, count in counts.items() if count != self.counts[i]}
        written = self.bus.write({self.maps[i].channel: count for i, count in changed.items()})
        for i, position in positions.items():
            if i in changed:
                if self.maps[i].channel not in written:
                    continue
                self.counts[i] = counts[i]
                self.writes += 1
            self.sent[i] = position

    def reset_steps(self) -> None:
        """Restart from rest: the previous steps do not bound the next ones."""
        self._steps = [0.0] * len(self._steps)

    def _guard(self, i: int, position: float) -> None:
        axis = self._axes[i]
        if not math.isfinite(position):
            raise HardwareError(f"{axis.name}: a position of {position} was held back.")
        if not axis.lower - ROUNDING <= position <= axis.upper + ROUNDING:
            raise HardwareError(
                f"{axis.name}: {position:.4g} {axis.unit}, outside of its limits, was held back."
            )

    def _guard_step(self, i: int, position: float) -> None:
        """Raise HardwareError for a step that exceeds the speed or acceleration limit."""
        axis, servo, sent, count = self._axes[i], self.maps[i], self.sent[i], self.counts[i]
        if sent is None or count is None:
            return
        step, most = position - sent, axis.velocity * self._dt
        to = servo.count_of(position)
        counted = abs(servo.position_of(to) - servo.position_of(count))
        if abs(step) > most + ROUNDING or (
            to != count and counted > most + resolution(servo, to) + ROUNDING
        ):
            raise HardwareError(
                f"{axis.name}: a step of {max(abs(step), counted):.4g} {axis.unit}, faster than "
                "its speed limit, was held back."
            )
        if abs(step - self._steps[i]) > axis.acceleration * self._dt**2 + ROUNDING:
            raise HardwareError(
                f"{axis.name}: a change of speed by {abs(step - self._steps[i]) / self._dt:.4g} "
                f"{axis.unit}/s in a tick, more than its acceleration limit, was held back."
            )
