# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A simulated arm's electronics: one chip on a bus with a servo on each channel."""

from __future__ import annotations

import threading
from pathlib import Path

from arm_hardware.calibration.calibration import ServoBoard
from arm_hardware.clock import SteadyClock
from arm_hardware.control.servo_model import ServoModel
from arm_hardware.simulation.faults import Faults
from arm_hardware.simulation.i2c_bus import SimI2C
from arm_hardware.simulation.pca9685_chip import PCA9685_CHIP_CHANNELS, ChipMemory, Pca9685Chip


class SimulatedBoard:
    """A simulated board, its bus with faults, and servos by channel."""

    def __init__(
        self, board: ServoBoard, clock: SteadyClock, registers: Path | None = None
    ) -> None:
        """Power up, or continue with registers stored by an earlier process; see ChipMemory."""
        self._clock = clock
        self.chip = Pca9685Chip(board.reference_clock_hz, ChipMemory(registers))
        self.faults = Faults(lambda s: clock.sleep_until(clock.now() + s, threading.Event()))
        self.i2c = SimI2C({board.address: self.chip}, self.faults)
        self._pulses = [self.chip.pulse_us(channel) for channel in range(PCA9685_CHIP_CHANNELS)]
        self.servos = tuple(ServoModel(pulse) if pulse else ServoModel() for pulse in self._pulses)
        self.chip.changed = self._update

    def _update(self) -> None:
        now = self._clock.now()
        for channel, servo in enumerate(self.servos):
            pulse = self.chip.pulse_us(channel)
            if pulse != self._pulses[channel]:
                self._pulses[channel] = pulse
                servo.command(pulse, now)
