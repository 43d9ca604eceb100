# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The bus of smart servos, on simulated servos behind a pseudo-terminal.

The packets are the examples of Feetech's communication protocol manual.
"""

import errno
import os
import re
import tty
from pathlib import Path

import pytest
from arm_common.suggestions import program
from arm_description.model.servo_types import SERVO_TYPES
from arm_hardware.bus import retrying_bus
from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.feetech import bus as feetech
from arm_hardware.bus.feetech import sts3215
from arm_hardware.bus.feetech.bus import FeetechBus
from arm_hardware.bus.interface import BusServo, SerialBus, ServoFault
from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.commands import verify
from arm_hardware.errors import BusError, HardwareError
from arm_simulation.emulation.feetech_bus import SimulatedServoBus
from arm_testing.hardware.factories import factory

VERIFY = program("arm_hardware", "verify")

pytest.importorskip("scservo_sdk")
IDS = range(1, 7)
NAMES = ("base", "shoulder", "elbow", "wrist", "roll", "jaw")
BUS = SerialBus("/dev/ttyACM7", servos={i: BusServo(n) for i, n in zip(IDS, NAMES, strict=True)})

NEEDING = SerialBus(
    BUS.port,
    servos={
        i: BusServo(n, None, (796, 3300), 0.998 if i == 2 else 0.0, 2e3)
        for i, n in zip(IDS, NAMES, strict=True)
    },
    calibration="my.yaml",
)


@pytest.fixture
def make(clock):
    """Return a function that makes a closed bus and its simulated servos."""
    return lambda bus=BUS: SimulatedServoBus(bus, clock)


@pytest.fixture
def connection(make):
    yield from factory(make, lambda made: made.close())


@pytest.fixture
def rig(connection):
    made = connection()
    made.bus.open()
    made.bus.start()
    return made


@pytest.fixture
def bus(rig):
    return rig.bus


@pytest.fixture
def faults(rig):
    return rig.faults


def test_servos_without_torque_count_as_channels_without_pulses(bus):
    assert bus.read_counts(IDS) == dict.fromkeys(IDS) and bus.running()


def test_counts_are_read_back_and_give_torque(bus):
    bus.write_counts({1: 2100, 6: 1000})
    assert bus.read_counts(IDS) == {**dict.fromkeys(IDS), 1: 2100, 6: 1000}
    bus.release([1])
    assert bus.read_counts([1, 6]) == {1: None, 6: 1000}


def test_stall_torque_is_that_of_the_servo_type():
    servo = SERVO_TYPES["sts3215"]
    assert pytest.approx(servo.stall / servo.voltage) == sts3215.STALL_TORQUE


def test_target_precedes_torque(rig, clock):
    """A servo that got its torque before its new target would jump to the old one."""
    servo = rig.servos[2]
    servo.set(sts3215.GOAL_POSITION, 100)
    torques, write = [], servo.write

    def record(address, data):
        write(address, data)
        torques.append((servo.get(sts3215.TORQUE_ENABLE), servo.get(sts3215.GOAL_POSITION)))

    servo.write = record
    rig.bus.write_counts({2: 2048})
    assert (1, 100) not in torques and torques[-1] == (1, 2048)


def test_scan_finds_the_ids(bus):
    assert bus.scan() == list(IDS)


def test_measures_position_load_voltage_and_temperature(rig, clock):
    rig.bus.write_counts({3: 2148})
    rig.servos[3].load = -0.3
    clock.time += 2.0
    found = rig.bus.measure([3])[3]
    sag = 0.3 / 0.032
    assert found.count == pytest.approx(2148 - sag, abs=1) and found.speed == 0
    assert found.load == pytest.approx(0.3, abs=0.01)
    assert found.torque == pytest.approx(0.3 * 19.5 * 0.0980665, rel=0.03)
    assert found.voltage == pytest.approx(7.4) and 25.0 <= found.temperature < 30.0
    assert found.faults == ServoFault(0)


def test_registers_of_both_signs_return_what_was_encoded():
    for register in (sts3215.PRESENT_LOAD, sts3215.HOMING_OFFSET, sts3215.PRESENT_VELOCITY):
        for value in (-1023, -1, 0, 1, 1023):
            assert register.decode(register.encode(value), register.address) == value
            assert len(register.encode(value)) == register.size


@pytest.fixture
def sent():
    """Return a bus on a bare pseudo-terminal, and a function that returns what it has sent."""
    master, slave = os.openpty()
    tty.setraw(slave)
    bus = FeetechBus(SerialBus("bus", servos={1: BusServo("a"), 2: BusServo("b")}), "")
    bus._sdk, bus._path = feetech.import_scservo(), os.ttyname(slave)
    bus._connect()
    yield bus, master
    bus.close()
    os.close(master)
    os.close(slave)


def test_sync_read_is_that_of_the_manual(sent):
    bus, master = sent
    os.set_blocking(master, False)
    with pytest.raises(OSError, match="silent"):
        bus._transfer([1, 2], 0x38, 8)
    assert os.read(master, 100).hex(" ").upper() == "FF FF FE 06 82 38 08 01 02 36"


def test_sync_write_is_that_of_the_manual(sent):
    bus, master = sent
    target = sts3215.Register(0x2A, 6)
    value = int.from_bytes(bytes.fromhex("00 08 00 00 E8 03"), "little")
    bus._write(target, dict.fromkeys((1, 2, 3, 4), value))
    assert os.read(master, 100).hex(" ").upper() == (
        "FF FF FE 20 83 2A 06 01 00 08 00 00 E8 03 02 00 08 00 00 E8 03 "
        "03 00 08 00 00 E8 03 04 00 08 00 00 E8 03 58"
    )


def test_answers_of_the_manual_are_decoded(sent, monkeypatch):
    bus, master = sent
    send = bus._send

    def answer(call):
        send(call)
        os.write(
            master,
            bytes.fromhex(
                "FF FF 01 0A 00 00 08 00 00 00 00 79 1E 55"
                "FF FF 02 0A 00 FF 07 00 00 00 00 77 23 53"
            ),
        )

    monkeypatch.setattr(bus, "_send", answer)
    (first, _), (second, _) = bus._transfer([1, 2], 0x38, 8).values()
    rest = bytes(7)
    one, two = sts3215.measurement(first + rest), sts3215.measurement(second + rest)
    assert (one.count, two.count) == (2048, 2047)
    assert (one.voltage, one.temperature) == (pytest.approx(12.1), 30.0)
    assert (two.voltage, two.temperature) == (pytest.approx(11.9), 35.0)


def test_echo_of_the_adapter_disturbs_nothing(bus, faults):
    faults.echo = True
    bus.write_counts({i: 2000 + i for i in IDS})
    assert bus.read_counts(IDS) == {i: 2000 + i for i in IDS}
    assert bus.measure([4])[4].count == 2048 and bus.scan() == list(IDS)


def test_simulated_servo_that_the_processor_keeps_waiting_is_not_silent(rig):
    rig.byte_time = 0.02  # half a second for the answer
    assert rig.bus.measure([4])[4].count == 2048


def test_wrong_checksums_are_repeated_and_never_believed(bus, faults, monkeypatch):
    monkeypatch.setattr(retrying_bus, "GIVE_UP_AFTER", 60.0)  # only the number of attempts counts
    retrying = RetryingBus(bus)
    faults.corrupt(0.02, seed=1)
    for count in range(2000, 2100):
        retrying.write({1: count, 2: count})
        assert retrying.read([1, 2]) == {1: count, 2: count}
    assert faults.corrupted > 5 and retrying.faults > 0


def test_lost_instruction_is_sent_again(bus, faults):
    faults.deaf = 1
    bus.write_counts({1: 2200})
    assert bus.read_counts([1]) == {1: 2200} and bus.rewrites == 1


def test_silent_servo_is_named(bus, faults):
    faults.silent = {3}
    with pytest.raises(BusError, match=r"^Servo 3 \(elbow\) of /dev/ttyACM7 is silent: .*plugs"):
        RetryingBus(bus).measure(IDS)


def test_answer_with_another_id_is_not_believed(bus, faults):
    faults.answers_as = {3: 4}
    with pytest.raises(OSError, match="Servo 3") as caught:
        bus.measure([2, 3])
    assert caught.value.errno == errno.EHOSTDOWN


def test_unplugged_adapter_is_an_error_until_it_is_back(rig):
    rig.unplug()
    with pytest.raises(BusError, match=r"the serial port is gone.*plug the adapter in again"):
        RetryingBus(rig.bus).measure(IDS)
    with pytest.raises(BusError, match="does not exist"):
        rig.bus.start()


def refusal(made) -> str:
    with pytest.raises(BusError) as caught:
        RetryingBus(made.bus).open()
    text = str(caught.value)
    assert "\n" not in text and text.endswith(".")
    return text


def test_missing_servo_is_named_with_the_ids_that_answer(connection):
    made = connection()
    made.servos[5].set(sts3215.ID, 9)
    text = refusal(made)
    assert re.search(r"Servo 5 \(roll\).*the ids 1, 2, 3, 4, 6, 9 do; check", text)


def test_no_servo_at_all_points_to_the_supply(connection):
    made = connection()
    made.faults.silent = set(IDS)
    assert "No servo answers" in (text := refusal(made)) and "supply on" in text


def test_two_servos_with_one_id_are_refused(connection):
    made = connection()
    made.servos[5].set(sts3215.ID, 4)
    assert "Servo 5 (roll)" in refusal(made)


@pytest.mark.parametrize("voltage", [3.0, 12.0])
def test_wrong_supply_is_refused(connection, voltage):
    made = connection()
    made.servos[1].voltage = voltage
    assert f"{voltage:.1f} V, outside of its limits 4.0 to 8.0 V" in refusal(made)


@pytest.mark.parametrize(
    ("register", "value", "words"),
    [
        (sts3215.MODEL_NUMBER, 1284, "model 1284, not 777; connect an STS3215"),
        (sts3215.OPERATING_MODE, 1, "is in Operating_Mode 1, but the driver needs 0"),
        (sts3215.MIN_POSITION, 1500, "Limit 1500 and Max_Position_Limit 4095, but its "
         f"calibration needs 796 to 3300; {VERIFY} my.yaml --mend"),
        (sts3215.MAX_POSITION, 0, "Max_Position_Limit 0, which means multi-turn, but its"),
        (sts3215.TORQUE_LIMIT, 0, "Torque_Limit 0, but moving the arm needs 522 or more"),
        (sts3215.TORQUE_LIMIT, 521, "Torque_Limit 521, but moving the arm needs 522"),
        (sts3215.MAX_TORQUE, 300, "Max_Torque_Limit 300, but moving the arm needs 522"),
        (sts3215.OVERLOAD_TORQUE, 25, "Overload_Torque 25, but moving the arm needs 53"),
        (sts3215.PHASE, 28, "(multi-turn), as its Phase is 28, but the calibration needs 12"),
        (sts3215.RESOLUTION, 2, "the Angular_Resolution 2, but the calibration needs 1"),
        (sts3215.MAX_ACCELERATION, 9, "Maximum_Acceleration 9, but its joint needs 20 or more"),
        (sts3215.PROTECTION_CURRENT, 150, "Protection_Current 150, but moving the arm needs 193"),
        (sts3215.CCW_DEAD_ZONE, 100, "the CCW_Dead_Zone 100, but the driver needs 32 or less"),
        (sts3215.MAX_TEMPERATURE, 30, "Max_Temperature_Limit 30, but the driver needs 50 or more"),
        (sts3215.P_COEFFICIENT, 0, "the P_Coefficient 0, but the driver needs 8 or more"),
    ],
)  # fmt: skip
def test_settings_that_keep_a_servo_from_its_task_are_refused(connection, register, value, words):
    made = connection(NEEDING)
    before = bytes(made.servos[2].memory)
    made.servos[2].set(register, value)
    said = refusal(made)
    assert words in said and "Servo 2 (shoulder)" in said
    made.servos[2].memory[:] = before
    made.bus.open()
    made.servos[2].set(register, value)  # another one was plugged in
    with pytest.raises(BusError, match="Servo 2"):
        made.bus.start()


def test_what_lerobot_writes_is_accepted_and_reported(connection, caplog):
    made = connection(NEEDING)
    jaw = made.servos[6]
    for register, value in (
        (sts3215.MAX_TORQUE, 500),
        (sts3215.TORQUE_LIMIT, 500),
        (sts3215.PROTECTION_CURRENT, 250),
        (sts3215.OVERLOAD_TORQUE, 25),
        (sts3215.P_COEFFICIENT, 16),
        (sts3215.ACCELERATION, 254),
        (sts3215.MAX_ACCELERATION, 254),
    ):
        jaw.set(register, value)
    with caplog.at_level("INFO"):
        made.bus.open()
    made.bus.start()
    said = "servo 6: Max_Torque_Limit 500, P_Coefficient 16, Protection_Current 250, Overload_Tor"
    assert said in caplog.text and jaw.get(sts3215.ACCELERATION) == 0


def test_mended_servo_is_accepted(connection, monkeypatch, capsys):
    made = connection(NEEDING)
    wrong = {
        sts3215.MIN_POSITION: 1500,
        sts3215.MAX_POSITION: 2500,
        sts3215.TORQUE_LIMIT: 0,
        sts3215.PHASE: 28,
        sts3215.OPERATING_MODE: 1,
    }
    for register, value in wrong.items():
        made.servos[2].set(register, value)
    searching = FeetechBus(SerialBus(BUS.port), made.path, exchange=made.exchange)
    searching.open()
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(verify, "confirm", lambda question: False)
    with pytest.raises(HardwareError, match="Nothing was written"):
        verify.mend_servos(searching, NEEDING)
    assert made.servos[2].get(sts3215.MIN_POSITION) == 1500
    monkeypatch.setattr(verify, "confirm", lambda question: True)
    verify.mend_servos(searching, NEEDING)
    searching.close()
    assert "Limit 2500, but its calibration needs 796 to 3300; to be" in capsys.readouterr().out
    made.bus.open()
    servo = made.servos[2]
    assert servo.get(sts3215.MIN_POSITION) == 796 and servo.get(sts3215.PHASE) == 12


def test_mended_torque_is_that_which_the_servo_keeps(connection):
    made = connection(NEEDING)
    made.servos[6].set(sts3215.MAX_TORQUE, 500)
    made.servos[6].set(sts3215.TORQUE_LIMIT, 50)
    searching = FeetechBus(SerialBus(BUS.port), made.path, exchange=made.exchange)
    searching.open()
    (problem,) = searching.setting_problems(NEEDING.servos)[6]
    searching.close()
    assert problem.mends == ((sts3215.TORQUE_LIMIT, 500),)


def test_homing_offset_must_be_the_calibrated_one(connection):
    expected = SerialBus("/dev/ttyACM7", servos={1: BusServo("base", -512)})
    made = connection(expected)
    made.bus.open()
    made.servos[1].set(sts3215.HOMING_OFFSET, 0)
    assert "homing offset 0, its calibration -512" in refusal(made)


def test_servos_of_another_arm_that_were_plugged_in_meanwhile_are_refused(connection):
    made = connection(SerialBus("/dev/ttyACM7", servos={1: BusServo("base", -512)}))
    made.bus.open()
    made.servos[1].set(sts3215.HOMING_OFFSET, 7)
    made.bus._disconnect()
    for _ in range(2):  # the port of the second attempt is open
        with pytest.raises(BusError, match="homing offset 7, its calibration -512"):
            made.bus.start()


def test_missing_port_is_one_sentence(tmp_path):
    bus = SerialBus(str(tmp_path / "ttyACM0"), servos=BUS.servos)
    with pytest.raises(BusError, match=r"ttyACM0 does not exist; plug the adapter in.*\)\.$"):
        FeetechBus(bus, bus.port, BoardLock(tmp_path / "ttyACM0", None)).open()


def test_missing_library_is_one_sentence(connection, monkeypatch):
    made = connection()
    monkeypatch.setitem(__import__("sys").modules, "scservo_sdk", None)
    with pytest.raises(BusError, match=r"install it: .*feetech-servo-sdk"):
        made.bus.open()


def test_bus_in_use_is_refused_with_the_process(rig):
    held, other = (BoardLock(Path(rig.path), None) for _ in range(2))
    held.acquire()
    words = f"The servo bus {rig.path} is in use by process {os.getpid()}"
    with pytest.raises(BusError, match=words):
        FeetechBus(BUS, rig.path, other).open()
    held.release()


def test_id_is_changed_and_locked_again(rig, monkeypatch):
    monkeypatch.setattr(feetech, "SCANNED", range(5, 10))
    rig.servos[6].write(sts3215.TORQUE_ENABLE.address, b"\x01")
    rig.bus.set_id(6, 9)
    servo = rig.servos[6]
    assert servo.number == 9 and 6 not in rig.bus.scan() and 9 in rig.bus.scan()
    assert servo.get(sts3215.LOCK) == 1 and servo.get(sts3215.TORQUE_ENABLE) == 0


@pytest.mark.parametrize("place", [0, 1, 300, 2048, 4000, 4095])
@pytest.mark.parametrize("offset", [0, -900, 1200])
def test_centred_servo_is_at_2048_wherever_it_was(rig, place, offset):
    servo = rig.servos[2]
    servo.set(sts3215.HOMING_OFFSET, offset)
    servo.position = place
    stored = rig.bus.centre(2)
    assert rig.bus.measure([2])[2].count == pytest.approx(2048, abs=1)  # of 4096 offsets, 4095
    assert servo.get(sts3215.HOMING_OFFSET) == stored and servo.get(sts3215.LOCK) == 1
