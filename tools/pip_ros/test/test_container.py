# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The container of the servo driver, as processes: namespaces take the place of Docker."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
import yaml
from ament_index_python import get_package_prefix
from arm_simulation.emulation.pca9685_chip import PCA9685_CHIP_CHANNELS, ChipMemory, Pca9685Chip
from arm_testing.programs.processes import output_of, parameters
from arm_testing.waiting import wait_for
from pip_ros.paths import REPOSITORY

pytestmark = pytest.mark.system

DOCKER = REPOSITORY / "docker"
ISOLATED = ["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]
# The places of the image, then its entry point as process 1, which ignores signals without handler
AS_IN_THE_IMAGE = """
mount -t tmpfs none /opt && mkdir -p /opt/ros/jazzy && touch /opt/ros/jazzy/setup.bash
ln -s "$1" /opt/arm && shift && exec "$@"
"""


def service(name: str) -> dict:
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", (DOCKER / "compose.yaml").read_text())
    return yaml.safe_load(text)["services"][name]


@pytest.fixture
def registers(tmp_path):
    return tmp_path / "board"


@pytest.fixture
def container(registers):
    """Run the command of the service `pi` on a simulated board, as process 1 of a namespace."""
    if shutil.which("unshare") is None or subprocess.run([*ISOLATED, "true"]).returncode != 0:
        pytest.skip("no PID namespaces here: they need root and the command unshare")
    board = parameters(hardware="sim", sim_registers=registers, calibration="nut_arm_servos")[1:]
    ends = parameters(autostart="activate", exit_action="release")[1:]
    command = [*shlex.split(service("pi")["command"]), *board, *ends]
    places = ["bash", "-ec", AS_IN_THE_IMAGE, "bash", get_package_prefix("arm_hardware")]
    started = subprocess.Popen(
        [*ISOLATED, *places, "bash", str(DOCKER / "entrypoint.sh"), *command],
        env={**os.environ, "ROS_DISTRO": "jazzy"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    yield started
    started.kill()
    started.communicate()


def pulses(registers: Path) -> int:
    if not registers.exists():
        return 0
    chip = Pca9685Chip(memory=ChipMemory(registers))
    return sum(chip.pulse_us(channel) > 0 for channel in range(PCA9685_CHIP_CHANNELS))


def test_stopping_the_container_carries_out_the_exit_action(container, registers):
    """`docker compose stop`: SIGTERM to process 1, then SIGKILL after the grace period."""
    wait_for(lambda: pulses(registers) == 5, "armed servos")
    children = Path(f"/proc/{container.pid}/task/{container.pid}/children").read_text()
    os.kill(int(children), signal.SIGTERM)
    grace = float(service("pi")["stop_grace_period"].removesuffix("s"))
    code, output = output_of(container, grace)
    assert code == 0 and "Traceback" not in output, output
    assert pulses(registers) == 0
