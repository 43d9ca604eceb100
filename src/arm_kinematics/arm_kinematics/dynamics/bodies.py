# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The bodies that the joints of a chain move, with their masses, out of a URDF.

All links beyond a joint count, also those beside the chain: a gripper, the bars of a linkage.
Joints beside the chain are mimic joints of it, or rest at 0 or their nearest limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from arm_common.transforms import Array, inverse, pose
from arm_description.errors import UrdfError
from arm_description.model.elements import Payload
from arm_description.urdf.elements import MOVING, UrdfInertial, UrdfJoint
from arm_description.urdf.reader import UrdfTree, read_urdf

from arm_kinematics.dynamics import newton_euler as rne
from arm_kinematics.errors import KinematicsError
from arm_kinematics.model.lie import se3_exp
from arm_kinematics.model.urdf import Step

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

_SPAN = slice(rne.MASS, rne.BODY)


@dataclass(frozen=True, eq=False)
class Bodies:
    """The table of bodies of newton_euler.py, and where the tip is.

    Attributes:
        table: (bodies, BODY).
        tip: index of the body of the tip.
        tool: that body <- tip (4, 4).
    """

    table: Array
    tip: int
    tool: Array

    @cached_property
    def mass(self) -> float:
        """Mass of all bodies [kg]."""
        return float(self.table[:, rne.MASS].sum())

    def with_payload(self, payload: Payload) -> Array:
        """Return the table with a load carried by the tip."""
        table: Array = self.table.copy()
        table[self.tip, _SPAN] += _payload_row(payload, self.tool)
        return table


def bodies_of_urdf(tree: UrdfTree, base: str, tip: str, joints: Sequence[str]) -> Bodies:
    """Return the bodies that the named independent joints move, with ``base`` at rest.

    Raises:
        KinematicsError: An <inertial> of the URDF is invalid.
    """
    try:
        inertials = {inertial.link: inertial for inertial in tree.inertials}
    except UrdfError as error:
        raise KinematicsError(str(error), what="urdf") from None
    return _BodyWalk(tree, base, joints, inertials).bodies(tip)


def bodies_of_model(model: RobotModel) -> Bodies:
    """Return the bodies that the joints of an arm move, with the masses of its URDF."""
    return bodies_of_urdf(read_urdf(model.to_urdf()), "base_link", "tool0", model.joint_names)


class _BodyWalk:
    """Walks from the base over all joints and collects a row for each one that moves."""

    def __init__(
        self,
        tree: UrdfTree,
        base: str,
        joints: Sequence[str],
        inertials: Mapping[str, UrdfInertial],
    ) -> None:
        self._tree, self._joints, self._inertials = tree, joints, inertials
        self._rows: list[Array] = []
        self._frames: list[Array] = []  # base <- body with all joints of the chain at 0
        self._links = {base: (np.eye(4), -1)}  # base <- link, its body
        for link, step in _outwards(tree, base):
            self._add(link, step)

    def _add(self, link: str, step: Step) -> None:
        T, body = self._links[link]
        joint, origin = step.joint, step.joint.origin.matrix
        if not step.inward:
            T = T @ origin
        if joint.kind in MOVING:
            T, body = self._moved(T, body, step)
        if step.inward:
            T = T @ inverse(origin)
        self._links[step.link] = T, body
        if body >= 0 and (inertial := self._inertials.get(step.link)):
            self._rows[body][_SPAN] += _inertia_row(inertial, inverse(self._frames[body]) @ T)

    def _moved(self, T: Array, body: int, step: Step) -> tuple[Array, int]:
        """Return the frame beyond a joint at T that moves, and the body there."""
        drive, slides = self._tree.drive_of(step.joint), step.joint.kind == "prismatic"
        axis = np.array(step.joint.axis) * (-1.0 if step.inward else 1.0)
        direct = drive.ratio != 0.0 and drive.leader.name in self._joints
        rest = drive.offset + (0.0 if direct else drive.ratio * _rest(drive.leader))
        turn = np.concatenate([axis, np.zeros(3)] if slides else [np.zeros(3), axis])
        beyond = T @ se3_exp(turn * rest)
        if not direct:
            return beyond, body
        at = T @ pose(_frame_along(axis))
        carrier = self._frames[body] if body >= 0 else np.eye(4)
        leader = self._joints.index(drive.leader.name)
        self._rows.append(_joint_row(inverse(carrier) @ at, slides, body, leader))
        self._rows[-1][[rne.RATIO, rne.OFFSET]] = drive.ratio, drive.offset
        self._frames.append(beyond @ pose(_frame_along(axis)))
        return beyond, len(self._rows) - 1

    def bodies(self, tip: str) -> Bodies:
        """Return the collected bodies."""
        T, body = self._links[tip]
        table = np.array(self._rows)
        table.setflags(write=False)
        return Bodies(table, body, inverse(self._frames[body]) @ T)


