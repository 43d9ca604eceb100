# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""YAML file as a tree of fields that know their line and key, which errors name.

A scalar can be read in two ways: raw, as written in the file, where ``010``, ``1:30`` or ``no``
are not converted; or as its YAML 1.1 value. No other objects are constructed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

try:
    from yaml._yaml import CParser
except ImportError:  # a PyYAML without libyaml
    CParser = None  # type: ignore[assignment, misc]

from arm_common.errors import CONTROL, InputError, joined, one_line
from arm_common.files.access import ANY_FILE, FileAccess
from arm_common.suggestions import did_you_mean

# YAML 1.1 reads 1e-3 as text; people mean a number.
_EXPONENT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+\Z")
# YAML 1.1 reads 010 as 8 and 1:30 as 90.
_MISREAD = re.compile(r"[+-]?0[\d_]|.*:")
_DATE = "tag:yaml.org,2002:timestamp"
MAX_TEXT = 10_000  # characters of a text: it is logged, shown and sent
_LONGEST_VALUE = 80  # characters of a value in a message


# An InputError class, or a factory with the same arguments.
Refusal: TypeAlias = Callable[..., Exception]


@dataclass(frozen=True)
class Field:
    """One value of the file; its methods raise errors made by `refuse`."""

    node: yaml.Node
    file: str
    key: str  # path of keys from the root, "" for the root itself
    line: int  # from 1; line of the key, or of the value itself in a list and at the root
    refuse: Refusal

    @property
    def value(self) -> Any:
        """The value by YAML 1.1, except that 1e-3 is a number and a date is text.

        None, bool, int, float, str, a list of Fields, or a dict of Fields by key.
        """
        if self.is_mapping:
            return self.mapping()
        return self.items() if self.is_list else self._scalar()

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
        """Description of the value for error messages."""
        if isinstance(self.node, yaml.CollectionNode):
            return "a mapping" if self.is_mapping else "a list"
        value = self._scalar()
        if value is None:
            return "nothing"
        # as written: `off` is false by YAML 1.1, which nobody would look for in the file
        shown = repr(value) if isinstance(value, str) else str(self.node.value).strip()
        return one_line(shown, _LONGEST_VALUE)

    def error(self, problem: str, remedy: str = "") -> Exception:
        """Return an error that names the file, line and key of this field."""
        place = {"file": self.file, "line": self.line, "key": self.key}
        return self.refuse(one_line(problem), remedy=one_line(remedy), **place)

    def mapping(
        self, allowed: Iterable[str] | None = None, required: Iterable[str] = ()
    ) -> dict[str, Field]:
        """Read a mapping; duplicate, missing and, given `allowed`, unknown keys are errors."""
        known = None if allowed is None else tuple(allowed)
        if not isinstance(self.node, yaml.MappingNode):
            remedy = "" if known is None else "with the keys " + ", ".join(known)
            raise self.error(f"must be a mapping (key: value), not {self.kind}", remedy)
        found: dict[str, Field] = {}
        for key_node, value_node in self.node.value:
            name = self._key_name(key_node)
            name = name if known is None else known_spelling(name, known)
            field = self._child(value_node, self._below(name), key_node)
            if name in found:
                raise field.error("is given twice", "delete one of the two")
            if known is not None and name not in known:
                raise field.error("is not a known key", did_you_mean(name, known))
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
        """Read a non-empty scalar as written in the file; `kind` describes it in errors."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.error(f"must be {kind}")
        text = self._bounded().strip()
        if not text or (not self.node.style and text in ("~", "null", "Null", "NULL")):
            raise self.error(f"is empty, it must be {kind}")
        return text

    def text(self) -> str:
        """Read non-empty text; a number, yes or no must be quoted."""
        text = self.raw("text")
        if not isinstance(self.value, str):
            raise self.error(f"must be text, but {text} is not", f'put it in quotes: "{text}"')
        return text

    def choice(self, options: Iterable[str]) -> str:
        """Read one of several words."""
        options = tuple(options)
        text = self.raw("one of " + ", ".join(options))
        if text not in options:
            raise self.error(f"cannot be {text!r}", did_you_mean(text, options))
        return text

    def number(self) -> float:
        """Read a finite number; what YAML 1.1 takes for another one than people is refused."""
        value = self.value
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not abs(value) <= sys.float_info.max:
            raise self.error(f"must be a finite number, not {self.kind}")
        if _MISREAD.match(str(self.node.value)):
            remedy = f"YAML reads it as {value:g}; write it without leading zeros and colons"
            raise self.error(f"{self.kind} is not a decimal number", remedy)
        return float(value)

    def _bounded(self) -> str:
        """Return the text of a scalar."""
        text = str(self.node.value)
        if len(text) > MAX_TEXT:
            raise self.error(f"has {len(text)} characters; at most {MAX_TEXT} are read")
        return text

    def _scalar(self) -> object:
        text = self._bounded()
        if not getattr(self.node, "style", None) and _EXPONENT.match(text):
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
        if CONTROL.search(node.value):
            raise self._child(node, self.key, node).error(f"{node.value!r} is not one line")
        return str(node.value)


MAX_BYTES = 1_000_000
MAX_DEPTH = 60
# Errors whose reported position is far from the unclosed token: the opening line is reported.
_OPEN_ENDED = (
    "while scanning a quoted scalar",
    "while parsing a flow mapping",
    "while parsing a flow sequence",
)
# Text that libyaml accepts and PyYAML rejects is left to PyYAML.
_DISPUTED = re.compile("[\t?!\ufeff]|[|>][-+0-9]*#")


def known_spelling(name: str, known: Collection[str]) -> str:
    """Return a key as it is declared: colour and color are one."""
    spellings = name, name.replace("colour", "color"), name.replace("color", "colour")
    return next((spelling for spelling in spellings if spelling in known), name)


class _RefusedError(yaml.composer.ComposerError):
    """What YAML allows and is refused: half a character, or a loop; its context is the remedy."""


class _LimitedComposer(yaml.composer.Composer):
    """PyYAML's composer with a limit on the nesting depth."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            mark = self.peek_event().start_mark  # type: ignore[attr-defined]
            raise yaml.composer.ComposerError(None, None, "nested too deeply", mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def compose_scalar_node(self, anchor: Any) -> yaml.ScalarNode:
        node = super().compose_scalar_node(anchor)
        try:
            node.value = joined(node.value)
        except InputError as error:
            raise _RefusedError(error.remedy, None, error.problem, node.start_mark) from None
        return node


class _Loader(_LimitedComposer, yaml.SafeLoader):
    """Pure Python loader, the reference for grammar and error messages."""


if CParser is not None:

    class _FastLoader(_LimitedComposer, CParser, yaml.resolver.Resolver):
        """libyaml loader, ten times as fast; its error messages differ."""

        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            yaml.composer.Composer.__init__(self)
            yaml.resolver.Resolver.__init__(self)


def read_yaml(
    path: Path, refuse: Refusal, max_bytes: int = MAX_BYTES, files: FileAccess = ANY_FILE
) -> Field:
    """Read a YAML file and return its root field.

    `refuse` makes all errors: an unreadable, too large, empty or invalid file, and those of the
    fields.
    """
    try:
        data = files.read(path, max_bytes)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise refuse(problem, remedy="check the path", file=str(path)) from None
    return parse_yaml(data, str(path), refuse, max_bytes)


def check_params_file(values: Mapping[str, str]) -> None:
    """Raise InputError if the argument `params_file` names no file of ROS parameters.

    Each node reports a value of its own that is invalid.
    """
    name = values["params_file"]
    if name and not Path(name).is_file():
        raise InputError(f"params_file is {name!r}, which is not a file; give a path")
    if name and not _has_parameters(read_yaml(Path(name), InputError)):
        problem = f"params_file is {name!r}, which has no ROS parameters"
        raise InputError(problem, remedy="write NODE: {ros__parameters: {NAME: VALUE}} in it")


def _has_parameters(field: Field) -> bool:
    """Return True if all below a node, or a namespace, are parameters."""
    entries = field.mapping() if field.is_mapping else {}
    return bool(entries) and all(
        value.is_mapping if key == "ros__parameters" else _has_parameters(value)
        for key, value in entries.items()
    )


def parse_yaml(data: bytes | str, name: str, refuse: Refusal, max_bytes: int = MAX_BYTES) -> Field:
    """Parse YAML text or UTF-8 bytes as `read_yaml` does; `name` is the file in errors."""
    if len(data) > max_bytes:
        problem = f"is larger than {max_bytes // 1000} kB"
        raise refuse(problem, remedy="check that it is the right file", file=name, line=1)
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        root = compose(text)
        wrong = _alias_problem(root, max_bytes)
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise _not_yaml(error, data, name, refuse) from None
    if root is None:
        raise refuse("is empty", remedy="copy a shipped file and edit it", file=name, line=1)
    if wrong:
        raise refuse(wrong, file=name, line=1)
    return Field(root, name, "", root.start_mark.line + 1, refuse)


def compose(text: str) -> yaml.Node | None:
    """Return the root node of YAML text, None if it is empty."""
    if CParser is not None and not _DISPUTED.search(text):
        with suppress(yaml.YAMLError):  # PyYAML's own parser explains it
            return yaml.compose(text, Loader=_FastLoader)  # type: ignore[arg-type]
    return yaml.compose(text, Loader=_Loader)


def load_plain(text: str) -> Any:
    """Return YAML text as plain Python values, as `yaml.safe_load` does.

    Raises:
        yaml.YAMLError: It is not valid YAML.
    """
    root = compose(text)
    try:
        return (
            None if root is None else yaml.constructor.SafeConstructor().construct_document(root)
        )
    except (ValueError, LookupError) as error:  # of dates and numbers that do not exist
        raise yaml.YAMLError(str(error)) from None


def _not_yaml(error: Exception, data: bytes | str, name: str, refuse: Refusal) -> Exception:
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return refuse("is not UTF-8 text", remedy="save it as UTF-8", file=name, line=line)
    if isinstance(error, yaml.reader.ReaderError):
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        problem = f"contains the character {chr(error.character)!r}, which YAML does not allow"
        line = text[: error.position].count("\n") + 1
        return refuse(problem, remedy="delete it", file=name, line=line)
    if not isinstance(error, yaml.MarkedYAMLError):
        return refuse("is not valid YAML", file=name, line=1)
    if isinstance(error, _RefusedError):
        at = error.problem_mark
        problem, remedy = str(error.problem), str(error.context)
        return refuse(problem, remedy=remedy, file=name, line=at and at.line + 1)
    problem = f"is not valid YAML ({one_line(error.problem or error.context or '')})"
    remedy = "check indentation, colons and quotes there"
    if "'\\t'" in problem:
        remedy = "indent with spaces, not tabs"
    mark = error.problem_mark or error.context_mark
    if error.context in _OPEN_ENDED:
        mark = error.context_mark
    return refuse(problem, remedy=remedy, file=name, line=mark and mark.line + 1)


def _alias_problem(root: yaml.Node | None, most: int) -> str:
    """Return what is wrong with the aliases of a document, or "".

    A document without aliases has fewer nodes than bytes, of which there may be ``most``.
    """
    nodes, depth = _expanded(root, (), {})
    if nodes > most:
        return f"its aliases stand for more than {most} values; write fewer repetitions"
    return f"its aliases nest values more than {MAX_DEPTH} deep" if depth > MAX_DEPTH else ""


def _expanded(
    node: yaml.Node | None, above: tuple[yaml.Node, ...], known: dict[int, tuple[int, int]]
) -> tuple[int, int]:
    """Return the number of nodes and the depth of a tree, with its aliases expanded.

    ``known`` collects both by the id of a node. An anchor is known before its aliases: each is
    entered once.
    """
    if not isinstance(node, yaml.CollectionNode):
        return 1, 1
    if id(node) in known:
        return known[id(node)]
    if node in above:
        problem = "an alias must not contain itself"
        raise _RefusedError("", None, problem, node.start_mark)
    children = node.value
    if isinstance(node, yaml.MappingNode):
        children = [child for pair in node.value for child in pair]
    sizes = [_expanded(child, (*above, node), known) for child in children]
    nodes = 1 + sum(size for size, _ in sizes)
    known[id(node)] = nodes, 1 + max((depth for _, depth in sizes), default=0)
    return known[id(node)]
