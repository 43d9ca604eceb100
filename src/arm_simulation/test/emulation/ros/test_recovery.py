# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math

import pytest
from arm_testing.ros import driver as nc
from lifecycle_msgs.msg import Transition

from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system


@pytest.fixture
def client(start, client):
    process = start(hardware="sim", backend="i2c_dev", recovery="slow", speed=8)
    assert client.lifecycle() == "unconfigured"
    yield client
    code, output = process.end()
    assert code == 0 and "Traceback" not in output, output


def recovering(client, joint: str):
    message = client.status.message if client.status else ""
    return f"Recovering from unknown positions: {joint} goes" in message and client.status


def test_recovery_is_reported_can_be_stopped_and_continues(client):
    assert client.change(Transition.TRANSITION_CONFIGURE)
    assert client.change(Transition.TRANSITION_ACTIVATE)
    status = nc.wait_for(lambda: recovering(client, "shoulder"), "recovery of the second joint")
    assert status.state == HardwareStatus.UNKNOWN and client.states == []
    assert not math.isnan(status.joints[0].position) and math.isnan(status.joints[1].position)
    assert not client.send((1.0, nc.HOME)).accepted
    assert client.trigger("stop").success
    client.wait_state(HardwareStatus.STOPPED)
    assert client.trigger("reset").success and client.states == []
    assert client.change(Transition.TRANSITION_DEACTIVATE)
    assert client.change(Transition.TRANSITION_ACTIVATE)
    status = client.wait_state(HardwareStatus.ARMED)
    assert "Recovered" in status.message and all(joint.count > 0 for joint in status.joints)
    nc.wait_for(lambda: client.states, "joint states")
