# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Starts and stops the processes of the table without `ros2 launch`."""

import logging
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from arm_common.network import node_environment, report_reach
from arm_common.signals import die_with_parent

from arm_tasks.bringup.arguments import Plain, Values
from arm_tasks.bringup.processes import Process, Value, copy_for_editing
from arm_tasks.errors import TasksError, shipped

_LOGGER = logging.getLogger(__name__)

_TAIL_LINES = 6
_ERROR = re.compile(r"\[(?:ERROR|FATAL)\] \[[\d.]+\] \[[^]]*\]: (.*)")  # a line of rclpy's log


def resolve(value: Value | Path, values: Values) -> Plain:
    """Return the value of a table entry for given arguments."""
    if isinstance(value, Path):
        return str(value)
    return value(values) if callable(value) else value


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

    def forget(self, name: str | None) -> None:
        """Ignore a process that has ended as expected."""
        if name is not None:
            del self._running[name]

    def errors(self) -> list[str]:
        """Return what nodes have logged as errors since the last call, as process: text.

        A log that has been deleted while its process runs has none.
        """
        found = []
        for name in self._running:
            lines = list[bytes]()
            with suppress(OSError), (self._logs / f"{name}.log").open("rb") as log:
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
