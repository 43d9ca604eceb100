# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table of processes as launch actions, for the launch files of this package."""

from collections.abc import Mapping, Sequence
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
    """Return what a launch file gives: its arguments, then its processes."""
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
    on_exit = end_of_task if process.ends_all else end_of_node
    return [node, RegisterEventHandler(OnProcessExit(target_action=node, on_exit=on_exit))]


def end_of_node(event: Any, context: Any) -> list[Any]:
    """End the launch with a node; fail it if the node failed."""
    if context.is_shutdown:
        return []
    if event.returncode != 0:
        raise RuntimeError(f"{event.process_name} ended with code {event.returncode}")
    return [Shutdown(reason=f"{event.process_name} ended")]


def end_of_task(event: Any, context: Any) -> list[Any]:
    """Fail the launch if the task failed; end it if nobody is looking."""
    if context.is_shutdown:
        return []
    if event.returncode != 0:
        raise RuntimeError("the task was not done; its last line says why")
    nobody_looks = LaunchConfiguration("viewer").perform(context) == "none"
    return [Shutdown(reason="the task is done")] if nobody_looks else []


def condition(when: Mapping[str, tuple[str, ...]]) -> Any:
    """Return the condition of a process: each argument has one of its values."""
    terms = [
        any_of([EqualsSubstitution(LaunchConfiguration(name), v) for v in values])
        for name, values in when.items()
    ]
    if not terms:
        return None
    whole = terms[0]
    for term in terms[1:]:
        whole = AndSubstitution(whole, term)
    return IfCondition(whole)


def any_of(terms: Sequence[Any]) -> Any:
    """Return the substitution that is true if one of the terms is."""
    whole = terms[0]
    for term in terms[1:]:
        whole = OrSubstitution(whole, term)
    return whole


def text(value: Value) -> Any:
    """Return the substitution for a command-line argument of the table."""
    if isinstance(value, Arg):
        return LaunchConfiguration(value.name)
    if isinstance(value, ConfigFile):
        return PathJoinSubstitution([FindPackageShare(value.package), value.file])
    return value


def parameter(value: Value) -> Any:
    """Return the launch value for a parameter of the table."""
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
