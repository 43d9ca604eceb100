# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One contract for the bus of every backend, and what only buses to a PCA9685 do."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from arm_hardware.backends import BACKENDS, backends_of, load_backend
from arm_hardware.bus.i2c import bus_label, linux_i2c
from arm_hardware.bus.interface import COUNTS, PCA9685, BusServo, SerialBus, ServoBoard
from arm_hardware.bus.servokit import PACKAGE, blinka_i2c, duty_fraction
from arm_hardware.clock import SteadyClock
from arm_hardware.errors import BusError
from arm_simulation.emulation.board import (
    SimI2C,
    SimulatedBoard,
    i2c_dev_bus,
    servokit_bus,
)
from arm_simulation.emulation.pca9685_chip import (
    AUTO_INCREMENT,
    EXTCLK,
    LED0,
    PCA9685_CHIP_CHANNELS,
    Pca9685Chip,
    stored_pulses,
)
from arm_testing.hardware.bus_contract import LAWS

BOARD = ServoBoard()
BOARD_BACKENDS = tuple(backends_of(PCA9685))
BUSES = {"servokit": servokit_bus, "i2c_dev": i2c_dev_bus}
MODE1, PRE_SCALE, SLEEP = 0x00, 0xFE, 0x10
ALL = range(PCA9685_CHIP_CHANNELS)


@pytest.fixture
def sim(clock):
    return SimulatedBoard(BOARD, clock)


@pytest.fixture
def chip(sim):
    return sim.chip


@pytest.fixture
def make(backend, sim):
    """Return what makes closed buses to the one chip, as processes one after another would."""
    return lambda board=BOARD: BUSES[backend](board, sim)


@pytest.fixture
def bus(make):
    bus = make()
    bus.open()
    bus.start()
    return bus


@pytest.fixture(params=BACKENDS.names)
def any_bus(request, clock):
    """Return the open bus of each registered backend that is emulated, and channels of it."""
    row = load_backend(request.param)
    for module in row.modules:
        pytest.importorskip(module)
    wiring = BOARD
    if row.protocol != PCA9685:
        servos = {number: BusServo("") for number in range(1, 7)}
        wiring = SerialBus("/dev/ttyACM7", protocol=row.protocol, servos=servos)
    emulation = row.emulated(wiring, clock)
    emulation.bus.open()
    emulation.bus.start()
    yield emulation.bus, ALL if wiring is BOARD else tuple(wiring.servos)
    emulation.bus.close()
    emulation.close()


@pytest.mark.parametrize("law", LAWS)
def test_bus_of_every_backend_keeps_the_contract(any_bus, law):
    law(*any_bus)


def test_opening_and_reading_write_nothing(make, chip):
    before = bytes(chip.registers)
    bus = make()
    bus.open()
    bus.read_counts(ALL)
    bus.close()
    assert chip.registers == before and chip.channel_writes == 0


def test_start_sets_the_frequency_and_sends_no_pulse(bus, chip):
    assert chip.registers[PRE_SCALE] == 121 and chip.running
    assert all(chip.pulse_us(channel) == 0.0 for channel in ALL)


@pytest.mark.parametrize("clock_hz", [25e6, 26.3e6, 23.9e6])
def test_every_count_is_written_exactly(make, chip, clock_hz):
    bus = make(ServoBoard(reference_clock_hz=clock_hz))
    bus.open()
    bus.start()
    for count in range(1, COUNTS):
        bus.write_counts({3: count})
        assert chip.registers[18:22] == bytes([0, 0, count & 0xFF, count >> 8])
    assert bus.read_counts([3]) == {3: COUNTS - 1}


@pytest.mark.parametrize("count", [0, -1, COUNTS])
def test_counts_out_of_range_are_rejected(bus, chip, count):
    with pytest.raises(ValueError, match="1 to 4095"):
        duty_fraction(count)
    with pytest.raises(ValueError, match="1 to 4095"):
        bus.write_counts({0: count})
    assert chip.pulse_us(0) == 0.0


