# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reads the arguments of launch files without launch, whose modules are replaced by stand-ins."""

from __future__ import annotations

import runpy
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

MODULES = (
    "launch", "launch.actions", "launch.conditions", "launch.event_handlers", "launch.events",
    "launch.launch_description_sources", "launch.logging", "launch.substitutions",
    "launch.utilities", "launch_ros", "launch_ros.actions", "launch_ros.events",
    "launch_ros.parameter_descriptions", "launch_ros.substitutions",
)  # fmt: skip
SHARED = "arm_common.ros.launch", "arm_tasks.bringup.launch"  # what launch files import of ours


@dataclass(frozen=True)
class LaunchArgument:
    """An argument of a launch file; default is "" if it is computed at launch."""

    name: str
    default: str
    choices: tuple[str, ...]
    text: str


class _StandIn:
    """Replaces any class of launch and stores its arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs


def launch_arguments(file: Path) -> Iterator[LaunchArgument]:
    """Yield the arguments that a launch file and those it includes declare and leave open."""
    declared: list[LaunchArgument] = []
    included: list[LaunchArgument] = []

    class Declared(_StandIn):
        def __init__(self, name: str, **kwargs: Any) -> None:
            super().__init__(name, **kwargs)
            default = kwargs.get("default_value", "")
            declared.append(
                LaunchArgument(
                    name,
                    default if isinstance(default, str) else "",
                    tuple(kwargs.get("choices") or ()),
                    kwargs.get("description", ""),
                )
            )

    class Included(_StandIn):
        def __init__(self, source: Any, **kwargs: Any) -> None:
            *_, name = source.args[0].args[0]  # the end of a path in the same folder
            given = {argument for argument, _ in kwargs.get("launch_arguments", ())}
            found = launch_arguments(file.with_name(name))
            included.extend(argument for argument in found if argument.name not in given)

    special: dict[str, type] = {
        "DeclareLaunchArgument": Declared,
        "IncludeLaunchDescription": Included,
    }
    with patch.dict(sys.modules, {name: _module(name, special) for name in MODULES}):
        for name in SHARED:  # imported anew, with these stand-ins
            sys.modules.pop(name, None)
        runpy.run_path(str(file))["generate_launch_description"]()
    # an argument of a file and of those it includes is one argument; the first text counts
    first: dict[str, LaunchArgument] = {}
    for argument in (*declared, *included):
        first.setdefault(argument.name, argument)
    yield from first.values()


def _module(name: str, special: Mapping[str, type]) -> types.ModuleType:
    """Return a module from which any name can be imported."""

    class Module(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return special.get(name, _StandIn)

    return Module(name)
