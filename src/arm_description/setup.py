# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "arm_description"
COMMANDS = {
    "describe": "describe:main",
    "dh2moveit": "export:dh2moveit",
    "dh2srdf": "export:dh2srdf",
    "dh2urdf": "export:dh2urdf",
    "draw": "draw:main",
    "new": "new:main",
    "robot_file_watcher": "entry_points:robot_file_watcher",
    "rvs2dh": "convert:rvs2dh",
    "state_publisher": "entry_points:state_publisher",
    "trajectory": "trajectory:main",
    "urdf2dh": "convert:urdf2dh",
}


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
            f"{name} = {PACKAGE}.commands.{function}" for name, function in COMMANDS.items()
        ]
    },
)
