# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""URDF and xacro text of an arm, both from the same parts.

Numbers are written with repr, the shortest text that reads back as the same double.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from arm_description.errors import DescriptionError
from arm_description.model.elements import NO_MOTION, Mesh, Origin
from arm_description.urdf.assembly import assemble, dh_frames, mounted
from arm_description.urdf.elements import UrdfGeometry, UrdfJoint, UrdfLink, UrdfParts
from arm_description.urdf.inertia import Inertia, inertia_of

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
    """URDF of an arm.

    Args:
        model: the arm.
        prefix: put before every link and joint name.
        with_dh_frames: add the frames dh_0 .. dh_n.
        parent: link the arm stands on, "" for none (base_link is the root then).
        mount: parent <- base_link.

    Returns:
        XML text.

    Raises:
        DescriptionError: the prefix or parent cannot be part of a name, or a name comes twice.
    """
    check_prefix(prefix)
    check_prefix(parent, "parent")
    parts = assemble(model, prefix)
    if parent:
        parts = mounted(parts, prefix, parent, mount)
    more = dh_frames(model, prefix) if with_dh_frames else UrdfParts((), ())
    _refuse_twice([part.name for part in (*parts.links, *more.links)], "link")
    _refuse_twice([part.name for part in (*parts.joints, *more.joints)], "joint")
    robot = ET.Element("robot", name=model.name)
    robot.extend([*_elements(parts), *_elements(more)])
    return _text(robot)


def robot_macro(model: RobotModel, macro: str) -> str:
    """Xacro file that defines an arm as a macro.

    The macro's parameters are ``prefix``, ``dh_frames`` (true or false), and ``parent``, ``xyz``
    and ``rpy`` to fix the arm to a link that exists already.

    Args:
        model: the arm.
        macro: name of the macro.

    Returns:
        XML text.
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
    joint = ET.SubElement(optional, "joint", name=f"{prefix}mount", type="fixed")
    ET.SubElement(joint, "parent", link="${parent}")
    ET.SubElement(joint, "child", link=f"{prefix}base_link")
    ET.SubElement(joint, "origin", xyz="${xyz}", rpy="${rpy}")
    return _text(robot)


def check_prefix(text: str, what: str = "prefix") -> None:
    """Refuse what cannot be part of a link's name.

    Raises:
        DescriptionError: it holds a blank, or a character that XML or a shell takes for its own.
    """
    if any(c.isspace() or not c.isprintable() or c in FORBIDDEN_IN_PREFIX for c in text):
        raise DescriptionError(
            f"the {what} {text!r} cannot be part of a name",
            remedy="use letters, digits, _ and -",
        )


def number(value: float) -> str:
    """Shortest text of a number that reads back the same; rounding dust becomes 0."""
    value = float(value)
    if abs(value) < _NEGLIGIBLE:
        return "0"
    return repr(value).removesuffix(".0")


def _refuse_twice(names: list[str], what: str) -> None:
    """A joint of the table may be called as one that the URDF adds, or the parent as a link."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DescriptionError(
            f"two {what}s of the URDF would be called {twice[0]!r}",
            remedy="rename that joint of the robot file, or the parent",
        )


def _text(robot: ET.Element) -> str:
    ET.indent(robot)
    return f'<?xml version="1.0"?>\n{ET.tostring(robot, encoding="unicode")}\n'


def _elements(parts: UrdfParts) -> list[ET.Element]:
    return [*(_link(link) for link in parts.links), *(_joint(joint) for joint in parts.joints)]


def _link(link: UrdfLink) -> ET.Element:
    element = ET.Element("link", name=link.name)
    if link.shapes and link.weighs:
        element.append(_inertial(inertia_of(link.shapes, link.mass)))
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


def _inertial(inertia: Inertia) -> ET.Element:
    element = ET.Element("inertial")
    ET.SubElement(element, "origin", xyz=_rounded(inertia.centre), rpy="0 0 0")
    ET.SubElement(element, "mass", value=f"{inertia.mass:.6g}")
    t = inertia.tensor
    names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2)}
    names |= {"iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    size = float(t.trace())
    ET.SubElement(
        element,
        "inertia",
        {k: f"{t[i] if abs(t[i]) > 1e-9 * size else 0.0:.6g}" for k, i in names.items()},
    )
    return element


def _joint(joint: UrdfJoint) -> ET.Element:
    element = ET.Element("joint", name=joint.name, type=joint.kind)
    ET.SubElement(element, "parent", link=joint.parent)
    ET.SubElement(element, "child", link=joint.child)
    _origin(element, joint.origin)
    if joint.limit:
        limit = joint.limit
        ET.SubElement(element, "axis", xyz=_numbers(joint.axis))
        ET.SubElement(
            element,
            "limit",
            lower=number(limit.lower),
            upper=number(limit.upper),
            velocity=number(limit.velocity),
            effort=number(limit.effort),
        )
    return element


def _origin(element: ET.Element, origin: Origin) -> None:
    ET.SubElement(element, "origin", xyz=_numbers(origin.xyz), rpy=_numbers(origin.rpy))


def _numbers(values: Iterable[float]) -> str:
    return " ".join(number(value) for value in values)


def _rounded(values: Iterable[float]) -> str:
    """To six digits, for what is drawn or estimated and moves nothing; a picometre is 0."""
    return " ".join(number(float(f"{round(float(value), 12):.6g}")) for value in values)


def _rgba(colour: str) -> str:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return " ".join(f"{channel:.4g}" for channel in channels) + " 1"
