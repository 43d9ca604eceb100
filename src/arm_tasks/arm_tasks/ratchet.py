# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Many turns from a wrist that has only part of one: where to grip, how far to turn, and again.

All angles are rolls of the tool about the bolt's z axis [rad].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from arm_tasks.grip import SIXTH

_SLACK = math.radians(0.5)  # the nut settles to jaws that are off by so little
_LEAST = math.radians(5.0)  # a stroke shorter than this is not worth a regrasp
_FORGIVEN = math.radians(1.0)  # so little left is not worth a stroke either
_ENOUGH = 1e-9

Wanted = Callable[[float, float], float]


@dataclass(frozen=True)
class Stroke:
    """One grip and one turn.

    Attributes:
        grip: Tool roll at which the nut is gripped [rad].
        turn: Rotation from there, signed [rad].
    """

    grip: float
    turn: float


def ratchet(
    total: float,
    span: tuple[float, float],
    fit: float | None,
    last_least: float = 0.0,
    wanted: Wanted | None = None,
) -> list[Stroke] | None:
    """Split a rotation into strokes that stay within the wrist's span.

    Each stroke is as long as can be; only the last two or three are chosen so that the last one is
    long enough and grips as wanted.

    Args:
        total: Rotation to make, signed [rad].
        span: Lowest and highest tool roll [rad].
        fit: A tool roll at which the jaws lie on flats now; None if the nut is held already and
            the first stroke may begin anywhere.
        last_least: The last stroke must be at least this long [rad].
        wanted: How good a last grip is, from the rotation made before it and its tool roll; above
            0 is good, more is better. None means any.

    Returns:
        The strokes, their turns adding up to total or to one degree less; None if there are none.
    """
    plain = _longest(total, span, fit)
    if plain is None:
        return None
    if wanted is None and abs(plain[-1].turn) >= last_least - _ENOUGH:
        return plain
    for keep in range(len(plain) - 1, max(len(plain) - 4, -1), -1):
        head = plain[:keep]
        found = list(_tails(total - _sum(head), span, _fit_after(head, fit)))
        good = [tail for tail in found if abs(tail[-1].turn) >= last_least - _ENOUGH]
        best = _best(head, good, wanted)
        if best is not None:
            return [*head, *best]
    return None


def _longest(total: float, span: tuple[float, float], fit: float | None) -> list[Stroke] | None:
    strokes: list[Stroke] = []
    rest = total
    while abs(rest) > (_ENOUGH if not strokes else _FORGIVEN):
        grips = _grips(span, _fit_after(strokes, fit), rest)
        room = _room(grips[0], span, rest) if grips else 0.0
        if room < min(_LEAST, abs(rest)):
            return None
        turn = math.copysign(min(room, abs(rest)), rest)
        strokes.append(Stroke(grips[0], turn))
        rest -= turn
    return strokes or None


def _tails(rest: float, span: tuple[float, float], fit: float | None) -> Iterator[list[Stroke]]:
    """Yield every way to make the rest in one stroke, or in two with whole sixths in the first."""
    for grip in _grips(span, fit, rest):
        room = _room(grip, span, rest)
        if room >= abs(rest) - _ENOUGH:
            yield [Stroke(grip, rest)]
        sixths = math.floor(min(room, abs(rest) - _LEAST) / SIXTH + _ENOUGH)
        for k in range(sixths, 0, -1):
            first = Stroke(grip, math.copysign(k * SIXTH, rest))
            left = rest - first.turn
            for again in _grips(span, _fit_after([first], fit), left):
                if _room(again, span, left) >= abs(left) - _ENOUGH:
                    yield [first, Stroke(again, left)]


def _best(
    head: Sequence[Stroke], tails: list[list[Stroke]], wanted: Wanted | None
) -> list[Stroke] | None:
    if wanted is None:
        return min(tails, key=len, default=None)
    scored = [(wanted(_sum(head) + _sum(tail[:-1]), tail[-1].grip), tail) for tail in tails]
    good = [(len(tail), -score, tail) for score, tail in scored if score > 0.0]
    return min(good, key=lambda entry: entry[:2])[2] if good else None


def _grips(span: tuple[float, float], fit: float | None, direction: float) -> list[float]:
    """Return the tool rolls to grip at, the one with the most room to turn first."""
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
    """Return a tool roll at which the jaws fit after the strokes: where the last one ended."""
    if not strokes:
        return fit
    return strokes[-1].grip + strokes[-1].turn


def _sum(strokes: Sequence[Stroke]) -> float:
    return math.fsum(stroke.turn for stroke in strokes)
