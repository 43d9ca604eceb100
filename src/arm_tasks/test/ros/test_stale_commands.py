# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Stale commands never move the arm: goals expire, and late ones are cancelled."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest
from action_msgs.msg import GoalStatus
from arm_common.ros.qos import GOAL, STREAM, service_qos
from arm_tasks.execution.ports import MoveState
from arm_tasks.ros import driver_client
from arm_tasks.ros.driver_client import RESPONSE_TIMEOUT, ActionMove
from rclpy.task import Future

SOURCES = Path(__file__).resolve().parents[3]
MODULES = [m for m in SOURCES.glob("arm_*/arm_*/**/*.py") if "ActionClient(" in m.read_text()]


def calls(module, name):
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else None
            if name in (called, getattr(node.func, "id", None)):
                yield node


def test_every_client_of_an_action_sends_goals_that_expire():
    found = [call for module in MODULES for call in calls(module, "ActionClient")]
    assert len(found) >= 5
    for call in found:
        qos = {k.arg: ast.unparse(k.value) for k in call.keywords}
        assert qos.get("goal_service_qos_profile") == "GOAL", ast.unparse(call)


def test_every_stream_of_trajectories_expires():
    found = [
        call
        for module in SOURCES.glob("arm_*/arm_*/**/*.py")
        for call in calls(module, "create_publisher")
        if ast.unparse(call.args[0]) == "JointTrajectory"
    ]
    assert len(found) >= 2
    for call in found:
        assert ast.unparse(call.args[2]) == "STREAM", ast.unparse(call)


def test_a_goal_expires_before_its_client_gives_it_up():
    assert 0 < GOAL.lifespan.nanoseconds < 1e9 * RESPONSE_TIMEOUT
    assert 0 < STREAM.lifespan.nanoseconds <= 0.5e9


def test_a_stop_never_expires():
    assert service_qos("run_task/stop").lifespan.nanoseconds == 0
    assert service_qos("run_task/resume").lifespan == GOAL.lifespan


class Client:
    """A client whose driver responds on accept() and end(); records cancelled goals."""

    def __init__(self):
        self.answer, self.result, self.cancels, self.sent = Future(), Future(), [], None

    def send_goal_async(self, goal, goal_uuid):
        self.sent = goal_uuid
        return self.answer

    def _cancel_goal_async(self, handle):
        self.cancels.append(handle.goal_id)

    def accept(self, accepted=True):
        handle = SimpleNamespace(accepted=accepted, get_result_async=lambda: self.result)
        handle.cancel_goal_async = lambda: self.cancels.append(self.sent)
        self.answer.set_result(handle)

    def end(self, status):
        self.result.set_result(SimpleNamespace(status=status, result=SimpleNamespace()))


@pytest.fixture
def world(monkeypatch):
    made = SimpleNamespace(now=0.0, lost="", client=Client(), ends=[])
    monkeypatch.setattr(driver_client.time, "monotonic", lambda: made.now)
    state = SimpleNamespace(lost=lambda: made.lost, driver_message="")
    made.move = ActionMove(made.client, None, state, lambda: made.ends.append(made.move.poll()))
    return made


def test_a_driver_that_never_responds_fails_the_motion_and_its_goal_is_cancelled(world):
    world.now = RESPONSE_TIMEOUT - 0.1
    assert world.move.poll().state is MoveState.RUNNING and world.client.cancels == []
    world.now = RESPONSE_TIMEOUT + 0.1
    status = world.move.poll()
    assert status.state is MoveState.FAILED and "has not answered" in status.message
    # it may execute the goal, and its responses be lost
    assert world.client.cancels == [world.client.sent]
    world.client.accept()
    assert world.client.cancels == [world.client.sent] * 2
    world.client.end(GoalStatus.STATUS_SUCCEEDED)
    assert world.move.poll() is status


@pytest.mark.parametrize("accepted", [True, False])
def test_the_end_of_a_motion_is_reported_at_once_and_once(world, accepted):
    world.client.accept(accepted)
    assert len(world.ends) == 1 - accepted
    world.client.end(GoalStatus.STATUS_SUCCEEDED)
    assert world.ends == [world.move.poll()]


def test_a_late_rejection_changes_nothing(world):
    world.now = RESPONSE_TIMEOUT + 0.1
    status = world.move.poll()
    world.client.accept(accepted=False)
    assert world.move.poll() is status


def test_the_goal_of_a_lost_driver_is_cancelled_once(world):
    world.client.accept()
    assert world.move.poll().state is MoveState.RUNNING
    world.lost = "the servo driver is gone"
    assert world.move.poll().message == "the servo driver is gone"
    assert world.client.cancels == [world.client.sent]
    world.move.cancel()
    assert world.client.cancels == [world.client.sent]


def test_a_goal_cancelled_before_it_was_accepted_is_cancelled_again_then(world):
    world.move.cancel()
    assert world.client.cancels == [world.client.sent]  # which may not reach the driver yet
    world.client.accept()
    assert world.client.cancels == [world.client.sent] * 2
    world.client.end(GoalStatus.STATUS_CANCELED)
    assert world.move.poll().state is MoveState.CANCELED
