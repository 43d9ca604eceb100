# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Bolts, nuts and other scene objects as bodies of an MJCF document.

Bolt and nut meet by the signed distance of their threads' meshes. The jaws and all other objects
meet a convex hexagon in place of the nut, and a cylinder in place of the bolt.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence

import numpy as np
from arm_common.transforms import Array, shift_z, turn_z
from arm_description.model.units import mm
from arm_tasks.scene.scene import Bolt, Nut, SceneObject
from arm_tasks.scene.screw_thread import ScrewThread

from arm_simulation import SimulationError
from arm_simulation.mjcf.elements import (
    FIRM,
    SHANK,
    SURROUNDINGS,
    THREAD,
    MjcfUnits,
    geom_size,
    placement,
    section,
    words,
)
from arm_simulation.mjcf.meshes import (
    TriangleMesh,
    bolt_mesh,
    hexagon_vertices,
    nut_mesh,
    pin_mesh,
)

STEEL = 7850.0  # [kg/m^3]
NUT_THREAD, NUT_HEXAGON = "nut_thread", "nut_hexagon"
_LONGEST = 12e-3  # of a simulated thread [m]; a longer one would make its cells coarser
# Steel on steel, slightly oiled: 0.15. Soft contacts let threads jump (solref, solimp).
_THREAD_CONTACT = {
    "friction": "0.15 0.00005 0.00001",
    "solref": "0.004 1",
    "solimp": ".99 .999 .001",
    "condim": "4",
}
_SOLID_CONTACT = {"friction": "0.5 0.005 0.0001", "condim": "4", **FIRM}
# Friction against turning about a contact, over its force [m]. A round body and a flat pad meet in
# one point instead of a line of some 8 mm, along which friction of 0.8 acts at 2 mm on average.
_TORSION = 1.5e-3
_LOOK = {"bolt": "0.6 0.62 0.66 1", "nut": "0.85 0.7 0.3 1"}


