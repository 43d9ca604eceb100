# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import logging

import pytest

pytest.importorskip("rclpy")

from arm_hardware.ros.process import forward_logging


@pytest.fixture
def core():
    core = logging.getLogger("arm_hardware")
    before, propagate, level = core.handlers[:], core.propagate, core.level
    yield core
    core.handlers[:], core.propagate = before, propagate
    core.setLevel(level)


def test_log_records_of_every_level_reach_the_ros_log(core, capfd):
    forward_logging("forwarded")
    for level in (logging.INFO, logging.ERROR, logging.WARNING, logging.CRITICAL):
        logging.getLogger("arm_hardware.control").log(level, "of level %d", level)
    lines = capfd.readouterr().err.splitlines() or capfd.readouterr().out.splitlines()
    assert [line.split("]")[0][1:] for line in lines] == ["INFO", "ERROR", "WARN", "ERROR"]
    assert all("[forwarded]: of level" in line for line in lines)
