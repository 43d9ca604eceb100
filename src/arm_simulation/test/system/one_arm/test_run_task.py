# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task over ROS on a running arm: checked, paused, stopped, canceled, resumed; branches."""

import math
import os
import re
import signal
import subprocess
import sys

import pytest
from arm_common.ros.message_conversions import transform_message
from arm_common.ros.qos import LATCHED
from arm_common.transforms import inverse, pose
from arm_tasks.errors import SceneError, resolve
from arm_tasks.ros.client.task_goal import file_messages
from arm_tasks.task.sending import files_of
from arm_testing.arms.plans import MEASURE
from arm_testing.programs.processes import kill, start_python
from arm_testing.programs.terminal import PtyProgram
from arm_testing.ros.stack import seconds, swing
from builtin_interfaces.msg import Time
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from arm_description import load_robot
from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus, NutState, TaskState
from arm_interfaces.srv import CheckTask, TouchBolt
from arm_kinematics import Chain

RESULT = RunTask.Result
SWING = swing(0.02)
LOOKS = """
task: looks
defaults: {speed: 1}
steps:
  - if:
      when: {nut_on: upper_bolt, turns: 4, nut_held: false}
      then: [{move_joints: {name: it is there, joints_deg: {waist: 10}}}]
      else: [{move_joints: {name: it is gone, joints_deg: {waist: -10}}}]
  - until:
      when: {gripper_above_mm: 15}
      at_most: 2
      steps: [{open: {name: open again, width_mm: 20}}]
  - pause_for_person: look at it
  - move_posture: rest
  - until: {when: {nut_on: lower_bolt}, at_most: 1, steps: [{wait: 0.1}]}
"""

ABSURD = {
    "move_linear: {xyz: [250, 0, 120], orientation: any}": "is `_mm` missing?",
    "retreat: {distance: 300}": "is `_mm` missing?",
    "turn: {angle_deg: 1e9}": "no angle may exceed 10 turns",
    "move_pose: {xyz: [0.2, 0, 0.1], axis: [1e300, 1e300, 0]}": "not with this orientation",
    "move_posture: {posture: rest, speed: 1e-300}": "must be from 0.001 to 1",
    "play: /etc/passwd": "the task:3: step play: /etc/passwd: there is no such file",
}
SEEN = """
task: pick_what_is_seen
steps:
  - move_joints: {joints: {waist: 0.2}}
  - find_frame: {frame: part, timeout: 600}
  - move_linear: {frame: part, xyz_mm: [0, 0, -5], orientation: any}
"""


def has_left(arm):
    return arm.joints["waist"] < -0.1


PROGRAM = """
from arm_tasks.client import Arm
with Arm() as arm:
    print("connected", flush=True)
    while input() == "move":
        arm.later.move_joints({"waist": -1.2}, speed=0.001)
"""


@pytest.fixture
def programs(arm):
    """Two programs with an Arm each; killed at the end."""
    started = [start_python("-c", PROGRAM, stdin=subprocess.PIPE) for _ in range(2)]
    assert [program.stdout.readline() for program in started] == ["connected\n"] * 2
    yield started
    for program in started:
        kill(program)


def test_killed_program_ends_its_own_motion_and_nobody_elses(arm, programs):
    owner, other = programs
    owner.stdin.write("move\n")
    owner.stdin.flush()
    arm.wait_task(TaskState.RUNNING)
    arm.wait_for(lambda: has_left(arm), "the waist on its way")
    other.kill()
    seen = arm.joints["waist"]
    arm.wait_for(lambda: arm.joints["waist"] < seen - 0.25, "the motion that goes on")
    owner.kill()
    state = arm.wait_task(TaskState.IDLE)
    assert "client of the goal has gone" in state.message
    arm.wait_still()
    assert arm.joints["waist"] > -1.15


@pytest.fixture
def far_scene(tmp_path):
    text = resolve("nut_transfer", "scenes", "scene", SceneError).read_text()
    far = text.replace("xyz: [0.21974, -0.05888, 0.16043]", "xyz: [0.42, -0.06, 0.16]")
    assert far != text
    file = tmp_path / "far.yaml"
    file.write_text(far)
    return str(file)


def test_unreachable_bolt_is_refused_before_anything_moves(arm, far_scene):
    before = dict(arm.joints)
    result = arm.run(scene=far_scene, files=file_messages(files_of("", far_scene)))
    assert (result.status, result.steps_done) == (RESULT.NOT_FEASIBLE, 0)
    refused = result.report[-1]
    assert not refused.feasible and refused.position_error > 0.05
    assert all(step.feasible for step in result.report[:-1])
    assert refused.name in result.message and " mm" in result.message
    assert arm.joints == before