def test_new_process_takes_over_running_pulses_unchanged(bus, make, chip):
    bus.write_counts({0: 300, 5: 400})
    writes, seen = chip.channel_writes, []
    chip.changed = lambda: seen.append((chip.pulse_us(0), chip.pulse_us(5)))
    again = make()
    again.open()
    again.start()
    assert again.read_counts([0, 1, 5]) == {0: 300, 1: None, 5: 400}
    assert chip.channel_writes == writes
    assert set(seen) <= {(300 * chip.count_us, 400 * chip.count_us)}
    again.write_counts({0: 301})
    assert (chip.pulse_us(0), chip.pulse_us(5)) == (301 * chip.count_us, 400 * chip.count_us)


def test_waking_a_sleeping_chip_does_not_resume_old_pulses(bus, make, chip):
    bus.write_counts({0: 300, 5: 400})
    for mode in (SLEEP, 0x80 | SLEEP | 0x20):  # reset and written to; put asleep while pulsing
        chip.registers[MODE1] = mode
        seen = []
        chip.changed = lambda seen=seen: seen.append(chip.pulse_us(0))
        again = make()
        again.open()
        assert again.read_counts([0, 5]) == {0: None, 5: None} and not again.running()
        again.start()
        assert again.running() and again.read_counts([0, 5]) == {0: None, 5: None}
        assert not any(seen)
        again.write_counts({0: 300, 5: 400})


def test_board_pulsing_at_another_frequency_is_rejected(bus, make, chip):
    bus.write_counts({7: 300})
    other = make(ServoBoard(frequency_hz=60.0))
    with pytest.raises(BusError, match=r"channel 7.*power off and on"):
        other.open()
    assert chip.registers[PRE_SCALE] == 121 and chip.pulse_us(7) > 0.0


def test_idle_chip_at_another_frequency_is_reconfigured(bus, make, chip):
    other = make(ServoBoard(frequency_hz=60.0))
    other.open()
    other.start()
    assert other.running() and not bus.running()


@pytest.mark.parametrize("fate", ["reset", "power_off"])
def test_reset_is_detected(bus, chip, fate):
    bus.write_counts({0: 300})
    getattr(chip, fate)()
    chip.powered = True
    assert not bus.running() and bus.read_counts([0]) == {0: None}
    bus.start()
    assert bus.running() and bus.read_counts([0]) == {0: None}


def test_wrong_address_error_lists_addresses_that_answer(make):
    with pytest.raises(BusError, match=r"0x41 .*\(addresses that answer: 0x40\)") as caught:
        make(ServoBoard(address=0x41)).open()
    assert caught.value.address == 0x41


def test_unpowered_board_is_not_found(make, chip):
    chip.power_off()
    with pytest.raises(BusError, match=r"0x40 .*\(addresses that answer: none\)"):
        make().open()


def test_pulses_continue_after_the_bus_is_closed(bus, chip):
    bus.write_counts({0: 300})
    bus.close()
    bus.close()
    assert chip.pulse_us(0) == pytest.approx(300 * 4.88)


def test_adapter_timeout_is_set(tmp_path, monkeypatch):
    node, requests = tmp_path / "i2c-1", []
    node.touch()
    monkeypatch.setattr("smbus2.SMBus", lambda path: SimpleNamespace(fd=path))
    monkeypatch.setattr("fcntl.ioctl", lambda *arguments: requests.append(arguments))
    linux_i2c(node)
    assert requests == [(str(node), 0x0702, 5)]  # I2C_TIMEOUT, in 10 ms


def test_scan_of_a_stuck_bus_stops_at_the_first_address(sim):
    bus = i2c_dev_bus(BOARD, sim)
    bus.open()
    sim.faults.block()
    with pytest.raises(TimeoutError):
        bus.scan()
    assert sim.faults.failed == 1


def test_software_reset_restores_power_on_values(bus, sim):
    bus.write_counts({0: 300})
    sim.i2c.writeto(0x00, b"\x06")
    assert sim.chip.pulse_us(0) == 0.0 and sim.chip.registers[MODE1] == 0x11


def test_unknown_address_fails_with_errno_121(chip):
    with pytest.raises(OSError) as caught:
        SimI2C({0x40: Pca9685Chip()}).writeto(0x41, b"")
    assert caught.value.errno == 121


@pytest.mark.parametrize("connect", [linux_i2c, blinka_i2c])
def test_missing_i2c_device_is_one_sentence(tmp_path, connect):
    with pytest.raises(BusError, match="enable I2C") as caught:
        connect(tmp_path / "i2c-1")
    assert "i2c-1" in str(caught.value) and "\n" not in str(caught.value)


