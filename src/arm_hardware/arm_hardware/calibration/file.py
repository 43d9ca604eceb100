# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reads calibration files strictly, because a wrong pulse can destroy a servo.

The reader and the JSON schema share the tables of keys. To regenerate the schema:

    python3 -m arm_hardware.calibration.file
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from arm_common.yaml.document import Field, parse_yaml, read_yaml
from arm_common.yaml.schema_types import Either, Key, Leaf, ListOf, Named, Table
from arm_description.robot_file.schema import schema_of

from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import (
    SAFE_PULSES_US,
    Calibration,
    ServoBoard,
    ServoCalibration,
)
from arm_hardware.calibration.servo_map import COUNTS, prescale
from arm_hardware.errors import CalibrationError

SCHEMA = "calibration.schema.json"
CHANNELS = 16
PULSES_US = (100.0, 4000.0)  # no hobby servo lies outside
ADDRESSES = range(0x08, 0x78)
FREQUENCIES_HZ = (24.0, 400.0)
CLOCKS_HZ = (1e6, 50e6)
SIGNS = (-1, 1)
TO_SI = {"deg": math.pi / 180.0, "mm": 1e-3}
ROUNDING = 1e-9  # [rad or m]
Pair = tuple[float, float]

NUMBER = Leaf("number", "number")
NAME = Leaf("name of a robot", "text")
PULSES = ListOf(Leaf("us", "pulse"), 2, 2)
CHANNEL = Key(Leaf("0 to 15", "channel"), "output of the board", True)
CLAMP = Key(PULSES, "the shortest and the longest pulse that may ever be sent", True)
DATE = Key(Leaf("date, as 2026-05-17", "date"), "day on which its points were measured")


def _servo(unit: str, what: str) -> Table:
    """Return the keys of a servo whose positions are in a unit."""
    number = Leaf(unit, "number")
    sign = f"servo {what} = sign * joint {what} + zero; 1 if left out"
    return Table(
        {
            "channel": CHANNEL,
            "sign": Key(Leaf("1 or -1", "sign"), sign),
            f"zero_{unit}": Key(number, f"servo {what} where the joint is at 0; 0 if left out"),
            f"points_{unit}_us": Key(
                ListOf(ListOf(NUMBER, 2, 2), 2, None),
                f"[servo {what}, pulse] measured, the first rising, pulses rising or falling",
                True,
            ),
            "pulse_limits_us": CLAMP,
            f"limits_{unit}": Key(
                ListOf(number, 2, 2),
                f"lowest and highest joint {what}; what the points allow if left out",
            ),
            f"speed_{unit}_s": Key(
                Leaf(f"{unit}/s, above 0", "positive"),
                "what the servo can do; a bound, and its model; no bound if left out",
            ),
            "calibrated": DATE,
        }
    )


SERVOS = {"deg": _servo("deg", "angle"), "mm": _servo("mm", "position")}
BOARD = Table(
    {
        "address": Key(Leaf("7-bit I2C address", "address"), "of the board; 0x40 if left out"),
        "frequency_hz": Key(Leaf("24 to 400", "frequency"), "pulses a second; 50 if left out"),
        "reference_clock_hz": Key(
            Leaf("1e6 to 50e6", "clock"), "its oscillator, measured; 25e6 if left out"
        ),
    }
)
CALIBRATION = Table(
    {
        "example": Key(
            Leaf("true or false", "flag"),
            "true: made up, real hardware is not armed with it; false if left out",
        ),
        "robot": Key(NAME, "name of the robot description that it belongs to", True),
        "board": Key(BOARD, "the PCA9685", True),
        "safe_pulses_us": Key(
            PULSES, "what pulse_limits_us of any servo may be; 400 to 2600 if left out"
        ),
        "joints": Key(
            Named(Either(tuple(SERVOS.values())), "joint"), "a servo for each joint", True
        ),
        "gripper": Key(
            Either((SERVOS["mm"], SERVOS["deg"])),
            "its servo; positions are widths, of a claw angles of its jaws",
        ),
    }
)


