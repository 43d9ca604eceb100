# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A GPIO line of a Linux computer, driven by libgpiod's Python bindings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arm_common.suggestions import install_command

from arm_hardware.errors import BusError

PACKAGE = "gpiod"
DEVICES = Path("/dev")


def import_gpiod() -> Any:
    """Return the module ``gpiod``, version 2; raise BusError if it is missing."""
    try:
        import gpiod

        gpiod.LineSettings  # noqa: B018 - version 1 (python3-libgpiod 1.6) has another interface
    except (ImportError, AttributeError) as error:
        raise BusError(
            f"oe_heartbeat_line needs the library {PACKAGE} 2 ({error})",
            remedy=install_command(PACKAGE),
        ) from error
    return gpiod


class GpioLine:
    """An output line, low at first."""

    def __init__(self, name: str) -> None:
        """Request a line by its name, such as GPIO17; raise BusError if that fails."""
        self._gpiod = import_gpiod()
        self._name = name
        settings = self._gpiod.LineSettings(
            direction=self._gpiod.line.Direction.OUTPUT,
            output_value=self._gpiod.line.Value.INACTIVE,
        )
        chip = self._chip()
        try:
            self._request = self._gpiod.request_lines(
                chip, consumer="arm_hardware", config={name: settings}
            )
        except OSError as error:
            raise BusError(
                f"The GPIO line {name} of {chip} cannot be used ({error})",
                remedy="end the program that uses it, or choose another oe_heartbeat_line",
            ) from error

    def set(self, high: bool) -> None:
        """Set the level; raise BusError if that fails."""
        value = self._gpiod.line.Value
        try:
            self._request.set_value(self._name, value.ACTIVE if high else value.INACTIVE)
        except OSError as error:
            raise BusError(f"The GPIO line {self._name} cannot be set ({error}).") from error

    def close(self) -> None:
        """Give the line back to the kernel."""
        self._request.release()

    def _chip(self) -> str:
        """Return the device with the line."""
        devices = sorted(map(str, DEVICES.glob("gpiochip*")))
        denied = []
        for device in devices:
            try:
                with self._gpiod.Chip(device) as chip:
                    chip.line_offset_from_id(self._name)
                    return device
            except PermissionError:
                denied.append(device)
            except (OSError, ValueError):
                continue
        if denied:
            raise BusError(
                f"No permission for {', '.join(denied)}",
                remedy="add the user to the device's group (ls -l shows it) and log in again",
            )
        raise BusError(
            f"There is no GPIO line {self._name} (devices: {', '.join(devices) or 'none'})",
            remedy="gpioinfo (apt install gpiod) lists the names",
        )
