# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table of processes as launch actions, for the launch files."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, RegisterEventHandler, Shutdown
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.substitutions import (
    AndSubstitution,
    Command,
    EqualsSubstitution,
    LaunchConfiguration,
    OrSubstitution,
    PathJoinSubstitution,
    PythonExpression,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import ExecutableInPackage, FindPackageShare

from arm_tasks.bringup.processes import (
    Arg,
    Argument,
    ConfigFile,
    Process,
    RobotDescription,
    UseSimTime,
    Value,
)

# mypy: disable-error-code="attr-defined"


def launch_description(
    arguments: Sequence[Argument], processes: Sequence[Process]
) -> LaunchDescription:
    """Return the description of a launch file: its arguments, then its processes."""
    declared = [
        DeclareLaunchArgument(
            a.name, default_value=a.default, description=a.text, choices=list(a.choices) or None
        )
        for a in arguments
    ]
    return LaunchDescription([*declared, *(action for p in processes for action in actions(p))])


def actions(process: Process) -> list[Any]:
    """Return the launch actions of one process of the table."""
    node = Node(
        package=process.package,
        executable=process.executable,
        name=process.name,
        parameters=[{key: parameter(value) for key, value in process.parameters.items()}],
        arguments=[text(value) for value in process.arguments],
        ros_arguments=["--enclave", process.enclave],
        condition=condition(process.when),
        output="screen",
    )
    on_exit = _on_task_exit if process.ends_all else _on_node_exit
    return [node, RegisterEventHandler(OnProcessExit(target_action=node, on_exit=on_exit))]


def _on_node_exit(event: Any, context: Any) -> list[Any]:
    """Shut down with a node; fail if the node failed."""
    if context.is_shutdown:
        return []
    if event.returncode != 0:
        raise RuntimeError(f"{event.process_name} ended with code {event.returncode}")
    return [Shutdown(reason=f"{event.process_name} ended")]


def _on_task_exit(event: Any, context: Any) -> list[Any]:
    """Fail if the task failed; shut down unless a view is open."""
    if context.is_shutdown:
        return []
    if event.returncode != 0:
        raise RuntimeError("the task failed; its last line gives the reason")
    has_view = LaunchConfiguration("viewer").perform(context) != "none"
    return [] if has_view else [Shutdown(reason="the task is done")]


def condition(when: Mapping[str, tuple[str, ...]]) -> Any:
    """Return the condition under which a process is started."""
    terms = [
        reduce(OrSubstitution, [EqualsSubstitution(LaunchConfiguration(name), v) for v in values])
        for name, values in when.items()
    ]
    return IfCondition(reduce(AndSubstitution, terms)) if terms else None


def text(value: Value) -> Any:
    """Return a command-line argument as a substitution."""
    if isinstance(value, Arg):
        return LaunchConfiguration(value.name)
    if isinstance(value, ConfigFile):
        return PathJoinSubstitution([FindPackageShare(value.package), value.file])
    return value


def parameter(value: Value) -> Any:
    """Return a parameter as a launch value."""
    if isinstance(value, Arg):
        return ParameterValue(LaunchConfiguration(value.name), value_type=value.kind)
    if isinstance(value, UseSimTime):
        return ParameterValue(
            PythonExpression(["float('", LaunchConfiguration("speed"), "') != 1.0"]),
            value_type=bool,
        )
    if isinstance(value, RobotDescription):
        command = [
            ExecutableInPackage("dh2urdf", "arm_description"),
            " ",
            LaunchConfiguration("robot"),
        ]
        return ParameterValue(Command(command), value_type=str)
    return value
