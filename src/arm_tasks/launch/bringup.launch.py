# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm ready for commands: driver, states and tf, kinematics; with tasks:=true a task server."""

from arm_common.ros.launch import StartTogether, check_nodes, set_network
from arm_tasks.bringup.launch import (
    SharedFile,
    arm_node,
    check_arguments,
    declared,
    exit_handlers,
    failure_argument,
    sim_time,
    text,
)
from arm_tasks.bringup.processes import is_installed
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, OpaqueFunction
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import (
    AndSubstitution,
    Command,
    EqualsSubstitution,
    IfElseSubstitution,
    LaunchConfiguration,
    NotEqualsSubstitution,
    PathJoinSubstitution,
    PythonExpression,
)
from launch_ros.actions import PushRosNamespace, SetRemap
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import ExecutableInPackage, FindPackageShare

CONFIG = PathJoinSubstitution([FindPackageShare("arm_tasks"), "config", "bringup.yaml"])
TOGETHER = "arm_nodes"  # enclave of the nodes that may share one process
FILES = (CONFIG, LaunchConfiguration("params_file"))  # the last one wins


def generate_launch_description():
    part, private_tf = LaunchConfiguration("part"), LaunchConfiguration("private_tf")
    return LaunchDescription(
        [
            *arguments(),
            OpaqueFunction(function=check_nodes),
            OpaqueFunction(function=check_arguments),
            StartTogether(
                [
                    OpaqueFunction(function=set_network),
                    PushRosNamespace(LaunchConfiguration("namespace")),
                    SetRemap("/tf", "tf", condition=IfCondition(private_tf)),
                    SetRemap("/tf_static", "tf_static", condition=IfCondition(private_tf)),
                    *driver(IfCondition(NotEqualsSubstitution(part, "rest"))),
                    GroupAction(
                        software(), condition=IfCondition(NotEqualsSubstitution(part, "hardware"))
                    ),
                ]
            ),
        ]
    )


def driver(condition):
    """Return the servo driver and what its end means; it shares its process with no other node."""
    names = ("robot", "prefix", "hardware", "backend", "exit_action", "calibration")
    speed, world = LaunchConfiguration("speed"), LaunchConfiguration("world")
    # Contact physics set the driver's pace.
    own = PythonExpression(["1.0 if '", world, "' == 'contact' else float(", speed, ")"])
    extra = {
        "speed": ParameterValue(own, value_type=float),
        "sim_registers": shared_file("registers"),
        "sim_pace": shared_file("pace"),
    }
    parameters = [{**{name: text(name) for name in names}, **extra}, *FILES]
    node = arm_node("arm_hardware", "hardware", "arm_hardware", parameters, condition=condition)
    return [*exit_handlers([node]), node]


def software():
    """Return the nodes beside the driver: in one process, or one each with composed:=false."""
    composed, tasks = LaunchConfiguration("composed"), LaunchConfiguration("tasks")
    simulated = NotEqualsSubstitution(LaunchConfiguration("hardware"), "real")
    geometric = EqualsSubstitution(LaunchConfiguration("world"), "geometric")
    world = AndSubstitution(AndSubstitution(tasks, simulated), geometric)
    urdf = {"robot_description": robot_description(), **sim_time()}
    kinematics = {
        "prefix": text("prefix"),
        "moveit_group": text("moveit_group"),
        **sim_time(),
    }
    scene = {"robot": text("robot"), "prefix": text("prefix"), "scene": text("scene")}
    physics = {
        **scene,
        "calibration": text("calibration"),
        "registers": shared_file("registers"),
        "pace": shared_file("pace"),
        "speed": ParameterValue(LaunchConfiguration("speed"), value_type=float),
        **sim_time(),
    }
    server = {**scene, "task_path": text("task_path"), **sim_time()}
    # The C++ node where it is installed, otherwise ours, which behaves the same.
    apart = is_installed("robot_state_publisher")
    publisher = arm_node(
        "robot_state_publisher" if apart else "arm_description",
        "robot_state_publisher" if apart else "state_publisher",
        "robot_state_publisher",
        [urdf, *FILES],
        enclave="robot_state_publisher" if apart else TOGETHER,
    )
    together = arm_node(
        "arm_tasks",
        "arm_nodes",
        None,  # its nodes keep their names
        [{**urdf, **kinematics, **server}, *FILES],
        enclave=TOGETHER,
        arguments=[
            "" if apart else "robot_state_publisher",
            "kinematics",
            IfElseSubstitution(world, "nut_world", ""),
            IfElseSubstitution(tasks, "task_server", ""),
        ],
        condition=IfCondition(composed),
    )
    in_contact = EqualsSubstitution(LaunchConfiguration("world"), "contact")
    contact = arm_node(
        "arm_simulation",
        "contact_world",
        "contact_world",
        [physics, *FILES],
        condition=IfCondition(AndSubstitution(tasks, in_contact)),
    )
    each = [
        arm_node(package, name, name, [values, *FILES], enclave=TOGETHER, condition=condition)
        for package, name, values, condition in (
            ("arm_kinematics", "kinematics", kinematics, None),
            ("arm_simulation", "nut_world", {**scene, **sim_time()}, IfCondition(world)),
            ("arm_tasks", "task_server", server, IfCondition(tasks)),
        )
    ]
    return [
        *exit_handlers([publisher, together, contact, *each]),
        *([publisher] if apart else []),
        together,
        contact,
        GroupAction([*([] if apart else [publisher]), *each], condition=UnlessCondition(composed)),
    ]


def robot_description():
    """Return the URDF of the robot as the value of a parameter."""
    urdf = Command(
        [
            ExecutableInPackage("dh2urdf", "arm_description"),
            *(" '", LaunchConfiguration("robot"), "'"),
            *(" '--prefix=", LaunchConfiguration("prefix"), "'"),
        ]
    )
    return ParameterValue(urdf, value_type=str)


def shared_file(kind):
    """Return a file that driver and contact physics share; empty without these."""
    return ParameterValue(SharedFile(kind), value_type=str)


def arguments():
    """Return the launch arguments."""
    switch = ["true", "false"]
    return [
        *declared("robot", "hardware", "backend", "exit_action", "calibration"),
        *declared("world", "scene", "task_path", "part", "network", "speed", "composed"),
        *declared("params_file", "log_level", params_file=CONFIG),
        DeclareLaunchArgument(
            "namespace",
            default_value="",
            description="Namespace of the nodes, one for each arm; empty for none.",
        ),
        DeclareLaunchArgument(
            "prefix",
            default_value="",
            description="Prefix of the names of links, frames and joints, such as left_.",
        ),
        DeclareLaunchArgument(
            "private_tf",
            default_value="false",
            choices=switch,
            description="Whether the namespace has a tf of its own: /tf is remapped to tf.",
        ),
        DeclareLaunchArgument(
            "tasks",
            default_value="false",
            choices=switch,
            description="Whether to run tasks: task server, scene and, unless hardware is real,"
            " the simulated world.",
        ),
        DeclareLaunchArgument(
            "moveit_group",
            default_value="arm",
            description="Planning group of compute_ik; none: move_group serves it and compute_fk.",
        ),
        failure_argument(),
    ]
