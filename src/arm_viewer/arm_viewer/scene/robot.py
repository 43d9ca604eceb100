# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A robot as the viewer needs it: visuals, joints with limits and values, size, postures."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array
from arm_description.errors import DescriptionError, UrdfError
from arm_description.library import load_robot
from arm_description.model.constraints import ConstraintSet
from arm_description.robot_model import RobotModel
from arm_description.urdf.bodies import Bodies, bodies_of_urdf, holding_torques
from arm_description.urdf.elements import MOVING, UrdfJoint, UrdfMimic, UrdfShape
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import UrdfTree, read_urdf

from arm_viewer.errors import ViewerError
from arm_viewer.scene.shapes import GREY, Box, Colour, Cylinder, DrawnShape, Ellipsoid, MeshFile


@dataclass(frozen=True, eq=False)
class Visual:
    """One visual of one link."""

    link: str
    pose: Array  # (4, 4), link <- visual
    shape: DrawnShape
    colour: Colour


@dataclass(frozen=True)
class VisualJoint:
    """A joint that a slider can move. Limits in rad and rad/s (m, m/s for a prismatic joint)."""

    name: str
    prismatic: bool
    lower: float
    upper: float
    mimic: UrdfMimic | None = None
    velocity: float = math.inf


@dataclass(frozen=True, eq=False)
class VisualRobot:
    """The drawable parts of a robot, and its joints."""

    name: str
    root: str  # the one link that is no joint's child
    links: tuple[str, ...]  # all link names, in document order
    visuals: tuple[Visual, ...]
    joints: tuple[VisualJoint, ...]  # the joints that move, in document order
    zero: Mapping[str, Array]  # link name -> (4, 4), root <- link, with all joints at zero
    reach: float  # length from the root to the farthest tip with the chain pulled straight [m]
    carriers: Mapping[str, UrdfJoint]  # link name -> the joint that carries it
    constraints: ConstraintSet  # of the joints that move on their own
    bodies: Bodies | None = None  # None if nothing that moves has a mass

    def joints_to(self, link: str) -> tuple[VisualJoint, ...]:
        """Return the joints that move on their own between the root and a link, in order."""
        free = {joint.name: joint for joint in self.joints if joint.mimic is None}
        return tuple(free[j.name] for j in self._path_to(link) if j.name in free)

    def pose_of(self, link: str, values: Mapping[str, float]) -> Array | None:
        """Return root <- link (4, 4) at joint positions by name [rad or m].

        Unlike tf it is never older than the positions. None if the robot has no such link, or if
        the position of a joint before it is unknown.
        """
        path, known = self._path_to(link), dict(values)
        for joint in self.joints:
            mimic = joint.mimic
            if mimic is not None and mimic.joint in values:
                known[joint.name] = mimic.multiplier * values[mimic.joint] + mimic.offset
        moving = {joint.name for joint in self.joints} & {joint.name for joint in path}
        if link not in self.links or not moving <= known.keys():
            return None
        return link_poses(self.root, path, known)[link]

    def poses_at(self, posture: Mapping[str, float]) -> dict[str, Array]:
        """Return link name -> root <- link (4, 4) at joint positions by name [rad or m]."""
        return link_poses(self.root, self.carriers.values(), posture)

    def efforts(self, values: Mapping[str, float]) -> list[float]:
        """Return the torque [N m] or force [N] of each joint that holds the robot at rest.

        In the order of ``joints``, whose positions are given by name [rad or m]. A mimic joint's
        is part of its leader's, and its own 0, as in joint_states of the driver. Empty if nothing
        that moves has a mass.
        """
        if self.bodies is None:
            return []
        free = [joint.name for joint in self.joints if joint.mimic is None]
        torques = holding_torques(self.bodies, [values[name] for name in free])
        held = dict(zip(free, torques.tolist(), strict=True))
        return [held.get(joint.name, 0.0) for joint in self.joints]

    def _path_to(self, link: str) -> list[UrdfJoint]:
        """Return all joints between the root and a link, in order."""
        path: list[UrdfJoint] = []
        while link in self.carriers:
            path.insert(0, self.carriers[link])
            link = path[0].parent
        return path