def test_dry_run_and_check_task_move_nothing(arm):
    before = dict(arm.joints)
    result = arm.run(text=SWING, dry_run=True)
    assert (result.status, result.steps_done) == (RESULT.SUCCESS, 0)
    client = arm.node.create_client(CheckTask, "check_task")
    checked = arm.request(client, CheckTask.Request(text=SWING))
    assert checked.feasible and len(checked.steps) == result.steps_total
    assert math.isclose(checked.duration, sum(s.duration for s in result.report))
    assert arm.joints == before


def test_absurd_requests_leave_a_running_task_alone(arm):
    goal = RunTask.Goal(task="long", text=f"{swing(0.002)}  - wait: 3600\n")
    handle = arm.send(arm.run_task, goal)
    arm.wait_for(lambda: arm.joints["waist"] < -0.02, "the waist on its way")
    client = arm.node.create_client(CheckTask, "check_task")
    for step, why in ABSURD.items():
        text = f"task: t\nsteps:\n  - {step}\n"
        checked = arm.request(client, CheckTask.Request(text=text))
        assert not checked.feasible and why in checked.message, (step, checked.message)
        assert "root:" not in checked.message
        assert "busy with" in arm.run(text=text).message
    assert arm.trigger("task_server/stop").success  # only a running task can be stopped
    assert arm.result(handle).status == RESULT.CANCELED


def test_arm_holds_while_the_nut_is_not_seen(arm):
    """The simulated world is frozen for a while; the arm moves on when it sees again."""
    goal = RunTask.Goal(task="swing", text=swing(0.002))
    handle = arm.send(arm.run_task, goal)
    arm.wait_for(lambda: arm.joints["waist"] < -0.02, "the waist on its way")
    arm.freeze("nut_world")
    try:
        before = seconds(arm.states.header.stamp)
        state = arm.wait_task(TaskState.PAUSED)
        assert "nut_world does not see the arm" in state.message
        assert seconds(arm.states.header.stamp) - before < 36.0  # 3 s of wall time
        arm.wait_still()
        assert -0.39 < arm.joints["waist"] < -0.02
    finally:
        arm.group.signal("nut_world", signal.SIGCONT)
    arm.wait_task(TaskState.RUNNING)
    assert arm.trigger("task_server/stop").success
    assert arm.result(handle).can_resume


def test_interrupted_behaviour_stops_the_arm_before_the_next_one_moves_it(arm, tmp_path):
    pytest.importorskip("py_trees", reason="py_trees is not installed")
    from arm_tasks.client import Arm, TaskBehaviour
    from py_trees.common import Status

    file = tmp_path / "swing.yaml"
    file.write_text(swing(0.002))
    home = tmp_path / "home.yaml"
    home.write_text("task: home\nsteps:\n  - move_joints: {joints: {waist: 0.0}}\n")
    with Arm(arm.node) as client:
        first, second = (TaskBehaviour(f.stem, str(f), arm=client) for f in (file, home))

        def is_moving():
            first.tick_once()
            return arm.joints["waist"] < -0.02 and "moving waist" in first.feedback_message

        arm.wait_for(is_moving, "the waist")
        assert first.status is Status.RUNNING
        first.stop(Status.INVALID)
        arm.wait_for(lambda: second.tick_once() or second.status is not Status.RUNNING, "its end")
    assert (second.status, second.feedback_message) == (
        Status.SUCCESS,
        "all steps of home were done",
    )
    arm.wait_for(lambda: abs(arm.joints["waist"]) < 0.02, "the waist back")


def test_task_goes_to_a_part_that_a_camera_sees(arm):
    """What was seen before the arm came to rest does not count; what follows is planned then."""
    chain = Chain.from_model(load_robot("nut_arm"))
    camera = pose(p=(0.1, 0.2, 0.4))
    part = pose(p=tuple(chain.fk([0.3, 0.4, -0.8, 0.0])[:3, 3]))
    frames = arm.node.create_publisher(TFMessage, "/tf", 10)

    def see(stamp):
        found = inverse(camera) @ part
        sent = [("base_link", "camera", camera), ("camera", "part", found)]
        frames.publish(TFMessage(transforms=[transform_message(*f, stamp) for f in sent]))

    assert "planned when it is found" in arm.run(text=SEEN, dry_run=True).message
    see(Time(sec=1))
    handle = arm.send(arm.run_task, RunTask.Goal(task="seen", text=SEEN))
    state = arm.wait_task(TaskState.RUNNING, step=1)
    assert "looking for part" in state.message
    see(Time(sec=1))
    arm.wait_still()
    assert abs(arm.joints["waist"] - 0.2) < 0.02
    arm.wait_for(
        lambda: see(arm.states.header.stamp) or any(f.step > 1 for f in arm.feedback), "the part"
    )
    result = arm.result(handle)
    assert (result.status, result.steps_done) == (RESULT.SUCCESS, 3), result.message
    arm.wait_still()
    tool = chain.fk([arm.joints[name] for name in chain.joint_names])[:3, 3]
    goal = part[:3, 3] - [0.0, 0.0, 0.005]
    assert math.dist(tool, goal) < 2e-3


