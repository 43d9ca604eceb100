# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_demo.py
"""Runs processes of the table from a terminal, without `ros2 launch`: starts and stops them."""

import argparse
import contextlib
import fcntl
import logging
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from arm_common.errors import InputError
from arm_common.network import node_environment, report_reach
from arm_common.signals import INTERRUPTED, die_with_parent, ended_at_once, interrupt_on_signals
from arm_common.suggestions import program
from arm_description.library import description_path, is_xml, load_robot
from arm_description.robot_file.writer import robot_yaml
from arm_hardware.motion.options import ENDINGS, DriverOptions

from arm_tasks.bringup.arguments import Values
from arm_tasks.bringup.processes import (
    Process,
    Value,
    chosen,
    copy_for_editing,
    in_namespace,
    resolve,
    run_folder,
)
from arm_tasks.errors import TasksError, shipped

_LOGGER = logging.getLogger(__name__)

_POLL_PERIOD = 0.05  # [s]
_ERROR_PERIOD = 1.0  # [s] between two looks into the logs
# For the task server to notice a lost node and end the task, 5 s after the last joint_states; of a
# task that waits longer for an arm, the outcome is not printed.
_TASK_END_TIMEOUT = 10.0  # [s]
_LOGS = Path("log") / "nodes"
_TAIL_LINES = 6
_ERROR = re.compile(r"\[(?:ERROR|FATAL)\] \[[\d.]+\] \[[^]]*\]: (.*)")  # a line of rclpy's log


