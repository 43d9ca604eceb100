# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/task/test_parser.py
"""Typed access to the keys of a YAML mapping, and the variables of a task file.

Variables are used as numbers in expressions, and as texts: $name, or $(expression) within a text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from arm_common.errors import CONTROL, InputError, exact_text
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array
from arm_common.yaml.document import MAX_TEXT, Field, known_spelling
from arm_common.yaml.expressions import Expressions, constant_name_problem
from arm_common.yaml.schema_types import Choice, ListOf, Table

_NAMED = re.compile(r"\$(\w*)")  # $name
_MISREAD = re.compile(r"[-+]?0\w|.*[_:]")  # no decimal number: 010, 0x10, 1_0, 1:30
_WORD = re.compile(r"\w+")
_WITHIN = re.compile(r"\$\(((?:[^()]|\([^()]*\))*)\)")  # $(expression), which may have parentheses


@dataclass(frozen=True)
class Variables:
    """Values by name, each a number, an expression over the others, or a text."""

    texts: Mapping[str, str] = field(default_factory=dict)  # as written
    fields: Mapping[str, Field] = field(default_factory=dict)  # their locations, for errors

    @classmethod
    def read(cls, own: Mapping[str, Field], arguments: Variables | None = None) -> Variables:
        """Return the variables of a file, overridden by the arguments of a calling task."""
        for name, value in own.items():
            problem = constant_name_problem(name)
            if problem:
                raise value.error(problem)
        texts = {
            name: value.raw("a number, an expression or a text") for name, value in own.items()
        }
        arguments = arguments or NO_VARIABLES
        for name, value in arguments.fields.items():
            if name not in own:
                raise value.error(f"the task has no variable {name!r}", did_you_mean(name, own))
        return cls({**texts, **arguments.texts}, {**own, **arguments.fields})

    def evaluate_arguments(self, arguments: Mapping[str, Field]) -> Variables:
        """Return the arguments of a call, with their expressions evaluated in these variables."""
        return Variables({k: self._argument(v) for k, v in arguments.items()}, dict(arguments))

    def with_values(self, values: Mapping[str, Field | int]) -> Variables:
        """Return these variables and those of a loop, whose values are in terms of these."""
        fields = {name: v for name, v in values.items() if isinstance(v, Field)}
        numbers = {name: str(v) for name, v in values.items() if isinstance(v, int)}
        evaluated = self.evaluate_arguments(fields).texts
        return Variables({**self.texts, **evaluated, **numbers}, {**self.fields, **fields})

    def number(self, item: Field, degrees: bool = False) -> float:
        """Return a finite number or the value of an expression, whose angles may be in degrees."""
        value = item.value
        misread = isinstance(value, int | float) and _MISREAD.match(item.raw("a number"))
        if not isinstance(value, str) and not misread:
            return item.number()
        try:
            return self._expressions(degrees).evaluate(item.raw("a number"))
        except InputError as error:
            at = self.fields.get(error.key, item)
            raise at.error(error.problem, error.remedy) from None

    def text(self, item: Field) -> str:
        """Return a text with the values of its variables.

        `$name` is the text of a variable. Within a text, `$(expression)` is the value of an
        expression, or the text of a variable.
        """
        text = item.raw("text")
        if "$" not in text:
            return text
        if text[1:] in self.texts and text[0] == "$":
            return self.texts[text[1:]]
        for found in _NAMED.finditer(text):
            self._refuse_name(found[1].rstrip("_"), text, item)
        if "$(" in _WITHIN.sub("", self._limit(text, item)):
            raise item.error("$( has no matching )", "nest at most one pair of parentheses in it")
        return self._limit(_WITHIN.sub(lambda found: self._within(found[1], item), text), item)

    def literal(self, item: Field) -> str:
        """Return a text without `$`; refuse one that reads as the value of a variable."""
        text = item.raw("text")
        if not self.texts.keys() & set(_WORD.findall(text)) or not self._has_value(text):
            return text
        remedy = f"write {f'${text}' if text in self.texts else f'$({text})'} for its value"
        raise item.error(f"{text!r} is a text here, not the value of a variable", remedy)

    def _has_value(self, text: str) -> bool:
        return text in self.texts or self._value(text) != text

    def _refuse_name(self, name: str, text: str, item: Field) -> None:
        """Refuse a $name that is only part of a text, or unknown; `$5` and `$(...)` are none."""
        if name in self.texts:
            raise item.error(f"${name} is only part of the text", f"write $({name})")
        if name[:1].isalpha() or text == f"${name}":
            remedy = did_you_mean(name, self.texts)
            raise item.error(f"{name!r} is not a variable of this file", remedy)

    @staticmethod
    def _limit(text: str, item: Field) -> str:
        if len(text) > MAX_TEXT:  # nested loops could multiply it
            raise item.error(f"is a text of more than {MAX_TEXT} characters")
        return text

    def _within(self, text: str, item: Field) -> str:
        text = text.strip()
        if text in self.texts:
            return self._value(self.texts[text])
        try:
            return exact_text(self._expressions(degrees=False).evaluate(text))
        except InputError as error:
            raise item.error(error.problem, error.remedy) from None

    def _argument(self, item: Field) -> str:
        return self._value(self.text(item) if "$" in item.raw("a value") else item.raw("a value"))

    def _value(self, text: str) -> str:
        """Return the value of an expression, or a text that is none."""
        try:
            return exact_text(self._expressions(degrees=False).evaluate(text))
        except InputError:
            return text  # reported where it is used as a number

    def _expressions(self, degrees: bool) -> Expressions:
        return Expressions(self.texts, SUFFIXES["_deg"].scale if degrees else 1.0, noun="variable")


NO_VARIABLES = Variables()

_T = TypeVar("_T")
_DEGREE = math.pi / 180.0


@dataclass(frozen=True)
class Suffix:
    """A unit that ends the name of a key, such as ``width_mm``."""

    scale: float  # its SI value
    unit: str  # the SI unit, without the suffix
    most: float  # largest absolute value [SI unit]
    rule: str  # the same for people


MAX_LENGTH = 10.0  # [m] or [m/s]
MAX_TURNS = 10  # of an angle
SUFFIXES = {
    "_mm": Suffix(1e-3, "m", MAX_LENGTH, f"nothing may be larger than {MAX_LENGTH:g} m"),
    "_deg": Suffix(_DEGREE, "rad", MAX_TURNS * math.tau, f"no angle may exceed {MAX_TURNS} turns"),
}


def scale_of(name: str) -> float:
    """Return the SI value of the unit that ends the name of a key, 1 if none does."""
    return next((unit.scale for end, unit in SUFFIXES.items() if name.endswith(end)), 1.0)


class TypedMapping:
    """Keys of one mapping, checked against a table: none unknown, missing or in two units.

    Lengths may be written in metres (`pitch`) or in millimetres (`pitch_mm`), angles in radians
    (`tilt`) or degrees (`tilt_deg`); all getters return metres and radians. A number may be an
    expression over the variables of the file, and a text may have their values (`Variables.text`).

    Args:
        item: The mapping.
        what: Description of the mapping for errors, such as "bolt upper_bolt".
        table: The allowed keys.
        variables: Variables of the file; None if neither variables nor expressions are allowed.
        items: Values by key, if they are not those of the mapping itself.
    """

    def __init__(
        self,
        item: Field,
        what: str,
        table: Table,
        variables: Variables | None = None,
        items: Mapping[str, Field] | None = None,
    ) -> None:
        self.item = item
        self.what = what
        self.variables = variables
        self._table = table
        known = table.spellings
        if items is None:
            written_items = item.mapping()
            items = {known_spelling(name, known): at for name, at in written_items.items()}
            if len(items) < len(written_items):
                raise self.fail("a key is given in two spellings; delete one of the two")
        self._items = items
        for written, value in self._items.items():
            if written not in known:
                raise self.fail(f"unknown key '{written}'; {did_you_mean(written, known)}", value)
        for name, key in table.keys.items():
            if self.find(name) is None and key.required:
                raise self.fail(f"the key '{name}' is missing")

    def fail(self, problem: str, item: Field | None = None) -> Exception:
        """Return an error at an item, by default at this mapping."""
        at = item or self.item
        return at.refuse(f"{self.what}: {problem}", file=at.file, line=at.line)

    def find(self, name: str) -> tuple[str, Field] | None:
        """Return a key as written and its value, None if it is missing.

        Both spellings at once are an error.
        """
        spellings = (name, f"{name}{self._table.keys[name].suffix}")
        found = [(key, self._items[key]) for key in dict.fromkeys(spellings) if key in self._items]
        if len(found) > 1:
            raise self.fail(f"give either {' or '.join(spellings)}, not both", found[1][1])
        return found[0] if found and found[0][1].value is not None else None

    def has(self, name: str) -> bool:
        """Return whether a key is present."""
        return self.find(name) is not None

    def require(self, name: str) -> Field:
        """Return the value of a required key."""
        found = self.find(name)
        if found is None:
            raise self.fail(f"the key '{name}' is missing")
        return found[1]

    def value(self, name: str) -> Any:
        """Return a text, truth or number; if it is omitted its default, else "" or None."""
        form = self._table.leaf(name).form
        if form == "text":
            return self.text(name, "")
        if form == "truth":
            return self.truth(name)
        return self.optional(name)

    def text(self, name: str, otherwise: str | None = None) -> str:
        """Return a word or a line of text."""
        found = self.find(name)
        if found is None:
            return self._default(name, otherwise)
        if not isinstance(found[1].value, str) or not found[1].value.strip():
            raise self.fail(f"{name} must be text, not {found[1].kind}", found[1])
        text = found[1].value if self.variables is None else self.variables.text(found[1])
        if CONTROL.search(text):
            raise self.fail(f"{name} must be one line, not {found[1].kind}", found[1])
        return text

    def choice(self, name: str, otherwise: str | None = None, among: Sequence[str] = ()) -> str:
        """Return one of its declared words, or of the names ``among`` which it chooses."""
        value = self.text(name, otherwise)
        kind = self._table.keys[name].kind
        among = kind.words if isinstance(kind, Choice) else among
        if value not in among:
            found = self.find(name)
            problem = f"{name} cannot be '{value}'; {did_you_mean(value, among)}"
            raise self.fail(problem, found[1] if found else None)
        return value

    def truth(self, name: str) -> bool | None:
        """Return true or false; if it is omitted its default or None."""
        found = self.find(name)
        if found is None:
            default: bool | None = self._table.keys[name].default
            return default
        if not isinstance(found[1].value, bool):
            raise self.fail(f"{name} must be true or false, not {found[1].kind}", found[1])
        return found[1].value

    def number(self, name: str, otherwise: float | None = None, most: float = math.inf) -> float:
        """Return a finite number (metres, radians) within its bounds.

        Args:
            name: of the key.
            otherwise: its value if it is omitted and its table has no default.
            most: a bound besides the declared ones, by other keys.
        """
        found = self.find(name)
        if found is None:
            return float(self._default(name, otherwise))
        return self._number(name, *found, most)

    def _number(
        self, name: str, written: str, item: Field, most: float = math.inf, label: str = ""
    ) -> float:
        leaf, scale = self._table.leaf(name), scale_of(written)
        value = self.read_number(item, written.endswith("_deg")) * scale
        if leaf.form == "whole" and value != int(value):
            raise self.fail(f"{name} must be a whole number, not {value:g}", item)
        if most < leaf.most:
            leaf = replace(leaf, most=most)
        if not leaf.allows(value):
            problem = f"{written} is {value / scale:g} but must be {leaf.bounds(scale)}"
            raise self.fail(problem, item)
        unit = SUFFIXES.get(leaf.suffix)
        if unit is None or abs(value) <= unit.most:
            return value
        hint = "" if written.endswith(leaf.suffix) else f"; is `{leaf.suffix}` missing?"
        raise self.fail(f"{label or name} is {value:g} {unit.unit}, but {unit.rule}{hint}", item)

    def count(self, name: str) -> int:
        """Return a whole number."""
        return int(self.number(name))

    def numbers(self, name: str) -> Array:
        """Return an array of as many numbers as its list has (metres, radians)."""
        found, kind = self.find(name), self._table.keys[name].kind
        if found is None:
            return np.array(self._default(name), dtype=np.float64)
        written, item = found
        assert isinstance(kind, ListOf)
        if not item.is_list or len(item.items()) != kind.least:
            found_kind = f"of {len(item.items())}" if item.is_list else item.kind
            problem = f"{name} must be a list of {kind.least} numbers, not {found_kind}"
            raise self.fail(problem, item)
        return np.array([self._number(name, written, child) for child in item.items()])

    def named_numbers(self, name: str) -> dict[str, float]:
        """Return the numbers of a section by name (metres, radians)."""
        written, _ = self.find(name) or (name, None)
        children = self.children(name)
        return {k: self._number(name, written, item, label=k) for k, item in children.items()}

    def children(self, name: str) -> dict[str, Field]:
        """Return the values of an optional section by name."""
        found = self.find(name)
        if found is None:
            return {}
        if not found[1].is_mapping:
            raise self.fail(f"{name} must be a mapping of names, not {found[1].kind}", found[1])
        return found[1].mapping()

    def read_number(self, item: Field, degrees: bool = False) -> float:
        """Return a number or the value of an expression, whose angles may be in degrees."""
        return item.number() if self.variables is None else self.variables.number(item, degrees)

    def optional(self, name: str) -> float | None:
        """Return a number, or None if it is omitted and has no default."""
        return self.number(name) if self.has(name) else self._table.keys[name].default

    def _default(self, name: str, otherwise: _T | None = None) -> _T:
        declared: _T | None = self._table.keys[name].default
        default = otherwise if declared is None else declared
        if default is None:
            raise self.fail(f"the key '{name}' is missing")
        return default
