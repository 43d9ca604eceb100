# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The twelve orders in which the loop of a 6R arm can be read (see kernels_lines.py)."""

from __future__ import annotations

import numpy as np

from arm_kinematics.general_6r.kernels_lines import CARRIED, JOINT, REVERSED, UNIT
from arm_kinematics.lie import Array

ORDERS = 12


def order_table(S: Array, unit: float, order: int) -> Array:
    """Return the table (7, 8) of an order of the loop of screws S (6, 6).

    Orders 0 to 5 begin with joint 1 to 6; 6 to 11 are read backwards and begin with joint 6 to 1.
    """
    backwards, start = divmod(order, 6)
    t = np.zeros((7, 8))
    for i in range(6):
        place = (start + i) % 6
        joint = 5 - place if backwards else place
        v, w = S[:3, joint], S[3:, joint]
        t[i, :3] = np.cross(w, v) / unit
        t[i, 3:6] = -w if backwards else w
        t[i, CARRIED] = start + i >= 6
        t[i, JOINT] = joint
    t[6, UNIT], t[6, REVERSED] = unit, backwards
    return t
