# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A YAML file as a tree of fields that know their line and key, so that every error can say both.

A scalar can be read in two ways: raw, as it stands in the file, where ``010``, ``1:30`` or ``no``
never turn into another value behind the writer's back; or as the value that YAML 1.1 gives it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import yaml

from .errors import one_line
from .nearest import nearest

# YAML 1.1 reads 1e-3 as text; people mean a number.
_EXPONENT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+\Z")
_DATE = "tag:yaml.org,2002:timestamp"


class Refusal(Protocol):
    """An error class, or what makes an error, of one kind of file."""

    def __call__(
        self,
        problem: str,
        /,
        *,
        remedy: str = ...,
        file: str = ...,
        line: int = ...,
        key: str = ...,
    ) -> Exception:
        """Return the error; problem and remedy have no final point."""


@dataclass(frozen=True)
class Field:
    """One value of the file; all that its methods raise is what `refuse` makes.

    Attributes:
        node: the YAML node.
        file: name of the file.
        key: path of keys from the root, "" for the root itself.
        line: line of the value's key, in a list or at the root of the value itself, from 1.
        refuse: makes the errors.
    """

    node: yaml.Node
    file: str
    key: str
    line: int
    refuse: Refusal

    @property
    def value(self) -> Any:
        """What YAML 1.1 reads, except that 1e-3 is a number and a date is text.

        None, bool, int, float, str, a list of Fields, or a dict of Fields by key.
        """
        if isinstance(self.node, yaml.MappingNode):
            return self.mapping()
        return self.items() if isinstance(self.node, yaml.SequenceNode) else self._scalar()

    @property
    def is_mapping(self) -> bool:
        """Whether the value is a mapping."""
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def kind(self) -> str:
        """What the value is, in words."""
        if isinstance(self.node, yaml.CollectionNode):
            return "a mapping" if isinstance(self.node, yaml.MappingNode) else "a list"
        value = self._scalar()
        return "nothing" if value is None else repr(value)

    def error(self, problem: str, remedy: str = "") -> Exception:
        """Build the error that names this field's file, line and key."""
        return self.refuse(
            one_line(problem),
            remedy=one_line(remedy),
            file=self.file,
            line=self.line,
            key=self.key,
        )

    def mapping(
        self, allowed: Iterable[str] | None = None, required: Iterable[str] = ()
    ) -> dict[str, Field]:
        """Read a mapping, without a key twice, unknown or missing.

        Args:
            allowed: the keys it may have, None for any.
            required: the keys it must have.
        """
        known = None if allowed is None else tuple(allowed)
        if not isinstance(self.node, yaml.MappingNode):
            remedy = "" if known is None else "with the keys " + ", ".join(known)
            raise self.error(f"must be a mapping (key: value), not {self.kind}", remedy)
        found: dict[str, Field] = {}
        for key_node, value_node in self.node.value:
            name = self._key_name(key_node)
            field = self._child(value_node, self._below(name), key_node)
            if name in found:
                raise field.error("is given twice", "delete one of the two")
            if known is not None and name not in known:
                raise field.error("is not a known key", nearest(name, known))
            found[name] = field
        for name in required:
            if name not in found:
                raise self.error(f"has no {name!r}", f"add {self._below(name)}")
        return found

    def items(self) -> list[Field]:
        """Read a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error("must be a list", "write one '- ...' row each, or [.., ..]")
        return [
            self._child(node, f"{self.key}[{index}]", node)
            for index, node in enumerate(self.node.value)
        ]

    def raw(self, kind: str) -> str:
        """Read a scalar that is not empty as it stands in the file.

        Args:
            kind: what is expected, for the error.
        """
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.error(f"must be {kind}")
        text = str(self.node.value).strip()
        if not text or (self.node.style is None and text in ("~", "null", "Null", "NULL")):
            raise self.error(f"is empty, it must be {kind}")
        return text

    def text(self) -> str:
        """Read text that is not empty; a number, yes or no must be in quotes."""
        text = self.raw("text")
        if not isinstance(self.value, str):
            raise self.error(f"must be text, {text} is not", f'put it in quotes: "{text}"')
        return text

    def choice(self, options: Iterable[str]) -> str:
        """Read one of a few words."""
        options = tuple(options)
        text = self.raw("one of " + ", ".join(options))
        if text not in options:
            raise self.error(f"cannot be {text!r}", nearest(text, options))
        return text

    def number(self) -> float:
        """Read a finite number, as YAML 1.1 reads it."""
        value = self.value
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not abs(value) <= sys.float_info.max:
            raise self.error(f"must be a finite number, not {self.kind}")
        return float(value)

    def _scalar(self) -> object:
        text = str(self.node.value)
        if getattr(self.node, "style", None) is None and _EXPONENT.match(text):
            return float(text)
        if self.node.tag == _DATE:
            return text
        try:
            value = yaml.constructor.SafeConstructor().construct_object(self.node, deep=True)
        except (yaml.YAMLError, ValueError, LookupError):
            raise self.error(f"{text!r} cannot be read", "put it in quotes") from None
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise self.error(f"{text!r} is neither text nor a number", "put it in quotes")

    def _child(self, node: yaml.Node, key: str, at: yaml.Node) -> Field:
        return Field(node, self.file, key, at.start_mark.line + 1, self.refuse)

    def _below(self, name: str) -> str:
        shown = one_line(name, 100) or "''"
        return f"{self.key}.{shown}" if self.key else shown

    def _key_name(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.value == "<<":
            raise self._child(node, self.key, node).error("a key must be a single word")
        return str(node.value)
