# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Look at an arm and move its joints with sliders: robot:=puma560, or the path of a robot file."""

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import (
    Command,
    IfElseSubstitution,
    LaunchConfiguration,
    PathJoinSubstitution,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import ExecutableInPackage, FindPackageShare

RVIZ_CONFIG = PathJoinSubstitution([FindPackageShare("arm_description"), "rviz", "view_arm.rviz"])
LAYERS = ("joint_limits", "text", "trace", "reach_circles")  # that RViz shows at first


def generate_launch_description():
    robot, prefix = LaunchConfiguration("robot"), LaunchConfiguration("prefix")
    urdf = Command(
        [
            ExecutableInPackage("dh2urdf", "arm_description"),
            *(" '", robot, "' '--prefix=", prefix, "'"),
            IfElseSubstitution(LaunchConfiguration("dh_frames"), " --dh-frames", ""),
        ]
    )
    return LaunchDescription(
        [
            *_arguments(),
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                # As a string: launch would otherwise read the XML as YAML.
                parameters=[{"robot_description": ParameterValue(urdf, value_type=str)}],
            ),
            Node(
                package="arm_description",
                executable="robot_file_watcher",
                parameters=[
                    {
                        "robot": ParameterValue(robot, value_type=str),
                        "prefix": ParameterValue(prefix, value_type=str),
                        "dh_frames": ParameterValue(
                            LaunchConfiguration("dh_frames"), value_type=bool
                        ),
                    }
                ],
                output="screen",
            ),
            Node(
                package="joint_state_publisher_gui",
                executable="joint_state_publisher_gui",
                parameters=[{"source_list": ["joint_targets"]}],  # of ./arm play
                condition=IfCondition(LaunchConfiguration("gui")),
            ),
            *_more_to_see(prefix),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", LaunchConfiguration("rviz_config"), "-f", [prefix, "base_link"]],
                condition=IfCondition(LaunchConfiguration("rviz")),
            ),
        ]
    )


def _more_to_see(prefix):
    """Return what draws the kinematics and drags the tool, where these packages are installed."""
    tool = ParameterValue([prefix, "tool0"], value_type=str)
    return [
        Node(package=package, executable=executable, parameters=[parameters])
        for package, executable, parameters in (
            (
                "arm_kinematics",
                "kinematics",
                {"tip_frame": tool, **{f"markers.{layer}": True for layer in LAYERS}},
            ),
            ("arm_viewer", "tool_handle", {"tool_frame": tool}),
        )
        if _is_installed(package)
    ]


def _is_installed(package):
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def _arguments():
    switch = ["true", "false"]
    return [
        DeclareLaunchArgument(
            "robot",
            default_value="nut_arm",
            description="Name of a shipped robot, or path of a robot file.",
        ),
        DeclareLaunchArgument(
            "prefix", default_value="", description="Put before every link and joint name."
        ),
        DeclareLaunchArgument(
            "dh_frames",
            default_value="false",
            choices=switch,
            description="Whether to add the frames dh_0 .. dh_n of the table.",
        ),
        DeclareLaunchArgument(
            "gui",
            default_value="true",
            choices=switch,
            description="Whether to open sliders for the joints.",
        ),
        DeclareLaunchArgument(
            "rviz", default_value="true", choices=switch, description="Whether to open RViz."
        ),
        DeclareLaunchArgument(
            "rviz_config", default_value=RVIZ_CONFIG, description="Configuration file of RViz."
        ),
    ]
