# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command ./arm: its help, errors and environment."""

import os
import signal
import subprocess
import sys

import pytest
from arm_common.network import NETWORK, RANGE, is_limited
from arm_testing.waiting import wait_for
from pip_ros import cli, environment, prepare
from pip_ros.errors import SetupError
from pip_ros.paths import REPOSITORY, Paths


def arm(*arguments):
    return subprocess.run(
        [sys.executable, REPOSITORY / "arm", *arguments], capture_output=True, text=True
    )


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_help_is_one_screen_and_names_every_command(arguments):
    answer = arm(*arguments)
    lines = answer.stdout.splitlines()
    assert answer.returncode == 0
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 120
    words = answer.stdout.split()
    for command in cli.all_commands():
        assert command.name in words
    assert " new FILE [--from ROBOT] | set " in answer.stdout
    purposes = [line.split("  ")[0] for line in lines[2:] if line[0] != " "]
    assert purposes == list(dict.fromkeys(line.purpose for line in cli.all_lines()))


@pytest.mark.parametrize("words", [["--help"], ["test", "--help"], ["bench", "--help"]])
def test_reader_of_the_output_that_has_gone_is_no_error(words):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, REPOSITORY / "arm", *words]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    assert done.returncode in (0, -signal.SIGPIPE) and not done.stderr


@pytest.mark.parametrize(
    "text", [b"a = b", b"[a]\nb\n", b"[a]\nb = c\nb = d\n", b"\xff", b"[arm.commands]\nX = x\n"]
)
def test_entry_points_of_any_package_cannot_break_the_help(text, tmp_path):
    info = tmp_path / "x-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_bytes(text)
    lines = cli.all_lines({"PYTHONPATH": str(tmp_path)})
    assert lines[: len(cli.LINES)] == cli.LINES


def test_each_command_has_one_place():
    names = [command.name for command in cli.all_commands()]
    assert len(names) == len(set(names)) > 40
    new = {"driver", "arm", "disarm", "reset", "stop", "release", "servos", "lerobot", "run_task"}
    assert new <= set(names)


def test_unknown_command_is_reported_with_the_help():
    answer = arm("dmeo")
    assert answer.returncode == 2
    assert answer.stderr.startswith("arm: there is no command 'dmeo'; did you mean 'demo'?")
    assert "Try      demo" in answer.stderr


def test_exec_without_or_with_a_missing_program_is_reported():
    with pytest.raises(SetupError, match="Give a program to run"):
        cli.execute({}, [])
    with pytest.raises(SetupError, match="no_such_program cannot be run: No such file"):
        cli.execute({"PATH": "/usr/bin"}, ["no_such_program"])


PROGRAM = """\
import os, pathlib, sys, time
def main():
    print(sys.argv[1:], [path for path in sys.path if path.endswith("pip_ros")])
    return 3
pathlib.Path(os.environ["BEGUN"]).touch()
time.sleep(float(os.environ["SLOW"]))
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The path of a program `slow` of a package `some`, whose import takes SLOW seconds."""
    (tmp_path / "some").mkdir()
    (tmp_path / "some/__init__.py").write_text(PROGRAM)
    (tmp_path / "some-1.dist-info").mkdir()
    (tmp_path / "some-1.dist-info/METADATA").write_text("Name: some\nVersion: 1\n")
    points = "[console_scripts]\nslow = some:main\n"
    (tmp_path / "some-1.dist-info/entry_points.txt").write_text(points)
    (tmp_path / "lib/some").mkdir(parents=True)
    (tmp_path / "lib/some/slow").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("BEGUN", str(tmp_path / "begun"))
    return tmp_path / "lib/some/slow"


def test_program_begins_with_its_arguments(installed, monkeypatch):
    monkeypatch.setenv("SLOW", "0")
    command = [sys.executable, cli.BEGIN, installed, "--posture", "rest"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, "['--posture', 'rest'] []\n", "")


def test_ctrl_c_while_a_program_is_imported_prints_no_traceback(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("SLOW", "60")
    command = [sys.executable, cli.BEGIN, installed]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        wait_for((tmp_path / "begun").exists, "begin")
        program.send_signal(signal.SIGINT)
        assert (program.wait(30.0), program.stdout.read()) == (130, b"")


def test_missing_executable_is_reported(tmp_path):
    with pytest.raises(SetupError, match="arm_tasks has no executable nothing"):
        cli.executable("arm_tasks", "nothing").run({"AMENT_PREFIX_PATH": str(tmp_path)}, [])


def test_sourced_ros_is_distinguished_from_ours():
    assert environment.ros_is_sourced({"ROS_DISTRO": "jazzy"})
    assert not environment.ros_is_sourced({})
    ours = environment.run_environment(Paths())
    assert not environment.ros_is_sourced(ours)


def test_programs_are_limited_to_this_computer_by_default(monkeypatch):
    monkeypatch.setattr(prepare, "is_ready", lambda paths: True)
    monkeypatch.delenv(RANGE, raising=False)
    assert is_limited(prepare.prepare(Paths()))
    monkeypatch.setenv(RANGE, "SUBNET")  # as a sourced Jazzy does
    assert is_limited(prepare.prepare(Paths()))
    monkeypatch.setenv(NETWORK, "subnet")
    assert not is_limited(prepare.prepare(Paths()))
    monkeypatch.setenv(NETWORK, "lan")
    with pytest.raises(SetupError, match="ARM_NETWORK is 'lan'; set it to one of auto, "):
        prepare.prepare(Paths())


def test_foreign_python_paths_are_removed():
    ours = environment.run_environment(
        Paths(), {"PYTHONPATH": "/somewhere", "PYTHONHOME": "/else"}
    )
    assert "/somewhere" not in ours["PYTHONPATH"]
    assert "PYTHONHOME" not in ours
