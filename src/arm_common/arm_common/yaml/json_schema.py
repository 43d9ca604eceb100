# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_schema.py
"""JSON schema (draft 2020-12) and key reference of files, generated from their tables of keys.

The schema lets an editor complete and check a file as you type. Rules that it cannot express, such
as lower below upper, are checked by the reader of the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from arm_common.yaml.expressions import FOREIGN, MAX_LENGTH
from arm_common.yaml.schema_types import (
    SUFFIXES,
    Choice,
    Either,
    Key,
    Kind,
    Leaf,
    ListOf,
    Named,
    Table,
    Variants,
    scale_of,
)

Schema: TypeAlias = dict[str, Any]
BEGIN, END = "<!-- keys: begin -->\n", "<!-- keys: end -->\n"
_ESCAPED = "".join(f"\\{c}" if c in "$\\[]^|{}" else c for c in FOREIGN)
EXPRESSION = {
    "type": "string",
    "maxLength": MAX_LENGTH,
    "pattern": f"^\\s*[^\\s{_ESCAPED}][^{_ESCAPED}]*$",
}


BOUNDS = ("exclusiveMinimum", "minimum", "maximum", "not")  # words of a schema
# Schemas of the leaves by their form; bounds are beside the reference to them.
FORMS: Schema = {
    "number": {"type": "number"},
    "plain": {"type": "number"},  # where numbers may be expressions, one that may not
    "whole": {"type": "integer"},
    "hex": {"type": "integer"},
    "text": {"type": "string", "pattern": "\\S"},
    "truth": {"type": "boolean"},
    "date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
    "colour": {
        "type": "string",
        "pattern": "^\\s*(#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?|[A-Za-z]+)\\s*$",
    },
}


def file_schema(
    title: str, description: str, kind: Kind, own_forms: Schema | None = None
) -> Schema:
    """Return the schema of a file as plain data.

    Args:
        title: its title.
        description: what the file describes.
        kind: its keys.
        own_forms: schemas of leaves that differ from FORMS, or are not in it, by their form.
    """
    keys, forms = schema_of(kind), FORMS | (own_forms or {})
    referred = json.dumps([keys, own_forms])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": description,
        **keys,
        "$defs": {name: form for name, form in forms.items() if f'/{name}"' in referred},
    }


def or_expression(number: Schema) -> Schema:
    """Return the schema of a number or an expression."""
    return {"anyOf": [number, EXPRESSION]}


def schema_text(schema: Schema) -> str:
    """Return a schema as the text of its file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def with_reference(page: str, reference: str) -> str:
    """Return a page with the text between its marks replaced."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}{reference}{END}{rest.split(END)[1]}"


def schema_of(kind: Kind, scale: float = 1.0) -> Schema:
    """Return the schema of a kind; leaves refer to ``$defs`` by their form.

    Bounds are in the unit of the key, of so many SI units.
    """
    match kind:
        case Leaf():
            return {"$ref": f"#/$defs/{kind.form}", **_bounds(kind, scale)}
        case Choice():
            return {"enum": list(kind.words)}
        case ListOf():
            most = {} if kind.most is None else {"maxItems": kind.most}
            items = schema_of(kind.kind, scale)
            return {"type": "array", "items": items, "minItems": kind.least, **most}
        case Either():
            return {"anyOf": [schema_of(one) for one in kind.kinds]}
        case Named():
            return {"type": "object", "additionalProperties": schema_of(kind.kind, scale)}
        case Variants():
            return _variants(kind)
    return {
        "type": "object",
        "properties": {
            written: _property(kind.keys[name], scale_of(written[len(name) :]))
            for written, name in kind.spellings.items()
        },
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


def _bounds(leaf: Leaf, scale: float) -> Schema:
    words = zip(BOUNDS, (leaf.above, leaf.least, leaf.most), strict=False)
    written = {word: round(v / scale, 9) for word, v in words if math.isfinite(v)}
    bounds: Schema = {word: int(v) if v == int(v) else v for word, v in written.items()}
    return bounds | ({BOUNDS[3]: {"const": 0}} if leaf.nonzero else {})


def _property(key: Key, scale: float) -> Schema:
    words = value_text(key.kind)
    return {
        **schema_of(key.kind, scale),
        "description": f"{description_of(key)} ({words})" if words else description_of(key),
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


@dataclass
class _KeyRow:
    value: str
    meaning: str
    required: bool
    suffix: str


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


def leaf_text(leaf: Leaf) -> str:
    """Return the description of a value, with the unit of its suffix and its bounds."""
    if not leaf.suffix:
        return ", ".join(filter(None, (leaf.what, leaf.bounds())))
    si = leaf.what.partition(" or ")[0]
    unit = si.replace(SUFFIXES[leaf.suffix].unit, leaf.suffix[1:])
    bounds = leaf.bounds(scale_of(leaf.suffix))
    in_unit = f"{bounds} {unit}" if bounds and not bounds.endswith(" 0") else bounds
    text = f"{leaf.what}, or {unit} with {leaf.suffix}"
    return "; ".join(filter(None, (text, in_unit)))


def description_of(key: Key) -> str:
    """Return the meaning of a key with its default."""
    return key.meaning if key.default is None else f"{key.meaning}; {_default(key)} if omitted"


def _default(key: Key) -> str:
    value, leaf = key.default, key.leaf
    if isinstance(value, tuple):
        return f"[{', '.join(f'{v:g}' for v in value)}]" if any(value) else "zeros"
    if isinstance(value, bool | str):
        return str(value).lower()
    if leaf is None:
        return f"{value:g}"
    unit = leaf.suffix[1:] or (leaf.what if len(leaf.what) <= 2 else "")
    return f"{leaf.shown(value / scale_of(leaf.suffix), 9)} {unit if value else ''}".strip()


def value_text(kind: Kind) -> str:
    """Return a description of the value of a key; "" for a mapping with its own rows."""
    match kind:
        case Leaf():
            return leaf_text(kind)
        case Choice():
            return kind.text
        case ListOf(kind=Leaf() as item):
            count = f"list of {kind.least}" if kind.least == kind.most else "list"
            return f"{count}: {leaf_text(item)}"
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
    rows.setdefault(
        path, _KeyRow(value, description_of(key), required, key.suffix)
    ).required = required
    if first == below:
        _gather(rows, known, f"{below}.", kind)
