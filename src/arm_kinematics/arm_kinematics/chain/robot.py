# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A whole robot from its URDF: chains to any link, and link poses from named joint positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from arm_common.transforms import Array
from arm_description.errors import UrdfError
from arm_description.urdf.elements import MOVING
from arm_description.urdf.reader import UrdfTree

from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.model.urdf import path, urdf_tree


class MissingJointsError(KinematicsError):
    """Positions of required joints are unknown.

    Attributes:
        joints: Names of these joints.
    """

    def __init__(self, joints: Iterable[str]) -> None:
        self.joints = tuple(joints)
        super().__init__(f"the position of {', '.join(self.joints)} is not known", what="joints")


class Robot:
    """A robot description with cached chains.

    Attributes:
        urdf: The description.
        name: Name of the robot.
        base: The root link; all poses are given in its frame.
        links: Names of all links.
        joint_names: Names of the independent joints.
        followers: Names of the mimic joints.
        tips: The moving links at the ends of branches.
    """

    def __init__(self, xml: str | Path | UrdfTree) -> None:
        self.urdf = urdf_tree(xml)
        try:
            self.urdf.check_places()
        except UrdfError as error:
            raise KinematicsError(str(error), what="urdf") from None
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

    def chain(self, tip: str) -> Chain:
        """Return the chain from the base to a link; raise KinematicsError if there is none."""
        if tip not in self._chains:
            self._chains[tip] = Chain.from_urdf(self.urdf, self.base, tip)
        return self._chains[tip]

    def link_pose(self, link: str, joints: Mapping[str, float]) -> Array:
        """Return the pose (4, 4) of any link in the base frame.

        ``joints`` maps at least the joints between base and link to their positions [rad or m].

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
        """Return the positions [rad or m] of the given joints and of those that mimic them."""
        found = {}
        for joint in self.urdf.joints:
            leader, ratio, offset = self.urdf.drive_of(joint)
            if joint.kind in MOVING and leader.name in joints:
                found[joint.name] = ratio * joints[leader.name] + offset
        return found

    def moves(self, link: str) -> bool:
        """Return whether a joint before a link moves, of any type (planar and floating too)."""
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
