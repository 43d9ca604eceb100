# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Generates the text of the reference pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arm_common.ros.failures import ANSWER_WITHOUT_ERROR

from . import words
from .launch_files import launch_arguments
from .markdown import code, page, table
from .nodes import Endpoint, NodeFacts, Parameter
from .programs import CommandInfo

ENDS = {
    "topic": (words.TOPICS, "published by", "subscribed to by"),
    "service": (words.SERVICES, "served by", "called by"),
    "action": (words.ACTIONS, "served by", "called by"),
}
INTRODUCTION = """\
Names are relative, so several arms need only a namespace each; names that start with `/` are
absolute. *Latched* (transient local) messages also reach later subscribers. The interfaces of
every ROS 2 node, parameter services and `/parameter_events`, are omitted, as is
`arm_hardware/transition_event` of every lifecycle node. `./arm record` subscribes to every topic,
`./arm replay` publishes the topics of a view, and [`Arm`](client.md) calls what its methods need.
Fields and constants: [messages, services, actions](messages.md)."""
WITHOUT_ERROR = """\
After an internal error of a node, a service answers with the error: `success` is false, `status`
is `FAILURE`, `message` has the reason. These types have no field for it; log and `/diagnostics`
have the error."""

_NETWORK = (
    "The nodes listen on this computer only, unless `network:=subnet` is given or"
    " `ARM_NETWORK=subnet` is set in the environment ([two computers](../two_computers.md))."
)


class UndescribedError(Exception):
    """An interface, parameter or argument has no description."""


def interfaces_page(nodes: Sequence[NodeFacts]) -> str:
    """Return the page of topics, services and actions."""
    parts = [INTRODUCTION]
    for kind, (meanings, giving, taking) in ENDS.items():
        rows = list(_rows(kind, nodes, meanings))
        if kind == "service":
            rows = sorted([*rows, *_optional_services()], key=list)
        parts += [f"## {kind.capitalize()}s",
                  table((kind, "what it is", giving, taking), rows)]  # fmt: skip
        if kind == "service":
            answers = ((code(name), answer) for name, answer in ANSWER_WITHOUT_ERROR.items())
            parts += [WITHOUT_ERROR, table(("type", "its answer"), list(answers))]
    return page("Topics, services, actions", *parts)


def _rows(
    kind: str, nodes: Sequence[NodeFacts], meanings: Mapping[str, str]
) -> Iterator[Sequence[str]]:
    ends = [(end, node) for node in nodes for end in node.ends if end.kind == kind]
    names = {end.name for end, _ in ends}
    _same(names, set(meanings), f"tools/documents/words.py, {kind}s")
    for name in sorted(names):
        mine = [(end, node) for end, node in ends if end.name == name]
        types = sorted({end.type for end, _ in mine})
        quality = sorted({end.quality for end, _ in mine if end.serves and end.quality})
        kinds = ", ".join([code(t) for t in types] + [f"*{q}*" for q in quality])
        first = f"{code(name)}<br>{kinds}"
        yield (first, meanings[name], _node_names(mine, True), _node_names(mine, False))


def _optional_services() -> Iterator[Sequence[str]]:
    for name, (type_, node, meaning) in words.OPTIONAL_SERVICES.items():
        yield (f"{code(name)}<br>{code(type_)}", meaning, code(node), "")


def _node_names(ends: Sequence[tuple[Endpoint, NodeFacts]], serves: bool) -> str:
    return ", ".join(sorted({f"`{node.name}`" for end, node in ends if end.serves == serves}))


def parameters_page(nodes: Sequence[NodeFacts]) -> str:
    """Return the page of the nodes' parameters."""
    parts = [
        "Set at startup (`ros2 run PACKAGE EXECUTABLE --ros-args -p NAME:=VALUE`); those marked"
        " *any time* also with `ros2 param set`. Every node also has `use_sim_time`."
    ]
    for node in nodes:
        if not node.parameters:
            continue
        rows = [_parameter(node, p) for p in node.parameters.values()]
        parts += [
            f"## {node.name}",
            f"`ros2 run {node.program.package} {node.program.executable}`",
            table(("parameter", "default", "meaning"), rows),
        ]
    return page("Parameters", *parts)


