# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm teach`: jog or send the arm; keep poses, paths, and bolts that it touches."""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from collections.abc import Callable, Sequence

from arm_common.terminal import Screen
from rclpy.utilities import remove_ros_args

from arm_description import RobotModel, load_robot
from arm_tasks.errors import TasksError
from arm_tasks.ros.client.arm import Arm
from arm_tasks.ros.client.results import ArmError
from arm_tasks.ros.client.teacher import Teacher
from arm_tasks.ros.teleop.node import TeleopNode
from arm_tasks.ros.teleop.terminal import TeleopTerminal, serve, terminal, told

HELP = """\
Teaching:
  p  keep this pose         g  go to a pose, a posture, or joints (waist=30 elbow=-10, in deg, mm)
  c  record, and end it     v  play a path back
  b  choose the bolt        1 2 3  the tip touches its rim, its end, its flank
  x  forget its points      n  where is it?      N  write it into the scene
"""


class TeachTerminal(TeleopTerminal):
    """Jogging, and keys to teach.

    Args:
        node: What moves.
        screen: The terminal.
        model: The robot.
        arm: The same arm, for motions that are checked.
    """

    def __init__(self, node: TeleopNode, screen: Screen, model: RobotModel, arm: Arm) -> None:
        super().__init__(node, screen, model)
        self._terminal = screen
        self._model = model
        self._arm = arm
        self._teacher = Teacher(arm)
        self._bolt = ""
        self._recording = False
        self._does: dict[str, Callable[[], str]] = {
            "p": self._save_pose,
            "g": self._go,
            "c": self._record,
            "v": lambda: self._teacher.replay(self._asked("Path to play")),
            "b": self._choose_bolt,
            "1": lambda: self._teacher.touch(self._the_bolt(), "rim"),
            "2": lambda: self._teacher.touch(self._the_bolt(), "end"),
            "3": lambda: self._teacher.touch(self._the_bolt(), "flank"),
            "x": lambda: self._teacher.clear(self._the_bolt()),
            "n": lambda: self._teacher.locate(self._the_bolt()),
            "N": lambda: self._teacher.write(self._the_bolt()),
        }

    def _take(self, key: str) -> None:
        if key not in self._does:
            super()._take(key)
            return
        self._keys.release()
        self._node.rest()
        try:
            self._say(self._does[key]())
        except (ArmError, TasksError) as error:
            self._say(f"Not done. {error}")

    def _help(self) -> str:
        return f"{super()._help()}{HELP}"

    def _asked(self, what: str) -> str:
        self._terminal.show(f"{what}: ")
        text = self._terminal.line().strip()
        if not text:
            raise TasksError("Nothing was typed.")
        return text

    def _save_pose(self) -> str:
        return self._teacher.save_pose(self._asked("Name of this pose"))

    def _go(self) -> str:
        text = self._asked("Go to")
        self._say(f"Going to {text}; Ctrl-C stops.")
        if "=" in text:
            return str(self._arm.move_joints(joints_of(text, self._model)).message)
        return str(self._arm.move_posture(text).message)

    def _record(self) -> str:
        if self._recording:
            self._recording = False
            return self._teacher.end_recording()
        said = self._teacher.record(self._asked("Name of the path"))
        self._recording = True
        return said

    def _choose_bolt(self) -> str:
        self._bolt = self._asked("Bolt")
        return f"Touch {self._bolt} with the tip of the tool."

    def _the_bolt(self) -> str:
        return self._bolt or (self._choose_bolt() and self._bolt)


def joints_of(text: str, model: RobotModel) -> dict[str, float]:
    """Read joint positions that a person typed, in degrees and millimetres.

    Returns:
        By name [rad or m].

    Raises:
        TasksError: What is wrong.
    """
    sliding = {joint.name for joint in model.joints if joint.type == "prismatic"}
    joints = {}
    for word in text.split():
        name, _, number = word.partition("=")
        try:
            value = float(number)
        except ValueError:
            raise TasksError(f"'{word}' is no position; write joint=number") from None
        joints[name] = value * 1e-3 if name in sliding else math.radians(value)
    return joints


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(
        prog="./arm teach", description="Teach the running arm: poses, paths, bolts."
    )
    result.add_argument("robot", nargs="?", default="nut_arm", help="shipped name or path")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    given = remove_ros_args(sys.argv)[1:] if arguments is None else list(arguments)
    options = parser().parse_args(given)

    def run(stack: contextlib.ExitStack) -> None:
        model = load_robot(options.robot)
        arm = stack.enter_context(Arm())
        screen = terminal(stack)
        serve(model, screen, lambda node, *_: TeachTerminal(node, screen, model, arm))

    return told(run)
