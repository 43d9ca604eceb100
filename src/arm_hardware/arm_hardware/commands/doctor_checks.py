# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/commands/test_doctor.py
"""Checks of this computer: software, I2C device, servo board, calibration files, power and heat.

Under-voltage is reported by the kernel's raspberrypi-hwmon
(Documentation/hwmon/raspberrypi-hwmon.rst) or the firmware's ``vcgencmd get_throttled``: bits 0 to
3 mean now, 16 to 19 since boot (documentation of Raspberry Pi OS, "vcgencmd").
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib import metadata
from pathlib import Path

from arm_common.suggestions import install_command, program
from arm_description.errors import DescriptionError

from arm_hardware.backends import AUTO, backend_for, backends_of
from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.i2c import check_device, device_group
from arm_hardware.bus.interface import (
    CHANNELS,
    Bus,
    ConfigurableBus,
    Measurement,
    SerialBus,
    ServoBoard,
)
from arm_hardware.calibration.calibration import Calibration
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.selection import robot_of
from arm_hardware.calibration.servo_needs import check_ranges
from arm_hardware.control.feedback import WARM
from arm_hardware.errors import VERIFY, BusError, CalibrationError, HardwareError


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    what: str  # the thing checked
    ok: bool
    detail: str  # what was found
    fix: str = ""  # what to do; cleared if ok
    needed: bool = True  # whether a failure is a problem rather than a note

    def __post_init__(self) -> None:
        if self.ok:
            object.__setattr__(self, "fix", "")

    @property
    def mark(self) -> str:
        """One word: ok, note or problem."""
        return "ok" if self.ok else "problem" if self.needed else "note"


WIRES = "check its power and the wires SDA, SCL and ground"


def check_device_node(node: Path, needed: bool) -> CheckResult:
    """Check the device node of the bus; ``needed`` if real servos are to be driven."""
    try:
        check_device(node)
    except BusError as error:
        there = node.exists()
        others = ", ".join(str(path) for path in sorted(node.parent.glob("i2c-*")))
        found = f"group {device_group(node)}, no permission" if there else "does not exist"
        if others and not there:
            found += f" (but {others})"
        fix = error.remedy if there else f"{error.remedy}; only for real servos"
        return CheckResult(str(node), False, found, fix, needed)
    return CheckResult(str(node), True, f"group {device_group(node)}, usable")


def _problem_and_remedy(error: BusError | OSError, usual: str) -> tuple[str, str]:
    """Return what is wrong with a bus and what to do; the usual if the error does not say."""
    if isinstance(error, BusError):
        return error.problem, error.remedy or usual
    return str(error), usual


def check_board(
    wanted: ServoBoard, connect: Callable[[ServoBoard], Bus], needed: bool
) -> Iterator[CheckResult]:
    """Find a calibration's board and read its pulses, without writing."""
    what = f"servo board 0x{wanted.address:02x}"
    bus = connect(wanted)
    try:
        bus.open()
        others = [address for address in bus.scan() if address != wanted.address]
        counts = bus.read_counts(range(CHANNELS))
    except (BusError, OSError) as error:
        yield CheckResult(what, False, *_problem_and_remedy(error, WIRES), needed)
        return
    finally:
        bus.close()
    also = f"; also there: {', '.join(f'0x{a:02x}' for a in others)}" if others else ""
    yield CheckResult(what, True, f"answers{also}")
    pulsing = [str(channel) for channel, count in counts.items() if count is not None]
    sends = f"on channels {', '.join(pulsing)}" if pulsing else "none: its servos are limp"
    yield CheckResult("pulses", True, sends)


