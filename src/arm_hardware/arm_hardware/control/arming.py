# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/control/test_arming.py
"""Arming: check the pulses found on the board, then start the servos one after another.

A servo turns at full speed from an unknown position to that of its first pulse, and stops when
pulses end. SlowHoming therefore sends short bursts, each one frame of the board (20 ms at 50 Hz)
followed by a pause: an analogue servo moves by one frame's travel per burst. A digital servo that
remembers its last pulse cannot be slowed down; it jumps with the first burst.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

from arm_description.model.units import SHOWN

from arm_hardware.calibration.axes import LIMIT_TOLERANCE, Axes
from arm_hardware.calibration.servo_map import PointMap, ServoMap
from arm_hardware.control.servo_output import ServoOutput
from arm_hardware.errors import HardwareError, StateError

_LOGGER = logging.getLogger(__name__)
STAGGER = 0.1  # [s] between first pulses: simultaneous starts would overload the supply
HOMING_TIME = 6.0  # [s] for a servo to cross its whole travel
LOADED_SPEED = 0.5  # share of the servo's speed reached under load, from rest in each burst


def check_board_counts(axes: Axes, output: ServoOutput, positions: Sequence[float]) -> None:
    """Raise StateError for pulses on the board that this calibration would not send.

    They mean ``positions`` of the axes [rad or m].
    """
    for axis, servo, count in zip(axes.actuators, output.maps, output.counts, strict=True):
        if count is None:
            continue
        position = servo.position_of(count)
        beyond = max(axis.lower - position, position - axis.upper)
        if servo.count_of(position) != count or beyond > LIMIT_TOLERANCE:
            raise StateError(
                f"{axis.name}: the board's channel {servo.channel} is at count {count}, "
                "outside of calibration or limits; switch the servos' power off and on, then arm."
            )
    check_joints(
        axes,
        positions,
        "by the pulses on the board",
        "switch the servos' power off and on, then arm",
    )


def check_joints(axes: Axes, positions: Sequence[float], found: str, remedy: str) -> None:
    """Raise StateError for joints outside of limits although each servo is within its own.

    ``found`` is how their positions [rad or m] are known.
    """
    if axes.coupling is None:
        return
    n = len(axes.arm)
    for axis, position in zip(axes.arm, positions[:n], strict=True):
        beyond = max(axis.lower - position, position - axis.upper)
        if beyond > LIMIT_TOLERANCE:
            raise StateError(
                f"{axis.name}: {found} it is at {axis.text(position, SHOWN)}, outside of "
                f"{axis.range_text(SHOWN)}; {remedy}."
            )
    violation = axes.coupling.constraints.worst(positions[:n])
    if violation is not None:
        raise StateError(f"{violation.sentence}, but {found} it is elsewhere; {remedy}.")


class StaggeredArming:
    """Sends first pulses to servos that have none, one after another; they move at full speed.

    Attributes:
        left: Groups of servos without a pulse, or in SlowHoming of those that have not arrived;
            servos that move one joint together are one group, and are started together.
        duration: Seconds until all are done.
    """

    def __init__(self, axes: Axes, output: ServoOutput, rest: Sequence[float], dt: float) -> None:
        """Find the servos without pulses, to move to rest [rad or m, as ``axes.all``]; dt [s]."""
        self._output = output
        self._rest = tuple(rest)
        self._dt = dt
        self._wait = 0.0
        self.left = [
            group for group in output.groups if any(output.counts[i] is None for i in group)
        ]
        names = [axis.name for axis in axes.actuators]
        self._names = {group: " and ".join(names[i] for i in group) for group in self.left}
        self.duration = STAGGER * len(self.left)

    @property
    def message(self) -> str:
        """One sentence for the status."""
        return (
            "No pulses were sent since power-up: the rest posture is assumed for "
            f"{', '.join(self._names.values())}; their real positions are unknown."
        )

    def tick(self) -> None:
        """Do the work of one tick; raise HardwareError if the bus is lost or a bound is broken."""
        self._wait -= self._dt
        if self._wait > 0.0:
            return
        self._output.write_group(self.left.pop(0), self._rest)
        self._wait = STAGGER

    def abandon(self) -> None:
        """End the arming; servos that have been started hold."""


@dataclass(frozen=True)
class PulseBursts:
    """A sequence of ``number`` bursts, each ``on`` ticks with pulses per ``period`` ticks."""

    on: int
    period: int
    number: int

    @property
    def ticks(self) -> int:
        """Ticks until the servo has reached its target from any start."""
        return self.period * self.number


def plan_bursts(servo: ServoMap, target: float, dt: float) -> PulseBursts:
    """Return bursts, at ticks of dt [s], that move a servo to a target [rad or m] from anywhere.

    They take HOMING_TIME; fake hardware needs a single tick.
    """
    if not isinstance(servo, PointMap):
        return PulseBursts(1, 1, 1)
    setpoint = servo.count_of(target) * servo.setpoint_per_count
    distance = max(abs(setpoint - end) for end in servo.travel)
    on = max(1, math.ceil(servo.frame / dt - 1e-9))
    number = max(1, math.ceil(distance / (LOADED_SPEED * servo.slew * on * dt)))
    return PulseBursts(on, max(2 * on, math.floor(HOMING_TIME / (number * dt))), number)


class SlowHoming(StaggeredArming):
    """Moves servos without pulses to their rest positions in short bursts, base to tip."""

    def __init__(self, axes: Axes, output: ServoOutput, rest: Sequence[float], dt: float) -> None:
        """Plan the bursts; arguments as of StaggeredArming."""
        super().__init__(axes, output, rest, dt)
        targets = output.to_servos(rest)
        self._bursts = {
            group: max(
                (plan_bursts(output.maps[i], targets[i], dt) for i in group),
                key=lambda bursts: bursts.number,
            )
            for group in self.left
        }
        self._tick = 0
        self.duration = dt * sum(bursts.ticks + 1 for bursts in self._bursts.values())

    @property
    def message(self) -> str:
        """One sentence for the status."""
        if not self.left:
            return "Recovered to the rest posture; positions are commanded, not measured."
        total = len(self._names)
        return (
            f"Recovering from unknown positions: {self._names[self.left[0]]} goes to its rest "
            f"position in short bursts ({total - len(self.left) + 1} of {total}); "
            "keep clear, stop ends it."
        )

    def tick(self) -> None:
        """Do the work of one tick; errors as in StaggeredArming."""
        group = self.left[0]
        bursts = self._bursts[group]
        arrived = self._tick >= bursts.ticks
        if arrived or self._tick % bursts.period < bursts.on:
            self._output.write_group(group, self._rest)
        else:
            self._output.release_group(group)
        self._tick += 1
        if arrived:
            self.left.pop(0)
            self._tick = 0

    def abandon(self) -> None:
        """End the pulses of the moving joint, which would otherwise continue at full speed."""
        if not self.left:
            return
        try:
            self._output.release_group(self.left[0])
        except HardwareError as error:
            _LOGGER.error("A joint could not be released while its recovery ended: %s", error)
