# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two arms side by side, left and right, each with its own nodes; both do the task at once."""

from arm_common.ros.launch import StartTogether, set_network
from arm_tasks.bringup.arguments import Arg
from arm_tasks.bringup.launch import RvizConfig, declared, exit_handlers, on_view_exit
from arm_tasks.bringup.several_arms import marker_topics, world_urdf
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import (
    EqualsSubstitution,
    IfElseSubstitution,
    LaunchConfiguration,
    PathJoinSubstitution,
    PythonExpression,
)
from launch_ros.actions import Node, SetParameter, SetRemap
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
                    *rviz(viewer("rviz")),
                    *browser(viewer("browser")),
                ]
            ),
        ]
    )


def viewer(kind):
    """Return the condition that the view is of a kind."""
    return IfCondition(EqualsSubstitution(LaunchConfiguration("viewer"), kind))


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
    node = Node(
        package="arm_description",
        executable="state_publisher",
        name="robot_state_publisher",
        parameters=[{"robot_description": ParameterValue(urdf, value_type=str), **sim_time()}],
        output="screen",
        ros_arguments=["--enclave", "/arm/arm_nodes"],
    )
    return [*exit_handlers([node]), node]


def rviz(condition):
    """Return RViz with both arms, a drag handle for each, and what their end means."""
    handles = [
        Node(
            package="arm_viewer",
            executable="tool_handle",
            name="tool_handle",
            namespace=name,
            parameters=[{"prefix": f"{name}_", **sim_time()}],
            output="screen",
            condition=condition,
            ros_arguments=["--enclave", "/arm/tool_handle"],
        )
        for name in ARMS
    ]
    view = Node(
        package="rviz2",
        executable="rviz2",
        name="rviz2",
        arguments=["-d", RvizConfig(LaunchConfiguration("rviz_config"), RVIZ_CONFIG)],
        parameters=[sim_time()],
        output="screen",
        condition=condition,
        ros_arguments=["--enclave", "/arm/rviz2"],
    )
    return [
        *exit_handlers(handles),
        *exit_handlers([view], on_view_exit),
        *handles,
        view,
    ]


def browser(condition):
    """Return the view of both arms in a browser; it moves neither."""
    values = {
        "prefix": f"{ARMS[0]}_",
        "marker_topics": marker_topics(ARMS),
        "port": ParameterValue(LaunchConfiguration("viewer_port"), value_type=int),
        **sim_time(),
    }
    view = Node(
        package="arm_viewer",
        executable="viewer",
        name="arm_viewer",
        parameters=[values],
        output="screen",
        condition=condition,
        ros_arguments=["--enclave", "/arm/arm_viewer"],
    )
    return [*exit_handlers([view], on_view_exit), view]


def sim_time():
    """Return the parameter use_sim_time: true unless simulated time runs as fast as real time."""
    simulated = PythonExpression(["float(", LaunchConfiguration("speed"), ") != 1.0"])
    return {"use_sim_time": ParameterValue(simulated, value_type=bool)}


def arguments():
    """Return the launch arguments; those of nut_transfer.launch.py apply to both arms."""
    without_view = EqualsSubstitution(LaunchConfiguration("viewer"), "none")
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
        DeclareLaunchArgument(
            "when_done",
            default_value=IfElseSubstitution(without_view, "shutdown", "stay"),
            choices=["shutdown", "stay"],
            description="What happens when both tasks have ended or failed: shutdown ends the"
            " launch, stay leaves it running; by default stay with a view.",
        ),
        DeclareLaunchArgument(
            "when_failed",
            default_value="shutdown",
            choices=["shutdown", "stay"],
            description="What happens when a node ends or the view is closed: shutdown ends the"
            " launch, stay leaves the other nodes running, for files that include this one.",
        ),
        DeclareLaunchArgument(
            "rviz_config",
            default_value=RVIZ_CONFIG,
            description="RViz configuration; the shipped one is opened as a copy.",
        ),
    ]
