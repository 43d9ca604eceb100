# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Teaching from a terminal: jog the arm; save poses, record paths, touch bolts."""

from __future__ import annotations

import math
from collections.abc import Callable

from arm_common.terminal import Screen

from arm_description import RobotModel
from arm_tasks.errors import TasksError
from arm_tasks.ros.client.arm import Arm
from arm_tasks.ros.client.results import ArmError
from arm_tasks.ros.client.teacher import Teacher
from arm_tasks.ros.teleop.node import TeleopNode
from arm_tasks.ros.teleop.terminal import TeleopTerminal, running_node

_HELP = """\
Teaching:
  p  save this pose         g  go to a pose, a posture, or joints (waist=30 elbow=-10, in deg, mm)
  c  record, and end it     v  play a path
  b  choose the bolt        1 2 3  the tip touches its rim, its end, its flank
  x  discard its points     n  locate it         N  write its location into the scene
"""


class TeachTerminal(TeleopTerminal):
    """Jogging, and keys for teaching."""

    def __init__(self, node: TeleopNode, screen: Screen, model: RobotModel, arm: Arm) -> None:
        super().__init__(node, screen, model)
        self._terminal = screen
        self._model = model
        self._remote = arm
        self._teacher = Teacher(arm)
        self._bolt_name = ""
        self._recording = False
        self._actions: dict[str, Callable[[], str]] = {
            "p": lambda: self._teacher.save_pose(self._ask("Name of this pose")),
            "g": self._go,
            "c": self._record,
            "v": lambda: self._teacher.replay(self._ask("Path to play")),
            "b": self._choose_bolt,
            "1": lambda: self._teacher.touch(self._bolt(), "rim"),
            "2": lambda: self._teacher.touch(self._bolt(), "end"),
            "3": lambda: self._teacher.touch(self._bolt(), "flank"),
            "x": lambda: self._teacher.clear(self._bolt()),
            "n": lambda: self._teacher.locate(self._bolt()),
            "N": lambda: self._teacher.write(self._bolt()),
        }

    def press(self, key: str) -> None:
        """Execute a key."""
        if key not in self._actions:
            super().press(key)
            return
        self._keys.release()
        self._arm.brake()
        try:
            self._print(self._actions[key]())
        except (ArmError, TasksError) as error:
            self._print(f"Not done. {error}")

    def _help(self) -> str:
        return f"{super()._help()}{_HELP}"

    def _ask(self, what: str) -> str:
        self._terminal.show(f"{what}: ")
        text = self._terminal.line().strip()
        if not text:
            raise TasksError("Nothing was typed.")
        return text

    def _go(self) -> str:
        text = self._ask("Go to")
        self._print(f"Going to {text}; Ctrl-C stops.")
        if "=" in text:
            return str(self._remote.move_joints(parse_joints(text, self._model)).message)
        return str(self._remote.move_posture(text).message)

    def _record(self) -> str:
        if self._recording:
            self._recording = False
            return self._teacher.end_recording()
        message = self._teacher.record(self._ask("Name of the path"))
        self._recording = True
        return message

    def _choose_bolt(self) -> str:
        self._bolt_name = self._ask("Bolt")
        return f"Touch {self._bolt_name} with the tip of the tool."

    def _bolt(self) -> str:
        return self._bolt_name or (self._choose_bolt() and self._bolt_name)


def parse_joints(text: str, model: RobotModel) -> dict[str, float]:
    """Parse joint positions in degrees and millimetres; return them by name [rad or m]."""
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


def run_teach(model: RobotModel) -> None:
    """Teach the running arm until a person quits."""
    with Arm() as arm, Screen() as screen, running_node(model) as node:
        TeachTerminal(node, screen, model, arm).run()
