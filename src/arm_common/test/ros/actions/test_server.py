# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An action server keeps few finished goals, and of those no request."""

import threading
import time
from contextlib import closing

import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from arm_common.ros.actions import server
from arm_common.ros.actions.client import GoalClient
from arm_testing.ros.probe import Probe
from arm_testing.waiting import wait_for
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.action import client as action_client
from rclpy.qos import qos_profile_action_status_default
from trajectory_msgs.msg import JointTrajectoryPoint
from unique_identifier_msgs.msg import UUID

GOALS, POINTS, TIMEOUT = 40, 200, 0.3


@pytest.fixture
def probe(monkeypatch):
    monkeypatch.setattr(server, "RESULT_TIMEOUT", TIMEOUT)
    with closing(Probe()) as probe:
        yield probe


class Server:
    """A server of trajectories, with its client in the same node."""

    def __init__(self, probe, execute=None):
        self.probe, self.requests, self.listed = probe, [], []
        kind = FollowJointTrajectory
        self.server = server.action_server(probe.node, kind, "follow", execute or self._execute)
        self.client = ActionClient(probe.node, kind, "follow")
        probe.node.create_subscription(
            GoalStatusArray,
            "follow/_action/status",
            lambda message: self.listed.append(len(message.status_list)),
            qos_profile_action_status_default,
        )
        probe.until(self.client.server_is_ready)

    def _execute(self, handle):
        self.requests.append(handle.request)
        assert len(handle.request.trajectory.points) == POINTS
        handle.succeed()
        return FollowJointTrajectory.Result(error_string="done")

    def send(self, **more):
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.points = [JointTrajectoryPoint(positions=[0.0] * 4)] * POINTS
        return self.client.send_goal_async(goal, **more)

    def run(self):
        return self.finish(self.send())

    def finish(self, sent):
        self.probe.until(sent.done)
        result = sent.result().get_result_async()
        self.probe.until(result.done)
        return result.result()


def test_a_finished_goal_gives_up_its_request_and_keeps_its_result(probe):
    server = Server(probe)
    assert server.run().result.error_string == "done"
    assert server.requests[0] == FollowJointTrajectory.Goal()


def test_a_failed_goal_gives_up_its_request(probe, capfd):
    requests = []

    def fail(handle):
        requests.append(handle.request)
        raise KeyError("wrong")

    assert Server(probe, fail).run().status == GoalStatus.STATUS_ABORTED
    assert requests[0] == FollowJointTrajectory.Goal()
    assert "wrong" in capfd.readouterr().err


def test_finished_goals_leave_the_server_and_its_status(probe):
    server = Server(probe)
    for _ in range(GOALS):
        assert server.run().status == GoalStatus.STATUS_SUCCEEDED
    # private: rclpy shows what it keeps nowhere else
    probe.until(lambda: not server.server._goal_handles)
    assert not server.server._result_futures
    server.listed.clear()
    server.run()
    probe.until(lambda: server.listed)
    assert max(server.listed) == 1


def test_response_is_not_lost_that_arrives_before_the_goal_is_noted(probe, monkeypatch):
    server = Server(probe, lambda handle: handle.abort())
    client = GoalClient(probe.node, FollowJointTrajectory, "follow")
    make_future = action_client.Future

    class LateFuture(make_future):
        def __init__(self):
            threading.Event().wait(0.5)  # rclpy has just sent the goal
            super().__init__()

    monkeypatch.setattr(action_client, "Future", LateFuture)
    sent = []
    thread = threading.Thread(
        target=lambda: sent.append(client.send_goal_async(FollowJointTrajectory.Goal()))
    )
    thread.start()
    probe.until(lambda: sent and sent[0].done(), 20.0)
    thread.join()
    assert sent[0].result().accepted and server.client.server_is_ready()


def test_goal_with_the_identifier_of_an_expired_one_is_a_goal_like_others(probe):
    server, same = Server(probe), UUID(uuid=[7] * 16)
    for _ in range(3):
        # in one wait of the executor, the previous goal has expired and the next one is there
        sent = server.send(goal_uuid=same)
        expires = time.monotonic() + 2 * TIMEOUT
        wait_for(lambda expires=expires: time.monotonic() > expires)
        assert server.finish(sent).status == GoalStatus.STATUS_SUCCEEDED
        assert list(server.server._goal_handles) == [bytes(same.uuid)]
    probe.until(lambda: not server.server._goal_handles)


class LossyClient(GoalClient):
    """A client that takes the first response late, or never."""

    def __init__(self, *arguments, is_late):
        self.lost, self._is_late = None, is_late
        super().__init__(*arguments)

    def take_data(self):
        data = super().take_data()
        if "goal" in data and self.lost is None:
            self.lost = data.pop("goal")
        elif self._is_late and "result" in data:
            data["goal"], self._is_late = self.lost, False
        return data


@pytest.mark.parametrize("is_late", [False, True])
def test_a_listed_goal_was_accepted_even_if_its_response_is_late_or_lost(probe, capfd, is_late):
    server = Server(probe)
    kind = FollowJointTrajectory
    server.client = LossyClient(probe.node, kind, "follow", is_late=is_late)
    probe.until(server.client.server_is_ready)
    for _ in range(2):
        assert server.run().result.error_string == "done"
    assert server.client.lost is not None
    assert "unexpected" not in capfd.readouterr().err
