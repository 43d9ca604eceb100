# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The surroundings of the arm: bolts, a nut, objects, all as frames in base_link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, pose, shift_z, turn_z

from arm_tasks.errors import SceneError
from arm_tasks.scene.objects import SceneObject, readonly

BASE_FRAME = "base_link"
NUT_FRAME = "nut"
TURN = 2.0 * math.pi
_Named = TypeVar("_Named")


@dataclass(frozen=True)
class Bolt:
    """A threaded bolt; its frame is at the free end, z into the wall, x as near up as can be.

    A nut's place on it is one number, the turns that it has been screwed on: 0 is where its front
    face is flush with the free end and the first thread is about to catch. Hence
    depth = pitch * turns, roll = start + hand * 2 pi * turns.
    """

    name: str  # also of its tf frame
    pose: Array  # base_link <- bolt (4, 4), read-only [m]
    diameter: float  # major diameter [m]
    length: float  # of the thread from the free end [m]
    pitch: float  # advance per turn [m]
    hand: int = 1  # +1 if a positive turn about +z advances along +z (right-handed), else -1
    # roll about z, from x, at which a nut's first thread catches [rad]; the roll of a nut is that
    # of its own x axis, through the middle of a flat
    start: float = 0.0
    start_known: bool = False  # whether start was measured; else a plan must not rely on it

    @property
    def most_turns(self) -> float:
        """Turns at which the nut's front face meets the end of the thread."""
        return self.length / self.pitch

    def depth(self, turns: float) -> float:
        """Return how far the nut's front face is past the free end [m]."""
        return self.pitch * turns

    def roll(self, turns: float) -> float:
        """Return the nut's roll about z [rad], not wrapped."""
        return self.start + self.hand * TURN * turns

    def turns_by(self, roll: float) -> float:
        """Return how many turns on (positive) or off (negative) a rotation about z makes."""
        return self.hand * roll / TURN

    def engaged(self, turns: float, nut_thickness: float) -> float:
        """Return how many turns of thread are inside the nut: 0 to the nut's own number."""
        return min(max(turns, 0.0), nut_thickness / self.pitch)


@dataclass(frozen=True)
class Nut:
    """A hexagon nut; its frame is at its centre, z along its axis, x to the middle of a flat."""

    across_flats: float  # distance of opposite flats [m]
    thickness: float  # length along its axis [m]
    on: str  # name of the bolt it starts on
    turns: float  # turns that unscrew it from there
    flats: float  # its roll at the start, about the bolt's z from the bolt's x [rad]


@dataclass(frozen=True)
class Scene:
    """Everything around the arm, checked."""

    name: str
    file: str  # where it was read from; "" if it was made in code
    bolts: Mapping[str, Bolt]  # by name
    nut: Nut | None  # the nut, or None
    things: Mapping[str, SceneObject]  # by name
    frames: Mapping[str, Array]  # base_link <- bolt, thing or named frame (4, 4), by name
    floor: float = 0.0  # height of the floor on which things fall, z in base_link [m]
    parents: Mapping[str, str] = field(default_factory=dict)  # frame that each frame is placed on

    def bolt(self, name: str) -> Bolt:
        """Return a bolt; an unknown name is a SceneError that lists those there are."""
        return self._named(self.bolts, name, "bolt ")

    def thing(self, name: str) -> SceneObject:
        """Return a thing, as bolt() does."""
        return self._named(self.things, name, "")

    def frame(self, name: str) -> Array:
        """Return base_link <- frame (4, 4), as bolt() does; base_link itself is known."""
        return self._named({BASE_FRAME: np.eye(4), **self.frames}, name, "frame ")

    def _named(self, those: Mapping[str, _Named], name: str, noun: str) -> _Named:
        if name not in those:
            what = f"there is no {noun}'{name}' in the scene; {did_you_mean(name, those)}"
            raise SceneError(what, self.file)
        return those[name]

    def the_nut(self) -> Nut:
        """Return the nut; a scene without one is a SceneError."""
        if self.nut is None:
            raise SceneError("the scene has no nut", self.file)
        return self.nut

    def nut_pose(self, bolt: str, turns: float) -> Array:
        """Return base_link <- nut (4, 4) [m] for a nut screwed onto a bolt by so many turns."""
        it, nut = self.bolt(bolt), self.the_nut()
        centre = it.depth(turns) - nut.thickness / 2.0
        return it.pose @ shift_z(centre) @ turn_z(it.roll(turns))

    def nut_start(self) -> Array:
        """Return base_link <- nut (4, 4) [m] where the nut is at first."""
        nut = self.the_nut()
        return self.nut_pose(nut.on, nut.turns)

    def with_bolt(self, name: str, pose: Array) -> Scene:
        """Return this scene with one bolt at base_link <- bolt (4, 4); objects on it stay."""
        moved = replace(self.bolt(name), pose=readonly(pose))
        frames = {**self.frames, name: moved.pose}
        return replace(self, bolts={**self.bolts, name: moved}, frames=frames)

    def moved(self, name: str, way: Array) -> Scene:
        """Return this scene with a frame and all on it moved by (3,) along base_link's axes."""
        self.frame(name)
        T = pose(p=tuple(way))
        frames = {
            k: readonly(T @ F) if self.moves_with(k, name) else F for k, F in self.frames.items()
        }
        bolts = {k: replace(bolt, pose=frames[k]) for k, bolt in self.bolts.items()}
        things = {k: thing.at(frames[k]) for k, thing in self.things.items()}
        return replace(self, frames=frames, bolts=bolts, things=things)

    def with_thing(self, name: str, T: Array) -> Scene:
        """Return this scene with one object at base_link <- object (4, 4) [m]."""
        moved = self.thing(name).at(T)
        frames = {**self.frames, name: moved.pose}
        return replace(self, things={**self.things, name: moved}, frames=frames)

    def without(self, name: str) -> Scene:
        """Return this scene without an object; its frame stays."""
        return replace(self, things={k: v for k, v in self.things.items() if k != name})

    def moves_with(self, frame: str, name: str) -> bool:
        """Return whether a frame is another one, or placed on it, directly or not."""
        while frame != name and frame in self.parents:
            frame = self.parents[frame]
        return frame == name
