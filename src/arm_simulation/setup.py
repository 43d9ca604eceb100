# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "arm_simulation"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="Contact physics with MuJoCo, and emulated servo boards and buses.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "dh2mjcf = arm_simulation.commands.export:dh2mjcf",
            "rehearse = arm_simulation.commands.entry_points:rehearse",
        ]
    },
)
