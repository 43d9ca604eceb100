# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer on fake, simulated or real hardware, shown in RViz or a browser."""

from arm_common.ros.launch import StartTogether, set_network
from arm_tasks.bringup.launch import (
    RvizConfig,
    arm_node,
    check_task_and_port,
    declared,
    on_last_task_exit,
    on_task_exit,
    on_task_start,
    table_node,
    view_arguments,
    viewed_in,
)
from arm_tasks.bringup.processes import processes
from launch import LaunchDescription
from launch.actions import (
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.conditions import IfCondition, UnlessCondition
from launch.event_handlers import OnProcessExit, OnProcessStart
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import (
    EqualsSubstitution,
    LaunchConfiguration,
    NotEqualsSubstitution,
    PathJoinSubstitution,
)
from launch_ros.actions import PushRosNamespace, SetRemap
from launch_ros.substitutions import FindPackageShare

SHARE = FindPackageShare("arm_tasks")
BRINGUP = PathJoinSubstitution([SHARE, "launch", "bringup.launch.py"])
TABLE = {process.name: process for process in processes()}  # their parameters
RVIZ_CONFIG = PathJoinSubstitution([SHARE, "rviz", "nut_transfer.rviz"])


def generate_launch_description():
    private_tf = IfCondition(LaunchConfiguration("private_tf"))
    part = LaunchConfiguration("part")
    return LaunchDescription(
        [
            *arguments(),
            StartTogether(
                [
                    # It declares the other arguments, which the nodes below share: robot, ...
                    IncludeLaunchDescription(
                        PythonLaunchDescriptionSource(BRINGUP),
                        launch_arguments=[("tasks", "true")],
                    ),
                    OpaqueFunction(function=check_task_and_port),
                    GroupAction(
                        [
                            OpaqueFunction(function=set_network),
                            PushRosNamespace(LaunchConfiguration("namespace")),
                            SetRemap("/tf", "tf", condition=private_tf),
                            SetRemap("/tf_static", "tf_static", condition=private_tf),
                            *views(),
                            *task(),
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


def task():
    """Return the client that runs the task, and what its end means for the launch."""
    client = arm_node(
        "arm_tasks",
        "run_task",
        "task_client",
        [],
        arguments=[
            LaunchConfiguration("task"),
            *("--scene", LaunchConfiguration("scene")),
            *("--robot", LaunchConfiguration("robot")),
            *("--calibration", LaunchConfiguration("calibration")),
        ],
    )
    ends_launch = EqualsSubstitution(LaunchConfiguration("when_done"), "shutdown")
    return [
        RegisterEventHandler(OnProcessStart(target_action=client, on_start=on_task_start)),
        RegisterEventHandler(
            OnProcessExit(target_action=client, on_exit=on_last_task_exit),
            condition=IfCondition(ends_launch),
        ),
        RegisterEventHandler(
            OnProcessExit(target_action=client, on_exit=on_task_exit),
            condition=UnlessCondition(ends_launch),
        ),
        client,
    ]


def arguments():
    """Return the launch arguments besides those of bringup.launch.py."""
    return [
        *declared("task", "viewer", "viewer_port", "viewer_host", "viewer_allowed_hosts"),
        *view_arguments(RVIZ_CONFIG, "the last task has ended or failed"),
    ]
