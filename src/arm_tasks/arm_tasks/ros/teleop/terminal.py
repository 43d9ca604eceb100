# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Jogging from a terminal: keys are commands, and one line shows the arm."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from arm_common.ros.node_runner import session
from arm_common.ros.worker import ExecutorThread
from arm_common.terminal import Screen
from rclpy.executors import SingleThreadedExecutor

from arm_description import RobotModel
from arm_tasks.manual.jog_input import JAWS, KeyboardInput, key_descriptions
from arm_tasks.manual.jogger import PERIOD
from arm_tasks.ros.teleop.node import TeleopNode

_HELP = """\
Hold a key to move; release it and the arm stops.
{pairs}
  m      joints, tool along the base's axes, tool along its own  (now: {mode})
  + -    faster, slower
  space  STOP: latched, nothing moves until z (reset)
  ?      these keys            q  quit (Ctrl-C too)
A joystick on the topic joy moves the tool while its dead man's button is held (LB).
"""


class TeleopTerminal:
    """Reads keys and shows the state of the arm; `screen` is None for a joystick only."""

    def __init__(self, arm: TeleopNode, screen: Screen | None, model: RobotModel) -> None:
        self._arm = arm
        self._screen = screen
        self._names = model.joint_names
        self._has_jaws = model.gripper is not None
        self._problem = ""
        self._keys = KeyboardInput()
        self._line = ""
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
            now = time.monotonic()
            command = self._keys.command(now)
            if command.is_zero:
                command = self._arm.joystick_command(now, command.speed) or command
            problem = self._arm.update(command) or self._problem
            prefix = f"({problem})  " if problem else ""  # first, as a terminal cuts long lines
            self._show(f"{command.mode} {command.speed:g}  {prefix}{self._arm.status()}")

    def press(self, key: str) -> None:
        """Execute a key."""
        self._problem = ""
        if self._keys.press(key, time.monotonic()):
            if key == "m":
                self._print(self._help())
        elif key in JAWS and self._has_jaws:
            speed = self._keys.command(0.0).speed
            self._problem = self._arm.grip(speed if key == JAWS[0] else -speed)
        elif key == " ":
            self._arm.trigger("stop")
            self._print("Stop.")
        elif key == "z":
            self._arm.trigger("reset")
        elif key == "?":
            self._print(self._help())
        elif key == "q":
            self._open = False

    def _help(self) -> str:
        mode = self._keys.command(0.0).mode
        pairs = key_descriptions(mode, self._names)
        if self._has_jaws:
            pairs = {**pairs, JAWS: "jaws: open, close"}
        rows = "\n".join(f"  {more} {less}    {what}" for (more, less), what in pairs.items())
        return _HELP.format(pairs=rows, mode={"joint": "joints"}.get(mode, mode))

    def _print(self, text: str) -> None:
        if self._screen is not None:
            self._screen.say(text)
            self._line = ""

    def _show(self, text: str) -> None:
        if self._screen is not None and text != self._line:
            self._screen.show(text)
            self._line = text


@contextlib.contextmanager
def running_node(model: RobotModel) -> Iterator[TeleopNode]:
    """Have ROS and a TeleopNode in this context; at its end the arm brakes."""
    with session():
        node = TeleopNode(model)
        thread = ExecutorThread(SingleThreadedExecutor(), [node], lambda: None)
        try:
            yield node
        finally:
            node.brake()
            thread.stop(2.0)
            node.destroy_node()  # type: ignore[no-untyped-call]


def run_teleop(model: RobotModel, joystick_only: bool) -> None:
    """Jog the running arm until a person quits."""
    with contextlib.ExitStack() as stack:
        screen = None if joystick_only else stack.enter_context(Screen())
        TeleopTerminal(stack.enter_context(running_node(model)), screen, model).run()
