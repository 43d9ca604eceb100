# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/collision/test_checker.py
"""Collision bodies of a robot and a scene: their poses, and bounds on their motion."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from arm_common.transforms import Array, pose, shift_z
from arm_description.robot_model import RobotModel
from arm_description.urdf.elements import MOVING, UrdfJoint
from arm_description.urdf.reader import UrdfTree
from arm_kinematics.chain.robot import MissingJointsError, Robot

from arm_kinematics import Chain
from arm_tasks.scene.scene import Scene, SceneObject

_KINDS = ("box", "cylinder", "sphere")
_FLOOR_SIZE = (10.0, 10.0, 0.1)  # m
Ball = tuple[Array, float]
"""Centre (3,) and radius [m]."""
_ROUNDING = 1e-4  # of the numbers in a URDF [m or rad]


@dataclass(frozen=True)
class CollisionBody:
    """A primitive fixed to a frame."""

    owner: str  # link, or object of the scene, that contains it
    kind: str  # "box", "cylinder" (along its z) or "sphere"
    size: tuple[float, ...]  # (x, y, z), (radius, length) or (radius,) [m]
    pose: Array  # frame <- middle of the body (4, 4); the frame is the link, or base_link
    carried: str = ""  # name of the payload in the jaws that contains it

    @property
    def name(self) -> str:
        """Name for people."""
        return self.carried or self.owner

    @property
    def radius(self) -> float:
        """Radius of the bounding sphere around its centre [m]."""
        if self.kind == "cylinder":
            return math.hypot(self.size[0], self.size[1] / 2.0)
        return self.size[0] if self.kind == "sphere" else math.hypot(*self.size) / 2.0

    @property
    def balls(self) -> list[tuple[Array, float]]:
        """Centres (3,) in the frame and radii [m] of spheres whose convex hull encloses it."""
        if self.kind == "box":
            corners = np.array(list(product((-0.5, 0.5), repeat=3))) * self.size
            return [((self.pose @ [*corner, 1.0])[:3], 0.0) for corner in corners]
        half = self.size[1] / 2.0 if self.kind == "cylinder" else 0.0
        ends = sorted({-half, half})
        return [((self.pose @ shift_z(z))[:3, 3], self.size[0]) for z in ends]


def robot_bodies(urdf: UrdfTree) -> tuple[list[CollisionBody], list[str]]:
    """Return the collision bodies of a robot, and the links with unsupported shapes."""
    bodies = [
        CollisionBody(shape.link, shape.kind, shape.size, shape.origin.matrix)
        for shape in urdf.collisions
        if shape.kind in _KINDS
    ]
    return bodies, [shape.link for shape in urdf.collisions if shape.kind not in _KINDS]


def object_bodies(obj: SceneObject, grasp: Array | None = None) -> list[CollisionBody]:
    """Return the parts of an object in base_link, or in the jaws by tool0 <- object (4, 4) [m]."""
    T, owner, carried = (obj.pose, obj.name, "") if grasp is None else (grasp, "tool0", obj.name)
    return [CollisionBody(owner, p.kind, p.size, T @ p.pose, carried) for p in obj.parts]


def scene_bodies(scene: Scene) -> list[CollisionBody]:
    """Return the bodies of a scene, without the nut, which the jaws touch."""
    objects = [body for obj in scene.objects.values() for body in object_bodies(obj)]
    bolts = [
        CollisionBody(
            b.name, "cylinder", (b.diameter / 2.0, b.length), b.pose @ shift_z(b.length / 2.0)
        )
        for b in scene.bolts.values()
    ]
    below = scene.floor - _FLOOR_SIZE[2] / 2.0
    return [
        *objects,
        *bolts,
        CollisionBody("the floor", "box", _FLOOR_SIZE, pose(p=(0.0, 0.0, below))),
    ]


class MotionBounds:
    """Bounds on how far named joints (n,) move the bodies that they carry."""

    def __init__(
        self, tree: UrdfTree, bodies: Sequence[CollisionBody], names: Sequence[str]
    ) -> None:
        self._names = list(names)
        self._moving = [joint for joint in tree.joints if joint.kind in MOVING]
        self._above = {joint.child: joint for joint in tree.joints}
        self._levers = [self._of_body(body) for body in bodies]

    def pair(self, i: int, j: int | None) -> Array:
        """Return bounds (n,) on the approach of two bodies per radian or metre of each joint.

        A joint that carries both has no effect. For a body of the scene, j is None.
        """
        one, other = self._levers[i], {} if j is None else self._levers[j]
        result = np.zeros(len(self._names))
        for joint in self._moving:
            driver = joint.mimic.joint if joint.mimic else joint.name
            if driver in self._names and (joint.name in one) != (joint.name in other):
                ratio = abs(joint.mimic.multiplier) if joint.mimic else 1.0
                lever = one.get(joint.name, 0.0) + other.get(joint.name, 0.0)
                result[self._names.index(driver)] += ratio * lever
        return result

    def _of_body(self, body: CollisionBody) -> dict[str, float]:
        """Return the lever of each joint that carries a body."""
        levers: dict[str, float] = {}
        balls, link = body.balls, body.owner
        while link in self._above:
            joint = self._above[link]
            if joint.kind in MOVING:
                axis = np.asarray(joint.axis)
                off = max(float(np.linalg.norm(np.cross(axis, c))) + r for c, r in balls)
                levers[joint.name] = 1.0 if joint.kind == "prismatic" else off
                balls = [_swept(joint, balls)]
            T = np.asarray(joint.origin.matrix)
            balls = [((T @ [*c, 1.0])[:3], r) for c, r in balls]
            link = joint.parent
        return levers


def rigid_groups(tree: UrdfTree) -> Mapping[str, str]:
    """Return, for each link, the first link of its rigid group."""
    first = {tree.root: tree.root}
    for joint in tree.joints:
        first[joint.child] = first[joint.parent] if joint.kind == "fixed" else joint.child
    return first


def neighbours(tree: UrdfTree) -> set[frozenset[str]]:
    """Return the pairs of rigid groups that a joint connects, and each group with itself.

    A group without a shape, as between the coincident joints of a dependent one, connects those
    beside it.
    """
    first = rigid_groups(tree)
    pairs = {frozenset((first[joint.parent], first[joint.child])) for joint in tree.joints}
    solid = {first[shape.link] for shape in tree.collisions}
    for group in dict.fromkeys(first.values()):
        if group not in solid:
            beside = {other for pair in pairs if group in pair for other in pair - {group}}
            pairs |= {frozenset(pair) for pair in combinations(beside, 2)}
    return pairs | {frozenset((group,)) for group in first.values()}


def unsized_pairs(
    tree: UrdfTree, bodies: Sequence[CollisionBody], slides: Collection[str]
) -> set[frozenset[int]]:
    """Return the pairs of bodies whose overlap proves nothing: a DH table gives slides no size.

    Each of the named prismatic joints is drawn as a guide and a bar as long as its travel. A real
    slide may be a telescope and its guide short: the guide does not count against what the joint
    carries, nor the bar, which protrudes behind the guide, against what carries the joint.
    Payloads count.
    """
    pairs: set[frozenset[int]] = set()
    for slide in (joint for joint in tree.joints if joint.name in slides):
        outer = {slide.child}
        for joint in tree.joints:  # from the root outwards
            if joint.parent in outer:
                outer.add(joint.child)
        own = [(k, body) for k, body in enumerate(bodies) if not body.carried]
        beyond = [k for k, body in own if body.owner in outer]
        before = [k for k, body in own if body.owner not in outer]
        for k, body in own:
            where = slide.origin.matrix if body.owner == slide.parent else np.eye(4)
            off = np.abs(np.linalg.inv(where) @ body.pose - np.eye(4))
            if body.kind != "box" or off[:2].max() > _ROUNDING:  # not along the slide's axis
                continue
            if body.owner in (slide.parent, slide.child):
                others = beyond if body.owner == slide.parent else before
                pairs |= {frozenset((k, other)) for other in others}
    return pairs


def _swept(joint: UrdfJoint, balls: Sequence[Ball]) -> Ball:
    """Return the sphere around a joint's origin that contains spheres for any joint position."""
    radius = max(float(np.linalg.norm(c)) + r for c, r in balls)
    if joint.kind == "prismatic" and joint.limit is not None:
        radius += max(abs(joint.limit.lower), abs(joint.limit.upper))
    return np.zeros(3), radius