class SceneObjectsMjcf:
    """Adds scene objects to an MJCF document."""

    def __init__(self, root: ET.Element, units: MjcfUnits) -> None:
        self._world = section(root, "worldbody")
        self._assets = section(root, "asset")
        self._units = units
        self._meshes = set[str]()

    def add_floor(self, height: float) -> None:
        """Add a plane at a height [m]."""
        at = words((0.0, 0.0, height * self._units.length))
        values = {"type": "plane", "size": "0 0 1", "pos": at, "rgba": "0.9 0.9 0.9 1"}
        ET.SubElement(self._world, "geom", values | SURROUNDINGS | _SOLID_CONTACT, name="floor")

    def add_bolt(self, bolt: Bolt) -> None:
        """Add a bolt: its thread, a cylinder for the arm, a collar at the thread's end.

        A nut stops at the collar, where the thread that is simulated ends.

        Raises:
            SceneError: its thread is impossible.
        """
        thread, length = bolt.thread, min(bolt.length, _LONGEST)
        mesh = f"bolt_{thread.diameter * 1e6:.0f}_{thread.pitch * 1e6:.0f}_{thread.hand}_{length}"
        self._add_mesh(mesh, lambda: bolt_mesh(thread, length))
        body = self._body_in_nut(bolt.name, bolt.pose @ turn_z(bolt.start), mesh)
        radius = thread.diameter / 2.0
        self._cylinder(body, radius, 0.0, bolt.length, SHANK | {"group": "3"})
        collar = max(bolt.length - length, 1e-3)
        self._cylinder(body, 1.2 * radius, length, length + collar, SURROUNDINGS)

    def add_pin(self, pin: Bolt) -> None:
        """Add a smooth pin, and a cylinder for the arm."""
        mesh = f"pin_{pin.diameter * 1e6:.0f}_{pin.length * 1e6:.0f}"
        self._add_mesh(mesh, lambda: pin_mesh(pin.diameter, pin.length))
        body = self._body_in_nut(pin.name, pin.pose, mesh)
        self._cylinder(body, pin.diameter / 2.0, 0.0, pin.length, SHANK | {"group": "3"})

    def _body_in_nut(self, name: str, pose: Array, mesh: str) -> ET.Element:
        """Add a body whose mesh meets the inside of the nut."""
        body = ET.SubElement(self._world, "body", placement(pose, self._units), name=name)
        values = {"name": f"{name}_thread", "type": "sdf", "mesh": mesh, "rgba": _LOOK["bolt"]}
        ET.SubElement(body, "geom", values | THREAD | _THREAD_CONTACT)
        return body

    def add_nut(self, nut: Nut, thread: ScrewThread) -> None:
        """Add a nut of a thread that moves freely."""
        mesh, units = "nut", self._units
        if nut.across_flats < 1.25 * thread.diameter:
            raise SimulationError(
                f"a nut of {mm(nut.across_flats)} across its flats is too thin for a "
                f"thread of {mm(thread.diameter)}",
                remedy=f"give at least {1250 * thread.diameter:.3g} mm",
            )
        self._add_mesh(mesh, lambda: nut_mesh(thread, nut.thickness))
        # Its place is no part of the document: the cached model serves for any.
        body = ET.SubElement(self._world, "body", name="nut")
        ET.SubElement(body, "freejoint", name="nut")
        mass, axial, lateral = _nut_inertia(nut, thread)
        values = {
            "pos": "0 0 0",
            "mass": words([mass * units.mass]),
            "diaginertia": words(np.array([lateral, lateral, axial]) * units.torque),
        }
        ET.SubElement(body, "inertial", values)
        values = {"name": NUT_THREAD, "type": "sdf", "mesh": mesh, "rgba": _LOOK["nut"]}
        ET.SubElement(body, "geom", values | THREAD | _THREAD_CONTACT)
        corners = hexagon_vertices(nut.across_flats, nut.thickness) * units.length
        ET.SubElement(self._assets, "mesh", name="hexagon", vertex=words(corners.ravel()))
        values = {"name": NUT_HEXAGON, "type": "mesh", "mesh": "hexagon", "group": "3"}
        ET.SubElement(body, "geom", values | SURROUNDINGS | _SOLID_CONTACT)

    def add_solid(self, solid: SceneObject) -> None:
        """Add an object; with a mass it moves freely."""
        body = ET.SubElement(
            self._world, "body", placement(solid.pose, self._units), name=solid.name
        )
        if solid.mass is not None:
            ET.SubElement(body, "freejoint", name=solid.name)
        share = (solid.mass or 0.0) * self._units.mass / len(solid.parts)
        contact = _SOLID_CONTACT | {"friction": words((0.5, _TORSION * self._units.length, 1e-4))}
        for part in solid.parts:
            values = {
                "type": part.kind,
                "size": geom_size(part.kind, part.size, self._units),
                "rgba": words(part.color),
                "mass": words([share]),
                **placement(part.pose, self._units),
            }
            ET.SubElement(body, "geom", values | SURROUNDINGS | contact)

    def _cylinder(
        self, body: ET.Element, radius: float, low: float, high: float, more: dict[str, str]
    ) -> None:
        values = {
            "type": "cylinder",
            "size": words([radius * self._units.length, (high - low) / 2.0 * self._units.length]),
            "rgba": _LOOK["bolt"],
            **placement(shift_z((low + high) / 2.0), self._units),
        }
        ET.SubElement(body, "geom", values | more | _SOLID_CONTACT)

    def _add_mesh(self, name: str, make: Callable[[], TriangleMesh]) -> None:
        if name in self._meshes:
            return
        self._meshes.add(name)
        mesh = make()
        values = {
            "name": name,
            "vertex": " ".join(f"{v:.9g}" for v in (mesh.vertices * self._units.length).ravel()),
            "face": " ".join(map(str, mesh.faces.ravel())),
        }
        ET.SubElement(self._assets, "mesh", values)


def _nut_inertia(nut: Nut, thread: ScrewThread) -> tuple[float, float, float]:
    """Return mass [kg] and moments along and across the axis [kg m^2]: a hexagon with a hole."""
    side = nut.across_flats / math.sqrt(3.0)
    area = 1.5 * math.sqrt(3.0) * side**2
    hole = thread.internal.pitch_diameter / 2.0
    outer = STEEL * nut.thickness * area
    inner = STEEL * nut.thickness * math.pi * hole**2
    mass = outer - inner
    # polar moment of a regular hexagon: 5/12 side^2 of its mass
    axial = outer * 5.0 / 12.0 * side**2 - inner * hole**2 / 2.0
    return mass, axial, axial / 2.0 + mass * nut.thickness**2 / 12.0


def check_apart(bolts: Sequence[Bolt]) -> None:
    """Check that no bolt stands in another one.

    Raises:
        SimulationError: two bolts interpenetrate.
    """
    for i, bolt in enumerate(bolts):
        for other in bolts[i + 1 :]:
            gap = float(np.linalg.norm((bolt.pose - other.pose)[:3, 3]))
            if gap < (bolt.diameter + other.diameter) / 2.0:
                raise SimulationError(
                    f"{bolt.name} and {other.name} are in the same place",
                    remedy="move one of them in the scene",
                )
