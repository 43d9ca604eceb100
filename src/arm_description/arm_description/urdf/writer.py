# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""URDF and xacro text of an arm, both from the same parts.

Numbers are written with repr, the shortest text that reads back as the same double.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np
from arm_common.transforms import Matrix, Vector

from arm_description.errors import DescriptionError
from arm_description.model.elements import NO_MOTION, Mesh, Origin, rgb
from arm_description.urdf.assembly import BASE, DENSITY, assemble, dh_frames
from arm_description.urdf.elements import UrdfGeometry, UrdfJoint, UrdfLink, UrdfParts, repeated

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

XACRO = "http://www.ros.org/wiki/xacro"
FORBIDDEN_IN_PREFIX = "/$<>&"
_NEGLIGIBLE = 1e-15


def robot_urdf(
    model: RobotModel,
    prefix: str = "",
    with_dh_frames: bool = False,
    parent: str = "",
    mount: Origin = NO_MOTION,
) -> str:
    """Return the URDF of an arm as XML text.

    Args:
        model: the arm.
        prefix: put before every link and joint name.
        with_dh_frames: add the frames dh_0 .. dh_n.
        parent: link the arm stands on, "" for none (base_link is the root then).
        mount: parent <- base_link.

    Raises:
        DescriptionError: the prefix or parent cannot be part of a name, or a name comes twice.
    """
    check_prefix(prefix)
    check_prefix(parent, "parent")
    parts = assemble(model, prefix)
    if parent:
        joint = UrdfJoint(f"{prefix}mount", "fixed", parent, prefix + BASE, mount)
        parts = UrdfParts((UrdfLink(parent), *parts.links), (joint, *parts.joints))
    more = dh_frames(model, prefix) if with_dh_frames else UrdfParts((), ())
    # A joint of the table may be called as one that the URDF adds, or the parent as a link.
    for what, named in (("link", parts.links + more.links), ("joint", parts.joints + more.joints)):
        twice = repeated([part.name for part in named])
        if twice:
            raise DescriptionError(
                f"two {what}s of the URDF would be called {twice!r}",
                remedy="rename that joint of the robot file, or the parent",
            )
    robot = ET.Element("robot", name=model.name)
    robot.extend([*_elements(parts), *_elements(more)])
    return xml_text(robot)


def robot_macro(model: RobotModel, macro: str) -> str:
    """Return a xacro file that defines an arm as a macro of this name.

    The macro's parameters are ``prefix``, ``dh_frames`` (true or false), and ``parent``, ``xyz``
    and ``rpy`` to fix the arm to a link that exists already.
    """
    ET.register_namespace("xacro", XACRO)
    robot = ET.Element("robot")
    params = "prefix:='' dh_frames:=false parent:='' xyz:='0 0 0' rpy:='0 0 0'"
    body = ET.SubElement(robot, f"{{{XACRO}}}macro", name=macro, params=params)
    prefix = "${prefix}"
    body.extend(_elements(assemble(model, prefix)))
    optional = ET.SubElement(body, f"{{{XACRO}}}if", value="${dh_frames}")
    optional.extend(_elements(dh_frames(model, prefix)))
    optional = ET.SubElement(body, f"{{{XACRO}}}if", value="${parent != ''}")
    mount = _joint(UrdfJoint(f"{prefix}mount", "fixed", "${parent}", prefix + BASE))
    mount[-1].attrib.update(xyz="${xyz}", rpy="${rpy}")
    optional.append(mount)
    return xml_text(robot)


def check_prefix(text: str, what: str = "prefix") -> None:
    """Refuse what cannot be part of a link's name.

    Raises:
        DescriptionError: it holds a blank, or a character that XML or a shell takes for its own.
    """
    if any(c.isspace() or not c.isprintable() or c in FORBIDDEN_IN_PREFIX for c in text):
        raise DescriptionError(
            f"the {what} {text!r} cannot be part of a name", remedy="use letters, digits, _ and -"
        )


def number(value: float) -> str:
    """Shortest text of a number that reads back the same; rounding dust becomes 0."""
    value = float(value)
    if abs(value) < _NEGLIGIBLE:
        return "0"
    return repr(value).removesuffix(".0")


def xml_text(robot: ET.Element) -> str:
    """Return the indented text of a file."""
    ET.indent(robot)
    return f'<?xml version="1.0"?>\n{ET.tostring(robot, encoding="unicode")}\n'


def _elements(parts: UrdfParts) -> list[ET.Element]:
    return [*(_link(link) for link in parts.links), *(_joint(joint) for joint in parts.joints)]


