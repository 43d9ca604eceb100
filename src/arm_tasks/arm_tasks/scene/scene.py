# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The surroundings of the arm: bolts, a nut and objects as frames in base_link.

Objects are made of primitives, for drawing and collision checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, pose, shift_z, so3_exp, turn_z
from arm_description.model.units import mm
from arm_description.robot_model import read_only

from arm_tasks.errors import SceneError
from arm_tasks.scene.screw_thread import ScrewThread

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
BASE_FRAME = "base_link"
TOOL_FRAME = "tool0"
NUT_FRAME = "nut"
TURN = 2.0 * math.pi
# Turns of a nut at the start of the thread when it has caught: chamfer and countersink let the tip
# in by three quarters of a pitch first, so it is the next whole turn (docs/screw.md).
CATCH_TURNS = 1.0
PIN_OVERHANG = 3e-3  # by which a nut is pushed past the end of a pin [m]
_PIN_PLAY = 0.4e-3  # least play of a pin in a nut [m]
_Named = TypeVar("_Named")


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


@dataclass(frozen=True)
class Bolt:
    """A bolt; its frame is at the free end, z into the wall, x as upright as possible.

    Without a pitch it is a smooth pin, over which a nut slides. On a thread the position of a nut
    is a single number, the turns it has been screwed on: at 0 its front face is flush with the
    free end. Hence depth = pitch * turns and roll = start + hand * 2 pi * turns. It catches at
    CATCH_TURNS.
    """

    name: str  # name of the bolt and of its tf frame
    pose: Array  # base_link <- bolt (4, 4), read-only [m]
    diameter: float  # major diameter [m]
    length: float  # length of the thread from the free end [m]
    pitch: float  # advance per turn [m]; 0 of a smooth pin
    hand: int = 1  # +1 if a positive turn about +z advances along +z (right-handed), else -1
    # roll about z, from x, at which the thread of a nut catches [rad]; the roll of a nut is that
    # of its x axis, through the middle of a flat
    start: float = 0.0
    start_known: bool = False  # whether start is known; otherwise a plan must not rely on it

    @property
    def is_pin(self) -> bool:
        """Whether it is smooth."""
        return self.pitch == 0.0

    @property
    def thread(self) -> ScrewThread:
        """Its thread; raises SceneError if such a thread is impossible, as that of a pin."""
        return ScrewThread.of(self.diameter, self.pitch, self.hand)

    @property
    def max_turns(self) -> float:
        """Turns at which the nut's front face reaches the end of the thread; 0 of a pin."""
        return 0.0 if self.is_pin else self.length / self.pitch

    def depth(self, turns: float) -> float:
        """Return the depth of the nut's front face past the free end [m]."""
        return self.pitch * turns

    def roll(self, turns: float) -> float:
        """Return the nut's roll about z [rad], not wrapped."""
        return self.start + self.hand * TURN * turns

    def turns_by(self, roll: float) -> float:
        """Return the turns, positive when screwing on, of a rotation about z [rad]."""
        return self.hand * roll / TURN

    def engaged(self, turns: float, nut_thickness: float) -> float:
        """Return the turns of thread inside the nut, 0 to nut_thickness / pitch."""
        return min(max(turns, 0.0), nut_thickness / self.pitch)


@dataclass(frozen=True)
class Nut:
    """A hexagon nut; its frame is at its centre, z along its axis, x to the middle of a flat."""

    across_flats: float  # distance between opposite flats [m]
    thickness: float  # length along its axis [m]
    on: str  # name of its initial bolt
    turns: float  # turns to unscrew it from there
    flats: float  # initial roll about the bolt's z, from its x [rad]
    thread: ScrewThread | None = None  # its thread; None if that of its initial bolt

    @property
    def corners(self) -> float:
        """Distance between opposite corners [m]."""
        return self.across_flats / math.cos(math.pi / 6.0)