def test_file_that_is_not_an_i2c_bus_is_one_sentence(tmp_path):
    node = tmp_path / "i2c-1"
    node.touch()
    with pytest.raises(BusError, match=r"i2c-1.*check that it is an I2C bus"):
        linux_i2c(node)
    assert "group" in bus_label(node)


ADAFRUIT = ["adafruit_servokit", "adafruit_pca9685", "adafruit_motor", "board", "busio"]
WITHOUT_LIBRARY = """
import sys
*names, modules = sys.argv[1:]
sys.modules.update(dict.fromkeys(modules.split()))
from arm_description import load_robot
from arm_hardware.commands import doctor, release
from arm_hardware.driver import Driver
from arm_hardware.clock import SteadyClock
from arm_hardware.errors import BusError
from arm_hardware.motion.options import DriverOptions as Options
model = load_robot("nut_arm")
fake = Options(speed=10.0)
for options in (fake, *(Options(hardware="sim", backend=name, speed=10.0) for name in names)):
    driver = Driver(model, options)
    driver.open(); driver.arm(); driver.close()
sys.modules.update(adafruit_servokit=None, smbus2=None)
try:
    Driver(model, Options(hardware="sim", backend=names[0])).open()
except BusError as error:
    print(error)
"""


ON_A_PI = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))
from arm_hardware.bus.servokit import import_adafruit
from arm_hardware.clock import SteadyClock
from arm_hardware.errors import BusError
try:
    print(import_adafruit()[0].__name__)
except BusError as error:
    print(error)
"""
COMPILED = ("lgpio", "RPi", "adafruit_blinka_raspberry_pi_pwm")  # no wheels, or only for some Pis


@pytest.mark.parametrize(
    ("missing", "said"),
    [(COMPILED, "ServoKit"), (("gpiod",), f"pip install {PACKAGE} gpiod")],
    ids=["with gpiod", "without gpiod"],
)
def test_servokit_on_a_raspberry_pi_5_needs_only_gpiod(missing, said):
    """Blinka is made to believe that it runs there."""
    pytest.importorskip("adafruit_servokit")
    pytest.importorskip("gpiod")
    environment = {
        **os.environ,
        "BLINKA_FORCEBOARD": "RASPBERRY_PI_5",
        "BLINKA_FORCECHIP": "BCM2712",
    }
    command = [sys.executable, "-c", ON_A_PI, *missing]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert said in done.stdout and done.stdout.count("\n") == 1, done.stderr


@pytest.mark.parametrize(
    ("missing", "present", "modules", "remedies"),
    [
        ("servokit", "i2c_dev", ADAFRUIT, (f"pip install {PACKAGE}", "backend:=i2c_dev")),
        ("i2c_dev", "servokit", ["smbus2"], ("pip install smbus2",)),
    ],
)
def test_backend_without_its_library_falls_back_to_the_other(missing, present, modules, remedies):
    if present == "servokit":
        pytest.importorskip("adafruit_servokit")
    command = [sys.executable, "-c", WITHOUT_LIBRARY, missing, present, " ".join(modules)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    library = modules[0]
    assert done.stderr == (
        f"backend {missing} needs {library}, which is not installed; {present} drives the board.\n"
    )
    assert all(remedy in done.stdout for remedy in remedies)  # without any library
    assert done.stdout.count("\n") == 1


def test_pulses_are_read_from_the_file_that_another_process_writes(tmp_path):
    file = tmp_path / "registers"
    assert not any(stored_pulses(file, BOARD))
    assert not file.exists()
    chip = SimulatedBoard(BOARD, SteadyClock(), file).chip
    assert not any(stored_pulses(file, BOARD))  # asleep
    chip.write(bytes([MODE1, AUTO_INCREMENT]))
    chip.write(bytes([LED0 + 4 * 3, 0, 0, 0x2C, 0x01]))
    pulses = stored_pulses(file, BOARD)
    assert pulses[3] == pytest.approx(chip.pulse_us(3))
    assert [channel for channel, pulse in enumerate(pulses) if pulse] == [3]


def test_pulses_are_not_read_in_the_middle_of_a_transfer(tmp_path, monkeypatch):
    """Between the two bytes of a channel, a pulse may be wrong by a sixteenth of the period."""
    file = tmp_path / "registers"
    chip = SimulatedBoard(BOARD, SteadyClock(), file).chip
    chip.write(bytes([MODE1, AUTO_INCREMENT]))
    chip.write(bytes([LED0, 0, 0, 0xFF, 0x00]))
    read, rest = Pca9685Chip.pulse_us, [bytes([LED0 + 2, 0x00]), bytes([LED0 + 3, 0x01])]

    def write_between(it, channel):
        if rest and channel == 0:
            chip.write(rest.pop(0))
        return read(it, channel)

    monkeypatch.setattr(Pca9685Chip, "pulse_us", write_between)
    assert stored_pulses(file, BOARD)[0] == pytest.approx(256 * chip.count_us)


class OtherChip:
    """A device that is no PCA9685: what its registers read, and whether anybody wrote to it."""

    def __init__(self, value_of):
        self.powered, self.writes, self._value_of, self._pointer = True, [], value_of, 0

    def write(self, data):
        self._pointer = data[0] if data else 0
        if len(data) > 1:
            self.writes.append(data)

    def read(self, length):
        return bytes(self._value_of(self._pointer, k) for k in range(length))


def ina219(register, k):
    """Registers of 16 bits, of which 0 is 0x399F; the others read 0."""
    return (0x39, 0x9F)[k % 2] if register == 0 else 0


def ina226(register, k):
    """Registers of 16 bits, of which 0xFE, the manufacturer's, is a legal PRE_SCALE."""
    return {0: 0x4127, 0xFE: 0x5449, 0xFF: 0x2260}.get(register, 0).to_bytes(2, "big")[k % 2]


