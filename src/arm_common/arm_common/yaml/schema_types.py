# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_no_number_is_lost.py
"""Types that declare the keys of a file.

The reader, the JSON schema and the key reference all use these tables: there is no second list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from arm_common.yaml.document import Field


@dataclass(frozen=True)
class Leaf:
    """A single value."""

    what: str  # description, with its unit
    form: str  # name of its definition in the schema
    suffix: str = ""  # unit suffix that the key may have, such as "_mm"


@dataclass(frozen=True)
class Choice:
    """One of several words."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class ListOf:
    """A list with a minimum and maximum length."""

    kind: Kind
    least: int
    most: int | None


@dataclass(frozen=True)
class Either:
    """One of several kinds."""

    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class Named:
    """A mapping with arbitrary names as keys, called ``<name>`` in the reference."""

    kind: Kind
    name: str


@dataclass(frozen=True)
class Key:
    """One key."""

    kind: Kind
    meaning: str
    required: bool = False
    unless: str = ""  # key of the table whose expression may replace this required one

    @property
    def suffix(self) -> str:
        """Unit suffix that its name may have, or ""."""
        kind = self.kind.kind if isinstance(self.kind, ListOf) else self.kind
        return kind.suffix if isinstance(kind, Leaf) else ""


@dataclass(frozen=True)
class Table:
    """A mapping with these keys and no others."""

    keys: Mapping[str, Key]
    one_of: Collection[str] = ()  # keys of which exactly one is given

    @property
    def spellings(self) -> dict[str, str]:
        """Name of the key by each of its spellings, such as ``width`` and ``width_mm``."""
        pairs = [(name, (name, f"{name}{key.suffix}")) for name, key in self.keys.items()]
        return {written: name for name, spellings in pairs for written in spellings}

    def read(self, field: Field) -> dict[str, Field]:
        """Return the values by key; unknown, missing and duplicate keys are errors."""
        return field.mapping(self.keys, [name for name, key in self.keys.items() if key.required])


@dataclass(frozen=True)
class Variants:
    """Mappings where the value of one key selects the table that applies."""

    by: str  # the key that selects
    tables: Mapping[str, Table]  # by the value of that key

    def read(self, field: Field) -> tuple[str, dict[str, Field]]:
        """Return the selected variant and the values by key."""
        names = {name: None for table in self.tables.values() for name in table.keys}
        chosen = field.mapping(names, [self.by])[self.by].choice(self.tables)
        return chosen, self.tables[chosen].read(field)


Kind: TypeAlias = Leaf | Choice | ListOf | Either | Named | Table | Variants
