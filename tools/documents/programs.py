# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Lists every command: those of ./arm, the packages' executables, the benchmarks."""

from __future__ import annotations

import importlib
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, EntryPoints, distribution
from pathlib import Path

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
    "arm_studio",
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
        parser: Reads its arguments; None if it takes none, or those of another program.
    """

    title: str
    text: str
    how: str
    parser: ArgumentParser | None = None

    @property
    def name(self) -> str:
        """Its name alone, such as check or bench ik."""
        short = self.title.removeprefix("./arm ")
        return short if short.startswith("bench ") else short.rpartition(" ")[2]

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Its arguments."""
        return tuple(arguments_of(self.parser)) if self.parser else ()


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
    for command in cli.all_commands():
        if command.name not in installed:
            how = f"`./arm {command.name} {command.arguments}".rstrip() + "`"
            own = command.name == "setup"
            parser = parser_of(partial(cli.main, ["setup"])) if own else None
            text = SETUP if own else _sentence(command.run.__doc__)
            yield CommandInfo(f"./arm {command.name}", text, how, parser)


def _executable(package: str, point: EntryPoint) -> CommandInfo:
    short = any(command.name == point.name for command in cli.all_commands())
    title = f"./arm {point.name}" if short else f"{package} {point.name}"
    if (package, point.name) in SILENT:
        node = f"The node of the package {package}; its parameters are [described](parameters.md)."
        return CommandInfo(title, node, f"`ros2 run {package} {point.name}`")
    parser = parser_of(point.load())
    words = synopsis(tuple(arguments_of(parser)))
    ways = [f"./arm {point.name}"] * short + [f"ros2 run {package} {point.name}"]
    how = ", ".join(f"`{way} {words}".rstrip() + "`" for way in ways)
    return CommandInfo(title, _sentence(parser.description), how, parser)


def _benchmark(file: Path) -> CommandInfo:
    name = file.stem.removeprefix("bench_")
    sys.path.insert(0, str(file.parent))
    try:
        module = importlib.import_module(file.stem)
    finally:
        sys.path.remove(str(file.parent))
    takes = "ArgumentParser(" in file.read_text(encoding="utf-8")
    parser = parser_of(module.main) if takes else None
    words = synopsis(tuple(arguments_of(parser))) if parser else ""
    how = f"`./arm bench {name} {words}".rstrip() + "`"
    return CommandInfo(f"./arm bench {name}", _sentence(module.__doc__), how, parser)


def _sentence(text: str | None) -> str:
    """Return the first paragraph of a description, as a sentence."""
    words = " ".join((text or "").partition("\n\n")[0].split()).rstrip(".")
    return words[:1].upper() + words[1:] + "." if words else ""
