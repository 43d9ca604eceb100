# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from types import SimpleNamespace

import pytest
from arm_hardware.errors import CommandError, StateError
from arm_hardware.ros.driver_context import REPEAT_PERIOD, DriverContext, RefusalLog


def ending(*drivers):
    """Return a context whose driver another thread ends after some reads."""
    reads = iter(drivers)
    return type("Ending", (), {"driver": property(lambda _: next(reads))})()


def test_controller_raises_state_error_once_the_driver_has_ended():
    driver = SimpleNamespace(controller="controller")
    assert DriverContext.controller(ending(driver, None)) == "controller"
    with pytest.raises(StateError, match="not configured"):
        DriverContext.controller(ending(None))


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
