# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read the kinematic tree of any URDF: links, joints, origins, axes, limits, mimics.

Only what moves is read; elements that say anything else are left alone.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UrdfError
from .joint_reader import attribute, read_joint
from .parts import UrdfJoint

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
