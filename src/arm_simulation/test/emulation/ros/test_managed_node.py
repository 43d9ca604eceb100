# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every transition in every state: refused ones are answered, change nothing, end nothing."""

import pytest
from arm_testing.ros import driver as nc
from lifecycle_msgs.srv import ChangeState

from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system

LABELS = ("create", "configure", "cleanup", "activate", "deactivate", "shutdown", "destroy")
INNER = ("transition_success", "transition_failure", "transition_error", "", "no such", "x" * 999)
POSSIBLE = {  # by state: ids and labels (design.ros2.org/articles/node_lifecycle.html)
    "unconfigured": {1: "configure", 5: "shutdown"},
    "inactive": {2: "cleanup", 3: "activate", 6: "shutdown"},
    "active": {4: "deactivate", 7: "shutdown"},
    "finalized": {},
}


def change(client, number: int, label: str = "") -> bool:
    request = ChangeState.Request()
    request.transition.id, request.transition.label = number, label
    return client.done(client.ask("change_state", request)).success


def refuse_all(client, state: str) -> None:
    """Request every transition that a state does not allow, twice."""
    possible = POSSIBLE[state]
    for _ in range(2):
        for number in (*range(12), *range(12, 100, 11), *range(100, 256, 31), 99, 255):
            assert number in possible or not change(client, number), (state, number)
        for label in (*LABELS, *INNER):
            if label and label not in possible.values():
                assert not change(client, next(iter(possible), 1), label), (state, label)
    assert client.lifecycle() == state


def test_every_transition_in_every_state_is_answered(start, client):
    process = start(hardware="sim", backend="i2c_dev", exit_action="release")
    assert client.lifecycle() == "unconfigured"
    refuse_all(client, "unconfigured")
    assert change(client, 0, "configure")
    refuse_all(client, "inactive")
    assert change(client, 3)
    client.wait_armed()
    answer = client.end_of(client.creep())
    client.wait_moving()
    refuse_all(client, "active")
    assert not answer.done() and client.wait_state(HardwareStatus.MOVING)
    assert all(pulse.count > 0 for pulse in client.status.joints)
    nc.wait_for(lambda: "possible: deactivate, shutdown" in str(client.diagnostics), "reason")
    assert change(client, 0, "deactivate")
    assert change(client, 6)
    refuse_all(client, "finalized")
    code, output = process.end()
    assert code == 0 and "Traceback" not in output, output


BROKEN = """
import sys
from arm_hardware.control.controller import TrajectoryController
from arm_hardware.ros import process

def fail(*_):
    raise ZeroDivisionError("on purpose")

TrajectoryController.disarm = fail
sys.exit(process.main())
"""


def test_exception_of_a_transition_holds_and_leaves_the_state(start, client):
    start(code=BROKEN, hardware="sim", backend="i2c_dev", autostart="activate")
    client.wait_armed()
    answer = client.end_of(client.creep())
    client.wait_moving()
    assert not change(client, 0, "deactivate")
    assert "Stopped" in client.done(answer).result.error_string
    status = client.wait_settled(HardwareStatus.STOPPED)
    assert "ZeroDivisionError('on purpose')" in status.message
    assert all(pulse.count > 0 for pulse in status.joints) and client.lifecycle() == "active"
