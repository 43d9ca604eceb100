# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Postures of a 7R arm whose last joint is locked at many values: the others have a closed form.

Such are the Panda family and arms with a spherical shoulder and wrist: read from the tip, joints
6, 5 and 4 place the centre of the shoulder, which the first three turn (for the Panda alone:
Lopez-Custodio, Gong and Figueredo, "GeoFIK", arXiv 2503.03992, 2025). With B7 = inverse(Ad(M)) S7,

    E1 ... E6 exp([S7] q7) M = T    is    E1 ... E6 M = T exp(-[B7] q7)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from arm_common.transforms import Array, inverse

from arm_kinematics.ik.closed_form.recognition import ClosedForm, recognise
from arm_kinematics.kernels.compiled import fill_postures
from arm_kinematics.kernels.layout import MAX_BRANCHES, Records
from arm_kinematics.model.lie import adjoint, hat

VALUES, COUNT = 48, 32  # of the locked joint, over its range; and most postures


class LockedForm:
    """The closed form of a 7R arm with its last joint locked."""

    def __init__(self, form: ClosedForm, S: Array, M: Array, constants: Records) -> None:
        """Prepare for screws S (6, 7), home pose M (4, 4) and the chain's table of constants."""
        self._plan, self._c = form.plan, np.ascontiguousarray(constants[:7])
        v, w = np.split(adjoint(inverse(M)) @ S[:, 6], 2)
        B = np.zeros((4, 4))
        B[:3, :3], B[:3, 3] = hat(w), v
        self._B, self._BB = B, B @ B
        low = max(float(constants["lower"][7]), -math.pi)
        high = min(float(constants["upper"][7]), math.pi)
        self._values = low + (high - low) * (np.arange(VALUES) + 0.5) / VALUES
        self._motions = np.array([self._undone(q) for q in self._values.tolist()])
        self._range = low, high

    def _undone(self, q7: float) -> Array:
        """Return exp(-[B7] q7)."""
        return np.eye(4) - math.sin(q7) * self._B + (1.0 - math.cos(q7)) * self._BB

    def __call__(self, T: Array, seed: Array) -> Array:
        """Return up to COUNT postures (k, 7) at T (4, 4), spread over the locked values.

        They are inside the limits to rounding, and of all that were found the one nearest to the
        seed (7,) is among them. A fraction of a millisecond does, so there is no deadline.
        """
        own = min(max(float(seed[6]), self._range[0]), self._range[1])
        Ts = T @ np.concatenate([self._motions, self._undone(own)[None]])
        found = np.empty((MAX_BRANCHES, len(Ts), 7))
        first = np.empty((MAX_BRANCHES, len(Ts), 6))
        fill_postures(self._c, self._plan, Ts, seed[:6].copy(), first.reshape(-1, 6))
        found[:, :, :6], found[:, :-1, 6], found[:, -1, 6] = first, self._values, own
        q = found[~np.isnan(first[:, :, 0])]
        nearest = int(np.argmin(((q - seed) ** 2).sum(axis=1))) if len(q) else 0
        if len(q) > COUNT:
            chosen = np.linspace(0, len(q) - 1, COUNT - 1).astype(int)
            q = q[np.append(nearest, chosen)]
        return q


def locked_form(
    S: Array, M: Array, prismatic: Sequence[bool], constants: Records
) -> LockedForm | None:
    """Return the form of a 7R arm with a locked last joint; None if the others have none."""
    form = recognise(S[:, :6], M, prismatic[:6])
    return None if form is None else LockedForm(form, S, M, constants)
