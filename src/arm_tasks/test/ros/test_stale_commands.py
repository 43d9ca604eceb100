# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Stale commands never move the arm: goals expire, and late ones are cancelled."""

import ast
import inspect
import time
from contextlib import closing
from types import SimpleNamespace

import pytest
from action_msgs.msg import GoalStatus
from arm_common.ros.actions.client import GoalClient
from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.qos import CALLS, GOAL, STREAM, service_qos
from arm_tasks.execution.ports import MoveState
from arm_tasks.ros import driver_client
from arm_tasks.ros.driver_client import (
    REASON_TIMEOUT,
    RESPONSE_TIMEOUT,
    ActionMove,
    ArmState,
    DriverClient,
)
from arm_testing.repository import repository
from arm_testing.ros.probe import Probe
from arm_testing.waiting import BOUND
from control_msgs.action import FollowJointTrajectory
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectoryPoint
from unique_identifier_msgs.msg import UUID

from arm_description import load_robot
from arm_interfaces.msg import HardwareStatus

Result = FollowJointTrajectory.Result


def calls(module, name):
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else None
            if name in (called, getattr(node.func, "id", None)):
                yield node


def sources():
    """Return the modules of the packages that programs import."""
    files = repository().glob("src/arm_*/arm_*/**/*.py")
    return [file for file in files if "arm_testing" not in file.parts]


def test_every_action_client_sends_goals_that_expire_and_name_their_client():
    modules = sources()
    assert not [call for module in modules for call in calls(module, "ActionClient")]
    assert len([call for module in modules for call in calls(module, "GoalClient")]) >= 5
    text = inspect.getsource(GoalClient)
    assert "super().__init__(node, kind, name, goal_service_qos_profile=GOAL" in text


def test_every_service_has_a_queue_for_several_clients():
    modules = sources()
    found = [call for module in modules for call in calls(module, "create_service")]
    assert len(found) >= 12
    for call in found:
        (depth,) = (k.value for k in call.keywords if k.arg == "qos_profile")
        assert ast.unparse(depth) in ("CALLS", "MANY_CALLS"), ast.unparse(call)


def test_busy_service_answers_all_calls_of_several_clients(fresh_domain):
    with closing(Probe()) as busy, closing(Probe("clients")) as many:
        busy.node.create_service(Trigger, "service", lambda _, answer: answer, qos_profile=CALLS)
        clients = [
            many.node.create_client(Trigger, "service", qos_profile=CALLS) for _ in range(2)
        ]
        for client in clients:
            many.until(client.service_is_ready)
        busy.until(lambda: busy.node.count_clients("service") == 2)
        sent = [client.call_async(Trigger.Request()) for client in clients for _ in range(20)]
        busy.until(lambda: many.executor.spin_once(0.0) or all(f.done() for f in sent), 20.0)


def test_every_trajectory_stream_expires():
    found = [
        call
        for module in sources()
        for call in calls(module, "create_publisher")
        if ast.unparse(call.args[0]) == "JointTrajectory"
    ]
    assert len(found) >= 2
    for call in found:
        assert ast.unparse(call.args[2]) == "STREAM", ast.unparse(call)


def test_goal_expires_before_its_client_gives_up():
    assert 0 < GOAL.lifespan.nanoseconds < 1e9 * RESPONSE_TIMEOUT
    assert 0 < STREAM.lifespan.nanoseconds <= 0.5e9


class QuietNode:
    """A node whose subscriptions are called by the test."""

    def create_subscription(self, kind, topic, callback, qos):
        setattr(self, topic.rpartition("/")[2], callback)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e308])
def test_joint_states_of_another_publisher_do_not_replace_those_of_the_arm(value, monkeypatch):
    node, model = QuietNode(), load_robot("nut_arm")
    state = ArmState(node, model)
    node.joint_states(JointState(name=["tail"], position=[1.0]))
    assert "joint_states has no waist" in state.positions_unknown()
    names = [*model.joint_names, *model.gripper.moving]
    whole = JointState(name=names, position=[0.01] * len(names), velocity=[0.1] * len(names))
    node.joint_states(whole)
    here, width = dict(state.positions), state.width
    assert not state.positions_unknown() and not state.still and width > 0.0
    node.joint_states(JointState(name=names, position=[value] * len(names), velocity=[1.0]))
    node.joint_states(JointState(name=["tail", "head"], position=[value, 2.0]))
    assert state.positions.items() >= here.items() and state.width == width
    assert not state.positions_unknown() and not state.still
    later = time.monotonic() + 60.0
    monkeypatch.setattr(driver_client.time, "monotonic", lambda: later)
    node.joint_states(JointState(name=["tail"], position=[1.0]))
    assert "the servo driver is gone" in state.positions_unknown()


