# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of the robot file and of the files that it names, and the reference of its keys.

Write them, the reference into the README: python3 -m arm_description.robot_file.schema
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from arm_common.files.saving import write_bytes
from arm_common.yaml.json_schema import (
    EXPRESSION,
    Schema,
    file_schema,
    key_reference,
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
    forms = {
        "number": _number({"type": "number"}),
        "positive": _number({"type": "number", "exclusiveMinimum": 0}),
        "flag": {"type": "boolean"},
        "name": {"type": "string", "pattern": "^[^\\s/$<>&]+$", "maxLength": 100},
    }
    return file_schema(f"{title} of arm_description", description, kind, forms)


def _number(number: Schema) -> Schema:
    """Return the schema of a number, an expression, or either with its source."""
    sourced = schema_of(SOURCED)
    value = sourced["properties"]["value"]
    del value["$ref"]
    value["anyOf"] = [number, EXPRESSION]
    return {"anyOf": [number, EXPRESSION, sourced]}


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
