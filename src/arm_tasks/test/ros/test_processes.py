# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from arm_tasks.bringup import supervisor as module
from arm_tasks.bringup.arguments import ARGUMENTS, Arg, use_sim_time
from arm_tasks.bringup.processes import Process, is_enabled, processes
from arm_tasks.bringup.supervisor import ProcessGroup, resolve
from arm_tasks.errors import TasksError
from arm_testing.programs.processes import is_alive
from arm_testing.waiting import BOUND, wait_for

VALUES = {argument.name: argument.default for argument in ARGUMENTS} | {"world": "geometric"}
SLEEPER = "#!/bin/sh\nexec sleep 600\n"
UNYIELDING = "#!/bin/sh\ntrap '' INT TERM\nwhile :; do sleep 0.1; done\n"


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "get_package_prefix", lambda _: str(tmp_path))
    folder = tmp_path / "lib" / "pack"
    folder.mkdir(parents=True)
    return folder


def executable(prefix, text, name="run"):
    file = prefix / name
    file.write_text(text)
    file.chmod(0o755)
    return Process("pack", name, name)


def test_placeholders_become_values():
    values = VALUES | {"speed": "8", "viewer_port": "8081"}
    assert resolve(Arg("speed", float), values) == 8.0
    assert resolve(Arg("viewer_port", int), values) == 8081
    assert resolve(Arg("robot"), values) == "nut_arm"
    assert resolve(use_sim_time, values) is True
    assert resolve(use_sim_time, VALUES) is False
    publisher = processes()[0].parameters["robot_description"]
    assert resolve(publisher, VALUES).lstrip().startswith("<")
    assert resolve("plain", values) == "plain"
    with pytest.raises(TasksError, match="viewer_port is 'abc'; give a whole number"):
        resolve(Arg("viewer_port", int), values | {"viewer_port": "abc"})
    with pytest.raises(TasksError, match="speed is 'fast'; give a number"):
        resolve(use_sim_time, values | {"speed": "fast"})


@pytest.mark.parametrize(
    ("argument", "speed", "world", "expected"),
    [
        ("auto", "1.0", "geometric", False),
        ("auto", "8", "geometric", True),
        ("auto", "1.0", "contact", True),
        ("true", "1.0", "geometric", True),
        ("false", "1.0", "geometric", False),
    ],
)
def test_nodes_take_their_time_from_the_clock_as_the_launch_says(argument, speed, world, expected):
    values = VALUES | {"use_sim_time": argument, "speed": speed, "world": world}
    assert use_sim_time(values) is expected


@pytest.mark.parametrize(("speed", "world"), [("8", "geometric"), ("1.0", "contact")])
def test_simulated_time_cannot_be_denied(speed, world):
    values = VALUES | {"use_sim_time": "false", "speed": speed, "world": world}
    with pytest.raises(TasksError, match="use_sim_time is false, but contact physics"):
        use_sim_time(values)


def test_shipped_file_is_given_as_a_copy(prefix, tmp_path):
    executable(prefix, SLEEPER)
    (rviz,) = (process for process in processes() if process.package == "rviz2")
    (shipped,) = (value for value in rviz.arguments if isinstance(value, Path))
    group = ProcessGroup(VALUES, tmp_path / "log")
    command = group.command(replace(rviz, package="pack", executable="run"))
    copy = Path(command[command.index("-d") + 1])
    assert tmp_path / "log" in copy.parents and copy.read_bytes() == shipped.read_bytes()


def test_conditions():
    process = Process("p", "e", "n", when={"hardware": ("fake", "sim"), "viewer": ("browser",)})
    assert not is_enabled(process, VALUES | {"viewer": "none"})
    assert not is_enabled(process, VALUES | {"viewer": "browser", "hardware": "real"})
    assert is_enabled(process, VALUES | {"viewer": "browser"})


def test_parameters_with_any_characters_are_preserved(prefix, tmp_path):
    executable(prefix, SLEEPER)
    awkward = "a: b\n'c' \"d\" # é {e}\n"
    process = Process("pack", "run", "run", {"text": awkward, "number": 1.5})
    group = ProcessGroup(VALUES, tmp_path)  # keeps the parameter file
    command = group.command(process)
    file = command[command.index("--params-file") + 1]
    parameters = yaml.safe_load(Path(file).read_text())["/**"]["ros__parameters"]
    assert parameters == {"text": awkward, "number": 1.5}


def test_missing_executable_is_reported(prefix, tmp_path):
    with pytest.raises(TasksError, match="pack has no executable gone"):
        ProcessGroup(VALUES, tmp_path).command(Process("pack", "gone", "gone"))


def test_ended_process_has_its_exit_code_and_log(prefix, tmp_path):
    group = ProcessGroup(VALUES, tmp_path / "logs")
    group.start(executable(prefix, "#!/bin/sh\necho no such board >&2\nexit 3\n"))
    wait_for(group.ended)
    assert group.ended() == {"run": 3}
    assert "no such board" in group.log_tail("run")
    group.stop()


@pytest.mark.parametrize(
    ("network", "wanted"),
    [("subnet", "SUBNET -"), ("this_computer", "SYSTEM_DEFAULT fastdds.xml")],
)
def test_argument_network_decides_before_the_environment(
    prefix, tmp_path, monkeypatch, network, wanted
):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    monkeypatch.delenv("RMW_IMPLEMENTATION", raising=False)
    monkeypatch.setenv("ROS_DISTRO", "jazzy")  # it decides the name of the variable
    profile = '"${FASTRTPS_DEFAULT_PROFILES_FILE:--}"'
    shown = f'echo "$ROS_AUTOMATIC_DISCOVERY_RANGE" "$(basename {profile})"'
    group = ProcessGroup(VALUES | {"network": network}, tmp_path / "logs")
    group.start(executable(prefix, f"#!/bin/sh\n{shown}\n"))
    wait_for(group.ended)
    assert group.log_tail("run").strip() == wanted
    group.stop()


@pytest.mark.parametrize("script", [SLEEPER, UNYIELDING])
def test_stop_kills_processes_that_ignore_signals(prefix, tmp_path, script):
    group = ProcessGroup(VALUES, tmp_path / "logs")
    child = group.start(executable(prefix, script))
    group.stop(timeout=0.5)
    assert not is_alive(child.pid)


def test_children_end_when_their_parent_is_killed(prefix, tmp_path):
    executable(prefix, SLEEPER)
    pid_file = tmp_path / "pid"
    script = f"""
from pathlib import Path
from arm_tasks.bringup import supervisor
from arm_tasks.bringup.processes import Process
supervisor.get_package_prefix = lambda _: {str(tmp_path)!r}
group = supervisor.ProcessGroup({VALUES!r}, Path({str(tmp_path / "logs")!r}))
child = group.start(Process("pack", "run", "run"))
Path({str(pid_file)!r}).write_text(str(child.pid))
print("started", flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout.readline() == "started\n"
    child = int(pid_file.read_text())
    assert is_alive(child)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait(BOUND)
    wait_for(lambda: not is_alive(child))
