# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plugins: parts that are looked up by name and imported when they are used.

Each kind of plugin is a `PluginGroup`, declared where its plugins are used. It lists the shipped
ones; any installed package adds others as entry points of the same group:

    entry_points={"arm_kinematics.marker_layers": ["shadow = my_package.shadow:LAYER"]}

They are read without importlib.metadata, whose import and search take seven times as long and,
in every node, 3 MB.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from arm_common.errors import InputError, one_line
from arm_common.suggestions import did_you_mean

T = TypeVar("T")


def _empty() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True)
class PluginGroup:
    """One kind of plugin.

    Attributes:
        group: name of the group of entry points, such as "arm_viewer.panels".
        kind: what one plugin is, for errors, such as "panel".
        shipped: "module:object" by name of those that are found without entry points.
    """

    group: str
    kind: str
    shipped: Mapping[str, str] = field(default_factory=_empty)

    @cached_property
    def _installed(self) -> Mapping[str, str]:
        references = dict[str, str]()
        for file in entry_point_files(sys.path):
            for name, reference in entry_points(file, self.group).items():
                if name not in self.shipped:
                    references.setdefault(name, reference)  # the first counts, as in imports
        return references

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all plugins: the shipped ones, then those of entry points, sorted."""
        return (*self.shipped, *sorted(self._installed))

    def load(self, name: str) -> Any:
        """Return a plugin.

        Raises:
            InputError: there is none of that name, or it cannot be imported.
        """
        if name in self.shipped:
            return resolve(self.shipped[name])
        reference = self._installed.get(name)
        if reference is None:
            raise InputError(
                f"there is no {self.kind} {name!r}", remedy=did_you_mean(name, self.names)
            )
        try:
            return resolve(reference)
        except Exception as error:
            raise InputError(
                f"the {self.kind} {name!r} ({reference}) cannot be imported "
                f"({one_line(str(error), 200)})",
                remedy="install or repair its package",
            ) from error

    def load_all(self, kind: type[T], report: Callable[[str], None]) -> dict[str, T]:
        """Return all plugins by name; one that cannot be loaded is left out and reported.

        Args:
            kind: type of the plugins.
            report: takes one sentence.
        """
        plugins = {}
        for name in self.names:
            try:
                plugin = self.load(name)
            except InputError as error:
                report(f"Left out: {error}")
                continue
            if isinstance(plugin, kind):
                plugins[name] = plugin
            else:
                report(f"Left out: the {self.kind} {name!r} is no {kind.__name__}")
        return plugins


def entry_point_files(folders: Iterable[str | Path]) -> Iterator[Path]:
    """Yield the entry points of the packages that are installed in folders, such as sys.path."""
    for folder in folders:
        yield from Path(folder).glob("*-info/entry_points.txt")


def entry_points(file: Path, group: str) -> dict[str, str]:
    """Return the references of a group by name, of a file; none of a file that is broken.

    The format is that of packaging.python.org/specifications/entry-points.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    if f"[{group}]" not in text:
        return {}
    from configparser import ConfigParser, Error  # here: few files have the group

    points = ConfigParser(delimiters="=", interpolation=None)
    points.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        points.read_string(text)
        return dict(points[group])
    except (Error, KeyError):
        return {}


def resolve(reference: str) -> Any:
    """Return the object of a reference "module:object", whose module is imported.

    The object may be dotted, such as "Class.method".
    """
    module, _, name = reference.partition(":")
    return attrgetter(name)(import_module(module))
