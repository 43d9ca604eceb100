# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two arms side by side, left and right, each with its own nodes; both do the task at once."""

from dataclasses import replace

from arm_common.ros.launch import StartTogether, set_network
from arm_tasks.bringup.arguments import Arg, use_sim_time
from arm_tasks.bringup.launch import (
    IncludedFile,
    RvizConfig,
    declared,
    table_node,
    view_arguments,
    viewed_in,
)
from arm_tasks.bringup.processes import marker_topics, processes, world_process
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import SetParameter, SetRemap
from launch_ros.substitutions import FindPackageShare

SHARE = FindPackageShare("arm_tasks")
ONE_ARM = PathJoinSubstitution([SHARE, "launch", "nut_transfer.launch.py"])
RVIZ_CONFIG = PathJoinSubstitution([SHARE, "rviz", "two_arms.rviz"])
TABLE = {process.name: process for process in processes("arm_description")}
ARMS = ("left", "right")


def generate_launch_description():
    return LaunchDescription(
        [
            *arguments(),
            StartTogether(
                [
                    *(arm(name, publish_clock=name == ARMS[0]) for name in ARMS),
                    OpaqueFunction(function=set_network),
                    table_node(world_process(ARMS, TABLE["robot_state_publisher"])),
                    *rviz(),
                    browser(),
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
            IncludedFile(
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


def rviz():
    """Return RViz with both arms, and a drag handle for each."""
    handle = TABLE["tool_handle"]
    config = RvizConfig(LaunchConfiguration("rviz_config"), RVIZ_CONFIG)
    handles = [
        replace(handle.with_parameters({"prefix": f"{name}_"}), namespace=name) for name in ARMS
    ]
    return [
        *(table_node(handle, condition=viewed_in("rviz")) for handle in handles),
        table_node(TABLE["rviz2"], condition=viewed_in("rviz"), arguments=["-d", config]),
    ]


def browser():
    """Return the view of both arms in a browser; it moves neither."""
    shown = {
        "prefix": f"{ARMS[0]}_",
        "marker_topics": marker_topics(ARMS),
        "port": Arg("viewer_port", int),
        "use_sim_time": use_sim_time,
    }
    return table_node(
        replace(TABLE["arm_viewer"], parameters=shown), condition=viewed_in("browser")
    )


def arguments():
    """Return the launch arguments; those of nut_transfer.launch.py apply to both arms."""
    return [
        *declared("viewer", "viewer_port", "speed", "network", "robot", "spacing"),
        *(
            DeclareLaunchArgument(
                f"{name}_calibration",
                default_value="",
                description=f"Servo calibration of the {name} arm, with the address of its board:"
                " a shipped name or a path; empty means the robot's own.",
            )
            for name in ARMS
        ),
        *view_arguments(),
        *declared("when_failed"),
    ]
