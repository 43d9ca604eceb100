# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The desk of who jogs an arm: keys in, one line out.

`./arm teleop`: jog the arm with keys or a joystick.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import rclpy
from arm_common.ros.node_runner import session
from arm_common.terminal import Keyboard, Screen
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.utilities import remove_ros_args

from arm_description import DescriptionError, RobotModel, load_robot
from arm_tasks.errors import TasksError
from arm_tasks.manual.jog_input import JAWS, JogCommand, KeyboardInput, pairs_text
from arm_tasks.manual.jogger import PERIOD
from arm_tasks.ros.teleop.node import TeleopNode

HELP = """\
Hold a key to move; let go and the arm stops.
{pairs}
  m      joints, tool along the base's axes, tool along its own  (now: {mode})
  + -    faster, slower
  space  STOP: latched, nothing moves until z (reset)
  ?      these keys            q  leave (Ctrl-C too)
A joystick on the topic joy moves the tool while its dead man's button is held (LB).
"""


class Jogged(Protocol):
    """What moves."""

    def tick(self, wish: JogCommand) -> str:
        """Go on for one period; return what is in the way, or ""."""
        ...

    def wish_of_joystick(self, now: float, speed: float) -> JogCommand | None:
        """Return what a joystick wishes, or None."""
        ...

    def trigger(self, name: str) -> None:
        """Call "stop" or "reset" of the driver."""
        ...

    def grip(self, share: float) -> str:
        """Open the jaws by a share of their way, or close them; return what is in the way."""
        ...

    def rest(self) -> None:
        """Brake if it moves, and begin anew from where it then is."""
        ...

    def shown(self) -> str:
        """Return where the arm is."""
        ...


class TeleopTerminal:
    """A person's keys, and what is shown to them."""

    def __init__(self, node: Jogged, screen: Screen | None, model: RobotModel) -> None:
        """Serve a node.

        Args:
            node: What moves.
            screen: None without a terminal: joystick only.
            model: The robot.
        """
        self._node = node
        self._screen = screen
        self._names = model.joint_names
        self._has_jaws = model.gripper is not None
        self._problem = ""
        self._keys = KeyboardInput()
        self._shown = ""
        self._open = True

    def run(self) -> None:
        """Serve until a key says to leave."""
        self._say(self._help())
        due = time.monotonic()
        while self._open:
            due = max(due + PERIOD, time.monotonic())
            self._read_until(due)
            now = time.monotonic()
            wish = self._keys.wish(now)
            if wish.still:
                wish = self._node.wish_of_joystick(now, wish.speed) or wish
            problem = self._node.tick(wish) or self._problem
            said = f"({problem})  " if problem else ""  # first, for a terminal cuts long lines
            self._show(f"{wish.mode} {wish.speed:g}  {said}{self._node.shown()}")

    def _read_until(self, due: float) -> None:
        while self._open and (left := due - time.monotonic()) > 0.0:
            if self._screen is None:
                time.sleep(left)
            elif key := self._screen.key(left):
                self._take(key)

    def _take(self, key: str) -> None:
        self._problem = ""
        if self._keys.press(key, time.monotonic()):
            if key == "m":
                self._say(self._help())
            return
        if key in JAWS and self._has_jaws:
            speed = self._keys.wish(0.0).speed
            self._problem = self._node.grip(speed if key == JAWS[0] else -speed)
        elif key == " ":
            self._node.trigger("stop")
            self._say("Stop.")
        elif key == "z":
            self._node.trigger("reset")
        elif key == "?":
            self._say(self._help())
        elif key == "q":
            self._open = False

    def _help(self) -> str:
        mode = self._keys.wish(0.0).mode
        pairs = pairs_text(mode, self._names)
        if self._has_jaws:
            pairs = {**pairs, JAWS: "jaws: open, close"}
        rows = "\n".join(f"  {more} {less}    {what}" for (more, less), what in pairs.items())
        return HELP.format(pairs=rows, mode={"joint": "joints"}.get(mode, mode))

    def _say(self, text: str) -> None:
        if self._screen is not None:
            self._screen.say(text)
            self._shown = ""

    def _show(self, text: str) -> None:
        if self._screen is not None and text != self._shown:
            self._screen.show(text)
            self._shown = text


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(
        prog="./arm teleop", description="Jog the running arm with keys or a joystick."
    )
    result.add_argument("robot", nargs="?", default="nut_arm", help="shipped name or path")
    result.add_argument(
        "--joystick-only", action="store_true", help="read no keys; needs no terminal"
    )
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    given = remove_ros_args(sys.argv)[1:] if arguments is None else list(arguments)
    options = parser().parse_args(given)

    def run(stack: contextlib.ExitStack) -> None:
        model = load_robot(options.robot)
        screen = None if options.joystick_only else terminal(stack)
        serve(model, screen)

    return told(run)


def terminal(stack: contextlib.ExitStack) -> Screen:
    """Return the terminal of this program, which is as before when the stack is left."""
    return Screen(stack.enter_context(Keyboard()), sys.stdout)


def told(run: Callable[[contextlib.ExitStack], None]) -> int:
    """Run what jogs until a person leaves; return the exit code."""
    try:
        with contextlib.ExitStack() as stack:
            run(stack)
    except (DescriptionError, TasksError) as error:
        print(f"arm: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        pass
    print("\nThe arm holds where it is.", flush=True)
    return 0


def serve(
    model: RobotModel, screen: Screen | None, make: Callable[..., TeleopTerminal] = TeleopTerminal
) -> None:
    """Run a node and a desk; the node hears in a thread of its own.

    Args:
        model: The robot.
        screen: None without a terminal.
        make: Makes the desk from node, screen and model.
    """
    with session():
        node = TeleopNode(model)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        thread = threading.Thread(target=_spin, args=(executor,), daemon=True)
        thread.start()
        try:
            make(node, screen, model).run()
        finally:
            node.rest()
            executor.shutdown(timeout_sec=2.0)
            rclpy.try_shutdown()  # which ends the thread
            thread.join(timeout=2.0)


def _spin(executor: SingleThreadedExecutor) -> None:
    with contextlib.suppress(ExternalShutdownException, ShutdownException):
        executor.spin()


if __name__ == "__main__":
    sys.exit(main())
