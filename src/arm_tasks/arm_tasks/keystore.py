# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Make the keys of the arm's nodes: each may do what its policy allows, and nothing else.

The keys and permissions are made by SROS 2 (`ros2 security`), from the policy that is shipped.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from arm_tasks.errors import TasksError
from arm_tasks.policy import read_policy, shipped_policy

HOW_TO = """\
Made {count} enclaves in {folder}. In each terminal that starts a node of the arm:
    export ROS_SECURITY_KEYSTORE={folder} ROS_SECURITY_ENABLE=true ROS_SECURITY_STRATEGY=Enforce
The launch files and ./arm give each process its enclave. For the commands of ros2 also:
    export ROS_SECURITY_ENCLAVE_OVERRIDE=/arm/operator
Other computers get the folder `public` and their own enclaves, never `private`."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="keystore", description=__doc__)
    result.add_argument("folder", type=Path, help="where the keys are kept; made if missing")
    result.add_argument("--policy", type=Path, help="a policy of your own; default: the shipped")
    return result


def make(folder: Path, policy: Path) -> str:
    """Make keys and permissions; return what to do with them.

    Args:
        folder: Of the keystore; what is in it already is kept.
        policy: Checked before anything is written.

    Raises:
        TasksError: The policy makes no sense, or SROS 2 is missing or fails.
    """
    enclaves = read_policy(policy)
    ros2 = shutil.which("ros2")
    if ros2 is None:
        raise TasksError(
            "keys are made by SROS 2, which needs a full ROS 2: source one, with"
            " ros-<distro>-sros2 installed"
        )
    command = [ros2, "security", "generate_artifacts", "-k", str(folder), "-p", str(policy)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise TasksError(
            f"ros2 security failed: {''.join(last)} (is ros-<distro>-sros2 installed?)"
        )
    return HOW_TO.format(count=len(enclaves), folder=folder.resolve())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        sys.stdout.write(make(options.folder, options.policy or shipped_policy()) + "\n")
    except TasksError as error:
        sys.stderr.write(f"keystore: {error}\n")
        return 1
    return 0
