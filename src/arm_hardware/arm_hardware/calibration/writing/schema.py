# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of calibration files, for editors.

To regenerate it: python3 -m arm_hardware.calibration.writing.schema
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from arm_common.files.saving import write_bytes
from arm_common.yaml.json_schema import schema_of

from arm_hardware.bus.interface import CHANNELS
from arm_hardware.calibration.file import (
    ADDRESSES,
    BAUD_RATES,
    BUS_WIRES,
    CALIBRATION,
    CLOCKS_HZ,
    COUNTS_OF,
    FREQUENCIES_HZ,
    OFFSETS,
    PULSES_US,
    SIGNS,
    Pair,
)

SCHEMA = "calibration.schema.json"

_BUS_ALONE = {"safe_pulses_us": False}  # which a file with a bus must not have


def calibration_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) as plain data."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Servo calibration of arm_hardware",
        "description": "Which servo is on which channel, and which pulse means which position.",
        **schema_of(CALIBRATION),
        "oneOf": [{"required": ["board"]}, {"required": ["bus"], "properties": _BUS_ALONE}],
        "$defs": {
            "number": {"type": "number"},
            "positive": {"type": "number", "exclusiveMinimum": 0},
            "text": {"type": "string", "pattern": "\\S"},
            "flag": {"type": "boolean"},
            "date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
            "sign": {"enum": list(SIGNS)},
            "channel": {"type": "integer", "minimum": 0, "maximum": CHANNELS - 1},
            "id": _range("integer", (BUS_WIRES.channels[0], BUS_WIRES.channels[-1])),
            "count": _range("number", COUNTS_OF),
            "offset": _range("integer", (OFFSETS[0], OFFSETS[-1])),
            "baud": _range("integer", (BAUD_RATES[0], BAUD_RATES[-1])),
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
    write_bytes(schema_text().encode(), Path(__file__).parents[3] / "schema" / SCHEMA)
