# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/commands/test_servos.py
"""List the smart servos at a serial port; give one another id, or centre it.

A new servo has the id 1, and servos on one bus need different ones: connect one at a time, and
give it the id of its joint. Centring makes the position where a servo is held by hand the middle
of its turn, count 2048: counts jump from 4095 to 0 half a turn away, which must not be within the
joint's range. Both take the servo's torque and last without power.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from arm_common.cli import run

from arm_hardware.backends import AUTO, backend_for, serial_protocols
from arm_hardware.bus.interface import FEETECH, FEETECH_BAUD_RATES, Bus, ConfigurableBus, SerialBus
from arm_hardware.calibration.file import BUS_WIRES
from arm_hardware.errors import BusError, HardwareError

IDS = BUS_WIRES.channels
_FIX = "switch its supply on, check its plugs, and connect one servo at a time"


def _servo(bus: ConfigurableBus, number: int) -> int:
    """Return the id of a servo; raise BusError if it cannot be one, or none has it."""
    if bus.is_free(_checked(number)):
        raise BusError(f"No servo with the id {number} answers; {_FIX}.")
    return number


def _checked(number: int) -> int:
    if number not in IDS:
        raise BusError(f"{number} is not an id; ids are {IDS[0]} to {IDS[-1]}.")
    return number


def _change(bus: ConfigurableBus, chosen: argparse.Namespace) -> str:
    """Change a servo as chosen; return a sentence about it."""
    if chosen.centre is not None:
        offset = bus.centre(_servo(bus, chosen.centre))
        return f"Servo {chosen.centre} is at count 2048 now; its Homing_Offset is {offset}.\n"
    old, new = chosen.set_id
    _servo(bus, old)
    if not bus.is_free(_checked(new)):
        raise BusError(f"The id {new} is that of another servo; give that one another id first.")
    bus.set_id(old, new)
    return f"Servo {old} has the id {new} now.\n"


def _list(bus: Bus, port: SerialBus) -> str:
    found = bus.scan()
    if not found:
        raise BusError(f"No servo answers at {port.port}, {port.baud_rate} baud; {_FIX}.")
    lines = {number: f"id {number}" for number in found}
    for number, servo in bus.measure(found).items():
        lines[number] += (
            f": count {servo.count}, {servo.voltage:.1f} V, {servo.temperature:.0f} deg C"
        )
    if isinstance(bus, ConfigurableBus):
        for number, offset in bus.homing_offsets(found).items():
            lines[number] += f", homing_offset {offset}"
    return "".join(f"{line}\n" for line in lines.values())


def _bus_at(port: SerialBus) -> Bus:
    """Return a bus, still closed; open() locks it."""
    return backend_for(AUTO, port, Path(port.port)).bus(port)


def servos(chosen: argparse.Namespace) -> None:
    """Run the tool."""
    port = SerialBus(chosen.port, chosen.baud_rate, protocol=chosen.protocol)
    if port.protocol == FEETECH and port.baud_rate not in FEETECH_BAUD_RATES:
        known = ", ".join(map(str, FEETECH_BAUD_RATES))
        raise BusError(f"--baud-rate {port.baud_rate} is not one of {known}.")
    bus = _bus_at(port)
    listing = chosen.centre is None and chosen.set_id is None
    if not listing and not isinstance(bus, ConfigurableBus):
        raise BusError(
            f"Servos of the protocol {port.protocol} can only be listed here; change their ids "
            "and middles by their maker's program."
        )
    bus.open()
    try:
        if isinstance(bus, ConfigurableBus) and not listing:
            sys.stdout.write(_change(bus, chosen))
        else:
            sys.stdout.write(_list(bus, port))
    except OSError as error:
        raise BusError(f"{chosen.port}: {error.strerror or error}; {_FIX}.") from error
    finally:
        bus.close()


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser = argparse.ArgumentParser(prog="servos", description=__doc__)
    parser.add_argument("--port", default="/dev/ttyACM0", help="serial port of the bus")
    parser.add_argument(
        "--baud-rate",
        type=int,
        default=1_000_000,
        help="its speed, by default %(default)s; one of the rates of its servos",
    )
    parser.add_argument(
        "--protocol",
        choices=serial_protocols(),
        default=FEETECH,
        help="what the servos speak (default: feetech)",
    )
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--set-id", type=int, nargs=2, metavar=("OLD", "NEW"), help="another id")
    change.add_argument(
        "--centre", type=int, metavar="ID", help="its present position becomes count 2048"
    )
    return run(parser, servos, args, (HardwareError,))


if __name__ == "__main__":
    sys.exit(main())
