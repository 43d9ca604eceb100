# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/bus/test_feetech.py
"""The memory of a Feetech STS3215 and what its values mean.

Source: Feetech's memory table of the magnetic encoder STS servos, and for the error bits its
communication protocol manual for serial bus servos. Words are little-endian; signed ones have a
sign bit and a magnitude.
"""

from __future__ import annotations

from typing import NamedTuple

from arm_hardware.bus.interface import Measurement, ServoFault

MODEL = 777  # Model_Number of the STS3215
# Stall torque over supply voltage [N m/V]: 19.5 kgf cm at 7.4 V, as in arm_description's table,
# which `release` must not import.
STALL_TORQUE = 19.5 * 0.0980665 / 7.4
STALL_CURRENT = 2.4  # [A] at 7.4 V (data sheet of the STS3215)


class Register(NamedTuple):
    """A value in a servo's memory."""

    address: int
    size: int = 1  # bytes
    sign: int = 0  # bit of the sign, 0 for unsigned

    def decode(self, memory: bytes, start: int = 0) -> int:
        """Return the value in a block of memory that begins at an address."""
        at = self.address - start
        raw = int.from_bytes(memory[at : at + self.size], "little")
        if not self.sign:
            return raw
        magnitude = raw & ((1 << self.sign) - 1)
        return -magnitude if raw >> self.sign & 1 else magnitude

    def encode(self, value: int) -> bytes:
        """Return the bytes of a value."""
        raw = abs(value) | (1 << self.sign if self.sign and value < 0 else 0)
        return raw.to_bytes(self.size, "little")


# Kept without power.
MODEL_NUMBER = Register(3, 2)
ID = Register(5)
MIN_POSITION = Register(9, 2)
MAX_POSITION = Register(11, 2)
MAX_TEMPERATURE = Register(13)  # [deg C]
MAX_VOLTAGE = Register(14)  # [0.1 V]
MIN_VOLTAGE = Register(15)  # [0.1 V]
MAX_TORQUE = Register(16, 2)  # [0.1 %], copied to TORQUE_LIMIT at power-up
PHASE = Register(18)
MULTI_TURN = 0x10  # of PHASE: Present_Position counts whole turns
UNLOADING = Register(19)  # faults that switch the motor off
P_COEFFICIENT = Register(21)  # of the position loop [0.1 % of the voltage per count]
D_COEFFICIENT = Register(22)
I_COEFFICIENT = Register(23)
STARTUP_FORCE = Register(24, 2)  # [0.1 %]
CW_DEAD_ZONE = Register(26)  # [counts]
CCW_DEAD_ZONE = Register(27)
PROTECTION_CURRENT = Register(28, 2)  # [6.5 mA]
RESOLUTION = Register(30)  # encoder counts to a count
HOMING_OFFSET = Register(31, 2, 11)  # Present_Position = encoder - Homing_Offset
OPERATING_MODE = Register(33)  # 0: position
PROTECTIVE_TORQUE = Register(34)  # [%] that remains after an overload
PROTECTION_TIME = Register(35)  # [10 ms] of overload until it
OVERLOAD_TORQUE = Register(36)  # [%] above which it is an overload
CURRENT_TIME = Register(38)  # [10 ms] of too much current until a fault
# Set at power-up.
TORQUE_ENABLE = Register(40)
ACCELERATION = Register(41)  # [100 counts/s^2], 0: the most
GOAL_POSITION = Register(42, 2, 15)  # [counts]
GOAL_VELOCITY = Register(46, 2, 15)  # [counts/s], 0: the most
TORQUE_LIMIT = Register(48, 2)  # [0.1 %]
LOCK = Register(55)
# Measured.
PRESENT_POSITION = Register(56, 2, 15)  # [counts]
PRESENT_VELOCITY = Register(58, 2, 15)  # [counts/s]
PRESENT_LOAD = Register(60, 2, 10)  # [0.1 %] of the motor's voltage
PRESENT_VOLTAGE = Register(62)  # [0.1 V]
PRESENT_TEMPERATURE = Register(63)  # [deg C]
REGISTERED = Register(64)  # whether a REG_WRITE waits for its ACTION
STATUS = Register(65)  # ServoFault, as in every status packet
MOVING = Register(66)
PRESENT_CURRENT = Register(69, 2, 15)  # [6.5 mA]
MAX_ACCELERATION = Register(85)  # [100 counts/s^2], 0: none
MEMORY_SIZE = 87
MEASURED = slice(PRESENT_POSITION.address, PRESENT_CURRENT.address + 2)
COMMANDED = slice(TORQUE_ENABLE.address, GOAL_POSITION.address + 2)
SETTINGS = slice(MIN_POSITION.address, TORQUE_LIMIT.address + 2)
# What changes how a servo drives and protects itself, and its value from the factory; names of
# Feetech's memory table, as LeRobot writes them.
FACTORY = {
    "Max_Temperature_Limit": (MAX_TEMPERATURE, 70),
    "Max_Torque_Limit": (MAX_TORQUE, 1000),
    "Phase": (PHASE, 12),
    "Unloading_Condition": (UNLOADING, 44),
    "P_Coefficient": (P_COEFFICIENT, 32),
    "D_Coefficient": (D_COEFFICIENT, 32),
    "I_Coefficient": (I_COEFFICIENT, 0),
    "Minimum_Startup_Force": (STARTUP_FORCE, 16),
    "CW_Dead_Zone": (CW_DEAD_ZONE, 1),
    "CCW_Dead_Zone": (CCW_DEAD_ZONE, 1),
    "Protection_Current": (PROTECTION_CURRENT, 500),
    "Angular_Resolution": (RESOLUTION, 1),
    "Protective_Torque": (PROTECTIVE_TORQUE, 20),
    "Protection_Time": (PROTECTION_TIME, 200),
    "Overload_Torque": (OVERLOAD_TORQUE, 80),
    "Over_Current_Protection_Time": (CURRENT_TIME, 200),
}
CURRENT_A = 6.5e-3  # [A] of a count of PRESENT_CURRENT


def measurement(memory: bytes, error: int = 0) -> Measurement:
    """Return the measurement in the registers MEASURED and the error byte of their packet."""
    start = MEASURED.start
    load = 1e-3 * PRESENT_LOAD.decode(memory, start)
    voltage = 0.1 * PRESENT_VOLTAGE.decode(memory, start)
    return Measurement(
        count=PRESENT_POSITION.decode(memory, start),
        speed=PRESENT_VELOCITY.decode(memory, start),
        load=load,
        torque=load * STALL_TORQUE * voltage,
        voltage=voltage,
        temperature=float(PRESENT_TEMPERATURE.decode(memory, start)),
        current=CURRENT_A * PRESENT_CURRENT.decode(memory, start),
        faults=ServoFault((error | STATUS.decode(memory, start)) & sum(ServoFault)),
    )
