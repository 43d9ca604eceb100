# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Collision checks of the arm with itself and the scene, using coal.

Boxes, cylinders and spheres are convex: coal uses GJK, and EPA where they overlap
(https://github.com/coal-library/coal).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import numpy as np
from arm_common.transforms import Array
from arm_description.urdf.reader import read_urdf

from arm_description import RobotModel
from arm_tasks.planning.collision.bodies import (
    CollisionBody,
    carried_bodies,
    robot_bodies,
    scene_bodies,
)
from arm_tasks.planning.collision.motion_bounds import (
    BodyPlacement,
    MotionBounds,
    neighbours,
    rigid_groups,
)
from arm_tasks.scene.payloads import Carried
from arm_tasks.scene.scene import Scene

LIBRARY = "coal"


def available() -> bool:
    """Return whether the library is installed."""
    return find_spec(LIBRARY) is not None


class PairDistances:
    """Signed distances of pairs (i, j) of bodies."""

    def __init__(self, bodies: Sequence[CollisionBody], pairs: Sequence[tuple[int, int]]) -> None:
        import coal

        self.pairs = list(pairs)
        self._frame = coal.Transform3s
        kinds = {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere}
        # coal keeps no references
        self._shapes = [kinds[body.kind](*body.size) for body in bodies]
        self._compute = [coal.ComputeDistance(self._shapes[i], self._shapes[j]) for i, j in pairs]
        self._request, self._result = coal.DistanceRequest(), coal.DistanceResult()
        self._first, self._second = np.array(self.pairs, dtype=int).reshape(-1, 2).T
        radii = np.array([body.radius for body in bodies])
        self._radii = radii[self._first] + radii[self._second]

    def distances(self, poses: Sequence[Array], near: float) -> Array:
        """Return the signed distances of all pairs [m], negative if they penetrate.

        The poses are base_link <- body (4, 4). Pairs farther apart than near [m] get a lower
        bound: the distance of their bounding spheres.
        """
        centres = np.array([T[:3, 3] for T in poses])
        offsets = centres[self._first] - centres[self._second]
        result = np.sqrt(np.einsum("ij,ij->i", offsets, offsets)) - self._radii
        frames: dict[int, Any] = {}
        for k in np.flatnonzero(result < near).tolist():
            for i in self.pairs[k]:
                if i not in frames:
                    frames[i] = self._frame(poses[i][:3, :3], poses[i][:3, 3])
            i, j = self.pairs[k]
            self._result.clear()
            result[k] = self._compute[k](frames[i], frames[j], self._request, self._result)
        return np.asarray(result)


TOUCH = 1e-4  # overlap that still counts as touching, as of closed jaws [m]
NEAR = 0.03  # m
_POSTURES = 64  # sampled to find the pairs that no motion changes
_STILL = 1e-6  # m
_SEED = 20


@dataclass(frozen=True)
class Clearance:
    """A pair of bodies and their distance."""

    distance: float  # signed distance [m], negative if they penetrate
    first: str = ""  # link of the robot
    second: str = ""  # another link, or an object of the scene

    @property
    def penetrates(self) -> bool:
        """True if they penetrate each other."""
        return self.distance < -TOUCH

    @property
    def clause(self) -> str:
        """Clause with both bodies and their distance or penetration depth."""
        if self.penetrates:
            return f"{self.first} would be {-1e3 * self.distance:.1f} mm deep in {self.second}"
        return f"{self.first} comes within {max(1e3 * self.distance, 0.0):.1f} mm of {self.second}"


class CollisionChecker:
    """Checks one robot in one scene.

    Skipped are links connected by a joint, the two fingers, and pairs that no motion changes: they
    touch in every posture, as modelled, or their distance is constant.
    """

    def __init__(self, model: RobotModel, scene: Scene, carried: Carried | None = None) -> None:
        tree = read_urdf(model.to_urdf())
        own, self.unsupported = robot_bodies(tree)  # unsupported: links with meshes
        if carried is not None:
            own += carried_bodies(scene.object(carried.name), carried.grasp)
            scene = scene.without(carried.name)
        self._bodies = [*own, *scene_bodies(scene)]
        self._placing = BodyPlacement(model, tree, own)
        first, near = rigid_groups(tree), neighbours(tree)
        fingers = model.gripper.joints if model.gripper else ()
        self._jaws = {joint.child for joint in tree.joints if joint.name in fingers}
        self._payloads = {name for name, obj in scene.objects.items() if obj.is_payload}
        near.add(frozenset(self._jaws))

        def apart(i: int, j: int) -> bool:
            """Return True for a pair to check: robot and scene, or unconnected links."""
            groups = [first.get(self._bodies[k].owner, "") for k in (i, j)]
            return i < len(own) and frozenset(groups) not in near and groups != [tree.root, ""]

        both = combinations(range(len(self._bodies)), 2)
        self._pairs = PairDistances(self._bodies, [pair for pair in both if apart(*pair)])
        sampled = self._sampled_distances(model)
        touching = np.all(sampled <= TOUCH, axis=0).tolist()
        still = (np.ptp(sampled, axis=0) < _STILL).tolist()
        every = list(zip(self._pairs.pairs, touching, still, strict=True))
        always = {self._owners(pair) for pair, touches, _ in every if touches}
        self.always_touching = tuple(sorted(always))  # in every sampled posture
        kept = [pair for pair, _, same in every if not same and self._owners(pair) not in always]
        self._pairs = PairDistances(self._bodies, kept)
        reach = MotionBounds(tree, own, model.joint_names)
        levers = [reach.pair(i, j if j < len(own) else None) for i, j in kept]
        # (pairs, n) bound on the approach of each pair per radian or metre of a joint [m]
        self.levers = np.array(levers).reshape(-1, len(model.joint_names))

    def distances(self, q: Sequence[float] | Array, width: float, near: float = NEAR) -> Array:
        """Return the distance of each pair [m] for joint positions (n,) and a jaw width [m].

        Pairs farther apart than near get a lower bound.
        """
        own = self._placing.poses(q, width)
        poses = [*own, *(body.pose for body in self._bodies[len(own) :])]
        return self._pairs.distances(poses, near)

    def allowed_contacts(self, obj: str = "") -> Array:
        """Return (pairs,) inf where the jaws may touch an object (default: a payload), else 0."""
        objects = {obj} if obj else self._payloads
        owners = [self._owners(pair) for pair in self._pairs.pairs]
        touch = [first in self._jaws and second in objects for first, second in owners]
        return np.where(np.array(touch, dtype=bool), np.inf, 0.0)

    def clearance(self, distances: Array) -> Clearance:
        """Return the nearest of all pairs from their distances [m]."""
        if not len(distances):
            return Clearance(np.inf)
        k = int(np.argmin(distances))
        return Clearance(float(distances[k]), *self._owners(self._pairs.pairs[k]))

    def at(self, q: Sequence[float] | Array, width: float) -> Clearance:
        """Return the nearest pair for joint positions (n,) and a jaw width [m]."""
        return self.clearance(self.distances(q, width))

    def collision(self, q: Array, width: float) -> str | None:
        """Return a clause about a collision, or None; a callback for paths.planner.follow."""
        found = self.at(q, width)
        return found.clause if found.penetrates else None

    def _owners(self, pair: tuple[int, int]) -> tuple[str, str]:
        return self._bodies[pair[0]].name, self._bodies[pair[1]].name

    def _sampled_distances(self, model: RobotModel) -> Array:
        """Return the distances of the pairs in random postures (postures, pairs) [m]."""
        rng = np.random.default_rng(_SEED)
        widths = (model.gripper.min_width, model.gripper.max_width) if model.gripper else (0, 0)
        return np.array(
            [
                self.distances(rng.uniform(model.lower, model.upper), rng.uniform(*widths))
                for _ in range(_POSTURES)
            ]
        )
