# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the links of a URDF look like, without colours, and what they weigh."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from ..elements import NO_MOTION, Origin, Triple
from ..errors import UrdfError
from .joint_reader import attribute
from .reader import parse_xml

# Shape -> its attributes, and how many numbers each holds.
_SHAPES = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
    "mesh": (("scale", 3),),
}


@dataclass(frozen=True)
class Solid:
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
class Body:
    """A link.

    Attributes:
        link: its name.
        solids: what it looks like.
        mass: [kg], 0 if the URDF gives none.
        centre: of mass, in the link's frame [m].
    """

    link: str
    solids: tuple[Solid, ...]
    mass: float
    centre: Triple


def read_bodies(text: str) -> tuple[Body, ...]:
    """Read all links of a URDF.

    Args:
        text: the XML.

    Raises:
        UrdfError: not a URDF, or a shape or number that is none.
    """
    return tuple(_body(link) for link in parse_xml(text).findall("link"))


def _body(element: ET.Element) -> Body:
    link = attribute(element, "name", "a link")
    solids = tuple(_solid(visual, link) for visual in element.findall("visual"))
    inertial = element.find("inertial")
    if inertial is None:
        return Body(link, solids, 0.0, NO_MOTION.xyz)
    mass = inertial.find("mass")
    value = 0.0 if mass is None else _numbers(mass, "value", 1, link)[0]
    if value < 0.0:
        raise UrdfError(f"link {link!r} has the mass {value:g} kg", remedy="give 0 or more")
    return Body(link, solids, value, _origin(inertial, link).xyz)


def _solid(visual: ET.Element, link: str) -> Solid:
    shape = visual.find("geometry/*")
    if shape is None or shape.tag not in _SHAPES:
        raise UrdfError(
            f"a <visual> of link {link!r} has no shape", remedy="use " + ", ".join(_SHAPES)
        )
    size = [n for key, count in _SHAPES[shape.tag] for n in _numbers(shape, key, count, link)]
    return Solid(shape.tag, tuple(size), _origin(visual, link), shape.get("filename", ""))


def _origin(element: ET.Element, link: str) -> Origin:
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
