# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm demo` and `./arm view`: start the processes of the table, wait, then stop them all."""

import argparse
import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix
from arm_common.cli import add_force, parse, refuse_overwriting, unused
from arm_common.errors import InputError
from arm_common.signals import INTERRUPTED, ended_at_once, interrupt_on_signals
from arm_common.suggestions import program
from arm_common.yaml.document import check_params_file
from arm_description.library import description_path, is_xml, load_robot
from arm_description.robot_file.writer import robot_yaml
from arm_hardware.motion.options import ENDINGS, DriverOptions

from arm_tasks.bringup.arguments import (
    ARGUMENTS,
    check_port,
    check_scene,
    check_simulation,
    check_speed,
    checked_world,
    default_values,
    driven_robot,
)
from arm_tasks.bringup.processes import (
    Process,
    check_namespace,
    chosen,
    in_namespace,
    processes,
    run_folder,
    view_processes,
)
from arm_tasks.bringup.several_arms import DEFAULT_SPACING, check_arms, several_processes
from arm_tasks.bringup.supervisor import ProcessGroup
from arm_tasks.errors import TasksError
from arm_tasks.scene.file import TASK_SCENE, load_scene
from arm_tasks.task.parser import DEFAULT_TASK, load_task

_SPEEDS = (0.1, 20.0)
RECORDINGS = "arm_studio"  # the package that records and draws
_POLL_PERIOD = 0.05  # [s]
_ERROR_PERIOD = 1.0  # [s] between two looks into the logs
# For the task server to notice a lost node and end the task, 5 s after the last joint_states; of a
# task that waits longer for an arm, the outcome is not printed.
_TASK_END_TIMEOUT = 10.0  # [s]
_LOGS = Path("log") / "nodes"
_OUTPUT = Path("output")  # of tasks made for a robot, as of the pictures of runs
# of ./arm; the scene is by default that of the task, the task one that fits the robot
_OWN_DEFAULTS = {"viewer": "browser", "scene": "", "task": ""}


def demo_parser() -> argparse.ArgumentParser:
    """Return the parser of `./arm demo`: the table's arguments and `--headless`."""
    parser = argparse.ArgumentParser(
        prog="./arm demo", usage="%(prog)s [options]", description="Run the nut transfer."
    )
    parser.add_argument(
        "--headless", action="store_true", help="no browser view; same as --viewer none"
    )
    parser.add_argument(
        "--robots",
        default="",
        help="names of several equal arms, such as left,right, which do the task side by side;"
        " each gets its namespace and the prefix of its names from its name",
    )
    parser.add_argument(
        "--spacing", default=str(DEFAULT_SPACING), help="distance between their bases [m]"
    )
    parser.add_argument(
        "--record",
        default="",
        metavar="FILE.gif",
        help="animation of the run, from near; the recording stays beside it as FILE.mcap",
    )
    parser.add_argument(
        "--wait",
        action=argparse.BooleanOptionalAction,
        help="begin the task when the page is open in a browser, or at Enter (default: in a"
        " terminal, if there is a page)",
    )
    add_force(parser, "--record")
    _add_namespace(parser)
    for argument in ARGUMENTS:
        default = _OWN_DEFAULTS.get(argument.name, argument.default)
        parser.add_argument(
            f"--{argument.name.replace('_', '-')}",
            default=default,
            choices=argument.choices or None,
            help=f"{argument.text} Default: {default or 'none'}",
        )
    unused(parser, ["--spacing"], lambda given: not given.robots, "without --robots")
    unused(parser, ["--viewer-port"], lambda given: given.headless, "with --headless")
    return parser


def demo_values(arguments: Sequence[str]) -> dict[str, str]:
    """Return the values of the demo's arguments by name, or raise an error of the package."""
    parser = demo_parser()
    values = vars(parse(parser, arguments))
    values["robot"] = _robot_file(values["robot"])
    check_speed(values, *_SPEEDS)
    check_simulation(values)
    values["world"] = checked_world(values, lambda text: print(f"arm: {text}", file=sys.stderr))
    _choose_task(values)
    values["task"] = values["task"] or DEFAULT_TASK
    values["scene"] = values["scene"] or load_task(values["task"]).scene or TASK_SCENE
    if not values["task_path"] and Path(values["task"]).is_file():
        values["task_path"] = str(Path(values["task"]).parent)  # for the page, to run it again
    if values.pop("headless"):
        values["viewer"] = "none"
    values["wait"] = _wait_for_page(values)
    check_port(values)
    check_params_file(values)
    _check_namespace(values)
    _check_record(values, values.pop("force"))
    check_arms(values)
    check_scene(values)
    return values


