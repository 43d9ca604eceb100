# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Typed access to the keys of a YAML mapping, with errors as sentences and no key left unread."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from arm_description.nearest import nearest
from arm_description.yaml_fields import Field

Array = npt.NDArray[np.float64]
_T = TypeVar("_T")
_MM = 1e-3


class Keys:
    """The keys of one mapping; every get marks its key as read, finish() refuses the others.

    Lengths may be written in metres (`pitch`) or in millimetres (`pitch_mm`), angles in radians
    (`tilt`) or degrees (`tilt_deg`); the getters below return metres and radians.

    Args:
        item: The mapping.
        what: What the mapping is, for errors, such as "bolt upper_bolt".
        items: Its keys, if they are not those that the file has there.
    """

    def __init__(self, item: Field, what: str, items: dict[str, Field] | None = None) -> None:
        self.item = item
        self.what = what
        self._items = item.mapping() if items is None else items
        self._asked: set[str] = set()

    def fail(self, what: str, item: Field | None = None) -> Exception:
        """Return the error that says what is wrong, at item or at this mapping."""
        at = item or self.item
        return at.refuse(f"{self.what}: {what}", file=at.file, line=at.line)

    def get(self, *names: str) -> tuple[str, Field] | None:
        """Return which of the names is present, and its value; two of them at once are refused."""
        self._asked.update(names)
        found = [name for name in names if name in self._items]
        if len(found) > 1:
            raise self.fail(f"give either {' or '.join(found)}, not both", self._items[found[1]])
        if not found or self._items[found[0]].value is None:
            return None
        return found[0], self._items[found[0]]

    def has(self, *names: str) -> bool:
        """Return whether one of the names is present."""
        return self.get(*names) is not None

    def item_of(self, name: str) -> Field:
        """Return the value of a key that must be there."""
        found = self.get(name)
        if found is None:
            raise self._missing(name)
        return found[1]

    def text(self, name: str, default: str | None = None) -> str:
        """Return a word or a line of text."""
        found = self.get(name)
        if found is None:
            return self._default(name, default)
        if not isinstance(found[1].value, str) or not found[1].value.strip():
            raise self.fail(f"{name} must be text, not {found[1].kind}", found[1])
        return found[1].value

    def choice(self, name: str, among: Sequence[str], default: str | None = None) -> str:
        """Return a word that must be one of a few."""
        value = self.text(name, default)
        if value not in among:
            found = self.get(name)
            what = f"{name} cannot be '{value}'; {nearest(value, among)}"
            raise self.fail(what, found[1] if found else None)
        return value

    def number(
        self,
        name: str,
        default: float | None = None,
        above: float = -math.inf,
        least: float = -math.inf,
        most: float = math.inf,
    ) -> float:
        """Return a finite number greater than above, and in [least, most]."""
        return self._quantity({name: 1.0}, default, above, least, most)

    def count(self, name: str, default: int | None = None, least: int = 0) -> int:
        """Return a whole number."""
        value = self.number(name, default, least=least)
        if value != int(value):
            raise self.fail(f"{name} must be a whole number, not {value:g}", self.item_of(name))
        return int(value)

    def length(self, name: str, default: float | None = None, above: float = -math.inf) -> float:
        """Return a length [m], written in m or, with the suffix _mm, in millimetres."""
        units = {name: 1.0, f"{name}_mm": _MM}
        return self._quantity(units, default, above, -math.inf, math.inf)

    def angle(
        self,
        name: str,
        default: float | None = None,
        least: float = -math.inf,
        most: float = math.inf,
    ) -> float:
        """Return an angle [rad], written in rad or, with the suffix _deg, in degrees."""
        units = {name: 1.0, f"{name}_deg": math.pi / 180.0}
        return self._quantity(units, default, -math.inf, least, most)

    def lengths(self, name: str, count: int = 3, default: Sequence[float] | None = None) -> Array:
        """Return a list of lengths (count,) [m], written in m or with the suffix _mm."""
        return self._list({name: 1.0, f"{name}_mm": _MM}, count, default)

    def angles(self, name: str, count: int = 3, default: Sequence[float] | None = None) -> Array:
        """Return a list of angles (count,) [rad], written in rad or with the suffix _deg."""
        return self._list({name: 1.0, f"{name}_deg": math.pi / 180.0}, count, default)

    def numbers(self, name: str, count: int, default: Sequence[float] | None = None) -> Array:
        """Return a list of plain numbers (count,)."""
        return self._list({name: 1.0}, count, default)

    def children(self, name: str) -> dict[str, Field]:
        """Return the named parts of a section that may be missing."""
        found = self.get(name)
        if found is None:
            return {}
        if not isinstance(found[1].value, dict):
            raise self.fail(f"{name} must hold names with keys, not {found[1].kind}", found[1])
        return dict(found[1].value)

    def finish(self) -> None:
        """Refuse the first key that was never asked for."""
        for key, item in self._items.items():
            if key not in self._asked:
                raise self.fail(f"unknown key '{key}'; {nearest(key, sorted(self._asked))}", item)

    def _quantity(
        self,
        units: dict[str, float],
        default: float | None,
        above: float,
        least: float,
        most: float,
    ) -> float:
        found = self.get(*units)
        if found is None:
            return float(self._default(next(iter(units)), default))
        name, item = found
        value = item.number() * units[name]
        if value <= above or not least <= value <= most:
            scale = units[name]
            limits = [f"above {above / scale:g}"] if math.isfinite(above) else []
            limits += [f"at least {least / scale:g}"] if math.isfinite(least) else []
            limits += [f"at most {most / scale:g}"] if math.isfinite(most) else []
            raise self.fail(f"{name} is {item.value:g} but must be {' and '.join(limits)}", item)
        return value

    def _list(self, units: dict[str, float], count: int, default: Sequence[float] | None) -> Array:
        found = self.get(*units)
        if found is None:
            return np.array(self._default(next(iter(units)), default), dtype=np.float64)
        name, item = found
        if not isinstance(item.value, list) or len(item.value) != count:
            raise self.fail(f"{name} must be a list of {count} numbers, not {item.kind}", item)
        return np.array([child.number() for child in item.value]) * units[name]

    def _default(self, name: str, default: _T | None) -> _T:
        if default is None:
            raise self._missing(name)
        return default

    def _missing(self, name: str) -> Exception:
        for key, item in self._items.items():
            alike = difflib.get_close_matches(key, (name, f"{name}_mm", f"{name}_deg"), 1, 0.75)
            if alike and key not in self._asked:
                return self.fail(
                    f"the key '{name}' is missing; write '{alike[0]}', not '{key}'", item
                )
        return self.fail(f"the key '{name}' is missing")
