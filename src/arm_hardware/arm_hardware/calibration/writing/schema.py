# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of calibration files, for editors.

To regenerate it: python3 -m arm_hardware.calibration.writing.schema
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arm_common.files.saving import write_bytes
from arm_common.yaml.json_schema import file_schema, schema_text

from arm_hardware.calibration.file import CALIBRATION

SCHEMA = "calibration.schema.json"

_BUS_ALONE = {"safe_pulses_us": False}  # which a file with a bus must not have


def calibration_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) as plain data."""
    title = "Servo calibration of arm_hardware"
    what = "Which servo is on which channel, and which pulse means which position."
    either = [{"required": ["board"]}, {"required": ["bus"], "properties": _BUS_ALONE}]
    return {**file_schema(title, what, CALIBRATION), "oneOf": either}


if __name__ == "__main__":
    write_bytes(
        schema_text(calibration_schema()).encode(), Path(__file__).parents[3] / "schema" / SCHEMA
    )
