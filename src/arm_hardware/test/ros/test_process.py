# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import fcntl
import logging
import socket

import pytest

pytest.importorskip("rclpy")

from arm_hardware.ros.process import forward_logging
from arm_testing.waiting import BOUND, wait_for
from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

from arm_interfaces.msg import HardwareStatus

BATCHES = 110
SMALL_PIPE = 4096  # [bytes]


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


@pytest.mark.system
def test_driver_whose_output_nobody_reads_still_stops(start, client):
    process = start(hardware="fake", autostart="activate")
    client.wait_armed()
    fcntl.fcntl(process.process.stdout, fcntl.F_SETPIPE_SZ, SMALL_PIPE)
    request = Trigger.Request()
    for _ in range(BATCHES):  # the log of their answers is more than two pipes hold
        assert all(map(client.done, [client.ask("reset", request) for _ in range(8)]))
    assert client.trigger("stop").success
    client.wait_state(HardwareStatus.STOPPED)
    code, _ = process.end()
    assert code == 0


@pytest.mark.system
def test_systemd_is_notified_once_the_node_has_made_its_first_transition(
    start, tmp_path, monkeypatch
):
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(tmp_path / "notify"))
    manager.settimeout(BOUND)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", "200000")
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    process = start(autostart="configure")
    said = []
    while "READY=1" not in said:
        said.append(manager.recv(100).decode())
    assert said[:2] == ["WATCHDOG_USEC=0", "WATCHDOG_USEC=200000"]
    while said[-1] != "WATCHDOG=1":
        said.append(manager.recv(100).decode())
    code, output = process.end()
    assert code == 0, output
    while said[-1] != "WATCHDOG_USEC=0":  # no loop is meant to run any more
        said.append(manager.recv(100).decode())
    manager.close()


@pytest.mark.system
def test_second_driver_with_the_same_names_is_warned_of(start, client):
    said = []
    late = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)  # as it is published
    client.node.create_subscription(Log, "/rosout", lambda m: said.append(m.msg), late)
    for _ in range(2):
        start(hardware="fake", autostart="none")
    wait_for(lambda: sum("Another driver" in text for text in said) == 2, "both warnings")
