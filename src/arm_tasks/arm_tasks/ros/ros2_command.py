# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm ros2`: the words of ros2cli that one needs daily, where ROS 2 comes from PyPI.

ros2cli's verbs are not on PyPI. Where ROS 2 is installed, its own `ros2` runs instead.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import rclpy
import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from arm_common.ros.actions.client import GoalClient
from arm_common.ros.node_runner import session
from arm_common.yaml.document import load_plain
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.action import get_action_names_and_types
from rclpy.duration import Duration
from rclpy.exceptions import NameValidationException
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import QoSProfile
from rclpy.validate_topic_name import validate_topic_name

from arm_common import cli
from arm_tasks.errors import TasksError
from arm_tasks.ros.task_server.message_fields import filled, required_class
from arm_tasks.ros.task_server.other_nodes import (
    published_type,
    publishers,
    strictest_qos,
    why_invalid,
)

# mypy: disable-error-code="no-untyped-call"

_DISCOVERY = 5.0  # [s] until what is not in the graph does not exist
_SETTLED = 1.0  # [s] without a new name, after which a list is complete
_WINDOW = 2.0  # [s] between two lines of topic hz
_ARRIVALS = 10_000  # messages of which topic hz takes the average
_DEPTH = 10  # of the subscriptions
_TIMEOUT = 30.0  # [s] for the answer of a service


def _parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="./arm ros2", description=__doc__)
    kinds = result.add_subparsers(
        required=True, metavar="topic | service | action | node | param | lifecycle | run"
    )
    of_kind = dict[str, Any]()
    for kind, verb, run, arguments in (
        ("topic", "list", _list_topics, ("-t",)),
        ("topic", "echo", _echo, ("topic", "--once")),
        ("topic", "hz", _hz, ("topic",)),
        ("topic", "pub", _publish, ("topic", "type", "values?", "--once")),
        ("service", "list", _list_services, ("-t",)),
        ("service", "call", _call, ("service", "type", "values?")),
        ("action", "list", _list_actions, ("-t",)),
        ("action", "send_goal", _send_goal, ("action", "type", "values?", "--feedback")),
        ("node", "list", _list_nodes, ()),
        ("param", "list", _list_parameters, ("node",)),
        ("param", "get", _get_parameter, ("node", "name")),
        ("param", "set", _set_parameter, ("node", "name", "value")),
        ("lifecycle", "get", _get_state, ("node",)),
        ("lifecycle", "set", _set_state, ("node", "transition")),
    ):
        if kind not in of_kind:
            of_kind[kind] = kinds.add_parser(kind).add_subparsers(required=True, metavar="VERB")
        words = of_kind[kind].add_parser(verb, help=run.__doc__)
        words.set_defaults(run=run)
        for name in arguments:
            if name.startswith("-"):
                words.add_argument(name, action="store_true")
            else:
                optional = name.endswith("?")
                parse = cli.expression if name.startswith("value") else None
                words.add_argument(name.rstrip("?"), nargs="?" if optional else None, type=parse)
    kinds.add_parser("run", help="run an executable: ros2 run PACKAGE EXECUTABLE ...")
    return result


def _settled(node: Node, read: Callable[[], Sequence[Any]]) -> list[Any]:
    """Return what the graph has once nothing new has appeared for a while."""
    end = limit = time.monotonic() + _DISCOVERY  # if nothing appears at all
    found = list(read())
    while time.monotonic() < min(end, limit):
        rclpy.spin_once(node, timeout_sec=0.05)
        if len(now := list(read())) != len(found):
            end = time.monotonic() + _SETTLED
        found = now
    return sorted(found)


def _print_names(rows: Sequence[tuple[str, Sequence[str]]], with_types: bool) -> int:
    for name, types in rows:
        print(f"{name} [{', '.join(types)}]" if with_types else name)
    return 0


def _list_topics(node: Node, given: argparse.Namespace) -> int:
    """Print the names of all topics."""
    return _print_names(_settled(node, node.get_topic_names_and_types), given.t)


def _list_services(node: Node, given: argparse.Namespace) -> int:
    """Print the names of all services."""
    rows = _settled(node, node.get_service_names_and_types)
    return _print_names([r for r in rows if not r[0].startswith(f"/{node.get_name()}/")], given.t)


def _list_actions(node: Node, given: argparse.Namespace) -> int:
    """Print the names of all actions."""
    return _print_names(_settled(node, lambda: get_action_names_and_types(node)), given.t)