def _link(link: UrdfLink) -> ET.Element:
    element = ET.Element("link", name=link.name)
    if link.shapes and link.weighs:
        _inertial(ET.SubElement(element, "inertial"), *inertia_of(link.shapes, link.mass))
    if link.mesh:
        _mesh(ET.SubElement(element, "visual"), link.mesh, link.mesh.visual)
        _mesh(ET.SubElement(element, "collision"), link.mesh, link.mesh.collision)
    shapes = link.shapes if link.seen and not link.mesh else ()
    for shape in shapes:
        visual = ET.SubElement(element, "visual")
        _geometry(visual, shape)
        material = ET.SubElement(visual, "material", name=f"colour_{shape.colour.lstrip('#')}")
        ET.SubElement(material, "color", rgba=_rgba(shape.colour))
    for shape in shapes:
        _geometry(ET.SubElement(element, "collision"), shape)
    return element


def _mesh(element: ET.Element, mesh: Mesh, uri: str) -> None:
    _origin(element, mesh.origin)
    geometry = ET.SubElement(element, "geometry")
    ET.SubElement(geometry, "mesh", filename=uri, scale=_numbers(mesh.scale))


def _geometry(element: ET.Element, shape: UrdfGeometry) -> None:
    xyz, rpy = _rounded(shape.origin.xyz), _rounded(shape.origin.rpy)
    ET.SubElement(element, "origin", xyz=xyz, rpy=rpy)
    geometry = ET.SubElement(element, "geometry")
    if shape.kind == "box":
        ET.SubElement(geometry, "box", size=_rounded(shape.size))
    else:
        radius, length = _rounded(shape.size).split()
        ET.SubElement(geometry, "cylinder", radius=radius, length=length)


def _inertial(element: ET.Element, mass: float, centre: Vector, tensor: Matrix) -> None:
    ET.SubElement(element, "origin", xyz=_rounded(centre), rpy="0 0 0")
    ET.SubElement(element, "mass", value=f"{mass:.6g}")
    dust = 1e-9 * float(tensor.trace())
    values = {
        f"i{'xyz'[i]}{'xyz'[j]}": f"{tensor[i, j] if abs(tensor[i, j]) > dust else 0.0:.6g}"
        for i, j in combinations_with_replacement(range(3), 2)
    }
    ET.SubElement(element, "inertia", values)


def inertia_of(
    shapes: Sequence[UrdfGeometry], mass: float | None = None
) -> tuple[float, Vector, Matrix]:
    """Return mass [kg], centre (3,) [m] and inertia about it (3, 3) [kg m^2] in the link's frame.

    The shapes are solid and all of one density (parallel axis theorem): the usual one, if the mass
    of all together is not given.
    """
    volumes = [_volume(shape) for shape in shapes]
    density = DENSITY if mass is None else mass / sum(volumes)
    masses = [density * volume for volume in volumes]
    total = sum(masses)
    poses = [shape.origin.matrix for shape in shapes]
    centre = sum((m * T[:3, 3] for m, T in zip(masses, poses, strict=True)), np.zeros(3)) / total
    tensor = np.zeros((3, 3))
    for shape, mass, T in zip(shapes, masses, poses, strict=True):
        R, r = T[:3, :3], T[:3, 3] - centre
        tensor += R @ np.diag(_moments(shape, mass)) @ R.T
        tensor += mass * (float(r @ r) * np.eye(3) - np.outer(r, r))
    return total, centre, tensor


def _volume(shape: UrdfGeometry) -> float:
    if shape.kind == "box":
        return math.prod(shape.size)
    radius, length = shape.size
    return math.pi * radius**2 * length


def _moments(shape: UrdfGeometry, mass: float) -> tuple[float, float, float]:
    """Principal moments about the shape's own axes."""
    if shape.kind == "box":
        x, y, z = (side**2 for side in shape.size)
        return (mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12)
    radius, length = shape.size
    across = mass * (3 * radius**2 + length**2) / 12
    return (across, across, mass * radius**2 / 2)


def _joint(joint: UrdfJoint) -> ET.Element:
    element = ET.Element("joint", name=joint.name, type=joint.kind)
    ET.SubElement(element, "parent", link=joint.parent)
    ET.SubElement(element, "child", link=joint.child)
    _origin(element, joint.origin)
    if joint.limit:
        ET.SubElement(element, "axis", xyz=_numbers(joint.axis))
        limits = {key: number(value) for key, value in asdict(joint.limit).items()}
        ET.SubElement(element, "limit", limits)
    return element


def _origin(element: ET.Element, origin: Origin) -> None:
    ET.SubElement(element, "origin", xyz=_numbers(origin.xyz), rpy=_numbers(origin.rpy))


def _numbers(values: Iterable[float]) -> str:
    return " ".join(number(value) for value in values)


def _rounded(values: Iterable[float]) -> str:
    """To six digits, for what is drawn or estimated and moves nothing; a picometre is 0."""
    return " ".join(number(float(f"{round(float(value), 12):.6g}")) for value in values)


def _rgba(colour: str) -> str:
    return " ".join(f"{channel:.4g}" for channel in rgb(colour)) + " 1"
