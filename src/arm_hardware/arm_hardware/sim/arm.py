# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A simulated arm's electrics: one chip on a bus, a servo on each channel."""

from __future__ import annotations

import threading

from arm_hardware.calibration import Board
from arm_hardware.clock import Clock
from arm_hardware.sim.faults import Faults
from arm_hardware.sim.i2c_bus import SimI2C
from arm_hardware.sim.pca9685_chip import CHANNELS, Pca9685Chip
from arm_hardware.sim.servo_model import Servo


class SimArm:
    """What stands in for the board and the servos.

    Attributes:
        chip: The servo board.
        i2c: The bus to it.
        faults: What goes wrong on the bus.
        servos: By channel.
    """

    def __init__(self, board: Board, clock: Clock) -> None:
        """Switch on.

        Args:
            board: Address and oscillator.
            clock: Time in which the servos move.
        """
        self._clock = clock
        self.chip = Pca9685Chip(board.reference_clock_hz)
        self.faults = Faults(self._pass)
        self.i2c = SimI2C({board.address: self.chip}, self.faults)
        self.servos = tuple(Servo() for _ in range(CHANNELS))
        self._pulses = [0.0] * CHANNELS
        self.chip.changed = self._update

    def _pass(self, seconds: float) -> None:
        """Let time pass for whoever uses the bus."""
        self._clock.sleep_until(self._clock.now() + seconds, threading.Event())

    def _update(self) -> None:
        now = self._clock.now()
        for channel, servo in enumerate(self.servos):
            pulse = self.chip.pulse_us(channel)
            if pulse != self._pulses[channel]:
                self._pulses[channel] = pulse
                servo.command(pulse, now)
