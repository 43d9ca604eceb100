# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The visuals of a URDF: (link, pose in the link's frame, shape, colour), ready to be drawn.

Follows the URDF specification's `link/visual` and `material` elements; textures are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import UrdfError
from .shapes import GREY, Array, Box, Colour, Cylinder, Ellipsoid, MeshFile, Shape
from .urdf_xml import Element, name_of, number, numbers, origin


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
    shape: Shape
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


def _shape(visual: Element, where: str) -> Shape:
    geometry = visual.find("geometry")
    node = geometry[0] if geometry is not None and len(geometry) else None
    if node is None:
        raise UrdfError(where, "a <visual> has no <geometry> with a shape in it")
    if node.tag == "box":
        if not node.get("size"):
            raise UrdfError(where, '<box> lacks the attribute "size"')
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
            raise UrdfError(where, '<mesh> lacks the attribute "filename"')
        sx, sy, sz = numbers(node, "scale", where, (1.0, 1.0, 1.0))
        return MeshFile(node.get("filename", ""), (sx, sy, sz))
    raise UrdfError(where, f"<{node.tag}> is no shape of URDF; use box, cylinder, sphere or mesh")