def view_values(arguments: Sequence[str]) -> dict[str, str]:
    """Return the values of the arguments of `./arm view` by name, as demo_values() does."""
    parser = argparse.ArgumentParser(
        prog="./arm view", description="Show a robot and move its joints."
    )
    parser.add_argument(
        "robot", nargs="?", default="nut_arm", help="a shipped name or the path of a file"
    )
    parser.add_argument(
        "--scene",
        default="",
        help="scene around it: a shipped name or the path of a YAML file; the page edits it",
    )
    parser.add_argument("--viewer-port", default="8080", help="first TCP port to try")
    _add_namespace(parser)
    given = vars(parse(parser, arguments))
    given["robot"] = _robot_file(given["robot"])
    values = default_values(tasks="false", **given)
    check_port(values)
    _check_namespace(values)
    model = load_robot(values["robot"])
    if values["scene"]:
        load_scene(values["scene"], model.name)
    return values


def _robot_file(robot: str) -> str:
    """Return a robot, or the robot file of this run that is made of a URDF or xacro file."""
    path = description_path(robot)
    if not is_xml(path):
        return robot
    file = run_folder() / f"{path.name.partition('.')[0]}.yaml"
    file.write_text(robot_yaml(load_robot(path)), encoding="utf-8")
    to_keep = f"{program('arm_description', 'urdf2dh')} {robot} -o {file.name} makes one to keep"
    print(f"arm: {robot}: a robot file of this run is made of it; {to_keep}", file=sys.stderr)
    return str(file)


def _add_namespace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--namespace", default="", help="namespace of all nodes, such as left")


def _check_namespace(values: Mapping[str, str]) -> None:
    if values["namespace"]:
        check_namespace(values["namespace"])


def _check_record(values: Mapping[str, str], force: bool) -> None:
    """Raise InputError unless `record` is empty or a GIF that can be written."""
    file = Path(values["record"])
    if not values["record"]:
        return
    if values["robots"]:
        raise TasksError("--record shows one arm; leave out --robots")
    if file.suffix.lower() != ".gif":
        raise TasksError(f"--record is {file}; give a name that ends in .gif")
    if not os.access(file.absolute().parent, os.W_OK):
        raise TasksError(f"--record {file} cannot be written: no such folder, or not yours")
    for name in (file, file.with_suffix(".mcap")):
        refuse_overwriting(str(name), force)


def _wait_for_page(values: Mapping[str, Any]) -> str:
    """Return the file that the view creates when its page is first open; "" not to wait."""
    wait, has_page = values["wait"], values["viewer"] == "browser"
    if wait and not has_page:
        raise TasksError("--wait waits for a page in a browser; leave out --headless and --viewer")
    expected = has_page and not values["record"] and sys.stdin.isatty()
    return str(run_folder() / "opened") if wait or (wait is None and expected) else ""


def _recorder(file: Path) -> Process:
    """Return the process that records every topic."""
    arguments = ("-o", str(file), "--force")  # the demo has refused what may not be replaced
    return Process(RECORDINGS, "record", "recorder", arguments=arguments)


def _film(values: Mapping[str, str], recording: Path) -> int:
    """Draw the animation of a recorded run; return the exit code."""
    scene = load_scene(values["scene"], load_robot(values["robot"]).name)
    on_tf = scene.nut is not None and values["hardware"] != "real"
    near = ("--follow", "nut", "--view", "rear") if on_tf else ()
    name = f"/{values['namespace']}" if values["namespace"] else ""
    program = Path(get_package_prefix(RECORDINGS)) / "lib" / RECORDINGS / "export"
    words = [str(recording), values["record"], "--namespace", name, *near]
    return subprocess.call([str(program), *words])