@pytest.mark.thorough
def test_click_tells_where_a_thread_starts(arm):
    """Who hears the click is nut_world; at the pace of this arm it turns 48 degrees a second."""
    client = arm.node.create_client(TouchBolt, "teach/touch_bolt")
    click = TouchBolt.Request(bolt="lower_bolt", action=TouchBolt.Request.CLICK)
    write = TouchBolt.Request(bolt="lower_bolt", action=TouchBolt.Request.WRITE_THREAD)
    assert "no nut has clicked on lower_bolt yet" in arm.request(client, write).message
    answer = arm.request(client, click)
    assert not answer.success and "run a task with the step find_thread" in answer.message
    text = MEASURE.replace("upper_bolt", "{bolt: upper_bolt, pull_off_turns: 1}")
    handle = arm.begin(text.replace("search_mm: 1, around_deg: 0", "around_deg: -110"), "measure")
    arm.wait_for(lambda: arm.nut.message.startswith("clicks on lower_bolt"), "the click")
    answer = arm.request(client, click)
    assert answer.success, answer.message
    assert abs(math.degrees(answer.thread_start) + 120.0) < 20.0, answer.message
    assert "end it before changing the scene" in arm.request(client, write).message
    assert arm.result(handle).status == RESULT.SUCCESS
    assert "is shipped and cannot be changed; copy it" in arm.request(client, write).message


def test_another_client_continues_a_task_by_its_name(arm):
    """As the page does, which has neither the text nor the files of the task."""
    steps = []
    arm.node.create_subscription(
        String, "task_server/resume_step", lambda m: steps.append(m.data), LATCHED
    )
    text = "task: t\nsteps:\n  - wait: 0.01\n" + SWING.partition("steps:\n")[2]
    goal = RunTask.Goal(task="mine", text=text.replace("0.02", "0.3"), single_step=True)
    handle = arm.send(arm.run_task, goal)
    arm.wait_task(TaskState.PAUSED)
    assert arm.trigger("task_server/step").success
    arm.wait_task(TaskState.PAUSED, step=1)
    assert arm.trigger("task_server/stop").success
    result = arm.result(handle)
    assert result.can_resume and result.resume_step == "2", result.message
    arm.wait_for(lambda: steps and steps[-1] == result.resume_step, "the step to continue at")
    result = arm.run(task="mine", start_step=result.resume_step)
    assert result.status == RESULT.SUCCESS, result.message
    arm.wait_for(lambda: steps[-1] == "", "nothing to continue")


def test_pause_step_resume_and_stop(arm):
    for name in ("pause", "resume", "step", "stop"):
        answer = arm.trigger(f"task_server/{name}")
        assert (answer.success, answer.message) == (False, "no task is running")
    handle = arm.begin(SWING)
    arm.wait_for(lambda: has_left(arm), "the waist on its way")
    assert arm.trigger("task_server/pause").success
    state = arm.wait_task(TaskState.PAUSED)
    assert (state.number, state.steps_total, state.name, state.task) == ("1", 3, "there", "swing")
    arm.wait_still()
    assert -0.39 < arm.joints["waist"] < -0.1
    # The driver's motion is paused by its speed scaling, and still active.
    assert arm.hardware.speed_scaling == 0.0
    assert arm.hardware.state == HardwareStatus.MOVING and "Paused" in arm.hardware.message
    assert arm.trigger("task_server/step").success
    arm.wait_for(lambda: arm.hardware.speed_scaling == 1.0, "the scaling before the pause")
    arm.wait_task(TaskState.PAUSED, step=1)
    arm.wait_for(lambda: abs(arm.joints["waist"] + 0.4) < 0.02, "the end of the step")
    assert arm.trigger("task_server/resume").success
    arm.wait_for(lambda: arm.joints["waist"] > -0.3, "the waist on its way back")
    assert arm.trigger("task_server/stop").success
    result = arm.result(handle)
    assert result.status == RESULT.CANCELED
    assert result.can_resume and result.resume_step == "3"
    assert result.safe_state == RESULT.CLEAR
    state = arm.wait_task(TaskState.IDLE)
    assert state.message == result.message and "it can be resumed at step 3" in result.message
    arm.wait_still()
    handle = arm.begin(SWING, start_step=result.resume_step, single_step=True)
    state = arm.wait_task(TaskState.PAUSED, step=2)
    assert state.message.startswith("paused")
    assert arm.trigger("task_server/resume").success
    result = arm.result(handle)
    assert result.status == RESULT.SUCCESS, result.message
    assert not result.can_resume
    arm.wait_for(lambda: abs(arm.joints["waist"]) < 0.02, "the end of the swing")


