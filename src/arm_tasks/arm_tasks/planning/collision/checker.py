# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Collision checks of the arm with itself and the scene, in postures and along paths.

Boxes, cylinders and spheres are convex: MuJoCo computes their distance, or their depth where they
overlap, by GJK and EPA (https://mujoco.readthedocs.io/en/stable/APIreference/APIfunctions.html,
mj_geomDistance).

A path is proven between its points, too. During a straight joint motion by dq, two bodies approach
by at most sum(lever |dq|). Between two points with distances d1 and d2 they cannot touch if that
bound is below d1 + d2. Otherwise the segment is halved, until no pair approaches by more than a
millimetre (Schwarzer, Saha and Latombe, "Adaptive dynamic collision checking", IEEE Transactions
on Robotics 21, 2005).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, pose
from arm_description.robot_model import RobotModel
from arm_description.urdf.reader import read_urdf

from arm_tasks.planning.collision.bodies import (
    BodyPlacement,
    CollisionBody,
    MotionBounds,
    neighbours,
    object_bodies,
    rigid_groups,
    robot_bodies,
    scene_bodies,
    unsized_pairs,
)
from arm_tasks.planning.collision.mujoco_library import mujoco
from arm_tasks.scene.grasp import Carried
from arm_tasks.scene.scene import Scene, SceneObject

_TIP_RADIUS = 1e-6  # m
_FARTHEST = 1e3  # largest distance that is computed [m]
TOUCH = 1e-4  # overlap that still counts as touching, as of closed jaws [m]
NEAR = 0.03  # m
_POSTURES = 64  # sampled to find the pairs that no motion changes
_STILL = 1e-6  # m
_SEED = 20
_FINE = 1e-3  # m; segments on which no pair approaches by more are not divided


class PairDistances:
    """Signed distances of pairs (i, j) of bodies."""

    def __init__(self, bodies: Sequence[CollisionBody], pairs: Sequence[tuple[int, int]]) -> None:
        library = mujoco()
        kinds = library.mjtGeom
        types = {
            "box": kinds.mjGEOM_BOX,
            "cylinder": kinds.mjGEOM_CYLINDER,
            "sphere": kinds.mjGEOM_SPHERE,
        }
        spec = library.MjSpec()
        for body in bodies:
            spec.worldbody.add_geom(type=types[body.kind], size=_half_sizes(body))
        self.pairs = list(pairs)
        self._compute = library.mj_geomDistance
        self._model = spec.compile()
        self._data = library.MjData(self._model)
        self._first, self._second = np.array(self.pairs, dtype=int).reshape(-1, 2).T
        radii = np.array([body.radius for body in bodies])
        self._radii = radii[self._first] + radii[self._second]

    def distances(self, poses: Array, near: float) -> Array:
        """Return the signed distances of all pairs [m], negative if they penetrate.

        The poses are base_link <- body (k, 4, 4). Pairs farther apart than near [m] get a lower
        bound: near, or the distance of their bounding spheres.
        """
        centres = self._data.geom_xpos[:] = poses[:, :3, 3]
        self._data.geom_xmat[:] = poses[:, :3, :3].reshape(-1, 9)
        offsets = centres[self._first] - centres[self._second]
        result = np.sqrt(np.einsum("ij,ij->i", offsets, offsets)) - self._radii
        farthest = min(near, _FARTHEST)
        for k in np.flatnonzero(result < near).tolist():
            i, j = self.pairs[k]
            result[k] = self._compute(self._model, self._data, i, j, farthest, None)
        return np.asarray(result)


def _half_sizes(body: CollisionBody) -> list[float]:
    """Return the size of a MuJoCo geom: half edges, or radius and half length [m]."""
    if body.kind == "box":
        return [edge / 2.0 for edge in body.size]
    length = body.size[1] if body.kind == "cylinder" else 0.0
    return [body.size[0], length / 2.0, 0.0]


def tip_depths(obj: SceneObject, points: Array) -> Array:
    """Return how deep points (m, 3) in base_link are in an object (m,) [m], negative outside."""
    bodies = object_bodies(obj)
    tip = CollisionBody("", "sphere", (_TIP_RADIUS,), np.eye(4))
    pairs = PairDistances([tip, *bodies], [(0, 1 + k) for k in range(len(bodies))])
    fixed = [body.pose for body in bodies]
    stacks = (np.array([pose(p=point), *fixed]) for point in points)
    found = [pairs.distances(stack, NEAR).min() for stack in stacks]
    return -np.array(found) - _TIP_RADIUS


