# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every source that stands in a robot file beside a number or a group of numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ..yaml_fields import Field
from .keys import ROBOT, SOURCE, SOURCED
from .kinds import Either, Kind, Leaf, ListOf, Named, Table, Variants


def sources_of(root: Field) -> Iterator[tuple[str, str]]:
    """Yield the key that a source stands at, such as ``joints[0].limits.lower``, and the source.

    Args:
        root: of a file that has been read without error.
    """
    yield from ((key, text) for key, text in _walk(root, ROBOT) if key)


def _walk(field: Field, kind: Kind) -> Iterator[tuple[str, str]]:
    if isinstance(kind, Leaf):
        if field.is_mapping:
            yield from _walk(field, SOURCED)
    elif isinstance(kind, ListOf):
        for item in field.items():
            yield from _walk(item, kind.kind)
    elif isinstance(kind, Either):
        yield from _walk(field, kind.kinds[field.is_list])
    elif isinstance(kind, Named):
        for value in field.mapping().values():
            yield from _walk(value, kind.kind)
    elif isinstance(kind, Table):
        for name, value in field.mapping().items():
            if kind.keys[name].kind is SOURCE:
                yield field.key, value.text()
            else:
                yield from _walk(value, kind.keys[name].kind)
    elif isinstance(kind, Variants):
        chosen = field.mapping()[kind.by].raw("a word")
        yield from _walk(field, kind.tables[chosen])
