# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import subprocess
from pathlib import Path

import pytest
from arm_simulation.emulation.pca9685_chip import ChipMemory, Pca9685Chip
from arm_testing.hardware import units
from arm_testing.repository import repository

import arm_common
import arm_hardware
import arm_simulation

UNIT = repository() / "src" / "arm_hardware" / "systemd" / "arm-hardware.service"
PACKAGES = [Path(module.__file__).parent for module in (arm_common, arm_hardware, arm_simulation)]


@pytest.fixture
def service():
    return units.service(UNIT)


@pytest.mark.parametrize("layout", ["", "{}/"], ids=["merged", "isolated"])
def test_servos_are_released_without_ros_and_without_the_setup_file(service, tmp_path, layout):
    """The unit's own line with an empty environment; PYTHONPATH comes from colcon's folders."""
    install, registers = tmp_path / "ws/my install", tmp_path / "board"
    chip = Pca9685Chip(memory=ChipMemory(registers))
    chip.write(b"\x00\x20")  # MODE1: awake, auto-increment
    chip.write(b"\x06\x00\x00\x33\x01")
    assert chip.pulse_us(0) > 0.0
    for package in PACKAGES:
        site = install / layout.format(package.name) / "lib/python3.12/site-packages"
        site.mkdir(parents=True, exist_ok=True)
        (site / package.name).symlink_to(package)
    stored = service["ExecStopPost"].replace("--address", f"--sim {registers} --address")
    words = units.words_of(stored, ARM_SETUP=str(install / "setup.bash"), ARM_ADDRESS="0x40")
    done = subprocess.run(["env", "-i", *words], cwd="/", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "Released all channels" in done.stdout
    assert chip.pulse_us(0) == 0.0
    assert service["Restart"] == "no"
