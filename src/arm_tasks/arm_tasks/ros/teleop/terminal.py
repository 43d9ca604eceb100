# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Jogging and teaching in a terminal: keys are commands, and one line shows the arm."""

from __future__ import annotations

import contextlib
import math
import shutil
import textwrap
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from arm_common.ros.node_runner import ExecutorThread, checked_namespace, session
from arm_common.terminal import ESCAPE, WIDTH, Screen
from arm_description.robot_model import RobotModel
from rclpy.executors import SingleThreadedExecutor

from arm_tasks.errors import TasksError
from arm_tasks.manual.jogger import JAWS, PERIOD, KeyboardInput, key_descriptions
from arm_tasks.ros.client.arm import Arm, Teacher
from arm_tasks.ros.teleop.teleop_node import StreamingNode, TeleopNode

TRIGGER_KEYS = {"z": "reset", "e": "arm", "E": "disarm"}
ARM_HELP = "  e      arm, also again after a fault            E  disarm and hold"
_LONGEST = 60  # characters of a problem on the status line
_Node = TypeVar("_Node", bound=StreamingNode)
_HELP = f"""\
Hold a key to move; release it and the arm stops.
{{pairs}}
  m      joints, tool along the base's axes, tool along its own  (now: {{mode}})
  + -    faster, slower
  space  STOP: latched, nothing moves until z (reset)
{ARM_HELP}
  ?      these keys            q  quit (Ctrl-C too)
A joystick on the topic joy moves the tool while its dead man's button (LB) is held.
"""
_TEACH_HELP = """\
Teaching:
  p  save this pose         g  go to a pose, a posture, or joints (waist=30 elbow=-10, in deg, mm)
  c  record, and end it     v  play a path
  b  choose the bolt        1 2 3  the tip touches its rim, its end, its flank
  x  discard its points     n  locate it         N  write its location into the scene
  t  the nut clicks on it   T  write where its thread starts into the scene
"""


class ArmTerminal:
    """Reads keys and shows the state of the arm; `screen` is None for a joystick only."""

    def __init__(self, node: StreamingNode, screen: Screen | None) -> None:
        self._node = node
        self._screen = screen
        self._line = self._problem_shown = ""
        self._open = True

    def run(self) -> None:
        """Run until a key quits."""
        self._print(self._help())
        due = time.monotonic()
        while self._open:
            due = max(due + PERIOD, time.monotonic())
            while self._open and (left := due - time.monotonic()) > 0.0:
                if self._screen is None:
                    time.sleep(left)
                elif key := self._screen.key(left):
                    self.press(key)
            if refusal := self._node.take_refusal():
                self._print(_wrapped(refusal))
            self._show(self._update(time.monotonic()))

    def press(self, key: str) -> None:
        """Handle a key."""
        if key in (" ", ESCAPE + " "):
            self._print(self._node.trigger("stop") or "Stop.")
        elif key in TRIGGER_KEYS:
            if problem := self._node.trigger(TRIGGER_KEYS[key]):
                self._print(problem)
        elif key == "?":
            self._print(self._help())
        elif key == "q":
            self._open = False

    def _update(self, now: float) -> str:
        """Command the next period at a time [s]; return the text that shows the state."""
        raise NotImplementedError

    def _help(self) -> str:
        raise NotImplementedError

    def _noticed(self, problem: str) -> str:
        """Return a problem for the status line; print one that is too long for it, wrapped."""
        if len(problem) > _LONGEST and problem != self._problem_shown:
            self._print(_wrapped(problem))
        self._problem_shown = problem
        return f"({textwrap.shorten(problem, _LONGEST, placeholder=' ...')})  " if problem else ""

    def _print(self, text: str) -> None:
        if self._screen is not None:
            self._screen.print(text)
            self._line = ""

    def _show(self, text: str) -> None:
        if self._screen is not None and text != self._line:
            self._screen.show(text)
            self._line = text


def _wrapped(text: str) -> str:
    return textwrap.fill(text, shutil.get_terminal_size((WIDTH, 24)).columns - 1)