def _parameter(node: NodeFacts, parameter: Parameter) -> Sequence[str]:
    if not parameter.text.strip():
        raise UndescribedError(f"{node.name} parameter {parameter.name} has no description")
    text = parameter.text.rstrip(".")
    text = text[:1].upper() + text[1:] + "."
    if parameter.bounds:
        low, high = (f"{bound:g}" for bound in parameter.bounds)
        text += f" From {low} to {high}."
    if not parameter.fixed:
        text += " *Any time.*"
    return (
        code(parameter.name),
        code("" if parameter.default is None else _plain(parameter.default)),
        text,
    )


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if math.isfinite(value) else str(value)
    if isinstance(value, str | int):
        return str(value)
    return ", ".join(map(_plain, value))


def messages_page(folder: Path) -> str:
    """Return the page of arm_interfaces' own definitions.

    Args:
        folder: The package.

    Raises:
        UndescribedError: A field or constant has no comment.
    """
    parts = [
        "The definitions in `arm_interfaces`; lengths in m, angles in rad. Where a"
        " standard interface exists, it is used instead: FollowJointTrajectory, GripperCommand,"
        " JointState, Trigger, MarkerArray. The nodes that offer and call them:"
        " [topics, services, actions](interfaces.md)."
    ]
    for kind, title in (("srv", "Services"), ("action", "Actions"), ("msg", "Messages")):
        parts.append(f"## {title}")
        for file in sorted((folder / kind).iterdir()):
            text = file.read_text(encoding="utf-8").strip()
            _every_field_is_described(file.name, text)
            parts.append(f"### {file.stem}\n\n```text\n{text}\n```")
    return page("Messages, services, actions: the definitions", *parts)


def _every_field_is_described(name: str, text: str) -> None:
    """Raise UndescribedError unless each paragraph of fields starts with a comment."""
    for paragraph in text.replace("\n---\n", "\n\n").split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line and line != "---"]
        fields = [line for line in lines if not line.startswith("#")]
        if fields and fields != ["std_msgs/Header header"] and not lines[0].startswith("#"):
            raise UndescribedError(f"{name}: {fields[0]} has no comment above it")


def launch_page(files: Iterable[Path]) -> str:
    """Return the page of the launch files' arguments."""
    parts = ["`ros2 launch PACKAGE FILE NAME:=VALUE ...`, in a full ROS 2.", _NETWORK]
    for file in files:
        rows = []
        for argument in launch_arguments(file):
            if not argument.text:
                raise UndescribedError(f"{file.name}: {argument.name} has no description")
            choices = (
                f" One of {', '.join(map(code, argument.choices))}." if argument.choices else ""
            )
            rows.append((code(argument.name), code(argument.default), argument.text + choices))
        parts += [
            f"## {file.parts[-3]} {file.name}",
            table(("argument", "default", "meaning"), rows) or "It takes no arguments.",
        ]
    return page("Launch files", *parts)


def commands_page(told: Sequence[CommandInfo]) -> str:
    """Return the page of all commands."""
    parts = [
        "`./arm NAME` where it is shown, `ros2 run PACKAGE NAME` elsewhere; each has `--help`."
        " Nodes take only `--ros-args`, for their [parameters](parameters.md)."
    ]
    for command in told:
        rows = []
        for argument in command.arguments:
            if not argument.text:
                raise UndescribedError(f"{command.title}: {argument.name} has no help")
            rows.append((code(argument.name), code(argument.default), argument.text))
        parts += [
            f"## {command.title}",
            f"{command.text}\n\n{command.how}".strip(),
            table(("argument", "default", "meaning"), rows),
        ]
    return page("Commands", *[part for part in parts if part])


def _same(found: set[str], described: set[str], where: str) -> None:
    """Raise UndescribedError unless found and described names are the same."""
    for what, names in (
        ("no description of", found - described),
        ("no longer exists:", described - found),
    ):
        if names:
            raise UndescribedError(f"{where}: {what} {', '.join(sorted(names))}")
