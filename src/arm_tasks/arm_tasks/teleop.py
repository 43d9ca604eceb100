# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm teleop`: jog the arm with keys or a joystick."""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading
from collections.abc import Callable, Sequence

import rclpy
from arm_description.keyboard import Keyboard
from arm_description.screen import Screen
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.utilities import remove_ros_args

from arm_description import DescriptionError, RobotModel, load_robot
from arm_tasks.errors import TasksError
from arm_tasks.ros_session import session
from arm_tasks.teleop_desk import Desk
from arm_tasks.teleop_node import TeleopNode


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


def serve(model: RobotModel, screen: Screen | None, make: Callable[..., Desk] = Desk) -> None:
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
