# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "arm_tasks"


def installed(folder):
    """Return the data_files entry that installs a folder's files under share/<package>."""
    files = sorted(str(f) for f in Path(folder).iterdir() if f.is_file())
    return (f"share/{PACKAGE}/{folder}", files)


setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test", "test.*"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        installed("launch"),
        installed("rviz"),
        installed("scenes"),
        installed("schema"),
        installed("security"),
        installed("tasks"),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="Tasks that are checked before the first motion, the nut transfer, launch files.",
    license="Apache-2.0",
    tests_require=["pytest"],
    entry_points={
        "console_scripts": [
            "check = arm_tasks.entry:check",
            "scene = arm_tasks.entry:scene",
            "demo = arm_tasks.entry:demo",
            "view = arm_tasks.entry:view",
            "play = arm_tasks.entry:play",
            "keystore = arm_tasks.keystore:main",
            "nut_world = arm_tasks.entry:nut_world",
            "run_task = arm_tasks.entry:run_task",
            "teach = arm_tasks.entry:teach",
            "teleop = arm_tasks.entry:teleop",
            "task_server = arm_tasks.entry:task_server",
        ]
    },
)
