# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The law of declared bounds: a reader refuses what its tables of keys exclude, in their words."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
from arm_common.yaml.schema_types import (
    Either,
    Kind,
    Leaf,
    ListOf,
    Named,
    Table,
    Variants,
)
from arm_common.yaml.typed_mapping import scale_of

from arm_testing.files.plain_data import at

Owner: TypeAlias = tuple[str, Leaf]  # a key and what bounds its numbers


@dataclass(frozen=True)
class Bounded:
    """A number of a file that its declaration bounds."""

    path: tuple[Any, ...]
    leaf: Leaf
    key: str
    scale: float  # SI value of the unit of the key

    @property
    def owner(self) -> Owner:
        """Its key and declaration."""
        return self.key, self.leaf

    @property
    def words(self) -> str:
        """What the message of its reader says."""
        return "must not be 0" if self.leaf.nonzero else self.leaf.bounds(self.scale)

    def values(self) -> Iterator[tuple[float, bool]]:
        """Yield values in the unit of the key, and whether they are just inside."""
        leaf, step = self.leaf, 1.0 if self.leaf.form in ("whole", "hex") else 1e-9
        for bound, outward in ((leaf.above, 0.0), (leaf.least, -1.0), (leaf.most, 1.0)):
            if abs(bound) < float("inf"):
                beyond = outward * step * max(1.0, abs(bound))
                yield self._written(bound + beyond), False
                yield self._written(bound if outward else bound + step), True
        if leaf.nonzero:
            yield 0, False

    def _written(self, value: float) -> float:
        return int(value) if self.leaf.form in ("whole", "hex") else value / self.scale


def bounded(kind: Kind, data: Any, path: tuple[Any, ...] = ()) -> list[Bounded]:
    """Return the bounded numbers of a file, one of each owner."""
    found = _bounded(kind, data, path, "", 1.0)
    return list({number.owner: number for number in found}.values())


def _bounded(
    kind: Kind, data: Any, path: tuple[Any, ...], key: str, scale: float
) -> Iterator[Bounded]:
    match kind:
        case Leaf() if kind.bounds():
            at_value = (*path, "value") if isinstance(data, dict) else path  # beside a source
            yield Bounded(at_value, kind, key, scale)
        case ListOf():
            for i, item in enumerate(data):
                yield from _bounded(kind.kind, item, (*path, i), key, scale)
        case Named():
            for name, value in data.items():
                yield from _bounded(kind.kind, value, (*path, name), key, scale)
        case Either():
            one = next(one for one in kind.kinds if _fits(one, data))
            yield from _bounded(one, data, path, key, scale)
        case Variants():
            yield from _bounded(kind.tables[data[kind.by]], data, path, key, scale)
        case Table():
            for written, value in data.items():
                name = kind.spellings[written]
                unit = scale_of(written[len(name) :])
                yield from _bounded(kind.keys[name].kind, value, (*path, written), name, unit)


def _fits(kind: Kind, data: Any) -> bool:
    if isinstance(kind, Table):
        return isinstance(data, dict) and data.keys() <= kind.spellings.keys()
    is_list = isinstance(data, list)
    return is_list if isinstance(kind, ListOf) else not is_list and not isinstance(data, dict)


def owners(kind: Kind, key: str = "") -> Iterator[Owner]:
    """Yield every key whose numbers are bounded."""
    match kind:
        case Leaf() if kind.bounds():
            yield key, kind
        case ListOf() | Named():
            yield from owners(kind.kind, key)
        case Either():
            for one in kind.kinds:
                yield from owners(one, key)
        case Variants():
            for table in kind.tables.values():
                yield from owners(table)
        case Table():
            for name, below in kind.keys.items():
                yield from owners(below.kind, name)


def check_bounds(
    numbers: list[Bounded],
    data: Any,
    read: Callable[[Any], object],
    error: type[Exception] | tuple[type[Exception], ...],
) -> int:
    """Read a file with each number just outside and just inside of its bounds.

    Other rules of the file may refuse a value inside, in other words.

    Returns:
        How many values inside were accepted.
    """
    accepted = 0
    for number in numbers:
        for value, inside in number.values():
            changed = deepcopy(data)
            at(changed, number.path[:-1])[number.path[-1]] = value
            if not inside:
                with pytest.raises(error) as refused:
                    read(changed)
                assert number.words in str(refused.value), (number, value)
                continue
            try:
                read(changed)
                accepted += 1
            except error as problem:
                assert number.words not in str(problem), (number, value)
    return accepted
