# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The commands of ./arm."""

import argparse
import difflib
import errno
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from arm_common.plugins import entry_point_files, entry_points

from .become import become
from .errors import SetupError
from .paths import TOOLS as FOLDER
from .paths import Paths
from .prepare import is_ready, prepare

INTERRUPTED = 130
BEGIN = FOLDER / "begin.py"


class Command(NamedTuple):
    """One command of ./arm.

    Attributes:
        name: The name that the user types.
        arguments: Its arguments, for the help.
        run: Takes the environment of the nodes and the arguments; returns the exit code.
    """

    name: str
    arguments: str
    run: Callable[[dict[str, str], Sequence[str]], int]

    @property
    def usage(self) -> str:
        """Its name and its arguments."""
        return f"{self.name} {self.arguments}".rstrip()


class HelpLine(NamedTuple):
    """One line of the help.

    Attributes:
        purpose: What its commands and those of neighbouring lines are for.
        text: What they do.
        commands: The commands.
    """

    purpose: str
    text: str
    commands: tuple[Command, ...]

    def parts(self) -> "list[HelpLine]":
        """Return its commands in lines of at most five, the text in the first."""
        firsts = range(0, len(self.commands), 5)
        texts = (self.text, *("" for _ in firsts[1:]))
        return [
            self._replace(text=text, commands=self.commands[i : i + 5])
            for i, text in zip(firsts, texts, strict=True)
        ]


def executable(package: str, name: str, arguments: str = "") -> Command:
    """Return a command that runs an installed executable of a package."""

    def run(environment: dict[str, str], words: Sequence[str]) -> int:
        for prefix in environment["AMENT_PREFIX_PATH"].split(":"):
            file = f"{prefix}/lib/{package}/{name}"
            if Path(file).exists() or Path(prefix, "bin", name).exists():
                signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
                command = [sys_python(environment), str(BEGIN), file, *words]
                return become(command, environment)
        remedy = "run ./arm setup --again, or install it"
        raise SetupError(f"{package} has no executable {name}: {remedy}")

    return Command(name, arguments, run)


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


def test(environment: dict[str, str], arguments: Sequence[str]) -> int:
    """Run the checks and the tests; with pytest arguments, run only pytest with these."""
    from .testing import run

    return run(environment, arguments)


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
    from .machine import missing_tools

    for missing in missing_tools():
        print(f"missing  {missing.what}\n         -> apt-get install -y {missing.package}")
    if not environment:
        print("missing  ROS 2 and the arm packages are not set up here\n         -> ./arm setup")
        return 1
    return executable("arm_hardware", "doctor").run(environment, arguments)


def line(purpose: str, text: str, *own: Command, **programs: str) -> HelpLine:
    """Return a line of the help.

    Args:
        purpose: What its commands are for.
        text: What they do.
        own: Commands of this module.
        programs: Executables with their arguments, separated by " | ", by package.
    """
    split = (
        (package, u.partition(" ")) for package, us in programs.items() for u in us.split(" | ")
    )
    commands = (executable(package, name, words) for package, (name, _, words) in split)
    return HelpLine(purpose, text, (*own, *commands))


LINES = (
    line(
        "Try",
        "the nut transfer in the browser; show a robot",
        arm_tasks="demo [--headless] [--speed N] ... | view ROBOT",
    ),
    line(
        "Move",
        "the servo driver of an arm, simulated or real",
        arm_hardware="driver ROBOT [--calibration FILE] [--real]",
    ),
    line(
        "Move",
        "torque on; refuse motions; stop; end the stop",
        arm_hardware="arm | disarm | stop | reset",
    ),
    line(
        "Move",
        "make simulated servos fail, to see what happens",
        arm_simulation="rehearse EVENT ...",
    ),
    line(
        "Move",
        "run a task or a trajectory on the arm",
        arm_tasks="run_task [TASK] | play ROBOT TRAJECTORY [--view] ...",
    ),
    line(
        "Move",
        "jog it; teach it; let it follow another arm",
        arm_tasks="teleop | teach | follow [ROBOT]",
    ),
    line(
        "Tasks",
        "can a task be done; what is around the arm",
        arm_tasks="check [TASK] | scene SCENE ...",
    ),
    line(
        "Servos",
        "find their pulses with keys; drive to postures",
        arm_hardware="calibrate FILE | verify FILE",
    ),
    line(
        "Servos",
        "find the zeros of joints; switch all servos off",
        arm_hardware="calibrate_kinematics FILE POINTS | release",
    ),
    line(
        "Servos",
        "their ids at a port; calibrations of LeRobot",
        arm_hardware="servos [--port PORT] | lerobot import|export FILE",
    ),
    line(
        "Robots",
        "write a robot file; change a constant of it",
        arm_description="new FILE [--from ROBOT] | set NAME VALUE",
    ),
    line(
        "Robots",
        "limits, reach, torques",
        arm_kinematics="describe ROBOT",
    ),
    line(
        "Robots",
        "pose of the tool; joint positions for a pose",
        arm_kinematics="fk ROBOT Q ... | ik ROBOT X Y Z [R P Y]",
    ),
    line(
        "Convert",
        "a robot for ROS and MuJoCo; read a URDF file",
        arm_description="dh2urdf | urdf2dh URDF",
        arm_simulation="dh2mjcf ROBOT",
    ),
    line(
        "ROS 2",
        "run your program; look into ROS 2; security keys",
        Command("exec", "PROGRAM ...", execute),
        arm_tasks="ros2 topic list ... | keystore FOLDER",
    ),
    line(
        "Machine",
        "what is wrong with machine or board; install",
        Command("doctor", "", doctor),
        Command("setup", "[--again]", setup),
    ),
    line(
        "Machine",
        "run the tests; compare with other libraries",
        Command("test", "[--all | --fast] [pytest arguments]", test),
        Command("bench", "[NAME] ...", bench),
    ),
)
PLUGINS = "arm.commands"  # group of entry points: a word for the help, the package of the commands


