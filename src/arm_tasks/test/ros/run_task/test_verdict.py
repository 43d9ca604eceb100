# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A run has succeeded only if the simulated world confirms it."""

from contextlib import closing
from types import SimpleNamespace

import pytest
import rclpy
from arm_common.ros.node_runner import session
from arm_common.ros.qos import LATCHED
from arm_tasks.bringup.arguments import WORLDS
from arm_tasks.errors import TasksError
from arm_tasks.execution.engine import EngineState, TaskOutcome
from arm_tasks.planning.feasibility import check_feasibility
from arm_tasks.ros.run_task.client import TaskClient
from arm_tasks.ros.run_task.verdict import ObservedRun, judge
from arm_tasks.ros.task_messages import fill_check, fill_outcome, step_report
from arm_tasks.task.parser import load_task
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from arm_description import load_robot
from arm_interfaces.action import RunTask
from arm_interfaces.msg import NutState
from arm_interfaces.srv import CheckTask

DONE = RunTask.Result(status=RunTask.Result.SUCCESS, message="all steps were done")
FAILED = RunTask.Result(status=RunTask.Result.HARDWARE, message="the arm is gone")


def test_report_of_a_check_has_the_torque_of_each_step(request_for):
    found = check_feasibility(request_for(("move_posture: ready", "move_posture: rest")))
    response = fill_check(CheckTask.Response(), found)
    given = [(r.torque_share, r.torque_joint) for r in map(step_report, response.steps)]
    assert given == [(r.torque_share, r.torque_joint) for r in found.plan.reports]
    assert all(0.0 < share < 1.0 and joint for share, joint in given)


def nut(bolt="lower_bolt", turns=4.0, grasped=False):
    state = NutState.ON_BOLT if bolt else NutState.FALLEN
    return NutState(
        state=state, bolt=bolt, turns_engaged=turns, grasped=grasped, message="it lies there"
    )


@pytest.mark.parametrize(
    ("result", "dry_run", "state", "simulated", "good", "message"),
    [
        (DONE, False, nut(), True, True, "4.00 turns on lower_bolt"),
        (DONE, False, nut("upper_bolt"), True, False, "not where it should be"),
        (DONE, False, nut(turns=2.9), True, False, "not where it should be"),
        (DONE, False, nut(grasped=True), True, False, "not where it should be"),
        (DONE, False, nut("", 0.0), True, False, "not where it should be"),
        (DONE, False, None, True, False, "nut_world has seen nothing since the end"),
        (DONE, False, None, False, True, "the position of the nut is unknown"),
        (DONE, True, None, True, True, "all steps were done"),  # a check needs no nut
        (FAILED, False, nut(), True, False, "the arm is gone"),
    ],
)
def test_nut_must_be_where_it_is_expected(result, dry_run, state, simulated, good, message):
    verdict = judge(result, dry_run, load_task("nut_transfer"), ObservedRun(state), simulated)
    assert verdict.good is good and message in verdict.message


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_verdict_names_its_judge(world):
    """The judge is the node that publishes where nut and payloads are."""
    with session("judged"), closing(TaskClient(load_robot("nut_arm"))) as client:
        assert client.judge == ""
        node = rclpy.create_node(world.node)
        node.create_publisher(TFMessage, "payload_world/poses", LATCHED)
        client._wait(lambda: client.judge, "the judge")
        seen = ObservedRun(nut(), judge=client.judge)
        node.destroy_node()
    verdict = judge(DONE, False, load_task("nut_transfer"), seen, simulated=True)
    assert verdict.good and verdict.message.endswith(f"required (judge: {world.words})")


def test_world_that_is_not_judged_is_no_success():
    seen = ObservedRun(nut(), unjudged="not judged: an internal error")
    verdict = judge(DONE, False, load_task("nut_transfer"), seen, simulated=True)
    assert not verdict.good and verdict.message == "not judged: an internal error"


@pytest.mark.parametrize(
    ("lies_on", "simulated", "good"),
    [("pallet", True, True), ("belt", True, False), ("", True, False), (None, True, False),
     (None, False, True)],
)  # fmt: skip
def test_payload_must_lie_where_it_is_expected(lies_on, simulated, good):
    task = load_task("pick_and_place")
    assert judge(DONE, False, task, ObservedRun(lies_on=lies_on), simulated).good is good


def test_lines_must_be_as_straight_as_expected():
    task = load_task("draw_square")
    assert judge(DONE, False, task, ObservedRun(off_lines=2e-3), simulated=True).good
    verdict = judge(DONE, False, task, ObservedRun(off_lines=4e-3), simulated=True)
    off = "did not stay within 3 mm of its lines; it was off by 4.00 mm"
    assert not verdict.good and off in verdict.message


def test_task_is_not_started_if_joint_states_show_several_arms(monkeypatch):
    model = load_robot("nut_arm")
    names = [f"{arm}_{joint}" for arm in ("left", "right") for joint in model.joint_names]
    both = JointState(name=names, position=[0.0] * len(names))
    monkeypatch.setattr(TaskClient, "_wait", lambda *_: None)
    with session("several"), closing(TaskClient(model)) as client:
        client._on_joints(both)
        with pytest.raises(TasksError, match="'left_', 'right_'; choose one by --prefix"):
            client.wait_ready()
    with session("several"), closing(TaskClient(model, "right_")) as client:
        client._on_joints(both)
        client.wait_ready()
        assert len(client.postures) == 1


def test_lines_are_judged_by_the_true_joints_where_physics_publish_them():
    model = load_robot("nut_arm")
    names, positions = list(model.joint_names), {"commanded": 0.1, "true": 0.2}
    messages = {k: JointState(name=names, position=[q] * model.n) for k, q in positions.items()}
    with session("truth"), closing(TaskClient(model, has_track=True)) as client:
        client._step = 0
        client._on_joints(messages["commanded"])
        assert [float(q[0]) for _, q in client.track] == [0.1]
        client._on_true_joints(messages["true"])
        client._on_joints(messages["commanded"])
        assert [float(q[0]) for _, q in client.track] == [0.1, 0.2]
        assert len(client.postures) == 1


def test_message_of_a_task_that_can_be_resumed_is_one_sentence():
    message = "the motion failed: It stalled."
    outcome = TaskOutcome(EngineState.FAILED, message, 1, 2, "turn", 30.0, (), 1)
    report = SimpleNamespace(number="1.2")
    plan = SimpleNamespace(steps=[None, SimpleNamespace(report=report)])
    result = RunTask.Result()
    fill_outcome(result, outcome, plan)
    assert result.message == "the motion failed: It stalled; it can be resumed at step 1.2"


@pytest.mark.parametrize(
    ("seen", "message"),
    [(97.7, "nut_world is 2.3 s behind: the computer is too slow"), (0.0, "is it running")],
)
def test_world_that_is_late_is_told_from_one_that_sees_nothing(seen, message):
    stamped = nut()
    stamped.header.stamp = Time(sec=int(seen), nanosec=round(seen % 1.0 * 1e9))
    joints = JointState()
    joints.header.stamp.sec = 100
    with session(), closing(TaskClient(load_robot("nut_arm"))) as client:
        client._on_nut(stamped)
        client._on_joints(joints)
        run = ObservedRun(None, unseen=client.unseen)
    verdict = judge(DONE, False, load_task("nut_transfer"), run, True)
    assert not verdict.good and message in verdict.message
