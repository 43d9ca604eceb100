# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task that is paused, stepped, stopped, or loses what it needs, over real DDS; and goes on."""

import os
import re
import signal
import sys

import pytest
from arm_testing.terminal import PtyProgram
from diagnostic_msgs.msg import DiagnosticArray
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.msg import TaskState

pytestmark = pytest.mark.system
RESULT = RunTask.Result
# Motions clear of the bolts, slow enough to be met on their way.
SWING = """\
task: swing
steps:
  - move_joints: {name: there, joints: {waist: -0.4}, speed: 0.1}
  - open: {width_mm: 20}
  - move_joints: {name: back, joints: {waist: 0.0}, speed: 0.1}
"""
PROCESS = {"tf": "robot_state_publisher", "kinematics": "kinematics"}


class Controls:
    """The services beside run_task, and what is told of the task."""

    def __init__(self, arm):
        self.arm, self.states = arm, []
        self.clients = {
            name: arm.node.create_client(Trigger, f"run_task/{name}")
            for name in ("pause", "resume", "step", "stop")
        }
        arm.node.create_subscription(TaskState, "run_task/state", self.states.append, 50)
        for client in self.clients.values():
            arm.wait_for(client.service_is_ready, client.srv_name)

    def ask(self, name):
        future = self.clients[name].call_async(Trigger.Request())
        self.arm.wait_for(future.done, f"the answer of {name}")
        return future.result()

    def wait(self, state, **fields):
        def there():
            last = self.states[-1] if self.states else None
            return (
                last is not None
                and last.state == state
                and all(getattr(last, key) == value for key, value in fields.items())
            )

        self.arm.wait_for(there, f"state {state} {fields}")
        return self.states[-1]


def swing(arm, **options):
    handle = arm.send(arm.run_task, RunTask.Goal(task="swing", text=SWING, **options))
    assert handle.accepted
    return handle


def on_its_way(arm, low=0.1):
    return arm.joints["waist"] < -low


def test_pause_step_resume_and_stop(start_arm):
    arm = start_arm(hardware="fake")
    arm.wait_ready()
    controls = Controls(arm)
    for name in controls.clients:
        answer = controls.ask(name)
        assert (answer.success, answer.message) == (False, "no task runs")
    handle = swing(arm)
    arm.wait_for(lambda: on_its_way(arm), "the waist on its way")
    assert controls.ask("pause").success
    told = controls.wait(TaskState.PAUSED)
    assert (told.step, told.steps_total, told.name, told.task) == (0, 3, "there", "swing")
    arm.wait_still()
    held = dict(arm.joints)
    assert -0.39 < held["waist"] < -0.1
    assert controls.ask("step").success
    controls.wait(TaskState.PAUSED, step=1)
    arm.wait_for(lambda: abs(arm.joints["waist"] + 0.4) < 0.02, "the end of the step")
    assert controls.ask("resume").success
    arm.wait_for(lambda: arm.joints["waist"] > -0.3, "the waist on its way back")
    assert controls.ask("stop").success
    result = arm.result(handle)
    assert result.status == RESULT.CANCELED
    assert result.can_resume and result.resume_step == 2
    assert result.safe_state == RESULT.CLEAR
    told = controls.wait(TaskState.IDLE)
    assert told.message == result.message and "give start step 2" in result.message
    arm.wait_still()
    handle = swing(arm, start_step=result.resume_step, single_step=True)
    told = controls.wait(TaskState.PAUSED, step=2)
    assert told.message.startswith("paused")
    assert controls.ask("resume").success
    result = arm.result(handle)
    assert result.status == RESULT.SUCCESS, result.message
    assert not result.can_resume
    assert arm.joints["waist"] == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("what", ["tf", "kinematics"])