def _outwards(tree: UrdfTree, base: str) -> Iterator[tuple[str, Step]]:
    """Yield all joints with the link they are reached from, the nearest to the base first."""
    ends: dict[str, list[UrdfJoint]] = {}
    for joint in tree.joints:
        ends.setdefault(joint.parent, []).append(joint)
        ends.setdefault(joint.child, []).append(joint)
    reached, seen = [base], {base}
    for link in reached:
        for joint in ends.get(link, ()):
            step = Step(joint, inward=joint.child == link)
            if step.link not in seen:
                seen.add(step.link)
                reached.append(step.link)
                yield link, step


def _rest(joint: UrdfJoint) -> float:
    """Return the position 0, or the nearest limit [rad or m]."""
    if joint.limit is None or joint.kind == "continuous":
        return 0.0
    return min(max(0.0, joint.limit.lower), joint.limit.upper)


def _frame_along(z: Array) -> Array:
    """Return a rotation (3, 3) with the given unit vector as its third column."""
    x = np.zeros(3)
    x[int(np.argmin(np.abs(z)))] = 1.0
    x -= z * (z @ x)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _joint_row(joint: Array, slides: bool, parent: int, leader: int) -> Array:
    """Return the row of a body without mass; its joint (4, 4) in the carrying body."""
    row = np.zeros(rne.BODY)
    row[rne.ROTATION : rne.POSITION] = joint[:3, :3].ravel()
    row[rne.POSITION : rne.PRISMATIC] = joint[:3, 3]
    row[[rne.PRISMATIC, rne.PARENT, rne.LEADER]] = slides, parent, leader
    return row


def _inertia_row(inertial: UrdfInertial, T: Array) -> Array:
    """Return mass, moment and inertia about the origin of a body (10,); T is body <- link."""
    xx, xy, xz, yy, yz, zz = inertial.moments
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return _row(inertial.mass, T @ inertial.origin.matrix, tensor)


def _payload_row(payload: Payload, T: Array) -> Array:
    """Return the row of a load: a box of even density, or a point without a size."""
    x, y, z = np.square(payload.size or (0.0, 0.0, 0.0))
    tensor = payload.mass / 12.0 * np.diag([y + z, z + x, x + y])
    return _row(payload.mass, T @ pose(p=payload.centre), tensor)


def _row(mass: float, T: Array, tensor: Array) -> Array:
    """Return the row of a mass at T with its inertia (3, 3) about T, by the axes of T."""
    R, c = T[:3, :3], T[:3, 3]
    about = R @ tensor @ R.T + mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    return np.concatenate([[mass], mass * c, about[np.triu_indices(3)]])


@lru_cache(maxsize=256)
def checked_payload(payload: Payload | float) -> Payload:
    """Return a load as a Payload, a number [kg] as a point; raise KinematicsError if invalid."""
    try:
        load = (
            payload if isinstance(payload, Payload) else Payload(float(payload), (0.0, 0.0, 0.0))
        )
    except (TypeError, ValueError):
        load = Payload(math.nan, (0.0, 0.0, 0.0))
    numbers = (load.mass, *load.centre, *(load.size or ()))
    if not all(map(math.isfinite, numbers)) or load.mass < 0.0:
        raise KinematicsError(
            f"payload is {payload!r}; expected a mass of 0 kg or more, or a Payload",
            what="payload",
            value=payload,
        )
    return load
