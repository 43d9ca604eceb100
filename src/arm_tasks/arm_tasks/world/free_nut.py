# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A nut in the jaws and on no thread: it moves with the tool until it meets the tip of a bolt.

Pressed on the tip by a compliant arm it drags, finds the tip, slides off, or catches the thread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, inverse, pose, tilt_z, twist_z, wrap

from arm_tasks.scene.grasp import GRIP, seated
from arm_tasks.scene.nut_state import NutEvent, NutIncident
from arm_tasks.scene.scene import TURN, Bolt, Nut

_TOUCH = 1e-5  # faces nearer than this touch [m]
_EXACT = 1e-9  # a start that was left by rounding alone counts as not passed [turns]
_SIDE_DEPTH = 5e-4  # a nut that is further in without having come over the end came from the side


@dataclass(frozen=True)
class ContactRules:
    """When a nut finds the end of a bolt and its thread catches; lengths [m], angles [rad].

    A bolt's tip is chamfered to below the minor diameter (4.8 mm for 1/4-20, ASME B18.2.1), a nut
    countersunk to 1.05 to 1.15 times the major diameter (6.7 to 7.3 mm, ASME B18.2.2): a tip that
    is less than half the difference aside is inside the mouth, and pressing centres it.
    """

    mouth: float = 1.1e-3  # so far aside the tip still is inside the countersink
    friction: float = 0.2  # of steel on steel; also the nut's lag behind a soft arm [m/m pressed]
    slope: float = math.radians(30.0)  # of the countersink's cone; 120 degrees across
    seat_tilt: float = math.radians(15.0)  # largest at which the tip finds the mouth
    # largest angle at which the thread starts straight: half a pitch over the diameter
    tilt: float = math.radians(5.7)
    slip: float = 0.25  # turns of a cross-threaded nut before it is stuck

    def hold(self, pressed: float) -> float:
        """Return how far aside a seated nut may be pulled, pressed so far by a soft arm [m]."""
        return self.mouth + pressed * math.tan(self.slope + math.atan(self.friction))


CONTACT = ContactRules()


@dataclass(frozen=True)
class BoltTipContact:
    """Relative position of the nut and one bolt."""

    overlap: float  # how far the nut's front face is past the free end [m]; negative before it
    off_axis: float  # distance of the nut's centre from the bolt's axis [m]
    tilt: float  # angle between the two axes [rad]
    roll: float  # the nut's roll about the bolt's z [rad]
    beside: bool  # whether the nut passes by the bolt's end without meeting it
    aside: tuple[float, float]  # (x, y) of the nut's centre in the bolt's frame [m]

    @property
    def touching(self) -> bool:
        """True if the nut's face is on the bolt's end, or past it."""
        return not self.beside and self.overlap >= -_TOUCH

    @property
    def struck(self) -> bool:
        """True if the nut is deeper than a step of motion over the end can explain."""
        return not self.beside and self.overlap > _SIDE_DEPTH


def contact_with(bolt: Bolt, nut: Nut, T_nut: Array) -> BoltTipContact:
    """Return the contact of a nut at base_link <- nut (4, 4) with a bolt."""
    bolt_nut = inverse(bolt.pose) @ T_nut
    x, y, z = (float(v) for v in bolt_nut[:3, 3])
    off = math.hypot(x, y)
    beyond = z - nut.thickness / 2.0 > bolt.length
    beside = beyond or off > (nut.across_flats + bolt.diameter) / 2.0
    R = bolt_nut[:3, :3]
    return BoltTipContact(z + nut.thickness / 2.0, off, tilt_z(R), twist_z(R), beside, (x, y))


def turns_past_start(bolt: Bolt, before: BoltTipContact, now: BoltTipContact) -> float | None:
    """Return how many turns the nut went past the place where the thread catches.

    None if it was not passed in the direction that screws on. The nut touches the bolt before and
    now, one step later.
    """
    turned = bolt.turns_by(wrap(now.roll - before.roll))
    if turned <= 0.0:
        return None
    to_go = (bolt.hand * (bolt.start - before.roll) / TURN) % 1.0
    to_go = 0.0 if to_go > 1.0 - _EXACT else to_go
    return turned - to_go if turned >= to_go else None


