# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The surroundings of the arm: bolts, a nut and objects as frames in base_link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, pose, shift_z, turn_z
from arm_description.robot_model import read_only

from arm_tasks.errors import SceneError
from arm_tasks.scene.objects import SceneObject
from arm_tasks.scene.screw_thread import ScrewThread

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
            raise SceneError(what, self.file)
        return known[name]

    def require_nut(self) -> Nut:
        """Return the nut; raise SceneError if the scene has none."""
        if self.nut is None:
            raise SceneError("the scene has no nut", self.file)
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
            what = f"{name} is too thick, {pin.diameter * 1e3:.2f} mm, for the nut's hole"
            return f"{what} of {hole * 1e3:.2f} mm; at most {(hole - _PIN_PLAY) * 1e3:.2f} mm pass"
        if pin.length < least:
            what = f"{name} is too short, {pin.length * 1e3:.1f} mm"
            return f"{what}; the nut needs {least * 1e3:.1f} mm"
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
        moved = replace(self.bolt(name), pose=read_only(pose))
        frames = {**self.frames, name: moved.pose}
        return replace(self, bolts={**self.bolts, name: moved}, frames=frames)

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
        moved = self.object(name).at(T)
        frames = {**self.frames, name: moved.pose}
        return replace(self, objects={**self.objects, name: moved}, frames=frames)

    def without(self, name: str) -> Scene:
        """Return this scene without an object; its frame stays."""
        return replace(self, objects={k: v for k, v in self.objects.items() if k != name})

    def moves_with(self, frame: str, name: str) -> bool:
        """Return whether a frame is the named one or is placed on it, even indirectly."""
        while frame != name and frame in self.parents:
            frame = self.parents[frame]
        return frame == name
