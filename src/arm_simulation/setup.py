# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
import sys
from glob import glob

from setuptools import find_packages, setup

PACKAGE = "arm_simulation"
# ros2 run starts the programs. A wheel would put names like "set" on the user's path: there, the
# command `arm` starts them.
PROGRAMS = "console_scripts" if {"install", "develop"} & {*sys.argv} else "arm.programs"
setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test", "test.*"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/config", sorted(glob("config/*.yaml"))),
    ],
    install_requires=[
        "arm_common",
        "arm_description",
        "arm_hardware",
        "arm_kinematics",
        "arm_tasks[collisions]",
        "numpy",
        "transforms3d",
    ],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="Everything simulated: boards, buses, arms and worlds.",
    url="https://example.org/arm",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        PROGRAMS: [
            "contact_world = arm_simulation.commands.entry_points:contact_world",
            "dh2mjcf = arm_simulation.commands.export:dh2mjcf",
            "nut_world = arm_simulation.commands.entry_points:nut_world",
            "rehearse = arm_simulation.commands.entry_points:rehearse",
        ],
        "arm_tasks.reference_runs": [
            "geometric = arm_simulation.arms.ideal_arm:ReferenceRun.of",
        ],
    },
)
