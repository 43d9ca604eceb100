# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From a YAML file or text to its root field; nothing is constructed from it but text."""

from __future__ import annotations

from pathlib import Path

import yaml

from .yaml_fields import Field, Refusal

MAX_BYTES = 1_000_000


def read_yaml(path: Path, refuse: Refusal) -> Field:
    """Read a file into its root field.

    Args:
        path: the file.
        refuse: the error class of the kind of file; raised if the file cannot be read, is empty,
            or is not YAML, and later by the fields.
    """
    name = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise refuse(
            f"cannot be read ({error.strerror})", remedy="check the path", file=name
        ) from None
    if len(data) > MAX_BYTES:
        raise refuse("is larger than 1 MB", remedy="is it the right file?", file=name)
    return parse_yaml(data, name, refuse)


def parse_yaml(data: bytes | str, name: str, refuse: Refusal) -> Field:
    """Parse YAML text into its root field.

    Args:
        data: the text, or its bytes in UTF-8.
        name: name of the file, for errors.
        refuse: as of read_yaml.
    """
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        looped = _looped(root, (), set())
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise _not_yaml(error, name, refuse) from None
    if root is None:
        raise refuse("is empty", remedy="copy a shipped file and edit it", file=name)
    if looped is not None:
        line = looped.start_mark.line + 1
        raise refuse("an alias that contains itself is not possible", file=name, line=line)
    return Field(root, name, "", root.start_mark.line + 1, refuse)


def _not_yaml(error: Exception, name: str, refuse: Refusal) -> Exception:
    if isinstance(error, RecursionError):
        return refuse("is nested too deeply", file=name)
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return refuse("is not UTF-8 text", remedy="save it as UTF-8", file=name, line=line)
    if not isinstance(error, yaml.MarkedYAMLError):
        problem = "holds a character that YAML does not allow"
        return refuse(problem, remedy="delete it", file=name)
    problem = f"is not valid YAML ({error.problem or error.context})"
    remedy = "check indentation, colons and quotes there"
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return refuse(problem, remedy=remedy, file=name)
    return refuse(problem, remedy=remedy, file=name, line=mark.line + 1)


def _looped(
    node: yaml.Node | None, above: tuple[yaml.Node, ...], clear: set[int]
) -> yaml.Node | None:
    """Return a node that contains itself, or None; clear gathers the ids of those that do not."""
    if not isinstance(node, yaml.CollectionNode) or id(node) in clear:
        return None
    if node in above:
        return node
    children = node.value
    if isinstance(node, yaml.MappingNode):
        children = [child for pair in node.value for child in pair]
    found = (_looped(child, (*above, node), clear) for child in children)
    looped = next((node for node in found if node is not None), None)
    clear.add(id(node))
    return looped
