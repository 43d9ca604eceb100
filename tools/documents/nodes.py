# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Creates the project's nodes one after another and lists their interfaces and parameters."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import rclpy
from rclpy.action import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

NAMESPACE = "/arm"  # names outside it are absolute
EVERY_NODE_HAS = ("/parameter_events", "/rosout", "_parameters", "parameter_types",
                  "/get_type_description", "/_action/")  # fmt: skip
PARAMETERS_OF_ALL = ("use_sim_time", "start_type_description_service")


@dataclass(frozen=True)
class Program:
    """A program that is a node.

    Attributes:
        package: Its package.
        executable: Its name for `ros2 run`.
        make: Creates its nodes.
        settings: Parameters with which it has additional topics.
        talks: Whether it takes arguments besides those of ROS.
        needs: Parameters without which it does not start; they have no default.
    """

    package: str
    executable: str
    make: Callable[[], Sequence[Any]]
    settings: tuple[Mapping[str, Any], ...] = ()
    talks: bool = False
    needs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, order=True)
class Endpoint:
    """One end of a topic, service or action.

    Attributes:
        kind: "topic", "service" or "action".
        name: Relative unless it is absolute.
        type: Such as std_msgs/msg/String.
        serves: Whether the node publishes or serves, rather than subscribes or calls.
        quality: Quality of service, as far as it differs from reliable and volatile.
    """

    kind: str
    name: str
    type: str
    serves: bool
    quality: str = ""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a node."""

    name: str
    default: Any
    text: str
    fixed: bool
    bounds: tuple[float, float] | None
    refusals: tuple[str, ...] = ()  # of values outside of its range or of another type


@dataclass
class NodeFacts:
    """The interfaces and parameters of a node."""

    program: Program
    name: str
    ends: set[Endpoint] = field(default_factory=set)
    parameters: dict[str, Parameter] = field(default_factory=dict)


def _main_of(module: str) -> Callable[[], Sequence[Any]]:
    """Return a function that creates the nodes of a program whose main is run_node(make, ...)."""

    def make() -> Sequence[Any]:
        found = importlib.import_module(module)
        with patch.object(found, "run_node", lambda maker, *_, **__: list(maker())):
            nodes: Sequence[Any] = found.main()
        return nodes

    return make


def _kinematics() -> Sequence[Any]:
    """Create the kinematics node without its main, which compiles kernels first."""
    from arm_kinematics.ros.node import KinematicsNode

    node = KinematicsNode()
    node.start()
    return [node]


def _hardware() -> Sequence[Any]:
    from arm_hardware.ros.driver_node import HardwareNode

    node = HardwareNode()
    return [_with_cleanup(node, node.close)]


def _teleop() -> Sequence[Any]:
    from arm_description.library import load_robot
    from arm_tasks.ros.teleop.teleop_node import TeleopNode

    return [TeleopNode(load_robot("nut_arm"))]


def _follow() -> Sequence[Any]:
    from arm_description.library import load_robot
    from arm_tasks.ros.teleop.follower import FollowerNode

    return [FollowerNode(load_robot("nut_arm"))]


def _run_task() -> Sequence[Any]:
    from arm_description.library import load_robot
    from arm_tasks.ros.run_task.client import TaskClient

    client = TaskClient(load_robot("nut_arm"), has_track=True, has_keyboard=True)
    node: Any = client._node
    destroy = node.destroy_node

    def close() -> None:
        node.destroy_node = destroy  # which the client calls once its thread has ended
        client.close()

    node.destroy_node = close
    return [node]


def _play() -> Sequence[Any]:
    from arm_description.library import load_robot
    from arm_tasks.ros.trajectory_player import TrajectoryPlayer

    return [TrajectoryPlayer(load_robot("nut_arm"))._node]


def _with_cleanup(node: Any, end: Callable[[], Any]) -> Any:
    """Return a node that calls ``end`` before it is destroyed."""
    destroy = node.destroy_node
    node.destroy_node = lambda: (end(), destroy())
    return node


PROGRAMS = (
    Program("arm_description", "state_publisher",
            _main_of("arm_description.ros.state_publisher"),
            needs={"robot_description": '<robot name="arm"><link name="base_link"/></robot>'}),
    Program("arm_description", "robot_file_watcher",
            _main_of("arm_description.ros.robot_file_watcher")),
    Program("arm_kinematics", "kinematics", _kinematics),
    Program("arm_hardware", "hardware", _hardware, ({"speed": 2.0},)),
    Program("arm_tasks", "task_server", _main_of("arm_tasks.ros.task_server.node")),
    Program("arm_simulation", "nut_world", _main_of("arm_simulation.ros.nut_world_node")),
    Program("arm_tasks", "scene_file", _main_of("arm_tasks.ros.scene_publisher")),
    Program("arm_simulation", "contact_world", _main_of("arm_simulation.ros.contact_world_node"),
            needs={"scene": "easel"}),
    Program("arm_tasks", "run_task", _run_task, talks=True),
    Program("arm_tasks", "teleop", _teleop, talks=True),
    Program("arm_tasks", "follow", _follow, talks=True),
    Program("arm_tasks", "play", _play, talks=True),
    Program("arm_viewer", "viewer", _main_of("arm_viewer.ros.node"),
            ({"port": 0, "drive": True}, {"port": 0, "sliders": True})),
    Program("arm_viewer", "tool_handle", _main_of("arm_viewer.ros.tool_handle_node")),
)  # fmt: skip


def inspect_nodes() -> Iterator[NodeFacts]:
    """Yield the facts about each node, which are created in this process one after another."""
    for program in PROGRAMS:
        facts: dict[str, NodeFacts] = {}
        for settings in ({}, *program.settings):
            with _made(program, {**program.needs, **settings}) as nodes:
                for node in nodes:
                    known = facts.setdefault(node.get_name(), NodeFacts(program, node.get_name()))
                    known.ends |= set(_ends(node))
                    known.parameters = known.parameters or dict(_parameters(node, program.needs))
        yield from facts.values()


@contextmanager
def _made(program: Program, settings: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    set_to = [
        word for name, value in settings.items() for word in ("-p", f"{name}:={_yaml(value)}")
    ]
    arguments = ["--ros-args", "-r", f"__ns:={NAMESPACE}", *set_to]
    rclpy.init(args=arguments, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    nodes: Sequence[Any] = ()
    try:
        nodes = program.make()
        yield nodes
    finally:
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ends(node: Any) -> Iterator[Endpoint]:
    for ends, serves in ((node.publishers, True), (node.subscriptions, False)):
        for end in ends:
            if _is_own(end.topic_name):
                kind, quality = _type(end.msg_type), _quality(end.qos_profile)
                yield Endpoint("topic", _relative(end.topic_name), kind, serves, quality)
    for ends, serves in ((node.services, True), (node.clients, False)):
        for end in ends:
            if _is_own(end.service_name):
                yield Endpoint("service", _relative(end.service_name), _type(end.srv_type), serves)
    for ask, serves in (
        (get_action_server_names_and_types_by_node, True),
        (get_action_client_names_and_types_by_node, False),
    ):
        for name, (kind, *_) in ask(node, node.get_name(), node.get_namespace()):
            yield Endpoint("action", _relative(name), kind, serves)


def _is_own(name: str) -> bool:
    """Return whether a name is not one of those that every node has."""
    return not any(part in name for part in EVERY_NODE_HAS) or name == "/rosout"


def _relative(name: str) -> str:
    return name.removeprefix(f"{NAMESPACE}/")


def _type(kind: type) -> str:
    package, folder, *_ = kind.__module__.split(".")
    return f"{package}/{folder}/{kind.__name__}"


def _quality(profile: Any) -> str:
    latched = profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
    loose = profile.reliability == ReliabilityPolicy.BEST_EFFORT
    return ", ".join(["latched"] * latched + ["best effort"] * loose)


def _parameters(node: Any, needs: Mapping[str, Any]) -> Iterator[tuple[str, Parameter]]:
    names = [n for n in node.list_parameters([], 0).names if n not in PARAMETERS_OF_ALL]
    said = zip(names, node.get_parameters(names), node.describe_parameters(names), strict=True)
    for name, value, descriptor in said:
        ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
        default = None if name in needs else value.value
        bounds = (ranges[0].from_value, ranges[0].to_value) if ranges else None
        yield (
            name,
            Parameter(
                name,
                default,
                descriptor.description,
                descriptor.read_only,
                bounds,
                tuple(_refusals(node, name, value.value, bounds)),
            ),
        )


def _refusals(
    node: Any, name: str, value: Any, bounds: tuple[float, float] | None
) -> Iterator[str]:
    """Set a parameter to wrong values; yield the reason why each is refused, "" if it is not."""
    wrong: list[Any] = [5 if isinstance(value, str | list) else "text"]
    if bounds is not None and not isinstance(value, list):
        wrong += [type(value)(bounds[0] - 1), type(value)(bounds[1] + 1)]
    if isinstance(value, float):
        wrong.append(math.nan)
    for other in wrong:
        (result,) = node.set_parameters([rclpy.Parameter(name, value=other)])
        yield "" if result.successful else result.reason
