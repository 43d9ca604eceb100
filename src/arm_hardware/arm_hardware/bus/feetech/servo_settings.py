# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/bus/test_feetech.py
"""What is set in the memory of an STS3215, compared with what the calibration and the arm need.

A setting that keeps the servo from doing what it is told is a problem, with the value that mends
it. Any other value that is not the factory's is accepted, such as what LeRobot writes: a
P_Coefficient of 16, and of the gripper a Max_Torque_Limit of 500 and an Overload_Torque of 25.
Registers that the driver writes itself (Acceleration, Goal_Velocity) are not compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from arm_hardware.bus.feetech import sts3215
from arm_hardware.bus.feetech.sts3215 import Register
from arm_hardware.bus.interface import COUNTS, BusServo, Measurement
from arm_hardware.errors import VERIFY, BusError

LEAST_TORQUE = 0.1  # share of the stall torque that turns a servo against its friction
LEAST_GAIN = 8  # of P_Coefficient, half of what LeRobot writes; a servo sags by load over it
WIDEST_DEAD_ZONE = 32  # [counts], the most of Feetech's memory table
LEAST_TEMPERATURE = 50  # [deg C] that a servo at work may have

UNIT_OF_ACCELERATION = 100.0  # [counts/s^2] of MAX_ACCELERATION
MOST_ACCELERATION = 254  # what LeRobot writes


class Mend(NamedTuple):
    """A register to change."""

    register: Register
    value: int


class SettingProblem(NamedTuple):
    """A setting with which the servo cannot do what the driver tells it."""

    sentence: str  # what is set and what is needed; continues the name of the servo
    mends: tuple[Mend, ...]

    @property
    def change(self) -> str:
        """What mends it, a clause."""
        return "to be written: " + ", ".join(str(mend.value) for mend in self.mends)


def problems(
    memory: bytes, servo: BusServo, measured: Measurement, acceleration: int
) -> list[SettingProblem]:
    """Return what is wrong with a servo.

    Args:
        memory: Its registers SETTINGS.
        servo: What its calibration needs.
        measured: What it reports.
        acceleration: Its register MAX_ACCELERATION.
    """
    voltage = measured.voltage
    return [
        *_fixed_settings(memory, measured.count),
        *_range_problems(memory, servo),
        *_acceleration_problems(acceleration, servo),
        *_torque_problems(memory, servo.torque / (sts3215.STALL_TORQUE * max(voltage, 1.0))),
        *_protection_problems(memory),
    ]


def refusal(found: Mapping[str, Sequence[SettingProblem]], calibration: str) -> BusError:
    """Return the error about the problems of servos, by the servos' names."""
    wrong = "; ".join(f"{name} {p.sentence}" for name, entries in found.items() for p in entries)
    command = f"{VERIFY} {calibration or 'CALIBRATION'} --mend"
    return BusError(wrong, remedy=f"{command} corrects the servo's memory, after asking")


def accepted_settings(memory: bytes) -> str:
    """Return the settings that differ from the factory's, "" if none does."""
    values = {name: _value(memory, register) for name, (register, _) in sts3215.FACTORY.items()}
    return ", ".join(
        f"{name} {values[name]}"
        for name, (_, factory) in sts3215.FACTORY.items()
        if values[name] != factory
    )


def _value(memory: bytes, register: Register) -> int:
    return register.decode(memory, sts3215.SETTINGS.start)


def _fixed_settings(memory: bytes, count: int) -> Iterator[SettingProblem]:
    """Yield problems of settings that the driver needs to be as they are from the factory."""
    mode = _value(memory, sts3215.OPERATING_MODE)
    if mode:
        yield SettingProblem(
            f"is in Operating_Mode {mode}, but the driver needs 0, position",
            (Mend(sts3215.OPERATING_MODE, 0),),
        )
    phase = _value(memory, sts3215.PHASE)
    if phase & sts3215.MULTI_TURN:
        single = phase & ~sts3215.MULTI_TURN
        yield SettingProblem(
            f"is at count {count} and counts whole turns (multi-turn), as its Phase is {phase}, "
            f"but the calibration needs {single}",
            (Mend(sts3215.PHASE, single),),
        )
    resolution = _value(memory, sts3215.RESOLUTION)
    if resolution > 1:
        yield SettingProblem(
            f"has the Angular_Resolution {resolution}, but the calibration needs 1",
            (Mend(sts3215.RESOLUTION, 1),),
        )
    gain = _value(memory, sts3215.P_COEFFICIENT)
    if gain < LEAST_GAIN:
        yield SettingProblem(
            f"has the P_Coefficient {gain}, but the driver needs {LEAST_GAIN} or more",
            (Mend(sts3215.P_COEFFICIENT, _factory("P_Coefficient")),),
        )


