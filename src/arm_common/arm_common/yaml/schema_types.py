# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The types in which the keys of a file are declared.

The reader takes the allowed and required keys from these tables, and so do the JSON schema and the
reference of keys: there is no second list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from arm_common.yaml.document import Field


@dataclass(frozen=True)
class Leaf:
    """A single value."""

    what: str  # in words, with its unit
    form: str  # how it is written: its definition in the schema
    suffix: str = ""  # "_mm" or so, if its key may have that suffix, and means that unit then


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class ListOf:
    """A list; at least and at most so long."""

    kind: Kind
    least: int
    most: int | None


@dataclass(frozen=True)
class Either:
    """The one or the other kind."""

    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class Named:
    """A mapping with names of the writer's choice, called ``<name>`` in the reference."""

    kind: Kind
    name: str


@dataclass(frozen=True)
class Key:
    """One key."""

    kind: Kind
    meaning: str
    required: bool = False

    @property
    def suffix(self) -> str:
        """What its name may also be written with, or ""."""
        kind = self.kind.kind if isinstance(self.kind, ListOf) else self.kind
        return kind.suffix if isinstance(kind, Leaf) else ""


@dataclass(frozen=True)
class Table:
    """A mapping with these keys and no others."""

    keys: Mapping[str, Key]

    @property
    def spellings(self) -> dict[str, str]:
        """The name of the key by each way to write it: ``width`` and ``width_mm``."""
        pairs = [(name, (name, f"{name}{key.suffix}")) for name, key in self.keys.items()]
        return {written: name for name, ways in pairs for written in ways}

    def read(self, field: Field) -> dict[str, Field]:
        """Return the values by key; none is unknown, missing or given twice."""
        return field.mapping(self.keys, [name for name, key in self.keys.items() if key.required])


@dataclass(frozen=True)
class Variants:
    """Mappings with the same keys, of which one key says what is required and stands at others."""

    by: str  # that key
    tables: Mapping[str, Table]  # by its value

    def read(self, field: Field) -> tuple[str, dict[str, Field]]:
        """Return which variant it is, and the values by key."""
        names = next(iter(self.tables.values())).keys
        chosen = field.mapping(names, [self.by])[self.by].choice(self.tables)
        return chosen, self.tables[chosen].read(field)


Kind: TypeAlias = Leaf | Choice | ListOf | Either | Named | Table | Variants
