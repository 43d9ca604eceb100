# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from types import SimpleNamespace

import pytest
from arm_hardware.errors import CommandError, StateError
from arm_hardware.ros.driver_context import REPEAT_PERIOD, DriverContext, RefusalLog


class EndingDriver:
    """A driver that another thread ends while its controller is read."""

    def __init__(self, context):
        self.context, context.driver = context, self

    @property
    def controller(self):
        self.context.driver = None
        return "controller"


def test_controller_raises_state_error_once_the_driver_has_ended():
    context = DriverContext(SimpleNamespace(robot="nut_arm", prefix=""), None, None)
    EndingDriver(context)
    assert context.controller() == "controller"
    with pytest.raises(StateError, match="not configured"):
        context.controller()


def test_equal_refusals_of_a_stream_are_logged_once_with_their_number(caplog):
    now = [0.0]
    log = RefusalLog(lambda: now[0])
    for k in range(300):
        now[0] = 0.01 * k
        log.add("topic", CommandError(f"waist: {k} rad is outside of its limits.", joint="waist"))
        log.log_repeated()
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    log.add("topic", CommandError("elbow: 9 rad is outside of its limits.", joint="elbow"))
    assert len(caplog.records) == 2
    now[0] = REPEAT_PERIOD + 0.1
    log.log_repeated()
    assert "Refused on topic: 299 more" in caplog.text and len(caplog.records) == 3
    log.add("topic", CommandError("waist: 3 rad is outside of its limits.", joint="waist"))
    assert len(caplog.records) == 4


def test_refused_goal_is_logged_with_the_topic_that_tells_why(caplog):
    RefusalLog().add(
        "an action", CommandError("is outside of its limits."), "/arm_hardware/refusal"
    )
    assert "limits. (also on /arm_hardware/refusal," in caplog.text
