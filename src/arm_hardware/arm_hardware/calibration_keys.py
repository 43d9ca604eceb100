# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every key of the calibration file: what stands there, what it means, whether it must be there.

The reader and the JSON schema both go by these tables. To write the schema anew:

python3 -m arm_hardware.calibration_keys
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from arm_description.robot_file.kinds import Either, Key, Leaf, ListOf, Named, Table
from arm_description.robot_file.schema import schema_of

SCHEMA = "calibration.schema.json"
CHANNELS = 16
PULSES_US = (100.0, 4000.0)  # no hobby servo lies outside
ADDRESSES = (0x08, 0x77)
FREQUENCIES_HZ = (24.0, 400.0)
CLOCKS_HZ = (1e6, 50e6)
SIGNS = (-1, 1)

NUMBER = Leaf("number", "number")
NAME = Leaf("name of a robot", "text")
PULSE = Leaf("us", "pulse")
PULSES = ListOf(PULSE, 2, 2)
CHANNEL = Key(Leaf("0 to 15", "channel"), "output of the board", True)
CLAMP = Key(PULSES, "the shortest and the longest pulse that may ever be sent", True)
DATE = Key(Leaf("date, as 2026-05-17", "date"), "day on which its points were measured")


def _servo(unit: str, what: str) -> Table:
    """Keys of a servo whose axis is given in a unit."""
    number = Leaf(unit, "number")
    return Table(
        {
            "channel": CHANNEL,
            "sign": Key(
                Leaf("1 or -1", "sign"),
                f"servo {what} = sign * joint {what} + zero; 1 if left out",
            ),
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


TURNING = _servo("deg", "angle")
SLIDING = _servo("mm", "position")
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
        "joints": Key(Named(Either((TURNING, SLIDING)), "joint"), "a servo for each joint", True),
        "gripper": Key(SLIDING, "its servo; positions are widths"),
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
            "address": _range("integer", ADDRESSES),
            "frequency": _range("number", FREQUENCIES_HZ),
            "clock": _range("number", CLOCKS_HZ),
            "pulse": _range("number", PULSES_US),
        },
    }


def schema_text() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(calibration_schema(), indent=2) + "\n"


def _range(kind: str, bounds: tuple[float, float]) -> dict[str, Any]:
    return {"type": kind, "minimum": bounds[0], "maximum": bounds[1]}


if __name__ == "__main__":
    (Path(__file__).parents[1] / "schema" / SCHEMA).write_text(schema_text(), encoding="utf-8")
