# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from types import SimpleNamespace

import pytest
from arm_hardware.errors import StateError
from arm_hardware.ros.node import HardwareNode


class Ending:
    """A node whose driver another thread ends after it was read so often."""

    def __init__(self, reads):
        self.reads = reads

    @property
    def driver(self):
        self.reads -= 1
        return SimpleNamespace(controller="controller") if self.reads >= 0 else None


def test_controller_raises_state_error_once_the_driver_has_ended():
    assert HardwareNode.controller(Ending(1)) == "controller"
    with pytest.raises(StateError, match="not configured"):
        HardwareNode.controller(Ending(0))
