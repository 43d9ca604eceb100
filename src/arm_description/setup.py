# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
import sys
from glob import glob

from setuptools import find_packages, setup

PACKAGE = "arm_description"
FOLDERS = [
    "config",
    "robots",
    "schema",
    "urdf",
    "tools",
    "payloads",
    "urdf/robots",
    "launch",
    "rviz",
    *glob("trajectories/*"),
]
# ros2 run starts the programs. A wheel would put names like "set" on the user's path: there, the
# command `arm` starts them.
PROGRAMS = "console_scripts" if {"install", "develop"} & {*sys.argv} else "arm.programs"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *((f"share/{PACKAGE}/{folder}", sorted(glob(f"{folder}/*.*"))) for folder in FOLDERS),
    ],
    install_requires=["arm_common", "numpy", "PyYAML", "transforms3d", "xacro"],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="DH table in YAML to an exact URDF, the state publisher, and the shipped robots.",
    url="https://example.org/arm",
    license="Apache-2.0",
    extras_require={"test": ["pytest"], "drawings": ["svgelements", "Hershey-Fonts"]},
    entry_points={
        PROGRAMS: [
            "dh2urdf = arm_description.commands.convert:dh2urdf",
            "new = arm_description.commands.new:main",
            "robot_file_watcher = arm_description.commands.entry_points:robot_file_watcher",
            "set = arm_description.commands.set:main",
            "state_publisher = arm_description.commands.entry_points:state_publisher",
            "urdf2dh = arm_description.commands.convert:urdf2dh",
        ]
    },
)
