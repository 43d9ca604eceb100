# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A robot description as the viewer needs it: visuals, joints with limits, root and size.

A robot's stored postures as joint values.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import read_urdf

from arm_description import DescriptionError, RobotModel, load_robot
from arm_viewer.errors import VisualUrdfError
from arm_viewer.scene.shapes import Array
from arm_viewer.scene.urdf_visuals import (
    Element,
    Visual,
    name_of,
    number,
    origin,
    parse,
    read_visuals,
)

MOVABLE = ("revolute", "continuous", "prismatic")
FIXED = ("fixed", "floating", "planar")


@dataclass(frozen=True)
class VisualMimic:
    """A joint that follows another: value = multiplier * value of `joint` + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class VisualJoint:
    """A joint that a slider can move. Limits in rad and rad/s (m, m/s for a prismatic joint)."""

    name: str
    prismatic: bool
    lower: float
    upper: float
    mimic: VisualMimic | None = None
    velocity: float = math.inf


@dataclass(frozen=True, eq=False)
class VisualRobot:
    """What there is to draw of one robot.

    Attributes:
        name: The robot's name.
        root: The one link that is no joint's child.
        links: All link names, in document order.
        visuals: What each link looks like.
        joints: The joints that move, in document order.
        zero: Link name -> (4, 4), root <- link, with all joints at zero.
        reach: Length from the root to the farthest tip with the chain pulled straight [m].
        carriers: Link name -> name of the link before it, and of the joint between them.
    """

    name: str
    root: str
    links: tuple[str, ...]
    visuals: tuple[Visual, ...]
    joints: tuple[VisualJoint, ...]
    zero: Mapping[str, Array]
    reach: float
    carriers: Mapping[str, tuple[str, str]]

    def joints_to(self, link: str) -> tuple[VisualJoint, ...]:
        """Return the joints that move on their own between the root and a link, in order."""
        names = []
        while link in self.carriers:
            link, joint = self.carriers[link]
            names.append(joint)
        free = {joint.name: joint for joint in self.joints if joint.mimic is None}
        return tuple(free[name] for name in reversed(names) if name in free)


def read_robot(xml: str) -> VisualRobot:
    """Read a URDF text.

    Args:
        xml: The description, as on the topic robot_description.

    Raises:
        UrdfError: If it is not a URDF that can be drawn; names the element at fault.
    """
    robot = parse(xml)
    links = tuple(link.get("name", "") for link in robot.findall("link"))
    joints = robot.findall("joint")
    children = _children(links, joints)
    root = _root(links, children)
    zero, lengths = _walk(root, children)
    if len(zero) != len(links):
        lost = next(link for link in links if link not in zero)
        raise VisualUrdfError(
            f'link "{lost}"', "its joints form a loop that the root does not reach"
        )
    movable = tuple(_joint(joint) for joint in joints if joint.get("type") in MOVABLE)
    _check_mimics(movable)
    return VisualRobot(
        name=robot.get("name", "robot"),
        root=root,
        links=links,
        visuals=read_visuals(robot),
        joints=movable,
        zero=zero,
        reach=max(lengths.values()),
        carriers={link: (p, joint.get("name", "")) for link, (p, joint) in children.items()},
    )


def _children(links: tuple[str, ...], joints: list[Element]) -> dict[str, tuple[str, Element]]:
    """Return child link -> (parent link, joint)."""
    children: dict[str, tuple[str, Element]] = {}
    for joint in joints:
        where = name_of(joint)
        if joint.get("type") not in MOVABLE + FIXED:
            raise VisualUrdfError(
                where, f'type "{joint.get("type")}" is unknown; use one of {MOVABLE}'
            )
        parent, child = (_link_of(joint, tag, links, where) for tag in ("parent", "child"))
        if child in children:
            raise VisualUrdfError(
                f'link "{child}"', "it is the child of two joints; a URDF is a tree"
            )
        children[child] = (parent, joint)
    return children


def _link_of(joint: Element, tag: str, links: tuple[str, ...], where: str) -> str:
    node = joint.find(tag)
    link = "" if node is None else node.get("link", "")
    if link not in links:
        raise VisualUrdfError(where, f'its {tag} link "{link}" does not exist')
    return link


def _root(links: tuple[str, ...], children: Mapping[str, object]) -> str:
    roots = [link for link in links if link not in children]
    if len(roots) != 1:
        raise VisualUrdfError(
            "", f"it needs one root link, it has {len(roots)}: {', '.join(roots)}"
        )
    return roots[0]


def _walk(
    root: str, children: Mapping[str, tuple[str, Element]]
) -> tuple[dict[str, Array], dict[str, float]]:
    """Return each link's pose at zero, and the length of the chain to it [m]."""
    zero, lengths = {root: np.eye(4)}, {root: 0.0}
    waiting = dict(children)
    while ready := [child for child, (parent, _) in waiting.items() if parent in zero]:
        for child in ready:
            parent, joint = waiting.pop(child)
            where = name_of(joint)
            step = origin(joint, where)
            zero[child] = zero[parent] @ step
            lengths[child] = lengths[parent] + float(np.linalg.norm(step[:3, 3])) + _stroke(joint)
    return zero, lengths


