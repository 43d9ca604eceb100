# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Run one task from a terminal: say what the arm is doing, and at the end what became of it."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from arm_common.ros.node_runner import session
from arm_common.signals import INTERRUPTED
from arm_common.transforms import Array
from rclpy.utilities import remove_ros_args  # noqa: TID251

from arm_description import DescriptionError, RobotModel, load_robot
from arm_interfaces.action import RunTask  # noqa: TID251
from arm_kinematics import Chain
from arm_tasks.commands.run_picture import draw_run
from arm_tasks.errors import TasksError
from arm_tasks.planning.planner import plan_task
from arm_tasks.planning.report import run_table
from arm_tasks.ros.messages import pose_matrix, step_report
from arm_tasks.ros.task_client import TaskClient
from arm_tasks.ros.task_verdict import ObservedRun, is_there, judge
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.scene import Scene
from arm_tasks.task.parser import load_task
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Expectation, Task
from arm_tasks.world.verdict import lies_on, off_lines


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="run_task", description="Run a task on the arm.")
    result.add_argument("task", nargs="?", default="nut_transfer", help="shipped name or path")
    result.add_argument("--scene", default="", help="shipped name or path; the task's own")
    result.add_argument("--robot", default="nut_arm", help="shipped name or path, for the picture")
    result.add_argument("--dry-run", action="store_true", help="check only; nothing moves")
    result.add_argument(
        "--start-step", type=step_index, default=0, help="index of the step to start at"
    )
    result.add_argument(
        "--single-step",
        action="store_true",
        help="pause before each step; go on by key, or by the services run_task/step and resume",
    )
    result.add_argument(
        "--output", type=Path, default=Path("output"), help="folder of the picture"
    )
    return result


def step_index(text: str) -> int:
    """Read the index of a step."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text} is no index of a step; the first one is 0")
    return int(text)


def _goal(options: argparse.Namespace) -> RunTask.Goal:
    return RunTask.Goal(
        task=options.task,
        scene=options.scene,
        dry_run=options.dry_run,
        start_step=options.start_step,
        single_step=options.single_step,
    )


def look(client: TaskClient, task: Task, scene: Scene, model: RobotModel) -> ObservedRun:
    """Return what came of a run that succeeded, as far as the task expects something."""
    expected, nut, on, off = task.expect or Expectation(), None, None, 0.0
    if scene.nut is not None:
        nut = client.nut(lambda nut: not expected.nut_on or is_there(expected, nut))
    if name := expected.payload:

        def under(T: Array) -> str:
            return lies_on(scene.with_thing(name, T), name)

        T = client.payload(name, lambda T: under(T) == expected.lies_on)
        on = None if T is None else under(T)
    if expected.line_within is not None and client.track:
        chain = Chain.from_model(model)
        start = ArmConfiguration(
            dict(zip(model.joint_names, client.track[0][1].tolist(), strict=True)),
            model.gripper.max_width if model.gripper else 0.0,
        )
        plan = plan_task(TaskRequest(task, scene, model, chain, start), collisions=False)
        off = off_lines(plan, client.track)
    return ObservedRun(nut, on, off)


def run(options: argparse.Namespace) -> int:
    """Run the task; returns the exit code.

    Raises:
        TasksError: The files make no sense, or a server that is needed does not come.
        DescriptionError: The robot file makes no sense.
    """
    task, model = load_task(options.task), load_robot(options.robot)
    options.scene = options.scene or task.scene or "nut_transfer"
    scene = load_scene(options.scene, model.name)
    client = TaskClient(model)
    try:
        client.wait_ready()
        result = client.run(_goal(options))
        decide = partial(judge, result, options.dry_run, task, simulated=client.simulated)
        seen = ObservedRun()
        if result.status == RunTask.Result.SUCCESS and not options.dry_run:
            seen = look(client, task, scene, model)
    finally:
        client.close()
    verdict, nut = decide(seen), seen.nut
    if result.report:
        reports = [step_report(report) for report in result.report]
        print(f"\n{run_table(reports, result.step_durations)}\n")
    for warning in result.warnings:
        print(f"Warning  {warning}")
    if nut is not None:
        print(f"Nut      {nut.message}")
    if result.steps_done:
        file = options.output / f"{task.name}.png"
        end = None if nut is None else pose_matrix(nut.pose.pose)
        try:
            draw_run(file, model, scene, client.postures, end, f"{task.name} by {model.name}")
            print(f"Picture  {file}")
        except OSError as error:
            print(f"Picture  not written: {error.strerror}: {file}")
    print(f"{'Done' if verdict.good else 'Failed'}: {verdict.message}", flush=True)
    if result.can_resume:
        print(f"Go on     run_task {options.task} --start-step {result.resume_step}", flush=True)
    return 0 if verdict.good else 1


def main() -> int:
    """Run the program; returns the exit code."""
    try:
        with session():
            return run(parser().parse_args(remove_ros_args(sys.argv)[1:]))
    except (TasksError, DescriptionError) as error:
        print(f"run_task: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