def read_robot(xml: str) -> VisualRobot:
    """Return the robot of a URDF text; raise ViewerError if it cannot be drawn."""
    try:
        urdf = read_urdf(xml, tolerant=True)
        urdf.check_places()
        visuals = tuple(map(_visual, urdf.visuals))
        joints = tuple(_joint(urdf, joint) for joint in urdf.joints if joint.kind in MOVING)
        constraints = _constraints(joints, urdf)
    except UrdfError as error:
        raise ViewerError(f"robot_description: {error}") from None
    zero = link_poses(urdf.root, urdf.joints, {})
    carriers = {joint.child: joint for joint in urdf.joints}
    return VisualRobot(
        urdf.name,
        urdf.root,
        urdf.links,
        visuals,
        joints,
        zero,
        _reach(urdf),
        carriers,
        constraints,
        _bodies(urdf, joints),
    )


def _bodies(urdf: UrdfTree, joints: tuple[VisualJoint, ...]) -> Bodies | None:
    """Return the bodies that the joints move; None without masses, or with invalid ones."""
    free = [joint.name for joint in joints if joint.mimic is None]
    try:
        bodies = bodies_of_urdf(urdf, urdf.root, urdf.links[-1], free) if free else None
    except UrdfError:
        return None  # a robot is drawn without its masses
    return bodies if bodies is not None and bodies.mass > 0.0 else None


def _joint(urdf: UrdfTree, joint: UrdfJoint) -> VisualJoint:
    lower, upper, limit, mimic = -math.pi, math.pi, joint.limit, joint.mimic
    if limit is not None and joint.kind != "continuous":
        lower, upper = limit.lower, limit.upper
    if mimic is not None:
        leader, ratio, offset = urdf.drive_of(joint)
        mimic = UrdfMimic(leader.name, ratio, offset)
    velocity = (limit.velocity if limit else 0.0) or math.inf
    return VisualJoint(joint.name, joint.kind == "prismatic", lower, upper, mimic, velocity)


def _constraints(joints: tuple[VisualJoint, ...], urdf: UrdfTree) -> ConstraintSet:
    free = [joint for joint in joints if joint.mimic is None]
    prismatic = [joint.name for joint in free if joint.prismatic]
    return ConstraintSet([joint.name for joint in free], urdf.constraints, prismatic)


def _reach(urdf: UrdfTree) -> float:
    """Return the length from the root to the farthest tip with the chain pulled straight [m]."""
    lengths = {urdf.root: 0.0}
    for joint in urdf.joints:
        length = lengths[joint.parent] + math.hypot(*joint.origin.xyz)
        if joint.kind == "prismatic" and joint.limit is not None:
            length += max(abs(joint.limit.lower), abs(joint.limit.upper))
        lengths[joint.child] = length
    return max(lengths.values())


def _visual(visual: UrdfShape) -> Visual:
    pose = np.array(visual.origin.matrix)
    pose.setflags(write=False)
    return Visual(visual.link, pose, _shape(visual), visual.colour or GREY)


def _shape(visual: UrdfShape) -> DrawnShape:
    if visual.kind == "cylinder":
        radius, length = visual.size
        return Cylinder((2.0 * radius, 2.0 * radius), length)
    if visual.kind == "sphere":
        diameter = 2.0 * visual.size[0]
        return Ellipsoid((diameter, diameter, diameter))
    x, y, z = visual.size
    if visual.kind == "box":
        return Box((x, y, z))
    return MeshFile(visual.uri, (x, y, z), own_colours=visual.colour is None)


