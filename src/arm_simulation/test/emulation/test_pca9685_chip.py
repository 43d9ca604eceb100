# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The simulated PCA9685 against its data sheet (NXP, rev. 4), register by register."""

import pytest
from arm_hardware.control.position_estimate import ServoModel
from arm_simulation.emulation.pca9685_chip import Pca9685Chip

SLEEP, AI, RESTART = 0x10, 0x20, 0x80


@pytest.fixture
def chip():
    return Pca9685Chip()


@pytest.fixture
def awake(chip):
    chip.write(bytes([0x00, AI]))
    return chip


def read(chip, register, length=1):
    chip.write(bytes([register]))
    return chip.read(length)


def test_power_on_values_of_table_4(chip):
    assert read(chip, 0x00) == b"\x11"  # asleep, answers to All Call
    assert read(chip, 0x01) == b"\x04"  # totem pole
    assert [read(chip, r)[0] for r in range(2, 6)] == [0xE2, 0xE4, 0xE8, 0xE0]
    for channel in range(16):
        assert [read(chip, 6 + 4 * channel + k)[0] for k in range(4)] == [0, 0, 0, 0x10]
    assert read(chip, 0xFE) == b"\x1e"  # 200 Hz
    assert all(chip.pulse_us(channel) == 0.0 for channel in range(16))


def test_without_auto_increment_the_pointer_stays(chip):
    assert read(chip, 0x00, 3) == b"\x11\x11\x11"
    chip.write(bytes([0x06, 1, 2, 3]))
    assert chip.registers[6:10] == bytes([3, 0, 0, 0x10])


def test_auto_increment_wraps_after_the_channels_and_the_last_register(chip):
    chip.write(bytes([0x00, AI, 0x04]))  # takes effect within the transfer: figure 21
    assert chip.registers[0x01] == 0x04
    assert read(chip, 0x45, 3) == bytes([0x10, AI, 0x04])  # past 69 comes 0
    assert read(chip, 0xFE, 2) == bytes([0x1E, AI])  # past 254 comes 0


def test_prescale_is_writable_only_asleep_and_at_least_3(chip):
    chip.write(bytes([0xFE, 121]))
    assert chip.registers[0xFE] == 121
    chip.write(bytes([0xFE, 1]))
    assert chip.registers[0xFE] == 3
    chip.write(bytes([0x00, 0x00]))
    chip.write(bytes([0xFE, 121]))
    assert chip.registers[0xFE] == 3


def test_pulse_length_is_off_minus_on_in_prescaled_steps(chip):
    chip.write(bytes([0xFE, 121]))
    chip.write(bytes([0x00, AI]))
    chip.write(bytes([0x06, 0, 0, 0x33, 0x01]))
    assert chip.count(0) == 307 and chip.pulse_us(0) == pytest.approx(307 * 4.88)
    chip.write(bytes([0x06, 0x00, 0x0F, 0x33, 0x00]))  # ON after OFF: round the end
    assert chip.count(0) == (0x033 - 0xF00) % 4096


def test_full_off_overrides_full_on(awake):
    awake.write(bytes([0x06, 0, 0x10, 0, 0]))
    assert awake.count(0) == 4096
    awake.write(bytes([0x06, 0, 0x10, 0, 0x10]))
    assert awake.count(0) == 0


def test_reserved_bits_of_channel_registers_read_0(chip):
    chip.write(bytes([0x09, 0xFF]))
    assert read(chip, 0x09) == b"\x1f"


def test_all_led_writes_every_channel_and_reads_0(awake):
    awake.write(bytes([0xFA, 0, 0, 0x2C, 0x01]))
    assert {awake.count(channel) for channel in range(16)} == {300}
    assert read(awake, 0xFA, 4) == bytes(4)


def test_sleep_keeps_the_registers_and_restart_resumes_the_pulses(awake):
    awake.write(bytes([0x06, 0, 0, 0x33, 0x01]))
    before = awake.pulse_us(0)
    awake.write(bytes([0x00, AI | SLEEP]))
    assert awake.pulse_us(0) == 0.0 and awake.registers[0x00] == RESTART | AI | SLEEP
    awake.write(bytes([0x00, AI]))  # awake, and a 0 leaves the restart bit
    assert awake.pulse_us(0) == 0.0 and awake.registers[0x00] == RESTART | AI
    awake.write(bytes([0x00, AI | RESTART]))
    assert awake.pulse_us(0) == before and awake.registers[0x00] == AI


def test_sleep_without_pulses_needs_no_restart(awake):
    awake.write(bytes([0x00, AI | SLEEP]))
    assert awake.registers[0x00] == AI | SLEEP


def test_actual_oscillator_determines_the_pulse_length(chip):
    slow = Pca9685Chip(clock_hz=24e6)
    for c in (slow, chip):
        c.write(bytes([0x00, AI]))
        c.write(bytes([0x06, 0, 0, 0x33, 0x01]))
    assert slow.pulse_us(0) / chip.pulse_us(0) == pytest.approx(25 / 24)


def test_servo_slews_and_ignores_changes_within_its_dead_band():
    servo = ServoModel(1500.0, slew=1000.0)
    servo.command(1503.0, 0.0)
    assert servo.position(1.0) == 1500.0
    servo.command(2000.0, 1.0)
    assert servo.position(1.25) == pytest.approx(1750.0)
    servo.command(0.0, 1.25)  # released: it stays where it is
    assert servo.position(9.0) == pytest.approx(1750.0)
    servo.command(1000.0, 9.0)
    assert servo.position(99.0) == pytest.approx(1000.0)
