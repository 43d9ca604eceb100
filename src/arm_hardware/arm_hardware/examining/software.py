# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Python, ROS 2 and the libraries that speak to real boards."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata

from arm_hardware.adafruit import PACKAGE
from arm_hardware.examining.finding import Finding

PACKAGES = ("adafruit-blinka", "adafruit-circuitpython-pca9685", PACKAGE)
LEAST_PYTHON = (3, 10)


def software(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Look at what is installed.

    Args:
        environment: Variables of the process.
    """
    found = ".".join(str(part) for part in sys.version_info[:3])
    least = ".".join(str(part) for part in LEAST_PYTHON)
    ok = sys.version_info[:2] >= LEAST_PYTHON
    yield Finding("Python", ok, found, "" if ok else f"install Python {least} or newer")
    yield _ros(environment)
    yield from (_package(name) for name in PACKAGES)


def has_ros() -> bool:
    """Return whether rclpy can be imported."""
    return importlib.util.find_spec("rclpy") is not None


def _ros(environment: Mapping[str, str]) -> Finding:
    if has_ros():
        return Finding("ROS 2", True, environment.get("ROS_DISTRO") or "no ROS_DISTRO set")
    fix = "source your ROS 2 (source /opt/ros/jazzy/setup.bash), or use ./arm, which brings one"
    return Finding("ROS 2", False, "rclpy is not there", fix)


def _package(name: str) -> Finding:
    """Look at one of Adafruit's packages; the backend i2c_dev does without all of them."""
    try:
        return Finding(name, True, metadata.version(name))
    except metadata.PackageNotFoundError:
        fix = f"backend:=i2c_dev needs it not; else pip install {PACKAGE} for the node's Python"
        return Finding(name, False, "not installed", fix, needed=False)
