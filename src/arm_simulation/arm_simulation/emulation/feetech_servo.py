# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A simulated Feetech STS3215: its memory, motor, load, temperature, voltage and protections.

The motor's speed is proportional to its voltage (PWM duty) plus an external load; the position
loop is proportional. Speed without load and factory settings are those of the data sheet; thermal
constants are only plausible.
"""

from __future__ import annotations

import math

from arm_hardware.bus.feetech import sts3215
from arm_hardware.bus.feetech.sts3215 import Register
from arm_hardware.bus.interface import COUNTS, LATCHED, ServoFault

NOMINAL_VOLTAGE = 7.4
FULL_SPEED = COUNTS / 6.0 / 0.222  # [counts/s] 0.222 s for 60 deg without load at 7.4 V
BROWN_OUT = 2.5  # [V] of the supply below which its electronics do not run; assumed
HAND_SPEED = 1000.0  # [counts/s] of a hand that moves the horn
STEP, REST_STEP = 0.005, 0.1  # [s] of the integration, in motion and at rest
LONGEST = 3.0  # [s] without a packet that is integrated: an answer must not take too long
SLOWEST = 0.5  # [counts/s], reported as standstill
AMBIENT = 25.0  # [deg C]
HEATING, COOLING = 4.0, 100.0  # [deg C/s] at the stall current; time constant [s]
POSITION_MODE, VELOCITY_MODE = 0, 1  # of OPERATING_MODE
FACTORY = (
    *sts3215.FACTORY.values(),
    (sts3215.MODEL_NUMBER, sts3215.MODEL),
    (sts3215.MAX_POSITION, COUNTS - 1),
    (sts3215.MAX_VOLTAGE, 80),
    (sts3215.MIN_VOLTAGE, 40),
    (sts3215.TORQUE_LIMIT, 1000),
    (sts3215.LOCK, 1),
)


class SimulatedServo:
    """One servo; change its attributes to disturb it.

    Attributes:
        position: [counts], as it reports it; it turns on from 4095 to 0, unless it is set to
            multi-turn feedback.
        load: External load as a share of the stall torque, positive towards greater counts.
        stops: Positions between which the horn can turn [counts]; an object in the jaws is one.
        hand: Where a hand moves the horn while there is no torque [counts], None for no hand.
        overpowers: Whether the hand moves it against its torque, too.
        temperature: [deg C].
    """

    def __init__(self, number: int, position: float = 2048.0) -> None:
        """Create a servo with power and without torque."""
        self.memory = bytearray(sts3215.MEMORY_SIZE)
        for register, value in (*FACTORY, (sts3215.ID, number)):
            self.set(register, value)
        self.position = position
        self.load = 0.0
        self.stops = (-math.inf, math.inf)
        self.hand: float | None = None
        self.overpowers = False
        self._voltage = NOMINAL_VOLTAGE
        self.temperature = AMBIENT
        self._velocity = 0.0
        self._duty = 0.0
        self._overloaded = self._overcurrent = 0.0  # [s] for which it has been
        self._faults = ServoFault(0)
        self._now: float | None = None
        self._pending: tuple[int, bytes] | None = None
        self.set(sts3215.GOAL_POSITION, round(position))

    def get(self, register: Register) -> int:
        """Return the value of a register."""
        return register.decode(bytes(self.memory))

    def set(self, register: Register, value: int) -> None:
        """Set a register."""
        end = register.address + register.size
        self.memory[register.address : end] = register.encode(value)

    @property
    def number(self) -> int:
        """Its id."""
        return self.get(sts3215.ID)

    @property
    def faults(self) -> ServoFault:
        """The error bits of its status packets."""
        return self._faults

    @property
    def voltage(self) -> float:
        """Of the supply [V]; a servo that gets its supply back has no torque."""
        return self._voltage

    @voltage.setter
    def voltage(self, value: float) -> None:
        returns = not self.powered
        self._voltage = value
        if returns and self.powered:
            self.power_cycle()

    @property
    def powered(self) -> bool:
        """Whether it works and answers."""
        return self._voltage >= BROWN_OUT

    def power_cycle(self) -> None:
        """Lose and regain the supply."""
        for address in range(sts3215.TORQUE_ENABLE.address, len(self.memory)):
            self.memory[address] = 0
        self.set(sts3215.TORQUE_LIMIT, self.get(sts3215.MAX_TORQUE))
        self.set(sts3215.LOCK, 1)
        self.set(sts3215.GOAL_POSITION, round(self.position))
        self._faults = ServoFault(0)
        self._overloaded = self._overcurrent = 0.0

    def read(self, address: int, length: int) -> bytes:
        """Return memory."""
        self._report()
        return bytes(self.memory[address : address + length])

    def write(self, address: int, data: bytes) -> None:
        """Write memory; what it measures is read-only."""
        offset_before = self.get(sts3215.HOMING_OFFSET)
        for offset, byte in enumerate(data):
            place = address + offset
            if sts3215.ID.address <= place < sts3215.PRESENT_POSITION.address:
                self.memory[place] = byte
        shift = self.get(sts3215.HOMING_OFFSET) - offset_before
        if shift:
            self.position = (self.position - shift) % COUNTS
        if not self.get(sts3215.TORQUE_ENABLE):
            self._faults &= ~LATCHED
            self._overloaded = self._overcurrent = 0.0

    def register_write(self, address: int, data: bytes) -> None:
        """Keep a write until the ACTION."""
        self._pending = address, data
        self.set(sts3215.REGISTERED, 1)

    def act(self) -> None:
        """Carry out the registered write."""
        pending, self._pending = self._pending, None
        if pending is not None:
            self.set(sts3215.REGISTERED, 0)
            self.write(*pending)

    def advance(self, now: float) -> None:
        """Advance to a time [s]."""
        left = 0.0 if self._now is None else min(now - self._now, LONGEST)
        self._now = now
        step = STEP
        while left > 1e-9:
            step = min(step, left)
            duty = self._duty
            self._turn(step)
            self._protect(step)
            left -= step
            at_rest = self._velocity == 0.0 and self._duty == duty
            step = REST_STEP if at_rest else STEP

    def _turn(self, dt: float) -> None:
        """Turn the motor for dt [s]."""
        before = self.position
        self._duty = self._demanded_duty()
        speed = self._free_speed * (self._duty + self.load)
        most = self._largest_acceleration() * dt
        speed = max(self._velocity - most, min(self._velocity + most, speed))
        if not self._drives() or (self.overpowers and self.hand is not None):
            away = 0.0 if self.hand is None else self.hand - self.position
            speed = max(-HAND_SPEED, min(HAND_SPEED, away / dt))
        place = self.position + speed * dt
        self.position = max(self.stops[0], min(self.stops[1], place))
        self._velocity = (self.position - before) / dt
        if abs(self._velocity) < SLOWEST:
            self._velocity = 0.0
        elif not self.get(sts3215.PHASE) & sts3215.MULTI_TURN:
            self.position %= COUNTS

    def _drives(self) -> bool:
        off = self._faults & ServoFault(self.get(sts3215.UNLOADING) & sum(ServoFault)) & ~LATCHED
        return self.powered and self.get(sts3215.TORQUE_ENABLE) == 1 and not off

    def _demanded_duty(self) -> float:
        if not self._drives():
            return 0.0
        limit = 1e-3 * self.get(sts3215.TORQUE_LIMIT)
        if self._faults & LATCHED:
            limit = min(limit, 0.01 * self.get(sts3215.PROTECTIVE_TORQUE))
        slowest = self.get(sts3215.GOAL_VELOCITY)
        mode = self.get(sts3215.OPERATING_MODE)
        if mode != POSITION_MODE:
            duty = slowest / FULL_SPEED if mode == VELOCITY_MODE else 0.0
            return max(-limit, min(limit, duty))
        least, most = self.get(sts3215.MIN_POSITION), self.get(sts3215.MAX_POSITION)
        goal = self.get(sts3215.GOAL_POSITION)
        if (least, most) != (0, 0):  # both 0: multi-turn
            goal = max(least, min(most, goal))
        duty = 1e-3 * self.get(sts3215.P_COEFFICIENT) * (goal - self.position)
        if slowest:
            limit = min(limit, slowest / FULL_SPEED)
        return max(-limit, min(limit, duty))

    def _largest_acceleration(self) -> float:
        """Return the bound of the acceleration [counts/s^2]."""
        registers = sts3215.ACCELERATION, sts3215.MAX_ACCELERATION
        bounds = [100.0 * value for value in map(self.get, registers) if value]
        return min(bounds, default=math.inf)

    def _protect(self, dt: float) -> None:
        """Update temperature and faults after dt [s]."""
        cooling = (self.temperature - AMBIENT) / COOLING
        self.temperature += dt * (HEATING * self._current_share() ** 2 - cooling)
        faults = self._faults & LATCHED
        if self.temperature > self.get(sts3215.MAX_TEMPERATURE):
            faults |= ServoFault.TEMPERATURE
        least, most = self.get(sts3215.MIN_VOLTAGE), self.get(sts3215.MAX_VOLTAGE)
        if not 0.1 * least <= self.voltage <= 0.1 * most:
            faults |= ServoFault.VOLTAGE
        if abs(self._duty) > 0.01 * self.get(sts3215.OVERLOAD_TORQUE):
            self._overloaded += dt
        else:
            self._overloaded = 0.0
        if self._overloaded > 0.01 * self.get(sts3215.PROTECTION_TIME):
            faults |= ServoFault.OVERLOAD
        exceeded = abs(self._current()) > self.get(sts3215.PROTECTION_CURRENT)
        self._overcurrent = self._overcurrent + dt if exceeded else 0.0
        if self._overcurrent > 0.01 * self.get(sts3215.CURRENT_TIME):
            faults |= ServoFault.CURRENT
        self._faults = faults

    def _report(self) -> None:
        """Write what it measures into its memory."""
        self.set(sts3215.PRESENT_POSITION, round(self.position))
        self.set(sts3215.PRESENT_VELOCITY, round(self._velocity))
        self.set(sts3215.PRESENT_LOAD, round(1000.0 * self._duty))
        self.set(sts3215.PRESENT_VOLTAGE, round(10.0 * self.voltage))
        self.set(sts3215.PRESENT_TEMPERATURE, max(0, min(255, round(self.temperature))))
        self.set(sts3215.STATUS, int(self._faults))
        self.set(sts3215.MOVING, int(abs(self._velocity) >= 1.0))
        self.set(sts3215.PRESENT_CURRENT, round(self._current()))

    def _current(self) -> float:
        """Return the current as PRESENT_CURRENT has it."""
        return sts3215.STALL_CURRENT * self._current_share() / sts3215.CURRENT_A

    def _current_share(self) -> float:
        """Return the current as a share of the stall current: a turning motor induces voltage."""
        return self._duty - self._velocity / self._free_speed if self.powered else 0.0

    @property
    def _free_speed(self) -> float:
        """Speed without load at full duty [counts/s]."""
        return FULL_SPEED * self._voltage / NOMINAL_VOLTAGE
