# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command `arm` of an installation by pip, without ROS.

arm view puma560
arm fk puma560 10 20 30 0 40 0
arm explain my_arm.yaml -o my_arm.html

It runs the programs of all installed arm packages. Those that need ROS say so.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from textwrap import fill

from arm_common.network import LAST_PORT
from arm_common.plugins import entry_point_files, entry_points, resolve
from arm_common.suggestions import did_you_mean, install_command

from arm_common import cli

PROGRAMS = "arm.programs"  # group of entry points of packages that are installed by pip
_ROS = ("rclpy", "ament_index_python", "launch", "launch_ros", "action_msgs")
_USAGE = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run a program and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    programs = {**_installed(), "view": _view}
    if not words or words[0] in ("-h", "--help", "help"):
        names = fill(" ".join(sorted(programs)), 98)
        cli.write_text(f"arm PROGRAM ...; each answers --help:\n\n{names}\n", "")
        return 0
    name = words[0]
    if name not in programs:
        remedy = did_you_mean(name, sorted(programs))
        cli.print_status(f"arm: there is no program '{name}': {remedy}")
        return _USAGE
    sys.argv = [f"arm {name}", *words[1:]]
    try:
        return programs[name]()
    except ModuleNotFoundError as error:
        module = str(error.name).partition(".")[0]
        if module in _ROS or module.endswith(("_msgs", "_interfaces", "_srvs")):
            cli.print_status(
                f"arm {name} needs ROS 2, and there is no module {module}; start it in the"
                " repository by ./arm, which installs ROS 2"
            )
        else:
            command = install_command(module)
            cli.print_status(f"arm {name} needs the package {module}: {command}")
        return _USAGE


def _installed() -> dict[str, Callable[[], int]]:
    """Return the installed programs by name; of two with a name, the first on sys.path."""
    programs: dict[str, Callable[[], int]] = {}
    for file in entry_point_files(sys.path):
        for name, reference in entry_points(file, PROGRAMS).items():
            programs.setdefault(name, partial(_run, reference))
    return programs


def _run(reference: str) -> int:
    code: int = resolve(reference)()
    return code


def _view() -> int:
    """Show a robot in a browser, with the model in this process."""
    from arm_description.library import DEFAULT_ROBOT

    from arm_viewer import local_arm

    parser = argparse.ArgumentParser(
        prog="arm view",
        description="Show a robot in a browser: move its joints, drag its tool, edit its table."
        " Runs of tasks need ROS 2 and are not in this page.",
    )
    parser.add_argument("robot", nargs="?", default=DEFAULT_ROBOT, help="a shipped name or a path")
    parser.add_argument("--viewer-host", default="127.0.0.1", help="address to serve at")
    parser.add_argument(
        "--viewer-port",
        default=8080,
        type=cli.whole_number(0, LAST_PORT),
        help="first TCP port to try",
    )
    arguments = cli.parse(parser, None)
    return local_arm.main(arguments.robot, arguments.viewer_host, arguments.viewer_port)
