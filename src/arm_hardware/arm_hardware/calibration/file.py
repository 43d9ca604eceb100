# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reads calibration files strictly, because a wrong pulse can destroy a servo.

The reader and the JSON schema (`calibration.writing.schema`) share the tables of keys.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

from arm_common.yaml.document import Field, parse_yaml, read_yaml
from arm_common.yaml.schema_types import Choice, Either, Fields, Key, Leaf, ListOf, Named, Table

from arm_hardware.bus.interface import (
    CHANNELS,
    COUNTS,
    FEETECH,
    FEETECH_BAUD_RATES,
    BusServo,
    SerialBus,
    ServoBoard,
    prescale,
)
from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import SAFE_PULSES_US, Calibration, ServoCalibration
from arm_hardware.errors import CalibrationError

TO_SI = {"deg": math.pi / 180.0, "mm": 1e-3}
ROUNDING = 1e-9  # [rad or m]
Pair = tuple[float, float]

NUMBER = Leaf("number")
NAME = Leaf("name of a robot", "text")
SIGN = Choice((1, -1))


class Wires(NamedTuple):
    """What differs between servos on a board and servos on a bus."""

    channel: str  # key of the output or id
    channels: range
    what: str  # that channel is
    setpoint: str  # unit of what means a position, in the names of keys
    limits: str  # key of its limits
    pulse: Leaf  # such a setpoint


BOARD_WIRES = Wires(
    "channel",
    range(CHANNELS),
    "output of the board",
    "us",
    "pulse_limits_us",
    Leaf("us", least=100.0, most=4000.0),  # no hobby servo lies outside
)
BUS_WIRES = Wires(
    "id",
    range(254),
    "of the servo on the bus",
    "counts",
    "count_limits",
    Leaf("counts", least=0.0, most=COUNTS - 1.0),  # a turn of a smart servo
)


def wires_of(board: ServoBoard | SerialBus) -> Wires:
    """Return the keys of what a calibration's servos are connected to."""
    return BUS_WIRES if isinstance(board, SerialBus) else BOARD_WIRES


def file_unit(servo: ServoCalibration) -> str:
    """Return the unit of a servo's positions in its file: "deg" or "mm"."""
    return "deg" if servo.unit == "rad" else "mm"


STIFFNESS = {"deg": "stiffness_nm_rad", "mm": "stiffness_n_mm"}  # by the unit of positions
STIFFNESS_SI = {"deg": 1.0, "mm": 1e3}
_STIFF_UNITS = {"deg": "N m/rad", "mm": "N/mm"}
DATE = Key(Leaf("date, as 2026-05-17", "date"), "day on which its points were measured")


def _servo(unit: str, what: str, wires: Wires) -> Table:
    """Return the keys of a servo whose positions are in a unit."""
    number, last = Leaf(unit), wires.channels[-1]
    pulse = "pulse" if wires is BOARD_WIRES else "count"
    keys = {
        wires.channel: Key(Leaf("whole number", "whole", least=0, most=last), wires.what, True),
        "sign": Key(SIGN, f"servo {what} = sign * actuator {what} + zero", default=1),
        f"zero_{unit}": Key(number, f"servo {what} where the actuator is at 0", default=0.0),
        f"points_{unit}_{wires.setpoint}": Key(
            ListOf(ListOf(NUMBER, 2, 2), 2, None),
            f"[servo {what}, {pulse}] measured, the first rising, {pulse}s rising or falling",
            True,
        ),
        wires.limits: Key(
            ListOf(wires.pulse, 2, 2),
            f"the least and the greatest {pulse} that may ever be sent",
            True,
        ),
        f"limits_{unit}": Key(
            ListOf(number, 2, 2),
            f"lowest and highest actuator {what}; what the points allow if omitted",
        ),
        f"speed_{unit}_s": Key(
            Leaf(f"{unit}/s", above=0.0),
            "what the servo can do; a bound, and its model; no bound if omitted",
        ),
        STIFFNESS[unit]: Key(
            Leaf(_STIFF_UNITS[unit], above=0.0),
            "load per deflection, by which max_sag_compensation knows its sag; not of a gripper",
        ),
        "calibrated": DATE,
    }
    if wires is BUS_WIRES:
        keys["homing_offset"] = Key(
            Leaf("whole number", "whole", least=-2047, most=2047),
            "Homing_Offset that the servo's memory must have; any if omitted",
        )
    return Table(keys)