@dataclass
class BoltEnd:
    """One bolt's end and the nut on it, step by step.

    The arm is a spring, as stiff across the bolt as along it: forces are given as deflections.
    """

    bolt: Bolt
    nut: Nut
    free: BoltTipContact  # contact if nothing were in the nut's way, one step ago
    # (x, y) of the nut's centre in the bolt's frame while it touches [m], or None
    at: Array | None = None
    seated: bool = False  # whether the tip is in the nut's countersink
    incident: NutIncident | None = None  # in the last step

    def __post_init__(self) -> None:
        if self.free.touching:  # it has just come off this bolt
            self.at, self.seated = np.array(self.free.aside), True

    def press(self, T_nut: Array) -> Array:
        """Return the actual pose of the nut, for base_link <- nut (4, 4) if nothing were there."""
        self.incident = None
        self.free = now = contact_with(self.bolt, self.nut, T_nut)
        if not now.touching:
            self.at, self.seated = None, False
            return T_nut
        goal = np.array(now.aside)
        pressed = max(now.overlap, 0.0)
        if self.at is None:
            self.at = goal
            self._report(NutEvent.TOUCHED_TIP, "touches the end of")
        way, drag = goal - self.at, CONTACT.friction * pressed
        length = float(np.linalg.norm(way))
        self.at = self.at if length <= drag else np.asarray(goal - way * (drag / length))
        self._seat(now, goal, pressed)
        x, y = self.at
        here = inverse(self.bolt.pose) @ T_nut
        back = pose(p=(float(x) - now.aside[0], float(y) - now.aside[1], -pressed))
        return np.asarray(self.bolt.pose @ back @ here)

    def _seat(self, now: BoltTipContact, goal: Array, pressed: float) -> None:
        if self.seated and now.off_axis > CONTACT.hold(pressed):
            self.seated, self.at = False, goal
            self._report(NutEvent.SLID_OFF_TIP, "slid off the tip of")
        found = float(np.linalg.norm(self.at)) <= CONTACT.mouth  # type: ignore[arg-type]
        if not self.seated and found and now.tilt <= CONTACT.seat_tilt:
            self.seated = True
            if self.incident is None:
                self._report(NutEvent.SEATED, "sits on the tip of")
        if self.seated:
            self.at = np.zeros(2)

    def _report(self, event: NutEvent, what: str) -> None:
        self.incident = NutIncident(event, f"{what} {self.bolt.name}")

    @property
    def refusal(self) -> str:
        """Why the thread cannot catch, or ""."""
        assert self.at is not None
        if self.seated:
            return ""
        if self.free.tilt > CONTACT.seat_tilt:
            tilt, most = (math.degrees(v) for v in (self.free.tilt, CONTACT.seat_tilt))
            return f"it is tilted by {tilt:.1f} deg, at most {most:.1f} is possible"
        off, most = float(np.linalg.norm(self.at)) * 1e3, CONTACT.mouth * 1e3
        return f"its axis is {off:.1f} mm beside the bolt's, at most {most:.1f} is possible"


class FreeNut:
    """A nut that moves with the tool; pressed on a tip the arm gives, then the nut slides.

    It has just become free, with the tool at base_link <- tool0 and the nut at base_link <- nut
    (4, 4) [m], and could meet any of the bolts.
    """

    def __init__(self, nut: Nut, bolts: Iterable[Bolt], T_tool: Array, T_nut: Array) -> None:
        self.incident: NutIncident | None = None  # of the last step
        self.dropped: NutIncident | None = None  # if the jaws lost it
        self.caught: tuple[Bolt, float] | None = None  # whose thread it caught and by what turns
        self.across: tuple[Bolt, float] | None = None  # on which it is cross-threaded, and tilt
        self._tool_nut = seated(T_tool, T_nut)
        self.pose = T_tool @ self._tool_nut
        self._ends = [BoltEnd(b, nut, contact_with(b, nut, self.pose)) for b in bolts]

    def move(self, T_tool: Array) -> None:
        """Follow the tool to base_link <- tool0 (4, 4), a small step from the last."""
        self.incident = None
        target = T_tool @ self._tool_nut
        for end in self._ends:
            before = end.free
            self.pose = end.press(target)
            now = end.free
            self.incident = self.incident or end.incident
            if now.struck and before.beside:
                struck = f"it struck {end.bolt.name} from the side"
                self.dropped = NutIncident(NutEvent.STRUCK_BOLT, struck)
            elif now.touching:
                self._slide(end.bolt, now.overlap, T_tool, target)
                self._turn(end, before, now)
            if self.dropped or now.touching:
                return

    def _slide(self, bolt: Bolt, pressed: float, T_tool: Array, target: Array) -> None:
        """Let the nut slide back along the pads by what the arm does not give."""
        slide = pressed - GRIP.give
        if slide <= 0.0:
            return
        back = pose(p=tuple(-slide * bolt.pose[:3, 2]))
        self._tool_nut = inverse(T_tool) @ back @ target
        if abs(float(self._tool_nut[2, 3])) > GRIP.pad_half:
            pushed = f"the end of {bolt.name} pushed it out of the jaws"
            self.dropped = NutIncident(NutEvent.PUSHED_OUT, pushed)

    def _turn(self, end: BoltEnd, before: BoltTipContact, now: BoltTipContact) -> None:
        """Check whether the start of the thread was passed, and what follows from it."""
        if not before.touching:
            return
        bolt = end.bolt
        turns = turns_past_start(bolt, before, now)
        if turns is None:
            if end.seated and turns_past_start(bolt, now, before) is not None:
                what = f"clicks on {bolt.name}: turned back past the start of the thread"
                self.incident = NutIncident(NutEvent.CLICKED, what)
        elif end.refusal:
            what = f"does not catch on {bolt.name}: {end.refusal}"
            self.incident = NutIncident(NutEvent.NOT_CAUGHT, what)
        elif now.tilt > CONTACT.tilt:
            self.across = bolt, now.tilt
        else:
            self.caught = bolt, turns
