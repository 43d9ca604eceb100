# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""./arm test: linters, types, then every test; ends with pytest's closing line."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from . import venv
from .become import become
from .errors import SetupError
from .paths import Paths

NOT_HERE = (
    "Not run here, for they need a full ROS 2 (run by .github/workflows): robot_state_publisher,"
    " rviz2, and src/*/test/launch, whose files are named at the end."
)
TWO_MACHINES = (
    "Not run here, for they need root and the command ip (Debian's iproute2) to make network"
    " namespaces (run by .ci/run as root): src/arm_tasks/test/system/test_two_machines_system.py"
    " and test_discovery_system.py."
)
# A file's tests stay together: they share nodes, and a ROS domain that no other file uses.
PARALLEL = ("-n", str(min(os.cpu_count() or 1, 4)), "--dist", "loadfile", "--no-loadscope-reorder")


def run(environment: dict[str, str], arguments: Sequence[str]) -> int:
    """Run everything; with arguments, only pytest with these."""
    paths = Paths()
    if "ARM_VENV" not in environment:
        return colcon_test(environment, paths, arguments)
    venv.install(paths, venv.TEST_REQUIREMENTS, "Installing what the tests need")
    if shutil.which("chromium") is None:
        raise SetupError(
            "The browser tests need chromium: apt-get update && apt-get install -y chromium"
        )
    python = str(paths.python)
    environment = environment | {"PYTHONDONTWRITEBYTECODE": "1"}
    if not arguments:
        for name, command in checks(python):
            print(f"{name} ...", flush=True)
            if subprocess.run(command, cwd=paths.repository, env=environment).returncode != 0:
                print(
                    f"{name} found something; mend it and run ./arm test again.", file=sys.stderr
                )
                return 1
        print(NOT_HERE, flush=True)
        if not can_be_two_machines():
            print(TWO_MACHINES, flush=True)
    command = [python, "-m", "pytest", *(arguments or ["-q", *PARALLEL])]
    os.chdir(paths.repository)
    return become(command, environment)  # Ctrl-C then reaches pytest, which puts things in order


def can_be_two_machines() -> bool:
    """Whether network namespaces can be made here."""
    command = shutil.which("ip")
    if command is None or os.geteuid() != 0:
        return False
    name = f"arm-may-{os.getpid()}"
    if subprocess.run([command, "netns", "add", name], capture_output=True).returncode != 0:
        return False
    return subprocess.run([command, "netns", "del", name]).returncode == 0


def checks(python: str) -> list[tuple[str, list[str]]]:
    """The checks that look at the code without running it."""
    return [
        ("ruff check", [python, "-m", "ruff", "check", "-q", "."]),
        ("ruff format --check", [python, "-m", "ruff", "format", "--check", "-q", "."]),
        ("mypy", [python, "-m", "mypy", "--no-error-summary"]),
    ]


def colcon_test(environment: dict[str, str], paths: Paths, arguments: Sequence[str]) -> int:
    """Where a ROS 2 is sourced, the tests are colcon's; with arguments, pytest's."""
    colcon = "colcon test --base-paths src --event-handlers console_cohesion+"
    script = f"{colcon}; code=$?; colcon test-result --verbose && exit $code"
    command = [sys.executable, "-m", "pytest", *arguments] if arguments else ["sh", "-c", script]
    return subprocess.run(command, cwd=paths.repository, env=environment).returncode
