# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A nut held on a bolt: threaded, it advances as it turns; cross-threaded, it jams."""

from __future__ import annotations

import math

from arm_common.transforms import Array, inverse, tilt_z, turn_z, twist_z, wrap

from arm_tasks.scene.grasp import GRIP
from arm_tasks.scene.nut_state import NutEvent, NutIncident
from arm_tasks.scene.scene import TURN, Bolt, Nut
from arm_tasks.world.free_nut import CONTACT


class _NutOnBolt:
    """A nut on a bolt and in the jaws of a tool at base_link <- tool0 (4, 4) [m]."""

    def __init__(self, bolt: Bolt, T_tool: Array) -> None:
        self.bolt = bolt
        self._to_bolt = inverse(bolt.pose)
        self.grip(T_tool)

    def grip(self, T_tool: Array) -> None:
        """Grip it with the tool at base_link <- tool0 (4, 4)."""
        self.lost = ""  # reason why the jaws lost it, or ""
        self._roll = twist_z((self._to_bolt @ T_tool)[:3, :3])

    def _turned(self, bolt_tool: Array) -> float:
        """Return the turns since the last step of a tool now at bolt <- tool0 (4, 4)."""
        last, self._roll, self.lost = self._roll, twist_z(bolt_tool[:3, :3]), ""
        off = math.hypot(float(bolt_tool[0, 3]), float(bolt_tool[1, 3]))
        tilt = tilt_z(bolt_tool[:3, :3])
        tilt = min(tilt, math.pi - tilt)
        if off > GRIP.held_off_axis:
            self.lost = f"the tool went {off * 1e3:.1f} mm to the side"
        elif tilt > GRIP.held_tilt:
            self.lost = f"the tool tilted by {math.degrees(tilt):.0f} deg"
        return self.bolt.turns_by(wrap(self._roll - last))


class ThreadedNut(_NutOnBolt):
    """A nut whose only degree of freedom is its turns; the tool may slide along its flats."""

    def __init__(self, bolt: Bolt, nut: Nut, turns: float, T_tool: Array) -> None:
        super().__init__(bolt, T_tool)
        self.incident: NutIncident | None = None  # of the last step
        self.turns = turns  # current turns on the thread
        self._nut = nut

    @property
    def free(self) -> bool:
        """True if it has come off the thread."""
        return not self.lost and self.turns <= 0.0

    def move(self, T_tool: Array) -> None:
        """Follow the tool to base_link <- tool0 (4, 4), a small step from the last."""
        bolt_tool = self._to_bolt @ T_tool
        target, most = self.turns + self._turned(bolt_tool), self.bolt.max_turns
        self.incident = None
        if self.lost:
            return
        self.turns = min(max(target, 0.0), most)
        if target > most:
            what = f"tight at the end of {self.bolt.name}: the jaws slip round it"
            self.incident = NutIncident(NutEvent.TIGHT, what)
        centre = self.bolt.depth(self.turns) - self._nut.thickness / 2.0
        slide = float(bolt_tool[2, 3]) - centre
        if abs(slide) > GRIP.pad_half + GRIP.give:
            self.lost = f"the tool is {abs(slide) * 1e3:.1f} mm along the bolt from it"


class CrossThreadedNut(_NutOnBolt):
    """A nut that does not advance: turned further it gets stuck, turned back it comes off.

    It starts to jam at base_link <- nut (4, 4) [m], tilted against the bolt by an angle [rad].
    """

    def __init__(self, bolt: Bolt, pose: Array, tilt: float, T_tool: Array) -> None:
        super().__init__(bolt, T_tool)
        self.pose = self._began = pose  # base_link <- nut (4, 4) now [m]
        askew = f"cross-threaded on {bolt.name}: it is tilted by {math.degrees(tilt):.1f} deg"
        self.message = f"{askew}; turn it back off"
        self.incident = NutIncident(NutEvent.CROSS_THREADED, self.message)
        self._screwed = 0.0

    @property
    def free(self) -> bool:
        """True if it has been turned back off."""
        return not self.lost and self._screwed < 0.0

    def move(self, T_tool: Array) -> None:
        """Follow the tool to base_link <- tool0 (4, 4), a small step from the last."""
        turned = self._screwed + self._turned(self._to_bolt @ T_tool)
        self._screwed = min(turned, CONTACT.slip)
        self.pose = self._began @ turn_z(self.bolt.hand * TURN * self._screwed)
        stuck = NutIncident(NutEvent.STUCK, f"stuck on {self.bolt.name}, cross-threaded")
        jammed = NutIncident(NutEvent.CROSS_THREADED, self.message)
        self.incident = jammed if turned <= CONTACT.slip else stuck
