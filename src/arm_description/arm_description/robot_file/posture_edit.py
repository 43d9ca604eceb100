# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Put a posture into the text of a robot file: only its own characters change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import yaml

from ..errors import DescriptionError
from .writer import flow_mapping, flow_word

SECTION = "postures"
Pairs = list[tuple[yaml.Node, yaml.Node]]


def edited(data: bytes, name: str, values: Mapping[str, str]) -> bytes:
    """Return the text with a posture added or replaced.

    Args:
        data: a robot file without errors.
        name: of the posture.
        values: joint name -> number, as text.

    Raises:
        DescriptionError: the whole file is written in braces.
    """
    bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    text = data.decode("utf-8-sig")
    return bom + _edited(text, name, values).encode()


def _edited(text: str, name: str, values: Mapping[str, str]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    posture = flow_mapping({flow_word(joint): value for joint, value in values.items()})
    entry = f"{flow_word(name)}: {posture}"
    root = cast(yaml.MappingNode, yaml.compose(text, Loader=yaml.SafeLoader))
    section = cast("yaml.MappingNode | None", _value(root.value, SECTION))
    if section is None:
        if root.flow_style:
            raise DescriptionError(
                "the whole file is in braces {}", remedy="write one key a line, without them"
            )
        lines = f"{newline}{SECTION}:{newline}  {entry}{newline}"
        return f"{_before_document_end(text, newline)}{lines}"
    old = _value(section.value, name)
    if old is None:
        return _added(text, section, entry, newline)
    if {key.value for key, _ in old.value} == set(values):
        return _renumbered(text, old.value, values)
    return text[: old.start_mark.index] + posture + text[_end(old) :]


def _before_document_end(text: str, newline: str) -> str:
    """The text without a closing ``...``, behind which nothing may stand."""
    text = text.rstrip().removesuffix("...") if text.rstrip().endswith("\n...") else text
    return text if text.endswith("\n") else text + newline


def _added(text: str, section: yaml.MappingNode, entry: str, newline: str) -> str:
    """The section with an entry after its last."""
    if not section.value:
        return text[: section.start_mark.index] + f"{{{entry}}}" + text[section.end_mark.index :]
    end = _end(section.value[-1][1])
    if section.flow_style:
        return f"{text[:end]}, {entry}{text[end:]}"
    line_end = text.find("\n", end)  # a comment behind the last entry stays behind it
    line_end = len(text) if line_end < 0 else line_end
    line_end -= text[:line_end].endswith("\r")
    indent = " " * section.value[0][0].start_mark.column
    return f"{text[:line_end]}{newline}{indent}{entry}{text[line_end:]}"


def _renumbered(text: str, old: Pairs, values: Mapping[str, str]) -> str:
    """The posture with other numbers in the same places."""
    for key, node in sorted(old, key=lambda pair: -pair[1].start_mark.index):
        start, end = node.start_mark.index, _end(node)
        text = text[:start] + values[key.value] + text[end:]
    return text


def _value(pairs: Pairs, name: str) -> yaml.Node | None:
    return next((value for key, value in pairs if key.value == name), None)


def _end(node: yaml.Node) -> int:
    """Where a value ends; a block's own mark lies behind the comments that follow it."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _end(node.value[-1][1])
    return int(node.end_mark.index)