def _marked(process: Process, opened: str) -> Process:
    """Return a view that creates a file when its page is first open; another process as it is."""
    if not opened or process.executable != "viewer":
        return process
    return replace(process, parameters={**process.parameters, "opened_file": opened})


def _one_arm(table: Sequence[Process], values: Mapping[str, str]) -> list[Process]:
    """Return the processes of one arm that the arguments select, in its namespace."""
    selected, name = chosen(table, values), values["namespace"]
    return [in_namespace(process, name) for process in selected] if name else selected


def _choose_task(values: dict[str, str]) -> None:
    """Choose a task for a simulated robot that is not the demo's own, unless one is given.

    The task draw_square is fitted to the robot, too.
    """
    own = values["robot"] == demo_parser().get_default("robot")
    drawn = values["task"] == "draw_square"
    given = values["scene"] or (values["task"] and not drawn)
    if own or given or values["hardware"] == "real":
        return
    # planning is slow to import
    from arm_tasks.bringup.fitting_task import fitting_square, fitting_task

    model = driven_robot(values)
    found = fitting_square(model) if drawn else fitting_task(model)
    values["task"], values["scene"] = found.write(_OUTPUT, model.name)
    print(f"{model.name} does the task {values['task']}.", file=sys.stderr)


@contextlib.contextmanager
def single_instance() -> Iterator[None]:
    """Hold a lock that prevents a second start in the same ROS domain on this computer."""
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    file = Path(tempfile.gettempdir()) / f"arm-{os.getuid()}-domain-{domain}.lock"
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    try:
        descriptor = os.open(file, flags, 0o600)
    except OSError as error:
        raise TasksError(
            f"The lock {file} cannot be opened ({error.strerror}); remove it, or set TMPDIR to a"
            " folder of your own."
        ) from None
    with os.fdopen(descriptor) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TasksError(
                f"An arm is already running in ROS domain {domain}; end it, or choose another"
                " domain, for example ROS_DOMAIN_ID=7"
            ) from None
        yield


def _wait(group: ProcessGroup, tasks: Sequence[str], views: Sequence[str] = ()) -> int:
    """Wait until all tasks have ended; return an exit code that is not 0 if there is one.

    If another process ends, return 1, but 0 if it is one of the views and its exit code is 0.
    """
    due = 0.0
    while True:
        ended = group.ended()
        others, is_over = ended.keys() - set(tasks), tasks and ended.keys() >= set(tasks)
        if others or is_over or time.monotonic() >= due:
            for text in group.errors():
                print(text, file=sys.stderr, flush=True)
            due = time.monotonic() + _ERROR_PERIOD
        for name in others:
            if name in views and ended[name] == 0:
                return 0
            log = group.log_tail(name)
            print(f"{name} ended unexpectedly (code {ended[name]}):\n{log}", file=sys.stderr)
            group.wait(tasks, _TASK_END_TIMEOUT)  # they print the outcome
            return 1
        if is_over:
            return next(filter(None, ended.values()), 0)
        time.sleep(_POLL_PERIOD)


def _start(group: ProcessGroup, enabled: Sequence[Process], opened: str) -> None:
    """Start processes; with a file `opened`, which a view creates, the tasks after that."""
    for process in enabled:
        if not (opened and process.ends_all):
            group.start(_marked(process, opened), to_terminal=process.to_terminal)
    if not opened:
        return
    _await_page(group, Path(opened))
    for process in enabled:
        if process.ends_all and not group.ended():
            group.start(process, to_terminal=process.to_terminal)


def _await_page(group: ProcessGroup, opened: Path) -> None:
    """Wait until a page is open, somebody presses Enter, or a process ends."""
    keys = [sys.stdin] if sys.stdin.isatty() else []
    or_key = "; Enter begins without it" if keys else ""
    print(f"The task begins when the page is open in a browser{or_key}.", flush=True)
    while not opened.exists() and not group.ended():
        if select.select(keys, [], [], _POLL_PERIOD)[0]:
            sys.stdin.readline()
            return


