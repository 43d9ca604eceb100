# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_demo.py
"""`./arm demo`: the nut transfer or another task, by one or several arms."""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix
from arm_common.cli import add_force, parse, refuse_overwriting, unused
from arm_common.signals import INTERRUPTED
from arm_common.suggestions import build_command
from arm_common.yaml.document import check_params_file
from arm_description.library import load_robot

from arm_tasks.bringup.arguments import (
    ARGUMENTS,
    check_arms,
    check_port,
    check_scene,
    check_simulation,
    check_speed,
    checked_world,
    driven_robot,
    judge_of,
)
from arm_tasks.bringup.processes import (
    DEFAULT_SPACING,
    Process,
    is_installed,
    processes,
    run_folder,
    several_processes,
)
from arm_tasks.bringup.supervisor import (
    add_namespace,
    check_namespace,
    one_arm,
    robot_file,
    run_program,
    run_table,
)
from arm_tasks.errors import TasksError
from arm_tasks.scene.file import TASK_SCENE, load_scene
from arm_tasks.task.parser import DEFAULT_TASK, load_task

_SPEEDS = (0.1, 20.0)
RECORDINGS = "arm_studio"  # the package that records and draws
_OUTPUT = Path("output")  # of tasks made for a robot, as of the pictures of runs
# of ./arm; the scene is by default that of the task, the task one that fits the robot
_OWN_DEFAULTS = {"viewer": "browser", "scene": "", "task": ""}


def demo_parser() -> argparse.ArgumentParser:
    """Return the parser of `./arm demo`: the table's arguments and `--headless`."""
    parser = argparse.ArgumentParser(
        prog="./arm demo", usage="%(prog)s [options]", description="Run the nut transfer."
    )
    parser.add_argument(
        "--headless", action="store_true", help="no browser view; same as --viewer none"
    )
    parser.add_argument(
        "--robots",
        default="",
        help="names of several equal arms, such as left,right, which do the task side by side;"
        " each gets its namespace and the prefix of its names from its name",
    )
    parser.add_argument(
        "--spacing", default=str(DEFAULT_SPACING), help="distance between their bases [m]"
    )
    parser.add_argument(
        "--record",
        default="",
        metavar="FILE.gif",
        help="animation of the run, from near; the recording stays beside it as FILE.mcap",
    )
    parser.add_argument(
        "--wait",
        action=argparse.BooleanOptionalAction,
        help="begin the task when the page is open in a browser, or at Enter (default: in a"
        " terminal, if there is a page)",
    )
    add_force(parser, "--record")
    add_namespace(parser)
    for argument in ARGUMENTS:
        default = _OWN_DEFAULTS.get(argument.name, argument.default)
        parser.add_argument(
            f"--{argument.name.replace('_', '-')}",
            default=default,
            choices=argument.choices or None,
            help=f"{argument.text} Default: {default or 'none'}",
        )
    unused(parser, ["--spacing"], lambda given: not given.robots, "without --robots")
    unused(parser, ["--viewer-port"], lambda given: given.headless, "with --headless")
    return parser


def demo_values(arguments: Sequence[str]) -> dict[str, str]:
    """Return the values of the demo's arguments by name, or raise an error of the package."""
    parser = demo_parser()
    values = vars(parse(parser, arguments))
    values["robot"] = robot_file(values["robot"])
    check_speed(values, *_SPEEDS)
    check_simulation(values)
    world = checked_world(values, _report)
    judge, values["world"] = judge_of(values, world), world
    _choose_task(values)
    values["task"] = values["task"] or DEFAULT_TASK
    values["scene"] = values["scene"] or load_task(values["task"]).scene or TASK_SCENE
    if not values["task_path"] and Path(values["task"]).is_file():
        values["task_path"] = str(Path(values["task"]).parent)  # for the page, to run it again
    if values.pop("headless"):
        values["viewer"] = "none"
    values["wait"] = _wait_for_page(values)
    check_port(values)
    check_params_file(values)
    check_namespace(values)
    _check_record(values, values.pop("force"))
    check_arms(values)
    check_scene(values)
    if judge:
        _report(judge)
    return values


