# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
import sys
from glob import glob

from setuptools import find_packages, setup

PACKAGE = "arm_viewer"
# ros2 run starts the programs. A wheel would put names like "set" on the user's path: there, the
# command `arm` starts them.
PROGRAMS = "console_scripts" if {"install", "develop"} & {*sys.argv} else "arm.programs"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed", "browser/*.js"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/config", sorted(glob("config/*.yaml"))),
    ],
    install_requires=[
        "arm_common",
        "arm_description",
        "arm_kinematics",
        "numpy",
        "trimesh",
        "viser",
    ],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="The robot, its frames and markers in a browser.",
    url="https://example.org/arm",
    license="Apache-2.0",
    extras_require={"test": ["pytest"], "screenshots": ["playwright"]},
    entry_points={
        PROGRAMS: [
            "tool_handle = arm_viewer.commands.entry_points:tool_handle",
            "viewer = arm_viewer.commands.entry_points:viewer",
        ]
    },
)