def calibration_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) as plain data."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Servo calibration of arm_hardware",
        "description": "Which servo is on which channel, and which pulse means which position.",
        **schema_of(CALIBRATION),
        "$defs": {
            "number": {"type": "number"},
            "positive": {"type": "number", "exclusiveMinimum": 0},
            "text": {"type": "string", "pattern": "\\S"},
            "flag": {"type": "boolean"},
            "date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
            "sign": {"enum": list(SIGNS)},
            "channel": {"type": "integer", "minimum": 0, "maximum": CHANNELS - 1},
            "address": _range("integer", (ADDRESSES[0], ADDRESSES[-1])),
            "frequency": _range("number", FREQUENCIES_HZ),
            "clock": _range("number", CLOCKS_HZ),
            "pulse": _range("number", PULSES_US),
        },
    }


def schema_text() -> str:
    """Return the text of the schema file."""
    return json.dumps(calibration_schema(), indent=2) + "\n"


def _range(kind: str, bounds: Pair) -> dict[str, Any]:
    return {"type": kind, "minimum": bounds[0], "maximum": bounds[1]}


if __name__ == "__main__":
    (Path(__file__).parents[2] / "schema" / SCHEMA).write_text(schema_text(), encoding="utf-8")


def load_calibration(path: Path) -> Calibration:
    """Read and validate a calibration file, or raise CalibrationError."""
    return _calibration(read_yaml(path, CalibrationError), path)


def parse_calibration(data: bytes, path: Path) -> Calibration:
    """Validate the bytes of a file, whose path need not exist, or raise CalibrationError."""
    return _calibration(parse_yaml(data, str(path), CalibrationError), path)


def _calibration(root: Field, path: Path) -> Calibration:
    top = CALIBRATION.read(root)
    board = _board(top["board"])
    safe = _pulses(top["safe_pulses_us"]) if "safe_pulses_us" in top else SAFE_PULSES_US
    fields = top["joints"].mapping()
    units = {name: _unit(field) for name, field in fields.items()}
    if GRIPPER in top:
        fields[GRIPPER], units[GRIPPER] = top[GRIPPER], _unit(top[GRIPPER], "mm")
    servos: dict[str, ServoCalibration] = {}
    for name, field in fields.items():
        servo = _servo_calibration(field, units[name], safe, board)
        for other, before in servos.items():
            if before.channel == servo.channel:
                raise field.error(
                    f"has channel {servo.channel}, which {other} has already",
                    "give each servo its own channel",
                )
        servos[name] = servo
    example = top["example"].value if "example" in top else False
    if not isinstance(example, bool):
        raise top["example"].error("must be true or false")
    return Calibration(path, example, top["robot"].text(), board, servos, safe)


def _unit(field: Field, default: str = "deg") -> str:
    """Return the unit of a joint, which is that of its points."""
    given = field.mapping()
    if {"points_deg_us", "points_mm_us"} <= given.keys():
        raise field.error("needs either points_deg_us or points_mm_us, not both")
    return next((unit for unit in SERVOS if f"points_{unit}_us" in given), default)


def _board(field: Field) -> ServoBoard:
    given = BOARD.read(field)
    problem = "must be a 7-bit address from 0x08 to 0x77"
    address = _whole(given.get("address"), 0x40, ADDRESSES, problem)
    frequency = _within(given.get("frequency_hz"), 50.0, FREQUENCIES_HZ)
    clock = _within(given.get("reference_clock_hz"), 25e6, CLOCKS_HZ)
    if not 3 <= prescale(frequency, clock) <= 255:
        at = given.get("frequency_hz", field)
        raise at.error("frequency_hz cannot be made from this reference clock")
    return ServoBoard(address, frequency, clock)


def _servo_calibration(field: Field, unit: str, safe: Pair, board: ServoBoard) -> ServoCalibration:
    given = SERVOS[unit].read(field)
    si = TO_SI[unit]
    rows = _points(given[f"points_{unit}_us"])
    servo = ServoCalibration(
        channel=_whole(
            given["channel"], 0, range(CHANNELS), "must be a whole number from 0 to 15"
        ),
        unit="rad" if unit == "deg" else "m",
        points=tuple((place * si, pulse) for place, pulse in rows),
        pulse_limits_us=_clamp(given["pulse_limits_us"], rows, safe, board),
        sign=_whole(given.get("sign"), 1, SIGNS, "must be 1 or -1"),
        zero=given[f"zero_{unit}"].number() * si if f"zero_{unit}" in given else 0.0,
        speed=_positive(given.get(f"speed_{unit}_s")) * si,
        calibrated=_date(given.get("calibrated")),
    )
    if f"limits_{unit}" not in given:
        return servo
    return _limited(servo, given[f"limits_{unit}"], si, board)


