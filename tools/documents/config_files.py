# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The parameter files that the packages ship: every parameter of a node with its default."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from .nodes import NodeFacts, Parameter

_HEAD = """\
# Every parameter of the node {node} with its default. Copy the lines that you change.
# Pass your file with --params-file or as params_file. Made by tools/documents/write.py.
/**/{node}:
  ros__parameters:
"""


def config_files(nodes: Iterable[NodeFacts], sources: Path) -> dict[Path, str]:
    """Return the text of each parameter file by its path below the folder of the packages."""
    return {
        sources / node.program.package / "config" / f"{node.name}.yaml": _text(node)
        for node in nodes
        if node.parameters and not node.program.talks
    }


def _text(node: NodeFacts) -> str:
    lines = [line for parameter in node.parameters.values() for line in _lines(parameter)]
    return _HEAD.format(node=node.name) + "".join(f"    {line}\n" for line in lines)


def _lines(parameter: Parameter) -> Iterator[str]:
    """Yield description, range and default of a parameter; no default without a value."""
    low, high = parameter.bounds or (None, None)
    bounds = "" if low is None else f" From {low:g} to {high:g}."
    yield from textwrap.wrap(f"{parameter.text}{bounds}", 110, initial_indent="# ",
                             subsequent_indent="#   ")  # fmt: skip
    value = parameter.default
    if value is None:
        yield f"# {parameter.name}: ..."
        return
    plain = value if isinstance(value, bool | int | float | str) else list(value)
    text = yaml.safe_dump(plain, default_flow_style=True, width=1000).removesuffix("...\n")
    yield f"{parameter.name}: {text.strip()}"
