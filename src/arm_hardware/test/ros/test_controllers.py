# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from arm_hardware.motion.execution import Goal, GoalOutcome
from arm_hardware.ros.controllers import GoalServer, Running


class Handle:
    """A goal handle that records its terminal state."""

    goal_id = SimpleNamespace(uuid=[7] * 16)
    state = None

    def succeed(self) -> None:
        self.state = "succeeded"


class Server(GoalServer):
    """A server without a node."""

    def __init__(self, publish_now) -> None:
        self.failures = []
        self._publish_now = publish_now
        self._running = {}
        self._owners = SimpleNamespace(watch=lambda _: nullcontext())
        self._context = SimpleNamespace(
            parameters=SimpleNamespace(action_monitor_rate=100.0),
            fail=lambda _, error: self.failures.append(error),
        )

    name = "goals"

    def _prepare(self, goal):
        raise NotImplementedError

    def _feedback(self, running):
        return None

    def _result(self, running):
        return running.goal.outcome


@pytest.mark.parametrize("error", [None, ValueError("no publisher")])
def test_goal_ends_even_if_the_last_state_cannot_be_published(error):
    def publish_now():
        if error is not None:
            raise error

    server, handle, goal = Server(publish_now), Handle(), Goal()
    server._running[bytes([7] * 16)] = Running(goal, None)
    goal.finish(GoalOutcome.SUCCEEDED, 0, "")
    assert server._execute(handle) is GoalOutcome.SUCCEEDED
    assert handle.state == "succeeded" and not server.busy
    assert server.failures == ([error] if error else [])