def _whole(field: Field | None, default: int, allowed: Collection[int], problem: str) -> int:
    if field is None:
        return default
    if type(field.value) is not int or field.value not in allowed:
        raise field.error(problem)
    return field.value


def _positive(field: Field | None) -> float:
    if field is None:
        return math.inf
    if not field.number() > 0.0:
        raise field.error("must be above 0")
    return field.number()


def _date(field: Field | None) -> date | None:
    if field is None:
        return None
    try:
        return date.fromisoformat(str(field.value))
    except ValueError:
        raise field.error("must be a date", "write it as 2026-05-17") from None


def _limited(
    servo: ServoCalibration, field: Field, si: float, board: ServoBoard
) -> ServoCalibration:
    """Return the servo with its axis' limits; raise the field's error if pulses exclude them."""
    lower, upper = _pair(field)
    if not lower < upper:
        raise field.error("must rise")
    reach = servo.map(board.count_us)
    if lower * si < reach.lower - ROUNDING or upper * si > reach.upper + ROUNDING:
        raise field.error(
            "is more than points and pulse limits allow, "
            f"{reach.lower / si:.6g} to {reach.upper / si:.6g}"
        )
    return replace(servo, limits=(lower * si, upper * si))


def _points(field: Field) -> list[Pair]:
    rows = [_pair(row) for row in field.items()]
    if len(rows) < 2:
        raise field.error("needs two points or more")
    if any(b[0] <= a[0] for a, b in itertools.pairwise(rows)):
        raise field.error("angles or widths must rise from point to point")
    if not monotonic([pulse for _, pulse in rows]):
        raise field.error("pulses must rise throughout or fall throughout")
    if any(not PULSES_US[0] <= pulse <= PULSES_US[1] for _, pulse in rows):
        raise field.error("pulses must lie within 100 to 4000 us")
    return rows


def monotonic(pulses: Sequence[float]) -> bool:
    """Return whether pulses are strictly increasing or strictly decreasing."""
    steps = [b - a for a, b in itertools.pairwise(pulses)]
    return all(s > 0 for s in steps) or all(s < 0 for s in steps)


def _clamp(field: Field, rows: Sequence[Pair], safe: Pair, board: ServoBoard) -> Pair:
    """Return the pulse limits of a servo [us]."""
    clamp = _pulses(field)
    if not safe[0] <= clamp[0] < clamp[1] <= safe[1]:
        raise field.error(
            f"must lie within {safe[0]:g} to {safe[1]:g} us",
            "if your servo really bears more, set safe_pulses_us at the top of the file",
        )
    pulses = [pulse for _, pulse in rows]
    if max(clamp[0], min(pulses)) >= min(clamp[1], max(pulses)):
        raise field.error("must overlap the points' pulses")
    period_us = board.count_us * (COUNTS - 1)
    if clamp[1] >= period_us:
        raise field.error(f"allows pulses longer than the period of {period_us:.0f} us")
    return clamp


def _pulses(field: Field) -> Pair:
    least, most = _pair(field)
    if not PULSES_US[0] <= least < most <= PULSES_US[1]:
        raise field.error("must rise and lie within 100 to 4000 us")
    return least, most


def _pair(field: Field) -> Pair:
    if not field.is_list or len(field.items()) != 2:
        raise field.error("must be a pair of numbers")
    first, second = field.items()
    return first.number(), second.number()


def _within(field: Field | None, default: float, bounds: Pair) -> float:
    if field is None:
        return default
    if not bounds[0] <= field.number() <= bounds[1]:
        raise field.error(f"must be from {bounds[0]:g} to {bounds[1]:g}")
    return field.number()
