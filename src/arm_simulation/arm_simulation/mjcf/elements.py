# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/mjcf/test_scene_objects.py
"""Units, numbers and collision groups of an MJCF document.

The format: https://mujoco.readthedocs.io/en/stable/XMLreference.html.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array
from transforms3d.quaternions import mat2quat


@dataclass(frozen=True)
class MjcfUnits:
    """Units of a document, as multiples of metre and kilogram; seconds and radians stay.

    MuJoCo's solver has absolute limits (mjMINVAL), so that bodies of a few grams need smaller
    units than a metre and a kilogram.
    """

    length: float = 1.0  # units per metre
    mass: float = 1.0  # units per kilogram

    @property
    def force(self) -> float:
        """Units per newton."""
        return self.mass * self.length

    @property
    def torque(self) -> float:
        """Units per newton metre; also those of an inertia per kg m^2."""
        return self.force * self.length


SI = MjcfUnits()
CGS = MjcfUnits(length=100.0, mass=1000.0)

# Which geoms meet: (contype, conaffinity); two meet if a bit of one's contype is in the other's
# conaffinity. The links of an arm do not meet each other; a thread meets threads only.
SURROUNDINGS = {"contype": "1", "conaffinity": "1"}
ARM = {"contype": "2", "conaffinity": "1"}
THREAD = {"contype": "4", "conaffinity": "4"}
# A contact yields in proportion to the lighter body: jaws sink into a nut of 3 g if it is soft.
FIRM = {"solref": "0.003 1", "solimp": ".95 .99 .001"}
SHANK = {"contype": "0", "conaffinity": "2"}  # meets the arm, but not the hexagon of a nut


def words(values: Iterable[float]) -> str:
    """Return numbers as text that reads back as the same doubles."""
    return " ".join(repr(float(value)) for value in values)


def placement(T: Array, units: MjcfUnits) -> dict[str, str]:
    """Return pos and quat of a pose (4, 4) [m]."""
    return {
        "pos": words(np.asarray(T)[:3, 3] * units.length),
        "quat": words(mat2quat(np.asarray(T)[:3, :3])),
    }


def geom_size(kind: str, size: Sequence[float], units: MjcfUnits) -> str:
    """Return the attribute ``size`` of a geom: half edges of a box, else radius and half length.

    Args:
        kind: ``box``, or a shape of revolution.
        size: the edges of a box, else radius and length [m].
        units: lengths of the document.
    """
    halves = [edge / 2.0 for edge in size] if kind == "box" else [size[0], size[1] / 2.0]
    return words(half * units.length for half in halves)


def section(root: ET.Element, tag: str) -> ET.Element:
    """Return a child of a document; create it if it is missing."""
    found = root.find(tag)
    return ET.SubElement(root, tag) if found is None else found


def document(name: str, units: MjcfUnits) -> ET.Element:
    """Return an empty document with gravity along -z."""
    root = ET.Element("mujoco", model=name)
    ET.SubElement(root, "compiler", angle="radian", autolimits="true")
    ET.SubElement(root, "option", gravity=words((0.0, 0.0, -9.81 * units.length)))
    ET.SubElement(root, "worldbody")
    return root


def xml_text(root: ET.Element) -> str:
    """Return the indented XML text."""
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"
