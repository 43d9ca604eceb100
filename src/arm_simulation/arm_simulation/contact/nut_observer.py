# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reports what happens to the nut, by the truth of contact physics."""

from __future__ import annotations

from arm_tasks.scene.nut_state import NutEvent, NutReport, NutStatus

from arm_simulation.contact.world import NutTruth

_EVENTS = {
    (NutStatus.ON_BOLT, NutStatus.ON_BOLT_HELD): NutEvent.GRIPPED,
    (NutStatus.ON_BOLT_HELD, NutStatus.ON_BOLT): NutEvent.RELEASED,
    (NutStatus.ON_BOLT_HELD, NutStatus.HELD): NutEvent.CAME_FREE,
    (NutStatus.HELD, NutStatus.ON_BOLT_HELD): NutEvent.SEATED,
}
_SENTENCES = {
    NutEvent.START: "the nut is where the scene has it",
    NutEvent.GRIPPED: "the jaws hold the nut",
    NutEvent.RELEASED: "the jaws released the nut on {bolt}, {turns:.1f} turns engaged",
    NutEvent.CAME_FREE: "the nut came off its bolt",
    NutEvent.SEATED: "the nut is on the tip of {bolt}",
    NutEvent.DROPPED: "the nut fell",
    NutEvent.UNKNOWN: "the nut moved",
}


class NutObserver:
    """Names what happens to the nut, from its poses and contacts alone."""

    def __init__(self, truth: NutTruth) -> None:
        self._status = NutStatus.ON_BOLT if truth.bolt else NutStatus.FALLEN
        self._event = NutEvent.START
        self.report = self._report(truth, _sentence(self._event, truth))

    def update(self, truth: NutTruth) -> NutReport:
        """Return the report of a new truth; the message is that of the last event."""
        status = self._status_of(truth)
        message = self.report.message
        if status != self._status:
            fell = status is NutStatus.FALLEN
            before = (self._status, status)
            self._event = NutEvent.DROPPED if fell else _EVENTS.get(before, NutEvent.UNKNOWN)
            self._status, message = status, _sentence(self._event, truth)
        self.report = self._report(truth, message)
        return self.report

    def _status_of(self, truth: NutTruth) -> NutStatus:
        """Return where the nut is; one that is in flight is still where it was."""
        if truth.bolt:
            return NutStatus.ON_BOLT_HELD if truth.held else NutStatus.ON_BOLT
        if truth.held:
            return NutStatus.HELD
        return NutStatus.FALLEN if truth.fallen else self._status

    def _report(self, truth: NutTruth, message: str) -> NutReport:
        held, turns = truth.held, truth.turns_engaged
        return NutReport(self._status, truth.bolt, turns, held, truth.pose, message, self._event)


def _sentence(event: NutEvent, truth: NutTruth) -> str:
    return _SENTENCES[event].format(bolt=truth.bolt or "no bolt", turns=truth.turns_engaged)
