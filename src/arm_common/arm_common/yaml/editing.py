# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Values put into YAML text: only their own characters change, comments and layout stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import yaml

BOM = b"\xef\xbb\xbf"


def with_values(data: bytes, path: Sequence[str], values: Mapping[str, str]) -> bytes:
    """Return a file with keys of one of its mappings set, old ones in their places.

    Args:
        data: the file, UTF-8, without errors.
        path: keys from the root to the mapping, which must be there; () is the root.
        values: by key, as YAML text on one line.
    """
    bom = BOM if data.startswith(BOM) else b""
    text = data.decode("utf-8-sig")
    for key, value in values.items():
        text = _with_value(text, path, key, value)
    return bom + text.encode()


def value_of(mapping: yaml.MappingNode, key: str) -> yaml.Node | None:
    """Return the value of a key, None if there is none."""
    return next((value for name, value in mapping.value if name.value == key), None)


def end_of(node: yaml.Node) -> int:
    """Return where a value ends; a block's own mark lies behind the comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return end_of(last[1] if isinstance(node, yaml.MappingNode) else last)
    return int(node.end_mark.index)


def with_entry(text: str, mapping: yaml.MappingNode, entry: str) -> str:
    """Return the text with ``key: value`` behind the last of a mapping."""
    if not mapping.value:
        return text[: mapping.start_mark.index] + f"{{{entry}}}" + text[mapping.end_mark.index :]
    end = end_of(mapping.value[-1][1])
    if mapping.flow_style:
        return f"{text[:end]}, {entry}{text[end:]}"
    line_end = text.find("\n", end)  # a comment behind the last entry stays behind it
    line_end = len(text) if line_end < 0 else line_end
    line_end -= text[:line_end].endswith("\r")
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = " " * mapping.value[0][0].start_mark.column
    return f"{text[:line_end]}{newline}{indent}{entry}{text[line_end:]}"


def _with_value(text: str, path: Sequence[str], key: str, value: str) -> str:
    mapping = cast(yaml.MappingNode, yaml.compose(text, Loader=yaml.SafeLoader))
    for name in path:
        mapping = cast(yaml.MappingNode, value_of(mapping, name))
    old = value_of(mapping, key)
    if old is None:
        return with_entry(text, mapping, f"{key}: {value}")
    return text[: old.start_mark.index] + value + text[end_of(old) :]
