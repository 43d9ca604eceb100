# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read a URDF: its kinematic tree, and what its links look like, collide with and weigh.

Each value is checked; elements that are not read are ignored.
The format: https://wiki.ros.org/urdf/XML.
"""

from __future__ import annotations

import heapq
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast, get_args

from arm_description.errors import UrdfError
from arm_description.model.elements import NO_MOTION, Origin, Triple
from arm_description.urdf.elements import (
    Drive,
    JointKind,
    Rgba,
    UrdfInertial,
    UrdfJoint,
    UrdfLimit,
    UrdfMimic,
    UrdfShape,
    repeated,
)

_KINDS: tuple[str, ...] = get_args(JointKind)
_MOST_CHARACTERS = 32_000_000

# Shape -> its attributes, and how many numbers each holds.
_SHAPES = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
    "mesh": (("scale", 3),),
}
_DEFAULTS = {"xyz": "0 0 0", "rpy": "0 0 0", "scale": "1 1 1", "multiplier": "1", "offset": "0"}
_DEFAULTS |= dict.fromkeys(("lower", "upper", "velocity", "effort"), "0")


@dataclass(frozen=True)
class UrdfTree:
    """A URDF whose kinematic tree has been checked.

    What the links look like, collide with and weigh is read, and checked, when it is first needed.
    """

    name: str  # "robot" if it has none
    root: str  # name of the root link
    links: tuple[str, ...]  # names of all links, in document order
    joints: tuple[UrdfJoint, ...]  # from the root outwards, otherwise in document order
    _robot: ET.Element = field(
        default_factory=lambda: ET.Element("robot"), repr=False, compare=False
    )

    @cached_property
    def joint(self) -> Mapping[str, UrdfJoint]:
        """The joints by name."""
        return {joint.name: joint for joint in self.joints}

    def drive_of(self, joint: UrdfJoint) -> Drive:
        """Return what moves a joint: itself, or the joint at the end of its chain of mimics."""
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
        """Mass of each link that has one, in document order."""
        return tuple(_inertial(element, link) for link, element in self._elements("inertial"))

    def _elements(self, tag: str) -> Iterator[tuple[str, ET.Element]]:
        for link in self._robot.findall("link"):
            for element in link.findall(tag):
                yield link.get("name", ""), element


def read_urdf(text: str) -> UrdfTree:
    """Read and check a URDF.

    Raises:
        UrdfError: not XML, not a robot, not one tree, or a number that is none.
    """
    robot = parse_xml(text)
    links = tuple(attribute(link, "name", "a link") for link in robot.findall("link"))
    joints = [_joint(element) for element in robot.findall("joint")]
    for what, names in (("link", links), ("joint", [joint.name for joint in joints])):
        if twice := repeated(names):
            raise UrdfError(f"there is more than one {what} {twice!r}", remedy="rename one")
    _check_mimics(joints)
    root = _root(links, joints)
    return UrdfTree(robot.get("name", "robot"), root, links, _sorted(root, joints), robot)


def parse_xml(text: str, what: str = "URDF") -> ET.Element:
    """Parse a text whose outermost element is <robot>, refusing what can exhaust memory."""
    name = "the robot description" if what == "URDF" else f"the {what}"
    remedy = f"give the text of a {what}"
    if not isinstance(text, str) or not text.strip():
        raise UrdfError(f"{name} is empty", remedy=remedy)
    if len(text) > _MOST_CHARACTERS or "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise UrdfError(
            f"{name} has a DOCTYPE or is over 32 MB",
            remedy="such text is refused because entities in it can exhaust memory",
        )
    try:
        robot = ET.fromstring(text.strip())
    except (ET.ParseError, UnicodeError) as error:
        raise UrdfError(f"{name} is not XML ({error})", remedy=remedy) from None
    if robot.tag != "robot":
        raise UrdfError(f"the outermost element is <{robot.tag}>", remedy="it must be <robot>")
    return robot


def attribute(element: ET.Element, name: str, what: str) -> str:
    """Return an attribute that is required."""
    text = element.get(name, "")
    if not text:
        raise UrdfError(f"{what} has no {name!r}")
    return text


def _joint(element: ET.Element) -> UrdfJoint:
    name = attribute(element, "name", "a joint")
    where = f"joint {name!r}"
    kind = element.get("type", "")
    if kind not in _KINDS:
        raise UrdfError(f"{where} has type {kind!r}", remedy="supported are " + ", ".join(_KINDS))
    ends = []
    for tag in ("parent", "child"):
        end = element.find(tag)
        if end is None:
            raise UrdfError(f"{where} has no {tag}")
        ends.append(attribute(end, "link", f"the {tag} of {where}"))
    return UrdfJoint(
        name,
        cast(JointKind, kind),
        ends[0],
        ends[1],
        _origin(element, where),
        _axis(element.find("axis"), where, kind),
        _limit(element.find("limit"), where, kind),
        _mimic(element.find("mimic"), where),
    )


def _axis(element: ET.Element | None, where: str, kind: str) -> Triple:
    """Unit axis; URDF's default is x, and some kinds of joints have none."""
    if element is None or kind in ("fixed", "floating"):
        return (1.0, 0.0, 0.0)
    x, y, z = _triple(element, "xyz", where)
    size = math.hypot(x, y, z)
    if size < 1e-9:
        raise UrdfError(f"{where} has an axis of no length", remedy='write "0 0 1"')
    return (x / size, y / size, z / size)