def _report(text: str) -> None:
    print(f"arm: {text}", file=sys.stderr, flush=True)


def _check_record(values: Mapping[str, str], force: bool) -> None:
    """Raise InputError unless `record` is empty or a GIF that can be written."""
    file = Path(values["record"])
    if not values["record"]:
        return
    if not is_installed(RECORDINGS):
        raise TasksError(
            f"--record needs the package {RECORDINGS}, which is not installed: build it "
            f"({build_command(RECORDINGS)})"
        )
    if values["robots"]:
        raise TasksError("--record shows one arm; leave out --robots")
    if file.suffix.lower() != ".gif":
        raise TasksError(f"--record is {file}; give a name that ends in .gif")
    if not os.access(file.absolute().parent, os.W_OK):
        raise TasksError(f"--record {file} cannot be written: no such folder, or not yours")
    for name in (file, file.with_suffix(".mcap")):
        refuse_overwriting(str(name), force)


def _wait_for_page(values: Mapping[str, Any]) -> str:
    """Return the file that the view creates when its page is first open; "" not to wait."""
    wait, has_page = values["wait"], values["viewer"] == "browser"
    if wait and not has_page:
        raise TasksError("--wait waits for a page in a browser; leave out --headless and --viewer")
    expected = has_page and not values["record"] and sys.stdin.isatty()
    return str(run_folder() / "opened") if wait or (wait is None and expected) else ""


def _recorder(file: Path) -> Process:
    """Return the process that records every topic."""
    arguments = ("-o", str(file), "--force")  # the demo has refused what may not be replaced
    return Process(RECORDINGS, "record", "recorder", arguments=arguments)


def _film(values: Mapping[str, str], recording: Path) -> int:
    """Draw the animation of a recorded run; return the exit code."""
    scene = load_scene(values["scene"], load_robot(values["robot"]).name)
    on_tf = scene.nut is not None and values["hardware"] != "real"
    near = ("--follow", "nut", "--view", "rear") if on_tf else ()
    name = f"/{values['namespace']}" if values["namespace"] else ""
    program = Path(get_package_prefix(RECORDINGS)) / "lib" / RECORDINGS / "export"
    words = [str(recording), values["record"], "--namespace", name, *near]
    return subprocess.call([str(program), *words])


def _choose_task(values: dict[str, str]) -> None:
    """Choose a task for a simulated robot that is not the demo's own, unless one is given.

    The task draw_square is fitted to the robot, too.
    """
    own = values["robot"] == demo_parser().get_default("robot")
    drawn = values["task"] == "draw_square"
    given = values["scene"] or (values["task"] and not drawn)
    if own or given or values["hardware"] == "real":
        return
    # planning is slow to import
    from arm_tasks.bringup.fitting_task import fitting_square, fitting_task

    model = driven_robot(values)
    found = fitting_square(model) if drawn else fitting_task(model)
    values["task"], values["scene"] = found.write(_OUTPUT, model.name)
    print(f"{model.name} does the task {values['task']}.", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""

    def run(values: dict[str, str]) -> int:
        keep_open = values["viewer"] != "none" and sys.stdin.isatty()
        arms = [name for name in values["robots"].split(",") if name]
        if arms:
            return run_table(several_processes(arms, values), values, keep_open)
        table = one_arm(processes(), values)
        if not values["record"]:
            return run_table(table, values, keep_open)
        recording = Path(values["record"]).with_suffix(".mcap")
        code = run_table([_recorder(recording), *table], values, False)
        if code == INTERRUPTED or not recording.exists():
            return code
        return _film(values, recording) or code

    return run_program(demo_values, arguments, run)
