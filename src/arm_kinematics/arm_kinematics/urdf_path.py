# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The way between two links in the tree of a URDF, and what moves the joints on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from arm_description.errors import UrdfError as NoUrdfError

from arm_description.urdf import UrdfJoint, UrdfTree, read_urdf
from arm_kinematics.errors import UrdfError
from arm_kinematics.lie import Array


def read_tree(xml: str | UrdfTree) -> UrdfTree:
    """Read a URDF; one that has been read stays as it is.

    Raises:
        UrdfError: It cannot be used; says what arm_description says, in this package's family.
    """
    try:
        return xml if isinstance(xml, UrdfTree) else read_urdf(xml)
    except NoUrdfError as error:
        raise UrdfError(str(error), what="urdf") from None


class Step(NamedTuple):
    """A joint on the way from one link to another.

    Attributes:
        joint: The joint.
        inward: True if the way leads from its child link to its parent link.
    """

    joint: UrdfJoint
    inward: bool

    @property
    def link(self) -> str:
        """The link that the step leads to."""
        return self.joint.parent if self.inward else self.joint.child

    @property
    def axis(self) -> Array:
        """Unit axis of the joint, turned round if it is passed inward."""
        return np.array(self.joint.axis) * (-1.0 if self.inward else 1.0)


def path(tree: UrdfTree, base: str, tip: str) -> list[Step]:
    """Return the joints between two links: towards the root up to what they share, then out."""
    for link in (base, tip):
        if link not in tree.links:
            raise UrdfError(
                f"link '{link}' is not in the robot description '{tree.name}'; its links are "
                f"{', '.join(tree.links)}",
                what="link",
                value=link,
            )
    inward, outward = _to_root(tree, base), _to_root(tree, tip)
    while inward and outward and inward[-1] is outward[-1]:
        inward.pop()
        outward.pop()
    return [*(Step(j, True) for j in inward), *(Step(j, False) for j in reversed(outward))]


def _to_root(tree: UrdfTree, link: str) -> list[UrdfJoint]:
    joints: list[UrdfJoint] = []
    for joint in reversed(tree.joints):  # a joint comes after the one that carries it
        if joint.child == link:
            joints.append(joint)
            link = joint.parent
    return joints


class Drive(NamedTuple):
    """What moves a joint: position = ratio * position of the leader + offset."""

    leader: UrdfJoint
    ratio: float
    offset: float


def drive_of(tree: UrdfTree, joint: UrdfJoint) -> Drive:
    """Return what moves a joint: itself, or the joint at the end of its chain of mimics."""
    by_name = {j.name: j for j in tree.joints}
    ratio, offset = 1.0, 0.0
    while joint.mimic is not None:
        offset += ratio * joint.mimic.offset
        ratio *= joint.mimic.multiplier
        joint = by_name[joint.mimic.joint]
    return Drive(joint, ratio, offset)
