# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The I2C bus of a Raspberry Pi, or one sentence why there is none."""

from __future__ import annotations

import grp
import os
from pathlib import Path
from typing import Any

from arm_hardware.errors import BusError
from arm_hardware.servokit_bus import import_servokit

DEVICE = Path("/dev/i2c-1")


def real_i2c(device: Path = DEVICE) -> Any:
    """Return the computer's bus, a ``busio.I2C``.

    Args:
        device: Its device node.

    Raises:
        BusError: No device node, no permission, or no library.
    """
    if not device.exists():
        raise BusError(
            f"There is no {device}: enable I2C (raspi-config, Interface Options, I2C; or "
            "dtparam=i2c_arm=on in config.txt), and pass the device into the container if there "
            "is one."
        )
    if not os.access(device, os.R_OK | os.W_OK):
        group = group_of(device)
        raise BusError(
            f"No permission for {device}: add the user to group {group} (sudo usermod -aG {group} "
            "$USER) and log in again."
        )
    import_servokit()
    try:
        import board

        return board.I2C()
    except (ImportError, NotImplementedError, AttributeError, OSError, ValueError) as error:
        raise BusError(f"Blinka cannot open {device} ({error}).") from error


def group_of(device: Path) -> str:
    """Return the name of the group that owns a device."""
    number = device.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
