# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_bringup.py
"""`./arm view`: show a robot in a browser and move its joints; the processes that do so."""

import argparse
from collections.abc import Sequence
from dataclasses import replace

from arm_common.cli import parse
from arm_common.signals import INTERRUPTED
from arm_description.library import DEFAULT_ROBOT, load_robot

from arm_tasks.bringup.arguments import Arg, Values, check_port, default_values
from arm_tasks.bringup.processes import ROBOT, SCENE, VIEW, Process, Value, composable, processes
from arm_tasks.bringup.supervisor import (
    add_namespace,
    check_namespace,
    one_arm,
    robot_file,
    run_program,
    run_table,
)
from arm_tasks.scene.file import load_scene


def view_processes(state_publisher: str = "", scene: bool = False) -> tuple[Process, ...]:
    """Return the processes that show a robot in the browser, with sliders.

    The view reloads the robot file when it changes, and the file of a scene, if there is one.
    """
    table = {process.name: process for process in processes(state_publisher)}
    publisher = table["robot_state_publisher"]
    view: dict[str, Value] = {**VIEW, "sliders": True}
    surroundings: tuple[Process, ...] = ()
    if scene:
        view["scene"] = Arg("scene")
        surroundings = (composable("arm_tasks", "scene_file", SCENE, {}),)
    watched = {**ROBOT, "publisher": publisher.name, "dh_frames": True}
    name = "robot_file_watcher"
    return (
        publisher.with_parameters({"robot_description": _dh_description}),
        Process("arm_viewer", "viewer", "arm_viewer", view, to_terminal=True),
        table["kinematics"],
        *surroundings,
        Process("arm_description", name, name, watched, to_terminal=True),
    )


def play_processes(arguments: tuple[str, ...]) -> tuple[Process, ...]:
    """Return the processes that play a trajectory in their own view, by `play`'s arguments."""
    player = Process("arm_tasks", "play", "play_trajectory", arguments=arguments)
    player = replace(player, ends_all=True, to_terminal=True)
    return (*view_processes(), player)


def _dh_description(values: Values) -> str:
    """Return the description with DH frames, as robot_file_watcher sends it later."""
    return load_robot(values["robot"]).to_urdf(dh_frames=True)


def view_values(arguments: Sequence[str]) -> dict[str, str]:
    """Return the values of the arguments of `./arm view` by name, as demo_values() does."""
    parser = argparse.ArgumentParser(
        prog="./arm view", description="Show a robot and move its joints."
    )
    parser.add_argument(
        "robot", nargs="?", default=DEFAULT_ROBOT, help="a shipped name or the path of a file"
    )
    parser.add_argument(
        "--scene",
        default="",
        help="scene around it: a shipped name or the path of a YAML file; the page edits it",
    )
    parser.add_argument("--viewer-port", default="8080", help="first TCP port to try")
    add_namespace(parser)
    given = vars(parse(parser, arguments))
    given["robot"] = robot_file(given["robot"])
    values = default_values(tasks="false", **given)
    check_port(values)
    check_namespace(values)
    model = load_robot(values["robot"])
    if values["scene"]:
        load_scene(values["scene"], model.name)
    return values


def main(arguments: Sequence[str] | None = None) -> int:
    """Show a robot in the browser; return the exit code."""
    code = run_program(
        view_values,
        arguments,
        lambda values: run_table(
            one_arm(view_processes(scene=bool(values["scene"])), values), values, False
        ),
    )
    return 0 if code == INTERRUPTED else code