def test_second_task_is_rejected_and_cancel_holds_the_arm(arm):
    handle = arm.begin(SWING)
    arm.wait_for(lambda: has_left(arm), "the waist on its way")
    second = arm.run()
    assert second.status == RESULT.NOT_READY
    assert re.search(r"busy with .*swing.*; cancel it first", second.message)
    future = handle.cancel_goal_async()
    arm.wait_for(future.done, "the cancellation")
    result = arm.result(handle)
    assert result.status == RESULT.CANCELED and "holds" in result.message
    arm.wait_still()
    held = dict(arm.joints)
    assert arm.run(text=SWING, dry_run=True).status == RESULT.SUCCESS
    assert arm.joints == held


def test_stop_ends_the_task_and_latches(arm):
    handle = arm.begin(SWING)
    arm.wait_for(lambda: has_left(arm), "the waist on its way")
    assert arm.trigger("arm_hardware/stop").success
    assert arm.result(handle).status == RESULT.HARDWARE
    arm.wait_for(lambda: arm.hardware.state == HardwareStatus.STOPPED, "the latched stop")
    refused = arm.run()
    assert refused.status == RESULT.NOT_READY and "not armed" in refused.message


def test_run_branches_on_observations_and_waits_for_a_person(arm):
    handle = arm.send(arm.run_task, RunTask.Goal(task="looks", text=LOOKS))
    arm.wait_for(lambda: any("look at it" in f.message for f in arm.feedback), "the pause")
    arm.wait_for(lambda: arm.trigger("task_server/resume").success, "the run to go on")
    result = arm.result(handle)
    names = [feedback.name for feedback in arm.feedback]
    assert any(name.startswith("it is there") for name in names)
    assert not any(name.startswith("it is gone") for name in names)
    assert any("open again" in name and "1 of at most 2" in name for name in names)
    assert not any("2 of at most 2" in name for name in names)
    assert result.status == RESULT.HARDWARE  # the last condition does not hold
    assert "it does not hold that the nut is on lower_bolt" in result.message
    assert arm.nut.state == NutState.ON_BOLT and arm.nut.bolt == "upper_bolt"
    arm.wait_for(lambda: abs(arm.joints["waist"]) < 0.01, "rest")


@pytest.mark.thorough
def test_start_step_is_rejected_if_the_nut_is_elsewhere(arm):
    """The arm is where the last step starts, but the nut was never transferred."""
    last = arm.run(dry_run=True).report[-1]
    ready = "task: r\nsteps:\n  - move_posture: ready\n  - open: {width_mm: 28}\n"
    assert arm.run(text=ready).status == RESULT.SUCCESS
    arm.wait_still()
    before = dict(arm.joints)
    result = arm.run(start_step=last.number)
    assert result.status == RESULT.BAD_REQUEST and result.steps_done == 0
    assert f"step {last.number}, {last.name}, needs the nut on lower_bolt" in result.message
    assert "it is on upper_bolt" in result.message
    assert arm.joints == before


def test_run_task_is_controlled_by_keys(arm, tmp_path):
    task = tmp_path / "swing.yaml"
    task.write_text(SWING)
    main = "from arm_tasks.commands.entry_points import run_task; exit(run_task())"
    with PtyProgram(
        *(sys.executable, "-c", main, str(task), "--output", str(tmp_path), "--single-step"),
        environment=dict(os.environ),
    ) as program:
        program.wait_for("Keys: space pauses and resumes, s does one step")
        program.wait_for("[1   ] paused: ready for the first step")
        program.type("s")
        program.wait_for("[2   ] paused: step 1 is done")
        program.type("x")
        program.wait_for("Keys: space")
        program.type(" ")
        program.wait_for("Done: all steps of swing were done")
        assert program.end() == 0
    arm.wait_for(lambda: abs(arm.joints["waist"]) < 0.02, "the end of the swing")
