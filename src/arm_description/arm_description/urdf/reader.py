# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read a URDF: kinematic tree, visuals, collisions and inertials.

Each value is checked; other elements are ignored.
The format: https://wiki.ros.org/urdf/XML.
"""

from __future__ import annotations

import heapq
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast, get_args

from arm_description.errors import UrdfError
from arm_description.model.constraints import JointConstraint
from arm_description.model.elements import JOINT_TYPES, NO_MOTION, Origin, Triple
from arm_description.urdf.elements import (
    CONSTRAINTS,
    MOVING,
    Drive,
    JointKind,
    Rgba,
    UrdfInertial,
    UrdfJoint,
    UrdfLimit,
    UrdfMimic,
    UrdfShape,
    duplicate,
)
from arm_description.urdf.optional import OPTIONAL_PARTS

_KINDS: tuple[str, ...] = get_args(JointKind)
_MAX_CHARACTERS = 32_000_000
MAX_NAME = 255  # characters of the name of a link or joint
_FARTHEST = 1e9  # [m]; sums and squares of larger lengths overflow or have no digits left

# Attributes of each shape, with their numbers of values.
_SHAPES = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
    "mesh": (("scale", 3),),
}
_DEFAULTS = {"xyz": "0 0 0", "rpy": "0 0 0", "scale": "1 1 1", "multiplier": "1", "offset": "0"}
_READ = ("link", "joint", "material", CONSTRAINTS)
_READ_OF_JOINTS = ("parent", "child", "origin", "axis", "limit", "mimic")
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_DEFAULTS |= dict.fromkeys(("ixy", "ixz", "iyz", "lower", "upper", "velocity", "effort"), "0")


class MisplacedLinkError(UrdfError):
    """A fault of a joint that leaves open where the links beyond it are."""


@dataclass(frozen=True)
class UrdfTree:
    """A URDF with a valid kinematic tree.

    Visuals, collisions and inertials are read and checked on first access.
    """

    name: str  # "robot" if it has none
    root: str  # name of the root link
    links: tuple[str, ...]  # names of all links, in document order
    joints: tuple[UrdfJoint, ...]  # from the root outwards, otherwise in document order
    constraints: tuple[JointConstraint, ...] = ()  # limits of joints that depend on others
    # by joint, or the roots of several trees: what is invalid, such as limits in the wrong order;
    # then the default is read, and the largest tree
    faults: Mapping[str, UrdfError] = field(default_factory=dict, compare=False)
    _robot: ET.Element = field(
        default_factory=lambda: ET.Element("robot"), repr=False, compare=False
    )

    def check_places(self) -> None:
        """Raise the first fault that leaves open where a link is."""
        for fault in self.faults.values():
            if isinstance(fault, MisplacedLinkError):
                raise fault

    @cached_property
    def joint(self) -> Mapping[str, UrdfJoint]:
        """The joints by name."""
        return {joint.name: joint for joint in self.joints}

    def drive_of(self, joint: UrdfJoint) -> Drive:
        """Return the drive of a joint: itself, or the joint at the end of its chain of mimics."""
        ratio, offset = 1.0, 0.0
        while joint.mimic is not None:
            offset += ratio * joint.mimic.offset
            ratio *= joint.mimic.multiplier
            joint = self.joint[joint.mimic.joint]
        return Drive(joint, ratio, offset)

    @cached_property
    def visuals(self) -> tuple[UrdfShape, ...]:
        """All visuals, in document order."""
        colours = {
            material.get("name", ""): colour
            for material in self._robot.findall("material")
            if (colour := _colour(material, "the robot")) is not None
        }
        return tuple(_visual(element, link, colours) for link, element in self._elements("visual"))

    @cached_property
    def collisions(self) -> tuple[UrdfShape, ...]:
        """All collision shapes, in document order; those of an unknown kind have no size."""
        return tuple(_shape(element, link) for link, element in self._elements("collision"))

    @cached_property
    def inertials(self) -> tuple[UrdfInertial, ...]:
        """Mass and inertia of each link that has them, in document order."""
        return tuple(_inertial(element, link) for link, element in self._elements("inertial"))

    def links_with(self, tag: str) -> frozenset[str]:
        """Return the links that have an element such as visual, which is not read."""
        return frozenset(link for link, _ in self._elements(tag))

    @cached_property
    def ignored(self) -> tuple[str, ...]:
        """The elements of the robot and its joints that are not read, in document order."""
        children = [("<{}>", child) for child in self._robot if child.tag not in _READ]
        children += [
            (f"<{{}}> of {joint.get('name', '')}", child)
            for joint in self._robot.findall("joint")
            for child in joint
            if child.tag not in _READ_OF_JOINTS
        ]
        texts = (text.format(child.tag) for text, child in children if isinstance(child.tag, str))
        return tuple(dict.fromkeys(texts))

    def _elements(self, tag: str) -> Iterator[tuple[str, ET.Element]]:
        for link in self._robot.findall("link"):
            for element in link.findall(tag):
                yield link.get("name", ""), element


def read_urdf(text: str, *, tolerant: bool = False) -> UrdfTree:
    """Read and check a URDF.

    Args:
        text: the URDF.
        tolerant: whether a fault that concerns one joint is kept in ``faults`` instead of raised.

    Raises:
        UrdfError: not XML, not a robot, not a single tree, an invalid number, or a fault of a
            joint.
    """
    robot = parse_xml(text)
    links = tuple(attribute(link, "name", "a link") for link in robot.findall("link"))
    faults: dict[str, UrdfError] = {}
    joints = [_joint(element, faults) for element in robot.findall("joint")]
    for kind, names in (("link", links), ("joint", [joint.name for joint in joints])):
        if name := duplicate(names):
            raise UrdfError(f"there is more than one {kind} {name!r}", remedy="rename one")
    joints = _with_leaders(joints, faults)
    root, ordered = _tree(links, joints, faults)
    if faults and not tolerant:
        raise next(iter(faults.values()))
    reached = {root, *(joint.child for joint in ordered)}
    links = tuple(link for link in links if link in reached)
    constrained = robot.find(CONSTRAINTS) is not None
    constraints = OPTIONAL_PARTS.load("read constraints")(robot, ordered) if constrained else ()
    name = attribute(robot, "name", "the robot") if robot.get("name") else "robot"
    return UrdfTree(name, root, links, ordered, constraints, faults, robot)


def parse_xml(text: str, kind: str = "URDF") -> ET.Element:
    """Parse XML with the root element <robot>; reject entities, which can exhaust memory."""
    name = "the robot description" if kind == "URDF" else f"the {kind}"
    remedy = f"give the text of a {kind}"
    if not isinstance(text, str) or not text.strip():
        raise UrdfError(f"{name} is empty", remedy=remedy)
    if len(text) > _MAX_CHARACTERS or "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise UrdfError(
            f"{name} has a DOCTYPE or is over 32 MB",
            remedy="remove it: entities can exhaust memory",
        )
    try:
        robot = ET.fromstring(text.strip())
    except (ET.ParseError, UnicodeError) as error:
        if re.search(r"^joints:", text, re.MULTILINE):
            problem = f"{name} is a robot file (YAML), not a {kind}"
            remedy = "give it to describe, fk or view as it is; dh2urdf makes its URDF"
            raise UrdfError(problem, remedy=remedy) from None
        raise UrdfError(f"{name} is not XML ({error})", remedy=remedy) from None
    if robot.tag in _OTHER_KINDS:
        problem = f"{name} is {_OTHER_KINDS[robot.tag]}, not a {kind}"
        raise UrdfError(problem, remedy=f"give the {kind} from which it was made, or convert it")
    if robot.tag != "robot":
        raise UrdfError(f"the root element is <{robot.tag}>", remedy="it must be <robot>")
    if kind == "URDF" and robot.find("link") is None:
        _reject_without_links(robot)
    return robot


_OTHER_KINDS = {"sdf": "an SDF", "mujoco": "an MJCF (MuJoCo)", "COLLADA": "a mesh (COLLADA)"}
_SRDF_TAGS = ("group", "group_state", "end_effector", "virtual_joint", "disable_collisions")


def _reject_without_links(robot: ET.Element) -> None:
    """Raise an error for an SRDF or a xacro file in place of a URDF."""
    if any("xacro" in element.tag for element in robot):
        problem = "the robot description is a xacro file"
        raise UrdfError(problem, remedy="expand it by xacro, or give its path")
    if any(robot.find(tag) is not None for tag in _SRDF_TAGS):
        problem = "the robot description is an SRDF, which names groups of joints, not a URDF"
        raise UrdfError(problem, remedy="give the URDF beside it")


def attribute(element: ET.Element, name: str, owner: str) -> str:
    """Return a required attribute; `owner` describes the element in errors."""
    text = element.get(name, "")
    if not text:
        raise UrdfError(f"{owner} has no {name!r}")
    if name in ("name", "link", "joint") and len(text) > MAX_NAME:
        raise UrdfError(f"{owner} has a {name!r} of {len(text)} characters; at most {MAX_NAME}")
    return text


def _joint(element: ET.Element, faults: dict[str, UrdfError]) -> UrdfJoint:
    """Return a joint; what of it is invalid has a default, and becomes a fault."""
    name = attribute(element, "name", "a joint")
    owner = f"joint {name!r}"
    kind, ends = element.get("type", ""), []
    for tag in ("parent", "child"):
        end = element.find(tag)
        if end is None:
            raise UrdfError(f"{owner} has no {tag}")
        ends.append(attribute(end, "link", f"the {tag} of {owner}"))
    joint = UrdfJoint(name, cast(JointKind, kind), ends[0], ends[1], axis=(1.0, 0.0, 0.0))
    if kind not in _KINDS:
        remedy = "supported are " + ", ".join(_KINDS)
        faults[name] = MisplacedLinkError(f"{owner} has type {kind!r}", remedy=remedy)
        return replace(joint, kind="fixed")
    parts: dict[str, Callable[[], Any]] = {
        "origin": lambda: _origin(element, owner),
        "axis": lambda: _axis(element.find("axis"), owner, kind),
        "limit": lambda: _limit(element.find("limit"), owner, kind),
        "mimic": lambda: _mimic(element.find("mimic"), owner),
    }
    for part, read in parts.items():
        try:
            joint = replace(joint, **{part: read()})
        except UrdfError as error:
            if part in ("origin", "axis"):
                faults[name] = MisplacedLinkError(error.problem, remedy=error.remedy)
            faults.setdefault(name, error)
            if part == "limit":
                joint = replace(joint, limit=UrdfLimit(0.0, 0.0, 0.0, 0.0))
    return joint


def _axis(element: ET.Element | None, owner: str, kind: str) -> Triple:
    """Return the unit axis, by default x as in URDF; fixed and floating joints have none."""
    if element is None or kind in ("fixed", "floating"):
        return (1.0, 0.0, 0.0)
    x, y, z = _triple(element, "xyz", owner)
    size = math.hypot(x, y, z)
    if size < 1e-9:
        raise UrdfError(f"{owner} has an axis of zero length", remedy='write "0 0 1"')
    return (x / size, y / size, z / size)


def _limit(element: ET.Element | None, owner: str, kind: str) -> UrdfLimit | None:
    if element is None:
        if kind in JOINT_TYPES:
            raise UrdfError(f"{owner} has no limit", remedy=f"a {kind} joint needs one")
        return None
    keys = ("lower", "upper", "velocity", "effort")
    lower, upper, *rates = (_number(element, key, owner) for key in keys)
    # -1 is SDF's word for no limit, which converters copy; here that is 0
    limit = UrdfLimit(lower, upper, *(max(rate, 0.0) for rate in rates))
    if limit.lower > limit.upper and kind in JOINT_TYPES:
        raise UrdfError(
            f"{owner} has the lower limit {limit.lower:g} above its upper limit {limit.upper:g}"
        )
    return limit


def _mimic(element: ET.Element | None, owner: str) -> UrdfMimic | None:
    if element is None:
        return None
    leader = attribute(element, "joint", f"mimic of {owner}")
    return UrdfMimic(
        leader, _number(element, "multiplier", owner), _number(element, "offset", owner)
    )


def _with_leaders(joints: Sequence[UrdfJoint], faults: dict[str, UrdfError]) -> list[UrdfJoint]:
    """Return the joints without mimics that lead nowhere, which become faults."""
    by_name = {joint.name: joint for joint in joints}
    sound = []
    for joint in joints:
        problem = _mimic_fault(joint, by_name)
        if problem:
            faults.setdefault(joint.name, UrdfError(problem))
        sound.append(replace(joint, mimic=None) if problem else joint)
    return sound


def _mimic_fault(joint: UrdfJoint, by_name: Mapping[str, UrdfJoint]) -> str:
    """Return what is wrong with the mimic of a joint, "" if nothing is."""
    follower = joint
    for _ in by_name:
        if follower.mimic is None:
            return ""
        leader = by_name.get(follower.mimic.joint)
        if leader is None or (leader.kind not in MOVING and joint.kind in MOVING):
            what = "missing" if leader is None else f"{leader.kind}: it has no position to follow"
            own = f"joint {joint.name!r} mimics {follower.mimic.joint!r}, which is {what}"
            return own if follower is joint else ""
        follower = leader
    return f"joint {joint.name!r} mimics itself in a circle"


def _roots(links: Sequence[str], joints: Sequence[UrdfJoint]) -> list[str]:
    """Return the links that no joint leads to; check the ends of the joints."""
    known, parent_joint = set(links), dict[str, str]()
    for joint in joints:
        for link in (joint.parent, joint.child):
            if link not in known:
                raise UrdfError(f"joint {joint.name!r} refers to the missing link {link!r}")
        if joint.child in parent_joint:
            raise UrdfError(
                f"link {joint.child!r} is the child of two joints, {parent_joint[joint.child]!r} "
                f"and {joint.name!r}",
                remedy="give each link one parent",
            )
        parent_joint[joint.child] = joint.name
    return [link for link in links if link not in parent_joint]


def _tree(
    links: Sequence[str], joints: Sequence[UrdfJoint], faults: dict[str, UrdfError]
) -> tuple[str, tuple[UrdfJoint, ...]]:
    """Return the root and the joints of the only tree; of several the largest, as a fault."""
    roots = _roots(links, joints)
    trees = [_below(root, joints) for root in roots]
    if len(roots) != 1:
        problem = f"a robot has one root link, this has {', '.join(roots) or 'none'}"
        error = MisplacedLinkError(problem, remedy="connect the links")
        if not roots:
            raise error
        faults[", ".join(roots)] = error
    largest = max(range(len(trees)), key=lambda i: len(trees[i]))
    if sum(map(len, trees)) < len(joints):
        reached = {joint.name for tree in trees for joint in tree}
        looped = ", ".join(dict.fromkeys(j.parent for j in joints if j.name not in reached))
        problem = f"the links {looped} form a loop apart from the root {roots[largest]!r}"
        raise UrdfError(problem, remedy="connect the links")
    return roots[largest], trees[largest]


def _below(root: str, joints: Sequence[UrdfJoint]) -> tuple[UrdfJoint, ...]:
    """Return the joints from a root outwards, in document order as far as that allows."""
    below: dict[str, list[int]] = {}
    for i, joint in enumerate(joints):
        below.setdefault(joint.parent, []).append(i)
    ordered: list[UrdfJoint] = []
    ready = below.pop(root, [])
    while ready:
        joint = joints[heapq.heappop(ready)]
        ordered.append(joint)
        for i in below.pop(joint.child, []):
            heapq.heappush(ready, i)
    return tuple(ordered)


def _visual(element: ET.Element, link: str, colours: dict[str, Rgba]) -> UrdfShape:
    """Return a visual; its named colour applies to later visuals, too."""
    shape, material = _shape(element, link), element.find("material")
    if shape.kind not in _SHAPES:
        raise UrdfError(
            f"a <visual> of link {link!r} has no shape", remedy="use " + ", ".join(_SHAPES)
        )
    if material is None:
        return shape
    name, colour = material.get("name", ""), _colour(material, f"link {link!r}")
    if colour is not None and name:
        colours.setdefault(name, colour)
    return replace(shape, colour=colour or colours.get(name), material=name)


def _colour(material: ET.Element, owner: str) -> Rgba | None:
    element = material.find("color")
    if element is None:
        return None
    r, g, b, a = (min(max(value, 0.0), 1.0) for value in _numbers(element, "rgba", 4, owner))
    return (r, g, b, a)


def _shape(element: ET.Element, link: str) -> UrdfShape:
    """Return a <visual> or <collision> without colour."""
    owner, shape = f"link {link!r}", element.find("geometry/*")
    kind = "" if shape is None else shape.tag
    origin = _origin(element, owner)
    if shape is None or kind not in _SHAPES:
        return UrdfShape(link, kind, (), origin)
    size = [n for key, count in _SHAPES[kind] for n in _numbers(shape, key, count, owner)]
    file = attribute(shape, "filename", f"a <mesh> of {owner}") if kind == "mesh" else ""
    return UrdfShape(link, kind, tuple(size), origin, file)


def _inertial(element: ET.Element, link: str) -> UrdfInertial:
    owner, mass = f"link {link!r}", element.find("mass")
    value = 0.0 if mass is None else _number(mass, "value", owner)
    if value < 0.0:
        raise UrdfError(f"{owner} has the mass {value:g} kg", remedy="give 0 or more")
    inertia = element.find("inertia")
    moments = [0.0] * 6 if inertia is None else [_number(inertia, k, owner) for k in MOMENTS]
    return UrdfInertial(link, value, _origin(element, owner), tuple(moments))


def _origin(element: ET.Element, owner: str) -> Origin:
    origin = element.find("origin")
    if origin is None:
        return NO_MOTION
    xyz = _triple(origin, "xyz", owner)
    if max(map(abs, xyz)) > _FARTHEST:
        problem = f"{owner} has an origin {max(map(abs, xyz)):g} m away"
        raise UrdfError(problem, remedy=f"give metres, at most {_FARTHEST:g}")
    return Origin(xyz, _triple(origin, "rpy", owner))


def _triple(element: ET.Element, key: str, owner: str) -> Triple:
    x, y, z = _numbers(element, key, 3, owner)
    return (x, y, z)


def _number(element: ET.Element, key: str, owner: str) -> float:
    return _numbers(element, key, 1, owner)[0]


def _numbers(element: ET.Element, key: str, count: int, owner: str) -> tuple[float, ...]:
    """Return the finite numbers of an attribute, by default those of the URDF specification."""
    text = element.get(key, _DEFAULTS.get(key, ""))
    try:
        values = tuple(float(word) for word in text.split())
    except ValueError:
        values = ()
    if len(values) != count or not all(map(math.isfinite, values)):
        needed = "a finite number" if count == 1 else f"{count} finite numbers"
        raise UrdfError(f'<{element.tag} {key}="{text}"> of {owner} must be {needed}')
    return values
