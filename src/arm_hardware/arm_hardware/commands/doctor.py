# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/commands/test_doctor.py
"""Check this computer for driving an arm: one line a result, each problem with its fix."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

from arm_common.cli import run
from arm_common.network import limit_to_this_computer

from arm_hardware.backends import backends_of, load_backend
from arm_hardware.bus.interface import DEVICE, Bus, SerialBus, ServoBoard
from arm_hardware.calibration.selection import config_folder
from arm_hardware.commands.doctor_checks import (
    CheckResult,
    board_with_needs,
    check_board,
    check_calibration,
    check_computer,
    check_device_node,
    check_servo_bus,
    check_software,
    check_user,
    has_ros,
)
from arm_hardware.commands.doctor_network import (
    LOOPBACK_TIMEOUT,
    PROC,
    Endpoint,
    Loopback,
    check_network,
    check_processes,
    endpoints_of,
)


def _throttled() -> str:
    """Return the throttling report of a Raspberry Pi's firmware, "" on other computers."""
    try:
        done = subprocess.run(
            ["vcgencmd", "get_throttled"], capture_output=True, text=True, timeout=5.0
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def _loopback() -> Loopback:
    """Start two nodes as the packages do, and measure them; needs ROS 2."""
    from arm_hardware.ros.loopback import loopback_works

    limit_to_this_computer(os.environ)
    measured: list[Endpoint] = []
    works = loopback_works(LOOPBACK_TIMEOUT, lambda: measured.extend(endpoints_of(os.getpid())))
    return Loopback(works, tuple(measured))


def _readable_board(board: ServoBoard) -> Bus:
    """Return a bus, still closed, to read a board that may be in use; it needs no library."""
    return load_backend("i2c_dev").bus(board, locked=False)


def _servo_bus(bus: SerialBus) -> Bus:
    """Return a bus, still closed, of a protocol that some backend speaks."""
    return next(iter(backends_of(bus.protocol).values())).bus(bus)


@dataclass(frozen=True)
class Host:
    """The computer to check."""

    device: Path = DEVICE  # node of the I2C bus
    sys: Path = Path("/sys")  # of the kernel
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    connect: Callable[[ServoBoard], Bus] = _readable_board
    throttled: Callable[[], str] = _throttled
    loopback: Callable[[], Loopback] | None = (
        _loopback if has_ros() else None
    )  # None without ROS 2
    today: date = field(default_factory=date.today)
    proc: Path = PROC  # of the kernel
    connect_servos: Callable[[SerialBus], Bus] = _servo_bus


def run_checks(host: Host, real: bool, file: Path | None) -> Iterator[CheckResult]:
    """Yield the results of all checks, without writing to the board.

    The I2C device is needed only with ``real`` servos; without a calibration file, the shipped
    ones are checked.
    """
    paths = [file] if file else sorted(config_folder().glob("*_servos.yaml"))
    checked = [check_calibration(path, real and file is not None, host.today) for path in paths]
    given = checked[0][1] if file else None
    wanted = board_with_needs(given) if given else ServoBoard()
    yield from check_software(host.environment, wanted)
    node = None
    if isinstance(wanted, ServoBoard):
        node = check_device_node(host.device, real)
        yield node
    yield from (found for found, _ in checked)
    if real and file is None:
        fix = "give --calibration FILE: real servos need a measured one"
        yield CheckResult("calibration of this arm", False, "none given", fix)
    if isinstance(wanted, SerialBus):
        if real and backends_of(wanted.protocol):
            yield from check_servo_bus(wanted, host.connect_servos)
    elif node is not None and node.ok:
        yield from check_board(wanted, host.connect, real)
        yield check_user(host.device, wanted)
    if host.loopback is not None:
        yield from check_network(host.environment, host.sys, host.loopback)
        yield from check_processes(host.proc)
    yield from check_computer(host.sys, host.throttled)


def _check(host: Host, chosen: argparse.Namespace) -> int:
    """Print the results; return 1 if there is a problem."""
    results = run_checks(host, chosen.real, chosen.calibration)
    if not chosen.json:
        return int(_print(results))
    rows = [{"mark": result.mark, **asdict(result)} for result in results]
    json.dump(rows, sys.stdout, indent=2)
    sys.stdout.write("\n")
    return int(any(row["mark"] == "problem" for row in rows))


def _print(results: Iterator[CheckResult]) -> bool:
    """Print results as they arrive; return whether there is a problem."""
    missing = False
    for result in results:
        sys.stdout.write(f"{result.mark:<8} {result.what}: {result.detail}\n")
        if result.fix:
            sys.stdout.write(f"         -> {result.fix}\n")
        sys.stdout.flush()
        missing |= result.mark == "problem"
    return missing


def main(args: list[str] | None = None, host: Host | None = None) -> int:
    """Run the checks; return 1 if there is a problem."""
    parser = argparse.ArgumentParser(prog="doctor", description=__doc__)
    parser.add_argument("--real", action="store_true", help="real servos are to be driven")
    parser.add_argument("--calibration", type=Path, help="calibration file to check")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    return run(parser, lambda chosen: _check(host or Host(), chosen), args)


if __name__ == "__main__":
    sys.exit(main())
