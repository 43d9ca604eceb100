# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Sets up and builds what is missing, but never while a program uses the build."""

import fcntl
import os
import pwd
import re
from pathlib import Path

from arm_common.errors import InputError
from arm_common.network import limit_to_this_computer

from . import sourced, venv, workspace
from .environment import ros_is_sourced, run_environment, with_home
from .errors import SetupError
from .paths import Paths
from .progress import say


def prepare(paths: Paths, again: bool = False) -> dict[str, str]:
    """Set up and build what is missing; return the environment for running the nodes.

    This process, and the program that replaces it, holds a shared lock on the build. Building
    takes the lock exclusively, and so waits for all programs that use the present build.

    Args:
        paths: The paths of this set-up.
        again: Start from scratch.

    Raises:
        SetupError: Something is missing or failed.
    """
    lock = os.open(paths.repository / "arm", os.O_RDONLY)
    os.set_inheritable(lock, True)  # across exec
    fcntl.flock(lock, fcntl.LOCK_SH)
    if again or not is_ready(paths):
        check_path(paths)
        check_writable(paths)
        take_alone(lock)
        make(paths, again)
        fcntl.flock(lock, fcntl.LOCK_SH)
    environment = sourced.environment(paths) if ros_is_sourced() else run_environment(paths)
    try:
        return limit_to_this_computer(with_home(environment))
    except InputError as error:
        raise SetupError(str(error)) from None


def is_ready(paths: Paths) -> bool:
    """Return whether everything is installed and built from the current sources."""
    if ros_is_sourced():
        return not sourced.is_outdated(paths)
    installed = venv.is_installed(paths, venv.REQUIREMENTS)
    return installed and not workspace.changed_packages(paths)


def check_path(paths: Paths) -> None:
    """Raise SetupError if CMake, make or the linker would misread the path of the clone."""
    misread = sorted(set(re.findall(r"[^\w ./+@=~-]", str(paths.repository))))
    if misread:
        raise SetupError(
            f"The path of this clone, {paths.repository}, contains"
            f" {' '.join(map(repr, misread))}, which the build tools of ROS 2 misread; move the"
            " clone to another folder"
        )


def check_writable(paths: Paths) -> None:
    """Raise SetupError if this user cannot make the set-up here; nothing is removed then."""
    made = paths.repository / "install" if ros_is_sourced() else paths.venv
    folders = [paths.repository, *(p for p in (made, paths.repository / "log") if p.is_dir())]
    for folder in folders:
        if not os.access(folder, os.W_OK | os.X_OK):
            raise SetupError(
                f"{folder} belongs to {owner(folder)} and is not ready for use, and you"
                f" ({user_name(os.geteuid())}) cannot build there; let its owner run ./arm setup,"
                " or use a clone of your own"
            )


def owner(folder: Path) -> str:
    """Return the name of the user to whom a folder belongs."""
    return user_name(folder.stat().st_uid)


def user_name(number: int) -> str:
    """Return the name of a user, or "user NUMBER" if it has none."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def take_alone(lock: int) -> None:
    """Turn the shared lock into an exclusive one; report it if that means waiting."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("The packages have changed, but another ./arm uses the old build: waiting.")
        fcntl.flock(lock, fcntl.LOCK_EX)


def make(paths: Paths, again: bool) -> None:
    """Install and build."""
    if ros_is_sourced():
        sourced.build(paths)
        return
    if again:
        venv.remove(paths)
    if not venv.is_installed(paths, venv.REQUIREMENTS):
        from .machine import check_machine

        check_machine()
        say("No ROS 2 is sourced: installing one from PyPI into .venv. This happens once.")
        venv.install(paths, venv.REQUIREMENTS, "Installing ROS 2 Jazzy and libraries")
    workspace.build(paths)
