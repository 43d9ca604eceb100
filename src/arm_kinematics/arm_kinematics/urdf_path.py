# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From the tree of a URDF, as arm_description reads it, to the parts of a chain."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from arm_description.errors import UrdfError as NoUrdfError

from arm_description.urdf import MOVING, UrdfJoint, UrdfTree, read_urdf
from arm_kinematics.chain_parts import ChainJoint, ChainLink, Parts, screw_of
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


def path(tree: UrdfTree, base: str, tip: str) -> list[UrdfJoint]:
    """Return the joints from base out to tip; raise UrdfError if tip is not beyond base."""
    for link in (base, tip):
        if link not in tree.links:
            raise UrdfError(
                f"link '{link}' is not in the robot description '{tree.name}'; its links are "
                f"{', '.join(tree.links)}",
                what="link",
                value=link,
            )
    joints: list[UrdfJoint] = []
    link = tip
    for joint in reversed(tree.joints):  # a joint comes after the one that carries it
        if link != base and joint.child == link:
            joints.append(joint)
            link = joint.parent
    if link != base:
        raise UrdfError(
            f"link '{tip}' is not carried by link '{base}'; choose a base between the "
            f"root '{tree.root}' and the tip",
            what="base",
            value=base,
        )
    return joints[::-1]


def path_without_mimics(tree: UrdfTree, base: str, tip: str) -> list[UrdfJoint]:
    """Return the path; raise UrdfError also if a joint of it follows another one."""
    joints = path(tree, base, tip)
    for joint in joints:
        if joint.mimic is not None:
            raise UrdfError(
                f"joint '{joint.name}' between '{base}' and '{tip}' follows "
                f"'{joint.mimic.joint}'; a chain has only joints that move on their own",
                what=joint.name,
            )
    return joints


def parts_of_path(path: Sequence[UrdfJoint], base: str, tip: str) -> Parts:
    """Return the parts of the chain of a URDF's joints between two links.

    Raises:
        UrdfError: No joint of the path moves, or one moves in more than one direction.
    """
    pose = np.eye(4)
    screws: list[Array] = []
    joints: list[ChainJoint] = []
    links = [ChainLink(base, 0, pose)]
    for joint in path:
        pose = pose @ joint.origin.matrix
        if joint.kind in MOVING:
            sliding = joint.kind == "prismatic"
            screws.append(screw_of(pose, joint.axis, sliding))
            joints.append(ChainJoint(joint.name, sliding, *limits(joint)))
        elif joint.kind != "fixed":
            raise UrdfError(
                f"joint '{joint.name}' between '{base}' and '{tip}' is {joint.kind}; a chain "
                f"has only {', '.join(MOVING)} and fixed joints",
                what=joint.name,
                value=joint.kind,
            )
        links.append(ChainLink(joint.child, len(joints), pose))
    if not joints:
        raise UrdfError(
            f"no joint moves between '{base}' and '{tip}'; choose a tip beyond one", what=tip
        )
    return Parts(np.transpose(screws), pose, joints, links)


def limits(joint: UrdfJoint) -> tuple[float, float, float]:
    """Return lower, upper [rad or m] and velocity [rad/s or m/s]; infinite where there is none."""
    limit = joint.limit
    velocity = (limit.velocity if limit else 0.0) or math.inf
    if limit is None or joint.kind == "continuous":
        return -math.inf, math.inf, velocity
    return limit.lower, limit.upper, velocity