def test_joint_states_of_another_publisher_do_not_displace_those_of_the_arm(fresh_domain):
    model, polled = load_robot("nut_arm"), PolledSubscriptions()
    with closing(Probe()) as probe:
        state = ArmState(probe.node, model, polled)
        publisher = probe.node.create_publisher(JointState, "joint_states", 1000)
        probe.until(publisher.get_subscription_count)
        publisher.publish(JointState(name=model.joint_names, position=[0.0] * model.n))
        for k in range(500):
            publisher.publish(JointState(name=["tail"], position=[float(k)]))
        assert publisher.wait_for_all_acked(Duration(seconds=BOUND))
        state.poll()
        assert not state.positions_unknown()
        assert state.positions["tail"] == 499.0


def test_driver_without_positions_is_not_called_gone():
    node, model = QuietNode(), load_robot("nut_arm")
    state = ArmState(node, model)
    names = model.joint_names
    node.joint_states(JointState(name=names, position=[0.0] * len(names)))
    state._received -= 60.0
    assert "is gone" in state.positions_unknown()
    node.status(HardwareStatus(state=HardwareStatus.UNKNOWN, message="Not armed: run it."))
    assert state.positions_unknown() == "the servo driver knows no positions: Not armed: run it"


def test_stop_request_never_expires():
    assert service_qos("task_server/stop").lifespan.nanoseconds == 0
    assert service_qos("task_server/resume").lifespan == GOAL.lifespan


class Client:
    """A client whose driver responds on accept() and end(); records cancelled goals."""

    def __init__(self):
        self.answer, self.result, self.cancels, self.sent = Future(), Future(), [], None
        self.report = None  # callback of the feedback

    def new_goal_id(self):
        return UUID()

    def send_goal_async(self, goal, feedback_callback, goal_uuid):
        self.sent, self.report = goal_uuid, feedback_callback
        return self.answer

    def _cancel_goal_async(self, handle):
        self.cancels.append(handle.goal_id)

    def accept(self, accepted=True):
        handle = SimpleNamespace(accepted=accepted, get_result_async=lambda: self.result)
        handle.cancel_goal_async = lambda: self.cancels.append(self.sent)
        self.answer.set_result(handle)

    def end(self, status, **result):
        self.result.set_result(SimpleNamespace(status=status, result=SimpleNamespace(**result)))


@pytest.fixture
def world(monkeypatch):
    made = SimpleNamespace(now=0.0, lost="", client=Client(), ends=[])
    monkeypatch.setattr(driver_client.time, "monotonic", lambda: made.now)
    made.state = SimpleNamespace(lost=lambda: made.lost, driver_message="", executing=False)
    made.reason = "the jaws open to 59 mm."
    made.state.refusal = lambda action, since: made.reason
    made.move = ActionMove(
        made.client, None, made.state, lambda: made.ends.append(made.move.poll())
    )
    return made


def test_goal_is_cancelled_if_the_driver_never_responds(world):
    world.now = RESPONSE_TIMEOUT - 0.1
    assert world.move.poll().state is MoveState.RUNNING and world.client.cancels == []
    world.now = RESPONSE_TIMEOUT + 0.1
    status = world.move.poll()
    assert status.state is MoveState.FAILED and "has not responded" in status.message
    # the driver may execute the goal although its responses are lost
    assert world.client.cancels == [world.client.sent]
    world.client.accept()
    assert world.client.cancels == [world.client.sent] * 2
    world.client.end(GoalStatus.STATUS_SUCCEEDED)
    assert world.move.poll() is status


@pytest.mark.parametrize("accepted", [True, False])
def test_end_of_a_motion_is_reported_exactly_once(world, accepted):
    world.client.accept(accepted)
    assert len(world.ends) == 1 - accepted
    world.client.end(GoalStatus.STATUS_SUCCEEDED)
    assert world.ends == [world.move.poll()]


def test_progress_of_a_trajectory_is_what_the_driver_reports(world):
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.points = [JointTrajectoryPoint()]
    goal.trajectory.points[0].time_from_start.sec = 4
    move = ActionMove(world.client, goal, world.state, lambda: None)
    assert move.poll().progress is None
    message = FollowJointTrajectory.Impl.FeedbackMessage()
    for seconds, progress in ((1, 0.25), (3, 0.75), (9, 0.99)):
        message.feedback.desired.time_from_start.sec = seconds
        world.client.report(message)
        assert (move.poll().state, move.poll().progress) == (MoveState.RUNNING, progress)
    world.client.accept()
    world.client.end(GoalStatus.STATUS_SUCCEEDED)
    world.client.report(message)
    assert move.poll().state is MoveState.SUCCEEDED


