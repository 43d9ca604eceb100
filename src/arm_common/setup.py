# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
from glob import glob

from setuptools import find_packages, setup

PACKAGE = "arm_common"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/transports", sorted(glob("transports/*.xml"))),
    ],
    install_requires=["numpy", "PyYAML", "transforms3d"],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="What the arm packages share: SE(3), YAML documents, terminal tools, node runner.",
    url="https://example.org/arm",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
)
