# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from types import SimpleNamespace

import pytest
from arm_hardware.errors import StateError
from arm_hardware.ros.driver_context import DriverContext


def ending(*drivers):
    """Return a context whose driver another thread ends after some reads."""
    reads = iter(drivers)
    return type("Ending", (), {"driver": property(lambda _: next(reads))})()


def test_controller_raises_state_error_once_the_driver_has_ended():
    driver = SimpleNamespace(controller="controller")
    assert DriverContext.controller(ending(driver, None)) == "controller"
    with pytest.raises(StateError, match="not configured"):
        DriverContext.controller(ending(None))
