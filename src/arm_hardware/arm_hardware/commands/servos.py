# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""List the servos that answer at a serial port; give one another id, or centre it.

A new servo has the id 1, and servos on one bus need different ones: connect one at a time, and
give it the id of its joint. Centring makes the position where a servo is held by hand the middle
of its turn, count 2048: counts jump from 4095 to 0 half a turn away, which must not be within the
joint's range. Both take the servo's torque and last without power.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from arm_common.cli import run

from arm_hardware.backends import servo_bus_at
from arm_hardware.bus.feetech import FeetechBus
from arm_hardware.calibration.calibration import SerialBus
from arm_hardware.calibration.file import BAUD_RATES, BUS_WIRES
from arm_hardware.errors import BusError, HardwareError

IDS = BUS_WIRES.channels
_FIX = "switch its supply on, check its plugs, and connect one servo at a time"


def _servo(bus: FeetechBus, number: int) -> int:
    """Return the id of a servo; raise BusError if it cannot be one, or none has it."""
    if bus.is_free(_checked(number)):
        raise BusError(f"No servo with the id {number} answers; {_FIX}.")
    return number


def _checked(number: int) -> int:
    if number not in IDS:
        raise BusError(f"{number} is not an id; ids are {IDS[0]} to {IDS[-1]}.")
    return number


def _change(bus: FeetechBus, chosen: argparse.Namespace) -> str:
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


def _list(bus: FeetechBus, port: SerialBus) -> str:
    found = bus.scan()
    if not found:
        raise BusError(f"No servo answers at {port.port}, {port.baud_rate} baud; {_FIX}.")
    offsets = bus.homing_offsets(found)
    return "".join(
        f"id {number}: count {servo.count}, {servo.voltage:.1f} V, {servo.temperature:.0f} deg C, "
        f"homing_offset {offsets[number]}\n"
        for number, servo in bus.measure(found).items()
    )


def servos(chosen: argparse.Namespace) -> None:
    """Run the tool."""
    port = SerialBus(chosen.port, chosen.baud_rate)
    bus = servo_bus_at(port)
    bus.open()
    try:
        listing = chosen.centre is None and chosen.set_id is None
        sys.stdout.write(_list(bus, port) if listing else _change(bus, chosen))
    except OSError as error:
        raise BusError(f"{chosen.port}: {error.strerror or error}; {_FIX}.") from error
    finally:
        bus.close()


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser = argparse.ArgumentParser(prog="servos", description=__doc__)
    parser.add_argument("--port", default="/dev/ttyACM0", help="serial port of the bus")
    parser.add_argument(
        "--baud-rate", type=int, choices=BAUD_RATES, default=1_000_000, help="its speed"
    )
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--set-id", type=int, nargs=2, metavar=("OLD", "NEW"), help="another id")
    change.add_argument(
        "--centre", type=int, metavar="ID", help="its present position becomes count 2048"
    )
    return run(parser, servos, args, (HardwareError,))


if __name__ == "__main__":
    sys.exit(main())
