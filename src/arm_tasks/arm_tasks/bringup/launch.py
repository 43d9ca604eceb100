# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table of processes as launch actions, for the launch files."""

import os
from collections.abc import Sequence
from typing import Any

from arm_common.network import node_environment
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from arm_tasks.bringup.processes import Argument, Process, chosen
from arm_tasks.bringup.supervisor import resolve

# mypy: disable-error-code="attr-defined"


def launch_description(
    arguments: Sequence[Argument], processes: Sequence[Process]
) -> LaunchDescription:
    """Return the description of a launch file: its arguments, then the enabled processes.

    The processes are chosen by an OpaqueFunction instead of conditions and substitutions: the
    table's functions of the arguments then give the same processes for `./arm` and for launch.
    """

    def enabled(context: LaunchContext) -> list[Any]:
        values = {a.name: LaunchConfiguration(a.name).perform(context) for a in arguments}
        return [a for process in chosen(processes, values) for a in actions(process, values)]

    declared = [
        DeclareLaunchArgument(
            a.name, default_value=a.default, description=a.text, choices=list(a.choices) or None
        )
        for a in arguments
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=enabled)])


def actions(process: Process, values: dict[str, str]) -> list[Any]:
    """Return the launch actions of one process of the table."""
    parameters = {key: resolve(value, values) for key, value in process.parameters.items()}
    node = Node(
        package=process.package,
        executable=process.executable,
        name=process.remapping or None,
        # a string stays a string even if it looks like a number
        parameters=[
            {k: ParameterValue(v, value_type=type(v)) for k, v in parameters.items()},
        ],
        arguments=[str(resolve(value, values)) for value in process.arguments],
        ros_arguments=["--enclave", process.enclave],
        output="screen",
        env=node_environment(os.environ, values["network"]),
    )

    def on_exit(event: Any, context: LaunchContext) -> list[Any]:
        """Fail if the process failed; otherwise shut down unless a view stays open."""
        if context.is_shutdown:
            return []
        if event.returncode != 0:
            crash = f"{event.process_name} ended with code {event.returncode}"
            what = "the task failed" if process.ends_all else crash
            raise RuntimeError(f"{what}; its last line gives the reason")
        if process.ends_all and values["viewer"] != "none":
            return []
        done = "the task is done" if process.ends_all else f"{event.process_name} ended"
        return [Shutdown(reason=done)]

    return [node, RegisterEventHandler(OnProcessExit(target_action=node, on_exit=on_exit))]
