# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of the robot file and of the files that it names, and the reference of its keys.

Write them, the reference into the README: python3 -m arm_description.robot_file.schema
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arm_common.files.saving import write_bytes
from arm_common.yaml.json_schema import (
    BOUNDS,
    Schema,
    file_schema,
    key_reference,
    or_expression,
    schema_of,
    schema_text,
    with_reference,
)
from arm_common.yaml.schema_types import Kind

from arm_description.robot_file.robot_keys import ROBOT, SOURCED
from arm_description.robot_file.sections.attachments import PAYLOAD_FILE, TOOL_FILE

REFERENCE: Mapping[str, Kind] = {"": ROBOT, "<number>.": SOURCED, "<tool file>.": TOOL_FILE}
# name of each file of a schema -> title, description, keys
SCHEMAS: Mapping[str, tuple[str, str, Kind]] = {
    "robot": ("Robot file", "A serial arm from its DH table or its axes.", ROBOT),
    "tool": ("Tool file", "A tool that robot files name in `tool`.", TOOL_FILE),
    "payload": ("Payload file", "A load that robot files name in `payload`.", PAYLOAD_FILE),
}


def robot_schema(name: str = "robot") -> Schema:
    """Return a schema, one of SCHEMAS, as plain data."""
    title, description, kind = SCHEMAS[name]
    number = {"anyOf": [{"$ref": "#/$defs/unsourced"}, schema_of(SOURCED)]}
    forms = {
        "number": number,
        "unsourced": or_expression({"type": "number"}),
        "name": {"type": "string", "pattern": "^[^\\s/$<>&]+$", "maxLength": 100},
    }
    schema = file_schema(f"{title} of arm_description", description, kind, forms)
    _bound_sourced(schema)
    return schema


def _bound_sourced(schema: Any) -> None:
    """Repeat the bounds of each number for the value beside its source."""
    for part in schema if isinstance(schema, list) else ():
        _bound_sourced(part)
    if isinstance(schema, dict):
        for part in schema.values():
            _bound_sourced(part)
        bounds = {word: schema[word] for word in BOUNDS if word in schema}
        if bounds and schema.get("$ref") == "#/$defs/number":
            schema["properties"] = {"value": bounds}


def texts(package: Path) -> dict[Path, str]:
    """Return the schemas and the README by their paths in the source tree of the package."""
    readme = package / "README.md"
    return {
        **{package / f"schema/{n}.schema.json": schema_text(robot_schema(n)) for n in SCHEMAS},
        readme: with_reference(readme.read_text(encoding="utf-8"), key_reference(REFERENCE)),
    }


if __name__ == "__main__":
    for path, text in texts(Path(__file__).parents[2]).items():
        write_bytes(text.encode(), path)
