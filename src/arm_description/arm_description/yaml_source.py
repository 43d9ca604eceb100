# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From a YAML file or text to its root field; nothing is constructed from it but text."""

from __future__ import annotations

from pathlib import Path

import yaml

from .errors import one_line
from .yaml_fields import Field, Refusal

# The reader takes some seconds for that much.
MAX_BYTES = 1_000_000
MOST_NESTED = 60
# What may end far below the place where its end was forgotten.
_OPEN_ENDED = (
    "while scanning a quoted scalar",
    "while parsing a flow mapping",
    "while parsing a flow sequence",
)


class _Loader(yaml.SafeLoader):
    """Composes nodes as PyYAML does, but no deeper than any file needs."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._depth += 1
        if self._depth > MOST_NESTED:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "nested too deeply", mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def read_yaml(path: Path, refuse: Refusal, most: int = MAX_BYTES) -> Field:
    """Read a file into its root field.

    Args:
        path: the file.
        refuse: the error class of the kind of file; raised if the file cannot be read, is empty,
            or is not YAML, and later by the fields.
        most: bytes that such a file may have.
    """
    name = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise refuse(
            f"cannot be read ({error.strerror})", remedy="check the path", file=name
        ) from None
    return parse_yaml(data, name, refuse, most)


def parse_yaml(data: bytes | str, name: str, refuse: Refusal, most: int = MAX_BYTES) -> Field:
    """Parse YAML text into its root field.

    Args:
        data: the text, or its bytes in UTF-8.
        name: name of the file, for errors.
        refuse: as of read_yaml.
        most: as of read_yaml.
    """
    if len(data) > most:
        problem = f"is larger than {most // 1000} kB"
        raise refuse(problem, remedy="is it the right file?", file=name, line=1)
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        root = yaml.compose(text, Loader=_Loader)
        looped = _looped(root, (), set())
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise _not_yaml(error, data, name, refuse) from None
    if root is None:
        raise refuse("is empty", remedy="copy a shipped file and edit it", file=name, line=1)
    if looped is not None:
        line = looped.start_mark.line + 1
        raise refuse("an alias that contains itself is not possible", file=name, line=line)
    return Field(root, name, "", root.start_mark.line + 1, refuse)


def _not_yaml(error: Exception, data: bytes | str, name: str, refuse: Refusal) -> Exception:
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return refuse("is not UTF-8 text", remedy="save it as UTF-8", file=name, line=line)
    if isinstance(error, yaml.reader.ReaderError):
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        problem = f"holds the character {chr(error.character)!r}, which YAML does not allow"
        line = text[: error.position].count("\n") + 1
        return refuse(problem, remedy="delete it", file=name, line=line)
    if not isinstance(error, yaml.MarkedYAMLError):
        return refuse("is not valid YAML", file=name, line=1)
    problem = f"is not valid YAML ({one_line(error.problem or error.context or '')})"
    remedy = "check indentation, colons and quotes there"
    if "'\\t'" in problem:
        remedy = "indent with blanks, not with tabs"
    mark = error.problem_mark or error.context_mark
    if error.context in _OPEN_ENDED:
        mark = error.context_mark
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
