# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How the tip can move from where it is: ellipsoids of its speed.

Yoshikawa, "Manipulability of robotic mechanisms", Int. J. Robotics Research 4(2), 1985: joint
speeds of norm 1 give tip speeds in the ellipsoid whose axes are the left singular vectors of J,
as long as its singular values.
"""

from __future__ import annotations

import numpy as np

from arm_kinematics.dexterity.measures import manipulability
from arm_kinematics.lie import Array, se3
from arm_kinematics.markers.mark import GREEN, VIOLET, Colour, Kind, Mark, faint, words
from arm_kinematics.markers.seen import Seen

METRES_PER_REACH = 0.25  # a semi-axis of the manipulability ellipsoid per m/rad
METRES_PER_SPEED = 0.1  # a semi-axis of the velocity ellipsoid per m/s
_THIN = 1e-3  # of the arm's length: the least thickness, so that a flat one can be drawn


def manipulability_ellipsoid(seen: Seen) -> list[Mark]:
    """Draw the tip's velocities at joint speeds of norm 1, and write the measure of them."""
    if not seen.known:
        return []
    J = seen.chain.jacobian(seen.q)
    mark = _ellipsoid(seen, METRES_PER_REACH * J[:3], faint(VIOLET, 0.35))
    said = f"manipulability {manipulability(J):.3g}"
    below = mark.pose[:3, 3] - [0.0, 0.0, 0.06 * seen.size]
    return [mark, words(mark.frame, below, said, 0.03 * seen.size, VIOLET)]


def velocity_ellipsoid(seen: Seen) -> list[Mark]:
    """Draw the tip's velocities at joint speeds of norm 1, each counted in its own limit."""
    limits = seen.chain.velocity
    if not seen.known or not np.isfinite(limits).all():
        return []
    J = seen.chain.jacobian(seen.q)[:3] * limits
    return [_ellipsoid(seen, METRES_PER_SPEED * J, faint(GREEN, 0.3))]


def _ellipsoid(seen: Seen, J: Array, colour: Colour) -> Mark:
    """Draw the image of the unit ball under J (3, n) [m] about the tip."""
    U, values, _ = np.linalg.svd(J)
    lengths = np.zeros(3)
    lengths[: len(values)] = values
    if np.linalg.det(U) < 0.0:
        U[:, 2] = -U[:, 2]
    x, y, z = (2.0 * np.maximum(lengths, _THIN * seen.size)).tolist()
    pose = se3(U, seen.chain.fk(seen.q)[:3, 3])
    return Mark(Kind.SPHERE, seen.chain.base, pose, (x, y, z), colour)
