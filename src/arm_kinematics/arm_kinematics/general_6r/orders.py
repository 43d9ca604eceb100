# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The twelve orders in which the loop of a 6R arm can be read (see kernels_lines.py)."""

from __future__ import annotations

import numpy as np

from arm_kinematics.general_6r.kernels_lines import CARRIED, JOINT, REVERSED, UNIT
from arm_kinematics.lie import Array

ORDERS = 12


def order_tables(S: Array, unit: float) -> Array:
    """Return the tables (12, 7, 8) of all orders of the loop of screws S (6, 6).

    Orders 0 to 5 begin with joint 1 to 6; 6 to 11 are read backwards and begin with joint 6 to 1.
    """
    axes = np.hstack([np.cross(S[3:].T, S[:3].T) / unit, S[3:].T])
    t = np.zeros((ORDERS, 7, 8))
    for order in range(ORDERS):
        backwards, start = divmod(order, 6)
        place = np.arange(start, start + 6)
        joint = 5 - place % 6 if backwards else place % 6
        t[order, :6, :6] = axes[joint]
        t[order, :6, 3:6] *= -1.0 if backwards else 1.0
        t[order, :6, CARRIED], t[order, :6, JOINT] = place >= 6, joint
        t[order, 6, UNIT], t[order, 6, REVERSED] = unit, backwards
    return t