def thickness(obj: SceneObject) -> float:
    """Return the smallest extent of the parts of an object [m]."""
    return min(part.extent(axis) for part in obj.parts for axis in part.pose[:3, :3].T)


@dataclass(frozen=True)
class Clearance:
    """A pair of bodies and their distance."""

    distance: float  # signed distance [m], negative if they penetrate
    first: str = ""  # link of the robot
    second: str = ""  # another link, or an object of the scene
    allowed: float = 0.0  # depth that the distance is measured from [m]

    @property
    def penetrates(self) -> bool:
        """True if they penetrate each other."""
        return self.distance < -TOUCH

    @property
    def clause(self) -> str:
        """Clause with both bodies and their distance or penetration depth."""
        if self.penetrates:
            depth = 1e3 * (self.allowed - self.distance)
            limit = f", where {1e3 * self.allowed:g} mm are allowed" if self.allowed else ""
            return f"{self.first} would be {depth:.1f} mm deep in {self.second}{limit}"
        return f"{self.first} comes within {max(1e3 * self.distance, 0.0):.1f} mm of {self.second}"


@dataclass(frozen=True)
class PathClearance:
    """Clearance of a path."""

    nearest: Clearance  # the nearest pair on the whole path; if it penetrates, the deepest
    hit_at: float | None = None  # fraction of the joint path at the first collision, or None


@dataclass(frozen=True)
class AllowedContact:
    """A contact that a motion may make."""

    obj: str  # the touched object of the scene
    depth: float = np.inf  # how deep the hand may be in it [m]; inf: the jaws alone, at any depth


class CollisionChecker:
    """Checks one robot in one scene.

    Skipped are links connected by a joint, the two fingers, a slide's guide and bar (see
    `unsized_pairs`), and pairs that no motion changes: they touch in every posture, as modelled,
    or their distance is constant.
    """

    def __init__(self, model: RobotModel, scene: Scene, carried: Carried | None = None) -> None:
        tree = read_urdf(model.to_urdf())
        own, self.unsupported = robot_bodies(tree)  # unsupported: links with meshes
        if carried is not None:
            own += object_bodies(scene.object(carried.name), carried.grasp)
            scene = scene.without(carried.name)
        fixed = scene_bodies(scene)
        self._bodies = [*own, *fixed]
        self._fixed = np.array([body.pose for body in fixed]).reshape(-1, 4, 4)
        self._placing = BodyPlacement(model, tree, own)
        first, near = rigid_groups(tree), neighbours(tree)
        fingers = model.gripper.joints if model.gripper else ()
        hand = first["tool0"]
        self._hand = {body.name for body in own if first[body.owner] == hand}
        self._jaws = {joint.child for joint in tree.joints if joint.name in fingers}
        self._payloads = {name for name, obj in scene.objects.items() if obj.is_payload}
        near.add(frozenset(self._jaws))
        slides = [joint.name for joint in model.rows if joint.type == "prismatic"]
        unsized = unsized_pairs(tree, own, slides)

        def apart(i: int, j: int) -> bool:
            """Return True for a pair to check: a link and an object, or unconnected links."""
            if frozenset((i, j)) in unsized:
                return False
            groups = [first.get(self._bodies[k].owner, "") for k in (i, j)]
            return frozenset(groups) not in near and groups != [tree.root, ""]

        count = len(self._bodies)  # no two objects of the scene: there may be a thousand
        both = ((i, j) for i in range(len(own)) for j in range(i + 1, count))
        self._pairs = PairDistances(self._bodies, [pair for pair in both if apart(*pair)])
        sampled = self._sampled_distances(model)
        touching = np.all(sampled <= TOUCH, axis=0).tolist()
        still = (np.ptp(sampled, axis=0) < _STILL).tolist()
        every = list(zip(self._pairs.pairs, touching, still, strict=True))
        always = {self._owners(pair) for pair, touches, _ in every if touches}
        self.always_touching = tuple(sorted(always))  # in every sampled posture
        # object of the scene -> links that touch it in every posture, and are not checked with it
        self.unchecked = {
            obj: links
            for obj in scene.objects
            if (links := [link for link, other in self.always_touching if other == obj])
        }
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
        poses = np.concatenate([self._placing.poses(q, width), self._fixed])
        return self._pairs.distances(poses, near)

    def allowed_contacts(self, contact: AllowedContact | None = None) -> Array:
        """Return how deep each pair (pairs,) may penetrate [m]: by default jaws and payloads."""
        objects = {contact.obj} if contact else self._payloads
        depth = contact.depth if contact else np.inf
        links = self._jaws if depth == np.inf else self._jaws | self._hand
        owners = [self._owners(pair) for pair in self._pairs.pairs]
        touch = [first in links and second in objects for first, second in owners]
        return np.where(np.array(touch, dtype=bool), depth, 0.0)

    def clearance(self, distances: Array, allowed: Array | float = 0.0) -> Clearance:
        """Return the nearest of all pairs from distances (pairs,), or from allowed depths [m]."""
        if not len(distances):
            return Clearance(np.inf)
        beyond = distances + allowed
        k = int(np.argmin(beyond))
        depth = float(allowed[k] if isinstance(allowed, np.ndarray) else allowed)
        return Clearance(float(beyond[k]), *self._owners(self._pairs.pairs[k]), depth)

    def at(self, q: Sequence[float] | Array, width: float) -> Clearance:
        """Return the nearest pair for joint positions (n,) and a jaw width [m]."""
        return self.clearance(self.distances(q, width))

    def along(
        self, rows: Array, widths: tuple[float, float], allowed: AllowedContact | None = None
    ) -> PathClearance:
        """Return the clearance of a path through rows (m, n), straight between them [rad or m].

        The jaws move from one width to another [m] and may have any width between at any point of
        the path; a contact may be allowed. The collision found first along the path counts, else
        the nearest pair.
        """
        paths = [_PathCheck(self, rows, w, allowed).run() for w in _sampled(*widths)]
        hits = [path for path in paths if path.hit_at is not None]
        if hits:
            return min(hits, key=lambda path: path.hit_at or 0.0)
        return min(paths, key=lambda path: path.nearest.distance)

    def of_jaws(self, q: Array, start: float, end: float) -> Clearance:
        """Return the clearance while the jaws move from one width to another [m].

        Closing jaws may touch payloads.
        """
        allowed = self.allowed_contacts() if end < start else 0.0
        widths = _sampled(start, end)[1:]
        clearances = [self.clearance(self.distances(q, float(w)) + allowed) for w in widths]
        return min(
            clearances, key=lambda clearance: clearance.distance, default=Clearance(math.inf)
        )

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