def _limit(element: ET.Element | None, where: str, kind: str) -> UrdfLimit | None:
    if element is None:
        if kind in ("revolute", "prismatic"):
            raise UrdfError(f"{where} has no limit", remedy=f"a {kind} joint needs one")
        return None
    keys = ("lower", "upper", "velocity", "effort")
    limit = UrdfLimit(*(_number(element, key, where) for key in keys))
    if limit.lower > limit.upper and kind in ("revolute", "prismatic"):
        raise UrdfError(
            f"{where} has the lower limit {limit.lower:g} above its upper limit {limit.upper:g}"
        )
    return limit


def _mimic(element: ET.Element | None, where: str) -> UrdfMimic | None:
    if element is None:
        return None
    leader = attribute(element, "joint", f"mimic of {where}")
    return UrdfMimic(
        leader, _number(element, "multiplier", where), _number(element, "offset", where)
    )


def _check_mimics(joints: Sequence[UrdfJoint]) -> None:
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        seen = joint
        for _ in joints:
            if seen.mimic is None:
                break
            if seen.mimic.joint not in by_name:
                raise UrdfError(
                    f"joint {seen.name!r} mimics {seen.mimic.joint!r}, which does not exist"
                )
            seen = by_name[seen.mimic.joint]
        else:
            raise UrdfError(f"joint {joint.name!r} mimics itself in a circle")


def _root(links: Sequence[str], joints: Sequence[UrdfJoint]) -> str:
    known, carrier = set(links), dict[str, str]()
    for joint in joints:
        for link in (joint.parent, joint.child):
            if link not in known:
                raise UrdfError(f"joint {joint.name!r} names the link {link!r}, which is missing")
        if joint.child in carrier:
            raise UrdfError(
                f"link {joint.child!r} is the child of two joints, {carrier[joint.child]!r} and "
                f"{joint.name!r}",
                remedy="a URDF is a tree",
            )
        carrier[joint.child] = joint.name
    roots = [link for link in links if link not in carrier]
    if len(roots) != 1:
        found = ", ".join(roots) or "none"
        raise UrdfError(f"a robot has one root link, this has {found}", remedy="join the links")
    return roots[0]


def _sorted(root: str, joints: Sequence[UrdfJoint]) -> tuple[UrdfJoint, ...]:
    """Return the joints from the root outwards, in document order as far as that allows."""
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
    if below:
        problem = f"the links {', '.join(below)} form a loop apart from the root {root!r}"
        raise UrdfError(problem, remedy="join the links")
    return tuple(ordered)


def _visual(element: ET.Element, link: str, colours: dict[str, Rgba]) -> UrdfShape:
    """Return a visual; a colour that it defines under a name counts for later visuals too."""
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
    return replace(shape, colour=colour or colours.get(name))


def _colour(material: ET.Element, where: str) -> Rgba | None:
    element = material.find("color")
    if element is None:
        return None
    r, g, b, a = (min(max(value, 0.0), 1.0) for value in _numbers(element, "rgba", 4, where))
    return (r, g, b, a)


def _shape(element: ET.Element, link: str) -> UrdfShape:
    """Return a <visual> or <collision> without its colour."""
    where, shape = f"link {link!r}", element.find("geometry/*")
    kind = "" if shape is None else shape.tag
    origin = _origin(element, where)
    if shape is None or kind not in _SHAPES:
        return UrdfShape(link, kind, (), origin)
    size = [n for key, count in _SHAPES[kind] for n in _numbers(shape, key, count, where)]
    file = attribute(shape, "filename", f"a <mesh> of {where}") if kind == "mesh" else ""
    return UrdfShape(link, kind, tuple(size), origin, file)


def _inertial(element: ET.Element, link: str) -> UrdfInertial:
    where, mass = f"link {link!r}", element.find("mass")
    value = 0.0 if mass is None else _number(mass, "value", where)
    if value < 0.0:
        raise UrdfError(f"{where} has the mass {value:g} kg", remedy="give 0 or more")
    return UrdfInertial(link, value, _origin(element, where).xyz)


def _origin(element: ET.Element, where: str) -> Origin:
    origin = element.find("origin")
    if origin is None:
        return NO_MOTION
    return Origin(_triple(origin, "xyz", where), _triple(origin, "rpy", where))


def _triple(element: ET.Element, key: str, where: str) -> Triple:
    x, y, z = _numbers(element, key, 3, where)
    return (x, y, z)


def _number(element: ET.Element, key: str, where: str) -> float:
    return _numbers(element, key, 1, where)[0]


def _numbers(element: ET.Element, key: str, count: int, where: str) -> tuple[float, ...]:
    """Return the finite numbers of an attribute, or URDF's default if it is left out."""
    text = element.get(key, _DEFAULTS.get(key, ""))
    try:
        values = tuple(float(word) for word in text.split())
    except ValueError:
        values = ()
    if len(values) != count or not all(map(math.isfinite, values)):
        needed = "a finite number" if count == 1 else f"{count} finite numbers"
        raise UrdfError(f'<{element.tag} {key}="{text}"> of {where} must be {needed}')
    return values
