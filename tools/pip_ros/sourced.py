# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where a ROS 2 is sourced: build the packages with its colcon, and use it."""

import os
import shutil
import subprocess
from pathlib import Path

from . import workspace
from .errors import SetupError
from .paths import Paths
from .progress import run_logged


def stamp(paths: Paths) -> str:
    """A string that changes when the sources or the ROS 2 change."""
    folders = [
        f for f in workspace.package_folders(paths) if paths.repository / "src" in f.parents
    ]
    marks = [f"{folder.name} {workspace.fingerprint(folder)}" for folder in folders]
    return "\n".join([os.environ["ROS_DISTRO"], *marks])


def stamp_file(paths: Paths) -> Path:
    """The file that holds the stamp of the last build that went to its end."""
    return paths.repository / "install" / ".arm-built"


def is_outdated(paths: Paths) -> bool:
    """Whether the packages must be built."""
    file = stamp_file(paths)
    return not file.exists() or file.read_text() != stamp(paths)


def build(paths: Paths) -> None:
    """Build in build/ and install/ as a colcon user would.

    Raises:
        SetupError: colcon is not there, or the build failed.
    """
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
        SetupError: The build left nothing that can be sourced.
    """
    script = ". install/local_setup.sh && env -0"
    answer = subprocess.run(
        ["sh", "-c", script], cwd=paths.repository, capture_output=True, text=True
    )
    if answer.returncode != 0:
        raise SetupError(f"install/local_setup.sh failed: {answer.stderr.strip()}")
    return dict(entry.split("=", 1) for entry in answer.stdout.split("\0") if "=" in entry)
