# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Adafruit's own ServoKit, end to end, on the simulated chip."""

import subprocess
import sys

import pytest
from arm_hardware.calibration import Board
from arm_hardware.errors import BusError
from arm_hardware.fake_bus import FakeBus
from arm_hardware.pi_i2c import real_i2c
from arm_hardware.servo_map import COUNTS
from arm_hardware.servokit_bus import PACKAGE, ServoKitBus, fraction_of
from arm_hardware.sim.i2c_bus import SimI2C
from arm_hardware.sim.pca9685_chip import Pca9685Chip

BOARD = Board()
pytest.importorskip("adafruit_pca9685", reason=f"needs {PACKAGE}")


@pytest.fixture
def chip():
    return Pca9685Chip()


@pytest.fixture
def bus(chip):
    bus = sim_bus(chip)
    bus.open()
    return bus


def sim_bus(chip, board=BOARD, address=0x40):
    i2c = SimI2C({address: chip})
    return ServoKitBus(board, lambda: i2c, any_computer=True)


def test_opening_sets_the_frequency_and_writes_no_channel(bus, chip):
    assert chip.registers[0xFE] == 121 and chip.running
    assert chip.channel_writes == 0
    assert all(chip.pulse_us(channel) == 0.0 for channel in range(16))


def test_reading_writes_no_channel(bus, chip):
    assert bus.read_counts(range(16)) == dict.fromkeys(range(16))
    assert chip.channel_writes == 0


@pytest.mark.parametrize("clock", [25e6, 26.3e6, 23.9e6])
def test_every_count_arrives_in_the_register_exactly(clock):
    chip = Pca9685Chip()
    bus = sim_bus(chip, Board(reference_clock_hz=clock))
    bus.open()
    for count in range(1, COUNTS):
        bus.write_counts({3: count})
        assert chip.registers[18:22] == bytes([0, 0, count & 0xFF, count >> 8])
    assert bus.read_counts([3]) == {3: COUNTS - 1}


@pytest.mark.parametrize("count", [0, -1, COUNTS])
def test_counts_that_are_no_pulse_are_refused(count):
    with pytest.raises(ValueError, match="1 to 4095"):
        fraction_of(count)


def test_release_ends_the_pulses(bus, chip):
    bus.write_counts({0: 300, 5: 400})
    assert chip.pulse_us(0) == pytest.approx(300 * 4.88)
    bus.release([0])
    assert chip.pulse_us(0) == 0.0 and chip.pulse_us(5) > 0.0
    assert bus.read_counts([0, 5]) == {0: None, 5: 400}


def test_a_new_process_finds_the_pulses_and_does_not_change_them(bus, chip):
    bus.write_counts({0: 300, 5: 400})
    writes, seen = chip.channel_writes, []
    chip.changed = lambda: seen.append((chip.pulse_us(0), chip.pulse_us(5)))
    again = sim_bus(chip)
    again.open()
    assert again.read_counts([0, 1, 5]) == {0: 300, 1: None, 5: 400}
    assert chip.channel_writes == writes
    pauses_or_same = {(0.0, 0.0), (300 * chip.count_us, 400 * chip.count_us)}
    assert set(seen) <= pauses_or_same and seen[-1] != (0.0, 0.0)


def test_pulses_at_another_frequency_are_not_touched(bus, chip):
    bus.write_counts({7: 300})
    with pytest.raises(BusError, match=r"channel 7.*power off and on"):
        sim_bus(chip, Board(frequency_hz=60.0)).open()
    assert chip.registers[0xFE] == 121 and chip.pulse_us(7) > 0.0


def test_a_wrong_address_names_those_that_answer(chip):
    with pytest.raises(BusError, match=r"0x41 \(addresses that answer: 0x40\)") as caught:
        sim_bus(chip, Board(address=0x41)).open()
    assert caught.value.address == 0x41


def test_an_unknown_address_is_errno_121(chip):
    with pytest.raises(OSError) as caught:
        SimI2C({0x40: chip}).writeto(0x41, b"")
    assert caught.value.errno == 121


def test_software_reset_is_a_power_on(bus, chip):
    bus.write_counts({0: 300})
    bus._i2c.writeto(0x00, b"\x06")
    assert chip.pulse_us(0) == 0.0 and chip.registers[0] == 0x11


def test_fake_and_simulated_board_say_the_same(bus):
    fake = FakeBus()
    for each in (fake, bus):
        each.write_counts({0: 300, 3: 17})
        each.write_counts({0: 301})
        each.release([3, 4])
    assert fake.read_counts(range(16)) == bus.read_counts(range(16))


def test_no_i2c_device_is_one_sentence(tmp_path):
    with pytest.raises(BusError, match="enable I2C") as caught:
        real_i2c(tmp_path / "i2c-1")
    assert "i2c-1" in str(caught.value) and "\n" not in str(caught.value)


def test_without_adafruit_fake_works_and_sim_names_the_package():
    code = """
import sys
for name in ("adafruit_servokit", "adafruit_pca9685", "adafruit_motor", "board", "busio"):
    sys.modules[name] = None
from arm_description import load_robot
from arm_hardware.driver import Driver
from arm_hardware.errors import BusError
from arm_hardware.options import Options
model = load_robot("nut_arm")
driver = Driver(model, Options(hardware="fake", speed=10.0))
driver.open(); driver.arm(); driver.close()
try:
    Driver(model, Options(hardware="sim")).open()
except BusError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert f"pip install {PACKAGE}" in done.stdout and done.stdout.count("\n") == 1
