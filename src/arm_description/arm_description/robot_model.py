# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_reader.py
"""Immutable, validated model of a serial arm in metres, radians and seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.plugins import PluginGroup
from arm_common.transforms import Matrix, Vector
from numpy.typing import ArrayLike

from arm_description.errors import DescriptionError
from arm_description.model.constraints import ConstraintSet, JointConstraint
from arm_description.model.elements import (
    NO_MOTION,
    ActuatorLimits,
    Bar,
    Colours,
    Convention,
    DependentJoint,
    Joint,
    LinkMass,
    LookShape,
    Mesh,
    Origin,
    Payload,
    dependent_joint,
)
from arm_description.model.gripper import Gripper, MountedTool
from arm_description.model.units import SI, Units

if TYPE_CHECKING:
    from arm_description.model.transmissions.transmission import Transmission

EXPORTERS = PluginGroup(
    group="arm_description.exporters",
    kind="exporter of robots",
    shipped={"urdf": "arm_description.urdf.writer:robot_urdf"},
)
"""Functions that write a model in another format; the first argument is the model."""

# of the search for a posture in which an arm without postures is clear of itself
_TRIED = 200  # postures
_GAP = 0.06  # between the lines of links, relative to the length of the arm
_POINTS = np.linspace(0.0, 1.0, 9)[:, None]  # of a line


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class RobotModel:
    """A serial arm.

    Attributes:
        name: name of the robot.
        convention: DH convention, "standard" or "modified".
        joints: independent joints from the base to the tool; ``rows`` has all rows of the table.
        base: base_link <- DH frame 0.
        tool: flange (DH frame n) <- tool0.
        dependents: joints that follow others, in the order of their rows.
        gripper: the gripper, if it has one.
        mounted: the tool that is mounted at its end, if any; `tool` leads to its frame.
        postures: positions by joint name [rad or m]; "gripper" is a width [m].
        colours: colours of the skeleton.
        payload: load carried by the tool, if any.
        masses: masses of links by name; the others are estimated.
        meshes: meshes of links by name; the others show looks or the skeleton.
        looks: shapes that links look like, by name, in place of their skeletons.
        description: one line about the robot.
        source: origin of its numbers.
        transmissions: what stands between joints and actuators; joints without one have an
            actuator of their own.
        actuator_limits: limits by actuator name that its servos narrow; empty for those of the
            transmissions.
        bars: bars of linkages, which are drawn.
        units: units of its file, for input and output; all numbers here are in SI units.
        constants: constants of its file, in the units of the file.
        sources: origins of numbers by key of the file, such as "joints[0]" or "constants.l1";
            without the robot's own source.
        formulas: cells of the table, base and tool as written, by key such as "joints.elbow.d".
    """

    name: str
    convention: Convention
    joints: tuple[Joint, ...]
    base: Origin = NO_MOTION
    tool: Origin = NO_MOTION
    dependents: tuple[DependentJoint, ...] = ()
    gripper: Gripper | None = None
    mounted: MountedTool | None = None
    postures: Mapping[str, Mapping[str, float]] = field(default_factory=_empty)
    colours: Colours = field(default_factory=Colours)
    description: str = ""
    source: str = ""
    payload: Payload | None = None
    masses: Mapping[str, LinkMass] = field(default_factory=_empty)
    meshes: Mapping[str, Mesh] = field(default_factory=_empty)
    looks: Mapping[str, tuple[LookShape, ...]] = field(default_factory=_empty)
    transmissions: tuple[Transmission, ...] = ()
    actuator_limits: Mapping[str, ActuatorLimits] = field(default_factory=_empty)
    bars: tuple[Bar, ...] = ()
    units: Units = field(default=SI, compare=False)
    constants: Mapping[str, float] = field(default_factory=_empty, compare=False)
    sources: Mapping[str, str] = field(default_factory=_empty, compare=False)
    formulas: Mapping[str, str] = field(default_factory=_empty, compare=False)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def end(self) -> Origin:
        """Flange (DH frame n) <- the arm's own end: tool0, or where a tool is mounted."""
        return self.mounted.mount if self.mounted else self.tool

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints from the base to the tool."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def rows(self) -> tuple[Joint, ...]:
        """The joints of all rows of the table, independent and dependent, base to tool."""
        return in_order(self.joints, self.dependents)

    @cached_property
    def is_tilted(self) -> bool:
        """Whether axes are so nearly parallel that rows have beta; it has no DH table then."""
        return any(joint.row.beta for joint in self.rows)

    @cached_property
    def constraints(self) -> tuple[JointConstraint, ...]:
        """Limits of joints that depend on other joints, also those of the actuators' travel."""
        limits: list[JointConstraint] = [j.constraint for j in self.joints if j.constraint]
        place = self.joint_names.index
        for one in sorted(self.transmissions, key=lambda t: min(map(place, t.joints))):
            if self.actuator_limits:
                travel = [self.actuator_limits[name] for name in one.actuators]
                limits += one.constraints(travel, "the linkage and its servo allow")
            else:
                limits += one.constraints()
        return tuple(limits)

    @cached_property
    def constraint_set(self) -> ConstraintSet:
        """The constraints for positions in the order of the joints."""
        prismatic = [joint.name for joint in self.rows if joint.type == "prismatic"]
        return ConstraintSet(self.joint_names, self.constraints, prismatic)

    @cached_property
    def lower(self) -> Vector:
        """Minimum positions, (n,) read-only [rad or m]."""
        return read_only([joint.lower for joint in self.joints])

    @cached_property
    def upper(self) -> Vector:
        """Maximum positions, (n,) read-only [rad or m]."""
        return read_only([joint.upper for joint in self.joints])

    @cached_property
    def velocity(self) -> Vector:
        """Maximum speeds, (n,) read-only [rad/s or m/s]."""
        return read_only([joint.velocity for joint in self.joints])

    @cached_property
    def acceleration(self) -> Vector:
        """Maximum accelerations, (n,) read-only [rad/s^2 or m/s^2]."""
        return read_only([joint.acceleration for joint in self.joints])

    @cached_property
    def rest(self) -> Vector:
        """Every joint at 0, or as near to it as all limits allow, (n,) [rad or m]."""
        zero = np.array([joint.rest for joint in self.joints])
        inside = self.constraint_set.nearest(zero, self.lower, self.upper)
        return zero if inside is None else inside

    def limited(
        self,
        limits: Mapping[str, ActuatorLimits],
        actuators: Mapping[str, ActuatorLimits] | None = None,
        width: ActuatorLimits | None = None,
    ) -> RobotModel:
        """Return the arm with what its servos allow, where that is less than its description.

        Args:
            limits: limits by joint name [rad or m, per second].
            actuators: limits by actuator name, of an arm whose joints depend on several.
            width: limits of the width between the jaws [m, per second]; None without a gripper.
        """
        joints = {j.name: _limited(j, limits.get(j.name)) for j in self.joints}
        dependents = tuple(
            dependent_joint(d.name, d.type, d.row, d.terms, joints, d.index, d.source)
            for d in self.dependents
        )
        gripper = self.gripper
        if gripper is not None and width is not None:
            gripper = replace(
                gripper,
                min_width=max(gripper.min_width, width.lower),
                max_width=min(gripper.max_width, width.upper),
                velocity=min(gripper.velocity, width.velocity),
                acceleration=min(gripper.acceleration, width.acceleration),
            )
        return replace(
            self,
            joints=tuple(joints.values()),
            dependents=dependents,
            gripper=gripper,
            actuator_limits=actuators or {},
        )

    @cached_property
    def home_posture(self) -> tuple[str, Mapping[str, float]]:
        """Name and positions by joint [rad or m] of the posture at which everything starts.

        It is ``rest``, else the first one of the file. Without postures, it is one inside the
        limits in which the arm touches neither itself nor the ground of its base, as far as the
        lines between its DH frames tell; else every joint at 0 or the nearest limit.
        """
        for name in ("rest", *self.postures):
            if name in self.postures:
                return name, self.postures[name]
        zero = self.rest
        name = "each joint at 0 or its nearest limit" if zero.any() else "every joint at 0"
        if self._is_clear(zero):
            return name, dict(zip(self.joint_names, zero.tolist(), strict=True))
        rng = np.random.default_rng(0)  # the same postures every time
        for _ in range(_TRIED):
            q = rng.uniform(self.lower, self.upper)
            if self.constraint_set.worst(q) is None and self._is_clear(q):
                return "clear of itself", dict(zip(self.joint_names, q.tolist(), strict=True))
        return name, dict(zip(self.joint_names, zero.tolist(), strict=True))

    def _is_clear(self, q: ArrayLike) -> bool:
        """Return whether lines between DH frames that do not meet keep a gap, and stay above 0."""
        origins = np.array([frame[:3, 3] for frame in self.dh_frames(q)])
        corners = np.vstack([origins, self.fk(q)[:3, 3]])
        steps = np.linalg.norm(np.diff(corners, axis=0), axis=1)
        total = float(steps.sum())
        solid = [i for i, step in enumerate(steps) if step > 1e-6]
        lines = [corners[i] + _POINTS * (corners[i + 1] - corners[i]) for i in solid]
        if corners[:, 2].min() < min(0.0, corners[0, 2]) - 1e-6:
            return False
        return all(
            np.linalg.norm(one[:, None] - other[None], axis=2).min() > _GAP * total
            for i, one in enumerate(lines)
            for other in lines[i + 2 :]
        )

    def dh_frames(self, q: ArrayLike) -> list[Matrix]:
        """Return the DH frames, 0 and one for each row of the table.

        Args:
            q: (n,) joint positions [rad or m]; limits are not applied.

        Returns:
            Matrices (4, 4), base_link <- frame i: n + 1, and one more for each dependent joint.

        Raises:
            DescriptionError: q has the wrong length or is not finite.
        """
        values = np.asarray(q, dtype=float)
        if values.shape != (self.n,) or not np.isfinite(values).all():
            raise DescriptionError(
                f"q must be {self.n} finite numbers, one for each of {', '.join(self.joint_names)}"
            )
        frames = [self.base.matrix]
        positions = self.positions(dict(zip(self.joint_names, values.tolist(), strict=True)))
        for joint in self.rows:
            frames.append(frames[-1] @ joint.matrix(self.convention, positions[joint.name]))
        return frames

    def positions(self, q: Mapping[str, float]) -> dict[str, float]:
        """Return positions [rad or m] by name, with those of the dependent joints added.

        Args:
            q: positions of all independent joints, and others that are kept.
        """
        return {**q, **{joint.name: joint.position(q) for joint in self.dependents}}

    @property
    def without_effort(self) -> tuple[str, ...]:
        """The joints without a torque or force limit, which nothing can check."""
        return tuple(joint.name for joint in self.joints if not joint.has_effort)

    def fk(self, q: ArrayLike) -> Matrix:
        """Return the pose of the tool as the product of the DH transforms.

        Args:
            q: (n,) joint positions [rad or m]; limits are not applied.

        Returns:
            (4, 4), base_link <- tool0 [m].

        Raises:
            DescriptionError: q has the wrong length or is not finite.
        """
        tip: Matrix = self.dh_frames(q)[-1] @ self.tool.matrix
        return tip

    def to_urdf(self, prefix: str = "", dh_frames: bool = False) -> str:
        """Return the arm as URDF.

        Args:
            prefix: prefix of every link and joint name.
            dh_frames: add the frames dh_0 .. dh_n.

        Returns:
            The XML text.

        Raises:
            DescriptionError: the prefix cannot be part of a name.
        """
        urdf: str = EXPORTERS.load("urdf")(self, prefix, dh_frames)
        return urdf


def _limited(joint: Joint, limits: ActuatorLimits | None) -> Joint:
    """Return a joint inside further limits."""
    if limits is None:
        return joint
    return replace(
        joint,
        lower=max(joint.lower, limits.lower),
        upper=min(joint.upper, limits.upper),
        velocity=min(joint.velocity, limits.velocity),
        acceleration=min(joint.acceleration, limits.acceleration),
    )


def in_order(
    joints: tuple[Joint, ...], dependents: tuple[DependentJoint, ...]
) -> tuple[Joint, ...]:
    """Return independent and dependent joints in the order of their rows."""
    rows = list(joints)
    for joint in dependents:
        rows.insert(joint.index, joint)
    return tuple(rows)


def read_only(values: ArrayLike) -> Vector:
    """Return a read-only copy as floats."""
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array
