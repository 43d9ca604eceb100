# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executable: its address, its clean end at any moment, and its messages for wrong input."""

import math
import os
import signal
import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from arm_common.ros.qos import LATCHED
from arm_testing.pages.viewer_client import (
    CAMERA,
    READ_ONLY,
    connected,
    decompressed,
    encoded,
    visit,
)
from arm_testing.programs.processes import handles_sigterm
from arm_testing.waiting import wait_for

from arm_description import load_robot, robot_path
from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system

BOUND = 120.0  # [s]


def listens(host, port):
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


def host_and_port(viewer):
    address = urlsplit(viewer.address())
    return address.hostname, address.port


def test_two_viewers_use_two_ports_and_free_them(start):
    first = start("viewer", port=0)
    address = host_and_port(first)
    second = start("viewer", port=address[1])
    other = host_and_port(second)
    assert other[0] == address[0] == "127.0.0.1"
    assert other[1] > address[1]
    for viewer, where, number in (
        (first, address, signal.SIGINT),
        (second, other, signal.SIGTERM),
    ):
        assert listens(*where)
        assert viewer.end(number) == 0
        assert not listens(*where)
        lines = viewer.text().splitlines()
        assert len(lines) == 1, lines  # the address, and neither banner nor traceback


@pytest.mark.parametrize("delay", [0.0, 0.15, 0.3, 0.45, 0.6, 0.8])
def test_signal_during_start_ends_the_viewer_cleanly(start, delay):
    """Which part of the start the signal interrupts depends on the machine."""
    viewer = start("viewer", port=0)
    wait_for(lambda: handles_sigterm(viewer.process.pid), "handler", BOUND)
    with pytest.raises(subprocess.TimeoutExpired):
        viewer.process.wait(delay)
    assert viewer.end(signal.SIGTERM if delay < 0.4 else signal.SIGINT) == 0
    assert "Traceback" not in viewer.text()


@pytest.mark.parametrize(
    ("parameter", "sentence"),
    [
        ({"port": 99999}, "parameter port is 99999; expected a whole number from 0 to 65535"),
        ({"port": "first"}, "port"),
        ({"host": "203.0.113.7"}, 'the browser view cannot use host "203.0.113.7"'),
        ({"robot": "nobody"}, "nobody"),
        ({"drive": True}, "parameters sliders and drive"),
    ],
)
def test_invalid_parameters_end_the_viewer_with_one_sentence(start, parameter, sentence):
    viewer = start("viewer", sliders=True, **parameter)
    assert viewer.process.wait(BOUND) == 1
    (line,) = viewer.text().splitlines()
    assert sentence in line


def test_serving_the_network_gives_a_warning_and_no_log_has_the_token(
    start, tmp_path, monkeypatch
):
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))
    viewer = start("viewer", host="0.0.0.0", port=0, sliders=True)
    assert host_and_port(viewer)[0] == "127.0.0.1"
    assert viewer.end(signal.SIGTERM) == 0
    assert "everyone on the network sees the robot and can stop it" in viewer.text()
    token = viewer.address().partition("token=")[2]
    logs = "".join(file.read_text() for file in tmp_path.rglob("*.log"))
    assert "everyone on the network" in logs and token not in logs


def test_odd_file_beside_the_robot_is_left_out_and_nothing_else(start, tmp_path):
    robot = robot_path("nut_arm").read_text()
    for name, text in (
        ("my.yaml", robot),
        (os.fsdecode(b"caf\xe9.yaml"), robot),
        (os.fsdecode(b"caf\xe9.csv"), "time,waist\n0,0\n1,1\n"),
        ("odd.yaml", 'description: "\\ud800"\n' + robot.replace("description:", "# ")),
        ("no.yaml", "\x00"),
    ):
        (tmp_path / name).write_text(text)
    viewer = start("viewer", port=0, sliders=True, robot=tmp_path / "my.yaml")
    address = urlsplit(viewer.address()).netloc
    with connected(address) as socket:
        socket.send(encoded(CAMERA))
        seen = b""
        while READ_ONLY not in seen:
            seen += decompressed(socket.recv(timeout=BOUND))
    for label in (b"STOP", b"Robot file", b"Play", b"Table", b"my.yaml"):
        assert label in seen
    assert b"Left out" in seen and b"odd.yaml" in seen and b"caf\\udce9.yaml" in seen
    assert "Traceback" not in viewer.text()


def test_visits_start_no_threads(start):
    viewer = start("viewer", port=0, drive=True, robot="nut_arm")
    address = urlsplit(viewer.address()).netloc
    threads = Path(f"/proc/{viewer.process.pid}/task")
    visit(address)  # the address is printed before the thread of the executor starts
    before = len(list(threads.iterdir()))
    for _ in range(3):
        visit(address)
    assert len(list(threads.iterdir())) == before


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e308])
def test_numbers_that_no_driver_sends_raise_nothing(start, ros, value):
    """Each folder of the page shows joints, and the slider of the speed shows the driver's."""
    viewer = start("viewer", port=0, drive=True)
    page = viewer.address().removeprefix("http://")
    status = ros.node.create_publisher(HardwareStatus, "arm_hardware/status", LATCHED)
    ros.show_robot(load_robot("nut_arm").to_urdf())
    names = load_robot("nut_arm").joint_names
    with connected(page) as socket:
        socket.send(encoded(CAMERA))
        ros.show_joints(dict.fromkeys(names, 0.25))
        status.publish(HardwareStatus(message="valid", speed_scaling=0.37))
        wait_until_received(socket, b"valid")
        for text in (b"strange", b"stranger"):
            ros.show_joints(dict.fromkeys(names, value))
            status.publish(HardwareStatus(message=text.decode(), speed_scaling=value))
            wait_until_received(socket, text)
    assert viewer.end(signal.SIGINT) == 0
    assert "Traceback" not in viewer.text() and "internal error" not in viewer.text()
    ros.node.destroy_publisher(status)


@pytest.mark.parametrize(
    ("words", "driver", "said"),
    [
        ([], {"robot": "learm"}, b"moves learm (no prefix); this view shows nut_arm (no prefix)"),
        ([], {"prefix": "left_"}, b"nut_arm (prefix left_); this view shows nut_arm (no prefix)"),
        (["--ros-args", "-r", "__ns:=/left"], {}, b"runs in the namespace /left; this view is in"),
    ],
)
def test_driver_that_is_not_of_this_view_is_named(start, ros, words, driver, said):
    viewer = start("viewer", port=0, sliders=True, robot="nut_arm")
    ros.show_robot(load_robot("nut_arm").to_urdf())
    with connected(viewer.address().removeprefix("http://")) as socket:
        socket.send(encoded(CAMERA))
        values = {"robot": "nut_arm", "hardware": "fake", "autostart": "activate", **driver}
        driven = start("driver", *words, **values)
        wait_until_received(socket, said)
        assert driven.end(signal.SIGTERM) == 0
        names = set(load_robot("nut_arm").joint_names)
        ros.joint_states.clear()
        ros.until(lambda: any(names <= set(m.name) for m in ros.joint_states), BOUND)
    assert viewer.end(signal.SIGINT) == 0 and "Traceback" not in viewer.text()


def wait_until_received(socket, text):
    while text not in decompressed(socket.recv(timeout=BOUND)):
        pass
