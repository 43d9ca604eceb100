# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
import sys
from glob import glob

from setuptools import find_packages, setup

PACKAGE = "arm_tasks"
FOLDERS = ("config", "launch", "rviz", "scenes", "schema", "security", "systemd", "tasks")
# ros2 run starts the programs. A wheel would put names like "set" on the user's path: there, the
# command `arm` starts them.
PROGRAMS = "console_scripts" if {"install", "develop"} & {*sys.argv} else "arm.programs"

# The engine without its viewer, where there is a wheel, as in tools/pip_ros/requirements.txt.
MUJOCO = [
    'mujoco-core; python_version >= "3.11" and sys_platform == "linux"',
    'mujoco; python_version < "3.11" or sys_platform != "linux"',
]

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test", "test.*"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *((f"share/{PACKAGE}/{folder}", sorted(glob(f"{folder}/*.*"))) for folder in FOLDERS),
    ],
    install_requires=[
        "arm_common",
        "arm_description",
        "arm_hardware",
        "arm_kinematics",
        "numpy",
        "py_trees",
        "PyYAML",
    ],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="Tasks that are checked before the first motion, the nut transfer, launch files.",
    url="https://example.org/arm",
    license="Apache-2.0",
    extras_require={"test": ["pytest"], "collisions": MUJOCO},
    entry_points={
        PROGRAMS: [
            "arm_nodes = arm_tasks.commands.entry_points:arm_nodes",
            "check = arm_tasks.commands.entry_points:check",
            "scene = arm_tasks.commands.entry_points:scene",
            "demo = arm_tasks.commands.entry_points:demo",
            "view = arm_tasks.commands.entry_points:view",
            "follow = arm_tasks.commands.entry_points:follow",
            "play = arm_tasks.commands.entry_points:play",
            "keystore = arm_tasks.commands.keystore:main",
            "ros2 = arm_tasks.commands.entry_points:ros2",
            "scene_file = arm_tasks.commands.entry_points:scene_file",
            "run_task = arm_tasks.commands.entry_points:run_task",
            "teach = arm_tasks.commands.entry_points:teach",
            "teleop = arm_tasks.commands.entry_points:teleop",
            "task_server = arm_tasks.commands.entry_points:task_server",
        ]
    },
)
