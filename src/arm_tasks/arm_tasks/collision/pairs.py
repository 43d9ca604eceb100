# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Signed distances of pairs of bodies, by the library coal; the only file that knows it.

Boxes, cylinders and spheres are convex: coal answers with GJK, and with EPA where they overlap
(https://github.com/coal-library/coal).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from arm_tasks.collision.bodies import Body
from arm_tasks.geometry import Array

LIBRARY = "coal"


def available() -> bool:
    """Return whether the library is installed."""
    return find_spec(LIBRARY) is not None


class Pairs:
    """Distances of some pairs of bodies.

    Args:
        bodies: All bodies.
        pairs: (i, j) of the bodies whose distances will be asked for.
    """

    def __init__(self, bodies: Sequence[Body], pairs: Sequence[tuple[int, int]]) -> None:
        import coal

        self.pairs = list(pairs)
        self._frame = coal.Transform3s
        self._shapes = [_shape(coal, body) for body in bodies]  # coal keeps no hold of them
        self._ask = [coal.ComputeDistance(self._shapes[i], self._shapes[j]) for i, j in pairs]
        self._request, self._result = coal.DistanceRequest(), coal.DistanceResult()
        self._first, self._second = np.array(self.pairs, dtype=int).reshape(-1, 2).T
        radii = np.array([body.radius for body in bodies])
        self._radii = radii[self._first] + radii[self._second]

    def distances(self, poses: Sequence[Array], near: float) -> Array:
        """Return the distances of all pairs [m], negative by the depth.

        Args:
            poses: base_link <- body (4, 4) of each body.
            near: Of pairs farther apart than this [m], a lower bound is told instead: the
                distance of the balls about them.
        """
        centres = np.array([T[:3, 3] for T in poses])
        ways = centres[self._first] - centres[self._second]
        result = np.sqrt(np.einsum("ij,ij->i", ways, ways)) - self._radii
        frames: dict[int, Any] = {}
        for k in np.flatnonzero(result < near).tolist():
            for i in self.pairs[k]:
                if i not in frames:
                    frames[i] = self._frame(poses[i][:3, :3], poses[i][:3, 3])
            i, j = self.pairs[k]
            self._result.clear()
            result[k] = self._ask[k](frames[i], frames[j], self._request, self._result)
        return np.asarray(result)


def _shape(coal: Any, body: Body) -> Any:
    return {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere}[body.kind](
        *body.size
    )
