# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read the kinematic tree of any URDF: links, joints, origins, axes, limits, mimics.

Only what moves is read; elements that say anything else are left alone.

Read one <joint> of a URDF, each value checked. The format: https://wiki.ros.org/urdf/XML.

What the links of a URDF look like, without colours, and what they weigh.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, get_args

from arm_description.errors import UrdfError
from arm_description.model.elements import NO_MOTION, Origin, Triple
from arm_description.urdf.elements import JointKind, UrdfJoint, UrdfLimit, UrdfMimic

KINDS: tuple[str, ...] = get_args(JointKind)


def read_joint(element: ET.Element) -> UrdfJoint:
    """Read and check one <joint>.

    Raises:
        UrdfError: something is missing, or a number is none.
    """
    name = attribute(element, "name", "a joint")
    kind = element.get("type", "")
    if kind not in KINDS:
        raise UrdfError(
            f"joint {name!r} has type {kind!r}", remedy="supported are " + ", ".join(KINDS)
        )
    ends = []
    for tag in ("parent", "child"):
        end = element.find(tag)
        if end is None:
            raise UrdfError(f"joint {name!r} has no {tag}")
        ends.append(attribute(end, "link", f"the {tag} of joint {name!r}"))
    return UrdfJoint(
        name,
        cast(JointKind, kind),
        ends[0],
        ends[1],
        _origin(element.find("origin"), name),
        _axis(element.find("axis"), name, kind),
        _limit(element.find("limit"), name, kind),
        _mimic(element.find("mimic"), name),
    )


def _origin(element: ET.Element | None, joint: str) -> Origin:
    if element is None:
        return Origin()
    xyz = _triple(element.get("xyz", "0 0 0"), joint, "xyz")
    return Origin(xyz, _triple(element.get("rpy", "0 0 0"), joint, "rpy"))


def _axis(element: ET.Element | None, joint: str, kind: str) -> Triple:
    """Unit axis; URDF's default is x, and some kinds of joints have none."""
    if element is None or kind in ("fixed", "floating"):
        return (1.0, 0.0, 0.0)
    x, y, z = _triple(element.get("xyz", ""), joint, "axis")
    size = math.hypot(x, y, z)
    if size < 1e-9:
        raise UrdfError(f"joint {joint!r} has an axis of no length", remedy='write "0 0 1"')
    return (x / size, y / size, z / size)


def _limit(element: ET.Element | None, joint: str, kind: str) -> UrdfLimit | None:
    if element is None:
        if kind in ("revolute", "prismatic"):
            raise UrdfError(f"joint {joint!r} has no limit", remedy=f"a {kind} joint needs one")
        return None
    keys = ("lower", "upper", "velocity", "effort")
    limit = UrdfLimit(*(_number(element.get(key, "0"), joint, key) for key in keys))
    if limit.lower > limit.upper and kind in ("revolute", "prismatic"):
        raise UrdfError(
            f"joint {joint!r} has the lower limit {limit.lower:g} above its upper limit "
            f"{limit.upper:g}"
        )
    return limit


def _mimic(element: ET.Element | None, joint: str) -> UrdfMimic | None:
    if element is None:
        return None
    return UrdfMimic(
        attribute(element, "joint", f"mimic of joint {joint!r}"),
        _number(element.get("multiplier", "1"), joint, "multiplier"),
        _number(element.get("offset", "0"), joint, "offset"),
    )


def _triple(text: str, joint: str, key: str) -> Triple:
    parts = text.split()
    if len(parts) != 3:
        raise UrdfError(f"joint {joint!r}: {key} must be three numbers, not {text!r}")
    x, y, z = (_number(part, joint, key) for part in parts)
    return (x, y, z)


