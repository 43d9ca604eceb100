# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plugins: parts that are looked up by name and imported when they are used.

Each kind of plugin is a `PluginGroup`, declared where its plugins are used. It lists the shipped
ones; any installed package adds others as entry points of the same group:

    entry_points={"arm_kinematics.marker_layers": ["shadow = my_package.shadow:LAYER"]}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from arm_common.errors import InputError, one_line
from arm_common.suggestions import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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
    def _installed(self) -> Mapping[str, EntryPoint]:
        from importlib.metadata import entry_points  # here: slow, and few need it

        found = entry_points(group=self.group)
        return {point.name: point for point in found if point.name not in self.shipped}

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
        point = self._installed.get(name)
        if point is None:
            raise InputError(
                f"there is no {self.kind} {name!r}", remedy=did_you_mean(name, self.names)
            )
        try:
            return point.load()
        except Exception as error:
            raise InputError(
                f"the {self.kind} {name!r} ({point.value}) cannot be imported "
                f"({one_line(str(error), 200)})",
                remedy="install or repair its package",
            ) from error

    def load_all(self, kind: type[T], report: Callable[[str], None]) -> dict[str, T]:
        """Return all plugins by name; one that cannot be loaded is left out and reported.

        Args:
            kind: type of the plugins.
            report: takes one sentence.
        """
        found = {}
        for name in self.names:
            try:
                plugin = self.load(name)
            except InputError as error:
                report(f"Left out: {error}")
                continue
            if isinstance(plugin, kind):
                found[name] = plugin
            else:
                report(f"Left out: the {self.kind} {name!r} is no {kind.__name__}")
        return found


def resolve(reference: str) -> Any:
    """Return the object of a reference "module:object", whose module is imported."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
