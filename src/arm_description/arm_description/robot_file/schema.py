# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""JSON schema (draft 2020-12) and key reference of the robot file, generated from its tables.

The schema lets an editor complete and check a file as you type. Rules that it cannot express, such
as lower below upper, are checked by the reader. Write the schema and the reference in the README:

python3 -m arm_description.robot_file.schema
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from arm_common.files.saving import write_bytes
from arm_common.yaml.colours import FORMS
from arm_common.yaml.expressions import FOREIGN, MAX_LENGTH
from arm_common.yaml.schema_types import (
    Choice,
    Either,
    Key,
    Kind,
    Leaf,
    ListOf,
    Named,
    Table,
    Variants,
)

from arm_description.robot_file.keys import ROBOT, SOURCED
from arm_description.robot_file.sections.attachments import PAYLOAD_FILE, TOOL_FILE

BEGIN, END = "<!-- keys: begin -->\n", "<!-- keys: end -->\n"


@dataclass
class _KeyRow:
    value: str
    meaning: str
    required: bool
    suffix: str


def with_reference(readme: str) -> str:
    """Return a README with the key table between its marks replaced; required keys are bold."""
    before, rest = readme.split(BEGIN)
    table = key_reference({"": ROBOT, "<number>.": SOURCED, "<tool file>.": TOOL_FILE})
    return before + BEGIN + table + END + rest.split(END)[1]


def key_reference(kinds: Mapping[str, Kind]) -> str:
    """Return the Markdown table of all keys below some kinds, given by the prefix of the keys."""
    rows: dict[str, _KeyRow] = {}
    for path, kind in kinds.items():
        _gather(rows, {}, path, kind)
    lines = ["| key | value | meaning |", "|---|---|---|"]
    for path, row in rows.items():
        name = f"`{path}`, `{path}{row.suffix}`" if row.suffix else f"`{path}`"
        name = f"**{name}**" if row.required else name
        lines.append(f"| {name} | {row.value} | {row.meaning} |")
    return "\n".join(lines) + "\n"


def value_text(kind: Kind) -> str:
    """Return a description of the value of a key; "" for a mapping with its own rows."""
    match kind:
        case Leaf():
            return kind.what
        case Choice():
            return " or ".join((", ".join(kind.words[:-1]), kind.words[-1]))
        case ListOf(kind=Leaf() as item):
            count = f"list of {kind.least}" if kind.least == kind.most else "list"
            return f"{count}: {item.what}"
        case ListOf(kind=ListOf() as item):
            return f"list: {value_text(item)}"
        case Either():
            return ", or ".join(filter(None, map(value_text, kind.kinds)))
        case Named():
            words = value_text(kind.kind)
            return f"{kind.name}: {words}" if words else ""
    return ""


def _gather(rows: dict[str, _KeyRow], known: dict[int, str], path: str, kind: Kind) -> None:
    """Add a row for each key below a kind; a repeated table is a reference to the first."""
    several = kind.tables.values() if isinstance(kind, Variants) else ()
    for one in kind.kinds if isinstance(kind, Either) else several:
        _gather(rows, known, path, one)
    if isinstance(kind, Table):
        for name, key in kind.keys.items():
            _gather_key(rows, known, path + name, key)


def _gather_key(rows: dict[str, _KeyRow], known: dict[int, str], path: str, key: Key) -> None:
    below, kind = path, key.kind
    while isinstance(kind, ListOf | Named):
        below += "[]" if isinstance(kind, ListOf) else f".<{kind.name}>"
        kind = kind.kind
    first = known.setdefault(id(kind), below) if isinstance(kind, Table) else below
    value = value_text(key.kind) if first == below else f"as `{first}`"
    required = key.required and (path not in rows or rows[path].required)
    rows.setdefault(path, _KeyRow(value, key.meaning, required, key.suffix)).required = required
    if first == below:
        _gather(rows, known, f"{below}.", kind)


Schema: TypeAlias = dict[str, Any]

_ESCAPED = "".join(f"\\{c}" if c in "$\\[]^|{}" else c for c in FOREIGN)
EXPRESSION = {
    "type": "string",
    "maxLength": MAX_LENGTH,
    "pattern": f"^\\s*[^\\s{_ESCAPED}][^{_ESCAPED}]*$",
}