class JointSliders:
    """The values of a robot's movable joints. Radians; metres for prismatic joints.

    Those without a start value begin at zero, or at the limit nearest to zero. Constraints are
    those of the joints that move on their own.
    """

    def __init__(
        self,
        joints: tuple[VisualJoint, ...],
        start: Mapping[str, float] | None = None,
        constraints: ConstraintSet | None = None,
    ) -> None:
        self._followers = tuple(joint for joint in joints if joint.mimic is not None)
        self._joints = {joint.name: joint for joint in joints if joint.mimic is None}
        self._values = {name: _within(joint, 0.0) for name, joint in self._joints.items()}
        self._constraints: ConstraintSet | None = None
        self.apply(start or {})
        self._constraints = constraints
        if constraints:
            q = constraints.inside([self._values[name] for name in constraints.names])
            self._values |= zip(constraints.names, q.tolist(), strict=True)

    def apply(self, posture: Mapping[str, float]) -> str:
        """Set the joints that a posture names; names that the robot lacks are ignored.

        They stop where limits that depend on other joints do; return that limit, or "".

        Raises:
            ViewerError: A value is not finite.
        """
        former = dict(self._values)
        for name in posture.keys() & self._joints.keys():
            if not math.isfinite(posture[name]):
                raise ViewerError(
                    f'slider of joint "{name}": {posture[name]} is not a finite number'
                )
            self._values[name] = _within(self._joints[name], posture[name])
        return self._keep_inside(former)

    def _keep_inside(self, former: Mapping[str, float]) -> str:
        """Shorten the motion from former values to the share that the constraints allow."""
        if not self._constraints:
            return ""
        names = self._constraints.names
        before, after = (np.array([of[name] for name in names]) for of in (former, self._values))
        share = self._constraints.share(before, after - before)
        if share == 1.0:
            return ""
        limit = self._constraints.tightest(after)
        moved = before + share * (after - before)
        self._values |= zip(names, moved.tolist(), strict=True)
        return f"{limit.sentence}." if limit else ""

    def values(self) -> dict[str, float]:
        """Return the value of every movable joint by name, mimic joints included."""
        values = dict(self._values)
        for joint in self._followers:
            assert joint.mimic is not None
            lead = values[joint.mimic.joint]
            values[joint.name] = joint.mimic.multiplier * lead + joint.mimic.offset
        return values


def _within(joint: VisualJoint, value: float) -> float:
    return min(max(value, joint.lower), joint.upper)


class PostureBook:
    """The postures of a robot file, given by its shipped name or path; none if that is empty.

    The names of joints and links have a prefix, as in the robot's description.

    Attributes:
        prefix: Of all names of joints and links.
        model: The robot; None without one.
        postures: Posture name -> joint name -> value [rad or m].
        home: The posture at which everything starts, joint name -> value [rad or m].
    """

    def __init__(self, robot: str, prefix: str = "") -> None:
        self._robot, self.prefix = robot, prefix
        self.model: RobotModel | None = None
        self.postures: dict[str, dict[str, float]] = {}
        self.home: dict[str, float] = {}
        if robot:
            self._set(load_robot(robot))

    def reload(self) -> bool:
        """Reload the file if it is valid; return whether the postures changed."""
        if not self._robot:
            return False
        former = self.postures
        with contextlib.suppress(DescriptionError):  # reported by the robot file watcher
            self._set(load_robot(self._robot))
        return self.postures != former

    def take(self, model: RobotModel) -> bool:
        """Take the postures of a robot, not of the file; return whether they changed."""
        former = self.postures
        self._set(model)
        return self.postures != former

    def _set(self, model: RobotModel) -> None:
        name, home = model.home_posture
        named = postures_of(replace(model, postures={**model.postures, name: home}))
        every = {
            posture: {self.prefix + joint: value for joint, value in values.items()}
            for posture, values in named.items()
        }
        self.home = every[name]
        self.postures = {posture: every[posture] for posture in model.postures}
        self.model = model

    def width_at(self, position: float) -> float:
        """Return the gripper's width [m] with its finger joints at a position [rad or m].

        Without a robot file, the fingers are taken to slide.
        """
        gripper = None if self.model is None else self.model.gripper
        if gripper is None:
            return 2.0 * position
        return gripper.width_of(dict.fromkeys(gripper.moving, position))


def postures_of(model: RobotModel) -> dict[str, dict[str, float]]:
    """Return posture name -> joint name -> value [rad or m].

    A posture's `gripper` is a width [m]; it becomes the positions of the finger joints.
    """
    postures = {}
    for name, posture in model.postures.items():
        values = {joint: float(value) for joint, value in posture.items()}
        width = values.pop("gripper", 0.0)
        if "gripper" in posture and model.gripper is not None:
            values |= model.gripper.positions(width)
        postures[name] = values
    return postures
