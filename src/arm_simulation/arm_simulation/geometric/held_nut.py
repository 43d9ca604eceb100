# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/geometric/test_world.py
"""A nut in the jaws: on a thread it advances as it turns; off it, it moves with the tool.

Pressed on a bolt by a compliant arm it drags, centres, slides off, or catches the thread.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, inverse, pose, tilt_z, twist_z, wrap
from arm_description.model.units import deg, mm
from arm_tasks.scene.grasp import GRIP, seated
from arm_tasks.scene.nut_state import NutEvent, NutIncident
from arm_tasks.scene.scene import CATCH_TURNS, TURN, Bolt, Nut, Scene
from arm_tasks.scene.screw_thread import ScrewThread

_TOUCH = 1e-5  # faces within this distance touch [m]
_EXACT = 1e-9  # tolerance of rounding at the start of the thread [turns]
_SIDE_DEPTH = 5e-4  # a nut that is deeper without having passed the end came from the side [m]


@dataclass(frozen=True)
class ContactRules:
    """Rules of contact between nut and bolt tip; lengths [m], angles [rad].

    The mouth of the nut and the tilt at which the thread starts follow from the thread
    (ScrewThread).
    """

    friction: float = 0.2  # steel on steel; also the lag of the nut per pressed length
    slope: float = math.radians(30.0)  # slope of the countersink, a cone of 120 degrees
    # Greatest depth of a tip in a nut that a straight pull takes off: in contact physics all come
    # off at 1.5 mm and none at 2 mm (jaws of 10 N; ./arm bench contact_rules --only pull).
    pull_depth: float = 1.75e-3

    # Chamfer of a pin over its diameter that counts. With 0.25, contact physics push a nut over a
    # pin of 4 mm to 2 mm beside its axis (./arm bench contact_rules --only pin).
    pin_chamfer: float = 0.25

    def max_offset(self, mouth: float, pressed: float) -> float:
        """Return the largest lateral offset of a seated nut for its mouth and a pressed length."""
        return mouth + pressed * math.tan(self.slope + math.atan(self.friction))


CONTACT = ContactRules()


@dataclass(frozen=True)
class BoltTipContact:
    """Relative position of the nut and one bolt."""

    overlap: float  # depth of the nut's front face past the free end [m]; negative before it
    off_axis: float  # distance of the nut's centre from the bolt's axis [m]
    tilt: float  # angle between the two axes [rad]
    roll: float  # the nut's roll about the bolt's z [rad]
    beside: bool  # whether the nut is beside the bolt's end
    offset: tuple[float, float]  # (x, y) of the nut's centre in the bolt's frame [m]

    @property
    def touching(self) -> bool:
        """True if the nut's face is on the bolt's end or past it."""
        return not self.beside and self.overlap >= -_TOUCH

    @property
    def struck(self) -> bool:
        """True if the nut is deeper than one step over the end can explain."""
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


def pin_holds(pin: Bolt, nut: Nut, thread: ScrewThread, T_nut: Array) -> bool:
    """Return whether a pin holds a nut at base_link <- nut (4, 4) when it is released.

    Its end is past the nut's middle; its chamfer, at least a quarter of its diameter, has found
    the nut's countersink, as the arm yields.
    """
    at = contact_with(pin, nut, T_nut)
    aside = (thread.countersink - pin.diameter + CONTACT.pin_chamfer * pin.diameter) / 2.0
    deep = at.overlap >= nut.thickness / 2.0 and not at.beside
    return deep and at.off_axis <= aside and at.tilt <= GRIP.tilt


def turns_past_start(bolt: Bolt, before: BoltTipContact, now: BoltTipContact) -> float | None:
    """Return the turns of the nut past the start of the thread within one step.

    It is None if the start was not passed in the direction that screws on. The nut touches the
    bolt before and after the step.
    """
    turned = bolt.turns_by(wrap(now.roll - before.roll))
    if turned <= 0.0:
        return None
    to_go = (bolt.hand * (bolt.start - before.roll) / TURN) % 1.0
    to_go = 0.0 if to_go > 1.0 - _EXACT else to_go
    return turned - to_go if turned >= to_go else None


@dataclass
class BoltEnd:
    """Contact of the nut with the end of one bolt, updated step by step.

    The arm is a spring, equally stiff along and across the bolt: forces are given as deflections.
    """

    bolt: Bolt
    nut: Nut
    thread: ScrewThread  # of the nut
    misfit: str  # why the nut does not fit the bolt, or ""
    free: BoltTipContact  # contact in the last step if the nut were unobstructed
    # (x, y) of the nut's centre in the bolt's frame while it touches [m], or None
    position: Array | None = None
    seated: bool = False  # whether the tip is in the nut's countersink
    incident: NutIncident | None = None  # in the last step

    def __post_init__(self) -> None:
        if self.free.touching:  # the nut has just come off this bolt
            self.position, self.seated = np.array(self.free.offset), True

    def press(self, T_nut: Array) -> Array:
        """Return the actual pose of the nut from its unobstructed base_link <- nut (4, 4)."""
        self.incident = None
        self.free = now = contact_with(self.bolt, self.nut, T_nut)
        if not now.touching:
            self.position, self.seated = None, False
            return T_nut
        goal = np.array(now.offset)
        pressed = max(now.overlap, 0.0)
        if self.position is None:
            self.position = goal
            self._report(NutEvent.TOUCHED_TIP, "touches the end of")
        offset, drag = goal - self.position, CONTACT.friction * pressed
        length = float(np.linalg.norm(offset))
        self.position = (
            self.position if length <= drag else np.asarray(goal - offset * (drag / length))
        )
        self._seat(now, goal, pressed)
        x, y = self.position
        bolt_nut = inverse(self.bolt.pose) @ T_nut
        back = pose(p=(float(x) - now.offset[0], float(y) - now.offset[1], -pressed))
        return np.asarray(self.bolt.pose @ back @ bolt_nut)

    def _seat(self, now: BoltTipContact, goal: Array, pressed: float) -> None:
        if self.seated and now.off_axis > CONTACT.max_offset(self.thread.mouth, pressed):
            self.seated, self.position = False, goal
            self._report(NutEvent.SLID_OFF_TIP, "slid off the tip of")
        off = float(np.linalg.norm(self.position))  # type: ignore[arg-type]
        found = off <= self.thread.mouth
        if not self.seated and found:
            self.seated = True
            if self.incident is None:
                self._report(NutEvent.SEATED, "sits on the tip of")
        if self.seated:
            self.position = np.zeros(2)

    def _report(self, event: NutEvent, what: str) -> None:
        self.incident = NutIncident(event, f"{what} {self.bolt.name}")

    @property
    def catch_problem(self) -> str:
        """Reason why the thread cannot catch, or ""."""
        assert self.position is not None
        if self.misfit:
            return self.misfit
        if self.free.tilt > self.thread.starting_tilt:
            tilt, most = (math.degrees(v) for v in (self.free.tilt, self.thread.starting_tilt))
            return f"it is tilted by {tilt:.1f} deg; at most {most:.1f} is possible"
        if self.seated:
            return ""
        off, most = float(np.linalg.norm(self.position)) * 1e3, self.thread.mouth * 1e3
        return f"its axis is {off:.1f} mm beside the bolt's; at most {most:.1f} is possible"


class FreeNut:
    """A nut that moves with the tool; pressed on a tip, first the arm yields, then the nut slides.

    Initially the tool is at base_link <- tool0 and the nut of a scene at base_link <- nut (4, 4)
    [m]; the nut may touch any of the bolts.
    """

    def __init__(self, scene: Scene, T_tool: Array, T_nut: Array) -> None:
        self.incident: NutIncident | None = None  # of the last step
        self.dropped: NutIncident | None = None  # set if the jaws lost the nut
        self.caught: tuple[Bolt, float] | None = None  # bolt whose thread it caught, and turns
        self._tool_nut = seated(T_tool, T_nut)
        self.pose = T_tool @ self._tool_nut
        nut, thread = scene.require_nut(), scene.nut_thread
        self._ends = [
            BoltEnd(bolt, nut, thread, scene.misfit(name), contact_with(bolt, nut, self.pose))
            for name, bolt in scene.bolts.items()
            if not bolt.is_pin
        ]

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
        """Let the nut slide along the pads as far as the arm does not yield."""
        slide = pressed - GRIP.give
        if slide <= 0.0:
            return
        back = pose(p=tuple(-slide * bolt.pose[:3, 2]))
        self._tool_nut = inverse(T_tool) @ back @ target
        if abs(float(self._tool_nut[2, 3])) > GRIP.pad_half:
            pushed = f"the end of {bolt.name} pushed it out of the jaws"
            self.dropped = NutIncident(NutEvent.PUSHED_OUT, pushed)

    def _turn(self, end: BoltEnd, before: BoltTipContact, now: BoltTipContact) -> None:
        """Check whether the start of the thread was passed and update the state of the nut."""
        if not before.touching:
            return
        bolt = end.bolt
        turns = turns_past_start(bolt, before, now)
        if turns is None:
            if end.seated and turns_past_start(bolt, now, before) is not None:
                what = f"clicks on {bolt.name}: turned back past the start of the thread"
                self.incident = NutIncident(NutEvent.CLICKED, what)
        elif end.catch_problem:
            what = f"does not catch on {bolt.name}: {end.catch_problem}"
            self.incident = NutIncident(NutEvent.NOT_CAUGHT, what)
        else:
            self.caught = bolt, CATCH_TURNS + turns


class ThreadedNut:
    """A nut whose only degree of freedom is its turns; the tool may slide along its flats.

    The tool is at base_link <- tool0 (4, 4) [m] when it grips.
    """

    def __init__(self, bolt: Bolt, nut: Nut, turns: float, T_tool: Array) -> None:
        self.bolt = bolt
        self.lost = ""  # reason why the jaws lost it, or ""
        self.incident: NutIncident | None = None  # of the last step
        self.turns = turns  # current turns on the thread
        self.pulled = False  # whether it was pulled straight off, without turning
        self._nut = nut
        self._to_bolt = inverse(bolt.pose)
        self._roll = twist_z((self._to_bolt @ T_tool)[:3, :3])

    @property
    def free(self) -> bool:
        """True if it has come off the thread."""
        return not self.lost and (self.pulled or self.turns <= 0.0)

    def move(self, T_tool: Array) -> None:
        """Follow the tool to base_link <- tool0 (4, 4), a small step from the last."""
        bolt_tool = self._to_bolt @ T_tool
        target, most = self.turns + self._turned(bolt_tool), self.bolt.max_turns
        self.incident, self.lost = None, self._lateral_loss(bolt_tool)
        if self.lost:
            return
        self.turns = min(max(target, 0.0), most)
        if target > most:
            what = f"tight at the end of {self.bolt.name}: the jaws slip round it"
            self.incident = NutIncident(NutEvent.TIGHT, what)
        depth = self.bolt.depth(self.turns)
        slide = float(bolt_tool[2, 3]) - (depth - self._nut.thickness / 2.0)
        if slide < -GRIP.give and depth <= CONTACT.pull_depth:
            self.pulled = True
        elif abs(slide) > GRIP.pad_half + GRIP.give:
            self.lost = f"the tool is {mm(abs(slide), 1)} along the bolt from it"

    def _turned(self, bolt_tool: Array) -> float:
        """Return the turns since the last step of a tool now at bolt <- tool0 (4, 4)."""
        last, self._roll = self._roll, twist_z(bolt_tool[:3, :3])
        return self.bolt.turns_by(wrap(self._roll - last))

    def _lateral_loss(self, bolt_tool: Array) -> str:
        """Return why the jaws lose a nut when the tool leaves the bolt's axis, or ""."""
        off = math.hypot(float(bolt_tool[0, 3]), float(bolt_tool[1, 3]))
        tilt = tilt_z(bolt_tool[:3, :3])
        tilt = min(tilt, math.pi - tilt)
        if off > GRIP.held_off_axis:
            return f"the tool went {mm(off, 1)} to the side"
        if tilt > GRIP.held_tilt:
            return f"the tool tilted by {deg(tilt, 0)}"
        return ""
