# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
import sys
from glob import glob
from pathlib import Path
from runpy import run_path

import numpy
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

PACKAGE = "arm_kinematics"
SOURCES = f"{PACKAGE}/cpp"
DIGEST = run_path(str(Path(__file__).parent / PACKAGE / "kernels/layout.py"))["digest"]()
# The kernels need neither errno nor traps. Without fused operations, a function gives the same
# digits wherever it is inlined: for one target and for many. No -march: one build serves all
# processors of an architecture.
FLAGS = [
    *("-std=c++17", "-O3", "-fvisibility=hidden", "-Wall", "-Wextra"),
    *("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"),
]
# ros2 run starts the programs. A wheel would put names like "set" on the user's path: there, the
# command `arm` starts them.
PROGRAMS = "console_scripts" if {"install", "develop"} & {*sys.argv} else "arm.programs"


MSVC_FLAGS = ["/std:c++17", "/O2", "/fp:precise"]  # the same on Windows


class BuildKernels(build_ext):
    def build_extensions(self):
        if self.compiler.compiler_type == "msvc":
            self.extensions[0].extra_compile_args = MSVC_FLAGS
        super().build_extensions()


setup(
    name=PACKAGE,
    version="0.1.0",
    cmdclass={"build_ext": BuildKernels},
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed", "kernels/compiled.pyi"]},
    ext_modules=[
        Extension(
            f"{PACKAGE}.kernels.compiled",
            [f"{SOURCES}/module.cpp"],
            depends=sorted(glob(f"{SOURCES}/**/*.hpp", recursive=True)),
            include_dirs=[numpy.get_include()],
            define_macros=[("ARM_SOURCES", f'"{DIGEST}"')],
            extra_compile_args=FLAGS,
            language="c++",
        )
    ],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/config", sorted(glob("config/*.yaml"))),
    ],
    install_requires=["arm_common", "arm_description", "numpy", "scipy", "tqdm", "transforms3d"],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="Forward and inverse kinematics that explain themselves: library and ROS 2 node.",
    url="https://example.org/arm",
    license="Apache-2.0",
    extras_require={
        "test": ["pytest"],
        "viewer": ["arm_viewer"],
        "simulation": ["arm_simulation"],
        "studio": ["arm_studio"],
    },
    entry_points={
        PROGRAMS: [
            "describe = arm_kinematics.commands.describe:main",
            "fk = arm_kinematics.commands.pose:fk",
            "ik = arm_kinematics.commands.pose:ik",
            "kinematics = arm_kinematics.commands.entry_points:kinematics",
        ]
    },
)
