# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two arms side by side, left and right, each with its own nodes; both do the task at once."""

from arm_common.ros.launch import StartTogether, set_network
from arm_tasks.bringup.arguments import Arg
from arm_tasks.bringup.launch import (
    RvizConfig,
    arm_node,
    declared,
    exit_handlers,
    failure_argument,
    on_view_exit,
    sim_time,
    view_arguments,
    viewed_in,
)
from arm_tasks.bringup.several_arms import marker_topics, world_urdf
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import (
    LaunchConfiguration,
    PathJoinSubstitution,
)
from launch_ros.actions import SetParameter, SetRemap
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

SHARE = FindPackageShare("arm_tasks")
ONE_ARM = PathJoinSubstitution([SHARE, "launch", "nut_transfer.launch.py"])
RVIZ_CONFIG = PathJoinSubstitution([SHARE, "rviz", "two_arms.rviz"])
ARMS = ("left", "right")


def generate_launch_description():
    return LaunchDescription(
        [
            *arguments(),
            StartTogether(
                [
                    *(arm(name, publish_clock=name == ARMS[0]) for name in ARMS),
                    OpaqueFunction(function=set_network),
                    OpaqueFunction(function=world),
                    *rviz(),
                    *browser(),
                ]
            ),
        ]
    )


def arm(name, publish_clock):
    """Return one arm with its task; a message on arm_hardware/emergency_stop stops all arms."""
    above = LaunchConfiguration("ros_namespace", default="")
    return GroupAction(
        [
            SetParameter("publish_clock", publish_clock),
            SetRemap("arm_hardware/emergency_stop", [above, "/arm_hardware/emergency_stop"]),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(ONE_ARM),
                launch_arguments=[
                    ("namespace", name),
                    ("prefix", f"{name}_"),
                    ("calibration", LaunchConfiguration(f"{name}_calibration")),
                    ("when_done", LaunchConfiguration("when_done")),
                    ("when_failed", LaunchConfiguration("when_failed")),
                    ("viewer", "none"),
                ],
            ),
        ]
    )


def world(context):
    """Return the publisher of where the arms stand, and of one description of both."""
    values = context.launch_configurations
    urdf = world_urdf(values["robot"], ARMS, Arg("spacing", float)(values))
    node = arm_node(
        "arm_description",
        "state_publisher",
        "robot_state_publisher",
        [{"robot_description": ParameterValue(urdf, value_type=str), **sim_time()}],
        enclave="arm_nodes",
    )
    return [*exit_handlers([node]), node]


def rviz():
    """Return RViz with both arms, a drag handle for each, and what their end means."""
    shown = viewed_in("rviz")
    handles = [
        arm_node(
            "arm_viewer",
            "tool_handle",
            "tool_handle",
            [{"prefix": f"{name}_", **sim_time()}],
            namespace=name,
            condition=shown,
        )
        for name in ARMS
    ]
    config = RvizConfig(LaunchConfiguration("rviz_config"), RVIZ_CONFIG)
    window = arm_node(
        "rviz2", "rviz2", "rviz2", [sim_time()], arguments=["-d", config], condition=shown
    )
    return [
        *exit_handlers(handles),
        *exit_handlers([window], on_view_exit),
        *handles,
        window,
    ]


def browser():
    """Return the view of both arms in a browser; it moves neither."""
    values = {
        "prefix": f"{ARMS[0]}_",
        "marker_topics": marker_topics(ARMS),
        "port": ParameterValue(LaunchConfiguration("viewer_port"), value_type=int),
        **sim_time(),
    }
    view = arm_node("arm_viewer", "viewer", "arm_viewer", [values], condition=viewed_in("browser"))
    return [*exit_handlers([view], on_view_exit), view]


def arguments():
    """Return the launch arguments; those of nut_transfer.launch.py apply to both arms."""
    return [
        *declared("viewer", "viewer_port", "speed", "network"),
        DeclareLaunchArgument(
            "robot",
            default_value="nut_arm",
            description="Robot of both arms: a shipped name or the path of a YAML file.",
        ),
        DeclareLaunchArgument(
            "spacing",
            default_value="0.6",
            description="Distance between the bases [m]; more than twice the arms' reach, since"
            " neither plans around the other.",
        ),
        *(
            DeclareLaunchArgument(
                f"{name}_calibration",
                default_value="",
                description=f"Servo calibration of the {name} arm, with the address of its board:"
                " a shipped name or a path; empty means the robot's own.",
            )
            for name in ARMS
        ),
        *view_arguments(RVIZ_CONFIG, "both tasks have ended or failed"),
        failure_argument(),
    ]
