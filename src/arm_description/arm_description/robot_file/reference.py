# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The reference of every key, as the table in the README, from the tables the reader reads by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .keys import ROBOT, SOURCED
from .kinds import Choice, Either, Key, Kind, Leaf, ListOf, Named, Table, Variants

BEGIN, END = "<!-- keys: begin -->\n", "<!-- keys: end -->\n"


@dataclass
class Row:
    """A line of the reference."""

    what: str
    meaning: str
    required: bool
    suffix: str = ""


def with_reference(readme: str) -> str:
    """Return the text of a README with the table between its marks written anew."""
    before, rest = readme.split(BEGIN)
    after = rest.split(END)[1]
    return before + BEGIN + reference() + END + after


def reference() -> str:
    """Return the table in Markdown; keys that must be there are in bold."""
    return reference_of({"": ROBOT, "<number>.": SOURCED})


def reference_of(kinds: Mapping[str, Kind]) -> str:
    """Return the table of all keys below kinds, each by what stands before its keys."""
    rows: dict[str, Row] = {}
    for path, kind in kinds.items():
        _gather(rows, {}, path, kind)
    lines = ["| key | what stands there | meaning |", "|---|---|---|"]
    for path, row in rows.items():
        name = ", ".join(
            f"`{way}`" for way in (path, f"{path}{row.suffix}")[: 1 + bool(row.suffix)]
        )
        name = f"**{name}**" if row.required else name
        lines.append(f"| {name} | {row.what} | {row.meaning} |")
    return "\n".join(lines) + "\n"


def in_words(kind: Kind) -> str:
    """What stands at a key, in words; "" for a mapping whose keys are described themselves."""
    match kind:
        case Leaf():
            return kind.what
        case Choice():
            return " or ".join((", ".join(kind.words[:-1]), kind.words[-1]))
        case ListOf(kind=Leaf() as item):
            return f"list of {kind.least if kind.least == kind.most else 'such'}: {item.what}"
        case ListOf(kind=ListOf() as item):
            return f"list of such: {in_words(item)}"
        case Either():
            return ", or ".join(filter(None, map(in_words, kind.kinds)))
        case Named():
            words = in_words(kind.kind)
            return f"{kind.name}: {words}" if words else ""
    return ""


def _gather(rows: dict[str, Row], known: dict[int, str], path: str, kind: Kind) -> None:
    """Add a row for each key below a kind; a table that comes again is referred to."""
    if isinstance(kind, Variants):
        for table in kind.tables.values():
            _gather(rows, known, path, table)
    elif isinstance(kind, Either):
        for one in kind.kinds:
            _gather(rows, known, path, one)
    elif isinstance(kind, Table):
        for name, key in kind.keys.items():
            _gather_key(rows, known, path + name, key)


def _gather_key(rows: dict[str, Row], known: dict[int, str], path: str, key: Key) -> None:
    below, kind = path, key.kind
    while isinstance(kind, ListOf | Named):
        below += "[]" if isinstance(kind, ListOf) else f".<{kind.name}>"
        kind = kind.kind
    first = known.setdefault(id(kind), below) if isinstance(kind, Table) else below
    what = in_words(key.kind) if first == below else f"as `{first}`"
    required = key.required and (path not in rows or rows[path].required)
    rows.setdefault(path, Row(what, key.meaning, required, key.suffix)).required = required
    if first == below:
        _gather(rows, known, f"{below}.", kind)
