# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Long commands: failures show the last lines of output, and Ctrl-C leaves nothing behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from arm_testing.programs.processes import is_alive
from arm_testing.waiting import wait_for
from pip_ros.errors import SetupError
from pip_ros.progress import beside, run_logged


def run(script, log, describe=lambda line: None):
    run_logged([sys.executable, "-c", script], log, describe, "Trying", os.environ, Path.cwd())


def test_output_is_kept_and_described(tmp_path, capsys):
    seen = []
    run("print('one'); print('two')", tmp_path / "log", lambda line: seen.append(line.strip()))
    assert seen == ["one", "two"]
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
    assert re.fullmatch(r"Trying: done \(\d+ s\)\n", capsys.readouterr().err)


def test_failure_shows_the_last_lines_and_the_log(tmp_path):
    with pytest.raises(
        SetupError,
        match=r"(?s)failed; its output ended with:.*no space left.*complete output is in",
    ):
        run("import sys; print('no space left'); sys.exit(3)", tmp_path / "log")


def test_interrupt_ends_the_whole_group(tmp_path):
    """Ctrl-C during a command also ends the command's children."""
    pid_file = tmp_path / "pid"
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pid_file)!r}, 'w').write(str(child.pid))\n"
        "print('started', flush=True)\n"
        "time.sleep(600)\n"
    )

    def interrupt(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(script, tmp_path / "log", interrupt)
    child = int(pid_file.read_text())
    wait_for(lambda: not is_alive(child))


def run_beside(script, log):
    return beside([sys.executable, "-c", script], log, "Trying", os.environ, Path.cwd())


def test_command_runs_concurrently_with_the_block(tmp_path, capsys):
    """The block ends after the command has started, and the command after the block."""
    begun, go = tmp_path / "begun", tmp_path / "go"
    script = (
        "import pathlib, time\n"
        f"pathlib.Path({str(begun)!r}).touch()\n"
        f"while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)\n"
        "print('went')\n"
    )
    with run_beside(script, tmp_path / "log"):
        wait_for(begun.exists)
        go.touch()
    assert (tmp_path / "log").read_text() == "went\n"
    assert re.search(r"Trying: done \(\d+ s\)\n$", capsys.readouterr().err)


def test_failure_of_a_concurrent_command_is_reported_at_the_end(tmp_path):
    failing = run_beside("import sys; print('no space left'); sys.exit(3)", tmp_path / "log")
    with (
        pytest.raises(SetupError, match=r"(?s)failed; its output ended with:.*no space left"),
        failing,
    ):
        pass


def test_concurrent_command_ends_with_the_block(tmp_path):
    pid_file = tmp_path / "pid"
    script = (
        "import os, pathlib, time\n"
        f"pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid()))\n"
        "time.sleep(600)\n"
    )
    with pytest.raises(KeyboardInterrupt), run_beside(script, tmp_path / "log"):
        wait_for(lambda: pid_file.exists() and pid_file.read_text())
        raise KeyboardInterrupt
    assert not is_alive(int(pid_file.read_text()))


def test_command_that_ignores_signals_is_killed(tmp_path, monkeypatch):
    script = (
        "import signal, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('deaf', flush=True)\n"
        "time.sleep(600)\n"
    )
    waits = []
    wait = subprocess.Popen.wait

    def impatient(self, timeout=None):
        waits.append(timeout)
        return wait(self, 0.2 if timeout else None)

    monkeypatch.setattr(subprocess.Popen, "wait", impatient)

    def interrupt(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(script, tmp_path / "log", interrupt)
    assert len(waits) == 3
