# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`driver` starts the servo driver of an arm; `arm`, `disarm`, `stop`, `reset` command it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from arm_common.errors import InputError
from arm_common.ros.node_runner import add_namespace, checked_namespace, user_arguments
from arm_common.suggestions import program
from arm_common.terminal import print_line
from arm_description.library import shipped_robots

from arm_common import cli
from arm_hardware.backends import add_backend
from arm_hardware.errors import HardwareError, StateError

if TYPE_CHECKING:
    from arm_hardware.ros.driver_calls import DriverCalls

_ALL_FOUND = 5.0  # [s] in which DDS discovers every driver, also on a busy computer
_ERRORS = (HardwareError, InputError)


def driver_parser() -> argparse.ArgumentParser:
    """Return the parser of `driver`."""
    parser = argparse.ArgumentParser(
        prog="driver",
        description="Start the servo driver of an arm, simulated unless --real is given. "
        "Parameters of its node follow --ros-args, as in --ros-args -p rate_hz:=100.0.",
    )
    cli.add_robot(parser, shipped_robots())
    parser.add_argument(
        "--calibration",
        default="",
        metavar="FILE",
        help="servo calibration (default: the one shipped for the robot)",
    )
    parser.add_argument(
        "--real",
        action="store_true",
        help="drive real servos, which stay as they are until a person arms them",
    )
    add_backend(parser)
    add_namespace(parser)
    parser.add_argument("--prefix", default="", help="of joints and frames, such as left_")
    return parser


def node_arguments(options: argparse.Namespace) -> list[str]:
    """Return the ROS arguments of the driver's node."""
    namespace = checked_namespace(options.namespace)
    values = {
        "robot": options.robot,
        "calibration": options.calibration,
        "backend": options.backend,
        "hardware": "real" if options.real else "sim",
        "autostart": "auto",
        "prefix": options.prefix,
    }
    words = ["--ros-args"]
    for name, value in values.items():  # quoted: rcl would take 007 for a number
        words += ["-p", f"{name}:={json.dumps(value, ensure_ascii=False)}"]
    return [*words, *(["-r", f"__ns:={namespace}"] if namespace else [])]


def main() -> int:
    """Run the driver's node; return the exit code."""
    words = user_arguments()
    rest = sys.argv[1 + len(words) :]  # ROS arguments come last

    def start(options: argparse.Namespace) -> int:
        sys.argv[1:] = [*node_arguments(options), *rest]
        if options.real:
            cli.print_status(f"When nothing is in the arm's way: {program('arm_hardware', 'arm')}")
        from arm_hardware.ros.process import main as run  # here: it is slow to import

        return run()

    return cli.run(driver_parser(), start, words, _ERRORS)


def arm() -> int:
    """Arm the running driver; return the exit code."""
    text = "Arm the running driver, anew after a fault; the servos move to rest if they were off."
    return _command("arm", text, lambda driver: driver.arm(print_line))


def disarm() -> int:
    """Disarm the running driver; return the exit code."""
    text = "Disarm the running driver: it aborts motions and holds, until it is armed again."
    return _command("disarm", text, lambda driver: driver.trigger("disarm"))


def reset() -> int:
    """Reset the running driver; return the exit code."""
    text = "Accept motions again after a stop; nothing moves."
    return _command("reset", text, lambda driver: driver.trigger("reset"))


def stop() -> int:
    """Stop the running drivers; return the exit code."""
    parser = _parser("stop", "Stop every arm at once: it holds until it is reset.")

    def run(options: argparse.Namespace) -> None:
        from arm_hardware.ros.driver_calls import drivers

        stopped, refused = 0, list[str]()
        with drivers(options.namespace, settled=_ALL_FOUND) as running:
            for driver in running:
                try:  # whatever one answers, the next one is stopped
                    print_line(f"{driver.name}: {driver.trigger('stop')}")
                    stopped += 1
                except HardwareError as error:
                    refused.append(f"{driver.name}: {error}")
        if refused or not stopped:
            nothing = "No driver is running in this ROS_DOMAIN_ID; nothing was stopped."
            raise StateError("; ".join(refused) or nothing)

    return cli.run(parser, run, user_arguments(), _ERRORS)


def _parser(name: str, text: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=text)
    add_namespace(parser)
    return parser


def _command(name: str, text: str, act: Callable[[DriverCalls], str]) -> int:
    """Run a command on the one driver that runs; print the driver's sentence."""

    def run(options: argparse.Namespace) -> None:
        from arm_hardware.ros.driver_calls import drivers, only_driver

        with drivers(options.namespace) as running:
            print_line(act(only_driver(running)))

    return cli.run(_parser(name, text), run, user_arguments(), _ERRORS)
