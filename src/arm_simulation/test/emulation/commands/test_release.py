# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Servos that answer lose their torque, whatever else is wrong."""

import pytest
from arm_hardware.bus.feetech import sts3215
from arm_hardware.bus.interface import BusServo, SerialBus
from arm_hardware.calibration.selection import config_folder
from arm_hardware.commands import release
from arm_simulation.emulation.feetech_bus import SimulatedServoBus

pytest.importorskip("scservo_sdk")
TORQUE = sts3215.TORQUE_ENABLE


@pytest.fixture
def simulated(clock):
    made = SimulatedServoBus(SerialBus("", servos={i: BusServo("") for i in range(1, 7)}), clock)
    for servo in made.servos.values():
        servo.write(TORQUE.address, b"\x01")
    yield made
    made.close()


@pytest.fixture
def arguments(simulated, tmp_path):
    text = (config_folder() / "so101_servos.yaml").read_text()
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("/dev/ttyACM0", simulated.path))
    return ["--calibration", str(path)]


def torques(simulated):
    return [servo.get(TORQUE) for servo in simulated.servos.values()]


def test_all_servos_are_released(simulated, arguments, capsys):
    assert release.main(arguments) == 0
    assert torques(simulated) == [0] * 6
    assert capsys.readouterr().out == f"Released all servos at {simulated.path}.\n"


def test_supply_outside_of_its_limits_prevents_nothing(simulated, arguments):
    for servo in simulated.servos.values():
        servo.voltage = 3.2
        servo.set(sts3215.OPERATING_MODE, 1)
    assert release.main(arguments) == 0 and torques(simulated) == [0] * 6


def test_silent_servo_is_named_and_the_others_are_released(simulated, arguments, capsys):
    simulated.faults.silent = {3}
    assert release.main(arguments) == 1
    error = capsys.readouterr().err
    assert "Servo 3" in error and "try again" in error and error.count("\n") == 1
    assert torques(simulated) == [0] * 6  # the third one has obeyed, but cannot confirm it


def test_board_is_not_released_by_its_calibration(capsys):
    path = config_folder() / "nut_arm_servos.yaml"
    assert release.main(["--calibration", str(path)]) == 1
    assert "is for a PCA9685; give --address" in capsys.readouterr().err
