# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Suggestions for misspelt words, for missing libraries, and of a program that helps."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

_VENV = "~/arm_venv"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a remedy for an unknown word: the closest known word, if any, and the full list."""
    options = tuple(known)
    close = difflib.get_close_matches(word.lower(), options, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}known are {', '.join(options) or 'none'}"


def install_command(library: str, apt_package: str = "") -> str:
    """Return the shell command that installs a library from PyPI for this interpreter.

    The interpreters of Debian, Ubuntu and Raspberry Pi OS refuse pip (PEP 668): there, it is apt,
    or else a virtual environment that PYTHONPATH names, so that installed scripts find it.

    Args:
        library: its name on PyPI.
        apt_package: its package in Debian and Ubuntu, if there is one.
    """
    if sys.prefix == sys.base_prefix and _pip_refuses():
        if apt_package and shutil.which("apt-get"):
            return f"sudo apt install {apt_package}"
        return (
            f"python3 -m venv --system-site-packages {_VENV} && {_VENV}/bin/pip install {library} "
            f"&& export PYTHONPATH=$(echo {_VENV}/lib/python3*/site-packages):$PYTHONPATH"
        )
    return f"{sys.executable} -m pip install {library}"


def program(package: str, name: str) -> str:
    """Return how a user starts a program here, such as ``./arm check``.

    ``./arm`` sets ARM_VENV where it brings ROS 2 along; elsewhere, ROS 2 is sourced, and the
    working directory need not be the repository.

    Args:
        package: its ROS package.
        name: its executable, which is also its name in ``./arm``.
    """
    return f"./arm {name}" if os.environ.get("ARM_VENV") else f"ros2 run {package} {name}"


def build_command(package: str) -> str:
    """Return the shell command that builds a package of the workspace."""
    return (
        "./arm setup"
        if os.environ.get("ARM_VENV")
        else f"colcon build --packages-select {package}"
    )


def _pip_refuses() -> bool:
    return (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").exists()
