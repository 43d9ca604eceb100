# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A posed arm and other solids: the faces, shadows and frames of them that a view shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Matrix, Vector

from arm_description.exporters.drawing.solids import Rgb, Solid, cut, faces, normal, planes, ranks
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import BASE, FLANGE, PALM, PAYLOAD, assemble, dh_frames
from arm_description.urdf.elements import UrdfLink, UrdfParts
from arm_description.urdf.kinematics import joint_pose, link_poses

# Towards the light, in base_link.
LIGHT = np.array((0.35, -0.45, 0.82))
AMBIENT = 0.62


@dataclass(frozen=True)
class Patch:
    """A visible face, or a line.

    Attributes:
        points: (k, 2) right and up [m].
        colour: (3,) red, green, blue, 0 .. 1.
        width: of a line [m]; 0 of a face.
    """

    points: Matrix
    colour: Vector
    width: float = 0.0


@dataclass(frozen=True, eq=False)
class Loose:
    """A flat face that belongs to no solid and is seen from both sides, or a line.

    Attributes:
        points: (k, 3) corners of a convex face, or the two ends of a line, in base_link [m].
        colour: red, green, blue, 0 .. 1.
        width: of the line [m]; 0 of a face.
    """

    points: Matrix
    colour: Rgb
    width: float = 0.0


@dataclass(frozen=True)
class Posed:
    """An arm in a posture.

    Attributes:
        parts: its links and joints.
        poses: (4, 4) base_link <- link, by name.
        dh: (4, 4) base_link <- frame of the table, from 0.
    """

    parts: UrdfParts
    poses: Mapping[str, Matrix]
    dh: tuple[Matrix, ...]

    @property
    def frames(self) -> dict[str, Matrix]:
        """Frames worth showing: the base, every joint and the tool."""
        hidden = {FLANGE, PALM, PAYLOAD, *(f"{name}_link" for name in self._fingers())}
        return {name: T for name, T in self.poses.items() if name not in hidden}

    @property
    def seen(self) -> tuple[UrdfLink, ...]:
        """Links that are drawn; of one with a mesh, its skeleton."""
        return tuple(link for link in self.parts.links if link.seen)

    @property
    def solids(self) -> tuple[Solid, ...]:
        """All shapes of these links, where they are."""
        return tuple(
            Solid(s.kind, s.size, self.poses[link.name] @ s.origin.matrix, _rgb(s.colour))
            for link in self.seen
            for s in link.shapes
        )

    def place(self, name: str, colour: str) -> Vector:
        """Where a joint's body is, (3,) in base_link [m].

        It is the first shape of the link in the joints' colour; of a joint that slides it is on
        the link before, where the joint begins.
        """
        joint = next(joint for joint in self.parts.joints if joint.name == name)
        link = next(link for link in self.parts.links if link.name == joint.child)
        bodies = [shape for shape in link.shapes if shape.colour == colour]
        T = self.poses[link.name]
        if joint.kind == "prismatic":
            T = self.poses[joint.parent] @ joint.origin.matrix
        elif bodies:
            T = T @ bodies[0].origin.matrix
        middle: Vector = T[:3, 3]
        return middle

    def _fingers(self) -> list[str]:
        return [joint.name for joint in self.parts.joints if joint.parent == PALM]


def posed(model: RobotModel, values: Mapping[str, float]) -> Posed:
    """Place every link.

    Args:
        model: the arm.
        values: position of each joint [rad or m], and "gripper": a width [m], 0 if left out.
    """
    parts = assemble(model, "")
    positions = dict(values)
    if model.gripper:
        width = positions.pop("gripper", model.gripper.min_width)
        positions |= dict.fromkeys(model.gripper.joints, width / 2)
    poses = link_poses(BASE, parts.joints, positions)
    dh = tuple(poses[joint.parent] @ joint_pose(joint) for joint in dh_frames(model, "").joints)
    return Posed(parts, poses, dh)


def patches(solids: Sequence[Solid], view: Matrix, loose: Sequence[Loose] = ()) -> list[Patch]:
    """What is to be seen of the faces, shaded, from the back to the front.

    Args:
        solids: they may pass through each other.
        view: rows right, up, towards the eye.
        loose: what is drawn besides; it should pass through nothing.
    """
    cutters = [planes(solid) for solid in solids]
    order = ranks(solids, cutters, [part.points for part in loose], view)
    found = [(len(solids), *_loose_patch(part, view)) for part in loose]
    for index, solid in enumerate(solids):
        shown = [face for face in faces(solid) if normal(face) @ view[2] > 1e-6]
        for other, cutter in enumerate(cutters):
            if other != index and shown:
                shown = list(cut(shown, cutter))
        for face in shown:
            seen = face @ view.T
            patch = Patch(seen[:, :2], _shaded(solid.colour, normal(face)))
            found.append((order[index], float(seen[:, 2].mean()), patch))
    return [patch for *_, patch in sorted(found, key=lambda entry: entry[:2])]


def shadows(solids: Sequence[Solid]) -> list[Matrix]:
    """Shadow of every face on the ground z = 0, as polygons (k, 3) in base_link [m]."""
    slope = LIGHT[:2] / LIGHT[2]
    found = []
    for solid in solids:
        for face in faces(solid, fine=False):
            above = np.maximum(face[:, 2:], 0.0)
            ground = np.column_stack((face[:, :2] - above * slope, np.zeros(len(face))))
            found.append(ground)
    return found


def _loose_patch(part: Loose, view: Matrix) -> tuple[float, Patch]:
    """Depth and patch of what has two sides."""
    seen = part.points @ view.T
    colour = np.array(part.colour)
    if not part.width:
        out = normal(part.points)
        colour = _shaded(part.colour, out if out @ view[2] > 0.0 else -out)
    return float(seen[:, 2].mean()), Patch(seen[:, :2], colour, part.width)


def _rgb(colour: str) -> Rgb:
    """Red, green, blue of "#rrggbb"."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def _shaded(colour: Rgb, out: Vector) -> Vector:
    """Colour of a face by Lambert's law, with light from all around besides."""
    lit = max(0.0, float(out @ LIGHT)) / float(np.linalg.norm(LIGHT))
    return np.clip(np.array(colour) * (AMBIENT + (1.0 - AMBIENT) * lit), 0.0, 1.0)
