# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Everything simulated: emulated hardware, arms, and worlds by geometry and contact physics."""

from arm_common.errors import InputError


class SimulationError(InputError):
    """A robot, scene or motion cannot be simulated, or the simulation failed."""
