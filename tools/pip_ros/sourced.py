# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Builds the packages with the colcon of a sourced ROS 2, and runs them in it."""

import os
import shutil
import subprocess
from pathlib import Path

from . import workspace
from .errors import SetupError
from .paths import Paths
from .progress import run_logged


def stamp(paths: Paths) -> str:
    """Return a string that changes with the sources and the ROS 2."""
    folders = [
        f for f in workspace.package_folders(paths) if paths.repository / "src" in f.parents
    ]
    marks = [f"{folder.name} {workspace.fingerprint(folder)}" for folder in folders]
    return "\n".join([os.environ["ROS_DISTRO"], *marks])


def stamp_file(paths: Paths) -> Path:
    """Return the file with the stamp of the last complete build."""
    return paths.repository / "install" / ".arm-built"


def is_outdated(paths: Paths) -> bool:
    """Return whether the packages must be built."""
    file = stamp_file(paths)
    return not file.exists() or file.read_text() != stamp(paths)


def build(paths: Paths) -> None:
    """Build in build/ and install/ as a colcon user would.

    Raises:
        SetupError: colcon is missing, or the build failed.
    """
    if not os.environ.get("AMENT_PREFIX_PATH"):
        raise SetupError(
            f"ROS_DISTRO is {os.environ['ROS_DISTRO']!r}, but no ROS 2 is sourced: source one, or "
            "unset ROS_DISTRO, and ./arm makes one"
        )
    if shutil.which("colcon") is None:
        raise SetupError(
            "colcon is not installed: sudo apt-get install -y python3-colcon-common-extensions"
        )
    made = stamp(paths)
    packages = len(made.splitlines()) - 1
    command = ["colcon", "build", "--base-paths", "src", "--event-handlers", "console_direct+"]
    title = f"Building with ROS 2 {os.environ['ROS_DISTRO'].capitalize()}"
    progress = workspace.ColconProgress(packages)
    run_logged(command, paths.logs / "colcon.log", progress, title, os.environ, paths.repository)
    stamp_file(paths).write_text(made)


def environment(paths: Paths) -> dict[str, str]:
    """Return the environment of the built packages.

    Raises:
        SetupError: The build cannot be sourced.
    """
    script = ". install/local_setup.sh && env -0"
    answer = subprocess.run(
        ["sh", "-c", script], cwd=paths.repository, capture_output=True, text=True
    )
    if answer.returncode != 0:
        raise SetupError(f"install/local_setup.sh failed: {answer.stderr.strip()}")
    return dict(entry.split("=", 1) for entry in answer.stdout.split("\0") if "=" in entry)