def _number(text: str, joint: str, key: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UrdfError(f"joint {joint!r}: {key} has {text!r}, which is not a finite number")
    return value


def attribute(element: ET.Element, name: str, what: str) -> str:
    """An attribute that has to be there."""
    text = element.get(name, "")
    if not text:
        raise UrdfError(f"{what} has no {name!r}")
    return text


MOST_CHARACTERS = 32_000_000


@dataclass(frozen=True)
class UrdfTree:
    """Kinematic tree of a URDF.

    Attributes:
        name: name of the robot, "robot" if it has none.
        root: name of the root link.
        links: names of all links.
        joints: all joints, each after the joint that carries its parent link.
    """

    name: str
    root: str
    links: tuple[str, ...]
    joints: tuple[UrdfJoint, ...]


def read_urdf(text: str) -> UrdfTree:
    """Read and check a URDF.

    Args:
        text: the XML.

    Raises:
        UrdfError: not XML, not a robot, not one tree, or a number that is none.
    """
    robot = parse_xml(text)
    links = tuple(attribute(link, "name", "a link") for link in robot.findall("link"))
    joints = [read_joint(element) for element in robot.findall("joint")]
    _unique(links, "link")
    _unique([joint.name for joint in joints], "joint")
    _check_mimics(joints)
    root = _root(links, joints)
    return UrdfTree(robot.get("name", "robot"), root, links, _sorted(root, joints))


def parse_xml(text: str, what: str = "URDF") -> ET.Element:
    """Parse a text whose outermost element is <robot>, refusing what can exhaust memory.

    Args:
        text: the XML.
        what: what it should be, for errors.

    Raises:
        UrdfError: it is not such a text.
    """
    name = "the robot description" if what == "URDF" else f"the {what}"
    remedy = f"give the text of a {what}"
    if not isinstance(text, str) or not text.strip():
        raise UrdfError(f"{name} is empty", remedy=remedy)
    if len(text) > MOST_CHARACTERS or "<!DOCTYPE" in text or "<!ENTITY" in text:
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
    """The one link that no joint carries."""
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
    """The joints from the root outwards."""
    below: dict[str, list[UrdfJoint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    ordered: list[UrdfJoint] = []
    front = [root]
    while front:
        here = below.pop(front.pop(), [])
        ordered += here
        front += [joint.child for joint in here]
    if below:
        raise UrdfError(
            f"the links {', '.join(below)} form a loop apart from the root {root!r}",
            remedy="join the links",
        )
    return tuple(ordered)


def _unique(names: Sequence[str], what: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UrdfError(f"there is more than one {what} {twice[0]!r}", remedy="rename one")


# Shape -> its attributes, and how many numbers each holds.
_SHAPES = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
    "mesh": (("scale", 3),),
}


@dataclass(frozen=True)
class VisualGeometry:
    """One visual of a link.

    Attributes:
        kind: "box", "cylinder" (along its z), "sphere" or "mesh".
        size: edges of a box, radius and length of a cylinder, radius of a sphere [m]; factors
            of a mesh.
        origin: link <- solid, which is centred there.
        uri: the file of a mesh.
    """

    kind: str
    size: tuple[float, ...]
    origin: Origin
    uri: str = ""


@dataclass(frozen=True)
class LinkBody:
    """A link.

    Attributes:
        link: its name.
        solids: what it looks like.
        mass: [kg], 0 if the URDF gives none.
        centre: of mass, in the link's frame [m].
    """

    link: str
    solids: tuple[VisualGeometry, ...]
    mass: float
    centre: Triple


def read_bodies(text: str) -> tuple[LinkBody, ...]:
    """Read all links of a URDF.

    Args:
        text: the XML.

    Raises:
        UrdfError: not a URDF, or a shape or number that is none.
    """
    return tuple(_body(link) for link in parse_xml(text).findall("link"))


def _body(element: ET.Element) -> LinkBody:
    link = attribute(element, "name", "a link")
    solids = tuple(_solid(visual, link) for visual in element.findall("visual"))
    inertial = element.find("inertial")
    if inertial is None:
        return LinkBody(link, solids, 0.0, NO_MOTION.xyz)
    mass = inertial.find("mass")
    value = 0.0 if mass is None else _numbers(mass, "value", 1, link)[0]
    if value < 0.0:
        raise UrdfError(f"link {link!r} has the mass {value:g} kg", remedy="give 0 or more")
    return LinkBody(link, solids, value, _bodies_origin(inertial, link).xyz)


def _solid(visual: ET.Element, link: str) -> VisualGeometry:
    shape = visual.find("geometry/*")
    if shape is None or shape.tag not in _SHAPES:
        raise UrdfError(
            f"a <visual> of link {link!r} has no shape", remedy="use " + ", ".join(_SHAPES)
        )
    size = [n for key, count in _SHAPES[shape.tag] for n in _numbers(shape, key, count, link)]
    return VisualGeometry(
        shape.tag, tuple(size), _bodies_origin(visual, link), shape.get("filename", "")
    )


def _bodies_origin(element: ET.Element, link: str) -> Origin:
    origin = element.find("origin")
    if origin is None:
        return NO_MOTION
    x, y, z = _numbers(origin, "xyz", 3, link)
    return Origin((x, y, z), _turned(origin, link))


def _turned(origin: ET.Element, link: str) -> Triple:
    r, p, y = _numbers(origin, "rpy", 3, link)
    return (r, p, y)


def _numbers(element: ET.Element, key: str, count: int, link: str) -> tuple[float, ...]:
    """The numbers of an attribute; where it is left out, what URDF means by that."""
    unsaid = {"xyz": "0 0 0", "rpy": "0 0 0", "scale": "1 1 1"}.get(key, "")
    text = element.get(key, unsaid)
    try:
        values = tuple(float(word) for word in text.split())
    except ValueError:
        values = ()
    if len(values) != count or not all(map(math.isfinite, values)):
        raise UrdfError(
            f'<{element.tag} {key}="{text}"> of link {link!r} needs {count} finite numbers'
        )
    return values
