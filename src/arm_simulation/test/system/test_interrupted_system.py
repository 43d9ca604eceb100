# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Processes that start late, die and restart: the task waits, stops, and can be resumed."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix
from arm_common.signals import INTERRUPTED
from arm_testing.hardware.factories import factory
from arm_testing.programs.processes import kill
from arm_testing.ros.stack import swing
from diagnostic_msgs.msg import DiagnosticArray

from arm_interfaces.action import RunTask
from arm_interfaces.msg import TaskState

RESULT = RunTask.Result
SWING = swing(0.1)
SLOW = SWING.replace("waist: -0.4}, speed: 0.1", "waist: -1.2}, speed: 0.01")


SOON = 20.0  # [s], on a busy machine; run_task waits 30 s for the response to a request


def test_task_stops_when_a_dependency_goes_silent(start_arm):
    arm = start_arm(hardware="fake", speed="1", without=("nut_world",), composed="false")
    arm.wait_for(lambda: arm.hardware is not None and arm.joints, "the driver")
    arm.wait_for(arm.run_task.server_is_ready, "the task server")
    diagnostics = []
    arm.node.create_subscription(DiagnosticArray, "/diagnostics", diagnostics.append, 10)

    def kinematics_is_alive():
        names = [status.name for message in diagnostics for status in message.status]
        return names.count("/kinematics: solver") >= 3  # the task server may receive them later

    for what, process in (("tf", "robot_state_publisher"), ("kinematics", "kinematics")):
        handle = arm.begin(SLOW, task="")
        arm.wait_task(TaskState.RUNNING)
        diagnostics.clear()
        arm.wait_for(kinematics_is_alive, "kinematics")
        arm.group.signal(process, signal.SIGKILL)
        result = arm.result(handle)
        assert result.status == RESULT.DEPENDENCY_LOST, result.message
        assert what in result.message and "has been silent" in result.message
        assert "the arm holds where it is; it can be resumed" in result.message
        arm.wait_still()
        again = arm.run(text=SLOW, start_step=result.resume_step, dry_run=True)
        assert again.status == RESULT.SUCCESS, again.message
        arm.start_again(process)


def test_task_resumes_after_the_driver_restarts(start_arm, tmp_path):
    """The servos hold; the restarted driver reads the position from its chip.

    Before the first start, a task waits for the driver.
    """
    registers = {"sim_registers": str(tmp_path / "registers.bin")}
    arm = start_arm(speed="1", backend="i2c_dev", without=("arm_hardware",))
    arm.wait_for(arm.run_task.server_is_ready, "the task server")
    handle = arm.begin(SWING)
    arm.wait_for(lambda: arm.feedback, "feedback with the reason for waiting")
    assert arm.feedback[0].steps_total == 0
    assert arm.feedback[0].message.startswith("Waiting: no joint_states yet")
    arm.start_again("arm_hardware", **registers)
    arm.wait_task(TaskState.RUNNING, step=2)
    arm.wait_for(lambda: arm.joints["waist"] > -0.3, "the waist on its way back")
    arm.group.signal("arm_hardware", signal.SIGKILL)
    result = arm.result(handle)
    assert result.status == RESULT.HARDWARE and "servo driver is gone" in result.message
    assert result.last_step in result.message
    assert (result.can_resume, result.resume_step, result.safe_state) == (True, "3", "")
    refused = arm.run()
    assert refused.status == RESULT.NOT_READY and "servo driver is gone" in refused.message
    arm.hardware = None
    arm.start_again("arm_hardware", **registers)
    arm.wait_ready()
    arm.wait_still()
    assert -0.31 < arm.joints["waist"] < -0.03
    assert arm.result(arm.begin(SWING, start_step="3")).status == RESULT.SUCCESS
    arm.wait_for(lambda: abs(arm.joints["waist"]) < 0.02, "the end of the swing")


@pytest.fixture
def client(tmp_path):
    """Return a factory of run_task processes that execute SLOW in a new process group."""
    file = tmp_path / "slow.yaml"
    file.write_text(SLOW)

    def start():
        program = Path(get_package_prefix("arm_tasks")) / "lib" / "arm_tasks" / "run_task"
        return subprocess.Popen(
            [program, file, "--output", tmp_path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    yield from factory(start, kill)


def interrupted(child):
    """Send SIGINT as Ctrl-C does; return exit code and output."""
    os.killpg(child.pid, signal.SIGINT)
    output, _ = child.communicate(timeout=SOON)
    return child.returncode, output


def test_interrupted_client_ends_soon_with_and_without_its_server(start_arm, client):
    """It cancels on a living server, and does not wait for one that was killed or interrupted."""
    arm = start_arm(hardware="fake", speed="1", without=("nut_world",), apart=("task_server",))
    arm.wait_for(lambda: arm.hardware is not None and arm.joints, "the driver")

    def begun():
        arm.task_states.clear()
        child = client()
        arm.wait_task(TaskState.RUNNING)
        return child

    code, output = interrupted(begun())
    assert code == INTERRUPTED and "the arm holds where it is" in output, output
    arm.wait_task(TaskState.IDLE)
    arm.wait_still()

    alone = begun()
    arm.group.signal("task_server", signal.SIGKILL)
    code, output = interrupted(alone)
    assert code == INTERRUPTED and "The cancellation is not confirmed: " in output, output

    arm.group.wait(["task_server"], SOON)
    arm.start_again("task_server")
    together = begun()
    for name in arm.group.pids():
        arm.group.signal(name, signal.SIGINT)
    code, output = interrupted(together)
    assert code == INTERRUPTED and "Traceback" not in output, output


# The tick of a running task raises once for each file that a test makes.
RAISING = """
from pathlib import Path
from rclpy.node import Node

FAULT = Path({fault!r})

def create_timer(node, period, callback, *args, original=Node.create_timer, **more):
    def raising():
        if callback.__qualname__ == "TaskExecution._tick" and FAULT.exists():
            FAULT.unlink()
            raise RuntimeError("on purpose")
        callback()

    raises = getattr(callback, "__qualname__", "") == "TaskExecution._tick"
    return original(node, period, raising if raises else callback, *args, **more)

Node.create_timer = create_timer
"""


def test_task_whose_server_raises_ends_failed_and_the_arm_holds(start_arm, tmp_path, monkeypatch):
    fault = tmp_path / "fault"
    (tmp_path / "sitecustomize.py").write_text(RAISING.format(fault=str(fault)))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    arm = start_arm(hardware="fake", speed="1")
    arm.wait_ready()
    handle = arm.begin(SLOW, task="")
    arm.wait_task(TaskState.RUNNING)
    fault.touch()
    result = arm.result(handle)
    assert result.status == RESULT.FAILURE, result.message
    assert "an internal error in a callback of task_server (RuntimeError" in result.message
    assert "the arm holds where it is" in result.message
    arm.wait_still()
    again = arm.run(text=SLOW, start_step=result.resume_step, dry_run=True)
    assert again.status == RESULT.SUCCESS, again.message
