# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/calibration/wizard/test_mechanisms.py
"""Changes the setpoints of servos one at a time in small steps, without the driver; their terms.

Those of a board are lengths of pulses, those of smart servos counts, which are measured even
without torque.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import NamedTuple

from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.calibration.calibration import Calibration
from arm_hardware.errors import RELEASE

HELP = """\
  n b    next servo, servo before
  p      first pulse of this servo, after a question: it turns at once
  . ,    one count longer, shorter        (or right, left)
  > <    ten counts longer, shorter       (or up, down)
  m      measured: type the joint's present position, or i and an inclinometer's readings (g)
  u k    undo the last point; keep the file's points and add to them
  c      change the channel that this servo is plugged into
  [ ]    this pulse is the shortest, the longest it may ever get
  r      release this servo: it goes limp
  g      guide: what this servo moves, and how to measure it
  f      feel: each step pushes for a moment only, to find a stop with little force; f ends it
  + -    one count longer, shorter, of this servo alone, while its partner on the joint holds
  t      turns: the ratio of its gear, from three measured positions
  l      lengths: check those of its linkage, measured with a calliper
  s      stiffness: hang a known weight and type how far it sinks
  w      show what would be written, then write it if you confirm
  h      these keys
  q      quit; pulses continue, the arm is held (Ctrl-C: at once, nothing is written)
"""
MEASURED_HELP = """\
Guide the arm by hand: servos without torque turn freely, and their counts are measured.
  n b    next servo, servo before; space: its count now
  m      measured: type the joint's present position, or i and an inclinometer's readings (g)
  u k    undo the last point; keep the file's points and add to them
  [ ]    this count is the least, the greatest that it may ever get
  p      hold: this servo gets torque where it is, nothing moves
  . ,    one count more, less             (or right, left)
  > <    ten counts more, less            (or up, down)
  r      release this servo: it goes limp
  c      change the id that this servo has
  g      guide: what this servo moves, and how to measure it
  + -    one count more, less, of this servo alone, while its partner on the joint holds
  t      turns: the ratio of its gear, from three measured positions
  l      lengths: check those of its linkage, measured with a calliper
  s      stiffness: hang a known weight; its servo measures how far it yields
  w      show what would be written, then write it if you confirm
  h      these keys
  q      quit; servos keep their torque, or have none (Ctrl-C: at once, nothing is written)
"""


class Terms(NamedTuple):
    """What the sentences for servos on a board, and for smart servos, differ in."""

    help: str
    unit: str
    end: str  # what holds a servo
    bounds: tuple[str, str]  # of its pulses
    holds: str
    limp: str
    no_step: str


BOARD_TERMS = Terms(
    HELP,
    "us",
    "pulses",
    ("shorter", "longer"),
    "{name} gets pulses of {setpoint:.0f} us and holds.",
    "no pulses, p: first",
    "{name} gets no pulses yet; p sends the first.",
)
MEASURED_TERMS = Terms(
    MEASURED_HELP,
    "counts",
    "torque",
    ("less", "more"),
    "{name} has torque and holds at {setpoint:.0f} counts; r releases it.",
    "limp",
    "{name} has no torque; p holds it where it is.",
)


TAP = 0.1  # [s] of pulses, in which a servo that is free turns by some counts
HELD_MEASURED = f"Servos with torque keep it; {RELEASE} --calibration FILE takes it."
HELD = "Pulses continue: the arm is held. Only `release`, or cutting its power, releases it."


class Setpoints:
    """What a board sends, by joint name; only step(), first() and release() write.

    These raise BusError if the bus is lost; the setpoint is then unchanged.
    """

    terms = BOARD_TERMS
    measures = False  # whether setpoints are those of the servos themselves, also without torque

    def __init__(self, bus: RetryingBus, calibration: Calibration) -> None:
        """Read the registers of an open board."""
        self._bus = bus
        self._servos = calibration.servos
        self._setpoint_per_count = calibration.board.setpoint_per_count
        least, most = calibration.safe_setpoints
        self.bounds = (
            math.ceil(least / self._setpoint_per_count),
            math.floor(most / self._setpoint_per_count),
        )
        self._channels = {name: servo.channel for name, servo in self._servos.items()}
        found = bus.read(self._channels.values())
        # By joint name; None where the servo gets no pulses.
        self.counts = {name: found[channel] for name, channel in self._channels.items()}

    def setpoint(self, name: str) -> float:
        """Return the setpoint of a servo, NaN if it gets none."""
        count = self.counts[name]
        return math.nan if count is None else count * self._setpoint_per_count

    def first(self, name: str, count: int | None = None) -> None:
        """Send a servo its first pulse, by default halfway between its pulse limits."""
        self._bus.start()
        middle = sum(self._servos[name].setpoint_limits) / 2.0
        self._write(name, round(middle / self._setpoint_per_count) if count is None else count)

    def step(self, name: str, steps: int) -> bool:
        """Lengthen a servo's pulses by some counts; return False at the end of the safe range."""
        before, (least, most) = self.counts[name], self.bounds
        count = (before or 0) + steps
        if before is None or (steps > 0 and count > most) or (steps < 0 and count < least):
            return False
        self._write(name, count)
        return True

    def tap(self, name: str, steps: int) -> bool:
        """Do as step() for a moment, then end the pulses; ``counts`` keeps the last one.

        They also end if an interrupt or a lost bus comes between.
        """
        try:
            done = self.step(name, steps)
            time.sleep(TAP)
        finally:
            self.end(name)
        return done

    def end(self, name: str) -> None:
        """End the pulses of a servo that taps will move on."""
        self._bus.release([self._channels[name]])

    def move(self, counts: Mapping[str, int]) -> None:
        """Send counts to servos that have pulses."""
        self._bus.write({self._channels[name]: count for name, count in counts.items()})
        self.counts.update(counts)

    def assign(self, name: str, channel: int) -> None:
        """Change the channel of a servo without pulses; it adopts those already sent there."""
        self.counts[name] = self._bus.read([channel])[channel]
        self._channels[name] = channel

    def release(self, name: str) -> None:
        """End the pulses of a servo."""
        self._bus.release([self._channels[name]])
        self.counts[name] = None

    def _write(self, name: str, count: int) -> None:
        self._bus.write({self._channels[name]: count})
        self.counts[name] = count


class MeasuredSetpoints(Setpoints):
    """The counts of smart servos: measured, with or without torque."""

    terms = MEASURED_TERMS
    measures = True

    def setpoint(self, name: str) -> float:
        """Return the measured count of a servo; raise BusError if it does not answer."""
        channel = self._channels[name]
        return float(self._bus.measure([channel])[channel].count)

    def first(self, name: str, count: int | None = None) -> None:
        """Give a servo torque where it is."""
        self._bus.start()
        least, most = self.bounds
        self._write(name, min(max(round(self.setpoint(name)), least), most))
