# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The commands of ./arm."""

import argparse
import difflib
import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from . import machine, testing
from .become import become
from .errors import SetupError
from .paths import TOOLS as FOLDER
from .paths import Paths
from .prepare import is_ready, prepare

INTERRUPTED = 130
BEGIN = FOLDER / "begin.py"


@dataclass(frozen=True)
class Command:
    """One command of ./arm.

    Attributes:
        name: The name that the user types.
        arguments: Its arguments, for the help.
        text: One line for the help; "" to share that of the next command.
        run: Takes the environment of the nodes and the arguments; returns the exit code.
    """

    name: str
    arguments: str
    text: str
    run: Callable[[dict[str, str], Sequence[str]], int]


def executable(package: str, name: str) -> Callable[[dict[str, str], Sequence[str]], int]:
    """Return a command that runs an installed executable of a package."""

    def run(environment: dict[str, str], arguments: Sequence[str]) -> int:
        for prefix in environment["AMENT_PREFIX_PATH"].split(":"):
            file = f"{prefix}/lib/{package}/{name}"
            if Path(file).exists():
                signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
                command = [sys_python(environment), str(BEGIN), file, *arguments]
                return become(command, environment)
        raise SetupError(f"{package} has no executable {name}: run ./arm setup --again")

    return run


def setup(environment: dict[str, str], arguments: Sequence[str]) -> int:
    """Report that everything is ready; the set-up itself ran before."""
    del environment, arguments
    print("ROS 2 and the arm packages are ready: ./arm demo")
    return 0


def execute(environment: dict[str, str], arguments: Sequence[str]) -> int:
    """Run any program in the environment of the nodes."""
    if not arguments:
        raise SetupError("Give a program to run, for example: ./arm exec python3 my_node.py")
    return become(arguments, environment)


def bench(environment: dict[str, str], arguments: Sequence[str]) -> int:
    """Run the benchmarks."""
    folder = Paths().repository / "benchmarks"
    return become([sys_python(environment), str(folder / "run.py"), *arguments], environment)


def sys_python(environment: dict[str, str]) -> str:
    """Return the Python interpreter of the nodes' environment."""
    return (
        f"{environment['ARM_VENV']}/bin/python3" if "ARM_VENV" in environment else sys.executable
    )


def doctor(environment: dict[str, str], arguments: Sequence[str]) -> int:
    """Check the machine, even where nothing can be set up, then run the driver's doctor."""
    for missing in machine.missing_tools():
        print(f"missing  {missing.what}\n         -> apt-get install -y {missing.package}")
    if not environment:
        print("missing  ROS 2 and the arm packages are not set up here\n         -> ./arm setup")
        return 1
    return executable("arm_hardware", "doctor")(environment, arguments)


