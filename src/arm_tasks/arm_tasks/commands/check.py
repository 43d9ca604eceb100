# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm check`: can every step of a task be done? Nothing runs and nothing moves."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence

from arm_description import DescriptionError, load_robot
from arm_kinematics import Chain
from arm_tasks.errors import TasksError
from arm_tasks.planning.feasibility import check_feasibility
from arm_tasks.task.request import ArmConfiguration, load_request


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(
        prog="./arm check",
        description="Check a task: reach, limits, collisions. Exit code 0 if it can be done.",
    )
    result.add_argument("task", nargs="?", default="nut_transfer", help="shipped name or path")
    result.add_argument("--scene", default="", help="name or path; the task's own if left out")
    result.add_argument("--robot", default="nut_arm", help="shipped name or path")
    result.add_argument(
        "--start", default="", help="posture it starts in; rest if the robot has that, else zeros"
    )
    result.add_argument(
        "--json", action="store_true", help="for programs: JSON on standard output"
    )
    return result


def run(options: argparse.Namespace) -> int:
    """Check the task and print the report; returns the exit code.

    Raises:
        TasksError: The files make no sense.
        DescriptionError: The robot file makes no sense.
    """
    model = load_robot(options.robot)
    start = ArmConfiguration.of_posture(model, options.start)
    chain = Chain.from_model(model)
    found = check_feasibility(load_request(options.task, model, chain, start, options.scene))
    data = json.dumps(found.as_dict(), indent=2, allow_nan=False)
    with contextlib.suppress(BrokenPipeError):  # a reader that has seen enough
        sys.stdout.write(f"{data if options.json else found.text()}\n")
        sys.stdout.flush()
    return 0 if found.plan.feasible else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns 0 if it can be done, 1 if not, 2 if it makes no sense."""
    try:
        return run(parser().parse_args(arguments))
    except (TasksError, DescriptionError) as error:
        sys.stderr.write(f"arm check: {error}\n")
        return 2
