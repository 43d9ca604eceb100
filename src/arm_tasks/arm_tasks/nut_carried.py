# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A free nut in the jaws: it goes where they go, until it meets the end of a bolt."""

from __future__ import annotations

from collections.abc import Iterable

from arm_tasks.geometry import Array, inverse, pose
from arm_tasks.grip import GripRules, seated
from arm_tasks.nut_contact import Contact, ContactRules, contact_with, turns_past_start
from arm_tasks.nut_end import BoltEnd
from arm_tasks.scene import Bolt, Nut


class CarriedNut:
    """The nut moves with the tool; pressed on a bolt's end the arm gives, then the nut slides.

    Args:
        nut: Its size.
        bolts: Every bolt that it could meet.
        grip: What the jaws forgive.
        start: What the start of a thread forgives.
        T_tool: base_link <- tool0 (4, 4) at the moment that it is free in the jaws [m].
        T_nut: base_link <- nut (4, 4) at that moment [m].

    Attributes:
        pose: base_link <- nut (4, 4) now [m].
        event: What happened in the last step, one sentence or "".
        dropped: Why the jaws lost it, or "".
        caught: The bolt whose thread it has just caught and by how many turns, or None.
        across: The bolt on which it has just been threaded across and its tilt [rad], or None.
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
        self.event = ""
        self.dropped = ""
        self.caught: tuple[Bolt, float] | None = None
        self.across: tuple[Bolt, float] | None = None
        self._grip = grip
        self._start = start
        self._tool_nut = seated(T_tool, T_nut, grip)
        self.pose = T_tool @ self._tool_nut
        self._ends = [
            BoltEnd(bolt, nut, start, contact_with(bolt, nut, self.pose)) for bolt in bolts
        ]

    def move(self, T_tool: Array) -> None:
        """Follow the tool to base_link <- tool0 (4, 4), a small step from the last."""
        self.event = ""
        wanted = T_tool @ self._tool_nut
        for end in self._ends:
            before = end.wanted
            self.pose = end.press(wanted)
            now = end.wanted
            self.event = self.event or end.event
            if now.struck and before.beside:
                self.dropped = f"it struck {end.bolt.name} from the side"
            elif now.touching:
                self._slide(end.bolt, now.overlap, T_tool, wanted)
                self._turn(end, before, now)
            if self.dropped or now.touching:
                return

    def _slide(self, bolt: Bolt, pressed: float, T_tool: Array, wanted: Array) -> None:
        """Let the nut slide back along the pads by what the arm does not give."""
        slide = pressed - self._grip.give
        if slide <= 0.0:
            return
        back = pose(p=tuple(-slide * bolt.pose[:3, 2]))
        self._tool_nut = inverse(T_tool) @ back @ wanted
        if abs(float(self._tool_nut[2, 3])) > self._grip.pad_half:
            self.dropped = f"the end of {bolt.name} pushed it out of the jaws"

    def _turn(self, end: BoltEnd, before: Contact, now: Contact) -> None:
        """See whether the start of the thread was passed, and what comes of it."""
        if not before.touching:
            return
        bolt = end.bolt
        turns = turns_past_start(bolt, before, now)
        if turns is None:
            if end.seated and turns_past_start(bolt, now, before) is not None:
                self.event = f"clicks on {bolt.name}: turned back past the start of the thread"
        elif end.refusal:
            self.event = f"does not catch on {bolt.name}: {end.refusal}"
        elif now.tilt > self._start.tilt:
            self.across = bolt, now.tilt
        else:
            self.caught = bolt, turns