def _stroke(joint: Element) -> float:
    """Return how far a prismatic joint lengthens the chain at most [m]."""
    if joint.get("type") != "prismatic":
        return 0.0
    slider = _joint(joint)
    return max(abs(slider.lower), abs(slider.upper))


def _joint(joint: Element) -> VisualJoint:
    where = name_of(joint)
    prismatic = joint.get("type") == "prismatic"
    lower, upper = -math.pi, math.pi
    limit = joint.find("limit")
    velocity = 0.0 if limit is None else number(limit, "velocity", where, 0.0)
    if joint.get("type") != "continuous":
        if limit is None:
            raise VisualUrdfError(where, "it has no <limit>; add lower and upper")
        lower, upper = (number(limit, key, where, 0.0) for key in ("lower", "upper"))
    if lower > upper:
        raise VisualUrdfError(
            where, f"its lower limit {lower:g} is above its upper limit {upper:g}"
        )
    name, mimic = joint.get("name", ""), _mimic(joint, where)
    return VisualJoint(name, prismatic, lower, upper, mimic, velocity or math.inf)


def _mimic(joint: Element, where: str) -> VisualMimic | None:
    node = joint.find("mimic")
    if node is None:
        return None
    multiplier = number(node, "multiplier", where, 1.0)
    return VisualMimic(node.get("joint", ""), multiplier, number(node, "offset", where, 0.0))


def _check_mimics(joints: tuple[VisualJoint, ...]) -> None:
    leaders = {joint.name for joint in joints if joint.mimic is None}
    for joint in joints:
        if joint.mimic is not None and joint.mimic.joint not in leaders:
            raise VisualUrdfError(
                f'joint "{joint.name}"',
                f'it mimics "{joint.mimic.joint}", which is no joint that moves by itself',
            )


REST = "rest"
GRIPPER = "gripper"


class PostureBook:
    """The postures of a robot file.

    Args:
        robot: Shipped name or path of the robot; empty for none.

    Attributes:
        postures: Posture name -> joint name -> value [rad or m].
        poses: Of each posture link name -> (4, 4), root <- link.

    Raises:
        DescriptionError: If there is no such robot.
    """

    def __init__(self, robot: str) -> None:
        self._robot = robot
        self.postures: dict[str, dict[str, float]] = {}
        self.poses: tuple[dict[str, Array], ...] = ()
        if robot:
            self._read()

    @property
    def rest(self) -> Mapping[str, float]:
        """The posture to begin with; empty if there is none."""
        return self.postures.get(REST, {})

    def reload(self) -> bool:
        """Read the file again, if it is right; whether the postures changed."""
        if not self._robot:
            return False
        former = self.postures
        with contextlib.suppress(DescriptionError):  # whoever reads the file for tf says what
            self._read()
        return self.postures != former

    def _read(self) -> None:
        model = load_robot(self._robot)
        self.postures = postures_of(model)
        tree = read_urdf(model.to_urdf())
        self.poses = tuple(
            link_poses(tree.root, tree.joints, values) for values in self.postures.values()
        )


def postures_of(model: RobotModel) -> dict[str, dict[str, float]]:
    """Return posture name -> joint name -> value [rad or m].

    A posture's `gripper` is a width [m]; it becomes half of it for each finger joint.
    """
    return {name: _joints(model, posture) for name, posture in model.postures.items()}


def _joints(model: RobotModel, posture: Mapping[str, float]) -> dict[str, float]:
    joints = {name: float(value) for name, value in posture.items() if name != GRIPPER}
    if GRIPPER in posture and model.gripper is not None:
        joints |= {finger: 0.5 * float(posture[GRIPPER]) for finger in model.gripper.joints}
    return joints
