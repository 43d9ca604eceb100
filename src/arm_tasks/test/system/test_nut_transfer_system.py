# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer by real processes, judged by nut_world; and what happens when it is broken."""

import math
import re
import signal

import pytest
from action_msgs.msg import GoalStatus
from arm_tasks.errors import SceneError, TaskFileError, resolve
from control_msgs.action import FollowJointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus, NutState
from arm_interfaces.srv import CheckTask, SolveIK

pytestmark = pytest.mark.system
RESULT = RunTask.Result
TURN = "turn"


def changed_scene(tmp_path, old, new):
    """Return the path of the shipped scene with a text replaced."""
    text = resolve("nut_transfer", "scenes", "scene", SceneError).read_text()
    assert text.count(old) == 1
    file = tmp_path / "changed.yaml"
    file.write_text(text.replace(old, new))
    return str(file)


@pytest.fixture
def start_turn(tmp_path):
    """A function that starts a nut transfer and gives its goal handle in the middle of a turn.

    The turn takes some seconds on the wall, so that it is not over before a test goes on.
    """
    text = resolve("nut_transfer", "tasks", "task", TaskFileError).read_text()
    assert text.count("bolt: upper_bolt,") == 1
    file = tmp_path / "slow.yaml"
    file.write_text(text.replace("bolt: upper_bolt,", "bolt: upper_bolt, speed: 0.1,"))

    def start(arm):
        handle = arm.send(arm.run_task, RunTask.Goal(task=str(file)))
        assert handle.accepted
        arm.wait_for(lambda: mid_turn(arm), "a turn of the nut")
        return handle

    return start


def mid_turn(arm):
    """Whether a turn of the nut is under way."""
    return bool(arm.feedback) and TURN in arm.feedback[-1].name and arm.feedback[-1].progress > 0.1


@pytest.mark.parametrize("hardware", ["sim", "fake"])
def test_the_nut_ends_on_the_lower_bolt(start_arm, hardware):
    arm = start_arm(hardware=hardware)
    arm.wait_ready()
    assert (arm.nut.state, arm.nut.bolt) == (NutState.ON_BOLT, "upper_bolt")
    result = arm.run()
    assert result.status == RESULT.SUCCESS, result.message
    assert result.steps_done == result.steps_total == len(result.report)
    arm.wait_for(lambda: arm.nut.bolt == "lower_bolt" and not arm.nut.grasped, "the nut let go")
    assert arm.nut.state == NutState.ON_BOLT
    assert arm.nut.turns_engaged >= 3.0
    assert result.worst_position_error < 1e-4
    steps = {step.name for step in result.report}
    arm.wait_for(lambda: {message.name for message in arm.feedback} == steps, "all feedback")
    codes = arm.end_processes()
    assert set(codes.values()) == {0}, codes


def test_a_bolt_out_of_reach_is_refused_before_anything_moves(shared_arm, tmp_path):
    scene = changed_scene(
        tmp_path, "xyz: [0.21974, -0.05888, 0.16043]", "xyz: [0.42, -0.06, 0.16]"
    )
    arm = shared_arm
    before = dict(arm.joints)
    result = arm.run(scene=scene)
    assert result.status == RESULT.NOT_FEASIBLE
    assert result.steps_done == 0
    refused = result.report[-1]
    assert not refused.feasible
    assert all(step.feasible for step in result.report[:-1])
    assert refused.name in result.message
    assert " mm" in result.message
    assert refused.position_error > 0.05
    assert arm.joints == before
    assert arm.nut.bolt == "upper_bolt"


def test_a_dry_run_and_check_task_move_nothing(shared_arm):
    arm = shared_arm
    before = dict(arm.joints)
    result = arm.run(dry_run=True)
    assert (result.status, result.steps_done) == (RESULT.SUCCESS, 0)
    client = arm.node.create_client(CheckTask, "check_task")
    arm.wait_for(client.service_is_ready, "check_task")
    future = client.call_async(CheckTask.Request())
    arm.wait_for(future.done, "the answer of check_task")
    assert future.result().feasible
    assert len(future.result().steps) == result.steps_total
    assert math.isclose(future.result().duration, sum(s.duration for s in result.report))
    assert arm.joints == before


def test_a_missed_grip_is_seen_by_the_world_alone(start_arm, tmp_path):
    """The task believes in its scene; the world's nut stands 12 mm farther up the bolt."""
    scene = changed_scene(tmp_path, "turns: 4.378 ", "turns: 14.0 ")
    arm = start_arm(parameters={"nut_world": {"scene": scene}})
    arm.wait_ready()
    result = arm.run()
    assert result.status == RESULT.SUCCESS  # the driver did all it was told to
    assert arm.nut.bolt == "upper_bolt"


def test_in_the_middle_of_a_turn_a_second_task_is_refused_and_cancel_holds_the_arm(
    start_arm, start_turn
):
    arm = start_arm(speed="2")
    arm.wait_ready()
    handle = start_turn(arm)
    second = arm.run()
    assert second.status == RESULT.NOT_READY
    assert re.search(r"busy with .*slow\.yaml; cancel it first", second.message)
    future = handle.cancel_goal_async()
    arm.wait_for(future.done, "the cancellation")
    result = arm.result(handle)
    assert result.status == RESULT.CANCELED
    assert "holds" in result.message
    arm.wait_still()
    held = dict(arm.joints)
    arm.wait_for(lambda: arm.nut.state == NutState.ON_BOLT_HELD, "the nut, held")
    again = arm.run(dry_run=True)
    # Where it was canceled, the jaws may be too close about the bolt to go straight to the start.
    assert again.status == RESULT.SUCCESS or "collision: " in again.message, again.message
    assert arm.joints == held


