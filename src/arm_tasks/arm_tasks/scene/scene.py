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
from arm_tasks.scene.objects import SceneObject

TURN = 2.0 * math.pi
_Named = TypeVar("_Named")


@dataclass(frozen=True)
class ScrewThread:
    """The thread of a bolt whose z axis runs from its free end inwards.

    A nut's place on it is one number, the turns that it has been screwed on: 0 is where its front
    face is flush with the free end and the first thread is about to catch. Hence
    depth = pitch * turns, roll = start + hand * 2 pi * turns.
    """

    pitch: float  # advance per turn [m]
    length: float  # length of the thread, from the free end to where it stops [m]
    hand: int = 1  # +1 if a positive turn about +z advances along +z (right-handed), else -1
    start: float = 0.0  # roll of the nut, about z from the bolt's x, at 0 turns [rad]

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


BASE_FRAME = "base_link"


@dataclass(frozen=True)
class Bolt:
    """A threaded bolt; its frame is at the free end, z into the wall, x as near up as can be."""

    name: str  # name, also of its tf frame
    pose: Array  # base_link <- bolt (4, 4), read-only [m]
    diameter: float  # major diameter [m]
    length: float  # length of the thread from the free end [m]
    pitch: float  # advance per turn [m]
    hand: int = 1  # +1 right-handed, -1 left-handed
    # roll about z, from x, at which a nut's first thread catches [rad]; the roll of a nut is that
    # of its own x axis, through the middle of a flat
    start: float = 0.0
    start_known: bool = False  # whether start was measured; else a plan must not rely on it

    @property
    def thread(self) -> ScrewThread:
        """The bolt's thread."""
        return ScrewThread(self.pitch, self.length, self.hand, self.start)


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

    name: str  # name of the scene
    file: str  # where it was read from; "" if it was made in code
    bolts: Mapping[str, Bolt]  # by name
    nut: Nut | None  # the nut, or None
    things: Mapping[str, SceneObject]  # by name
    # base_link <- frame (4, 4) of every bolt, thing and named frame, by name
    frames: Mapping[str, Array]
    floor: float = 0.0  # height of the floor on which things fall, z in base_link [m]
    # the frame that each frame was placed on, by name
    parents: Mapping[str, str] = field(default_factory=dict)

    def bolt(self, name: str) -> Bolt:
        """Return a bolt by name.

        Raises:
            SceneError: There is no such bolt; the text lists those there are.
        """
        return self._named(self.bolts, name, "bolt ")

    def thing(self, name: str) -> SceneObject:
        """Return a thing by name.

        Raises:
            SceneError: There is no such thing; the text lists those there are.
        """
        return self._named(self.things, name, "")

    def frame(self, name: str) -> Array:
        """Return base_link <- frame (4, 4); base_link itself is known.

        Raises:
            SceneError: There is no such frame; the text lists those there are.
        """
        return self._named({BASE_FRAME: np.eye(4), **self.frames}, name, "frame ")

    def _named(self, those: Mapping[str, _Named], name: str, noun: str) -> _Named:
        if name not in those:
            what = f"there is no {noun}'{name}' in the scene; {did_you_mean(name, those)}"
            raise SceneError(what, self.file)
        return those[name]

    def the_nut(self) -> Nut:
        """Return the nut.

        Raises:
            SceneError: The scene has none.
        """
        if self.nut is None:
            raise SceneError("the scene has no nut", self.file)
        return self.nut

    def nut_pose(self, bolt: str, turns: float) -> Array:
        """Return base_link <- nut (4, 4) [m] for a nut screwed onto a bolt by so many turns."""
        it, nut = self.bolt(bolt), self.the_nut()
        centre = it.thread.depth(turns) - nut.thickness / 2.0
        return it.pose @ shift_z(centre) @ turn_z(it.thread.roll(turns))

    def nut_start(self) -> Array:
        """Return base_link <- nut (4, 4) [m] where the nut is at first."""
        nut = self.the_nut()
        return self.nut_pose(nut.on, nut.turns)

    def with_bolt(self, name: str, pose: Array) -> Scene:
        """Return this scene with one bolt at another pose; objects placed on it stay.

        Args:
            name: The bolt.
            pose: base_link <- bolt (4, 4) [m].
        """
        moved = replace(self.bolt(name), pose=readonly(pose))
        frames = {**self.frames, name: moved.pose}
        return replace(self, bolts={**self.bolts, name: moved}, frames=frames)

    def moved(self, name: str, way: Array) -> Scene:
        """Return this scene with a frame and all that is placed on it moved.

        Args:
            name: The frame; bolts and things are frames too.
            way: Displacement (3,) along the axes of base_link [m].
        """
        self.frame(name)
        T = pose(p=tuple(way))
        frames = {
            k: readonly(T @ F) if self.moves_with(k, name) else F for k, F in self.frames.items()
        }
        bolts = {k: replace(bolt, pose=frames[k]) for k, bolt in self.bolts.items()}
        things = {k: thing.at(frames[k]) for k, thing in self.things.items()}
        return replace(self, frames=frames, bolts=bolts, things=things)

    def with_thing(self, name: str, T: Array) -> Scene:
        """Return this scene with one object at another pose, base_link <- object (4, 4) [m]."""
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


def readonly(T: Array) -> Array:
    """Return a read-only copy."""
    copy = np.array(T, dtype=np.float64)
    copy.setflags(write=False)
    return copy
