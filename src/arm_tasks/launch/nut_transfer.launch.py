# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer on fake, simulated or real hardware, shown in RViz or a browser."""

from arm_common.ros.launch import StartTogether, namespace_actions
from arm_tasks.bringup.launch import (
    IncludedFile,
    RvizConfig,
    check_task_and_port,
    declared,
    table_node,
    view_arguments,
    viewed_in,
)
from arm_tasks.bringup.processes import processes
from launch import LaunchDescription
from launch.actions import GroupAction, OpaqueFunction
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import (
    LaunchConfiguration,
    NotEqualsSubstitution,
    PathJoinSubstitution,
)
from launch_ros.substitutions import FindPackageShare

SHARE = FindPackageShare("arm_tasks")
BRINGUP = PathJoinSubstitution([SHARE, "launch", "bringup.launch.py"])
TABLE = {process.name: process for process in processes()}  # their parameters
RVIZ_CONFIG = PathJoinSubstitution([SHARE, "rviz", "nut_transfer.rviz"])


def generate_launch_description():
    part = LaunchConfiguration("part")
    return LaunchDescription(
        [
            *arguments(),
            StartTogether(
                [
                    # It declares the other arguments, which the nodes below share: robot, ...
                    IncludedFile(
                        PythonLaunchDescriptionSource(BRINGUP),
                        launch_arguments=[("tasks", "true")],
                    ),
                    OpaqueFunction(function=check_task_and_port),
                    GroupAction(
                        [
                            *namespace_actions(),
                            *views(),
                            # Its end may end the launch: when_done.
                            table_node(TABLE["task_client"]),
                        ],
                        condition=IfCondition(NotEqualsSubstitution(part, "hardware")),
                    ),
                ],
                scoped=False,
            ),
        ]
    )


def views():
    """Return RViz with its drag handle, or the view in a browser."""
    file = LaunchConfiguration("params_file")
    config = RvizConfig(LaunchConfiguration("rviz_config"), RVIZ_CONFIG)
    base = [LaunchConfiguration("prefix"), "base_link"]
    return [
        table_node(TABLE["tool_handle"], file, condition=viewed_in("rviz")),
        table_node(
            TABLE["rviz2"],
            file,
            condition=viewed_in("rviz"),
            arguments=["-d", config, "-f", base],
        ),
        table_node(TABLE["arm_viewer"], file, condition=viewed_in("browser")),
    ]


def arguments():
    """Return the launch arguments besides those of bringup.launch.py."""
    return [
        *declared("task", "viewer", "viewer_port", "viewer_host", "viewer_allowed_hosts"),
        *view_arguments(),
    ]