TOOLS = (
    (
        "arm_description",
        "new",
        "FILE [--from ROBOT]",
        "",
    ),
    (
        "arm_description",
        "set",
        "NAME VALUE",
        "write a robot file; change a constant of it",
    ),
    ("arm_kinematics", "describe", "ROBOT", ""),
    (
        "arm_description",
        "dh2urdf",
        "ROBOT",
        "its table, limits, reach, torques, sources; its URDF",
    ),
    ("arm_description", "draw", "ROBOT -o FILE", ""),
    (
        "arm_viewer",
        "gallery",
        "FOLDER",
        "it as SVG, PDF or PNG; all robots as the browser shows them",
    ),
    ("arm_description", "dh2srdf", "ROBOT", ""),
    ("arm_description", "dh2moveit", "ROBOT", "its postures, as SRDF; its package for MoveIt"),
    ("arm_simulation", "dh2mjcf", "ROBOT", ""),
    (
        "arm_kinematics",
        "explain",
        "ROBOT -o FILE",
        "it as MJCF, for MuJoCo; its kinematics derived",
    ),
    ("arm_description", "urdf2dh", "URDF", ""),
    ("arm_description", "rvs2dh", "FILE", "the DH table of a URDF, or of a file of RVS"),
    (
        "arm_description",
        "trajectory",
        "ROBOT FILE [-o FILE]",
        "check a joint trajectory and convert it",
    ),
    ("arm_viewer", "record", "[-o FILE]", ""),
    (
        "arm_viewer",
        "replay",
        "FILE",
        "every topic into an MCAP file; such a file in the browser",
    ),
    ("arm_viewer", "export", "FILE OUTPUT", "such a file as an animation or a vector picture"),
    ("arm_kinematics", "fk", "ROBOT Q ...", ""),
    ("arm_kinematics", "ik", "ROBOT X Y Z [R P Y]", "its tool's pose; which positions reach one"),
    ("arm_kinematics", "dexterity", "ROBOT", ""),
    (
        "arm_kinematics",
        "design",
        "-o FILE",
        "how evenly it moves, what it reaches; design an even one",
    ),
    ("arm_tasks", "check", "[TASK]", ""),
    (
        "arm_tasks",
        "scene",
        "SCENE ...",
        "can a task be done, or what helps; what is around it",
    ),
    ("arm_hardware", "calibrate", "FILE", ""),
    ("arm_hardware", "verify", "FILE", "find the pulses of servos with keys; drive to postures"),
    (
        "arm_hardware",
        "calibrate_kinematics",
        "FILE POINTS",
        "find the zeros of joints from touched points",
    ),
)
COMMANDS = (
    Command(
        "demo",
        "[--headless] [--speed N] ...",
        "run the nut transfer and show it in the browser",
        executable("arm_tasks", "demo"),
    ),
    Command(
        "view",
        "ROBOT",
        "look at a robot (a shipped name or a file) and move its joints",
        executable("arm_tasks", "view"),
    ),
    Command("run_task", "[TASK]", "", executable("arm_tasks", "run_task")),
    Command(
        "play",
        "ROBOT TRAJECTORY",
        "run a task or play a joint trajectory on the running arm",
        executable("arm_tasks", "play"),
    ),
    Command(
        "teleop",
        "",
        "",
        executable("arm_tasks", "teleop"),
    ),
    Command(
        "teach",
        "",
        "",
        executable("arm_tasks", "teach"),
    ),
    Command(
        "follow",
        "[ROBOT]",
        "jog the running arm; teach it; let it follow another arm",
        executable("arm_tasks", "follow"),
    ),
    *(
        Command(tool, arguments, text, executable(package, tool))
        for package, tool, arguments, text in TOOLS
    ),
    Command("test", "[--all | --fast] [pytest arguments]", "run every test", testing.run),
    Command("bench", "[NAME] ...", "measure, beside other libraries", bench),
    Command("ros2", "topic list ...", "", executable("arm_tasks", "ros2")),
    Command(
        "exec",
        "PROGRAM ...",
        "look into ROS 2 (topics, ...); run a program of yours",
        execute,
    ),
    Command(
        "doctor",
        "",
        "",
        doctor,
    ),
    Command(
        "setup",
        "[--again]",
        "what is wrong with machine or servo board; set up, or anew",
        setup,
    ),
)


def help_text() -> str:
    """Return the help: every command on one screen."""
    rows, names = list[tuple[str, str]](), ""
    for command in COMMANDS:
        names += " | " * bool(names) + f"./arm {command.name} {command.arguments}".rstrip()
        if command.text:
            rows.append((names, command.text))
            names = ""
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:<{width}}  {text}" for name, text in rows]
    head = (
        "From a DH table to a moving ROS 2 arm; each command answers --help.\n"
        "Where no ROS 2 is sourced (ROS_DISTRO), one is made from PyPI in .venv, once.\n"
    )
    return head + "\n".join(lines) + "\n"


def _print_help() -> int:
    """Print the help; return the exit code, 1 with a sentence for a full disk."""
    try:
        print(help_text(), end="", flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:  # nobody reads any further
            return 0
        print(f"arm: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def interrupt(number: int, frame: FrameType | None) -> None:
    """Make SIGTERM and SIGHUP end a set-up like Ctrl-C."""
    del number, frame
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """Run one command; return the exit code."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        return _print_help()
    command = next((c for c in COMMANDS if c.name == arguments[0]), None)
    if command is None:
        near = difflib.get_close_matches(arguments[0], [c.name for c in COMMANDS], n=1)
        meant = f"; did you mean '{near[0]}'?" if near else "."
        what = f"arm: there is no command '{arguments[0]}'{meant}"
        print(f"{what}\n\n{help_text()}", end="", file=sys.stderr)
        return 2
    try:
        if command.name == "setup":
            parser = argparse.ArgumentParser(prog="./arm setup", description=command.text)
            parser.add_argument("--again", action="store_true", help="remove .venv first")
            parser.parse_args(arguments[1:])
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, interrupt)
        if command.name == "doctor" and not is_ready(Paths()):
            return command.run({}, arguments[1:])
        again = command.name == "setup" and "--again" in arguments
        return command.run(prepare(Paths(), again), arguments[1:])
    except SetupError as error:
        print(f"arm: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        print(f"arm: {error.strerror or error}{where}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("\narm: interrupted; run the same command again to continue.", file=sys.stderr)
        return INTERRUPTED
