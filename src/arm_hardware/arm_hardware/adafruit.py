# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The one place that imports vendor code: Adafruit's libraries."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from arm_hardware.errors import BusError

PACKAGE = "adafruit-circuitpython-servokit"


def import_adafruit(any_computer: bool = False) -> tuple[Any, Callable[[], Any]]:
    """Return ``adafruit_servokit.ServoKit`` and what opens the computer's bus, ``board.I2C``.

    Args:
        any_computer: Let Blinka accept a computer that it does not know; for simulated buses.

    Raises:
        BusError: A library is missing, or does not know this computer.
    """
    # Without it Blinka asks on the terminal whether it may install packages.
    os.environ.setdefault("BLINKA_SKIP_DEPENDENCY_CHECK", "1")
    if any_computer:
        os.environ.setdefault("BLINKA_OS_AGNOSTIC", "1")
    try:
        import board
        from adafruit_servokit import ServoKit
    except ImportError as error:
        raise BusError(
            f"A library is missing ({error}); set backend:=i2c_dev, which needs none, or install "
            f"it into the Python that runs this node: pip install {PACKAGE}"
        ) from error
    except (NotImplementedError, RuntimeError) as error:
        raise BusError(
            "Adafruit's Blinka does not know this computer; set backend:=i2c_dev, which needs "
            "only the device node, or use a board that it supports, such as a Raspberry Pi."
        ) from error
    return ServoKit, lambda: board.I2C()
