# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/launch/test_end_of_launch.py
"""What the launch files of all packages share: start, network and parameters of their nodes."""

import asyncio
import os
from collections.abc import Iterable
from typing import Any

from ament_index_python.packages import PackageNotFoundError
from launch import LaunchContext
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    LogInfo,
    OpaqueFunction,
    SetEnvironmentVariable,
    UnsetEnvironmentVariable,
)
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch.utilities import visit_all_entities_and_collect_futures
from launch_ros.actions import PushRosNamespace, SetRemap

from arm_common.errors import InputError
from arm_common.network import node_environment, report_reach
from arm_common.ros.node_runner import checked_namespace
from arm_common.signals import LAUNCH_HOLDS_STDIN
from arm_common.yaml.document import check_params_file

# mypy: disable-error-code="attr-defined, misc"

_REACH = "arm_reach"  # global of the launch context: the sentences that have been logged


class StartTogether(GroupAction):
    """Starts the processes of a launch file, or none of them if any action raises an exception.

    launch visits all actions before the first process starts. By itself, it would then start the
    processes that precede the exception, and leave them behind.
    """

    def __init__(self, actions: Iterable[Any], scoped: bool = True) -> None:
        super().__init__(actions, scoped=scoped)
        self._futures: list[Any] = []

    def get_asyncio_future(self) -> Any:
        """Return a future that is done once all of the actions are."""
        return asyncio.gather(*self._futures, return_exceptions=True) if self._futures else None

    def execute(self, context: LaunchContext) -> None:
        """Visit all actions; cancel what they have scheduled if one of them raises."""
        before = _scheduled(context)
        try:
            for action in super().execute(context):
                pairs = visit_all_entities_and_collect_futures(action, context)
                self._futures += [future for _, future in pairs]
        except Exception as error:
            for task in _scheduled(context) - before:
                task.cancel()
            if isinstance(error, PackageNotFoundError):
                remedy = "nothing was started; install it, or choose arguments without it"
                raise InputError(str(error.args[0]), remedy=remedy) from error
            raise


def _scheduled(context: LaunchContext) -> set[Any]:
    """Return the tasks of launch, none if it does not run."""
    return asyncio.all_tasks(context.asyncio_loop) if context.asyncio_loop else set()


def set_network(context: LaunchContext) -> list[Any]:
    """Return the actions that let the nodes of a group be reached as `network` says.

    They also tell the nodes that they end with launch, which holds their standard input.
    The first of a launch, and each that decides otherwise, logs from where they are reached.

    Raises:
        InputError: ARM_NETWORK has an invalid value.
    """
    chosen = node_environment(os.environ, context.launch_configurations["network"])
    reach = report_reach(chosen)
    logged = context.get_locals_as_dict().get(_REACH, ())
    context.extend_globals({_REACH: (*logged, reach)})
    changed = {name: value for name, value in chosen.items() if os.environ.get(name) != value}
    return [
        *([LogInfo(msg=reach)] if reach and reach not in logged else []),
        SetEnvironmentVariable(LAUNCH_HOLDS_STDIN, "1"),
        *(SetEnvironmentVariable(name, value) for name, value in changed.items()),
        *(UnsetEnvironmentVariable(name) for name in os.environ.keys() - chosen.keys()),
    ]


def check_nodes(context: LaunchContext) -> None:
    """Raise InputError if `params_file` or `namespace` is invalid: nodes would report it late."""
    check_params_file(context.launch_configurations)
    checked_namespace(context.launch_configurations["namespace"])


def namespace_arguments() -> list[Any]:
    """Declare the arguments that give the nodes of one arm their place among others."""
    return [
        DeclareLaunchArgument(
            "namespace",
            default_value="",
            description="Namespace of the nodes, one for each arm; empty for none.",
        ),
        DeclareLaunchArgument(
            "prefix",
            default_value="",
            description="Prefix of the names of links, frames and joints, such as left_.",
        ),
        DeclareLaunchArgument(
            "private_tf",
            default_value="false",
            choices=["true", "false"],
            description="Whether the namespace has a tf of its own: /tf is remapped to tf.",
        ),
    ]


def namespace_actions() -> list[Any]:
    """Return the actions that begin a group of nodes: `network`, `namespace` and `private_tf`."""
    private_tf = IfCondition(LaunchConfiguration("private_tf"))
    return [
        OpaqueFunction(function=set_network),
        PushRosNamespace(LaunchConfiguration("namespace")),
        SetRemap("/tf", "tf", condition=private_tf),
        SetRemap("/tf_static", "tf_static", condition=private_tf),
    ]
