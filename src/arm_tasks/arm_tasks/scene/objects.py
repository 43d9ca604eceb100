# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Objects of a scene, made of primitives for drawing and collision checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from arm_common.transforms import Array, pose, so3_exp
from arm_description.robot_model import read_only

Color = tuple[float, float, float, float]
Sizes = Mapping[str, float]

WOOD: Color = (0.72, 0.66, 0.56, 1.0)
GREY: Color = (0.60, 0.60, 0.60, 1.0)
DARK: Color = (0.20, 0.22, 0.25, 1.0)
STEEL: Color = (0.62, 0.65, 0.70, 1.0)
WHITE: Color = (0.93, 0.93, 0.95, 1.0)
COPPER: Color = (0.80, 0.47, 0.20, 1.0)
_PLATES = 12  # plates of a full tube
_THIN = 0.15  # thickness of a plate as a fraction of the height


@dataclass(frozen=True)
class Primitive:
    """A primitive of an object."""

    kind: Literal["box", "cylinder"]  # a cylinder is along its z
    size: tuple[float, ...]  # (x, y, z) of a box, (radius, length) of a cylinder [m]
    pose: Array  # object <- part (4, 4), at the centre of the part
    color: Color  # red, green, blue, opacity

    def extent(self, direction: Array) -> float:
        """Return its extent along a direction (3,) of the object's axes [m]."""
        d = self.pose[:3, :3].T @ direction
        if self.kind == "box":
            return float(np.abs(d) @ np.array(self.size))
        radius, length = self.size
        return length * abs(float(d[2])) + 2.0 * radius * math.hypot(float(d[0]), float(d[1]))


@dataclass(frozen=True)
class SceneObject:
    """An object of the scene; its tf frame has the same name."""

    name: str
    kind: str  # its section of the scene file, such as "pallets"
    pose: Array  # base_link <- object (4, 4), read-only [m]
    parts: tuple[Primitive, ...]
    mass: float | None = None  # [kg], None if it cannot be carried

    @property
    def is_payload(self) -> bool:
        """True if the jaws can carry it."""
        return self.mass is not None

    def at(self, T: Array) -> SceneObject:
        """Return a copy at base_link <- object (4, 4) [m]."""
        return replace(self, pose=read_only(T))

    def span(self, direction: Array) -> tuple[float, float]:
        """Return its interval along a direction (3,) of base_link [m]."""
        inside = self.pose[:3, :3].T @ direction
        middles = np.array([part.pose[:3, 3] @ inside for part in self.parts])
        halves = np.array([part.extent(inside) / 2.0 for part in self.parts])
        origin = float(self.pose[:3, 3] @ direction)
        return origin + float(min(middles - halves)), origin + float(max(middles + halves))


def box(
    size: tuple[float, float, float], at: tuple[float, float, float], color: Color
) -> Primitive:
    """Return a box with its centre at a position [m]."""
    return Primitive("box", size, pose(p=at), color)


def _table(s: Sizes, color: Color | None) -> tuple[Primitive, ...]:
    x, y, z = s["length"], s["width"], s["height"]
    top = min(0.02, _THIN * z)
    leg = min(0.04, 0.1 * min(x, y))
    feet = [(i * (x - leg) / 2, j * (y - leg) / 2) for i in (-1, 1) for j in (-1, 1)]
    tone = color or WOOD
    legs = [box((leg, leg, z - top), (u, v, -(z + top) / 2), tone) for u, v in feet]
    return box((x, y, top), (0, 0, -top / 2), tone), *legs


def _conveyor(s: Sizes, color: Color | None) -> tuple[Primitive, ...]:
    x, y, z = s["length"], s["width"], s["height"]
    radius = min(_THIN * z, x / 4)
    flat = x - 2 * radius
    across = so3_exp(np.array([math.pi / 2, 0.0, 0.0]))
    ends = [pose(across, (i * flat / 2, 0.0, -radius)) for i in (-1, 1)]
    rollers = [Primitive("cylinder", (radius, y), T, DARK) for T in ends]
    foot = z - 2 * radius
    trestles = [
        box((2 * radius, y, foot), (i * flat / 2, 0, -2 * radius - foot / 2), color or GREY)
        for i in (-1, 1)
    ]
    return box((flat, y, 2 * radius), (0, 0, -radius), DARK), *rollers, *trestles


def _pallet(s: Sizes, color: Color | None) -> tuple[Primitive, ...]:
    x, y, z = s["length"], s["width"], s["height"]
    deck = 0.3 * z
    runner, tone = 0.15 * y, color or WOOD
    rails = [
        box((x, runner, z - deck), (0, j * (y - runner) / 2, -(z + deck) / 2), tone)
        for j in (-1, 0, 1)
    ]
    return box((x, y, deck), (0, 0, -deck / 2), tone), *rails


def _plate(s: Sizes, x: str, y: str, depth: float, color: Color) -> tuple[Primitive, ...]:
    """Return a plate with its centre at z = depth * thickness."""
    return (box((s[x], s[y], s["thickness"]), (0, 0, depth * s["thickness"]), color),)


def _battery(s: Sizes, color: Color | None) -> tuple[Primitive, ...]:
    radius, length = s["diameter"] / 2, s["length"]
    nub = 0.05 * length
    cell, top = pose(p=(0, 0, -nub / 2)), pose(p=(0, 0, (length - nub) / 2))
    body = Primitive("cylinder", (radius, length - nub), cell, color or COPPER)
    return body, Primitive("cylinder", (0.4 * radius, nub), top, STEEL)


def _fuselage(s: Sizes, color: Color | None) -> tuple[Primitive, ...]:
    """Return adjacent plates, each tangent to the outside of the tube."""
    count = max(1, round(_PLATES * s["arc"] / (2 * math.pi)))
    angle = s["arc"] / count
    middle = s["radius"] - s["thickness"] / 2
    width = 2 * s["radius"] * math.tan(min(angle, math.pi / 2) / 2)
    size = (s["length"], width, s["thickness"])
    parts = []
    for i in range(count):
        R = so3_exp(np.array([(i - (count - 1) / 2) * angle, 0.0, 0.0]))
        parts.append(Primitive("box", size, pose(R, middle * R[:, 2]), color or STEEL))
    return tuple(parts)


SHAPES: Mapping[str, Callable[[Sizes, Color | None], tuple[Primitive, ...]]] = {
    "tables": _table,
    "conveyors": _conveyor,
    "pallets": _pallet,
    "surfaces": lambda s, color: _plate(s, "length", "width", -0.5, color or WHITE),
    "walls": lambda s, color: _plate(s, "height", "width", 0.5, color or GREY),
    "batteries": _battery,
    "pegs": lambda s, color: (
        Primitive("cylinder", (s["diameter"] / 2, s["length"]), np.eye(4), color or WOOD),
    ),
    "fuselages": _fuselage,
}
"""Section -> function that makes the parts of an object from its sizes [m, rad], except boxes."""