_KINDS = (("deg", "angle"), ("mm", "position"))
SERVOS = {
    wires: {unit: _servo(unit, what, wires) for unit, what in _KINDS}
    for wires in (BOARD_WIRES, BUS_WIRES)
}
BOARD = Table(
    {
        "address": Key(
            Leaf("7-bit address", "hex", least=0x08, most=0x77),
            "of the board on I2C",
            default=0x40,
        ),
        "frequency_hz": Key(Leaf("Hz", least=24.0, most=400.0), "pulses a second", default=50.0),
        "reference_clock_hz": Key(
            Leaf("Hz", least=1e6, most=50e6), "its oscillator, measured", default=25e6
        ),
    }
)
BUS = Table(
    {
        "port": Key(Leaf("path", "text"), "the serial port, such as /dev/ttyACM0", True),
        "baud_rate": Key(
            # of a protocol other than Feetech's
            Leaf("whole number", "whole", least=1200, most=10_000_000),
            "its speed in baud",
            default=1_000_000,
        ),
        "protocol": Key(
            Leaf("name of a protocol", "text"),
            "what its servos speak, by which the backend is chosen",
            default=FEETECH,
        ),
    }
)
CALIBRATION = Table(
    {
        "example": Key(
            Leaf("true or false", "truth"),
            "made up, real hardware is not armed with it",
            default=False,
        ),
        "robot": Key(NAME, "name of the robot description that it belongs to", True),
        "board": Key(BOARD, "the PCA9685; a file has either board or bus"),
        "bus": Key(BUS, "the serial bus of smart servos, such as Feetech STS3215"),
        "safe_pulses_us": Key(
            ListOf(BOARD_WIRES.pulse, 2, 2),
            "of a board: what pulse_limits_us of any servo may be",
            default=SAFE_PULSES_US,
        ),
        "joints": Key(
            Named(Either(tuple(t for kinds in SERVOS.values() for t in kinds.values())), "joint"),
            "a servo for each actuator: the joint, unless the robot has transmissions",
            True,
        ),
        "gripper": Key(
            Either(tuple(kinds[unit] for kinds in SERVOS.values() for unit in ("mm", "deg"))),
            "its servo; positions are widths, of a claw angles of its jaws",
        ),
    }
)


def load_calibration(path: Path) -> Calibration:
    """Read and validate a calibration file, or raise CalibrationError."""
    return _calibration(read_yaml(path, CalibrationError), path)


def parse_calibration(data: bytes, path: Path) -> Calibration:
    """Validate the bytes of a file, whose path need not exist, or raise CalibrationError."""
    return _calibration(parse_yaml(data, str(path), CalibrationError), path)


def _calibration(root: Field, path: Path) -> Calibration:
    top = CALIBRATION.read(root)
    if ("board" in top) == ("bus" in top):
        raise root.error("needs either board or bus", "bus is for smart servos")
    board = _board(top["board"]) if "board" in top else _bus(top["bus"])
    wires = wires_of(board)
    safe = _safe(top.get("safe_pulses_us"), wires)
    fields = top["joints"].mapping()
    units = {name: _unit(field, wires) for name, field in fields.items()}
    if GRIPPER in top:
        fields[GRIPPER], units[GRIPPER] = top[GRIPPER], _unit(top[GRIPPER], wires, "mm")
    servos: dict[str, ServoCalibration] = {}
    for name, field in fields.items():
        servo = _servo_calibration(field, units[name], safe, board, wires)
        for other, before in servos.items():
            if before.channel == servo.channel:
                raise field.error(
                    f"has {wires.channel} {servo.channel}, which {other} already has",
                    f"give each servo its own {wires.channel}",
                )
        if name == GRIPPER and math.isfinite(servo.stiffness):
            raise field.error("has a stiffness", "leave it out: a gripper is not compensated")
        servos[name] = servo
    if isinstance(board, SerialBus):
        on_bus = {s.channel: BusServo(name, s.homing_offset) for name, s in servos.items()}
        board = replace(board, servos=on_bus, calibration=str(path))
    return Calibration(path, top.truth("example"), top.text("robot"), board, servos, safe)


def _safe(field: Field | None, wires: Wires) -> Pair:
    """Return the least and the greatest that limits of any servo may be."""
    if field is not None and wires is BUS_WIRES:
        raise field.error("is for a board; servos on a bus have count_limits alone")
    if field is not None:
        return _pulses(field, wires)
    return SAFE_PULSES_US if wires is BOARD_WIRES else (wires.pulse.least, wires.pulse.most)


def _unit(field: Field, wires: Wires, default: str = "deg") -> str:
    """Return the unit of a joint, which is that of its points."""
    given = field.mapping()
    points = {unit: f"points_{unit}_{wires.setpoint}" for unit in SERVOS[wires]}
    if set(points.values()) <= given.keys():
        raise field.error(f"needs either {' or '.join(points.values())}, not both")
    return next((unit for unit, key in points.items() if key in given), default)


def _bus(field: Field) -> SerialBus:
    given = BUS.read(field)
    baud_rate, protocol = given.whole("baud_rate"), given.text("protocol")
    if protocol == FEETECH and baud_rate not in FEETECH_BAUD_RATES:
        allowed = ", ".join(map(str, FEETECH_BAUD_RATES))
        raise given["baud_rate"].error(f"must be one of {allowed}")
    return SerialBus(given.text("port"), baud_rate, protocol=protocol)