def _range_problems(memory: bytes, servo: BusServo) -> Iterator[SettingProblem]:
    """Yield the problem of limits that are narrower than the calibration's, or switched off."""
    low, high = (_value(memory, end) for end in (sts3215.MIN_POSITION, sts3215.MAX_POSITION))
    least, greatest = servo.counts or (low, high)
    if (low, high) == (0, 0):
        what = "has Min_Position_Limit and Max_Position_Limit 0, which means multi-turn"
        least, greatest = low, high = servo.counts or (0, COUNTS - 1)
    elif least < low or greatest > high:
        what = f"has Min_Position_Limit {low} and Max_Position_Limit {high}"
        low, high = min(low, least), max(high, greatest)
    else:
        return
    mends = Mend(sts3215.MIN_POSITION, low), Mend(sts3215.MAX_POSITION, high)
    yield SettingProblem(f"{what}, but its calibration needs {least} to {greatest}", mends)


def _acceleration_problems(value: int, servo: BusServo) -> Iterator[SettingProblem]:
    """Yield the problem of a bound below the acceleration at which the joint is moved."""
    needed = min(math.ceil(servo.acceleration / UNIT_OF_ACCELERATION), MOST_ACCELERATION)
    if 0 < value < needed:
        yield SettingProblem(
            f"has the Maximum_Acceleration {value}, but its joint needs {needed} or more",
            (Mend(sts3215.MAX_ACCELERATION, MOST_ACCELERATION),),
        )


def _torque_problems(memory: bytes, holding: float) -> Iterator[SettingProblem]:
    """Yield problems of torques below the share of the stall torque that holds the arm."""
    share = max(holding, LEAST_TORQUE)
    torque = _factory("Max_Torque_Limit")
    bound = _value(memory, sts3215.MAX_TORQUE)  # to which Torque_Limit returns at power-up
    enough = bound if bound >= math.ceil(share * torque) else torque
    for name, register, full, mended in (
        ("Max_Torque_Limit", sts3215.MAX_TORQUE, torque, torque),
        ("Torque_Limit", sts3215.TORQUE_LIMIT, torque, enough),
        ("Overload_Torque", sts3215.OVERLOAD_TORQUE, 100, _factory("Overload_Torque")),
        (
            "Protection_Current",
            sts3215.PROTECTION_CURRENT,
            sts3215.STALL_CURRENT / sts3215.CURRENT_A,
            _factory("Protection_Current"),
        ),
    ):
        value, needed = _value(memory, register), min(math.ceil(share * full), mended)
        if value < needed:
            yield SettingProblem(
                f"has the {name} {value}, but moving the arm needs {needed} or more",
                (Mend(register, mended),),
            )


def _protection_problems(memory: bytes) -> Iterator[SettingProblem]:
    """Yield problems of a dead zone in which the servo rests, and of a low temperature limit."""
    for name in ("CW_Dead_Zone", "CCW_Dead_Zone"):
        register, factory = sts3215.FACTORY[name]
        if (zone := _value(memory, register)) > WIDEST_DEAD_ZONE:
            yield SettingProblem(
                f"has the {name} {zone}, but the driver needs {WIDEST_DEAD_ZONE} or less",
                (Mend(register, factory),),
            )
    register, factory = sts3215.FACTORY["Max_Temperature_Limit"]
    if (limit := _value(memory, register)) < LEAST_TEMPERATURE:
        yield SettingProblem(
            f"has the Max_Temperature_Limit {limit}, but the driver needs {LEAST_TEMPERATURE} or "
            "more",
            (Mend(register, factory),),
        )


def _factory(name: str) -> int:
    return sts3215.FACTORY[name][1]
