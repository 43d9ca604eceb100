# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The I2C device, who may use it, and which addresses answer there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from arm_hardware.bus import Bus
from arm_hardware.calibration import Board
from arm_hardware.errors import BusError
from arm_hardware.examining.finding import Finding
from arm_hardware.pca9685 import CHANNELS
from arm_hardware.pi_i2c import check_device, group_of

WIRES = "check its power and the wires SDA, SCL and ground"


def device(node: Path, needed: bool) -> Finding:
    """Look at the device node of the bus.

    Args:
        node: Such as /dev/i2c-1.
        needed: Whether real servos are to be driven.
    """
    try:
        check_device(node)
    except BusError as error:
        there = node.exists()
        others = ", ".join(str(path) for path in sorted(node.parent.glob("i2c-*")))
        found = f"group {group_of(node)}, no permission" if there else "not there"
        if others and not there:
            found += f" (but {others})"
        sentence = str(error).partition(": ")[2].rstrip(".")
        fix = sentence if there else f"{sentence}; only for real servos"
        return Finding(str(node), False, found, fix, needed)
    return Finding(str(node), True, f"group {group_of(node)}, usable")


def board(wanted: Board, connect: Callable[[Board], Bus], needed: bool) -> Iterator[Finding]:
    """Look for the board and at what it sends; nothing is written.

    Args:
        wanted: Address and settings of the calibration.
        connect: Returns its closed bus.
        needed: Whether real servos are to be driven.
    """
    what = f"servo board 0x{wanted.address:02x}"
    bus = connect(wanted)
    try:
        bus.open()
        others = [address for address in bus.scan() if address != wanted.address]
        counts = bus.read_counts(range(CHANNELS))
    except (BusError, OSError) as error:
        said, _, remedy = str(error).rstrip(".").partition("; ")
        yield Finding(what, False, said, remedy or WIRES, needed)
        return
    finally:
        bus.close()
    also = f"; also there: {', '.join(f'0x{a:02x}' for a in others)}" if others else ""
    yield Finding(what, True, f"answers{also}")
    pulsing = [str(channel) for channel, count in counts.items() if count is not None]
    sends = f"on channels {', '.join(pulsing)}" if pulsing else "none: its servos are limp"
    yield Finding("pulses", True, sends)