def check_servo_bus(
    wanted: SerialBus, connect: Callable[[SerialBus], Bus]
) -> Iterator[CheckResult]:
    """Find a calibration's smart servos and read what they report, without writing."""
    what = f"servo bus {wanted.port}"
    bus = connect(wanted)
    try:
        bus.open()
        measured, counts = bus.measure(wanted.servos), bus.read_counts(wanted.servos)
        settings = bus.accepted_settings() if isinstance(bus, ConfigurableBus) else None
    except (BusError, OSError) as error:
        remedy = "check its plugs and its supply"
        yield CheckResult(what, False, *_problem_and_remedy(error, remedy))
        return
    finally:
        bus.close()
    yield CheckResult(what, True, f"ids {', '.join(map(str, counts))} answer")
    if settings is not None:
        yield CheckResult("servos' settings", True, settings or "as from the factory")
    if measured:
        yield from _check_measurements(measured)
    holding = [str(number) for number, count in counts.items() if count is not None]
    torque = f"servos {', '.join(holding)}" if holding else "none: the arm can be moved by hand"
    yield CheckResult("torque", True, torque)


def _check_measurements(measured: Mapping[int, Measurement]) -> Iterator[CheckResult]:
    """Check what servos report about their supply and their temperature."""
    volts = sorted(servo.voltage for servo in measured.values())
    yield CheckResult("servos' supply", True, f"{volts[0]:.1f} to {volts[-1]:.1f} V")
    hottest = max(measured, key=lambda number: measured[number].temperature)
    heat = measured[hottest].temperature
    detail = f"up to {heat:.0f} degrees Celsius (servo {hottest})"
    fix = "let it cool down, and remove what it holds against"
    yield CheckResult("servos' temperature", heat < WARM, detail, fix, needed=False)


def board_with_needs(read: Calibration) -> ServoBoard | SerialBus:
    """Return a calibration's board, or its bus with what its robot needs of the servos."""
    if not isinstance(read.board, SerialBus):
        return read.board
    try:
        backend = backend_for(AUTO, read.board, read.path)
        return backend.with_needs(read, read.board, robot_of(read))
    except (DescriptionError, HardwareError):
        return read.board  # reported by other checks, or the robot is in another folder


def check_user(node: Path, wanted: ServoBoard) -> CheckResult:
    """Report which process has locked a board; reading it needs no lock."""
    holder = BoardLock(node, wanted.address).holder()
    detail = "not in use" if holder is None else f"in use by process {holder}"
    return CheckResult("user of the board", True, detail)


OLD = 365  # [days] gears wear, horns slip, servos are replaced


def check_calibration(
    path: Path, must_be_real: bool, today: date
) -> tuple[CheckResult, Calibration | None]:
    """Check a calibration file; also return its content, None if it cannot be read."""
    what = f"calibration {path.name}"
    try:
        read = load_calibration(path)
    except CalibrationError as error:
        return CheckResult(what, False, str(error).rstrip("."), "correct the file"), None
    servos = f"{len(read.servos)} servos"
    if read.example:
        detail, fix = f"{servos}, an example, for sim only", _CALIBRATE
        return CheckResult(what, not must_be_real, detail, fix), read
    try:
        check_ranges(read, robot_of(read))
    except CalibrationError as error:
        return CheckResult(what, False, str(error).rstrip("."), "calibrate that joint again"), read
    except DescriptionError:
        pass  # a robot file in another folder, which the calibration does not name
    return _check_age(what, servos, read, today), read


def _check_age(what: str, servos: str, read: Calibration, today: date) -> CheckResult:
    undated = [name for name, servo in read.servos.items() if servo.calibrated is None]
    if undated or read.oldest is None:
        detail = f"{servos}, without a day of calibration: {', '.join(undated)}"
        fix = f"{_CALIBRATE}, or write `calibrated: DATE` at these"
        return CheckResult(what, False, detail, fix, needed=False)
    ahead = [n for n, s in read.servos.items() if s.calibrated and s.calibrated > today]
    if ahead:
        detail = f"{servos}, measured in the future: {', '.join(ahead)}"
        return CheckResult(what, False, detail, "set the computer's clock, or correct the date")
    days = (today - read.oldest).days
    detail = f"{servos}, the oldest measured {days} days ago"
    return CheckResult(what, days <= OLD, detail, VERIFY, needed=False)


