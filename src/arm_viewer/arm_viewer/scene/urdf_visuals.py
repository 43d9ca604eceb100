# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The visuals of a URDF: (link, pose in the link's frame, shape, colour), ready to be drawn.

Follows the URDF specification's `link/visual` and `material` elements; textures are ignored.

Small readers for URDF attributes that say which element is wrong, and how.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from arm_common.transforms import rpy_matrix

from arm_viewer.errors import VisualUrdfError
from arm_viewer.scene.shapes import (
    GREY,
    Array,
    Box,
    Colour,
    Cylinder,
    DrawnShape,
    Ellipsoid,
    MeshFile,
)

Element = ElementTree.Element


def parse(xml: str) -> Element:
    """Return the <robot> element of a URDF text.

    Raises:
        UrdfError: If the text is not XML, or not a robot.
    """
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise VisualUrdfError(
            "", f"not XML ({error}); give a URDF text, not a file name"
        ) from error
    if root.tag != "robot":
        raise VisualUrdfError("", f"the outer element is <{root.tag}>, it must be <robot>")
    return root


def name_of(element: Element) -> str:
    """Return `tag "name"` for error messages."""
    return f'{element.tag} "{element.get("name", "")}"'


def number(element: Element, key: str, where: str, default: float | None = None) -> float:
    """Return a finite number from an attribute.

    Raises:
        UrdfError: If it is missing (and has no default), no number, or not finite.
    """
    text = element.get(key)
    if text is None:
        if default is None:
            raise VisualUrdfError(where, f'<{element.tag}> lacks the attribute "{key}"')
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise VisualUrdfError(where, f'<{element.tag} {key}="{text}"> is not a finite number')
    return value


def numbers(
    element: Element | None, key: str, where: str, default: tuple[float, ...]
) -> tuple[float, ...]:
    """Return as many finite numbers from an attribute as the default has.

    Raises:
        UrdfError: If the count differs or one of them is not a finite number.
    """
    text = None if element is None else element.get(key)
    if element is None or text is None:
        return default
    try:
        values = tuple(float(word) for word in text.split())
    except ValueError:
        values = ()
    if len(values) != len(default) or not all(map(math.isfinite, values)):
        raise VisualUrdfError(
            where, f'<{element.tag} {key}="{text}"> must hold {len(default)} finite numbers'
        )
    return values


def origin(element: Element, where: str) -> Array:
    """Return the (4, 4) pose of an element's <origin>; the identity if it has none.

    xyz in metres; rpy about the fixed axes, in radians (URDF's convention).
    """
    node = element.find("origin")
    xyz = np.array(numbers(node, "xyz", where, (0.0, 0.0, 0.0)))
    rpy = np.array(numbers(node, "rpy", where, (0.0, 0.0, 0.0)))
    return np.asarray(rpy_matrix(xyz, rpy), dtype=float)


@dataclass(frozen=True, eq=False)
class Visual:
    """One visual of one link.

    Attributes:
        link: The link that carries it.
        pose: (4, 4), link <- visual.
        shape: What to draw.
        colour: Red, green, blue, alpha.
    """

    link: str
    pose: Array
    shape: DrawnShape
    colour: Colour


def read_visuals(robot: Element) -> tuple[Visual, ...]:
    """Return all visuals below a <robot> element, in document order.

    Raises:
        UrdfError: If a geometry or a material cannot be understood.
    """
    materials = {
        material.get("name", ""): colour
        for material in robot.findall("material")
        if (colour := _colour(material, name_of(material))) is not None
    }
    return tuple(
        _visual(link, node, materials)
        for link in robot.findall("link")
        for node in link.findall("visual")
    )


def _visual(link: Element, node: Element, materials: dict[str, Colour]) -> Visual:
    where = name_of(link)
    colour = _visual_colour(node, where, materials)
    shape = _shape(node, where)
    if isinstance(shape, MeshFile) and colour is not None:
        shape = MeshFile(shape.uri, shape.scale, own_colours=False)
    pose = origin(node, where)
    pose.setflags(write=False)
    return Visual(link.get("name", ""), pose, shape, colour or GREY)


def _visual_colour(node: Element, where: str, materials: dict[str, Colour]) -> Colour | None:
    material = node.find("material")
    if material is None:
        return None
    own = _colour(material, where)
    name = material.get("name", "")
    if own is not None and name:
        materials.setdefault(name, own)
    return own or materials.get(name)


def _colour(material: Element, where: str) -> Colour | None:
    node = material.find("color")
    if node is None:
        return None
    rgba = numbers(node, "rgba", where, GREY)
    r, g, b, a = (float(np.clip(value, 0.0, 1.0)) for value in rgba)
    return (r, g, b, a)


def _shape(visual: Element, where: str) -> DrawnShape:
    geometry = visual.find("geometry")
    node = geometry[0] if geometry is not None and len(geometry) else None
    if node is None:
        raise VisualUrdfError(where, "a <visual> has no <geometry> with a shape in it")
    if node.tag == "box":
        if not node.get("size"):
            raise VisualUrdfError(where, '<box> lacks the attribute "size"')
        x, y, z = numbers(node, "size", where, (0.0, 0.0, 0.0))
        return Box((x, y, z))
    if node.tag == "cylinder":
        width = 2.0 * number(node, "radius", where)
        return Cylinder((width, width), number(node, "length", where))
    if node.tag == "sphere":
        width = 2.0 * number(node, "radius", where)
        return Ellipsoid((width, width, width))
    if node.tag == "mesh":
        if not node.get("filename"):
            raise VisualUrdfError(where, '<mesh> lacks the attribute "filename"')
        sx, sy, sz = numbers(node, "scale", where, (1.0, 1.0, 1.0))
        return MeshFile(node.get("filename", ""), (sx, sy, sz))
    raise VisualUrdfError(
        where, f"<{node.tag}> is no shape of URDF; use box, cylinder, sphere or mesh"
    )
