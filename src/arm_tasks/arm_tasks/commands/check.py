# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/test_feasibility.py
"""`./arm check`: check whether every step of a task is feasible, without nodes or motion."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec

from arm_common.suggestions import program
from arm_description.library import DEFAULT_ROBOT, load_robot
from arm_description.robot_model import RobotModel
from arm_hardware.calibration.selection import robot_with_servos

from arm_common import cli
from arm_kinematics import Chain
from arm_tasks.bringup.fitting_task import SQUARE, fitting_square
from arm_tasks.planning.feasibility import check_feasibility
from arm_tasks.ros.task_server.message_fields import check_types
from arm_tasks.scene.file import scene_from_text
from arm_tasks.task.parser import DEFAULT_TASK, task_from_text
from arm_tasks.task.request import (
    PREFERENCES,
    ArmConfiguration,
    TaskRequest,
    TorqueLimits,
    load_request,
)


def _parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="./arm check",
        description="Check a task: reach, limits, collisions, torques. Exit code 0: feasible.",
    )
    result.add_argument("task", nargs="?", default=DEFAULT_TASK, help="shipped name or path")
    for name, default, text in (
        ("scene", "", "shipped name or path; default: the task's"),
        ("robot", DEFAULT_ROBOT, "shipped name or path"),
        (
            "calibration",
            "",
            "servo calibration, whose limits hold as well: shipped name or path; default: the"
            " robot's own, or ideal servos",
        ),
        ("start", "", "initial posture; default: rest, else the first of the robot file"),
    ):
        result.add_argument(f"--{name}", default=default, help=text)
    for name, percent, text in (("warning", 60, "warn"), ("limit", 100, "refuse a step")):
        words = f"{text} above this share of a servo's torque [%%] (default: {percent})"
        result.add_argument(f"--torque-{name}", type=cli.number, default=percent, help=words)
    words = "of several postures for a target: nearest, or the least torque of a servo"
    result.add_argument("--prefer", choices=PREFERENCES, default=PREFERENCES[0], help=words)
    result.add_argument("--json", action="store_true", help="print JSON")
    return result


def run(options: argparse.Namespace) -> int:
    """Check the task and print the report; return the exit code."""
    model = robot_with_servos(load_robot(options.robot), options.calibration)
    start = ArmConfiguration.of_posture(model, options.start)
    chain = Chain.from_model(model)
    torques = TorqueLimits(options.torque_warning / 100.0, options.torque_limit / 100.0)
    request = _fitted_square(options, model, chain, start)
    request = request or load_request(options.task, model, chain, start, options.scene)
    found = check_feasibility(replace(request, torques=torques, prefer=options.prefer))
    if find_spec("rosidl_parser") is not None:  # else no message type is installed
        check_types(found.plan)
    data = json.dumps(found.as_dict(), indent=2, allow_nan=False)
    sys.stdout.write(f"{data if options.json else found.text()}\n")
    return 0 if found.plan.feasible else 1


def _fitted_square(
    options: argparse.Namespace, model: RobotModel, chain: Chain, start: ArmConfiguration
) -> TaskRequest | None:
    """Return draw_square as another robot than its own can do it; None for all other tasks."""
    is_own = options.robot == _parser().get_default("robot")
    if is_own or options.task != SQUARE or options.scene or options.start:
        return None
    square = fitting_square(model)
    if square.is_shipped:
        return None
    sys.stderr.write(
        f"./arm check: {model.name} cannot draw on the board of {SQUARE}: checked is a square in "
        f"the air, as {program('arm_tasks', 'demo')} --robot {options.robot} --task {SQUARE} "
        "draws it\n"
    )
    task, scene = task_from_text(square.task, SQUARE), scene_from_text(square.scene)
    return TaskRequest(task, scene, model, chain, start)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return 0 if the task is feasible, 1 if not, 2 for invalid input."""
    return cli.run(_parser(), run, arguments, refused=2)
