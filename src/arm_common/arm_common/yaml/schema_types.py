# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_no_number_is_lost.py
"""Types that declare the keys of a file.

The reader, the JSON schema and the key reference all use these tables: there is no second list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from arm_common.errors import number_text
from arm_common.yaml.document import Field


@dataclass(frozen=True)
class Leaf:
    """A single value; the bounds of a number are in SI units, whatever the suffix of its key."""

    what: str  # description or unit
    form: str = "number"  # name of its definition in the schema
    suffix: str = ""  # unit suffix that the key may have, such as "_mm"
    above: float = -math.inf
    least: float = -math.inf
    most: float = math.inf
    nonzero: bool = False

    def allows(self, value: float) -> bool:
        """Return True if a number is within the bounds."""
        within = value > self.above and self.least <= value <= self.most
        return within and not (self.nonzero and value == 0.0)

    def bounds(self, scale: float = 1.0) -> str:
        """Return the bounds in words, in a unit of so many SI units; "" without bounds."""
        above, least, most = (
            self.shown(value / scale) if math.isfinite(value) else ""
            for value in (self.above, self.least, self.most)
        )
        if least and most:
            return f"from {least} to {most}"
        if self.nonzero:
            return "not 0"
        bounds = {"above": above, "at least": least, "at most": most}
        return " and ".join(f"{word} {value}" for word, value in bounds.items() if value)

    def shown(self, value: float, digits: int = 6) -> str:
        """Return a value as a text; digits are of numbers that are not whole."""
        if self.form == "hex":
            return f"{int(value):#04x}"
        return str(int(value)) if self.form == "whole" else number_text(value, digits, 9)

    def check(self, field: Field, value: float) -> float:
        """Return a number that was read from a field; raise its error out of bounds."""
        if not self.allows(value):
            raise self._error(field)
        return value

    def whole(self, field: Field) -> int:
        """Read a whole number within the bounds."""
        if type(field.value) is not int or not self.allows(field.value):
            raise self._error(field)
        return int(field.number())  # which refuses 010

    def _error(self, field: Field) -> Exception:
        if self.nonzero:
            return field.error("must not be 0")
        noun = "" if self.form == "number" else f"a {self.what} "
        return field.error(f"must be {noun}{self.bounds()}")


@dataclass(frozen=True)
class Choice:
    """One of several words, or of whole numbers."""

    words: tuple[Any, ...]

    @property
    def text(self) -> str:
        """The words for people."""
        words = list(map(str, self.words))
        return " or ".join((", ".join(words[:-1]), words[-1]))


@dataclass(frozen=True)
class ListOf:
    """A list with a minimum and maximum length."""

    kind: Kind
    least: int
    most: int | None

    def items(self, field: Field, what: str, remedy: str = "") -> list[Field]:
        """Read a list of so many items; the words say what they are."""
        items, least, most = field.items(), self.least, self.most
        if least <= len(items) <= (most or len(items)):
            return items
        many = f"{least} to {most}" if most else f"{least} or more"
        many = str(least) if least == most else many
        raise field.error(f"must be {many} {what}, not {len(items)}", remedy)


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
    default: Any = None  # SI value if it is omitted, which the reference states; None for none

    @property
    def leaf(self) -> Leaf | None:
        """Its value, or that of its list or names; None if it has several kinds or keys."""
        kind = self.kind.kind if isinstance(self.kind, ListOf | Named) else self.kind
        return kind if isinstance(kind, Leaf) else None

    @property
    def suffix(self) -> str:
        """Unit suffix that its name may have, or ""."""
        return self.leaf.suffix if self.leaf else ""


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

    def leaf(self, name: str) -> Leaf:
        """Return the declaration of a single value, or of the items of a list."""
        leaf = self.keys[name].leaf
        assert leaf is not None, name
        return leaf

    def read(self, field: Field) -> Fields:
        """Return the values by key; unknown, missing and duplicate keys are errors."""
        required = [name for name, key in self.keys.items() if key.required]
        return Fields(field.mapping(self.keys, required), self)


class Fields(dict[str, Field]):
    """The values of a mapping by key; each is read by its declaration."""

    def __init__(self, fields: Mapping[str, Field], table: Table) -> None:
        super().__init__(fields)
        self.table = table

    def number(self, name: str, otherwise: float | None = None) -> float:
        """Return a number within its bounds; if it is omitted its default, or the other value."""
        return self.read(name, lambda field, leaf: leaf.check(field, field.number()), otherwise)

    def read(
        self, name: str, read: Callable[[Field, Leaf], float], otherwise: float | None = None
    ) -> float:
        """Return what a function reads; if the key is omitted its default, or the other value."""
        if name not in self:
            return float(self.default(name, otherwise))
        return read(self[name], self.table.leaf(name))

    def whole(self, name: str) -> int:
        """Return a whole number within its bounds; if it is omitted its default."""
        return self.table.leaf(name).whole(self[name]) if name in self else int(self.default(name))

    def text(self, name: str) -> str:
        """Return a text; if it is omitted its default or ""."""
        return self[name].text() if name in self else str(self.default(name, ""))

    def truth(self, name: str) -> bool:
        """Return true or false; if it is omitted its default."""
        value = self[name].value if name in self else self.default(name)
        if not isinstance(value, bool):
            raise self[name].error("must be true or false")
        return value

    def choice(self, name: str, otherwise: str | None = None) -> str:
        """Return one of its words; if it is omitted its default, or the other one."""
        if name not in self:
            return str(self.default(name, otherwise))
        kind = self.table.keys[name].kind
        assert isinstance(kind, Choice), name
        return self[name].choice(kind.words)

    def default(self, name: str, otherwise: Any = None) -> Any:
        """Return the value of an omitted key."""
        declared = self.table.keys[name].default
        default = otherwise if declared is None else declared
        assert default is not None, name
        return default


@dataclass(frozen=True)
class Variants:
    """Mappings where the value of one key selects the table that applies."""

    by: str  # the key that selects
    tables: Mapping[str, Table]  # by the value of that key

    def read(self, field: Field) -> tuple[str, Fields]:
        """Return the selected variant and the values by key."""
        names = {name: None for table in self.tables.values() for name in table.keys}
        chosen = field.mapping(names, [self.by])[self.by].choice(self.tables)
        return chosen, self.tables[chosen].read(field)


Kind: TypeAlias = Leaf | Choice | ListOf | Either | Named | Table | Variants
