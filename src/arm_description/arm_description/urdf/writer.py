# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Write the URDF of an arm.

Numbers are written by repr, the shortest text that reads back as the same double.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import combinations_with_replacement
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from arm_common.errors import exact_text
from arm_common.transforms import Matrix, Vector
from arm_common.yaml.colours import rgba

from arm_description.errors import DescriptionError
from arm_description.model.elements import NO_MOTION, LookShape, Mesh, Origin
from arm_description.urdf.assembly import BASE, DENSITY, assemble, dh_frames
from arm_description.urdf.elements import UrdfGeometry, UrdfJoint, UrdfLink, UrdfParts, duplicate
from arm_description.urdf.joint_frames import JointFrames
from arm_description.urdf.optional import OPTIONAL_PARTS

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

FORBIDDEN_IN_PREFIX = "/$<>&"
_NEGLIGIBLE = 1e-15


def robot_urdf(
    model: RobotModel,
    prefix: str = "",
    with_dh_frames: bool = False,
    parent: str = "",
    mount: Origin = NO_MOTION,
    ros2_control: str = "",
) -> str:
    """Return the URDF of an arm as XML text.

    Args:
        model: the arm.
        prefix: prefix of every link and joint name.
        with_dh_frames: add the frames dh_0 .. dh_n.
        parent: link the arm is mounted on; "" for none, with base_link as the root.
        mount: parent <- base_link.
        ros2_control: kind of hardware of the block <ros2_control>, one of its HARDWARE; "" for
            none.

    Raises:
        DescriptionError: the prefix or parent cannot be part of a name, or names collide.
    """
    check_prefix(prefix)
    check_prefix(parent, "parent")
    frames = JointFrames(model)
    parts = assemble(model, prefix, frames)
    if parent:
        joint = UrdfJoint(f"{prefix}mount", "fixed", parent, prefix + BASE, mount)
        parts = UrdfParts((UrdfLink(parent), *parts.links), (joint, *parts.joints))
    all_parts = [parts]
    if model.bars:
        all_parts.append(OPTIONAL_PARTS.load("bars")(model, prefix, frames))
    if with_dh_frames:
        all_parts.append(dh_frames(model, prefix, frames))
    # The URDF adds joints, which may have the name of one of the table; so may the parent link.
    links = [link for part in all_parts for link in part.links]
    joints = [joint for part in all_parts for joint in part.joints]
    for kind, elements in (("link", links), ("joint", joints)):
        if name := duplicate([element.name for element in elements]):
            raise DescriptionError(
                f"two {kind}s of the URDF would be named {name!r}",
                remedy="rename that joint of the robot file or the parent",
            )
    robot = ET.Element("robot", name=model.name)
    robot.extend(element for part in all_parts for element in part_elements(part))
    if model.constraints:
        robot.extend(OPTIONAL_PARTS.load("written constraints")(model, prefix))
    if ros2_control:
        block = OPTIONAL_PARTS.load("ros2_control")
        robot.append(block(f"{prefix}{model.name}", ros2_control, parts.joints))
    return xml_text(robot)


def merged_urdf(name: str, robots: Sequence[str]) -> str:
    """Return one URDF of several robots that are mounted on the same link.

    Raises:
        DescriptionError: two of them have a name in common, except for the root link.
    """
    merged, seen = ET.Element("robot", name=name), dict[tuple[str, str], bool]()
    for urdf in robots:
        root = True  # the first link of a robot
        for element in ET.fromstring(urdf):
            key = element.tag, element.get("name", "")
            if key in seen and not (root and seen[key]):
                raise DescriptionError(
                    f"two robots have a {key[0]} named {key[1]!r}",
                    remedy="give each its own prefix",
                )
            if key not in seen:
                seen[key] = root
                merged.append(element)
            root = False
    return xml_text(merged)


def check_prefix(text: str, kind: str = "prefix") -> None:
    """Check that a text can be part of a link name.

    Raises:
        DescriptionError: it contains a space or a special character of XML or a shell.
    """
    if any(c.isspace() or not c.isprintable() or c in FORBIDDEN_IN_PREFIX for c in text):
        raise DescriptionError(
            f"the {kind} {text!r} cannot be part of a name", remedy="use letters, digits, _ and -"
        )


def number(value: float) -> str:
    """Return the shortest text that reads back as the same number; rounding errors become 0."""
    return "0" if abs(value) < _NEGLIGIBLE else exact_text(float(value))


def xml_text(robot: ET.Element) -> str:
    """Return the indented XML text."""
    ET.indent(robot)
    return f'<?xml version="1.0"?>\n{ET.tostring(robot, encoding="unicode")}\n'


def part_elements(parts: UrdfParts) -> list[ET.Element]:
    """Return the XML elements of links and joints."""
    return [*map(_link, parts.links), *map(joint_element, parts.joints)]


def _link(link: UrdfLink) -> ET.Element:
    element = ET.Element("link", name=link.name)
    if (inertia := link_inertia(link)) is not None:
        exact = link.mass is not None and link.mass.inertia is not None
        _inertial(ET.SubElement(element, "inertial"), *inertia, exact)
    if link.mesh:
        _mesh(ET.SubElement(element, "visual"), link.mesh, link.mesh.visual)
        _mesh(ET.SubElement(element, "collision"), link.mesh, link.mesh.collision)
    shapes = link.shapes if link.visible and not link.mesh else ()
    for shape in shapes if link.look is None else link.look:
        visual = ET.SubElement(element, "visual")
        _geometry(visual, shape)
        kind = getattr(shape, "material", "colour")
        material = ET.SubElement(visual, "material", name=f"{kind}_{shape.colour.lstrip('#')}")
        ET.SubElement(material, "color", rgba=_channels(shape.colour))
    for shape in shapes if link.collides else ():
        _geometry(ET.SubElement(element, "collision"), shape)
    return element