def _list_nodes(node: Node, given: argparse.Namespace) -> int:
    """Print the names of all nodes."""
    del given
    for name, space in _settled(node, node.get_node_names_and_namespaces):
        if name != node.get_name():
            print(f"{space.rstrip('/')}/{name}")
    return 0


def _topic_class(node: Node, topic: str) -> tuple[str, Any, QoSProfile]:
    """Return the full name of a topic, the class of its messages, and a QoS to receive them."""
    end = time.monotonic() + _DISCOVERY
    while time.monotonic() < end:
        found = publishers(node, topic)
        if kind := published_type(found, topic):
            name = node.resolve_topic_name(topic)
            return name, required_class(kind, "msg"), strictest_qos(found, _DEPTH)
        rclpy.spin_once(node, timeout_sec=0.05)
    name = node.resolve_topic_name(topic)
    raise TasksError(f"nobody publishes {name}; ./arm ros2 topic list has the names")


def _echo(node: Node, given: argparse.Namespace) -> int:
    """Print the messages of a topic as YAML, until Ctrl-C or once."""
    name, cls, qos = _topic_class(node, given.topic)
    printed = list[bool]()

    def show(message: Any) -> None:
        if not (given.once and printed):
            print(f"{as_yaml(message)}---", flush=True)
            printed.append(True)

    node.create_subscription(cls, name, show, qos)
    while not (given.once and printed):
        rclpy.spin_once(node, timeout_sec=0.1)
    return 0


def _hz(node: Node, given: argparse.Namespace) -> int:
    """Print how often a topic is published, until Ctrl-C."""
    name, cls, qos = _topic_class(node, given.topic)
    arrivals = deque[float](maxlen=_ARRIVALS)
    node.create_subscription(cls, name, lambda _: arrivals.append(time.monotonic()), qos, raw=True)
    shown = time.monotonic()
    while True:
        rclpy.spin_once(node, timeout_sec=0.1)
        if time.monotonic() - shown < _WINDOW:
            continue
        gaps = [b - a for a, b in pairwise(arrivals)]
        if gaps:
            mean = sum(gaps) / len(gaps)
            text = f"average rate: {1.0 / mean:.3f}"
            print(f"{text}\n\tmin: {min(gaps):.3f}s max: {max(gaps):.3f}s window: {len(arrivals)}")
        else:
            print(f"no message of {name} yet")
        sys.stdout.flush()
        shown = time.monotonic()


def _publish(node: Node, given: argparse.Namespace) -> int:
    """Publish a message once a second until Ctrl-C, or once to a subscriber."""
    cls = required_class(given.type, "msg")
    message = filled(cls, _values(given.values))
    publisher = node.create_publisher(cls, given.topic, _DEPTH)
    end = time.monotonic() + _DISCOVERY
    while not publisher.get_subscription_count():
        if given.once and time.monotonic() > end:
            raise TasksError(f"nobody subscribes to {given.topic}; nothing was published")
        rclpy.spin_once(node, timeout_sec=0.05)
    while True:
        publisher.publish(message)
        print(f"publishing {cls.__name__}", flush=True)
        if given.once:
            publisher.wait_for_all_acked(Duration(seconds=_DISCOVERY))
            return 0
        rclpy.spin_once(node, timeout_sec=1.0)


def _values(text: str | None) -> Mapping[str, Any]:
    try:
        found = load_plain(text or "{}")
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise TasksError(f'{text!r} is no YAML of fields, such as "{{mode: 1}}"')
    return found


def _call(node: Node, given: argparse.Namespace) -> int:
    """Call a service and print its response."""
    cls = required_class(given.type, "srv")
    request = filled(cls.Request, _values(given.values))
    print(f"response:\n{as_yaml(_response(node, cls, given.service, request))}", end="")
    return 0


def _response(node: Node, cls: Any, name: str, request: Any) -> Any:
    client = node.create_client(cls, name)
    if not client.wait_for_service(_DISCOVERY):
        raise TasksError(f"there is no service {name}; ./arm ros2 service list")
    return _answer(node, client.call_async(request))


def _answer(node: Node, future: Any, timeout: float | None = _TIMEOUT) -> Any:
    rclpy.spin_until_future_complete(node, future, timeout_sec=timeout)
    if not future.done():
        raise TasksError(f"no answer within {timeout:g} s")
    return future.result()


