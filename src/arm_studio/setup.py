# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "arm_studio"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed", "editing/*.js"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="Derivations, designs, pictures, converters and editing panels for arms.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    # a file, as ./arm reads it before anything is installed
    entry_points=Path("entry_points.txt").read_text(encoding="utf-8"),
)
