# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The lowest layer before the bus: what leaves it is finite, in limits, not too fast, and new."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from arm_hardware.axes import Axes
from arm_hardware.bus import Bus
from arm_hardware.errors import BusError, HardwareError
from arm_hardware.servo_map import ServoMap

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)
TRIES = 3  # of one transfer, before the bus counts as lost
ROUNDING = 1e-6  # [rad or m] slack of the last checks; the layers above keep the bounds themselves


class Output:
    """Sends axis positions to a bus.

    Attributes:
        counts: What each axis' channel was last told; None: no pulses, or unknown.
        faults: Transfers that failed and were repeated.
        writes: Channels written.
    """

    def __init__(self, bus: Bus, axes: Axes, maps: Sequence[ServoMap], dt: float) -> None:
        """Make the layer; nothing is sent.

        Args:
            bus: Opened by its owner.
            axes: The arm, limits already narrowed to what the maps can command.
            maps: One for each axis of ``axes.all``.
            dt: Length of a tick [s].
        """
        self._bus = bus
        self._axes = axes.all
        self._dt = dt
        self.maps = tuple(maps)
        self.counts: list[int | None] = [None] * len(axes)
        self._sent: list[float | None] = [None] * len(axes)
        self.faults = 0
        self.writes = 0

    def read(self) -> list[float | None]:
        """Return the positions [rad or m] of the registers, None where no pulse is sent.

        Raises:
            BusError: The bus is lost.
        """
        found = self._repeat(lambda: self._bus.read_counts([m.channel for m in self.maps]))
        self.counts = [found[m.channel] for m in self.maps]
        self._sent = self.shown()
        return self.shown()

    def shown(self) -> list[float | None]:
        """Return the positions [rad or m] of the last counts, None where no pulse is sent."""
        return [
            None if count is None else servo.position_of(count)
            for servo, count in zip(self.maps, self.counts, strict=True)
        ]

    def write(self, positions: Sequence[float], first: bool = False) -> None:
        """Send those positions whose count has changed.

        Args:
            positions: One for each axis [rad or m]; NaN is refused.
            first: The channels may be new ones or far from where they stand: no bound on the step.

        Raises:
            HardwareError: A position breaks a bound; nothing was sent.
            BusError: The bus is lost.
        """
        for i, position in enumerate(positions):
            self._guard(i, position, first)
        new = {}
        for i, (servo, position) in enumerate(zip(self.maps, positions, strict=True)):
            count = servo.count_of(position)
            if count != self.counts[i]:
                new[i] = count
        if new:
            by_channel = {self.maps[i].channel: count for i, count in new.items()}
            self._repeat(lambda: self._bus.write_counts(by_channel))
        for i, count in new.items():
            self.counts[i] = count
            self.writes += 1
        self._sent = list(positions)

    def write_one(self, index: int, position: float) -> None:
        """Send the first position of one axis [rad or m]; errors as in write()."""
        self._guard(index, position, True)
        servo = self.maps[index]
        count = servo.count_of(position)
        if count != self.counts[index]:
            self._repeat(lambda: self._bus.write_counts({servo.channel: count}))
            self.counts[index] = count
            self.writes += 1
        self._sent[index] = position

    def release(self) -> None:
        """End the pulses of every channel.

        Raises:
            BusError: The bus is lost.
        """
        self._repeat(lambda: self._bus.release([m.channel for m in self.maps]))
        self.counts = [None] * len(self.maps)
        self._sent = [None] * len(self.maps)

    def _guard(self, i: int, position: float, first: bool) -> None:
        axis, sent = self._axes[i], self._sent[i]
        if not math.isfinite(position):
            raise HardwareError(f"{axis.name}: a position of {position} was held back.")
        if not axis.lower - ROUNDING <= position <= axis.upper + ROUNDING:
            raise HardwareError(
                f"{axis.name}: {position:.4g} {axis.unit}, outside of its limits, was held back."
            )
        if first or sent is None:
            return
        if abs(position - sent) > axis.velocity * self._dt + ROUNDING:
            raise HardwareError(
                f"{axis.name}: a step of {abs(position - sent):.4g} {axis.unit}, faster than its "
                "speed limit, was held back."
            )

    def _repeat(self, transfer: Callable[[], T]) -> T:
        """Run a transfer, again if it fails: a single disturbed one is no reason to give up."""
        for left in reversed(range(TRIES)):
            try:
                return transfer()
            except OSError as error:
                self.faults += 1
                if left == 0:
                    raise BusError(
                        f"The servo board does not answer ({error}); check power and wires, then "
                        "deactivate and activate."
                    ) from error
                LOGGER.debug("A transfer failed and is repeated: %s", error)
        raise AssertionError("unreachable")
