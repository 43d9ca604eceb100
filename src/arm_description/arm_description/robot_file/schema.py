# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""JSON schema (draft 2020-12) of the robot file, from the tables that the reader reads by.

It lets an editor complete and check a file while it is written. What it cannot say, such as lower
below upper, the reader says. To write it and the reference of keys anew:

python3 -m arm_description.robot_file.schema
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

from ..expression_text import FOREIGN, MAX_LENGTH
from .keys import ROBOT, SOURCED
from .kinds import Choice, Either, Key, Kind, Leaf, ListOf, Named, Table, Variants
from .reference import in_words, with_reference

Schema: TypeAlias = dict[str, Any]

_ESCAPED = "".join(f"\\{c}" if c in "$\\[]^|{}" else c for c in FOREIGN)
EXPRESSION = {
    "type": "string",
    "maxLength": MAX_LENGTH,
    "pattern": f"^\\s*[^\\s{_ESCAPED}][^{_ESCAPED}]*$",
}


def robot_schema() -> Schema:
    """Return the schema as plain data."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Robot file of arm_description",
        "description": "A serial arm from its DH table.",
        **schema_of(ROBOT),
        "$defs": _definitions(),
    }


def schema_text() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(robot_schema(), indent=2, ensure_ascii=False) + "\n"


def _definitions() -> Schema:
    return {
        "number": _number({"type": "number"}),
        "positive": _number({"type": "number", "exclusiveMinimum": 0}),
        "text": {"type": "string", "pattern": "\\S"},
        "name": {"type": "string", "pattern": "^[^\\s/$<>&]+$", "maxLength": 100},
        "colour": {"type": "string", "pattern": "^\\s*#[0-9a-fA-F]{6}\\s*$"},
    }


def _number(number: Schema) -> Schema:
    """A number, an expression, or either of them with its source."""
    sourced = schema_of(SOURCED)
    value = sourced["properties"]["value"]
    del value["$ref"]
    value["anyOf"] = [number, EXPRESSION]
    return {"anyOf": [number, EXPRESSION, sourced]}


def schema_of(kind: Kind) -> Schema:
    """Return the schema of a kind; its leaves refer to ``$defs`` by their form."""
    match kind:
        case Leaf():
            return {"$ref": f"#/$defs/{kind.form}"}
        case Choice():
            return {"enum": list(kind.words)}
        case ListOf():
            most = {} if kind.most is None else {"maxItems": kind.most}
            items = schema_of(kind.kind)
            return {"type": "array", "items": items, "minItems": kind.least, **most}
        case Either():
            return {"anyOf": [schema_of(one) for one in kind.kinds]}
        case Named():
            return {"type": "object", "additionalProperties": schema_of(kind.kind)}
        case Variants():
            return _variants(kind)
    return {
        "type": "object",
        "properties": {way: _property(kind.keys[name]) for way, name in kind.spellings.items()},
        "required": [n for n, key in kind.keys.items() if key.required and not key.suffix],
        "additionalProperties": False,
        **_one_spelling(kind),
    }


def _one_spelling(table: Table) -> Schema:
    """Of a key that can be written in two ways at most one, and one if it is required."""
    rules: list[Schema] = []
    for name, key in table.keys.items():
        if key.suffix:
            ways = [name, f"{name}{key.suffix}"]
            rules.append({"not": {"required": ways}})
            if key.required:
                rules.append({"anyOf": [{"required": [way]} for way in ways]})
    return {"allOf": rules} if rules else {}


def _property(key: Key) -> Schema:
    words = in_words(key.kind)
    return {
        **schema_of(key.kind),
        "description": f"{key.meaning} ({words})" if words else key.meaning,
    }


def _variants(kind: Variants) -> Schema:
    """Properties that all have in common, and for each what differs: better hints than oneOf."""
    tables = {word: schema_of(table) for word, table in kind.tables.items()}
    first, *others = tables.values()
    common = {
        name: value
        for name, value in first["properties"].items()
        if all(other["properties"][name] == value for other in others)
    }
    properties = {name: common.get(name, True) for name in first["properties"]}
    cases = [
        {
            "if": {"properties": {kind.by: {"const": word}}, "required": [kind.by]},
            "then": {
                "required": table["required"],
                "properties": {
                    name: value
                    for name, value in table["properties"].items()
                    if name not in common
                },
            },
        }
        for word, table in tables.items()
    ]
    return {
        "type": "object",
        "properties": properties,
        "required": [kind.by],
        "additionalProperties": False,
        "allOf": cases,
    }


def write(package: Path) -> None:
    """Write schema and reference into the source tree of the package."""
    (package / "schema" / "robot.schema.json").write_text(schema_text(), encoding="utf-8")
    readme = package / "README.md"
    readme.write_text(with_reference(readme.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parents[2])