@dataclass(frozen=True)
class Scene:
    """Everything around the arm, validated."""

    name: str
    file: str  # its file; "" if it was made in code
    bolts: Mapping[str, Bolt]  # by name
    nut: Nut | None  # the nut, or None
    objects: Mapping[str, SceneObject]  # by name
    frames: Mapping[str, Array]  # base_link <- bolt, object or named frame (4, 4), by name
    floor: float = 0.0  # height of the floor, z in base_link [m]
    parents: Mapping[str, str] = field(default_factory=dict)  # parent of each frame

    def bolt(self, name: str) -> Bolt:
        """Return a bolt; for an unknown name raise SceneError with suggestions."""
        return self._named(self.bolts, name, "bolt ")

    def object(self, name: str) -> SceneObject:
        """Return an object, as bolt() does."""
        return self._named(self.objects, name, "")

    def frame(self, name: str) -> Array:
        """Return base_link <- frame (4, 4), as bolt() does; base_link itself is valid."""
        return self._named({BASE_FRAME: np.eye(4), **self.frames}, name, "frame ")

    def _named(self, known: Mapping[str, _Named], name: str, noun: str) -> _Named:
        if name not in known:
            what = f"there is no {noun}'{name}' in the scene; {did_you_mean(name, known)}"
            raise SceneError(what, file=self.file)
        return known[name]

    def require_nut(self) -> Nut:
        """Return the nut; raise SceneError if the scene has none."""
        if self.nut is None:
            raise SceneError("the scene has no nut", file=self.file)
        return self.nut

    @property
    def nut_thread(self) -> ScrewThread:
        """Thread of the nut."""
        nut = self.require_nut()
        return nut.thread or self.bolt(nut.on).thread

    def pin_misfit(self, name: str) -> str:
        """Return why the nut cannot hang on a bolt as a smooth pin, a clause, or "" if it can."""
        pin, nut = self.bolt(name), self.require_nut()
        hole, least = self.nut_thread.internal.minor, nut.thickness + 2.0 * PIN_OVERHANG
        if not pin.is_pin:
            return f"{name} has a thread; a bolt without a pitch is a smooth pin"
        if pin.diameter > hole - _PIN_PLAY:
            what = f"{name} is too thick, {mm(pin.diameter, 2)}, for the nut's hole"
            return f"{what} of {mm(hole, 2)}; at most {mm(hole - _PIN_PLAY, 2)} pass"
        if pin.length < least:
            what = f"{name} is too short, {mm(pin.length, 1)}"
            return f"{what}; the nut needs {mm(least, 1)}"
        return ""

    def misfit(self, bolt: str) -> str:
        """Return why the nut cannot be screwed onto a bolt, a clause, or "" if it fits."""
        if self.bolt(bolt).is_pin:
            return f"{bolt} is a smooth pin; a bolt with a thread has a pitch"
        nut, on = self.nut_thread, self.bolt(bolt).thread
        if on.fits(nut, self.require_nut().thickness / nut.pitch):
            return ""
        return f"the nut, {nut}, does not fit {bolt}, {on}"

    def nut_pose(self, bolt: str, turns: float) -> Array:
        """Return base_link <- nut (4, 4) [m] for a nut screwed onto a bolt by some turns."""
        thread, nut = self.bolt(bolt), self.require_nut()
        centre = thread.depth(turns) - nut.thickness / 2.0
        return thread.pose @ shift_z(centre) @ turn_z(thread.roll(turns))

    def nut_start(self) -> Array:
        """Return the initial base_link <- nut (4, 4) [m]."""
        nut = self.require_nut()
        return self.nut_pose(nut.on, nut.turns)

    def with_bolt(self, name: str, pose: Array) -> Scene:
        """Return this scene with one bolt at base_link <- bolt (4, 4); objects on it stay."""
        bolt = replace(self.bolt(name), pose=read_only(pose))
        frames = {**self.frames, name: bolt.pose}
        return replace(self, bolts={**self.bolts, name: bolt}, frames=frames)

    def shifted(self, name: str, displacement: Array) -> Scene:
        """Return this scene with a frame and all on it shifted by (3,) in base_link [m]."""
        self.frame(name)
        T = pose(p=tuple(displacement))
        frames = {
            k: read_only(T @ F) if self.moves_with(k, name) else F for k, F in self.frames.items()
        }
        bolts = {k: replace(bolt, pose=frames[k]) for k, bolt in self.bolts.items()}
        objects = {k: obj.at(frames[k]) for k, obj in self.objects.items()}
        return replace(self, frames=frames, bolts=bolts, objects=objects)

    def with_frame(self, name: str, T: Array) -> Scene:
        """Return this scene with one more frame at base_link <- frame (4, 4) [m]."""
        return replace(self, frames={**self.frames, name: read_only(T)})

    def with_object(self, name: str, T: Array) -> Scene:
        """Return this scene with one object at base_link <- object (4, 4) [m]."""
        placed = self.object(name).at(T)
        frames = {**self.frames, name: placed.pose}
        return replace(self, objects={**self.objects, name: placed}, frames=frames)

    def without(self, name: str) -> Scene:
        """Return this scene without an object; its frame stays."""
        return replace(self, objects={k: v for k, v in self.objects.items() if k != name})

    def moves_with(self, frame: str, name: str) -> bool:
        """Return whether a frame is the named one or is placed on it, even indirectly."""
        while frame != name and frame in self.parents:
            frame = self.parents[frame]
        return frame == name
