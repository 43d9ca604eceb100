# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Commands that export a robot file to SRDF or a MoveIt package.

dh2srdf nut_arm -o nut_arm.srdf
dh2moveit nut_arm -o src            # makes src/nut_arm_moveit_config

The package is one that moveit_configs_utils reads. Names of files and keys are those of moveit2
(branch jazzy): moveit_configs_builder.py, moveit_simple_controller_manager.cpp, and the templates
of its Setup Assistant.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from arm_description.errors import DescriptionError
from arm_description.library import add_calibration, load_robot, shipped_robots
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import BASE

from arm_common import cli
from arm_studio.srdf import ARM, to_srdf

# Joints needed for full poses; with fewer, KDL solves for positions only.
_FULL_POSE = 6
# Default scaling of the limits, that of the Setup Assistant.
_SCALING = 0.1
# Tool limits of the Pilz planner [m/s, m/s^2, rad/s], those of the Setup Assistant.
_PILZ = {"max_trans_vel": 1.0, "max_trans_acc": 2.25, "max_trans_dec": -5.0, "max_rot_vel": 1.57}


def package_name(model: RobotModel) -> str:
    """Return the package name that MoveIt looks for, conforming to REP 144."""
    name = re.sub(r"[^a-z0-9]+", "_", model.name.lower()).strip("_")
    return f"{name}_moveit_config"


def moveit_package(model: RobotModel) -> Mapping[str, str]:
    """Return the text of each file by its path in the package."""
    name, package = model.name, package_name(model)
    assistant = {
        "urdf": {"package": package, "relative_path": f"config/{name}.urdf"},
        "srdf": {"relative_path": f"config/{name}.srdf"},
    }
    return {
        "package.xml": _PACKAGE.format(package=package, name=name),
        "CMakeLists.txt": _CMAKE.format(package=package),
        ".setup_assistant": _dump({"moveit_setup_assistant_config": assistant}),
        f"config/{name}.urdf": model.to_urdf(),
        f"config/{name}.srdf": to_srdf(model),
        "config/joint_limits.yaml": _dump(_joint_limits(model)),
        "config/kinematics.yaml": _dump(_kinematics(model)),
        "config/moveit_controllers.yaml": _dump(_controllers(model)),
        "config/pilz_cartesian_limits.yaml": _dump({"cartesian_limits": _PILZ}),
        "config/moveit.rviz": _dump(_rviz()),
        **{
            f"launch/{launch}.launch.py": _LAUNCH.format(launch=launch, name=name, package=package)
            for launch in ("move_group", "moveit_rviz")
        },
    }


def _dump(value: Any) -> str:
    return str(yaml.safe_dump(value, sort_keys=False))


def _joint_limits(model: RobotModel) -> Mapping[str, Any]:
    """Return velocity and acceleration limits; a URDF has no accelerations."""
    rates = {joint.name: (joint.velocity, joint.acceleration) for joint in model.joints}
    gripper = model.gripper
    if gripper:
        finger = gripper.fastest * gripper.velocity, gripper.fastest * gripper.acceleration
        rates |= dict.fromkeys(gripper.moving, finger)
    return {
        "default_velocity_scaling_factor": _SCALING,
        "default_acceleration_scaling_factor": _SCALING,
        "joint_limits": {
            name: {
                "has_velocity_limits": True,
                "max_velocity": float(velocity),
                "has_acceleration_limits": True,
                "max_acceleration": float(acceleration),
            }
            for name, (velocity, acceleration) in rates.items()
        },
    }


def _kinematics(model: RobotModel) -> Mapping[str, Any]:
    return {
        ARM: {
            "kinematics_solver": "kdl_kinematics_plugin/KDLKinematicsPlugin",
            "kinematics_solver_search_resolution": 0.005,
            "kinematics_solver_timeout": 0.05,
            "position_only_ik": model.n < _FULL_POSE,
        }
    }


def _controllers(model: RobotModel) -> Mapping[str, Any]:
    """Return the controllers: the actions of the node arm_hardware."""
    controllers: dict[str, dict[str, Any]] = {
        "arm_controller": {
            "type": "FollowJointTrajectory",
            "action_ns": "follow_joint_trajectory",
            "default": True,
            "joints": list(model.joint_names),
        }
    }
    if model.gripper and not model.gripper.claw:  # MoveIt would command the angle of a jaw
        controllers["gripper_controller"] = {
            "type": "GripperCommand",
            "action_ns": "gripper_cmd",
            "default": True,
            "parallel": True,  # MoveIt commands the sum of both, the width
            "joints": list(model.gripper.joints),
        }
    manager = "moveit_simple_controller_manager"
    return {
        "moveit_controller_manager": f"{manager}/MoveItSimpleControllerManager",
        manager: {"controller_names": list(controllers), **controllers},
    }


