# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
import sys
from glob import glob

from setuptools import find_packages, setup

PACKAGE = "arm_hardware"
COMMANDS = ("arm", "disarm", "driver", "hardware", "reset", "stop")
FOLDERS = ("config", "schema", "systemd")
TOOLS = ("calibrate", "calibrate_kinematics", "doctor", "lerobot", "release", "servos", "verify")
# ros2 run starts the programs. A wheel would put names like "set" on the user's path: there, the
# command `arm` starts them.
PROGRAMS = "console_scripts" if {"install", "develop"} & {*sys.argv} else "arm.programs"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *((f"share/{PACKAGE}/{folder}", sorted(glob(f"{folder}/*.*"))) for folder in FOLDERS),
    ],
    install_requires=["arm_common", "arm_description", "numpy", "scipy", "smbus2"],
    maintainer="Arm developers",
    maintainer_email="arm@example.org",
    description="Servo driver for the PCA9685 and Feetech STS3215.",
    url="https://example.org/arm",
    license="Apache-2.0",
    extras_require={
        "test": ["pytest"],
        "servos": ["adafruit-circuitpython-servokit", "Adafruit-Blinka", "gpiod"],
        "feetech": ["feetech-servo-sdk"],
    },
    entry_points={
        PROGRAMS: [
            *(f"{name} = arm_hardware.commands.entry_points:{name}" for name in COMMANDS),
            *(f"{tool} = arm_hardware.commands.{tool}:main" for tool in TOOLS),
        ],
        "arm_description.servo_limits": [
            "calibration = arm_hardware.calibration.selection:robot_with_servos"
        ],
    },
)
