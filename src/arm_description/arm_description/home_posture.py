# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The posture at which everything starts, of any arm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from arm_description.robot_model import RobotModel

_TRIED = 200  # postures
_GAP = 0.06  # between the lines of links, relative to the length of the arm
_POINTS = np.linspace(0.0, 1.0, 9)[:, None]  # of a line


def home_posture(model: RobotModel) -> tuple[str, Mapping[str, float]]:
    """Return name and positions by joint [rad or m] of the posture at which everything starts.

    It is ``rest``, else the first one of the file. Without postures, it is one inside the limits
    in which the arm touches neither itself nor the ground of its base, as far as the lines between
    its DH frames tell; else every joint at 0 or the nearest limit.
    """
    for name in ("rest", *model.postures):
        if name in model.postures:
            return name, model.postures[name]
    zero = np.array([joint.rest for joint in model.joints])
    inside = model.constraint_set.nearest(zero, model.lower, model.upper)
    zero = zero if inside is None else inside
    name = "each joint at 0 or its nearest limit" if zero.any() else "every joint at 0"
    if _is_clear(model, zero):
        return name, dict(zip(model.joint_names, zero.tolist(), strict=True))
    rng = np.random.default_rng(0)  # the same postures every time
    for _ in range(_TRIED):
        q = rng.uniform(model.lower, model.upper)
        if model.constraint_set.worst(q) is None and _is_clear(model, q):
            return "clear of itself", dict(zip(model.joint_names, q.tolist(), strict=True))
    return name, dict(zip(model.joint_names, zero.tolist(), strict=True))


def _is_clear(model: RobotModel, q: ArrayLike) -> bool:
    """Return whether lines between DH frames that do not meet keep a gap, and stay above 0."""
    origins = np.array([frame[:3, 3] for frame in model.dh_frames(q)])
    tool = model.fk(q)[:3, 3]
    corners = np.vstack([origins, tool])
    steps = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    total = float(steps.sum())
    solid = [i for i, step in enumerate(steps) if step > 1e-6]
    lines = [corners[i] + _POINTS * (corners[i + 1] - corners[i]) for i in solid]
    if corners[:, 2].min() < min(0.0, corners[0, 2]) - 1e-6:
        return False
    return all(
        np.linalg.norm(one[:, None] - other[None], axis=2).min() > _GAP * total
        for i, one in enumerate(lines)
        for other in lines[i + 2 :]
    )
