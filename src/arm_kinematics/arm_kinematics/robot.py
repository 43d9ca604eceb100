# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A whole robot from its URDF: chains to any link, poses of any links, by joint names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from arm_description.urdf import MOVING, UrdfJoint
from arm_kinematics.chain import Chain
from arm_kinematics.errors import KinematicsError, UrdfError
from arm_kinematics.lie import Array
from arm_kinematics.urdf_path import path, read_tree


class MissingJointsError(KinematicsError):
    """Positions of some joints are needed and not known.

    Attributes:
        joints: Their names.
    """

    def __init__(self, joints: Iterable[str]) -> None:
        self.joints = tuple(joints)
        super().__init__(f"the position of {', '.join(self.joints)} is not known", what="joints")


class Robot:
    """A robot description, ready for questions; chains are built once and kept.

    Attributes:
        name: Name of the robot.
        base: The root link; all poses are given in its frame.
        links: Names of all links.
        joint_names: Names of the joints that move on their own.
    """

    def __init__(self, xml: str) -> None:
        self._tree = read_tree(xml)
        self._joints = {joint.name: joint for joint in self._tree.joints}
        self.name = self._tree.name
        self.base = self._tree.root
        self.links = self._tree.links
        self.joint_names = tuple(
            j.name for j in self._tree.joints if j.kind in MOVING and j.mimic is None
        )
        self._chains: dict[str, Chain] = {}

    @property
    def chains(self) -> int:
        """Number of chains built so far."""
        return len(self._chains)

    def chain(self, tip: str) -> Chain:
        """Return the chain from the base to a link.

        Raises:
            UrdfError: There is no such link, or its chain is none that can be solved.
        """
        for joint in path(self._tree, self.base, tip):
            if joint.mimic is not None:
                raise UrdfError(
                    f"link '{tip}' hangs on joint '{joint.name}', which follows "
                    f"'{joint.mimic.joint}'; choose a link before it",
                    what=tip,
                )
        return self._any_chain(tip)

    def link_pose(self, link: str, joints: Mapping[str, float]) -> Array:
        """Return the pose (4, 4) of any link in the base frame.

        Args:
            link: Name of the link.
            joints: Positions of at least the joints before it, by name [rad or m].

        Raises:
            UrdfError: There is no such link.
            MissingJointsError: A position is missing.
        """
        joints_before = path(self._tree, self.base, link)
        moving = [joint for joint in joints_before if joint.kind in MOVING]
        if not moving:
            pose = np.eye(4)
            for joint in joints_before:
                pose = pose @ joint.origin.matrix
            return pose
        chain = self._any_chain(link)
        return chain.fk(self._positions(moving, joints))

    def _any_chain(self, tip: str) -> Chain:
        if tip not in self._chains:
            self._chains[tip] = Chain.from_path(path(self._tree, self.base, tip), self.base, tip)
        return self._chains[tip]

    def _positions(self, moving: Iterable[UrdfJoint], joints: Mapping[str, float]) -> Array:
        values: list[float] = []
        missing: list[str] = []
        for joint in moving:
            factor, offset = 1.0, 0.0
            while joint.mimic is not None:
                offset += factor * joint.mimic.offset
                factor *= joint.mimic.multiplier
                joint = self._joints[joint.mimic.joint]
            if joint.name in joints:
                values.append(factor * joints[joint.name] + offset)
            else:
                missing.append(joint.name)
        if missing:
            raise MissingJointsError(missing)
        return np.array(values)