# name of each file of a schema -> title, description, keys
SCHEMAS: Mapping[str, tuple[str, str, Kind]] = {
    "robot": ("Robot file", "A serial arm from its DH table or its axes.", ROBOT),
    "tool": ("Tool file", "A tool that robot files name in `tool`.", TOOL_FILE),
    "payload": ("Payload file", "A load that robot files name in `payload`.", PAYLOAD_FILE),
}


def robot_schema(name: str = "robot") -> Schema:
    """Return a schema, one of SCHEMAS, as plain data."""
    title, description, kind = SCHEMAS[name]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{title} of arm_description",
        "description": description,
        **schema_of(kind),
        "$defs": {
            "number": _number({"type": "number"}),
            "positive": _number({"type": "number", "exclusiveMinimum": 0}),
            "flag": {"type": "boolean"},
            "text": {"type": "string", "pattern": "\\S"},
            "name": {"type": "string", "pattern": "^[^\\s/$<>&]+$", "maxLength": 100},
            **FORMS,
        },
    }


def schema_text(name: str = "robot") -> str:
    """Return a schema as the text of its file."""
    return json.dumps(robot_schema(name), indent=2, ensure_ascii=False) + "\n"


def _number(number: Schema) -> Schema:
    """Return the schema of a number, an expression, or either with its source."""
    sourced = schema_of(SOURCED)
    value = sourced["properties"]["value"]
    del value["$ref"]
    value["anyOf"] = [number, EXPRESSION]
    return {"anyOf": [number, EXPRESSION, sourced]}


def schema_of(kind: Kind) -> Schema:
    """Return the schema of a kind; leaves refer to ``$defs`` by their form."""
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
        "properties": {key: _property(kind.keys[name]) for key, name in kind.spellings.items()},
        "required": [n for n, key in kind.keys.items() if key.required and not key.suffix],
        "additionalProperties": False,
        **_key_rules(kind),
    }


def _key_rules(table: Table) -> Schema:
    """Return the rules that allow at most one spelling of a key, and demand a required one.

    Others demand a key unless another one has an expression.
    """
    rules: list[Schema] = []
    if table.one_of:
        rules.append({"oneOf": [{"required": [name]} for name in table.one_of]})
    for name, key in table.keys.items():
        if key.suffix:
            spellings = [name, f"{name}{key.suffix}"]
            rules.append({"not": {"required": spellings}})
            if key.required:
                rules.append({"anyOf": [{"required": [written]} for written in spellings]})
        if key.unless:
            other = {key.unless: {"type": ["string", "object"]}}
            replaced = {"required": [key.unless], "properties": other}
            rules.append({"anyOf": [{"required": [name]}, replaced]})
    return {"allOf": rules} if rules else {}


def _property(key: Key) -> Schema:
    words = value_text(key.kind)
    return {
        **schema_of(key.kind),
        "description": f"{key.meaning} ({words})" if words else key.meaning,
    }


def _variants(kind: Variants) -> Schema:
    """Return the common properties, and the differing ones by case: better hints than oneOf."""
    tables = {word: schema_of(table) for word, table in kind.tables.items()}
    properties = {word: table["properties"] for word, table in tables.items()}
    names = {name: None for own in properties.values() for name in own}
    first, *others = properties.values()
    common = {k: v for k, v in first.items() if all(other.get(k) == v for other in others)}
    cases = [
        {
            "if": {"properties": {kind.by: {"const": word}}, "required": [kind.by]},
            "then": {
                "required": tables[word]["required"],
                "properties": {k: own.get(k, False) for k in names if k not in common},
                **{k: v for k, v in tables[word].items() if k == "allOf"},
            },
        }
        for word, own in properties.items()
    ]
    return {
        "type": "object",
        "properties": {name: common.get(name, True) for name in names},
        "required": [kind.by],
        "additionalProperties": False,
        "allOf": cases,
    }


def write(package: Path) -> None:
    """Write schemas and reference to the source tree of the package."""
    for name in SCHEMAS:
        file = package / "schema" / f"{name}.schema.json"
        write_bytes(schema_text(name).encode(), file)
    readme = package / "README.md"
    write_bytes(with_reference(readme.read_text(encoding="utf-8")).encode(), readme)


if __name__ == "__main__":
    write(Path(__file__).parents[2])
