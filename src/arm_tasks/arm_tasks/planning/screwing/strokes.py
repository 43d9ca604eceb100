# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/screwing/test_planner.py
"""Splits many turns of a nut into strokes within the range of the wrist.

The nut is never released while it is free. All angles are rolls of the tool about the bolt's z
axis [rad].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from arm_description.model.units import deg

from arm_tasks.planning.screwing.wrist import MIN_BEFORE, Wrist, thread_turn_to_go, too_little
from arm_tasks.planning.tool_path import OutOfReach
from arm_tasks.planning.world_model import InJaws, OnBolt
from arm_tasks.scene.grasp import SIXTH
from arm_tasks.scene.scene import TURN, Bolt

_SLACK = math.radians(0.5)  # grip error at which the nut still settles
_MIN_STROKE = math.radians(5.0)  # a shorter stroke is not worth a regrasp
_MIN_REST = math.radians(1.0)  # a smaller remainder is not worth a stroke
_EPS = 1e-9
MIN_CAUGHT = math.radians(30.0)  # least turn on the thread before the jaws open
OTHER_GRIP = (
    "turn the other bolt about its axis, or let the arm grip the nut anew on a pin "
    "(docs/screw.md#over-a-pin)"
)
GripScore = Callable[[float, float], float]


@dataclass(frozen=True)
class Stroke:
    """One grip and one turn."""

    grip: float  # tool roll of the grip [rad]
    turn: float  # signed rotation from there [rad]


def ratchet(
    total: float,
    span: tuple[float, float],
    fit: float | None,
    min_last_turn: float = 0.0,
    score: GripScore | None = None,
) -> list[Stroke] | None:
    """Split a rotation into strokes that stay within the wrist's span.

    Each stroke is as long as possible, except the last two or three, which are chosen for a last
    stroke that is long enough and has a good grip. They add up to the total, or 1 degree less.

    Args:
        total: Rotation to make, signed [rad].
        span: Lowest and highest tool roll [rad].
        fit: A tool roll at which the jaws lie on flats now; None if the nut is held already and
            the first stroke may begin anywhere.
        min_last_turn: The last stroke must be at least this long [rad].
        score: Score of a last grip by the rotation before it and its tool roll; above 0 is
            acceptable, more is better. None accepts any.
    """
    plain = _longest(total, span, fit)
    if plain is None:
        return None
    if score is None and abs(plain[-1].turn) >= min_last_turn - _EPS:
        return plain
    for keep in range(len(plain) - 1, max(len(plain) - 4, -1), -1):
        head = plain[:keep]
        found = list(_tails(total - rotation(head), span, _fit_after(head, fit)))
        good = [tail for tail in found if abs(tail[-1].turn) >= min_last_turn - _EPS]
        best = _best(head, good, score)
        if best is not None:
            return [*head, *best]
    return None


def _longest(total: float, span: tuple[float, float], fit: float | None) -> list[Stroke] | None:
    strokes: list[Stroke] = []
    rest = total
    while abs(rest) > (_EPS if not strokes else _MIN_REST):
        grips = _grips(span, _fit_after(strokes, fit), rest)
        room = _room(grips[0], span, rest) if grips else 0.0
        if room < min(_MIN_STROKE, abs(rest)):
            return None
        turn = math.copysign(min(room, abs(rest)), rest)
        strokes.append(Stroke(grips[0], turn))
        rest -= turn
    return strokes or None


def _tails(rest: float, span: tuple[float, float], fit: float | None) -> Iterator[list[Stroke]]:
    """Yield the rest in one stroke, or in two, the first of whole sixths of a turn."""
    for grip in _grips(span, fit, rest):
        room = _room(grip, span, rest)
        if room >= abs(rest) - _EPS:
            yield [Stroke(grip, rest)]
        sixths = math.floor(min(room, abs(rest) - _MIN_STROKE) / SIXTH + _EPS)
        for k in range(sixths, 0, -1):
            first = Stroke(grip, math.copysign(k * SIXTH, rest))
            left = rest - first.turn
            for again in _grips(span, _fit_after([first], fit), left):
                if _room(again, span, left) >= abs(left) - _EPS:
                    yield [first, Stroke(again, left)]


def _best(
    head: Sequence[Stroke], tails: list[list[Stroke]], score: GripScore | None
) -> list[Stroke] | None:
    if score is None:
        return min(tails, key=len, default=None)
    scored = [(score(rotation(head) + rotation(tail[:-1]), tail[-1].grip), tail) for tail in tails]
    good = [(len(tail), -score, tail) for score, tail in scored if score > 0.0]
    return min(good, key=lambda entry: entry[:2])[2] if good else None


def _grips(span: tuple[float, float], fit: float | None, direction: float) -> list[float]:
    """Return the possible tool rolls of a grip, the one with the most room to turn first."""
    low, high = span
    if fit is None:
        return [low if direction > 0.0 else high]
    first = math.ceil((low - _SLACK - fit) / SIXTH)
    last = math.floor((high + _SLACK - fit) / SIXTH)
    grips = [min(max(fit + k * SIXTH, low), high) for k in range(first, last + 1)]
    return grips if direction > 0.0 else grips[::-1]


def _room(grip: float, span: tuple[float, float], direction: float) -> float:
    return span[1] - grip if direction > 0.0 else grip - span[0]


def _fit_after(strokes: Sequence[Stroke], fit: float | None) -> float | None:
    """Return a tool roll at which the jaws fit after the strokes: the end of the last one."""
    if not strokes:
        return fit
    return strokes[-1].grip + strokes[-1].turn


def rotation(strokes: Sequence[Stroke]) -> float:
    """Return the signed rotation of some strokes [rad]."""
    return math.fsum(stroke.turn for stroke in strokes)


class NoLastGrip(OutOfReach):
    """The nut comes off its bolt, but with no grip that suits the next one."""


@dataclass(frozen=True)
class Strokes:
    """The strokes of a screw step."""

    strokes: list[Stroke]  # in order
    turns: float  # total turns, unsigned
    before_catching: float = 0.0  # turns before the thread catches, if its start is known


def unscrew_strokes(
    bolt: Bolt,
    wrist: Wrist,
    nut: OnBolt,
    turns: Sequence[float],
    score: GripScore | None,
    held: float = 0.0,
    levels: Sequence[float] = (0.0,),
) -> Strokes:
    """Choose the strokes that unscrew a nut so that it comes free during or after the last one.

    The turns are unsigned numbers to choose from, the preferred first; with fewer turns than the
    nut has, the rest is pulled off. The score rates a last grip for the next step; if the
    preferred turns end with no good grip, the best of all others is chosen. With fewer turns left
    than `held`, the nut is not released. The score must be above the first of the levels that any
    grip exceeds.

    Raises:
        NoLastGrip: No last grip is acceptable.
        OutOfReach: The wrist range is too small.
    """
    span = wrist.low, wrist.high

    def split(each: float, score: GripScore | None) -> list[Stroke] | None:
        total, least = -bolt.hand * each * TURN, _least_last(nut, each, held)
        return ratchet(total, span, nut.fit, least, score)

    for more in levels if score else (0.0,):
        lowered = _lowered(score, more)
        if (preferred := split(turns[0], lowered)) is not None:
            return Strokes(preferred, turns[0])
        others = [(each, found) for each in turns[1:] if (found := split(each, lowered))]
        if score is not None and others:
            each, found = max(others, key=lambda o: score(rotation(o[1][:-1]), o[1][-1].grip))
            return Strokes(found, each)
    if score is not None and split(turns[0], None) is not None:
        what = "no last grip lets the next thread catch before the wrist ends"
        raise NoLastGrip(f"{what}; {OTHER_GRIP}")
    raise too_little(wrist)


def _lowered(score: GripScore | None, by: float) -> GripScore | None:
    """Return a score that is lower by some amount [rad]."""
    if score is None:
        return None
    return lambda turned, grip: score(turned, grip) - by


def _least_last(nut: OnBolt, turns: float, held: float) -> float:
    """Return the least last turn [rad], so that the nut never hangs on too little thread."""
    beyond = (turns - nut.turns) * TURN  # rotation after the nut has come free
    return min(turns * TURN, max(beyond + max(MIN_CAUGHT, held * TURN), 0.0))


def screw_on_strokes(
    bolt: Bolt, wrist: Wrist, nut: InJaws, turns: float, extra_turns: float
) -> Strokes:
    """Choose the strokes that screw a nut on so that it has caught before the jaws open.

    The extra turns are added if the start of the thread is unknown.

    Raises:
        OutOfReach: The wrist range is too small, or the thread would catch too late.
    """
    begin = wrist.low if bolt.hand > 0 else wrist.high
    to_go = thread_turn_to_go(bolt, nut.phase + begin) if bolt.start_known else 0.0
    total = turns + max(extra_turns, to_go / TURN)
    strokes = ratchet(bolt.hand * total * TURN, (wrist.low, wrist.high), None)
    if strokes is None:
        raise too_little(wrist)
    turn = abs(strokes[0].turn)
    missing = to_go + MIN_CAUGHT / 2.0 - turn
    if missing > 0.0:
        what = (
            f"the thread would catch after {deg(to_go, 0)} but the wrist turns by "
            f"{deg(turn, 0)}: the nut would fall at the first regrasp"
        )
        raise OutOfReach(what, 0.0, missing)
    return Strokes(strokes, total, to_go / TURN)


def turn_back(bolt: Bolt, wrist: Wrist) -> Stroke:
    """Return a stroke that loosens, as far as the wrist can, or a little over a turn.

    Once in a turn the ends of the threads pass each other.
    """
    begin = wrist.high if bolt.hand > 0 else wrist.low
    return Stroke(begin, -bolt.hand * min(wrist.high - wrist.low, TURN + MIN_BEFORE))
