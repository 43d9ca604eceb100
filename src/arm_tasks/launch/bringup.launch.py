# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm ready for commands: driver, states and tf, kinematics; with tasks:=true a task server."""

from arm_common.ros.launch import (
    StartTogether,
    check_nodes,
    namespace_actions,
    namespace_arguments,
)
from arm_tasks.bringup.arguments import Arg
from arm_tasks.bringup.launch import check_arguments, declared, table_node
from arm_tasks.bringup.processes import compose, processes
from launch import LaunchDescription
from launch.actions import GroupAction, OpaqueFunction
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import (
    AndSubstitution,
    EqualsSubstitution,
    IfElseSubstitution,
    LaunchConfiguration,
    NotEqualsSubstitution,
    PathJoinSubstitution,
)
from launch_ros.substitutions import FindPackageShare

CONFIG = PathJoinSubstitution([FindPackageShare("arm_tasks"), "config", "bringup.yaml"])
FILES = (CONFIG, LaunchConfiguration("params_file"))  # the last one wins
TABLE = {process.name: process for process in processes()}  # their parameters


def generate_launch_description():
    part = LaunchConfiguration("part")
    return LaunchDescription(
        [
            *arguments(),
            OpaqueFunction(function=check_nodes),
            OpaqueFunction(function=check_arguments),
            StartTogether(
                [
                    *namespace_actions(),
                    # The driver shares its process with no other node.
                    table_node(
                        TABLE["arm_hardware"],
                        *FILES,
                        condition=IfCondition(NotEqualsSubstitution(part, "rest")),
                    ),
                    GroupAction(
                        software(), condition=IfCondition(NotEqualsSubstitution(part, "hardware"))
                    ),
                ]
            ),
        ]
    )


def software():
    """Return the nodes beside the driver: in one process, or one each with composed:=false."""
    composed, tasks = LaunchConfiguration("composed"), LaunchConfiguration("tasks")
    simulated = NotEqualsSubstitution(LaunchConfiguration("hardware"), "real")
    geometric = EqualsSubstitution(LaunchConfiguration("world"), "geometric")
    world = AndSubstitution(AndSubstitution(tasks, simulated), geometric)
    in_contact = EqualsSubstitution(LaunchConfiguration("world"), "contact")
    kinematics = TABLE["kinematics"].with_parameters({"moveit_group": Arg("moveit_group")})
    # The C++ node where it is installed, otherwise ours, which behaves the same.
    publisher = TABLE["robot_state_publisher"]
    apart = not publisher.composable
    together = table_node(
        compose([publisher, kinematics, TABLE["nut_world"], TABLE["task_server"]]),
        *FILES,
        condition=IfCondition(composed),
        arguments=[
            "" if apart else "robot_state_publisher",
            "kinematics",
            IfElseSubstitution(world, "nut_world", ""),
            IfElseSubstitution(tasks, "task_server", ""),
        ],
    )
    contact = table_node(
        TABLE["contact_world"],
        *FILES,
        condition=IfCondition(AndSubstitution(tasks, in_contact)),
    )
    each = [
        table_node(kinematics, *FILES),
        table_node(TABLE["nut_world"], *FILES, condition=IfCondition(world)),
        table_node(TABLE["task_server"], *FILES, condition=IfCondition(tasks)),
    ]
    described = [table_node(publisher, *FILES)]
    return [
        *(described if apart else []),
        together,
        contact,
        GroupAction([*([] if apart else described), *each], condition=UnlessCondition(composed)),
    ]


def arguments():
    """Return the launch arguments."""
    return [
        *declared("robot", "hardware", "backend", "exit_action", "calibration"),
        *declared("world", "scene", "task_path", "part", "network", "speed"),
        *declared("use_sim_time", "composed"),
        *declared("params_file", "log_level"),
        *namespace_arguments(),
        *declared("tasks", "moveit_group", "when_failed"),
    ]
