# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Set up and build what is not yet, never under the feet of a program that runs."""

import fcntl
import os

from . import sourced, venv, workspace
from .environment import ros_is_sourced, run_environment
from .machine import check_machine
from .paths import Paths
from .progress import say


def prepare(paths: Paths, again: bool = False) -> dict[str, str]:
    """Return the environment for running the nodes, after having made what is missing.

    This process, and the program that it becomes, holds a shared lock on what is built. Building
    takes the lock alone, and so waits for the end of whatever uses the present build.

    Args:
        paths: Where everything is.
        again: Begin from nothing.

    Raises:
        SetupError: Something is missing or failed.
    """
    lock = os.open(paths.repository / "arm", os.O_RDONLY)
    os.set_inheritable(lock, True)  # across exec
    fcntl.flock(lock, fcntl.LOCK_SH)
    if again or not is_ready(paths):
        take_alone(lock)
        make(paths, again)
        fcntl.flock(lock, fcntl.LOCK_SH)
    return sourced.environment(paths) if ros_is_sourced() else run_environment(paths)


def is_ready(paths: Paths) -> bool:
    """Whether everything is installed and built as the sources are now."""
    if ros_is_sourced():
        return not sourced.is_outdated(paths)
    installed = venv.is_installed(paths, venv.REQUIREMENTS)
    return installed and not workspace.changed_packages(paths)


def take_alone(lock: int) -> None:
    """Turn the shared lock into an exclusive one; say so if that means waiting."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("The packages have changed, and another ./arm uses the old ones: waiting.")
        fcntl.flock(lock, fcntl.LOCK_EX)


def make(paths: Paths, again: bool) -> None:
    """Install and build."""
    if ros_is_sourced():
        sourced.build(paths)
        return
    if again:
        venv.remove(paths)
    if not venv.is_installed(paths, venv.REQUIREMENTS):
        check_machine()
        say("No ROS 2 is sourced: making one in .venv from PyPI. This happens once.")
        venv.install(paths, venv.REQUIREMENTS, "Installing ROS 2 Jazzy and libraries")
    workspace.build(paths)
