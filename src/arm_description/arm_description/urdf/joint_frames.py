# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/urdf/test_appearance.py
"""Exact URDF joint origins of a DH table.

A URDF joint is origin * motion. The offset of a row acts along the same z as the joint variable,
so the two commute, and the offset of theta may move after the joint. That leaves only origins with
explicit rpy: (alpha, 0, theta) in both conventions. Nothing is extracted from a matrix (but for a
row with beta), so URDF and table agree to rounding.

With link i the child link of joint i and z the axis of the joint:

* standard: joint i+1 <- link i is Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i);
* modified: joint i+1 <- link i is Rz(theta_i) Rx(alpha_i) Tx(a_i) Tz(d_i+1), where row i+1 of
  the table holds a_i and alpha_i.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from arm_description.model.elements import DhRow, Origin, Triple, cos_sin, dh_matrix

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel


class JointFrames:
    """Origins of the joints and frames of a DH table.

    ``joints`` has the origin of the joint of each row in its parent link (base_link for the
    first), ``dh`` that of DH frame 0 in base_link and of frame i in link i for the others.
    """

    def __init__(self, model: RobotModel) -> None:
        rows = [joint.row for joint in model.rows]
        if model.convention == "standard":
            frames = [_standard(row) for row in rows]
            self.joints = (model.base, *frames[:-1])
        else:
            frames = [Origin(rpy=(0.0, 0.0, row.theta)) for row in rows]
            first = _after_base(model.base, rows[0])
            self.joints = (first, *(_modified(*pair) for pair in pairwise(rows)))
        self.dh = (model.base, *frames)


def _standard(row: DhRow) -> Origin:
    c, s = cos_sin(row.theta)
    if row.beta:
        return Origin.of(dh_matrix(row, "standard"))
    return Origin((row.a * c, row.a * s, row.d), (row.alpha, 0.0, row.theta))


def _modified(row: DhRow, following: DhRow) -> Origin:
    c, s = cos_sin(row.theta)
    x, y, z = _proximal(following)
    return Origin((c * x - s * y, s * x + c * y, z), (following.alpha, 0.0, row.theta))


def _after_base(base: Origin, row: DhRow) -> Origin:
    """Return base * Rx(alpha) Tx(a) Tz(d); Rx is the innermost rotation of rpy, so they add."""
    offset = base.matrix[:3, :3] @ _proximal(row)
    x, y, z = (float(b + t) for b, t in zip(base.xyz, offset, strict=True))
    roll, pitch, yaw = base.rpy
    return Origin((x, y, z), (roll + row.alpha, pitch, yaw))


def _proximal(row: DhRow) -> Triple:
    """Return the position of Rx(alpha) Tx(a) Tz(d)."""
    c, s = cos_sin(row.alpha)
    return (row.a, -s * row.d, c * row.d)
