# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The constants of a robot file with their comments, which the model does not keep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import DescriptionError
from ..yaml_fields import Field
from ..yaml_source import read_yaml
from .keys import SOURCED
from .scope import read_scope, read_units, sourced_value


@dataclass(frozen=True)
class Constant:
    """A named number of a file, in the file's units.

    Attributes:
        name: its name.
        text: the number or expression as it is written.
        value: what that is.
        comment: what is written behind it, mostly its source.
    """

    name: str
    text: str
    value: float
    comment: str


def read_constants(path: Path) -> tuple[Constant, ...]:
    """Read the constants of a robot file.

    Raises:
        DescriptionError: the file cannot be read, or one of them is wrong.
    """
    keys = read_yaml(path, DescriptionError).mapping()
    if "constants" not in keys or "units" not in keys:
        return ()
    scope = read_scope(read_units(keys["units"]), keys["constants"])
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    return tuple(
        Constant(
            name,
            sourced_value(field).raw("a number"),
            scope.expressions.constant(name),
            _comment(field, lines),
        )
        for name, field in keys["constants"].mapping().items()
    )


def _comment(field: Field, lines: list[str]) -> str:
    """The source that stands with a constant, or else the comment behind it."""
    if field.is_mapping:
        return SOURCED.read(field)["source"].text()
    return lines[field.line - 1].partition(" #")[2].strip()