class _PathCheck:
    """Check of one path through rows (m, n) of joint positions [rad or m]."""

    def __init__(
        self, checker: CollisionChecker, rows: Array, width: float, allowed: AllowedContact | None
    ) -> None:
        self._checker, self._rows, self._width = checker, rows, width
        self._allowed = checker.allowed_contacts(allowed) if allowed else 0.0
        steps = np.abs(np.diff(rows, axis=0))
        self._travel = np.vstack([np.zeros(rows.shape[1]), np.cumsum(steps, axis=0)])
        self._nearest = Clearance(math.inf)
        self._hit: float | None = None

    def run(self) -> PathClearance:
        end = float(len(self._rows) - 1)
        first = self._distances(0.0)
        if end > 0.0:
            self._between(0.0, end, first, self._distances(end))
        travel = self._travel.sum(axis=1)
        if self._hit is None:
            return PathClearance(self._nearest)
        share = float(self._at(travel[:, None], self._hit)[0]) / max(float(travel[-1]), 1e-12)
        return PathClearance(self._nearest, share)

    def _between(self, a: float, b: float, at_a: Array, at_b: Array) -> None:
        approach = self._checker.levers @ (self._at(self._travel, b) - self._at(self._travel, a))
        unproven = approach >= at_a + at_b
        if not unproven.any() or approach[unproven].max() < _FINE:
            return
        middle = 0.5 * (a + b)
        at_middle = self._distances(middle)
        self._between(a, middle, at_a, at_middle)
        self._between(middle, b, at_middle, at_b)

    def _distances(self, s: float) -> Array:
        """Return the distances of all pairs at row s, which may be fractional."""
        distances = self._checker.distances(self._at(self._rows, s), self._width)
        found = self._checker.clearance(distances, self._allowed)
        if found.penetrates:
            self._hit = s if self._hit is None else min(s, self._hit)
        if found.distance < self._nearest.distance:
            self._nearest = found
        return np.asarray(distances + self._allowed)

    def _at(self, rows: Array, s: float) -> Array:
        i = max(min(int(s), len(rows) - 2), 0)
        following = rows[min(i + 1, len(rows) - 1)]
        return np.asarray(rows[i] + (s - i) * (following - rows[i]))


def _sampled(start: float, end: float) -> Array:
    return np.linspace(start, end, 1 + math.ceil(abs(end - start) / _FINE))
