# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/teleop/test_terminal.py
"""`./arm teleop` and `./arm teach`: jog the arm with keys or a joystick, and teach it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from arm_common.cli import add_force, parse, refuse_overwriting
from arm_common.errors import InputError
from arm_common.ros.node_runner import add_arm, user_arguments
from arm_description.library import DEFAULT_ROBOT, load_robot
from arm_description.trajectories.files import trajectory_form

from arm_tasks.ros.teleop.follower import LEADER_TOPIC, run_follow
from arm_tasks.ros.teleop.terminal import run_teach, run_teleop


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog=f"./arm {name}", description=description)
    result.add_argument("robot", nargs="?", default=DEFAULT_ROBOT, help="shipped name or path")
    add_arm(result)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `./arm teleop`; return the exit code."""
    parser = _parser("teleop", "Jog the running arm with keys or a joystick.")
    parser.add_argument(
        "--joystick-only", action="store_true", help="read no keys; needs no terminal"
    )
    options = parse(parser, user_arguments(arguments))
    arm = options.namespace, options.prefix
    return _run(lambda: run_teleop(load_robot(options.robot), options.joystick_only, *arm))


def teach(arguments: Sequence[str] | None = None) -> int:
    """Run `./arm teach`; return the exit code."""
    parser = _parser("teach", "Teach the running arm: poses, paths, bolts.")
    options = parse(parser, user_arguments(arguments))
    return _run(lambda: run_teach(load_robot(options.robot), options.namespace, options.prefix))


def follow(arguments: Sequence[str] | None = None) -> int:
    """Run `./arm follow`; return the exit code."""
    parser = _parser("follow", "Let the running arm follow the joint_states of another one.")
    parser.add_argument(
        "--leader", default=LEADER_TOPIC, metavar="TOPIC", help="the leader's joint_states"
    )
    parser.add_argument(
        "--leader-prefix",
        metavar="PREFIX",
        help="prefix of the leader's joints (default: that of their names)",
    )
    parser.add_argument(
        "--record", default="", metavar="FILE", help="write what the arm did, for the command play"
    )
    parser.add_argument(
        "--joystick-only", action="store_true", help="read no keys; needs no terminal"
    )
    add_force(parser, "--record")
    options = parse(parser, user_arguments(arguments))

    def program() -> None:
        record = Path(options.record) if options.record else None
        if record is not None:
            trajectory_form(record)
            refuse_overwriting(options.record, options.force)
            if not record.absolute().parent.is_dir():
                raise InputError("its folder does not exist", file=options.record)
        prefixes = options.prefix, options.leader_prefix
        model, joystick_only = load_robot(options.robot), options.joystick_only
        run_follow(model, options.leader, record, joystick_only, options.namespace, *prefixes)

    return _run(program)


def _run(program: Callable[[], None]) -> int:
    try:
        program()
    except InputError as error:
        print(f"arm: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        pass
    print("\nThe arm holds where it is.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
