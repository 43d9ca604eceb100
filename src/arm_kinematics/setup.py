# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
from glob import glob

from setuptools import find_packages, setup

PACKAGE = "arm_kinematics"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/config", sorted(glob("config/*.yaml"))),
    ],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="Forward and inverse kinematics that explain themselves: library and ROS 2 node.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "describe = arm_kinematics.commands.describe:main",
            "design = arm_kinematics.commands.design:main",
            "dexterity = arm_kinematics.commands.dexterity:main",
            "explain = arm_kinematics.commands.explain:main",
            "fk = arm_kinematics.commands.pose:fk",
            "ik = arm_kinematics.commands.pose:ik",
            "kinematics = arm_kinematics.commands.entry_points:kinematics",
        ]
    },
)
