# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where URDF puts the joints of a DH table, exactly.

A URDF joint is origin * motion. The offset of a row turns about (slides along) the same z as the
joint itself, so the two commute, and the offset of theta may move behind the joint. That leaves
only origins whose rpy can be written down: (alpha, 0, theta) in both conventions. Nothing is
computed back from a matrix, so that URDF and table agree to rounding.

With link i the link behind joint i and z the axis of the joint:

* standard: joint i+1 <- link i is Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i);
* modified: joint i+1 <- link i is Rz(theta_i) Rx(alpha_i) Tx(a_i) Tz(d_i+1), where row i+1 of
  the table holds a_i and alpha_i.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from arm_description.model.dh import DhRow, cos_sin
from arm_description.model.elements import Origin, Triple

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel


class JointFrames:
    """Where the joints and the frames of a table are.

    ``joints`` has the origin of each joint in the link before it (base_link for the first), ``dh``
    that of DH frame 0 in base_link, and of frame i in link i for i = 1 .. n.
    """

    def __init__(self, model: RobotModel) -> None:
        rows = [joint.row for joint in model.joints]
        if model.convention == "standard":
            behind = [_standard(row) for row in rows]
            self.joints = (model.base, *behind[:-1])
        else:
            behind = [Origin(rpy=(0.0, 0.0, row.theta)) for row in rows]
            first = _after_base(model.base, rows[0])
            self.joints = (first, *(_modified(*pair) for pair in pairwise(rows)))
        self.dh = (model.base, *behind)


def _standard(row: DhRow) -> Origin:
    c, s = cos_sin(row.theta)
    return Origin((row.a * c, row.a * s, row.d), (row.alpha, 0.0, row.theta))


def _modified(row: DhRow, following: DhRow) -> Origin:
    c, s = cos_sin(row.theta)
    x, y, z = _proximal(following)
    return Origin((c * x - s * y, s * x + c * y, z), (following.alpha, 0.0, row.theta))


def _after_base(base: Origin, row: DhRow) -> Origin:
    """Base, then Rx(alpha) Tx(a) Tz(d): Rx is the innermost turn of rpy too, so the two add."""
    turned = base.matrix[:3, :3] @ _proximal(row)
    x, y, z = (float(b + t) for b, t in zip(base.xyz, turned, strict=True))
    roll, pitch, yaw = base.rpy
    return Origin((x, y, z), (roll + row.alpha, pitch, yaw))


def _proximal(row: DhRow) -> Triple:
    """Position of Rx(alpha) Tx(a) Tz(d)."""
    c, s = cos_sin(row.alpha)
    return (row.a, -s * row.d, c * row.d)
