# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer on fake, simulated or real hardware, shown in RViz or a browser."""

from arm_common.ros.launch import StartTogether, set_network
from arm_tasks.bringup.launch import (
    RvizConfig,
    check_task_and_port,
    declared,
    exit_handlers,
    on_last_task_exit,
    on_task_exit,
    on_task_start,
    on_view_exit,
    sim_time,
    text,
)
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
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
    IfElseSubstitution,
    LaunchConfiguration,
    NotEqualsSubstitution,
    PathJoinSubstitution,
)
from launch_ros.actions import Node, PushRosNamespace, SetRemap
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

SHARE = FindPackageShare("arm_tasks")
BRINGUP = PathJoinSubstitution([SHARE, "launch", "bringup.launch.py"])
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
                            *rviz(viewer("rviz")),
                            *browser(viewer("browser")),
                            *task(),
                        ],
                        condition=IfCondition(NotEqualsSubstitution(part, "hardware")),
                    ),
                ],
                scoped=False,
            ),
        ]
    )


def viewer(kind):
    """Return the condition that the view is of a kind."""
    return IfCondition(EqualsSubstitution(LaunchConfiguration("viewer"), kind))


def rviz(condition):
    """Return RViz, its drag handle, and what their end means."""
    prefix = LaunchConfiguration("prefix")
    parameters = [{"prefix": text("prefix"), **sim_time()}, LaunchConfiguration("params_file")]
    handle = Node(
        package="arm_viewer",
        executable="tool_handle",
        name="tool_handle",
        parameters=parameters,
        output="screen",
        condition=condition,
        ros_arguments=ros_arguments("tool_handle"),
    )
    window = Node(
        package="rviz2",
        executable="rviz2",
        name="rviz2",
        arguments=[
            *("-d", RvizConfig(LaunchConfiguration("rviz_config"), RVIZ_CONFIG)),
            *("-f", [prefix, "base_link"]),
        ],
        parameters=parameters,
        output="screen",
        condition=condition,
        ros_arguments=ros_arguments("rviz2"),
    )
    return [*exit_handlers([handle]), *exit_handlers([window], on_view_exit), handle, window]


def browser(condition):
    """Return the view in a browser, and what its end means."""
    values = {
        "robot": text("robot"),
        "prefix": text("prefix"),
        "host": text("viewer_host"),
        "port": ParameterValue(LaunchConfiguration("viewer_port"), value_type=int),
        "allowed_hosts": text("viewer_allowed_hosts"),
        "drive": True,
        "show_axes": False,
        "scene": text("scene"),
        **sim_time(),
    }
    view = Node(
        package="arm_viewer",
        executable="viewer",
        name="arm_viewer",
        parameters=[values, LaunchConfiguration("params_file")],
        output="screen",
        condition=condition,
        ros_arguments=ros_arguments("arm_viewer"),
    )
    return [*exit_handlers([view], on_view_exit), view]


def task():
    """Return the client that runs the task, and what its end means for the launch."""
    client = Node(
        package="arm_tasks",
        executable="run_task",
        name="task_client",
        arguments=[
            LaunchConfiguration("task"),
            *("--scene", LaunchConfiguration("scene")),
            *("--robot", LaunchConfiguration("robot")),
            *("--calibration", LaunchConfiguration("calibration")),
        ],
        output="screen",
        ros_arguments=ros_arguments("task_client"),
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


def ros_arguments(enclave):
    """Return the ROS arguments of a node: security enclave and log level."""
    return ["--enclave", f"/arm/{enclave}", "--log-level", LaunchConfiguration("log_level")]


def arguments():
    """Return the launch arguments besides those of bringup.launch.py."""
    without_view = EqualsSubstitution(LaunchConfiguration("viewer"), "none")
    return [
        *declared("task", "viewer", "viewer_port", "viewer_host", "viewer_allowed_hosts"),
        DeclareLaunchArgument(
            "when_done",
            default_value=IfElseSubstitution(without_view, "shutdown", "stay"),
            choices=["shutdown", "stay"],
            description="What happens when the task has ended or failed: shutdown ends the launch"
            " after its last task, stay leaves it running; by default stay with a view.",
        ),
        DeclareLaunchArgument(
            "rviz_config",
            default_value=RVIZ_CONFIG,
            description="RViz configuration; the shipped one is opened as a copy.",
        ),
    ]