def _mesh(element: ET.Element, mesh: Mesh, uri: str) -> None:
    _origin(element, mesh.origin)
    geometry = ET.SubElement(element, "geometry")
    ET.SubElement(geometry, "mesh", filename=uri, scale=_numbers(mesh.scale))


def _geometry(element: ET.Element, shape: UrdfGeometry | LookShape) -> None:
    xyz, rpy = _rounded(shape.origin.xyz), _rounded(shape.origin.rpy)
    ET.SubElement(element, "origin", xyz=xyz, rpy=rpy)
    geometry = ET.SubElement(element, "geometry")
    if shape.kind == "box":
        ET.SubElement(geometry, "box", size=_rounded(shape.size))
    elif shape.kind == "sphere":
        ET.SubElement(geometry, "sphere", radius=_rounded(shape.size))
    elif shape.kind == "cylinder":
        radius, length = _rounded(shape.size).split()
        ET.SubElement(geometry, "cylinder", radius=radius, length=length)
    else:
        file: Path = OPTIONAL_PARTS.load("shape meshes")(shape.kind, shape.size)
        ET.SubElement(geometry, "mesh", filename=file.as_uri())


def _inertial(
    element: ET.Element, mass: float, centre: Vector, tensor: Matrix, exact: bool
) -> None:
    """Add the inertia: in full, or an estimate rounded to six digits."""
    ET.SubElement(
        element, "origin", xyz=_numbers(centre) if exact else _rounded(centre), rpy="0 0 0"
    )
    ET.SubElement(element, "mass", value=number(mass) if exact else f"{mass:.6g}")
    negligible = 0.0 if exact else 1e-9 * float(tensor.trace())
    values = {
        f"i{'xyz'[i]}{'xyz'[j]}": tensor[i, j] if abs(tensor[i, j]) > negligible else 0.0
        for i, j in combinations_with_replacement(range(3), 2)
    }
    texts = {key: repr(float(v)) if exact else f"{v:.6g}" for key, v in values.items()}
    ET.SubElement(element, "inertia", texts)


def link_inertia(link: UrdfLink) -> tuple[float, Vector, Matrix] | None:
    """Return mass [kg], centre (3,) [m] and inertia about it (3, 3) [kg m^2] in the link's frame.

    What the link's mass leaves open is that of its shapes. None is for a link without mass.
    """
    given = link.mass
    if not (link.shapes and link.has_inertia) or (given and not given.mass and not given.inertia):
        return None
    mass, centre, tensor = _solid_inertia(link.shapes, given.mass if given else None)
    if given and given.centre is not None:
        centre = np.array(given.centre)
    if given and given.inertia is not None:
        xx, xy, xz, yy, yz, zz = given.inertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return mass, centre, tensor


def _solid_inertia(
    shapes: Sequence[UrdfGeometry], mass: float | None
) -> tuple[float, Vector, Matrix]:
    """Return mass, centre and inertia of solid shapes of one density (parallel axis theorem).

    The density is that of a given total mass, by default `DENSITY`.
    """
    volumes = [shape.volume for shape in shapes]
    volume = sum(volumes)
    total = DENSITY * volume if mass is None else mass
    poses = [shape.origin.matrix for shape in shapes]
    centre = sum((v * T[:3, 3] for v, T in zip(volumes, poses, strict=True)), np.zeros(3)) / volume
    tensor = np.zeros((3, 3))
    for shape, part, T in zip(shapes, volumes, poses, strict=True):
        R, r, m = T[:3, :3], T[:3, 3] - centre, total * part / volume
        tensor += R @ np.diag(_moments(shape, m)) @ R.T
        tensor += m * (float(r @ r) * np.eye(3) - np.outer(r, r))
    return total, centre, tensor


def _moments(shape: UrdfGeometry, mass: float) -> tuple[float, float, float]:
    """Return the principal moments about the axes of the shape."""
    if shape.kind == "box":
        x, y, z = (side**2 for side in shape.size)
        return (mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12)
    radius, length = shape.size
    across = mass * (3 * radius**2 + length**2) / 12
    return (across, across, mass * radius**2 / 2)


def joint_element(joint: UrdfJoint) -> ET.Element:
    """Return the XML element of a joint."""
    element = ET.Element("joint", name=joint.name, type=joint.kind)
    ET.SubElement(element, "parent", link=joint.parent)
    ET.SubElement(element, "child", link=joint.child)
    _origin(element, joint.origin)
    if joint.limit:
        ET.SubElement(element, "axis", xyz=_numbers(joint.axis))
        limits = {key: number(value) for key, value in asdict(joint.limit).items()}
        ET.SubElement(element, "limit", limits)
    if joint.mimic:
        ratio = {key: number(getattr(joint.mimic, key)) for key in ("multiplier", "offset")}
        ET.SubElement(element, "mimic", {"joint": joint.mimic.joint, **ratio})
    return element


def _origin(element: ET.Element, origin: Origin) -> None:
    ET.SubElement(element, "origin", xyz=_numbers(origin.xyz), rpy=_numbers(origin.rpy))


def _numbers(values: Iterable[float]) -> str:
    return " ".join(number(value) for value in values)


def _rounded(values: Iterable[float]) -> str:
    """Return numbers rounded to six digits and a picometre, for shapes and inertia only."""
    return " ".join(number(float(f"{round(float(value), 12):.6g}")) for value in values)


def _channels(colour: str) -> str:
    return " ".join(f"{channel:.4g}" for channel in rgba(colour))