class BodyPlacement:
    """Forward kinematics of a robot's bodies."""

    def __init__(self, model: RobotModel, urdf: UrdfTree, bodies: Sequence[CollisionBody]) -> None:
        self._gripper = model.gripper
        moving = model.gripper.moving if model.gripper else ()
        names = [*model.joint_names, *moving]
        self._owners = [body.owner for body in bodies]
        self._places = np.array([body.pose for body in bodies]).reshape(-1, 4, 4)
        robot = Robot(urdf)
        self._fixed: dict[str, Array] = {}
        self._chains: dict[str, tuple[Chain, Array]] = {}
        for link in {body.owner for body in bodies}:
            try:
                self._fixed[link] = robot.link_pose(link, {})
            except MissingJointsError:
                chain = robot.chain(link)
                index = np.array([names.index(name) for name in chain.joint_names])
                self._chains[link] = chain, index

    def poses(self, q: Sequence[float] | Array, width: float) -> Array:
        """Return base_link <- body (k, 4, 4) for joint positions (n,) and a jaw width [m]."""
        fingers = self._gripper.positions(width) if self._gripper else {}
        x = np.array([*q, *fingers.values()])
        links = {link: chain.fk(x[index]) for link, (chain, index) in self._chains.items()}
        links.update(self._fixed)
        owners = np.array([links[owner] for owner in self._owners]).reshape(-1, 4, 4)
        return np.asarray(owners @ self._places)
