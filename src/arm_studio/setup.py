# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "arm_studio"
# ros2 run starts the programs. A wheel would put names like "set" on the user's path: there, the
# command `arm` starts them.
PROGRAMS = "console_scripts" if {"install", "develop"} & {*sys.argv} else "arm.programs"
FOLDER = Path(__file__).resolve().parent  # colcon build --symlink-install links to this file
ENTRY_POINTS = (FOLDER / "entry_points.txt").read_text(encoding="utf-8")  # ./arm reads it, too
if PROGRAMS != "console_scripts":
    ENTRY_POINTS = ENTRY_POINTS.replace("console_scripts", PROGRAMS)
    ENTRY_POINTS += "\n[console_scripts]\narm = arm_studio.commands.arm:main\n"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed", "editing/*.js"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=[
        "arm_common",
        "arm_description",
        "arm_kinematics",
        "arm_tasks",
        "arm_viewer",
        "matplotlib",
        "numpy",
        "Pillow",
        "PyYAML",
        "scipy",
        "sympy",
    ],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="Derivations, designs, pictures, converters and editing panels for arms.",
    url="https://example.org/arm",
    license="Apache-2.0",
    extras_require={"test": ["pytest"], "recordings": ["mcap"]},
    entry_points=ENTRY_POINTS,
)
