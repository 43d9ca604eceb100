# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A whole robot from its URDF: chains to any link, poses of any links, by joint names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from arm_common.transforms import Array
from arm_description.urdf.elements import MOVING
from arm_description.urdf.reader import UrdfTree, read_urdf

from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.model.urdf import path


class MissingJointsError(KinematicsError):
    """Positions of some joints are needed and not known.

    Attributes:
        joints: Their names.
    """

    def __init__(self, joints: Iterable[str]) -> None:
        self.joints = tuple(joints)
        super().__init__(f"the position of {', '.join(self.joints)} is not known", what="joints")


class Robot:
    """A robot description, for which chains are built once and kept.

    Attributes:
        urdf: The description.
        name: Name of the robot.
        base: The root link; all poses are given in its frame.
        links: Names of all links.
        joint_names: Names of the joints that move on their own.
        followers: Names of the joints that mimic another one.
        tips: The links that end a branch and are moved by some joint.
    """

    def __init__(self, xml: str | UrdfTree) -> None:
        self.urdf = xml if isinstance(xml, UrdfTree) else read_urdf(xml)
        self.name = self.urdf.name
        self.base = self.urdf.root
        self.links = self.urdf.links
        moving = [joint for joint in self.urdf.joints if joint.kind in MOVING]
        self.joint_names = tuple(j.name for j in moving if j.mimic is None)
        self.followers = tuple(j.name for j in moving if j.mimic is not None)
        self._chains: dict[str, Chain] = {}
        self._moving: dict[str, bool] = {}
        self._fixed: dict[str, Array] = {}
        parents = {joint.parent for joint in self.urdf.joints}
        ends = (link for link in self.links if link not in parents)
        self.tips = tuple(link for link in ends if self.moves(link))

    @property
    def chains(self) -> int:
        """Number of chains built so far."""
        return len(self._chains)

    def chain(self, tip: str) -> Chain:
        """Return the chain from the base to a link, or raise KinematicsError if there is none."""
        if tip not in self._chains:
            self._chains[tip] = Chain.from_urdf(self.urdf, self.base, tip)
        return self._chains[tip]

    def link_pose(self, link: str, joints: Mapping[str, float]) -> Array:
        """Return the pose (4, 4) of any link in the base frame.

        ``joints`` are the positions of at least the joints before it, by name [rad or m].

        Raises:
            KinematicsError: There is no such link.
            MissingJointsError: A position is missing.
        """
        if not self.moves(link):
            return self._fixed_pose(link)
        chain = self.chain(link)
        missing = [name for name in chain.joint_names if name not in joints]
        if missing:
            raise MissingJointsError(missing)
        return chain.fk(chain.positions(joints))

    def positions(self, joints: Mapping[str, float]) -> dict[str, float]:
        """Return the positions of all joints that the given ones determine [rad or m]."""
        found = {}
        for joint in self.urdf.joints:
            leader, ratio, offset = self.urdf.drive_of(joint)
            if joint.kind in MOVING and leader.name in joints:
                found[joint.name] = ratio * joints[leader.name] + offset
        return found

    def moves(self, link: str) -> bool:
        """Return whether some joint before a link moves, also if it is one without a chain."""
        if link not in self._moving:
            self._moving[link] = any(
                step.joint.kind != "fixed" and self.urdf.drive_of(step.joint).ratio != 0.0
                for step in path(self.urdf, self.base, link)
            )
        return self._moving[link]

    def _fixed_pose(self, link: str) -> Array:
        if link not in self._fixed:
            pose = np.eye(4)
            for step in path(self.urdf, self.base, link):
                pose = pose @ step.joint.origin.matrix
            self._fixed[link] = pose
        return self._fixed[link]
