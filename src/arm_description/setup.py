# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "arm_description"
TOOLS = (
    *("describe", "dh2moveit", "dh2srdf", "dh2urdf", "draw", "new", "rvs2dh", "trajectory"),
    "urdf2dh",
)


def installed(folder, pattern="*"):
    """Return the data_files entry that installs a folder's files under share/<package>."""
    files = sorted(str(f) for f in Path(folder).glob(pattern) if f.is_file())
    return (f"share/{PACKAGE}/{folder}", files)


setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        installed("robots", "*.yaml"),
        installed("schema", "*.json"),
        installed("urdf", "*.xacro"),
        installed("urdf/robots", "*.xacro"),
        installed("launch", "*.launch.py"),
        installed("rviz", "*.rviz"),
        *(installed(folder) for folder in sorted(Path("trajectories").iterdir())),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="DH table in YAML to an exact URDF, the state publisher, and the shipped robots.",
    license="Apache-2.0",
    tests_require=["pytest"],
    entry_points={
        "console_scripts": [
            *(f"{tool} = arm_description.commands.{tool}:main" for tool in TOOLS),
            "robot_file_watcher = arm_description.entry:robot_file_watcher",
            "state_publisher = arm_description.entry:state_publisher",
        ]
    },
)
