# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/chain/test_rigid_body.py
"""The bodies that the joints of an arm move, with their masses, out of a URDF; holding torques.

All links beyond a joint count, also those beside the chain: a gripper, the bars of a linkage.
Joints beside the chain are mimic joints of it, or rest at 0 or their nearest limit.

A body has one row of the table: its joint's frame in the frame of the body that carries it, what
drives the joint, and its inertia about the origin of its own frame, whose z is the joint's axis.
Its joint is at RATIO * q + OFFSET with q of the independent joint LEADER. Rows are ordered so that
a body comes after the one that carries it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from arm_common.transforms import Array, frame_along, inverse, pose, so3_exp, turn_z

from arm_description.model.elements import Payload
from arm_description.urdf.elements import MOVING, Step, UrdfInertial, UrdfJoint
from arm_description.urdf.reader import UrdfTree, read_urdf

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

# Columns of the table: rotation (9, by rows) and position of the joint in the carrying body
# (index PARENT, -1 is the base), PRISMATIC (1 or 0); mass, mass times centre, and the inertia
# about the origin (xx, xy, xz, yy, yz, zz).
ROTATION, POSITION, PRISMATIC, PARENT, LEADER, RATIO, OFFSET = 0, 9, 12, 13, 14, 15, 16
MASS, MOMENT, INERTIA = 17, 18, 21
BODY = 27

_SPAN = slice(MASS, BODY)
DOUBTFUL = 1e-4  # of the largest moment: rounding of six digits is no doubt
_GRAVITY = 9.81  # [m/s^2] against z of the base


@dataclass(frozen=True, eq=False)
class Bodies:
    """The table of bodies, and where the tip is."""

    table: Array  # (bodies, BODY)
    tip: int  # index of the body of the tip
    tool: Array  # that body <- tip (4, 4)
    joints: tuple[str, ...] = ()  # name of the joint of each body
    frames: tuple[Array, ...] = ()  # base <- body (4, 4) with all independent joints at 0
    # index of the body of each link, -1 for the base
    carriers: Mapping[str, int] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()  # a sentence for each link with an inertia that no body can have

    @cached_property
    def mass(self) -> float:
        """Mass of all bodies [kg]."""
        return float(self.table[:, MASS].sum())

    def with_payload(self, payload: Payload) -> Array:
        """Return the table with a load carried by the tip."""
        table: Array = self.table.copy()
        table[self.tip, _SPAN] += _payload_row(payload, self.tool)
        return table


def bodies_of_urdf(tree: UrdfTree, base: str, tip: str, joints: Sequence[str]) -> Bodies:
    """Return the bodies that the named independent joints move, with ``base`` at rest.

    Raises:
        UrdfError: An <inertial> of the URDF is invalid.
    """
    inertials = {inertial.link: inertial for inertial in tree.inertials}
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
        self._names: list[str] = []  # of the joints of the bodies
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
        beyond = T @ (pose(p=axis * rest) if slides else pose(so3_exp(axis * rest)))
        if not direct:
            return beyond, body
        at = T @ pose(frame_along(axis))
        carrier = self._frames[body] if body >= 0 else np.eye(4)
        leader = self._joints.index(drive.leader.name)
        self._rows.append(_joint_row(inverse(carrier) @ at, slides, body, leader))
        self._rows[-1][[RATIO, OFFSET]] = drive.ratio, drive.offset
        self._names.append(step.joint.name)
        self._frames.append(beyond @ pose(frame_along(axis)))
        return beyond, len(self._rows) - 1

    def _moves(self, link: str) -> bool:
        return link in self._links and self._links[link][1] >= 0

    def bodies(self, tip: str) -> Bodies:
        """Return the collected bodies."""
        T, body = self._links[tip]
        table = np.array(self._rows)
        table.setflags(write=False)
        moved = [one for one in self._inertials.values() if self._moves(one.link)]
        return Bodies(
            table,
            body,
            inverse(self._frames[body]) @ T,
            tuple(self._names),
            tuple(self._frames),
            {link: body for link, (_, body) in self._links.items()},
            tuple(filter(None, map(inertia_doubt, moved))),
        )


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


def _joint_row(joint: Array, slides: bool, parent: int, leader: int) -> Array:
    """Return the row of a body without mass; its joint (4, 4) in the carrying body."""
    row = np.zeros(BODY)
    row[ROTATION:POSITION] = joint[:3, :3].ravel()
    row[POSITION:PRISMATIC] = joint[:3, 3]
    row[[PRISMATIC, PARENT, LEADER]] = slides, parent, leader
    return row


def inertia_doubt(inertial: UrdfInertial) -> str:
    """Return a sentence about an inertia that no body can have, "" about any other.

    The principal moments A <= B <= C of a body are not negative, and A + B >= C.
    """
    moments = np.linalg.eigvalsh(_tensor(inertial.moments))
    slack = DOUBTFUL * max(abs(moments[0]), moments[2])
    if moments[0] >= -slack and moments[0] + moments[1] >= moments[2] - slack:
        return ""
    a, b, c = (f"{moment:.4g}" for moment in moments)
    law = "is negative" if moments[0] < -slack else f"and {b} are together below {c}"
    return (
        f"no body has the inertia of link {inertial.link!r}: of its principal moments {a}, {b}, "
        f"{c} kg m^2, {a} {law}"
    )


def _tensor(moments: Sequence[float]) -> Array:
    xx, xy, xz, yy, yz, zz = moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _inertia_row(inertial: UrdfInertial, T: Array) -> Array:
    """Return mass, moment and inertia about the origin of a body (10,); T is body <- link."""
    return _row(inertial.mass, T @ inertial.origin.matrix, _tensor(inertial.moments))


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


def holding_torques(bodies: Bodies, q: Sequence[float]) -> Array:
    """Return the torques (n,) that hold an arm at rest at q (n,), gravity against the base's z.

    Of prismatic joints they are forces [N]. By the principle of virtual work, in plain numpy: for
    programs that must do without compiled kernels.
    """
    frames: list[Array] = []
    loads = np.zeros((len(bodies.table), 4))  # beyond each joint: mass, and mass times centre
    for i, row in enumerate(bodies.table):
        carrier = frames[int(row[PARENT])] if row[PARENT] >= 0 else np.eye(4)
        joint = pose(row[ROTATION:POSITION].reshape(3, 3), row[POSITION:PRISMATIC])
        value = row[RATIO] * q[int(row[LEADER])] + row[OFFSET]
        motion = pose(p=(0.0, 0.0, value)) if row[PRISMATIC] else turn_z(value)
        frames.append(carrier @ joint @ motion)
        R, p = frames[i][:3, :3], frames[i][:3, 3]
        loads[i] = row[MASS], *(R @ row[MOMENT:INERTIA] + row[MASS] * p)
    torques = np.zeros(len(q))
    for i in reversed(range(len(frames))):
        row, axis, p = bodies.table[i], frames[i][:3, 2], frames[i][:3, 3]
        mass, arm = loads[i, 0], loads[i, 1:] - loads[i, 0] * p
        lift = mass * axis[2] if row[PRISMATIC] else axis[0] * arm[1] - axis[1] * arm[0]
        torques[int(row[LEADER])] += row[RATIO] * _GRAVITY * lift
        if row[PARENT] >= 0:
            loads[int(row[PARENT])] += loads[i]
    return torques