def _send_goal(node: Node, given: argparse.Namespace) -> int:
    """Send a goal to an action, and print its result; Ctrl-C cancels it."""
    cls = required_class(given.type, "action")
    goal = filled(cls.Goal, _values(given.values))
    validate_topic_name(given.action)  # ActionClient would raise a ValueError, and warn
    client = GoalClient(node, cls, given.action)
    if not client.wait_for_server(_DISCOVERY):
        raise TasksError(f"there is no action {given.action}; ./arm ros2 action list")

    def show(message: Any) -> None:
        print(f"Feedback:\n{as_yaml(message.feedback)}", flush=True)

    sent = client.send_goal_async(goal, feedback_callback=show if given.feedback else None)
    handle = _answer(node, sent)
    if not handle.accepted:
        raise TasksError("the goal was rejected")
    try:
        done = _answer(node, handle.get_result_async(), None)
    except KeyboardInterrupt:
        _answer(node, handle.cancel_goal_async())
        raise
    print(f"Result:\n{as_yaml(done.result)}", end="")
    return 0


def _parameters(node: Node, name: str) -> AsyncParameterClient:
    client = AsyncParameterClient(node, name)
    if not client.wait_for_services(_DISCOVERY):
        raise TasksError(f"there is no node {name}; ./arm ros2 node list")
    return client


def _list_parameters(node: Node, given: argparse.Namespace) -> int:
    """Print the names of a node's parameters."""
    found = _answer(node, _parameters(node, given.node).list_parameters())
    print("\n".join(sorted(found.result.names)))
    return 0


def _get_parameter(node: Node, given: argparse.Namespace) -> int:
    """Print the value of a parameter."""
    found = _answer(node, _parameters(node, given.node).get_parameters([given.name]))
    if not found.values or not found.values[0].type:
        raise TasksError(f"{given.node} has no parameter {given.name}")
    print(parameter_value_to_python(found.values[0]))
    return 0


def _set_parameter(node: Node, given: argparse.Namespace) -> int:
    """Set a parameter."""
    try:
        value = Parameter(given.name, value=load_plain(given.value))
    except (yaml.YAMLError, TypeError, ValueError):
        raise TasksError(
            f"{given.value!r} is no value of a parameter; give a number, a word, true or false, or"
            " a list of one of these"
        ) from None
    (result,) = _answer(node, _parameters(node, given.node).set_parameters([value])).results
    if not result.successful:
        raise TasksError(f"{given.name} was not set: {result.reason}")
    print("Set parameter successful")
    return 0


def _get_state(node: Node, given: argparse.Namespace) -> int:
    """Print the state of a lifecycle node."""
    state = _response(node, GetState, f"{given.node}/get_state", GetState.Request()).current_state
    print(f"{state.label} [{state.id}]")
    return 0


def _set_state(node: Node, given: argparse.Namespace) -> int:
    """Make a lifecycle node change its state: configure, activate, deactivate, cleanup."""
    request = ChangeState.Request()
    request.transition.label = given.transition
    if not _response(node, ChangeState, f"{given.node}/change_state", request).success:
        raise TasksError(f"{given.node} did not {given.transition}: see its log or status")
    print("Transitioning successful")
    return 0


def _become_executable(words: Sequence[str]) -> NoReturn:
    """Replace this process by an executable of a package."""
    if len(words) < 2:
        raise TasksError("ros2 run takes PACKAGE EXECUTABLE and its arguments")
    package, name, *arguments = words
    try:
        program = Path(get_package_prefix(package), "lib", package, name)
    except (PackageNotFoundError, ValueError):
        raise TasksError(f"there is no package {package!r}") from None
    if not os.access(program, os.X_OK) or not program.is_file():
        raise TasksError(f"{package} has no executable {name!r}; docs/reference/commands.md")
    os.execv(program, [str(program), *arguments])


def as_yaml(message: Any) -> str:
    """Return a message as YAML, with the names of its fields."""
    return str(yaml.safe_dump(_plain(message), sort_keys=False, default_flow_style=False))


def _plain(value: Any) -> Any:
    if hasattr(value, "get_fields_and_field_types"):
        return {name: _plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, bytes):
        return list(value)
    if hasattr(value, "tolist"):  # arrays of numbers
        return value.tolist()
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb; return the exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    installed = shutil.which("ros2")
    if installed and not os.environ.get("ARM_VENV"):
        os.execv(installed, ["ros2", *words])
    if words[:1] == ["run"] and words[1:2] not in (["-h"], ["--help"]):
        return cli.run(_parser(), lambda _: _become_executable(words[1:]), ["run"])
    return cli.run(_parser(), _run, words)


def _run(given: argparse.Namespace) -> int:
    with session():
        node = rclpy.create_node(f"ros2_{os.getpid()}")
        try:
            return int(given.run(node, given))
        except NameValidationException as error:
            raise TasksError(why_invalid(error)) from None
        finally:
            node.destroy_node()
