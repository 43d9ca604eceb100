# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The simulated STS3215 and its bus; the packets are the examples of Feetech's manual."""

import pytest
from arm_hardware.bus.feetech import sts3215
from arm_hardware.bus.interface import BusServo, SerialBus, ServoFault
from arm_simulation.emulation.feetech_bus import SimulatedServoBus, packet, split
from arm_simulation.emulation.feetech_servo import FULL_SPEED, SimulatedServo


def frame(text: str) -> bytes:
    return bytes.fromhex(text)


OK = frame("FF FF 01 02 00 FC")


@pytest.fixture
def bus(clock):
    made = SimulatedServoBus(SerialBus("", servos={i: BusServo("") for i in range(1, 5)}), clock)
    yield made
    made.close()


@pytest.fixture
def servo():
    made = SimulatedServo(1)
    made.write(sts3215.TORQUE_ENABLE.address, b"\x01")
    made.advance(0.0)
    return made


def goal(servo, count):
    servo.write(sts3215.GOAL_POSITION.address, sts3215.GOAL_POSITION.encode(count))


def test_ping(bus):
    assert bus.answer(frame("FF FF 01 02 01 FB")) == OK


def test_read_of_the_position(bus):
    bus.servos[1].position = 0x0518
    answer = bus.answer(frame("FF FF 01 04 02 38 02 BE"))
    assert answer == frame("FF FF 01 04 00 18 05 DD")


def test_write_of_an_id_to_all_has_no_answer(bus):
    bus.servos[1].set(sts3215.ID, 77)
    for other in (2, 3, 4):
        del bus.servos[other]
    assert bus.answer(frame("FF FF FE 04 03 05 01 F4")) == b""
    assert bus.servos[1].number == 1


def test_write_of_a_target(bus):
    assert bus.answer(frame("FF FF 01 09 03 2A 00 08 00 00 E8 03 D5")) == OK
    assert bus.servos[1].get(sts3215.GOAL_POSITION) == 2048
    assert bus.servos[1].get(sts3215.GOAL_VELOCITY) == 1000


def test_registered_write_waits_for_its_action(bus):
    bus.servos[1].set(sts3215.GOAL_POSITION, 5)
    assert bus.answer(frame("FF FF 01 09 04 2A 00 08 00 00 E8 03 D4")) == OK
    assert bus.servos[1].get(sts3215.REGISTERED) == 1
    assert bus.servos[1].get(sts3215.GOAL_POSITION) == 5
    assert bus.answer(frame("FF FF FE 02 05 FA")) == b""
    assert bus.servos[1].get(sts3215.GOAL_POSITION) == 2048
    assert bus.servos[1].get(sts3215.REGISTERED) == 0


def test_sync_write_reaches_all(bus):
    text = "FF FF FE 20 83 2A 06 01 00 08 00 00 E8 03 02 00 08 00 00 E8 03 03 00 08 00 00 E8 03"
    assert bus.answer(frame(f"{text} 04 00 08 00 00 E8 03 58")) == b""
    assert all(s.get(sts3215.GOAL_VELOCITY) == 1000 for s in bus.servos.values())


def test_sync_read_is_answered_in_order(bus):
    bus.servos[2].position, bus.servos[2].voltage, bus.servos[2].temperature = 2047, 11.9, 35.0
    bus.servos[1].voltage, bus.servos[1].temperature = 12.1, 30.0
    for number in (1, 2):
        bus.servos[number].set(sts3215.MAX_VOLTAGE, 140)
    assert bus.answer(frame("FF FF FE 06 82 38 08 01 02 36")) == frame(
        "FF FF 01 0A 00 00 08 00 00 00 00 79 1E 55 FF FF 02 0A 00 FF 07 00 00 00 00 77 23 53"
    )


def test_packets_are_found_in_any_stream():
    whole = [packet(1, 1), packet(2, 3, b"\x2a\xff\xff"), packet(254, 5)]
    wrong = bytearray(packet(3, 1))
    wrong[-1] ^= 1
    stream = bytearray(b"\x00\xff" + whole[0] + bytes(wrong) + whole[1] + whole[2][:3])
    assert split(stream) == whole[:2]
    stream += whole[2][3:]
    assert split(stream) == whole[2:]


def test_measured_registers_are_read_only(servo):
    servo.write(sts3215.PRESENT_POSITION.address, b"\x01\x02")
    assert sts3215.measurement(servo.read(56, 15)).count == 2048


def test_reaches_any_target_no_faster_than_full_speed(servo):
    for target, seconds in ((3000, 1.0), (1000, 2.0), (2048, 3.0)):
        goal(servo, target)
        before, now = servo.position, servo._now
        while servo._now < seconds:
            now += 0.01
            servo.advance(now)
            assert abs(servo.position - before) <= FULL_SPEED * 0.01 + 1e-6
            before = servo.position
        assert servo.position == pytest.approx(target, abs=0.5)


def test_load_is_what_holds_an_external_load(servo):
    for load in (-0.5, 0.2, 0.7):
        servo.load = load
        servo.advance(servo._now + 1.0)
        found = sts3215.measurement(servo.read(56, 15))
        assert found.load == pytest.approx(-load, abs=0.01) and found.speed == 0


def test_without_torque_only_a_hand_moves_it(servo):
    servo.write(sts3215.TORQUE_ENABLE.address, b"\x00")
    goal(servo, 3000)
    servo.advance(1.0)
    assert servo.position == 2048
    servo.hand = 2500
    servo.advance(2.0)
    assert servo.position == pytest.approx(2500)


def test_overload_reduces_the_torque_until_it_is_switched_off(servo):
    servo.stops = (2000, 2100)
    goal(servo, 3000)
    servo.advance(1.9)
    assert servo.faults == ServoFault(0)
    servo.advance(2.3)
    assert servo.faults == ServoFault.OVERLOAD
    assert sts3215.measurement(servo.read(56, 15)).load == pytest.approx(0.2)
    servo.write(sts3215.TORQUE_ENABLE.address, b"\x00")
    assert servo.faults == ServoFault(0)


def test_heat_switches_the_motor_off(servo):
    servo.temperature = 71.0
    goal(servo, 3000)
    servo.advance(0.01)
    place = servo.position
    servo.advance(1.0)
    assert ServoFault.TEMPERATURE in servo.faults and servo.position == pytest.approx(place)


def test_only_load_heats_not_motion(servo):
    goal(servo, 4000)
    servo.advance(0.3)
    assert servo.position > 2800 and servo.temperature < 25.1
    servo.load = -0.6
    servo.advance(3.0)
    assert servo.temperature > 28.0


def test_power_cycle_takes_the_torque_and_keeps_the_settings(servo):
    servo.set(sts3215.HOMING_OFFSET, -100)
    servo.power_cycle()
    assert servo.get(sts3215.TORQUE_ENABLE) == 0 and servo.get(sts3215.HOMING_OFFSET) == -100
