# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_trajectory_player.py
"""`./arm play`: play a trajectory of the joints or the tool on the running arm or in a view."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing

from arm_common.cli import number, parse, positive, unused
from arm_common.errors import InputError
from arm_common.ros.node_runner import add_arm, session, user_arguments
from arm_common.signals import INTERRUPTED
from arm_description.library import load_robot
from arm_description.robot_model import RobotModel
from arm_description.trajectories.drawing import add_drawing, drawing_options, drawing_words, draws
from arm_description.trajectories.files import tool_path
from arm_description.trajectories.trajectory import JointTrajectory as FileTrajectory
from arm_kinematics.paths.trajectories import read_motion, tool_motion

from arm_tasks.bringup.arguments import check_port, default_values
from arm_tasks.bringup.processes import chosen
from arm_tasks.bringup.supervisor import run_table, single_instance
from arm_tasks.bringup.view import play_processes
from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.ros.trajectory_player import TrajectoryPlayer, paced
from arm_tasks.scene.file import load_scene

PAPER = "paper"  # shipped scene, and its frame
_TIMEOUT = 10.0  # [s], to find an arm or a view
_OWN_VIEW_TIMEOUT = 60.0  # [s], for a view started with --view


def _parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="./arm play",
        description="Play a trajectory of the joints or the tool on the running arm or view.",
    )
    result.add_argument("robot", help="name of a shipped robot, or path of a robot file")
    result.add_argument(
        "file",
        nargs="?",
        default="",
        help="path of a .csv, .yaml, .txt or .svg file, or name of one shipped for the robot",
    )
    add_drawing(result)
    result.add_argument(
        "--scene", default=PAPER, help="scene with the frame: a shipped name or a path"
    )
    result.add_argument(
        "--frame", help="frame of the tool's poses (default: base_link; of a drawing: paper)"
    )
    result.add_argument(
        "--speed", type=positive, default=1.0, help="pace; 2 is twice as fast, within the limits"
    )
    add_arm(result)
    result.add_argument("--reverse", action="store_true", help="play it backwards")
    result.add_argument("--loop", action="store_true", help="repeat until Ctrl-C")
    result.add_argument(
        "--fit", action="store_true", help="slow down a file that exceeds the speed limits"
    )
    result.add_argument(
        "--view", action="store_true", help="start a view in the browser and play there"
    )
    result.add_argument("--viewer-port", default="8080", help="first TCP port to try for --view")
    unused(result, ["--viewer-port"], lambda given: not given.view, "without --view")
    placed = "without --frame or a drawing"
    unused(result, ["--scene"], lambda given: not (given.frame or draws(given)), placed)
    result.add_argument("--patience", type=number, default=_TIMEOUT, help=argparse.SUPPRESS)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return the exit code."""
    options = parse(_parser(), user_arguments(arguments))
    try:
        model = load_robot(options.robot)
        motion = _motion(options, model)
        if options.view:
            return _in_own_view(options)
        return _play(options, model, motion)
    except InputError as error:
        print(f"arm: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", flush=True)
        return INTERRUPTED


def _trajectory(options: argparse.Namespace, model: RobotModel) -> FileTrajectory:
    file, drawing = options.file, drawing_options(options)
    tool = tool_path(file, options.text, model, drawing)
    if tool is None:
        if options.frame:
            raise InputError("is a trajectory of the joints", remedy="omit --frame", file=file)
        return read_motion(file, model, options.fit)
    if name := options.frame or (PAPER if draws(options) else ""):
        tool = tool.moved(load_scene(options.scene, model.name).frame(name))
    return tool_motion(tool, model, file or "the text")


def _in_own_view(options: argparse.Namespace) -> int:
    """Start a view and a player; in a terminal the view then stays open."""
    for name in ("namespace", "prefix"):
        if getattr(options, name):
            remedy = f"leave out --{name}, or play in the view that runs there"
            raise InputError(f"--view has no --{name}", remedy=remedy)
    values = default_values(tasks="false", robot=options.robot, viewer_port=options.viewer_port)
    check_port(values)
    switches = (f"--{name}" for name in ("reverse", "loop", "fit") if vars(options)[name])
    numbers = f"--speed={options.speed}", f"--patience={_OWN_VIEW_TIMEOUT}"
    frame = (f"--frame={options.frame}",) if options.frame else ()
    scene = (f"--scene={options.scene}",) if options.frame or draws(options) else ()
    motion = (*filter(None, [options.file]), *drawing_words(options))
    words = (options.robot, *motion, *scene, *frame, *switches, *numbers)
    with single_instance():
        return run_table(
            chosen(play_processes(words), values), values, keep_open=sys.stdin.isatty()
        )


def _motion(options: argparse.Namespace, model: RobotModel) -> PlannedTrajectory:
    """Return the chosen motion within the limits of a robot; InputError if it exceeds them."""
    trajectory = _trajectory(options, model)
    return paced(model, trajectory.reversed() if options.reverse else trajectory, options.speed)


def _play(options: argparse.Namespace, model: RobotModel, motion: PlannedTrajectory) -> int:
    with session(options.namespace), closing(TrajectoryPlayer(model, options.prefix)) as arm:
        found = arm.wait_ready(options.patience)
        if arm.model != model:  # its servos reach less, or are slower
            motion = _motion(options, arm.model)
        name = f"{options.file or options.text}{', reversed' if options.reverse else ''}"
        print(f"Playing {name} on the {found}: {motion.duration:.2f} s.", flush=True)
        arm.play(motion)
        while options.loop:
            arm.play(motion)
    print("Done.", flush=True)
    return 0