def keep_view(
    group: ProcessGroup, tasks: Sequence[str], views: Sequence[str], failed: int = 0
) -> int:
    """Keep arm and view until Ctrl-C or until the view is closed; return the exit code.

    That is the code of a ``failed`` task, whose arm stays where it is.
    """
    held = "The task has not been done; the arm is held. " if failed else ""
    what = "The view stays open" if views else "It stays so"
    print(f"{held}{what}; Ctrl-C ends it.", flush=True)
    for task in tasks:
        group.forget(task)
    try:
        return _wait(group, (), views) or failed
    except KeyboardInterrupt:
        return failed


def _stays(values: Mapping[str, str], failed: bool, keep_open: bool) -> bool:
    """Return True if arm and view stay after the tasks.

    A failed task alone must not take the torque from a real arm: it stays for a terminal, where
    Ctrl-C ends it, and for a view, which can be closed.
    """
    if not failed or values["hardware"] != "real":
        return keep_open
    return keep_open or values["viewer"] != "none" or sys.stdin.isatty()


def _report_end(values: Mapping[str, str], failed: bool) -> None:
    """Say what the end means for a real arm."""
    if values["hardware"] != "real" or values["part"] == "rest":
        return
    action = DriverOptions(hardware="real", exit_action=values["exit_action"]).final_action
    reason = "No terminal and no view keep it after a failed task: " if failed else ""
    print(f"{reason}{'the' if reason else 'The'} run ends, {ENDINGS[action]}.", flush=True)


def run_table(enabled: Sequence[Process], values: Mapping[str, str], keep_open: bool) -> int:
    """Start processes of the table and stop them at the end; return the exit code.

    After the tasks, arm and view can be kept until Ctrl-C. If one of the processes cannot
    be started, TasksError is raised before any is.
    """
    tasks = [process.label for process in enabled if process.ends_all]
    views = [process.label for process in enabled if process.is_view]
    group = ProcessGroup(values, _LOGS)
    for process in enabled:
        group.command(process)  # check all of them before the first start
    if group.reach:
        print(f"arm: {group.reach}", file=sys.stderr, flush=True)
    interrupt_on_signals()
    reported = False
    try:
        _start(group, enabled, values.get("wait", ""))
        tasks = [task for task in tasks if task in group.pids()]
        code = _wait(group, tasks)
        only_tasks = group.ended().keys() <= set(tasks)
        if only_tasks and _stays(values, bool(code), keep_open):
            return keep_view(group, tasks, views, code)
        _report_end(values, bool(code) and only_tasks)
        reported = True
        return code
    except KeyboardInterrupt:
        print("\nEnding.", flush=True)
        return INTERRUPTED
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # the shutdown must not be interrupted
        if not reported:
            _report_end(values, failed=False)
        if clients := [task for task in tasks if task in group.pids()]:
            group.stop(clients)  # first, while the task server can still handle its cancellation
        group.stop()


def _run(
    values_of: Callable[[Sequence[str]], dict[str, str]],
    arguments: Sequence[str] | None,
    run: Callable[[dict[str, str]], int],
) -> int:
    try:
        with ended_at_once():
            values = values_of(sys.argv[1:] if arguments is None else arguments)
        with single_instance():
            return run(values)
    except InputError as error:
        print(f"arm: {error}", file=sys.stderr)
        return 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""

    def run(values: dict[str, str]) -> int:
        keep_open = values["viewer"] != "none" and sys.stdin.isatty()
        arms = [name for name in values["robots"].split(",") if name]
        if arms:
            return run_table(several_processes(arms, values), values, keep_open)
        table = _one_arm(processes(), values)
        if not values["record"]:
            return run_table(table, values, keep_open)
        recording = Path(values["record"]).with_suffix(".mcap")
        code = run_table([_recorder(recording), *table], values, False)
        if code == INTERRUPTED or not recording.exists():
            return code
        return _film(values, recording) or code

    return _run(demo_values, arguments, run)


def view(arguments: Sequence[str] | None = None) -> int:
    """Show a robot in the browser; return the exit code."""
    code = _run(
        view_values,
        arguments,
        lambda values: run_table(
            _one_arm(view_processes(scene=bool(values["scene"])), values), values, False
        ),
    )
    return 0 if code == INTERRUPTED else code
