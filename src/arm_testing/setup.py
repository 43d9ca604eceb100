# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "arm_testing"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["slow_tests.txt", "pages/desk_arm.urdf"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["numpy", "pytest"],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="What tests of the arm packages share: a pytest plugin, probes, processes, pages.",
    url="https://example.org/arm",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "ament_copyright.copyright_name": ["arm = arm_testing.linters:COPYRIGHT_HOLDER"],
        "ament_copyright.license": ["apache2_spdx = arm_testing.linters:SPDX_HEADER"],
    },
)
