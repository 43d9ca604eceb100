# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A nut threaded across: it sits askew on the end of a bolt until it is turned back off."""

from __future__ import annotations

import math

from arm_tasks.geometry import Array, inverse, turn_z, twist_z, wrap
from arm_tasks.grip import GripRules
from arm_tasks.nut_turned import beside
from arm_tasks.scene import Bolt
from arm_tasks.thread import TURN


class JammedNut:
    """It does not advance. Turned on it is stuck soon; turned back it comes off again.

    Args:
        bolt: The bolt.
        rules: What the jaws forgive.
        pose: base_link <- nut (4, 4), as it begins to jam [m].
        tilt: Angle between its axis and the bolt's [rad].
        most: Turns after which it is stuck.
        T_tool: base_link <- tool0 (4, 4) now [m].

    Attributes:
        pose: base_link <- nut (4, 4) now [m].
        event: What happened in the last step, one sentence or "".
        lost: Why the jaws lost it, or "".
    """

    def __init__(
        self, bolt: Bolt, rules: GripRules, pose: Array, tilt: float, most: float, T_tool: Array
    ) -> None:
        self.bolt = bolt
        self.pose = self._began = pose
        self.event = ""
        self.lost = ""
        self.why = (
            f"cross-threaded on {bolt.name}: it is tilted by {math.degrees(tilt):.1f} deg; "
            "turn it back off"
        )
        self._rules = rules
        self._most = most
        self._turned = 0.0
        self._to_bolt = inverse(bolt.pose)
        self.grip(T_tool)

    @property
    def free(self) -> bool:
        """True once it has been turned back off."""
        return not self.lost and self._turned < 0.0

    def grip(self, T_tool: Array) -> None:
        """Take hold of it with the tool at base_link <- tool0 (4, 4)."""
        self.lost = ""
        self._roll = twist_z((self._to_bolt @ T_tool)[:3, :3])

    def move(self, T_tool: Array) -> None:
        """Follow the tool to base_link <- tool0 (4, 4), a small step from the last."""
        bolt_tool = self._to_bolt @ T_tool
        roll = twist_z(bolt_tool[:3, :3])
        turned = self._turned + self.bolt.thread.turns_by(wrap(roll - self._roll))
        self._roll, self._turned = roll, min(turned, self._most)
        self.pose = self._began @ turn_z(self.bolt.hand * TURN * self._turned)
        self.event = self.why if turned <= self._most else f"stuck on {self.bolt.name}, askew"
        self.lost = beside(bolt_tool, self._rules)
