# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Lists every command: those of ./arm, the packages' executables, the benchmarks."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, EntryPoints, distribution
from pathlib import Path
from typing import Any

from pip_ros import cli
from pip_ros.paths import REPOSITORY

from .arguments import Argument, arguments_of, parser_of, synopsis
from .nodes import PROGRAMS

PACKAGES = (
    "arm_description",
    "arm_kinematics",
    "arm_hardware",
    "arm_simulation",
    "arm_tasks",
    "arm_viewer",
)
SETUP = (
    "Install ROS 2 in .venv unless one is sourced, and build; other commands do so when needed."
)
SILENT = {(p.package, p.executable): p for p in PROGRAMS if not p.talks}


@dataclass(frozen=True)
class CommandInfo:
    """The description of a command.

    Attributes:
        title: Its name.
        text: What it does.
        how: Its usage.
        arguments: Its arguments.
    """

    title: str
    text: str
    how: str
    arguments: tuple[Argument, ...] = ()


def all_commands() -> Iterator[CommandInfo]:
    """Yield every command: first those of ./arm itself, then executables, then benchmarks."""
    yield from _arm_commands()
    for package in PACKAGES:
        for point in sorted(programs(package)):
            yield _executable(package, point)
    for file in sorted((REPOSITORY / "benchmarks").glob("bench_*.py")):
        yield _benchmark(file)


def programs(package: str) -> EntryPoints:
    """Return the executables of a package."""
    return distribution(package).entry_points.select(group="console_scripts")


def _arm_commands() -> Iterator[CommandInfo]:
    """Yield the commands of ./arm that are not executables of a package."""
    installed = {p.name for package in PACKAGES for p in programs(package)}
    for command in cli.COMMANDS:
        if command.name not in installed:
            how = f"`./arm {command.name} {command.arguments}".rstrip() + "`"
            own = command.name == "setup"
            arguments = _inspect(partial(cli.main, ["setup"]))[1] if own else ()
            text = SETUP if own else _sentence((command.run.__doc__ or "").partition("\n\n")[0])
            yield CommandInfo(f"./arm {command.name}", text, how, arguments)


def _executable(package: str, point: EntryPoint) -> CommandInfo:
    short = any(command.name == point.name for command in cli.COMMANDS)
    title = f"./arm {point.name}" if short else f"{package} {point.name}"
    if (package, point.name) in SILENT:
        node = f"The node of the package {package}; its parameters are [described](parameters.md)."
        return CommandInfo(title, node, f"`ros2 run {package} {point.name}`")
    text, arguments = _inspect(point.load())
    words = synopsis(arguments)
    ways = [f"./arm {point.name}"] * short + [f"ros2 run {package} {point.name}"]
    how = ", ".join(f"`{way} {words}".rstrip() + "`" for way in ways)
    return CommandInfo(title, text, how, arguments)


def _benchmark(file: Path) -> CommandInfo:
    name = file.stem.removeprefix("bench_")
    sys.path.insert(0, str(file.parent))
    try:
        module = importlib.import_module(file.stem)
    finally:
        sys.path.remove(str(file.parent))
    takes = "ArgumentParser(" in file.read_text(encoding="utf-8")
    arguments = _inspect(module.main)[1] if takes else ()
    text = _sentence((module.__doc__ or "").partition("\n\n")[0])
    how = f"`./arm bench {name} {synopsis(arguments)}".rstrip() + "`"
    return CommandInfo(f"./arm bench {name}", text, how, arguments)


def _inspect(main: Callable[[], Any]) -> tuple[str, tuple[Argument, ...]]:
    """Return a program's description and its arguments."""
    parser = parser_of(main)
    text = (parser.description or "").partition("\n\n")[0]
    return _sentence(text), tuple(arguments_of(parser))


def _sentence(text: str) -> str:
    words = " ".join(text.split()).rstrip(".")
    return words[:1].upper() + words[1:] + "." if words else ""
