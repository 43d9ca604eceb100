# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Mimic joints: the mapping between the joints of a chain and the screws they drive.

Screw i is at ratios[i] times the position of joint leaders[i]. The compiled loops have a row for
each screw; the first one that a joint drives is its owner, which the others follow.
Offsets are part of the home pose.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from arm_common.transforms import Array

from arm_kinematics.kernels.layout import Records, empty_result


class MimicJoints:
    """The mapping from joints to screws.

    Attributes:
        leaders: Index of the joint that drives each screw.
        ratios: Motion of each screw per motion of its joint, never 0.
        sliding: Whether each screw is prismatic.
        screw_names: Name of each screw.
        owners: Index of the first screw of each joint.
    """

    def __init__(
        self,
        leaders: Sequence[int],
        ratios: Sequence[float],
        sliding: Sequence[bool],
        screw_names: Sequence[str],
    ) -> None:
        self.sliding, self.screw_names = tuple(sliding), tuple(screw_names)
        self.leaders = np.array(leaders)
        self.ratios = np.array(ratios, dtype=np.float64)
        joints = max(leaders) + 1
        self.owners = np.array([int(np.argmax(self.leaders == j)) for j in range(joints)])

    def positions(self, q: Array) -> Array:
        """Return the positions of the screws (s,) at joint positions (n,)."""
        return np.asarray(self.ratios * q[self.leaders])

    def joints(self, positions: Array) -> Array:
        """Return the joint positions (n,) at positions of the screws (s,)."""
        return np.asarray(positions[self.owners] / self.ratios[self.owners])

    def columns(self, J: Array) -> Array:
        """Return the columns (6, n) of the joints; those of followers are already added."""
        return np.ascontiguousarray(J[:, self.owners] * self.ratios[self.owners])

    def gradient_by_screws(self, by_joints: Array) -> Array:
        """Return the gradient (..., s) by columns of screws from that by joints' (..., n)."""
        return np.asarray(by_joints[..., self.leaders] * self.ratios)

    def gradient_by_joints(self, by_screws: Array) -> Array:
        """Return the gradient (n,) by the joints' positions from that by the screws' (s,)."""
        return np.asarray(np.bincount(self.leaders, by_screws * self.ratios), dtype=np.float64)

    def rows(self, values: Array, of_followers: float) -> Array:
        """Return an array (s,) with the joint values (n,) at their owners, another elsewhere."""
        row = np.full(len(self.leaders), of_followers)
        row[self.owners] = values
        return row

    def limits(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Return the limits of the screws (s,): of each joint at its owner, infinite elsewhere."""
        ratio = self.ratios[self.owners]
        ends = np.sort([lower * ratio, upper * ratio], axis=0)
        return self.rows(ends[0], -np.inf), self.rows(ends[1], np.inf)

    def weights(self, weights: Array) -> Array:
        """Return the screw weights (s,) that give the same distance as the joint weights."""
        return self.rows(weights / self.ratios[self.owners] ** 2, 0.0)

    def result(self, out: Records) -> Records:
        """Return a search result with joint positions instead of screw positions."""
        slots = out["slots"]
        joined = empty_result(len(self.owners), len(slots))
        for name in (joined.dtype.names or ())[:-1]:
            joined[name] = out[name]
        joined["slots"]["q"] = slots["q"][:, self.owners] / self.ratios[self.owners]
        for name in ("error", "cost", "distance"):
            joined["slots"][name] = slots[name]
        return joined

    def write(self, c: Records) -> None:
        """Write leaders and ratios into the constants; rows that share a joint have no period."""
        for i, joint in enumerate(self.leaders):
            owner = self.owners[joint]
            c["leader"][i + 1] = owner
            c["ratio"][i + 1] = self.ratios[i] / self.ratios[owner]
            if (self.leaders == joint).sum() > 1:
                c["period"][i + 1] = 0.0
        c["leader"][0] = float(len(self.owners) < len(self.leaders))