def _rviz() -> Mapping[str, Any]:
    motion_planning = {
        "Class": "moveit_rviz_plugin/MotionPlanning",
        "Name": "MotionPlanning",
        "Enabled": True,
        "Value": True,
        "Robot Description": "robot_description",
        "Planning Scene Topic": "monitored_planning_scene",
        "Planning Request": {"Planning Group": ARM, "Query Goal State": True},
    }
    grid = {"Class": "rviz_default_plugins/Grid", "Name": "Grid", "Enabled": True, "Value": True}
    orbit = {"Class": "rviz_default_plugins/Orbit", "Distance": 1.5, "Target Frame": BASE}
    return {
        "Panels": [{"Class": "rviz_common/Displays", "Name": "Displays"}],
        "Visualization Manager": {
            "Displays": [grid, motion_planning],
            "Global Options": {"Fixed Frame": BASE},
            "Tools": [
                {"Class": f"rviz_default_plugins/{tool}"} for tool in ("Interact", "MoveCamera")
            ],
            "Views": {"Current": orbit},
        },
    }


_PACKAGE = """\
<?xml version="1.0"?>
<package format="3">
  <name>{package}</name>
  <version>0.1.0</version>
  <description>MoveIt configuration of {name}, generated by dh2moveit.</description>
  <maintainer email="arm@example.org">Arm developers</maintainer>
  <license>Apache-2.0</license>

  <buildtool_depend>ament_cmake</buildtool_depend>
  <exec_depend>moveit_configs_utils</exec_depend>
  <exec_depend>moveit_kinematics</exec_depend>
  <exec_depend>moveit_planners</exec_depend>
  <exec_depend>moveit_ros_move_group</exec_depend>
  <exec_depend>moveit_ros_visualization</exec_depend>
  <exec_depend>moveit_simple_controller_manager</exec_depend>

  <export>
    <build_type>ament_cmake</build_type>
  </export>
</package>
"""

_CMAKE = """\
cmake_minimum_required(VERSION 3.22)
project({package})
find_package(ament_cmake REQUIRED)
install(DIRECTORY config launch DESTINATION share/${{PROJECT_NAME}})
install(FILES .setup_assistant DESTINATION share/${{PROJECT_NAME}})
ament_package()
"""

_LAUNCH = '''\
"""{launch} for {name}; driver, joint states and tf must be running."""

from moveit_configs_utils import MoveItConfigsBuilder
from moveit_configs_utils.launches import generate_{launch}_launch


def generate_launch_description():
    configs = MoveItConfigsBuilder("{name}", package_name="{package}").to_moveit_configs()
    return generate_{launch}_launch(configs)
'''


def dh2srdf(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _parser("dh2srdf", "Write the SRDF of an arm: groups, postures, disabled collisions.")
    parser.add_argument("--prefix", default="", help="prefix of every link and joint name")
    cli.add_output(parser)
    return cli.run(parser, _write_srdf, argv)


def dh2moveit(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _parser("dh2moveit", "Write the MoveIt configuration package of an arm.")
    options: dict[str, Any] = {"dest": "folder", "metavar": "FOLDER", "default": "."}
    text = "parent folder of the package (default: the current folder)"
    parser.add_argument("-o", "--output", help=text, **options)
    add_calibration(parser)
    cli.add_force(parser)
    return cli.run(parser, _write_moveit, argv)


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=description)
    cli.add_robot(parser, shipped_robots())
    return parser


def _write_srdf(arguments: argparse.Namespace) -> None:
    cli.write_text(to_srdf(load_robot(arguments.robot), arguments.prefix), arguments.output)


def _write_moveit(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot, arguments.calibration)
    folder = Path(arguments.folder) / package_name(model)
    cli.refuse_overwriting(str(folder), arguments.force)
    for name, text in moveit_package(model).items():
        file = folder / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"cannot be created ({error.strerror})"
            raise DescriptionError(
                problem, remedy="check the path", file=str(file.parent)
            ) from None
        cli.write_text(text, str(file))
    cli.print_status(
        f"{folder}: build it with colcon, then ros2 launch {folder.name} move_group.launch.py"
    )
