# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Checks the machine's requirements for ROS 2 from PyPI, with remedies."""

import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

from .errors import SetupError


class Missing(NamedTuple):
    """Something that the machine lacks.

    Attributes:
        what: Its name for messages.
        package: The Debian package that provides it.
    """

    what: str
    package: str


def missing_tools() -> list[Missing]:
    """Return what is missing to build the interface packages."""
    python = f"python3.{sys.version_info.minor}"
    debian = sys.executable.startswith("/usr/bin")
    missing = []
    if shutil.which("c++") is None and shutil.which("g++") is None:
        missing.append(Missing("a C++ compiler", "g++"))
    if shutil.which("make") is None:
        missing.append(Missing("make", "make"))
    if importlib.util.find_spec("ensurepip") is None:
        missing.append(
            Missing("Python's venv module", f"{python}-venv" if debian else "python3-venv")
        )
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        missing.append(
            Missing("Python's header files", f"{python}-dev" if debian else "python3-dev")
        )
    return missing


def check_machine() -> None:
    """Check that ROS 2 can be set up here.

    Raises:
        SetupError: Something is missing; the message has the command that installs it.
    """
    machine = f"{os.uname().sysname} {os.uname().machine}"
    if machine != "Linux x86_64" or sys.version_info >= (3, 15):
        raise SetupError(
            f"ROS 2 from PyPI exists for Linux x86_64 and Python 3.10 to 3.14; this is {machine},"
            f" Python {sys.version.split()[0]}. Use Ubuntu 24.04 with ROS 2 Jazzy or 26.04 with"
            " Lyrical from apt (docs.ros.org), source it, and run ./arm again."
        )
    missing = missing_tools()
    if missing:
        names = ", ".join(item.what for item in missing)
        packages = " ".join(item.package for item in missing)
        sudo = "" if os.geteuid() == 0 else "sudo "
        raise SetupError(
            f"This machine lacks {names}. Install with:\n    {sudo}apt-get update &&"
            f" {sudo}apt-get install -y {packages}"
        )
