# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "arm_kinematics"


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
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="Forward and inverse kinematics that explain themselves: library and ROS 2 node.",
    license="Apache-2.0",
    tests_require=["pytest"],
    entry_points={
        "console_scripts": [
            "design = arm_kinematics.commands.design:main",
            "dexterity = arm_kinematics.commands.dexterity:main",
            "kinematics = arm_kinematics.commands.entry_points:kinematics",
        ]
    },
)