def _board(field: Field) -> ServoBoard:
    given = BOARD.read(field)
    frequency, clock = given.number("frequency_hz"), given.number("reference_clock_hz")
    if not 3 <= prescale(frequency, clock) <= 255:
        at = given.get("frequency_hz", field)
        raise at.error("frequency_hz cannot be made from this reference clock")
    return ServoBoard(given.whole("address"), frequency, clock)


def _servo_calibration(
    field: Field, unit: str, safe: Pair, board: ServoBoard | SerialBus, wires: Wires
) -> ServoCalibration:
    given = SERVOS[wires][unit].read(field)
    si = TO_SI[unit]
    rows = _points(given[f"points_{unit}_{wires.setpoint}"], wires)
    servo = ServoCalibration(
        channel=given.whole(wires.channel),
        unit="rad" if unit == "deg" else "m",
        points=tuple((place * si, pulse) for place, pulse in rows),
        setpoint_limits=_clamp(given[wires.limits], rows, safe, board, wires),
        sign=_sign(given),
        zero=given.number(f"zero_{unit}") * si,
        speed=given.number(f"speed_{unit}_s", math.inf) * si,
        calibrated=_date(given.get("calibrated")),
        homing_offset=given.whole("homing_offset") if "homing_offset" in given else None,
        stiffness=given.number(STIFFNESS[unit], math.inf) * STIFFNESS_SI[unit],
    )
    if f"limits_{unit}" not in given:
        return servo
    return _limited(servo, given[f"limits_{unit}"], si, board)


def _sign(given: Fields) -> int:
    value = given["sign"].value if "sign" in given else given.default("sign")
    if type(value) is not int or value not in SIGN.words:
        raise given["sign"].error(f"must be {SIGN.text}")
    return value


def _date(field: Field | None) -> date | None:
    if field is None:
        return None
    try:
        return date.fromisoformat(str(field.value))
    except ValueError:
        raise field.error("must be a date", "write it as 2026-05-17") from None


def _limited(
    servo: ServoCalibration, field: Field, si: float, board: ServoBoard | SerialBus
) -> ServoCalibration:
    """Return the servo with its axis' limits; raise the field's error if pulses exclude them."""
    lower, upper = _rising(field)
    reach = servo.map(board.setpoint_per_count)
    if lower * si < reach.lower - ROUNDING or upper * si > reach.upper + ROUNDING:
        raise field.error(
            "is more than points and pulse limits allow, "
            f"{reach.lower / si:.6g} to {reach.upper / si:.6g}"
        )
    return replace(servo, limits=(lower * si, upper * si))


def _points(field: Field, wires: Wires) -> list[Pair]:
    rows = [_pair(row) for row in field.items()]
    if len(rows) < 2:
        raise field.error("needs two points or more")
    if any(b[0] <= a[0] for a, b in itertools.pairwise(rows)):
        raise field.error("angles or widths must rise from point to point")
    if not monotonic([pulse for _, pulse in rows]):
        raise field.error("pulses must rise throughout or fall throughout")
    if not all(wires.pulse.allows(pulse) for _, pulse in rows):
        raise field.error(f"pulses must be {wires.pulse.bounds()} {wires.setpoint}")
    return rows


def monotonic(pulses: Sequence[float]) -> bool:
    """Return whether pulses are strictly increasing or strictly decreasing."""
    steps = [b - a for a, b in itertools.pairwise(pulses)]
    return all(s > 0 for s in steps) or all(s < 0 for s in steps)


def _clamp(
    field: Field, rows: Sequence[Pair], safe: Pair, board: ServoBoard | SerialBus, wires: Wires
) -> Pair:
    """Return the limits of a servo's pulses."""
    clamp = _pulses(field, wires)
    if not safe[0] <= clamp[0] < clamp[1] <= safe[1]:
        raise field.error(
            f"must lie within {safe[0]:g} to {safe[1]:g} us",
            "if your servo really bears more, set safe_pulses_us at the top of the file",
        )
    pulses = [pulse for _, pulse in rows]
    if max(clamp[0], min(pulses)) >= min(clamp[1], max(pulses)):
        raise field.error("must overlap the points' pulses")
    period_us = board.setpoint_per_count * (COUNTS - 1)
    if isinstance(board, ServoBoard) and clamp[1] >= period_us:
        raise field.error(f"allows pulses longer than the period of {period_us:.0f} us")
    return clamp


def _pulses(field: Field, wires: Wires) -> Pair:
    if not all(map(wires.pulse.allows, _pair(field))):
        raise field.error(f"must be {wires.pulse.bounds()} {wires.setpoint}")
    return _rising(field)


def _rising(field: Field) -> Pair:
    lower, upper = _pair(field)
    if not lower < upper:
        raise field.error("must rise")
    return lower, upper


def _pair(field: Field) -> Pair:
    if not field.is_list or len(field.items()) != 2:
        raise field.error("must be a pair of numbers")
    first, second = field.items()
    return first.number(), second.number()
