# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""./arm demo as a person runs it: what it prints, its exit code, nothing left behind."""

import contextlib
import itertools
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix, get_package_share_directory

BOUND = 300.0  # s
# A motion that outlasts the test, and needs little planning.
SLOW = """\
task: slow
steps:
  - move_posture: {posture: ready, speed: 0.004}
"""
numbers = itertools.count()


def processes_of(folder):
    """Return pid -> command line of running processes whose working directory is the folder."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "cwd").resolve() == folder.resolve():
                found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
    return {pid: command for pid, command in found.items() if command}


class Demo:
    """One run of the installed executable behind ./arm demo."""

    def __init__(self, folder, *arguments, executable="demo"):
        program = Path(get_package_prefix("arm_tasks")) / "lib" / "arm_tasks" / executable
        self.output = folder / f"terminal-{next(numbers)}"
        with self.output.open("w") as file:
            self.process = subprocess.Popen(
                [program, *arguments],
                cwd=folder,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    @property
    def text(self):
        return self.output.read_text()

    def wait_for(self, words):
        end = time.monotonic() + BOUND
        while words not in self.text:
            assert self.process.poll() is None, f"ended early:\n{self.text}"
            assert time.monotonic() < end, f"no '{words}' in:\n{self.text}"
            time.sleep(0.05)

    def code(self):
        return self.process.wait(BOUND)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(BOUND)


@pytest.fixture
def demo(tmp_path):
    runs = []

    def start(*arguments, **options):
        runs.append(Demo(tmp_path, *arguments, **options))
        return runs[-1]

    yield start
    for run in runs:
        run.end()
    assert processes_of(tmp_path) == {}


def shipped(kind):
    return (
        Path(get_package_share_directory("arm_tasks")) / kind / "nut_transfer.yaml"
    ).read_text()


@pytest.fixture
def short_transfer(tmp_path):
    """The shipped transfer with two turns less to unscrew, as a file."""
    scene, task = shipped("scenes"), shipped("tasks")
    assert "turns: 4.378" in scene and "scene: nut_transfer" in task
    (tmp_path / "short.yaml").write_text(scene.replace("turns: 4.378", "turns: 2.378"))
    file = tmp_path / "nut_transfer.yaml"
    file.write_text(task.replace("scene: nut_transfer", "scene: short.yaml"))
    return str(file)


def test_demo_transfers_the_nut_in_contact_physics(demo, tmp_path, short_transfer):
    """Through all nodes, as fast as the computer can; it prints its steps and saves a picture."""
    pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")
    run = demo("--headless", "--world", "contact", "--speed", "20", "--task", short_transfer)
    assert run.code() == 0, run.text
    lines = run.text.splitlines()
    assert f"Checking {short_transfer} ..." in lines
    steps = [line for line in lines if re.match(r"\[\d+(\.\d+)? *\] ", line)]
    (total,) = (re.match(r"all +(\d+) ", line)[1] for line in lines if line.startswith("all "))
    assert len(steps) == int(total) > 50
    for row in ("step ", "take the nut off ", "screw it on ", "all ", "Nut ", "Picture "):
        assert any(line.startswith(row) for line in lines), row
    assert re.fullmatch(r"Done: the nut is \d\.\d\d turns on lower_bolt.*", lines[-1])
    assert (tmp_path / "output" / "nut_transfer.png").stat().st_size > 20_000


@pytest.mark.thorough
@pytest.mark.parametrize("hardware", ["sim", "fake"])
@pytest.mark.parametrize(
    ("robot", "task"),
    [
        *((robot, "pick_and_place") for robot in ("mearm", "braccio", "learm", "so101")),
        *((robot, "draw_line") for robot in ("eezybotarm_mk1", "eezybotarm_mk2")),
    ],
)
def test_every_kit_does_a_task(demo, robot, task, hardware):
    words = ("--headless", "--speed", "8", "--hardware", hardware)
    run = demo("--robot", robot, "--task", task, *words)
    assert run.code() == 0, run.text
    assert run.text.splitlines()[-1].startswith("Done: ")


def test_ctrl_c_leaves_no_process_and_the_next_run_works(demo, tmp_path, ros_domain):
    """The next run ends by itself and names the node that was killed."""
    task = tmp_path / "slow.yaml"
    task.write_text(SLOW)
    run = demo("--task", str(task), "--viewer-port", "18080")
    run.wait_for("http://127.0.0.1:")
    run.wait_for("moving to posture ready")
    second = demo("--headless")
    assert second.code() == 1
    assert f"already running in ROS domain {ros_domain}" in second.text
    assert len(processes_of(tmp_path)) > 4
    run.process.send_signal(signal.SIGINT)
    assert run.code() == 130
    assert "the arm holds where it is" in run.text  # the cancellation was answered
    assert "not ended by" not in run.text
    assert "Traceback" not in run.text
    assert processes_of(tmp_path) == {}

    again = demo("--headless", "--task", str(task), "--hardware", "fake")
    again.wait_for("moving to posture ready")
    for pid, command in processes_of(tmp_path).items():
        if "lib/arm_hardware/hardware" in command:
            os.kill(pid, signal.SIGKILL)
    assert again.code() == 1
    assert "arm_hardware ended unexpectedly" in again.text
    assert re.search(r"Failed: step \d+, .*: the servo driver is gone", again.text)


def test_view_shows_a_robot_by_name(demo):
    run = demo("puma560", "--viewer-port", "18090", executable="view")
    run.wait_for("http://127.0.0.1:")
    run.process.send_signal(signal.SIGTERM)
    assert run.code() == 0
