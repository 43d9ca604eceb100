# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Put a posture into the text of a robot file: only its own characters change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import yaml

from ..errors import DescriptionError
from ..yaml_edit import end_of, value_of, with_entry
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
    section = cast("yaml.MappingNode | None", value_of(root, SECTION))
    if section is None:
        if root.flow_style:
            raise DescriptionError(
                "the whole file is in braces {}", remedy="write one key a line, without them"
            )
        lines = f"{newline}{SECTION}:{newline}  {entry}{newline}"
        return f"{_before_document_end(text, newline)}{lines}"
    old = value_of(section, name)
    if old is None:
        return with_entry(text, section, entry)
    if {key.value for key, _ in old.value} == set(values):
        return _renumbered(text, old.value, values)
    return text[: old.start_mark.index] + posture + text[end_of(old) :]


def _before_document_end(text: str, newline: str) -> str:
    """The text without a closing ``...``, behind which nothing may stand."""
    text = text.rstrip().removesuffix("...") if text.rstrip().endswith("\n...") else text
    return text if text.endswith("\n") else text + newline


def _renumbered(text: str, old: Pairs, values: Mapping[str, str]) -> str:
    """The posture with other numbers in the same places."""
    for key, node in sorted(old, key=lambda pair: -pair[1].start_mark.index):
        start, end = node.start_mark.index, end_of(node)
        text = text[:start] + values[key.value] + text[end:]
    return text
