# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
from glob import glob

from setuptools import find_packages, setup

PACKAGE = "arm_viewer"

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
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="The robot, its frames and markers in a browser.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "tool_handle = arm_viewer.commands.entry_points:tool_handle",
            "viewer = arm_viewer.commands.entry_points:viewer",
        ]
    },
)
