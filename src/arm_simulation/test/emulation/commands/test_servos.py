# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Ids and middles of smart servos, by the command."""

import pytest
from arm_hardware.bus.feetech import bus as feetech
from arm_hardware.bus.feetech import sts3215
from arm_hardware.bus.feetech.bus import FeetechBus
from arm_hardware.bus.interface import BusServo, SerialBus
from arm_hardware.commands import servos as tool
from arm_simulation.emulation.feetech_bus import SimulatedServoBus

pytest.importorskip("scservo_sdk")


@pytest.fixture
def simulated(monkeypatch, clock):
    made = SimulatedServoBus(SerialBus("", servos={i: BusServo("") for i in [1, 4]}), clock)
    monkeypatch.setattr(feetech, "SCANNED", range(1, 7))  # each silent one takes its time
    monkeypatch.setattr(
        tool, "_bus_at", lambda bus: FeetechBus(bus, made.path, exchange=made.exchange)
    )
    yield made
    made.close()


def test_servos_are_listed(simulated, capsys):
    simulated.servos[4].position = 1234
    simulated.servos[4].set(sts3215.HOMING_OFFSET, -900)
    assert tool.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "id 1: count 2048, 7.4 V, 25 deg C, homing_offset 0",
        "id 4: count 1234, 7.4 V, 25 deg C, homing_offset -900",
    ]


def test_new_servo_gets_the_id_of_its_joint(simulated, capsys):
    assert tool.main(["--set-id", "1", "6"]) == 0
    assert capsys.readouterr().out == "Servo 1 has the id 6 now.\n"
    assert simulated.servos[1].number == 6


def test_servo_is_centred(simulated, capsys):
    simulated.servos[4].position = 3900
    assert tool.main(["--centre", "4"]) == 0
    assert "at count 2048 now; its Homing_Offset is 1852" in capsys.readouterr().out
    assert simulated.servos[4].position == 2048


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set-id", "2", "6"], "No servo with the id 2 answers"),
        (["--set-id", "1", "4"], "The id 4 is that of another servo"),
        (["--set-id", "1", "254"], "254 is not an id; ids are 0 to 253"),
        (["--set-id", "300", "1"], "300 is not an id"),
        (["--centre", "9"], "No servo with the id 9 answers"),
    ],
)
def test_impossible_change_is_one_sentence_and_stores_nothing(simulated, capsys, arguments, words):
    before = [bytes(servo.memory[:40]) for servo in simulated.servos.values()]
    assert tool.main(arguments) == 1
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
    assert before == [bytes(servo.memory[:40]) for servo in simulated.servos.values()]


@pytest.mark.parametrize("lost", [0, 2])
def test_two_servos_never_get_one_id_however_great(simulated, monkeypatch, capsys, lost):
    simulated.servos[4].set(sts3215.ID, 30)
    check = tool._checked

    def checked(number):
        simulated.faults.deaf = lost * (number == 30)
        return check(number)

    monkeypatch.setattr(tool, "_checked", checked)
    assert tool.main(["--set-id", "1", "30"]) == 1
    assert "The id 30 is that of another servo" in capsys.readouterr().err
    assert [servo.number for servo in simulated.servos.values()] == [1, 30]


def test_id_whose_answers_are_corrupt_is_not_free(simulated, capsys):
    simulated.faults.sent = lambda answer: answer[:-1] + bytes([answer[-1] ^ (answer[2] == 4)])
    assert tool.main(["--set-id", "1", "4"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert simulated.servos[1].number == 1


def test_great_id_can_be_changed_back(simulated):
    assert tool.main(["--set-id", "1", "253"]) == 0
    assert simulated.servos[1].number == 253
    assert tool.main(["--set-id", "253", "1"]) == 0
    assert simulated.servos[1].number == 1


@pytest.mark.parametrize("change", [["--centre", "4"], ["--set-id", "4", "6"]])
def test_another_model_is_not_changed(simulated, capsys, change):
    simulated.servos[4].set(sts3215.MODEL_NUMBER, 1284)
    before = bytes(simulated.servos[4].memory[:56])
    assert tool.main(change) == 1
    assert "is model 1284, not 777; connect an STS3215." in capsys.readouterr().err
    assert bytes(simulated.servos[4].memory[:56]) == before


def test_servo_that_stores_nothing_is_an_error(simulated, capsys, monkeypatch):
    write = type(simulated.servos[4]).write
    monkeypatch.setattr(
        type(simulated.servos[4]),
        "write",
        lambda self, at, data: None if at == sts3215.ID.address else write(self, at, data),
    )
    assert tool.main(["--set-id", "4", "6"]) == 1
    assert "does not keep 6; try again" in capsys.readouterr().err


def test_silent_bus_points_to_the_supply(simulated, capsys):
    simulated.faults.silent = {1, 4}
    assert tool.main([]) == 1
    assert "No servo answers at /dev/ttyACM0" in capsys.readouterr().err
