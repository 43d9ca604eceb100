# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Collision bodies of a robot and a scene."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from arm_common.transforms import Array, pose, shift_z
from arm_description.urdf.reader import UrdfTree

from arm_tasks.scene.objects import SceneObject
from arm_tasks.scene.scene import Scene

_KINDS = ("box", "cylinder", "sphere")
_FLOOR_SIZE = (10.0, 10.0, 0.1)  # m


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
    bodies: list[CollisionBody] = []
    unknown: list[str] = []
    for shape in urdf.collisions:
        if shape.kind in _KINDS:
            bodies.append(CollisionBody(shape.link, shape.kind, shape.size, shape.origin.matrix))
        else:
            unknown.append(shape.link)
    return bodies, unknown


def carried_bodies(obj: SceneObject, grasp: Array) -> list[CollisionBody]:
    """Return the parts of a payload in the jaws, by tool0 <- payload (4, 4) [m]."""
    return [
        CollisionBody("tool0", part.kind, part.size, grasp @ part.pose, obj.name)
        for part in obj.parts
    ]


def scene_bodies(scene: Scene) -> list[CollisionBody]:
    """Return the bodies of a scene, without the nut, which the jaws touch."""
    objects = [
        CollisionBody(obj.name, part.kind, part.size, obj.pose @ part.pose)
        for obj in scene.objects.values()
        for part in obj.parts
    ]
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
