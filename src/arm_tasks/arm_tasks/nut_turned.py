# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A nut on a thread and in the jaws: the tool's rotation turns it, the thread moves it along."""

from __future__ import annotations

import math

from arm_tasks.geometry import Array, inverse, tilt_z, twist_z, wrap
from arm_tasks.grip import GripRules
from arm_tasks.scene import Bolt, Nut


class TurnedNut:
    """The nut's only freedom on a thread is its turns; the tool may slide along its flats.

    Args:
        bolt: The bolt that it is on.
        nut: Its size.
        rules: What the jaws forgive.
        turns: How far it is screwed on.
        T_tool: base_link <- tool0 (4, 4) at the moment of gripping [m].

    Attributes:
        turns: How far it is screwed on now, 0 to the end of the thread.
        event: What happened in the last step, one sentence or "".
        lost: Why the jaws lost it, or "".
    """

    def __init__(
        self, bolt: Bolt, nut: Nut, rules: GripRules, turns: float, T_tool: Array
    ) -> None:
        self.bolt = bolt
        self.turns = turns
        self.event = ""
        self.lost = ""
        self._nut = nut
        self._rules = rules
        self._to_bolt = inverse(bolt.pose)
        self._roll = twist_z((self._to_bolt @ T_tool)[:3, :3])

    @property
    def free(self) -> bool:
        """True once the last thread has let it go."""
        return not self.lost and self.turns <= 0.0

    def move(self, T_tool: Array) -> None:
        """Follow the tool to base_link <- tool0 (4, 4), a small step from the last."""
        bolt_tool = self._to_bolt @ T_tool
        roll = twist_z(bolt_tool[:3, :3])
        turned = self.bolt.thread.turns_by(wrap(roll - self._roll))
        self._roll = roll
        self.event = ""
        self.lost = beside(bolt_tool, self._rules)
        if self.lost:
            return
        wanted, most = self.turns + turned, self.bolt.thread.most_turns
        self.turns = min(max(wanted, 0.0), most)
        if wanted > most:
            self.event = f"tight at the end of {self.bolt.name}: the jaws slip round it"
        centre = self.bolt.thread.depth(self.turns) - self._nut.thickness / 2.0
        slide = float(bolt_tool[2, 3]) - centre
        if abs(slide) > self._rules.pad_half + self._rules.give:
            self.lost = f"the tool is {abs(slide) * 1e3:.1f} mm along the bolt from it"


def beside(bolt_tool: Array, rules: GripRules) -> str:
    """Return why jaws at bolt <- tool0 (4, 4) lose a nut that the bolt holds, or ""."""
    off = math.hypot(float(bolt_tool[0, 3]), float(bolt_tool[1, 3]))
    tilt = tilt_z(bolt_tool[:3, :3])
    tilt = min(tilt, math.pi - tilt)
    if off > rules.held_off_axis:
        return f"the tool went {off * 1e3:.1f} mm to the side"
    if tilt > rules.held_tilt:
        return f"the tool tilted by {math.degrees(tilt):.0f} deg"
    return ""
