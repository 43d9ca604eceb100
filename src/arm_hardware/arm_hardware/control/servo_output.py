# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/control/test_controller.py
"""The last layer before the bus, which passes only changed, finite positions within limits."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from arm_hardware.bus.interface import Bus
from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.calibration.axes import Axes, Axis, Coupling, Fight
from arm_hardware.calibration.servo_map import ServoMap
from arm_hardware.control.watchdogs import BoardMonitor
from arm_hardware.errors import HardwareError

if TYPE_CHECKING:
    from arm_hardware.control.sag_compensation import SagCompensation

ROUNDING = 1e-6  # [rad or m] tolerance of these checks; the layers above keep the exact bounds
# [rad or m] by which limits that depend on other joints may be exceeded: between the instants at
# which a path was checked, and by the mean of commands on a curved boundary
CONSTRAINT_TOLERANCE = 2e-3


class ServoOutput:
    """Sends axis positions to a bus; raises BusError if the bus is lost.

    Servos are numbered like ``axes.actuators``.
    """

    def __init__(
        self,
        bus: Bus,
        axes: Axes,
        maps: Sequence[ServoMap],
        dt: float,
        sag: SagCompensation | None = None,
    ) -> None:
        """Create the output for axes already narrowed to their maps; a tick is dt [s].

        With a compensation of sag, positions are those that are meant, and limits bound what is
        sent.
        """
        self.bus = RetryingBus(bus)
        self._axes, self._actuators, self.coupling = axes.all, axes.actuators, axes.coupling
        self._joints = len(axes.arm)
        self._dt = dt
        self.sag = sag
        self.maps = tuple(maps)
        # The last count sent to each servo's channel and its position [rad or m]; None for no
        # pulses or unknown.
        self.counts: list[int | None] = [None] * len(maps)
        self._sent: list[float | None] = [None] * len(maps)
        self._steps = [0.0] * len(maps)
        self.monitor = BoardMonitor(self.bus, [m.channel for m in self.maps], dt)
        self.writes = 0  # channels written

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """The servos, those that move one joint together in one tuple."""
        shared = [] if self.coupling is None else self.coupling.drivetrain.groups()
        found = {i for group in shared for i in group}
        return [*shared, *((i,) for i in range(len(self.maps)) if i not in found)]

    @property
    def sent(self) -> list[float | None]:
        """The last positions sent [rad or m], one per axis; None if unknown."""
        return self._meant(self._sent)

    @property
    def is_settled(self) -> bool:
        """Whether nothing more is to be sent for the last positions."""
        return self.sag is None or self.sag.is_settled

    def verify_registers(self) -> None:
        """Compare the board's registers, if due, with what was sent; raise BusError."""
        self.monitor.poll(self.counts)

    def read(self, assumed: Sequence[float]) -> list[float]:
        """Read the registers; return the axes' positions [rad or m].

        Servos without pulses are where the axes would be at ``assumed``. Positions just outside
        of limits, by rounding to counts, are put inside.
        """
        commands = self._read(assumed)
        return self.start(commands, self.to_axes(self._sent))

    def start(self, commands: Sequence[float], held: Sequence[float | None]) -> list[float]:
        """Return the positions that commands of the axes mean; of those not held (None) the same.

        From there, write() continues without a jump.
        """
        return list(commands) if self.sag is None else self.sag.start(commands, held)

    def _read(self, assumed: Sequence[float]) -> list[float]:
        found = self.bus.read(m.channel for m in self.maps)
        self.counts = [found[m.channel] for m in self.maps]
        self._sent = self.servo_positions()
        rest = self.to_servos(assumed)
        if self.coupling is None:
            return [b if a is None else a for a, b in zip(self._sent, rest, strict=True)]
        m = len(self.coupling.actuators)
        partners = [*self.coupling.with_partners(self._sent[:m]), *self._sent[m:]]
        filled = [b if a is None else a for a, b in zip(partners, rest, strict=True)]
        positions = [q for q in self.to_axes(filled) if q is not None]
        positions = self.put_inside(positions)
        inside = self.to_servos(positions)
        self._sent = [None if a is None else b for a, b in zip(self._sent, inside, strict=True)]
        return positions

    def servo_positions(self, without: Collection[int] = ()) -> list[float | None]:
        """Return the servos' positions [rad or m] by their last counts.

        It is None for those without pulses, and those in ``without``.
        """
        return [
            None if count is None or i in without else servo.position_of(count)
            for i, (servo, count) in enumerate(zip(self.maps, self.counts, strict=True))
        ]

    def positions(self, without: Collection[int] = ()) -> list[float | None]:
        """Return the axes' positions [rad or m], None where a servo that moves one is unknown.

        They are within the limits although counts are rounded: what is reported is accepted again.
        """
        found = self._meant(self.servo_positions(without))
        known = [q for q in found if q is not None]
        return [*self.put_inside(known)] if len(known) == len(found) else found

    def _meant(self, servos: Sequence[float | None]) -> list[float | None]:
        """Return the positions that are meant with the servos at these, None where unknown."""
        found = self.to_axes(servos)
        if self.sag is None:
            return found
        for i, offset in enumerate(self.sag.offsets):
            place, axis = found[i], self._axes[i]
            if place is not None:
                found[i] = min(max(place - offset, axis.lower), axis.upper)
        return found

    def to_axes(self, servos: Sequence[float | None]) -> list[float | None]:
        """Return the positions of the axes with the servos at these, None where unknown."""
        if self.coupling is None:
            return list(servos)
        m = len(self.coupling.actuators)
        return [*self.coupling.to_joints(servos[:m]), *servos[m:]]

    def to_servos(self, axes: Sequence[float]) -> list[float]:
        """Return the positions of the servos with the axes at these."""
        if self.coupling is None:
            return list(axes)
        return [*self.coupling.to_actuators(axes[: self._joints]), *axes[self._joints :]]

    def write(self, positions: Sequence[float], first: bool = False) -> None:
        """Send positions [rad or m], one per axis, where their count has changed.

        With ``first``, steps are not bounded: channels may be new or far from their position.

        Raises:
            HardwareError: A position is NaN or breaks a bound; nothing was sent.
        """
        if self.sag is not None and not first:
            positions = self.sag.advance(positions)
        if self.coupling is not None:
            self._guard_joints(positions, self.coupling)
        servos = positions if self.coupling is None else self.to_servos(positions)
        counts: dict[int, int] = {}
        for i, position in enumerate(servos):
            self._guard(self._actuators[i], position)
            counts[i] = self.maps[i].count_of(position)
            if not first:
                self._guard_step(i, position, counts[i])
        for i, position in enumerate(servos):
            sent = self._sent[i]
            self._steps[i] = 0.0 if first or sent is None else position - sent
        self._send(servos, counts)
        self.monitor.check_written(self.counts)

    def write_group(self, group: Sequence[int], positions: Sequence[float]) -> None:
        """Send their first positions to the servos of a group, with the axes at ``positions``.

        If one cannot be started, the others are as before. Errors as in write().
        """
        servos = self.to_servos(positions)
        for i in group:
            self._guard(self._actuators[i], servos[i])
        self._send(servos, {i: self.maps[i].count_of(servos[i]) for i in group})
        self.monitor.check_written(self.counts)

    def release_group(self, group: Sequence[int]) -> None:
        """End the pulses of the servos of a group together."""
        pulsing = [i for i in group if self.counts[i] is not None]
        if pulsing:
            self.bus.release([self.maps[i].channel for i in pulsing])
            for i in pulsing:
                self.counts[i] = self._sent[i] = None
            self.monitor.check_written(self.counts)

    def release(self) -> None:
        """End the pulses of every channel."""
        self.bus.release(m.channel for m in self.maps)
        self.forget()

    def forget(self) -> None:
        """Regard all counts and positions as unknown until they are read."""
        self.counts = [None] * len(self.maps)
        self._sent = [None] * len(self.maps)

    def fighting(self) -> Fight | None:
        """Return the servos of one joint whose counts differ too much."""
        if self.coupling is None:
            return None
        return self.coupling.fighting(self.servo_positions(), ROUNDING)

    def _send(self, positions: Sequence[float], counts: Mapping[int, int]) -> None:
        """Send counts by servo where they have changed; they mean the servos' positions."""
        if self.coupling is not None:
            self._guard_groups(counts, self.coupling)
        changed = {i: count for i, count in counts.items() if count != self.counts[i]}
        try:
            written = self.bus.write({self.maps[i].channel: n for i, n in changed.items()})
        except HardwareError:
            self._put_back_pairs(changed)
            raise
        if len(written) < len(changed):  # halted between them
            kept = self._put_back_pairs(self._torn(changed, written))
            written = [channel for channel in written if channel not in kept]
        for i in counts:
            if i in changed:
                if self.maps[i].channel not in written:
                    continue
                self.counts[i] = counts[i]
                self.writes += 1
            self._sent[i] = positions[i]

    def _torn(self, changed: Collection[int], written: Collection[int]) -> list[int]:
        """Return the servos that were written although a partner on their joint was not."""
        left = {i for i in changed if self.maps[i].channel not in written}
        torn = [group for group in self.groups if left.intersection(group)]
        return [i for group in torn for i in group if i in changed and i not in left]

    def _put_back_pairs(self, servos: Collection[int]) -> set[int]:
        """Set servos that share a joint to their last counts, as their partners may be there.

        If that fails, all servos of the joint are released.

        Returns:
            Their channels.
        """
        channels: set[int] = set()
        for group in self.groups:
            moved = [i for i in group if i in servos]
            if len(group) == 1 or not moved:
                continue
            before = {self.maps[i].channel: self.counts[i] for i in moved}
            channels.update(before)
            try:
                for channel in self.bus.differences(before):
                    self.bus.restore(channel, before[channel])
            except HardwareError:
                with contextlib.suppress(HardwareError):  # the first error is reported
                    self.bus.release([self.maps[i].channel for i in group])
        return channels

    def reset_steps(self) -> None:
        """Restart from rest: the previous steps do not bound the next ones."""
        self._steps = [0.0] * len(self._steps)
        if self.sag is not None:
            self.sag.rest(self.to_axes(self._sent))

    def put_inside(self, positions: list[float]) -> list[float]:
        """Return axes' positions, put into their limits unless they are farther outside."""
        if self.coupling is None:
            return positions
        n = self._joints
        lower, upper = ([getattr(a, end) for a in self._axes[:n]] for end in ("lower", "upper"))
        near = self.coupling.constraints.put_inside(positions[:n], lower, upper)
        return [*near.tolist(), *positions[n:]]

    def _guard(self, axis: Axis, position: float) -> None:
        if not math.isfinite(position):
            raise HardwareError(f"{axis.name}: a position of {position} was held back.")
        if not axis.lower - ROUNDING <= position <= axis.upper + ROUNDING:
            raise HardwareError(
                f"{axis.name}: {axis.text(position)}, outside of its limits, was held back."
            )

    def _guard_joints(self, positions: Sequence[float], coupling: Coupling) -> None:
        """Raise HardwareError for joints outside of limits, also if these depend on others."""
        for axis, position in zip(self._axes, positions, strict=True):
            self._guard(axis, position)
        if not coupling.constraints:
            return
        q = np.array(positions[: self._joints])
        amount = float(coupling.constraints.violation(q))
        if amount > CONSTRAINT_TOLERANCE:
            violation, sent = coupling.constraints.worst(q), self.sent[: self._joints]
            before = [math.nan if p is None else p for p in sent]
            if violation and not amount <= coupling.constraints.violation(before) + ROUNDING:
                raise HardwareError(f"{violation.sentence}; a step beyond was held back.")

    def _guard_groups(self, counts: Mapping[int, int], coupling: Coupling) -> None:
        """Raise HardwareError for counts with which servos of one joint would differ too much."""
        m = len(coupling.actuators)
        known = [counts.get(i, self.counts[i]) for i in range(m)]
        places = [None if c is None else self.maps[i].position_of(c) for i, c in enumerate(known)]
        problem = coupling.fighting(places, ROUNDING)
        if problem:
            raise HardwareError(f"{problem.sentence.removesuffix('.')}; this was held back.")

    def _guard_step(self, i: int, position: float, to: int) -> None:
        """Raise HardwareError for a step, to a count, beyond the speed or acceleration limit."""
        axis, servo = self._actuators[i], self.maps[i]
        sent, count = self._sent[i], self.counts[i]
        if sent is None or count is None:
            return
        step, most = position - sent, axis.velocity * self._dt
        counted = abs(servo.position_of(to) - servo.position_of(count))
        rounded = servo.rounding(count) + servo.rounding(to)
        if abs(step) > most + ROUNDING or (to != count and counted > most + rounded + ROUNDING):
            raise HardwareError(
                f"{axis.name}: a step of {axis.text(max(abs(step), counted))}, faster than "
                "its speed limit, was held back."
            )
        if abs(step - self._steps[i]) > axis.acceleration * self._dt**2 + ROUNDING:
            raise HardwareError(
                f"{axis.name}: a change of speed by {abs(step - self._steps[i]) / self._dt:.4g} "
                f"{axis.unit}/s in a tick, more than its acceleration limit, was held back."
            )
