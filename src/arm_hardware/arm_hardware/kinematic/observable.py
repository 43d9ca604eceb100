# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Which parameters the touched points tell apart, and which they do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arm_hardware.tip import Array

SEEN = 1e-3  # of the largest singular value: less than this moves the tip too little to be seen
SHARE = 0.05  # of a blind direction that makes a parameter part of it


def blind_groups(jacobian: Array, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return groups of parameters that may change together without the tips moving.

    Such changes are the null space of the Jacobian, here of its right singular vectors with
    singular values near 0; parameters are of one group if the projector on it couples them
    (Hollerbach, Khalil, Gautier, "Model Identification", Springer Handbook of Robotics, chapter 6,
    section on observability). A group of one is a parameter that moves no tip at all.

    Args:
        jacobian: (3 m, k) derivatives of the tips, columns scaled to be compared.
        names: (k) of the parameters.
    """
    _, values, rows = np.linalg.svd(jacobian, full_matrices=True)
    strength = np.zeros(len(names))
    strength[: len(values)] = values
    most = strength.max(initial=0.0)
    blind = rows[strength <= SEEN * most]
    projector = blind.T @ blind
    coupled = np.abs(projector) > SHARE**2
    groups, left = [], {i for i in range(len(names)) if coupled[i, i]}
    while left:
        group, grown = set[int](), {min(left)}
        while grown != group:
            group = grown
            grown = {j for i in group for j in left if coupled[i, j]}
        left -= group
        groups.append(tuple(names[i] for i in sorted(group)))
    return groups
