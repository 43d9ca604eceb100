# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executable: its address, its clean end at any moment, and what it says of wrong input."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

PATIENCE = 120.0  # s, a bound, not a wait
RUN = "import sys; from arm_viewer.ros.node import main; sys.exit(main())"


class Viewer:
    """A viewer process whose output is collected in a file."""

    def __init__(self, log, *parameters, env=None):
        words = [word for parameter in parameters for word in ("-p", parameter)]
        command = [sys.executable, "-c", RUN, "--ros-args", *words]
        environment = {**os.environ, **(env or {})}
        self.log = log
        with log.open("w") as output:
            self.process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)

    def text(self):
        return self.log.read_text()

    def hears_signals(self):
        """Whether the process has a handler for SIGTERM."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        caught = next(line for line in lines if line.startswith("SigCgt"))
        return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)

    def address(self, bound=PATIENCE):
        """Return host and port as soon as they are logged."""
        end = time.monotonic() + bound
        while time.monotonic() < end and self.process.poll() is None:
            if found := re.search(r"Browser view: http://([\d.]+):(\d+)$", self.text(), re.M):
                return found[1], int(found[2])
            time.sleep(0.02)
        raise AssertionError(f"no address was logged:\n{self.text()}")

    def end(self, number, bound=PATIENCE):
        self.process.send_signal(number)
        return self.process.wait(bound)


@pytest.fixture
def viewer(tmp_path):
    """A function that starts viewers; they are killed at the end of the test."""
    started = []

    def start(*parameters, env=None):
        started.append(Viewer(tmp_path / f"viewer_{len(started)}.log", *parameters, env=env))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()


def listens(address):
    with socket.socket() as probe:
        return probe.connect_ex(address) == 0


def test_two_viewers_take_two_ports_and_free_them(viewer):
    first = viewer("port:=0")
    address = first.address()
    second = viewer(f"port:={address[1]}")
    other = second.address()
    assert other[0] == address[0] == "127.0.0.1"
    assert other[1] > address[1]
    for each, where, number in (
        (first, address, signal.SIGINT),
        (second, other, signal.SIGTERM),
    ):
        assert listens(where)
        assert each.end(number) == 0
        assert not listens(where)
        lines = each.text().splitlines()
        assert len(lines) == 1, lines  # The address, and neither banner nor traceback.


@pytest.mark.parametrize("delay", [0.0, 0.15, 0.3, 0.45, 0.6, 0.8])
def test_a_signal_during_the_start_ends_it_cleanly(viewer, delay):
    """Wherever in the start the signal comes; where that is, is up to the machine."""
    started = viewer("port:=0")
    end = time.monotonic() + PATIENCE
    while not started.hears_signals():
        assert time.monotonic() < end
    with pytest.raises(subprocess.TimeoutExpired):
        started.process.wait(delay)
    assert started.end(signal.SIGTERM if delay < 0.4 else signal.SIGINT) == 0
    assert "Traceback" not in started.text()


@pytest.mark.parametrize(
    ("parameter", "sentence"),
    [
        ("port:=99999", "parameter port: 99999 is not a port"),
        ("port:=first", "port"),
        ("host:=203.0.113.7", 'the browser view cannot use host "203.0.113.7"'),
        ("robot:=nobody", "nobody"),
    ],
)
def test_wrong_parameters_end_it_with_one_sentence(viewer, parameter, sentence):
    refused = viewer("sliders:=true", parameter)
    assert refused.process.wait(PATIENCE) == 1
    (line,) = refused.text().splitlines()
    assert sentence in line


def test_viser_missing_ends_it_with_one_sentence(viewer, tmp_path):
    (tmp_path / "viser.py").write_text("raise ImportError('No module named viser')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    refused = viewer("port:=0", env={"PYTHONPATH": path})
    assert refused.process.wait(PATIENCE) == 1
    (line,) = refused.text().splitlines()
    assert "install it with: python3 -m pip install viser" in line


def test_serving_the_network_is_said(viewer):
    open_viewer = viewer("host:=0.0.0.0", "port:=0", "sliders:=true")
    assert open_viewer.address()[0] == "127.0.0.1"
    assert open_viewer.end(signal.SIGTERM) == 0
    assert "everyone on the network sees the robot, and can move it" in (open_viewer.text())