class TeleopTerminal(ArmTerminal):
    """Jogs the arm with keys or a joystick."""

    def __init__(self, arm: TeleopNode, screen: Screen | None, model: RobotModel) -> None:
        super().__init__(arm, screen)
        self._arm = arm
        self._names = model.joint_names
        self._has_jaws = model.gripper is not None
        self._problem = ""
        self._keys = KeyboardInput()

    def _update(self, now: float) -> str:
        command = self._keys.command(now)
        if command.is_zero:
            command = self._arm.joystick_command(now, command.speed) or command
        problem = self._arm.update(command) or self._problem
        noticed = self._noticed(problem)  # first: terminals cut off long lines
        return f"{command.mode} {command.speed:g}  {noticed}{self._arm.status()}"

    def press(self, key: str) -> None:
        """Handle a key."""
        self._problem = ""
        if self._keys.press(key, time.monotonic()):
            if key == "m":
                self._print(self._help())
        elif key in JAWS and self._has_jaws:
            speed = self._keys.command(0.0).speed
            self._problem = self._arm.grip(speed if key == JAWS[0] else -speed)
        else:
            super().press(key)

    def _help(self) -> str:
        mode = self._keys.command(0.0).mode
        pairs = key_descriptions(mode, self._names)
        if self._has_jaws:
            pairs = {**pairs, JAWS: "jaws: open, close"}
        rows = "\n".join(f"  {more} {less}    {what}" for (more, less), what in pairs.items())
        return _HELP.format(pairs=rows, mode={"joint": "joints"}.get(mode, mode))


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
            "t": lambda: self._teacher.click(self._bolt()),
            "T": lambda: self._teacher.write_thread(self._bolt()),
        }

    def press(self, key: str) -> None:
        """Handle a key."""
        if key not in self._actions:
            super().press(key)
            return
        self._keys.release()
        self._arm.brake()
        try:
            self._print(self._actions[key]())
        except TasksError as error:
            self._print(f"Failed: {error}")

    def _help(self) -> str:
        return f"{super()._help()}{_TEACH_HELP}"

    def _ask(self, what: str) -> str:
        self._terminal.show(f"{what}: ")
        text = self._terminal.line().strip()
        if not text:
            raise TasksError("nothing was typed")
        return text

    def _go(self) -> str:
        text = self._ask("Go to")
        self._print(f"Going to {text}; Ctrl-C stops.")
        if "=" in text:
            result = self._remote.move_joints(parse_joints(text, self._model))
        else:
            result = self._remote.move_posture(text)
        return str(result.message)

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
    units = {j.name: 1e-3 if j.type == "prismatic" else math.radians(1.0) for j in model.joints}
    joints = {}
    for word in text.split():
        name, _, number = word.partition("=")
        try:
            joints[name] = float(number) * units.get(name, 1.0)
        except ValueError:
            raise TasksError(f"'{word}' is not a position; write joint=number") from None
    return joints


@contextlib.contextmanager
def running_node(make: Callable[[], _Node], namespace: str = "") -> Iterator[_Node]:
    """Run ROS and a node within this context; at its end the arm brakes."""
    with session(namespace):
        node = make()
        thread = ExecutorThread(SingleThreadedExecutor(), [node], lambda: None)
        try:
            yield node
        finally:
            node.brake()
            thread.stop(2.0)
            node.destroy_node()  # type: ignore[no-untyped-call]


def run_teleop(
    model: RobotModel, joystick_only: bool, namespace: str = "", prefix: str | None = None
) -> None:
    """Jog the running arm until a person quits."""
    with contextlib.ExitStack() as stack:
        screen = None if joystick_only else stack.enter_context(Screen())
        node = stack.enter_context(running_node(lambda: TeleopNode(model, prefix), namespace))
        TeleopTerminal(node, screen, model).run()


def run_teach(model: RobotModel, namespace: str = "", prefix: str | None = None) -> None:
    """Teach the running arm until a person quits."""
    remote = Arm(namespace=checked_namespace(namespace), prefix=prefix)
    make = partial(TeleopNode, model, prefix)
    with remote as arm, Screen() as screen, running_node(make, namespace) as node:
        TeachTerminal(node, screen, model, arm).run()
