# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""View an arm and move its joints with sliders: robot:=puma560, or the path of a robot file."""

from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from arm_common.errors import InputError
from arm_common.ros.launch import (
    StartTogether,
    check_nodes,
    namespace_actions,
    namespace_arguments,
)
from arm_description.library import DEFAULT_ROBOT, load_robot
from arm_description.rviz_config import write_config
from launch import LaunchDescription, Substitution
from launch.actions import DeclareLaunchArgument, OpaqueFunction
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

SHARE = FindPackageShare("arm_description")
TEMPLATE = PathJoinSubstitution([SHARE, "rviz", "view_arm.rviz"])
CONFIG = PathJoinSubstitution([SHARE, "config", "view_arm.yaml"])


def generate_launch_description():
    return LaunchDescription(
        [
            *_arguments(),
            OpaqueFunction(function=_check_arguments),
            StartTogether(
                [
                    *namespace_actions(),
                    OpaqueFunction(function=_nodes),
                ]
            ),
        ]
    )


def _check_arguments(context):
    """Raise InputError for a file that launch itself does not check."""
    check_nodes(context)
    load_robot(context.launch_configurations["robot"])


def _nodes(context):
    """Return all nodes; `params_file` overrides the shipped and their own parameters."""
    params_file = context.launch_configurations["params_file"]
    start = partial(_node, [CONFIG, *([params_file] if params_file else [])])
    return [*_description(start), *_tool(start), *_windows(start)]


def _description(start):
    """Return the publisher of the robot, and the watcher of its file."""
    dh_frames = LaunchConfiguration("dh_frames")
    urdf = Command(
        [
            ExecutableInPackage("dh2urdf", "arm_description"),
            *(" '", LaunchConfiguration("robot"), "'"),
            *(" '--prefix=", LaunchConfiguration("prefix"), "'"),
            IfElseSubstitution(dh_frames, " --dh-frames", ""),
        ]
    )
    watched = {
        "robot": _text("robot"),
        "prefix": _text("prefix"),
        "dh_frames": ParameterValue(dh_frames, value_type=bool),
    }
    return [
        start(
            "robot_state_publisher",
            "robot_state_publisher",
            # As a string: launch would otherwise read the XML as YAML.
            {"robot_description": ParameterValue(urdf, value_type=str)},
        ),
        start("arm_description", "robot_file_watcher", watched, output="screen"),
    ]


def _tool(start):
    """Return the nodes for markers and the tool handle, if their packages are installed."""
    found = (("arm_kinematics", "kinematics"), ("arm_viewer", "tool_handle"))
    return [
        start(package, executable, {"prefix": _text("prefix")})
        for package, executable in found
        if _is_installed(package)
    ]


def _windows(start):
    """Return the joint sliders and RViz."""
    return [
        start(
            "joint_state_publisher_gui",
            "joint_state_publisher_gui",
            condition=IfCondition(LaunchConfiguration("gui")),
        ),
        start(
            "rviz2",
            "rviz2",
            arguments=["-d", RvizConfig(), "-f", [LaunchConfiguration("prefix"), "base_link"]],
            condition=IfCondition(LaunchConfiguration("rviz")),
        ),
    ]


def _node(files, package, executable, values=None, **options):
    """Return a node named after its executable; the last parameter file takes precedence."""
    return Node(
        package=package,
        executable=executable,
        name=executable,
        parameters=[*([values] if values else []), *files],
        ros_arguments=["--log-level", LaunchConfiguration("log_level")],
        **options,
    )


def _text(name):
    """Return a launch argument as a string, even if it looks like a number."""
    return ParameterValue(LaunchConfiguration(name), value_type=str)


class RvizConfig(Substitution):
    """Path of the RViz configuration: the given one, or one written for the robot."""

    def describe(self):
        """Return its text in messages of launch."""
        return "RvizConfig()"

    def perform(self, context):
        """Return the path."""
        config = LaunchConfiguration("rviz_config").perform(context)
        if config and not Path(config).is_file():
            raise InputError(f"rviz_config is {config}, which is not a file; give a path")
        if config:
            return config
        file = Path(mkdtemp(dir=launch_config.log_dir)) / "view_arm.rviz"
        robot = LaunchConfiguration("robot").perform(context)
        write_config(robot, Path(TEMPLATE.perform(context)), file)
        return str(file)


def _is_installed(package):
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def _arguments():
    """Return the arguments: default, words to choose from, and description by name."""
    switch, levels = ["true", "false"], ["debug", "info", "warn", "error", "fatal"]
    table = {
        "robot": (DEFAULT_ROBOT, None, "Name of a shipped robot, or path of a robot file."),
        "dh_frames": ("false", switch, "Whether to add the DH frames dh_0 .. dh_n."),
        "gui": ("true", switch, "Whether to show joint sliders."),
        "rviz": ("true", switch, "Whether to open RViz."),
        "rviz_config": ("", None, "RViz configuration file; by default one fitted to the robot."),
        "network": (
            "auto",
            ["auto", "this_computer", "subnet"],
            "Who reaches the nodes: this_computer, subnet (every computer of the network), or "
            "auto: as ARM_NETWORK says, this computer if it is not set.",
        ),
        "params_file": (
            "",
            None,
            "Parameters of the nodes, by node; they win over the other arguments.",
        ),
        "log_level": ("info", levels, "Least severity of the messages that the nodes log."),
    }
    robot, *others = (
        DeclareLaunchArgument(name, default_value=default, choices=words, description=text)
        for name, (default, words, text) in table.items()
    )
    return [robot, *namespace_arguments(), *others]
