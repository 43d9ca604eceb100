# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/system/test_several_arms_system.py
"""`run_task`: run a task from a terminal, print its steps and result, and save a picture."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arm_common.cli import parse
from arm_common.errors import InputError, one_line
from arm_common.plugins import PluginGroup
from arm_common.ros.node_runner import add_arm, session, user_arguments
from arm_common.signals import INTERRUPTED
from arm_common.suggestions import program
from arm_description.library import DEFAULT_ROBOT, load_robot
from arm_description.robot_model import RobotModel

from arm_tasks.errors import SceneError, resolve
from arm_tasks.ros.client.task_goal import goal_message
from arm_tasks.ros.run_task.client import TaskClient
from arm_tasks.scene.file import TASK_SCENE, load_scene
from arm_tasks.task.parser import DEFAULT_TASK, load_task
from arm_tasks.task.sending import files_of
from arm_tasks.task.steps import Task

if TYPE_CHECKING:
    from arm_tasks.ros.run_task.verdict import CompletedRun

PICTURES = PluginGroup("arm_tasks.run_pictures", "picture of a run")


def _parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="run_task", description="Run a task on the arm.")
    result.add_argument("task", nargs="?", default=DEFAULT_TASK, help="shipped name or path")
    result.add_argument("--scene", default="", help="shipped name or path; default: the task's")
    result.add_argument(
        "--robot", default=DEFAULT_ROBOT, help="shipped name or path, for the picture"
    )
    words = "servo calibration, which the command to check a refused task names"
    result.add_argument("--calibration", default="", help=words)
    add_arm(result)
    result.add_argument("--dry-run", action="store_true", help="only check; nothing moves")
    result.add_argument(
        "--start-step",
        default="",
        metavar="N",
        help="number of the first step, as in the task file; 3.2 is the second part of step 3",
    )
    result.add_argument(
        "--single-step",
        action="store_true",
        help="pause before each step; continue by key, or by the services task_server/step and"
        " task_server/resume",
    )
    result.add_argument(
        "--output", type=Path, default=Path("output"), help="folder of the picture"
    )
    return result


def run(options: argparse.Namespace) -> int:
    """Run the task; return the exit code."""
    task, model = load_task(options.task), load_robot(options.robot)
    scene_name = options.scene or task.scene or TASK_SCENE
    resolve(scene_name, "scenes", "scene", SceneError)
    goal = {
        "task": options.task,
        "scene": scene_name,
        "dry_run": options.dry_run,
        "start_step": options.start_step,
        "single_step": options.single_step,
        "files": files_of(options.task, scene_name),
    }
    done = _run(goal, task, model, options)
    from arm_tasks.planning.feasibility import run_table

    if done.reports and (options.dry_run or done.result.step_durations) and not done.refused:
        print(f"\n{run_table(done.reports, done.result.step_durations)}\n")
    for warning in done.result.warnings:
        print(f"Warning  {warning}")
    if done.nut is not None:
        print(f"Nut      {done.nut.message}")
    if done.result.steps_done:
        name = "_".join([task.name, *done.arm.split("/")] if done.arm else [task.name])
        _save_picture(options.output / f"{name}.png", done, model, scene_name)
    arm = f"{done.arm}: " if done.arm else ""
    print(f"{'Done' if done.verdict.good else 'Failed'}: {arm}{done.verdict.message}", flush=True)
    if done.refused:
        words = [options.task, "--scene", scene_name, "--robot", options.robot]
        words += ["--calibration", options.calibration] if options.calibration else []
        print(f"Help     {program('arm_tasks', 'check')} {shlex.join(words)}", flush=True)
    if done.result.can_resume:
        print(f"Resume   {resume_command(options, done)}", flush=True)
    return 0 if done.verdict.good else 1


def _run(
    goal: dict[str, Any], task: Task, model: RobotModel, options: argparse.Namespace
) -> CompletedRun:
    """Run a task to its end and judge it.

    Raises:
        TasksError: A server is missing or does not respond, or it is unclear which arm is meant.
        KeyboardInterrupt: The task was cancelled.
    """
    has_track = task.expect is not None and task.expect.line_within is not None
    with (
        session(options.namespace),
        contextlib.closing(TaskClient(model, options.prefix, has_track)) as client,
    ):
        client.wait_ready()
        result = client.run(goal_message(**goal))
        # with all of planning, which only the end needs
        from arm_tasks.ros.run_task.verdict import completed

        return completed(client, result, goal, task, model)


def _save_picture(file: Path, done: CompletedRun, model: RobotModel, scene_name: str) -> None:
    """Save the picture that an installed package draws, such as arm_studio."""
    if not PICTURES.names:
        print("Picture  none: the package arm_studio, which draws it, is not installed")
        return
    nut_end = None if done.nut is None else done.nut.pose
    title, scene = f"{file.stem} by {model.name}", load_scene(scene_name, model.name)
    try:
        PICTURES.load(PICTURES.names[0])(file, model, scene, done.postures, nut_end, title)
        print(f"Picture  {file}")
    except OSError as error:
        print(f"Picture  not written: {error.strerror}: {file}")
    except Exception as error:  # noqa: BLE001 - of another package: the run keeps its verdict
        print(f"Picture  not written: {one_line(str(error))}")


def resume_command(options: argparse.Namespace, done: CompletedRun) -> str:
    """Return the command that resumes a run on the same arm, where this one was started."""
    words = [options.task, "--start-step", done.result.resume_step]
    default = _parser().get_default
    for name in ("scene", "robot", "calibration"):
        value = getattr(options, name)
        words += [f"--{name}", value] if value != default(name) else []
    words += ["--namespace", done.arm] if done.arm else []
    return f"{program('arm_tasks', 'run_task')} {shlex.join(words)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return the exit code."""
    try:
        return run(parse(_parser(), user_arguments(arguments)))
    except InputError as error:
        print(f"run_task: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