@pytest.mark.parametrize("reason", ["", "the jaws open to 59 mm."])
def test_rejection_waits_a_moment_for_its_reason(world, reason):
    world.reason, world.state.driver_message = "", "Holding."
    world.client.accept(False)
    assert world.move.poll().state is MoveState.RUNNING
    world.reason = reason
    world.now = 0.1 if reason else REASON_TIMEOUT
    expected = reason.rstrip(".") or "see its log; it reports: Holding."
    assert world.move.poll().message == expected
    assert world.move.poll().state is MoveState.REJECTED and world.ends == []


@pytest.mark.parametrize("idle", [True, False])
def test_failure_without_a_text_has_the_reason_that_the_driver_reports(world, idle):
    world.client.accept()
    world.state.executing, world.state.driver_message = (
        not idle,
        "The control loop stalled; holding.",
    )
    world.client.end(GoalStatus.STATUS_ABORTED)
    assert world.move.poll().message == ("The control loop stalled; holding." if idle else "")


@pytest.mark.parametrize(
    ("result", "state"),
    [
        ({"error_code": Result.PATH_TOLERANCE_VIOLATED}, MoveState.FAILED),
        ({"error_code": Result.GOAL_TOLERANCE_VIOLATED}, MoveState.FAILED),
        ({"error_code": Result.INVALID_GOAL}, MoveState.STOPPED),  # preempted, stopped, a fault
        ({"stalled": False}, MoveState.STOPPED),  # of a GripperCommand
        ({"stalled": True}, MoveState.FAILED),
    ],
)
def test_aborted_motion_has_failed_only_by_its_own_result(world, result, state):
    world.client.accept()
    world.client.end(GoalStatus.STATUS_ABORTED, **result)
    assert world.move.poll().state is state


def test_late_rejection_changes_nothing(world):
    world.now = RESPONSE_TIMEOUT + 0.1
    status = world.move.poll()
    world.client.accept(accepted=False)
    assert world.move.poll() is status


def test_goal_of_a_lost_driver_is_cancelled_once(world):
    world.client.accept()
    assert world.move.poll().state is MoveState.RUNNING
    world.lost = "the servo driver is gone"
    assert world.move.poll().message == "the servo driver is gone"
    assert world.client.cancels == [world.client.sent]
    world.move.cancel()
    assert world.client.cancels == [world.client.sent]


def test_goal_cancelled_before_acceptance_is_cancelled_again_after_it(world):
    world.move.cancel()
    assert world.client.cancels == [world.client.sent]  # the driver may not know the goal yet
    world.client.accept()
    assert world.client.cancels == [world.client.sent] * 2
    world.client.end(GoalStatus.STATUS_CANCELED)
    assert world.move.poll().state is MoveState.CANCELED


class Driver:
    """A driver's status, and the speed scalings that it receives."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr(driver_client, "GoalClient", lambda *_, **__: None)
        self.scalings, self.profile = [], None
        self.status = HardwareStatus(state=HardwareStatus.MOVING)
        self.client = DriverClient(self, load_robot("nut_arm"))

    def create_publisher(self, _, __, profile):
        self.profile = profile
        return SimpleNamespace(publish=lambda message: self.scalings.append(message.factor))

    def create_subscription(self, *_):
        """Messages come by report()."""

    def report(self, **status):
        for name, value in status.items():
            setattr(self.status, name, value)
        self.client._on_status(self.status)


def test_speed_scaling_expires_and_is_not_replayed_to_a_restarted_driver(monkeypatch):
    profile = Driver(monkeypatch).profile
    assert profile.durability is DurabilityPolicy.VOLATILE
    assert profile.lifespan == GOAL.lifespan


def test_scaling_of_a_lost_driver_is_restored_once_its_motion_has_ended(monkeypatch):
    driver = Driver(monkeypatch)
    driver.client.scale_speed_when_idle(0.5)
    driver.report()
    assert driver.scalings == []  # it would continue
    driver.report(state=HardwareStatus.ARMED)
    driver.report()
    assert driver.scalings == [0.5]


def test_scaling_that_a_person_set_meanwhile_is_kept(monkeypatch):
    driver = Driver(monkeypatch)
    driver.client.scale_speed_when_idle(0.5)
    driver.report(speed_scaling=0.2)
    driver.report(speed_scaling=0.0, state=HardwareStatus.ARMED)
    assert driver.scalings == []
