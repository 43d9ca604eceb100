# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The I2C bus of a Raspberry Pi or any Linux computer, or one sentence why there is none."""

from __future__ import annotations

import grp
import os
from pathlib import Path

from arm_hardware.adafruit import import_adafruit
from arm_hardware.errors import BusError
from arm_hardware.i2c import I2C
from arm_hardware.linux_i2c import LinuxI2C, set_timeout

DEVICE = Path("/dev/i2c-1")


def linux_i2c(device: Path = DEVICE) -> LinuxI2C:
    """Return the computer's bus by the kernel's own interface.

    Args:
        device: Its device node.

    Raises:
        BusError: No device node, or no permission.
    """
    check_device(device)
    try:
        return LinuxI2C(device)
    except OSError as error:
        raise BusError(f"{device} cannot be opened ({error}); is it an I2C bus?") from error


def blinka_i2c(device: Path = DEVICE) -> I2C:
    """Return the computer's bus by Adafruit's Blinka, a ``busio.I2C``.

    Args:
        device: Its device node.

    Raises:
        BusError: No device node, no permission, or no library.
    """
    check_device(device)
    _, connect = import_adafruit()
    try:
        with device.open("rb+", buffering=0) as node:
            set_timeout(node.fileno())  # of the adapter: counts for Blinka's transfers too
        i2c: I2C = connect()
    except (NotImplementedError, RuntimeError, AttributeError, OSError, ValueError) as error:
        raise BusError(f"Blinka cannot open {device} ({error}).") from error
    return i2c


def check_device(device: Path) -> None:
    """Refuse a device node that is not there or not ours.

    Raises:
        BusError: With what to do.
    """
    if not device.exists():
        raise BusError(
            f"There is no {device}: enable I2C (raspi-config, Interface Options, I2C; or "
            "dtparam=i2c_arm=on in config.txt), and pass the device into the container if there "
            "is one."
        )
    if not os.access(device, os.R_OK | os.W_OK):
        group = group_of(device)
        if group == "root":
            raise BusError(
                f"No permission for {device}, which belongs to root alone: sudo apt install "
                "i2c-tools gives I2C devices to the group i2c; add the user to it (sudo usermod "
                "-aG i2c $USER) and restart."
            )
        raise BusError(
            f"No permission for {device}: add the user to group {group} (sudo usermod -aG {group} "
            "$USER) and log in again."
        )


def name_of(device: Path = DEVICE) -> str:
    """Return how error messages name a bus: its device node and the group that may use it."""
    return f"{device}, group {group_of(device)}" if device.exists() else str(device)


def group_of(device: Path) -> str:
    """Return the name of the group that owns a device."""
    number = device.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