def all_lines(environment: Mapping[str, str] = os.environ) -> tuple[HelpLine, ...]:
    """Return the help's lines: those above, then those of packages that add commands."""
    paths, found = Paths(), dict[str, HelpLine]()
    sites = [
        *map(Path, filter(None, environment.get("PYTHONPATH", "").split(":"))),
        *paths.venv.glob("lib/python3*/site-packages"),
    ]
    own = paths.repository.glob("src/*/entry_points.txt")
    for file in (*own, *entry_point_files(sites)):
        for word, package in entry_points(file, PLUGINS).items():
            text = f"more, of {package}; see its README"
            names = " | ".join(entry_points(file, "console_scripts"))
            found.setdefault(package, line(word, text, **{package: names}))
    return (*LINES, *found.values())


def all_commands(environment: Mapping[str, str] = os.environ) -> tuple[Command, ...]:
    """Return every command, also those that packages add."""
    return tuple(command for line in all_lines(environment) for command in line.commands)


def help_text() -> str:
    """Return the help: every command on one screen, by purpose."""
    lines = [part for line in all_lines() for part in line.parts()]
    names = [" | ".join(c.usage for c in line.commands) for line in lines]
    label, width = max(len(line.purpose) for line in lines), max(map(len, names))
    shown, text = (
        "",
        (
            "From a DH table to a moving ROS 2 arm: ./arm COMMAND ...; each answers --help.\n"
            "If no ROS 2 is sourced (ROS_DISTRO), one is installed from PyPI into .venv, once.\n"
        ),
    )
    for each, words in zip(lines, names, strict=True):
        purpose = "" if each.purpose == shown else each.purpose
        text += f"{purpose:<{label}}  {words:<{width}}  {each.text}\n"
        shown = each.purpose
    return text


def _without_output(error: OSError) -> int:
    """Drop what cannot be written; return the exit code: 0 if nobody reads any further."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return 0
    print(f"arm: the output cannot be written: {error.strerror}", file=sys.stderr)
    return 1


def interrupt(number: int, frame: FrameType | None) -> None:
    """Make SIGTERM and SIGHUP end a set-up like Ctrl-C."""
    del number, frame
    raise KeyboardInterrupt


def _run(arguments: Sequence[str]) -> int:
    """Run one command, or print the help; return the exit code."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(help_text(), end="")
        return 0
    commands = tuple(command for line in LINES for command in line.commands)
    if arguments[0] not in (command.name for command in commands):
        commands = all_commands()
    command = next((c for c in commands if c.name == arguments[0]), None)
    if command is None:
        near = difflib.get_close_matches(arguments[0], [c.name for c in commands], n=1)
        meant = f"; did you mean '{near[0]}'?" if near else "."
        what = f"arm: there is no command '{arguments[0]}'{meant}"
        print(f"{what}\n\n{help_text()}", end="", file=sys.stderr)
        return 2
    if command.name == "setup":
        about = "Install ROS 2 in .venv unless one is sourced, and build."
        parser = argparse.ArgumentParser(prog="./arm setup", description=about)
        parser.add_argument("--again", action="store_true", help="remove .venv first")
        parser.parse_args(arguments[1:])
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    if command.name == "doctor" and not is_ready(Paths()):
        return command.run({}, arguments[1:])
    again = command.name == "setup" and "--again" in arguments
    return command.run(prepare(Paths(), again), arguments[1:])


def main(arguments: Sequence[str]) -> int:
    """Run one command; return the exit code. Every error is one sentence."""
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except SetupError as error:
        print(f"arm: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.filename is None and error.errno in (errno.EPIPE, errno.ENOSPC):
            return _without_output(error)
        where = f": {error.filename}" if error.filename else ""
        print(f"arm: {error.strerror or error}{where}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("\narm: interrupted; run the same command again to continue.", file=sys.stderr)
        return INTERRUPTED
