# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A free nut in the jaws: it goes where they go, until it meets the end of a bolt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from arm_tasks.geometry import Array, inverse, shift_z
from arm_tasks.grip import GripRules
from arm_tasks.nut_contact import Contact, ContactRules, contact_with, turns_past_start, why_not
from arm_tasks.scene import Bolt, Nut


class CarriedNut:
    """The nut moves with the tool; pushed against a bolt's end it slides back along the pads.

    Args:
        nut: Its size.
        bolts: Every bolt that it could meet.
        grip: What the jaws forgive.
        start: What the start of a thread forgives.
        T_tool: base_link <- tool0 (4, 4) at the moment of gripping [m].
        T_nut: base_link <- nut (4, 4) at that moment [m].

    Attributes:
        pose: base_link <- nut (4, 4) now [m].
        event: What happened in the last step, one sentence or "".
        dropped: Why the jaws lost it, or "".
        caught: The bolt whose thread it has just caught and by how many turns, or None.
    """

    def __init__(
        self,
        nut: Nut,
        bolts: Iterable[Bolt],
        grip: GripRules,
        start: ContactRules,
        T_tool: Array,
        T_nut: Array,
    ) -> None:
        self.pose = T_nut
        self.event = ""
        self.dropped = ""
        self.caught: tuple[Bolt, float] | None = None
        self._nut = nut
        self._grip = grip
        self._start = start
        self._tool_nut = inverse(T_tool) @ T_nut
        self._near = [(bolt, contact_with(bolt, nut, T_nut)) for bolt in bolts]

    def move(self, T_tool: Array) -> None:
        """Follow the tool to base_link <- tool0 (4, 4), a small step from the last."""
        self.event = ""
        self.pose = T_tool @ self._tool_nut
        for i, (bolt, before) in enumerate(self._near):
            now = self._meet(bolt, before, T_tool)
            self._near[i] = (bolt, now)
            if self.dropped or (now.touching and self._catches(bolt, before, now)):
                return

    def _meet(self, bolt: Bolt, before: Contact, T_tool: Array) -> Contact:
        now = contact_with(bolt, self._nut, self.pose)
        if now.struck and before.beside:
            self.dropped = f"it struck {bolt.name} from the side"
            return now
        if not now.touching or now.overlap <= 0.0:
            return now
        self.pose = bolt.pose @ shift_z(-now.overlap) @ inverse(bolt.pose) @ self.pose
        self._tool_nut = inverse(T_tool) @ self.pose
        if abs(float(self._tool_nut[2, 3])) > self._grip.pad_half:
            self.dropped = f"the end of {bolt.name} pushed it out of the jaws"
        return replace(now, overlap=0.0)

    def _catches(self, bolt: Bolt, before: Contact, now: Contact) -> bool:
        if not before.touching:
            self.event = f"touches the end of {bolt.name}"
            return False
        turns = turns_past_start(bolt, before, now)
        if turns is None:
            return False
        refusal = why_not(now, self._start)
        if refusal:
            self.event = f"does not catch on {bolt.name}: {refusal}"
            return False
        self.caught = (bolt, turns)
        return True
