# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""View an arm and move its joints with sliders: robot:=puma560, or the path of a robot file."""

import os
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from arm_common.network import limit_to_this_computer
from arm_description.exporters.rviz_config import write_config
from launch import LaunchDescription, Substitution
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.logging import launch_config
from launch.substitutions import (
    Command,
    IfElseSubstitution,
    LaunchConfiguration,
    PathJoinSubstitution,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import ExecutableInPackage, FindPackageShare

TEMPLATE = PathJoinSubstitution([FindPackageShare("arm_description"), "rviz", "view_arm.rviz"])
LAYERS = ("joint_limits", "text", "trace", "reach_circles")  # shown by default


def generate_launch_description():
    limited = limit_to_this_computer(dict(os.environ))
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
                env=limited,
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
                env=limited,
            ),
            Node(
                package="joint_state_publisher_gui",
                executable="joint_state_publisher_gui",
                parameters=[{"source_list": ["joint_targets"]}],  # of ./arm play
                condition=IfCondition(LaunchConfiguration("gui")),
                env=limited,
            ),
            *_optional_nodes(prefix, limited),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", RvizConfig(), "-f", [prefix, "base_link"]],
                condition=IfCondition(LaunchConfiguration("rviz")),
                env=limited,
            ),
        ]
    )


class RvizConfig(Substitution):
    """Path of the RViz configuration: the given one, or one written for the robot."""

    def describe(self):
        """Return its text in messages of launch."""
        return "RvizConfig()"

    def perform(self, context):
        """Return the path."""
        config = LaunchConfiguration("rviz_config").perform(context)
        if config:
            return config
        file = Path(launch_config.log_dir) / "view_arm.rviz"
        robot = LaunchConfiguration("robot").perform(context)
        write_config(robot, Path(TEMPLATE.perform(context)), file)
        return str(file)


def _optional_nodes(prefix, limited):
    """Return the nodes for markers and the tool handle, if their packages are installed."""
    tool = ParameterValue([prefix, "tool0"], value_type=str)
    return [
        Node(package=package, executable=executable, parameters=[parameters], env=limited)
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
            "prefix", default_value="", description="Prefix of every link and joint name."
        ),
        DeclareLaunchArgument(
            "dh_frames",
            default_value="false",
            choices=switch,
            description="Whether to add the DH frames dh_0 .. dh_n.",
        ),
        DeclareLaunchArgument(
            "gui",
            default_value="true",
            choices=switch,
            description="Whether to show joint sliders.",
        ),
        DeclareLaunchArgument(
            "rviz", default_value="true", choices=switch, description="Whether to open RViz."
        ),
        DeclareLaunchArgument(
            "rviz_config",
            default_value="",
            description="RViz configuration file; by default one fitted to the robot.",
        ),
    ]