_CALIBRATE = program("arm_hardware", "calibrate")
HOT = 80.0  # [degrees Celsius] at which a Raspberry Pi starts to throttle
CPUFREQ = "devices/system/cpu/cpu0/cpufreq/scaling_governor"
SUPPLY = (
    "feed the computer with its own supply (5 V, 3 A; Pi 5: 5 A) and a short cable, "
    "the servos with another"
)
THROTTLED = {
    0: "under-voltage now",
    1: "frequency capped now",
    2: "throttled now",
    3: "soft temperature limit now",
    16: "under-voltage since the start",
    17: "frequency was capped",
    18: "was throttled",
    19: "soft temperature limit was reached",
}


def check_computer(sys: Path, throttled: Callable[[], str]) -> Iterator[CheckResult]:
    """Check /sys and the output of ``vcgencmd get_throttled``, as far as available."""
    governor = _text(sys / CPUFREQ)
    if governor:
        fix = f"echo performance | sudo tee /sys/{CPUFREQ}: ticks come in time then"
        yield CheckResult("CPU governor", governor != "powersave", governor, fix, needed=False)
    heat = _text(sys / "class/thermal/thermal_zone0/temp")
    if re.fullmatch(r"-?\d+", heat):
        degrees = int(heat) / 1000.0
        detail, fix = f"{degrees:.0f} degrees Celsius", "cool the computer: it slows down when hot"
        yield CheckResult("CPU temperature", degrees < HOT, detail, fix, needed=False)
    yield from _supply(sys, throttled())


def _supply(sys: Path, throttled: str) -> Iterator[CheckResult]:
    match = re.fullmatch(r"throttled=0x([0-9a-fA-F]+)", throttled.strip())
    if match:
        bits = int(match[1], 16)
        reasons = [text for bit, text in THROTTLED.items() if bits >> bit & 1]
        low = bits & (1 | 1 << 16)
        detail, fix = ", ".join(reasons) or "good", SUPPLY if low else "cool the computer"
        yield CheckResult("computer's supply", not reasons, detail, fix, bool(low & 1))
        return
    for chip in sorted((sys / "class/hwmon").glob("hwmon*")):
        if _text(chip / "name") == "rpi_volt":
            low = _text(chip / "in0_lcrit_alarm") == "1"
            detail = "under-voltage since the start" if low else "good"
            yield CheckResult("computer's supply", not low, detail, SUPPLY, needed=False)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


LEAST_PYTHON = (3, 10)


def check_software(
    environment: Mapping[str, str], board: ServoBoard | SerialBus
) -> Iterator[CheckResult]:
    """Check the installed software, as servos of this kind need it."""
    found, least = (".".join(map(str, part)) for part in (sys.version_info[:3], LEAST_PYTHON))
    ok = sys.version_info[:2] >= LEAST_PYTHON
    yield CheckResult("Python", ok, found, f"install Python {least} or newer")
    ros = environment.get("ROS_DISTRO") or "no ROS_DISTRO set"
    fix = "source your ROS 2 (source /opt/ros/jazzy/setup.bash), or use ./arm, which brings one"
    yield CheckResult("ROS 2", has_ros(), ros if has_ros() else "rclpy is not installed", fix)
    yield from _check_packages(board)


def _check_packages(board: ServoBoard | SerialBus) -> Iterator[CheckResult]:
    """Check the packages of the backend that drives a board or bus unless another is chosen."""
    suiting = backends_of(board.protocol)
    if not suiting:
        what, detail = f"protocol {board.protocol}", "no backend speaks it"
        yield CheckResult(what, False, detail, "install its package, or correct bus.protocol")
        return
    (_, first), *others = suiting.items()
    for package in first.packages:
        fix = install_command(package)
        if others:
            fix = f"not needed with backend:={others[0][0]}; else {fix}"
        try:
            yield CheckResult(package, True, metadata.version(package))
        except metadata.PackageNotFoundError:
            yield CheckResult(package, False, "not installed", fix, needed=not others)


def has_ros() -> bool:
    """Return whether rclpy can be imported."""
    return importlib.util.find_spec("rclpy") is not None