class ProcessGroup:
    """A group of running processes and the folder of their logs, which is created.

    Attributes:
        reach: A sentence that says from where the nodes are reached; "" if already reported.
    """

    def __init__(self, values: Values, logs: Path) -> None:
        self._values = dict(values)
        self._environment = node_environment(os.environ, values["network"])
        self.reach = report_reach(self._environment)
        self._logs = logs
        try:
            logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TasksError(
                f"the folder for logs, {logs.absolute()}, cannot be created: {error.strerror};"
                " begin in a folder of your own"
            ) from None
        self._parameters = tempfile.TemporaryDirectory(prefix="arm-parameters-")
        self._read: dict[str, int] = {}  # bytes of each log that errors() has read
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def command(self, process: Process) -> list[str]:
        """Return the command line of a process, with its parameters in a file."""
        try:
            prefix = Path(get_package_prefix(process.package))
        except PackageNotFoundError:
            hint = "; use --viewer browser" if process.package == "rviz2" else ""
            raise TasksError(f"the ROS package {process.package} is not installed{hint}") from None
        executable = prefix / "lib" / process.package / process.executable
        if not executable.exists():
            raise TasksError(
                f"{process.package} has no executable {process.executable}; build the workspace"
            )
        arguments = map(self._argument, process.arguments)
        command = [str(executable), *arguments, "--ros-args", "--enclave", process.enclave]
        if process.remapping:
            command += ["-r", f"__node:={process.remapping}"]
        if process.namespace:
            command += ["-r", f"__ns:=/{process.namespace}"]
        for name, other in process.remappings.items():
            command += ["-r", f"{name}:={other}"]
        if process.parameters:
            values = {k: resolve(value, self._values) for k, value in process.parameters.items()}
            file = Path(self._parameters.name) / f"{process.label}.yaml"
            file.write_text(yaml.safe_dump({"/**": {"ros__parameters": values}}))
            command += ["--params-file", str(file)]
        # Later ones win, as in bringup.launch.py.
        for given in filter(None, (shipped("config")["bringup"], self._values["params_file"])):
            command += ["--params-file", str(given)]
        return [*command, "--log-level", self._values["log_level"]]

    def _argument(self, value: Value | Path) -> str:
        if isinstance(value, Path):
            return str(copy_for_editing(value, self._logs))
        return str(resolve(value, self._values))

    def start(self, process: Process, to_terminal: bool = False) -> "subprocess.Popen[bytes]":
        """Start a process in its own session, so that Ctrl-C does not reach it directly."""
        with (self._logs / f"{process.label}.log").open("wb") as file:
            child = subprocess.Popen(
                self.command(process),
                stdin=subprocess.DEVNULL,
                stdout=None if to_terminal else file,
                stderr=None if to_terminal else subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=partial(die_with_parent, signal.SIGTERM),
                env=self._environment,
            )
        self._running[process.label] = child
        return child

    def pids(self) -> dict[str, int]:
        """Return name -> process ID."""
        return {name: child.pid for name, child in self._running.items()}

    def ended(self) -> dict[str, int]:
        """Return name -> exit code of the ended processes."""
        codes = {name: child.poll() for name, child in self._running.items()}
        return {name: code for name, code in codes.items() if code is not None}

    def forget(self, name: str) -> None:
        """Ignore a process that has ended as expected."""
        del self._running[name]

    def errors(self) -> list[str]:
        """Return what nodes have logged as errors since the last call, as process: text.

        A log that has been deleted while its process runs has none.
        """
        found = []
        for name in self._running:
            lines = list[bytes]()
            with contextlib.suppress(OSError), (self._logs / f"{name}.log").open("rb") as log:
                log.seek(self._read.get(name, 0))
                lines = log.read().splitlines(keepends=True)
            if lines and not lines[-1].endswith(b"\n"):
                lines.pop()  # still being written
            self._read[name] = self._read.get(name, 0) + sum(map(len, lines))
            texts = (line.decode(errors="replace") for line in lines)
            found += [f"{name}: {m[1].strip()}" for text in texts if (m := _ERROR.match(text))]
        return found

    def log_tail(self, name: str) -> str:
        """Return the last lines of a log, indented."""
        file = self._logs / f"{name}.log"
        try:
            text = file.read_text(errors="replace").strip()
        except OSError as error:
            text = f"{file} cannot be read: {error.strerror}"
        return "\n".join(f"    {line}" for line in text.splitlines()[-_TAIL_LINES:])

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a process and its children if it is still running."""
        child = self._running[name]
        if child.poll() is None:
            os.killpg(child.pid, number)

    def stop(self, names: Sequence[str] | None = None, timeout: float = 15.0) -> None:
        """Stop processes (all by default) with SIGINT, then SIGTERM, then SIGKILL."""
        chosen = list(reversed(self._running)) if names is None else list(names)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            for name in chosen:
                self.signal(name, number)
            if self.wait(chosen, timeout):
                break
            left = [name for name in chosen if self._running[name].poll() is None]
            _LOGGER.warning("not ended by %s: %s", number.name, ", ".join(left))
        if names is None:
            self._parameters.cleanup()

    def wait(self, names: Sequence[str], timeout: float) -> bool:
        """Wait until the processes have ended; return whether they have within a time-out [s]."""
        end = time.monotonic() + timeout
        for name in names:
            try:
                self._running[name].wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                return False
        return True


def add_namespace(parser: argparse.ArgumentParser) -> None:
    """Add the option of a program that starts the nodes of one arm."""
    parser.add_argument("--namespace", default="", help="namespace of all nodes, such as left")


def check_namespace(values: Values) -> None:
    """Raise TasksError unless the namespace is empty or one level."""
    name = values["namespace"]
    if name and not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise TasksError(f"--namespace is {name}; give letters, digits and _, such as left")


def robot_file(robot: str) -> str:
    """Return a robot, or the robot file of this run that is made of a URDF or xacro file."""
    path = description_path(robot)
    if not is_xml(path):
        return robot
    file = run_folder() / f"{path.name.partition('.')[0]}.yaml"
    file.write_text(robot_yaml(load_robot(path)), encoding="utf-8")
    to_keep = f"{program('arm_description', 'urdf2dh')} {robot} -o {file.name} makes one to keep"
    print(f"arm: {robot}: a robot file of this run is made of it; {to_keep}", file=sys.stderr)
    return str(file)


def one_arm(table: Sequence[Process], values: Values) -> list[Process]:
    """Return the processes of one arm that the arguments select, in its namespace."""
    selected, name = chosen(table, values), values["namespace"]
    return [in_namespace(process, name) for process in selected] if name else selected


def run_program(
    values_of: Callable[[Sequence[str]], dict[str, str]],
    arguments: Sequence[str] | None,
    run: Callable[[dict[str, str]], int],
) -> int:
    """Read the values of the arguments and run with them, alone; return the exit code."""
    try:
        with ended_at_once():
            values = values_of(sys.argv[1:] if arguments is None else arguments)
        with single_instance():
            return run(values)
    except InputError as error:
        print(f"arm: {error}", file=sys.stderr)
        return 1


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


def run_table(enabled: Sequence[Process], values: Values, keep_open: bool) -> int:
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


def _marked(process: Process, opened: str) -> Process:
    """Return a view that creates a file when its page is first open; another process as it is."""
    if not opened or process.executable != "viewer":
        return process
    return process.with_parameters({"opened_file": opened})


def _await_page(group: ProcessGroup, opened: Path) -> None:
    """Wait until a page is open, somebody presses Enter, or a process ends."""
    keys = [sys.stdin] if sys.stdin.isatty() else []
    or_key = "; Enter begins without it" if keys else ""
    print(f"The task begins when the page is open in a browser{or_key}.", flush=True)
    while not opened.exists() and not group.ended():
        if select.select(keys, [], [], _POLL_PERIOD)[0]:
            sys.stdin.readline()
            return


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


def _stays(values: Values, failed: bool, keep_open: bool) -> bool:
    """Return True if arm and view stay after the tasks.

    A failed task alone must not take the torque from a real arm: it stays for a terminal, where
    Ctrl-C ends it, and for a view, which can be closed.
    """
    if not failed or values["hardware"] != "real":
        return keep_open
    return keep_open or values["viewer"] != "none" or sys.stdin.isatty()


def _report_end(values: Values, failed: bool) -> None:
    """Say what the end means for a real arm."""
    if values["hardware"] != "real" or values["part"] == "rest":
        return
    action = DriverOptions(hardware="real", exit_action=values["exit_action"]).final_action
    reason = "No terminal and no view keep it after a failed task: " if failed else ""
    print(f"{reason}{'the' if reason else 'The'} run ends, {ENDINGS[action]}.", flush=True)