def ina3221(register, k):
    """Auto-increment seems to be on."""
    return (0x71, 0x27)[k % 2] if register == 0 else ina226(register, k)


@pytest.mark.parametrize(
    "value_of",
    [
        lambda *_: 0,
        lambda *_: 0xFF,
        ina219,
        ina226,
        ina3221,
        lambda *_: 0x1E,
        lambda register, _: register,
    ],
    ids=["zeros", "ones", "ina219", "ina226", "ina3221", "legal_everywhere", "counting"],
)
@pytest.mark.parametrize("name", BOARD_BACKENDS)
def test_other_chip_at_the_address_is_refused_and_not_written_to(name, value_of, sim):
    other = OtherChip(value_of)
    sim.i2c = SimI2C({BOARD.address: other})
    bus = BUSES[name](BOARD, sim)
    with pytest.raises(BusError, match=r"The device at 0x40 does not look like a PCA9685 \(.*reg"):
        bus.open()
    assert not other.writes


@pytest.mark.parametrize("mode1", [0x21, 0x2F, 0x01, 0x31, 0x11])
def test_other_addresses_of_a_board_that_is_taken_over_are_closed(make, chip, mode1):
    before = make()
    before.open()
    before.start()
    before.write_counts({0: 300})
    before.close()
    chip.registers[MODE1] = mode1
    bus = make()
    bus.open()
    bus.start()
    assert chip.registers[MODE1] == AUTO_INCREMENT and bus.running()
    assert chip.count(0) == (0 if mode1 & SLEEP else 300)


def test_board_that_waits_for_an_external_clock_says_how_to_end_that(make, chip):
    chip.registers[MODE1] = AUTO_INCREMENT | EXTCLK
    before = bytes(chip.registers)
    with pytest.raises(BusError, match=r"EXTCLK.*switch its supply VCC off and on\.$"):
        make().open()
    assert bytes(chip.registers) == before


def test_every_legal_state_of_the_chip_is_taken_over(make, chip):
    for prescale in (3, 0x1E, 0x79, 0xFF):
        for mode2 in (0x04, 0x1F):
            chip.reset()
            chip.registers[PRE_SCALE], chip.registers[1] = prescale, mode2
            make().open()
    chip.reset()
    chip.registers[LED0 : LED0 + 64] = bytes([0xFF, 0x1F] * 32)
    chip.registers[MODE1] = SLEEP
    make().open()


def test_board_behind_flipping_bits_is_still_a_board(make, sim):
    sim.faults.flip_reads(0.05, seed=3)
    make().open()
