# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The validated model of a serial arm, in metres, radians and seconds. Immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from arm_common.transforms import Matrix, Vector
from numpy.typing import ArrayLike

from arm_description.errors import DescriptionError
from arm_description.model.elements import (
    NO_MOTION,
    Colours,
    Convention,
    Gripper,
    Joint,
    Mesh,
    Origin,
    Payload,
)
from arm_description.model.units import SI, Units


def _none() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class RobotModel:
    """A serial arm.

    Attributes:
        name: name of the robot.
        convention: of the table, "standard" or "modified".
        joints: from the base to the tool.
        base: base_link <- DH frame 0.
        tool: flange (DH frame n) <- tool0.
        gripper: the gripper, if it has one.
        postures: positions by joint name [rad or m]; "gripper" is a width [m].
        colours: of the skeleton.
        payload: what the tool carries, if anything.
        masses: of links by their name [kg]; those of the others are estimated.
        meshes: of links by their name; the others have the skeleton's look.
        description: one line about the robot.
        source: where its numbers come from.
        units: those of its file, for what people read and write; every number here is in SI.
        constants: of its file, in the units of the file.
        sources: where numbers come from, by the key of the file that the source stands at, such as
            "joints[0]" or "constants.l1"; the robot's own is not among them.
    """

    name: str
    convention: Convention
    joints: tuple[Joint, ...]
    base: Origin = NO_MOTION
    tool: Origin = NO_MOTION
    gripper: Gripper | None = None
    postures: Mapping[str, Mapping[str, float]] = field(default_factory=_none)
    colours: Colours = field(default_factory=Colours)
    description: str = ""
    source: str = ""
    payload: Payload | None = None
    masses: Mapping[str, float] = field(default_factory=_none)
    meshes: Mapping[str, Mesh] = field(default_factory=_none)
    units: Units = field(default=SI, compare=False)
    constants: Mapping[str, float] = field(default_factory=_none, compare=False)
    sources: Mapping[str, str] = field(default_factory=_none, compare=False)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names from the base to the tool."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def lower(self) -> Vector:
        """Lowest positions, (n,) read-only [rad or m]."""
        return read_only([joint.lower for joint in self.joints])

    @cached_property
    def upper(self) -> Vector:
        """Highest positions, (n,) read-only [rad or m]."""
        return read_only([joint.upper for joint in self.joints])

    @cached_property
    def velocity(self) -> Vector:
        """Highest speeds, (n,) read-only [rad/s or m/s]."""
        return read_only([joint.velocity for joint in self.joints])

    @cached_property
    def acceleration(self) -> Vector:
        """Highest accelerations, (n,) read-only [rad/s^2 or m/s^2]."""
        return read_only([joint.acceleration for joint in self.joints])

    def dh_frames(self, q: ArrayLike) -> list[Matrix]:
        """Frames 0 .. n of the table.

        Args:
            q: (n,) joint positions [rad or m]; limits are not applied.

        Returns:
            n + 1 matrices (4, 4), base_link <- frame i.

        Raises:
            DescriptionError: q has another length, or is not finite.
        """
        values = np.asarray(q, dtype=float)
        if values.shape != (self.n,) or not np.isfinite(values).all():
            raise DescriptionError(
                f"q must be {self.n} finite numbers, one for each of {', '.join(self.joint_names)}"
            )
        frames = [self.base.matrix]
        for joint, value in zip(self.joints, values, strict=True):
            frames.append(frames[-1] @ joint.matrix(self.convention, float(value)))
        return frames

    def fk(self, q: ArrayLike) -> Matrix:
        """Pose of the tool by the product of the table's transforms.

        Args:
            q: (n,) joint positions [rad or m]; limits are not applied.

        Returns:
            (4, 4), base_link <- tool0 [m].

        Raises:
            DescriptionError: q has another length, or is not finite.
        """
        tip: Matrix = self.dh_frames(q)[-1] @ self.tool.matrix
        return tip

    def to_urdf(self, prefix: str = "", dh_frames: bool = False) -> str:
        """Write the arm as URDF.

        Args:
            prefix: put before every link and joint name.
            dh_frames: add the frames dh_0 .. dh_n.

        Returns:
            The XML text.

        Raises:
            DescriptionError: the prefix cannot be part of a name.
        """
        from arm_description.urdf.writer import robot_urdf

        return robot_urdf(self, prefix, dh_frames)


def read_only(values: ArrayLike) -> Vector:
    """Return a copy as floats that nobody can change."""
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array