def test_a_driver_killed_in_the_middle_of_a_turn_ends_the_task(start_arm, start_turn):
    arm = start_arm(speed="2")
    arm.wait_ready()
    handle = start_turn(arm)
    arm.group.signal("arm_hardware", signal.SIGKILL)
    result = arm.result(handle)
    assert result.status == RESULT.HARDWARE
    assert "servo driver is gone" in result.message
    assert result.last_step in result.message
    refused = arm.run()
    assert refused.status == RESULT.NOT_READY
    assert "servo driver is gone" in refused.message


def test_the_stop_ends_the_task_and_latches(start_arm, start_turn):
    from std_srvs.srv import Trigger

    arm = start_arm(speed="2")
    arm.wait_ready()
    handle = start_turn(arm)
    client = arm.node.create_client(Trigger, "arm_hardware/stop")
    arm.wait_for(client.service_is_ready, "the stop service")
    future = client.call_async(Trigger.Request())
    arm.wait_for(future.done, "the answer to stop")
    result = arm.result(handle)
    assert result.status == RESULT.HARDWARE
    arm.wait_for(lambda: arm.hardware.state == HardwareStatus.STOPPED, "the latched stop")
    refused = arm.run()
    assert refused.status == RESULT.NOT_READY
    assert "not armed" in refused.message


def test_a_task_waits_for_a_driver_that_is_still_starting(start_arm):
    arm = start_arm(without=("arm_hardware",))
    arm.wait_for(arm.run_task.server_is_ready, "the task server")
    for cancel in (True, False):
        arm.feedback.clear()
        handle = arm.send(arm.run_task, RunTask.Goal())
        arm.wait_for(lambda: arm.feedback, "a word of what is waited for")
        assert arm.feedback[0].steps_total == 0
        assert arm.feedback[0].message.startswith("Waiting: no joint_states yet")
        if cancel:
            arm.wait_for(handle.cancel_goal_async().done, "the cancellation")
            assert arm.result(handle).status == RESULT.CANCELED
    arm.start_driver()
    arm.wait_for(lambda: arm.feedback[-1].steps_total, "the first step")
    arm.wait_for(handle.cancel_goal_async().done, "the cancellation")
    assert arm.result(handle).status == RESULT.CANCELED


@pytest.mark.parametrize(
    "spoil",
    [
        lambda goal: goal.trajectory.points[-1].positions.__setitem__(0, math.nan),
        lambda goal: goal.trajectory.joint_names.__setitem__(0, "wasit"),
        lambda goal: goal.trajectory.points[-1].positions.__setitem__(0, 3.0),
        lambda goal: goal.trajectory.points.clear(),
    ],
    ids=["nan", "unknown joint", "beyond its limit", "no points"],
)
def test_trajectories_that_make_no_sense_are_refused(shared_arm, spoil):
    arm = shared_arm
    before = dict(arm.joints)
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = ["waist", "shoulder", "elbow", "wrist_roll"]
    point = JointTrajectoryPoint(positions=[0.1] * 4)
    point.time_from_start.sec = 2
    goal.trajectory.points = [point]
    spoil(goal)
    assert not arm.send(arm.follow, goal).accepted
    assert arm.joints == before
    assert arm.hardware.state == HardwareStatus.ARMED


@pytest.mark.parametrize(
    ("goal", "status", "words"),
    [
        ({"task": "nut_trasnfer"}, RESULT.BAD_REQUEST, "nut_transfer"),
        ({"scene": "/nowhere.yaml"}, RESULT.BAD_REQUEST, "/nowhere.yaml"),
        ({"start_step": 10_000}, RESULT.BAD_REQUEST, "no step 10000"),
        ({"start_step": 30}, RESULT.BAD_REQUEST, "begins elsewhere"),
    ],
)
def test_goals_that_make_no_sense_get_a_sentence(shared_arm, goal, status, words):
    before = dict(shared_arm.joints)
    result = shared_arm.run(**goal)
    assert result.status == status
    assert words in result.message
    assert "\n" not in result.message
    assert shared_arm.joints == before


def test_inverse_kinematics_answers_beside_the_task(shared_arm):
    """A target in a frame of the scene, solved from the present joint states."""
    arm = shared_arm
    client = arm.node.create_client(SolveIK, "kinematics/solve_ik")
    arm.wait_for(client.service_is_ready, "solve_ik")
    request = SolveIK.Request(mode=SolveIK.Request.POSITION)
    request.target.header.frame_id = "upper_bolt"
    request.target.pose.orientation.w = 1.0
    request.timeout.sec = 60

    def ask():
        future = client.call_async(request)
        arm.wait_for(future.done, "the answer of solve_ik")
        return future.result()

    def has_heard():
        return ask().status not in (SolveIK.Response.NOT_READY, SolveIK.Response.NO_TRANSFORM)

    arm.wait_for(has_heard, "kinematics to know robot and scene")
    answer = ask()
    assert answer.status == SolveIK.Response.SUCCESS, answer.message
    position = answer.solutions[0].achieved.pose.position
    assert math.dist((position.x, position.y, position.z), (0.16070, 0.04306, 0.18460)) < 2e-5
    request.target.header.frame_id = "upper_blot"
    answer = ask()
    assert answer.status == SolveIK.Response.NO_TRANSFORM
    assert "upper_bolt" in answer.message


def test_the_goal_status_of_a_success_is_succeeded(shared_arm):
    handle = shared_arm.send(shared_arm.run_task, RunTask.Goal(dry_run=True))
    future = handle.get_result_async()
    shared_arm.wait_for(future.done, "the result")
    assert future.result().status == GoalStatus.STATUS_SUCCEEDED