def test_what_falls_silent_stops_the_task_and_it_can_be_resumed(start_arm, what):
    arm = start_arm(hardware="fake", speed="1")
    arm.wait_ready()
    heard = []
    arm.node.create_subscription(DiagnosticArray, "/diagnostics", heard.append, 10)
    slow = SWING.replace("waist: -0.4}, speed: 0.1", "waist: -1.2}, speed: 0.01")
    controls = Controls(arm)
    handle = arm.send(arm.run_task, RunTask.Goal(text=slow))
    controls.wait(TaskState.RUNNING)
    heard.clear()

    def kinematics_speaks():
        names = [status.name for message in heard for status in message.status]
        return names.count("kinematics: solver") >= 3  # the task server may hear later than we

    arm.wait_for(kinematics_speaks, "kinematics")
    arm.group.signal(PROCESS[what], signal.SIGKILL)
    result = arm.result(handle)
    assert result.status == RESULT.LOST, result.message
    assert what in result.message and "fell silent" in result.message
    assert "the arm holds where it is; to go on" in result.message
    arm.wait_still()
    again = arm.run(text=slow, start_step=result.resume_step, dry_run=True)
    assert again.status == RESULT.SUCCESS, again.message


def test_a_driver_that_was_lost_and_came_back_goes_on(start_arm, tmp_path):
    """The servos hold; the driver that starts again takes the arm to be where its chip says."""
    registers = {"sim_registers": str(tmp_path / "registers.bin")}
    arm = start_arm(speed="1", parameters={"arm_hardware": registers})
    arm.wait_ready()
    controls = Controls(arm)
    handle = swing(arm)
    controls.wait(TaskState.RUNNING, step=2)
    arm.wait_for(lambda: arm.joints["waist"] > -0.3, "the waist on its way back")
    arm.group.signal("arm_hardware", signal.SIGKILL)
    result = arm.result(handle)
    assert result.status == RESULT.HARDWARE and "servo driver is gone" in result.message
    assert (result.can_resume, result.resume_step, result.safe_state) == (True, 2, "")
    arm.hardware = None
    arm.start_driver(**registers)
    arm.wait_ready()
    arm.wait_still()
    assert -0.31 < arm.joints["waist"] < -0.03
    again = swing(arm, start_step=2)
    assert arm.result(again).status == RESULT.SUCCESS
    assert arm.joints["waist"] == pytest.approx(0.0, abs=0.02)


def test_a_nut_that_is_not_as_the_step_needs_it_is_said(start_arm):
    """The arm stands where the last step but one begins, but the nut was never transferred."""
    arm = start_arm()
    arm.wait_ready()
    steps = arm.run(dry_run=True).report
    last = len(steps) - 1
    ready = "task: r\nsteps:\n  - move_posture: ready\n  - open: {width_mm: 15}\n"
    assert arm.run(text=ready).status == RESULT.SUCCESS
    said = arm.run(start_step=last).message
    width = re.search(r"begins with the jaws at ([0-9.]+) mm", said)[1]
    assert arm.run(text=ready.replace("15", width)).status == RESULT.SUCCESS
    arm.wait_still()
    result = arm.run(start_step=last)
    assert result.status == RESULT.BAD_REQUEST
    assert "needs the nut on lower_bolt" in result.message
    assert "it is on upper_bolt" in result.message


def test_run_task_takes_keys(start_arm, tmp_path):
    arm = start_arm(hardware="fake", speed="1")
    arm.wait_ready()
    task = tmp_path / "swing.yaml"
    task.write_text(SWING)
    program = PtyProgram(
        *(
            sys.executable,
            "-c",
            "from arm_tasks.commands.entry_points import run_task; exit(run_task())",
        ),
        *(str(task), "--output", str(tmp_path), "--single-step"),
        environment=dict(os.environ),
    )
    try:
        program.wait_for("Keys: space pauses and goes on, s does one step")
        program.wait_for("[  1/3] paused: ready for the first step")
        program.type("s")
        program.wait_for("[  2/3] paused: step 1 is done")
        program.type("x")
        program.wait_for("Keys: space")
        program.type(" ")
        program.wait_for("Done: all steps of swing were done")
        assert program.end() == 0
    finally:
        program.close()
    assert arm.joints["waist"] == pytest.approx(0.0, abs=0.02)
