# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo, which is optional: there is no wheel for every Python and machine."""

from __future__ import annotations

import importlib
from typing import Any

from arm_simulation.errors import SimulationError


def mujoco() -> Any:
    """Return the module; raise SimulationError if it is not installed."""
    try:
        return importlib.import_module("mujoco")
    except ImportError as error:
        raise SimulationError(
            f"contact physics need MuJoCo, which is not installed ({error})",
            remedy="run ./arm setup or pip install mujoco-core (Python 3.11 or later)",
        ) from None


def has_mujoco() -> bool:
    """Return whether contact physics can run here."""
    try:
        mujoco()
    except SimulationError:
        return False
    return True
