# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Splits many turns of a nut into strokes within the range of the wrist.

The nut is never released while it is free. All angles are rolls of the tool about the bolt's z
axis [rad].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from arm_common.transforms import Array, turn_z, wrap

from arm_kinematics import Chain
from arm_tasks.planning.screwing.wrist import Wrist, next_wrist, thread_turn_to_go, too_little
from arm_tasks.planning.tool_path import OutOfReach
from arm_tasks.planning.world_model import InJaws, OnBolt
from arm_tasks.scene.grasp import SIXTH
from arm_tasks.scene.scene import CATCH_TURNS, TURN, Bolt, Scene
from arm_tasks.task.steps import FindThread, ScrewOn, Unscrew

_SLACK = math.radians(0.5)  # grip error at which the nut still settles
_MIN_STROKE = math.radians(5.0)  # a shorter stroke is not worth a regrasp
_MIN_REST = math.radians(1.0)  # a smaller remainder is not worth a stroke
_EPS = 1e-9
MIN_CAUGHT = math.radians(30.0)  # least turn on the thread before the jaws open
# The same for a nut that must not hang on little thread: a quarter of a pitch and the mouth, about
# a pitch deep, are the 1.5 mm on which every nut stays when released (docs/screw.md).
FIRM = math.radians(90.0)
_MIN_BEFORE = math.radians(15.0)  # least turn of a stroke before the thread catches
# In contact physics a nut stays on when it is released with the tip at least 1.5 mm deep in it. It
# comes off in a straight pull at 1.5 mm at each of 4 rolls, 1.6 mm at 3, 1.65 mm at one, 1.7 mm at
# none, but an arm tilted it in the jaws by 15 degrees at 1.45 mm (docs/screw.md).
_STAYS_ON = 1.5e-3
_PULL_OFF_DEPTH = 1.4e-3
_DEEPEST_PULL_OFF = 1.7e-3  # the same if the next thread would catch too late otherwise
_PULL_OFF_STEP = 1.0 / 12.0  # between numbers of turns to try
_DEEPER_STEP = 1.0 / 36.0  # the same, deeper
_PULL_OFF_CHANGE = 0.5  # largest change of the turns that a task requests

_STAND_STARTS = 72  # tried starts of a stand's thread
FIRM_LEVELS = FIRM, math.radians(75.0), math.radians(60.0)  # tried for transfers over a stand
FIRM_FIRST = FIRM - MIN_CAUGHT, 0.0  # levels of the score of a last grip
# An arm sags while its jaws are open, by 3 mm in contact physics. Closing jaws lift it along their
# opening alone; the nut may be above their middle by this share of the rest, as the arm still sags
# at the next bolt, and below it by the other.
_MAX_ABOVE, _MAX_BELOW = math.sin(math.radians(31.0)), 0.1

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

    def split(each: float, more: float) -> list[Stroke] | None:
        total, least = -bolt.hand * each * TURN, _least_last(nut, each, held)
        return ratchet(total, span, nut.fit, least, _lowered(score, more))

    for more in levels if score else (0.0,):
        if (preferred := split(turns[0], more)) is not None:
            return Strokes(preferred, turns[0])
        others = [(each, found) for each in turns[1:] if (found := split(each, more)) is not None]
        if score is not None and others:
            each, found = max(others, key=lambda o: score(rotation(o[1][:-1]), o[1][-1].grip))
            return Strokes(found, each)
    total = -bolt.hand * turns[0] * TURN
    if (
        score is not None
        and ratchet(total, span, nut.fit, _least_last(nut, turns[0], held)) is not None
    ):
        raise NoLastGrip("no last grip lets the next thread catch before the wrist ends")
    raise too_little(wrist)


def turns_off(bolt: Bolt, nut: OnBolt, step: Unscrew) -> list[float]:
    """Return the turns after which the nut can come off, the preferred first.

    The jaws hold it by its flats, so the roll at which it leaves the thread decides when the
    next one catches. Unscrewed, it leaves at one roll; pulled off, at any roll of a turn.
    """
    most = min(_surely_off(bolt), nut.turns / 2.0)
    lefts = [k * _PULL_OFF_STEP for k in range(1, int(most / _PULL_OFF_STEP) + 1)]
    pull_off = step.pull_off_turns
    if 0.0 < pull_off < nut.turns:
        near = [left for left in lefts if abs(left - pull_off) <= _PULL_OFF_CHANGE]
        return [nut.turns - left for left in (pull_off, *near)]
    return [nut.turns + step.extra_turns, *(nut.turns - left for left in lefts)]


@dataclass(frozen=True)
class OffOption:
    """Turns that take a nut off, and the turns below which the jaws must not open."""

    turns: list[float]  # to choose from, the preferred first
    held: float = 0.0  # turns left


def off_options(bolt: Bolt, nut: OnBolt, step: Unscrew) -> list[OffOption]:
    """Return the ways to take a nut off, the safest first.

    With `pull_off_turns` the jaws hold the nut from where it could fall. Half a turn of wrist then
    leaves four of its six flats at most. Where these do not suit the next thread, the jaws open
    once more before the requested turns, or the nut is pulled off from so much thread that it may
    stay on, the least first.
    """
    turns, requested = turns_off(bolt, nut, step), step.pull_off_turns
    if not 0.0 < requested < nut.turns:
        return [OffOption(turns, min(requested, nut.turns / 2.0))]
    safe, least = (min(held, nut.turns / 2.0) for held in (_safe_release(bolt, step), requested))
    first, most = max(_surely_off(bolt), requested), _DEEPEST_PULL_OFF / bolt.pitch
    count = max(math.floor((min(most, nut.turns / 2.0) - first) / _DEEPER_STEP), 0)
    deep = [nut.turns - first - k * _DEEPER_STEP for k in range(1, count + 1)]
    unsafe = [OffOption(turns, least)] if least < safe else []
    return [OffOption(turns, safe), *unsafe, *(OffOption([each], safe) for each in deep)]


def off_warning(
    bolt: Bolt, nut: OnBolt, step: Unscrew, chosen: Strokes, score: GripScore | None
) -> str:
    """Return what may happen to a nut that these strokes take off, or ""."""
    if not 0.0 < step.pull_off_turns < nut.turns:
        return ""
    left = nut.turns - chosen.turns
    released = left + abs(chosen.strokes[-1].turn) / TURN
    late = "as the next thread would catch too late after any other grip"
    if left > max(_surely_off(bolt), step.pull_off_turns) + _EPS:
        return (
            f"the nut is pulled off with {left:.2f} turns left, {left * bolt.pitch * 1e3:.2f} mm "
            f"of thread, {late}; in contact physics 3 of 4 nuts come off from 1.6 mm, and none "
            "from 1.7 mm"
        )
    if len(chosen.strokes) > 1 and released < _safe_release(bolt, step) - _EPS:
        return (
            f"the jaws open with {released:.2f} turns left, {released * bolt.pitch * 1e3:.2f} mm "
            f"of thread, {late}; in contact physics every nut stays on from 1.5 mm, and some fall "
            "from less"
        )
    if score is not None and _off_middle(bolt, chosen.strokes[-1].grip):
        return (
            f"the jaws do not open upwards at the last grip, {late}; as far as the arm sags "
            "meanwhile, the nut will be beside the tip of the next bolt"
        )
    if score is not None:
        caught = score(rotation(chosen.strokes[:-1]), chosen.strokes[-1].grip) + MIN_CAUGHT
        if caught < FIRM - _EPS:
            return (
                f"the next thread catches {math.degrees(caught):.0f} deg before the wrist ends"
                f", and {math.degrees(FIRM):.0f} deg hold a nut firmly"
            )
    return ""


def _off_middle(bolt: Bolt, grip: float) -> bool:
    """Return whether an arm that sags grips a nut too far above or below the jaws' middle."""
    return not -_MAX_BELOW <= float((bolt.pose @ turn_z(grip))[2, 0]) <= _MAX_ABOVE


def _safe_release(bolt: Bolt, step: Unscrew) -> float:
    """Return the turns that keep a nut on its bolt when the jaws open."""
    return max(step.pull_off_turns, _STAYS_ON / bolt.pitch)


def _surely_off(bolt: Bolt) -> float:
    """Return the turns of thread from which a straight pull takes every nut off."""
    return _PULL_OFF_DEPTH / bolt.pitch


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
            f"the thread would catch after {math.degrees(to_go):.0f} deg but the wrist turns by "
            f"{math.degrees(turn):.0f} deg: the nut would fall at the first regrasp"
        )
        raise OutOfReach(what, 0.0, missing)
    return Strokes(strokes, total, to_go / TURN)


def turn_back(bolt: Bolt, wrist: Wrist) -> Stroke:
    """Return a stroke that loosens, as far as the wrist can, or a little over a turn.

    Once in a turn the ends of the threads pass each other.
    """
    begin = wrist.high if bolt.hand > 0 else wrist.low
    return Stroke(begin, -bolt.hand * min(wrist.high - wrist.low, TURN + _MIN_BEFORE))


def grip_score(
    chain: Chain, scene: Scene, nut: OnBolt, then: ScrewOn | FindThread, seed: Array
) -> GripScore | None:
    """Return the score of a last grip for the first stroke on the next bolt, for ratchet().

    It is None if it does not matter, as where that bolt's thread starts is unknown. The nut is
    still on its bolt; the arm stays near the seed (n,) [rad or m].
    """
    bolt = scene.bolt(then.bolt)
    if isinstance(then, ScrewOn) and not bolt.start_known:
        return None
    wrist = next_wrist(chain, scene, then, seed)
    if wrist is None:
        return None  # that step itself will be refused
    if isinstance(then, FindThread):
        back, around = turn_back(bolt, wrist), then.around
        middle = nut.roll + back.grip + back.turn / 2.0 - around
        return lambda turned, grip: math.pi - abs(wrap(middle + turned - grip))
    return catch_score(bolt, wrist, then, scene.bolt(nut.bolt), nut.roll)


def catch_score(bolt: Bolt, wrist: Wrist, then: ScrewOn, origin: Bolt, roll: float) -> GripScore:
    """Return the score of a last grip of a nut, now at a roll [rad] on its bolt, for the next one.

    It is the turn on the thread before the first release, less the least one [rad]; hardly
    above 0 if the nut would be beside the middle of the jaws.
    """
    turns = bolt.hand * ((then.turns or 0.0) + then.extra_turns) * TURN
    begin = wrist.low if turns > 0.0 else wrist.high
    room = min(wrist.high - wrist.low, abs(turns))

    def score(turned: float, grip: float) -> float:
        to_go = thread_turn_to_go(bolt, roll + turned - grip + begin)
        if to_go < _MIN_BEFORE:
            return -1.0
        most = _EPS if _off_middle(origin, grip) else math.inf
        # the earlier it catches, the more turns hold the nut
        return min(room - to_go - MIN_CAUGHT, most)

    return score


def stand_start(
    nut: OnBolt,
    step: Unscrew,
    then: ScrewOn,
    first: tuple[Bolt, Wrist],
    last: tuple[Bolt, Wrist],
    least: float = FIRM,
) -> float | None:
    """Return the start of a third bolt's thread for a safe transfer over it [rad], or None.

    The bolts have the wrists of their steps; the stand is like them. The start is in the middle
    of the longest range in which the jaws hold the nut whenever it could fall, and turn it by the
    least angle [rad] on a thread before they open.
    """
    (bolt, wrist), (goal, wrist_on) = first, last
    begin = wrist_on.low if goal.hand > 0 else wrist_on.high

    def safe(origin: Bolt, nut: OnBolt, target: Bolt) -> Strokes | None:
        option = off_options(origin, nut, step)[0]
        score = catch_score(target, wrist_on, then, origin, nut.roll)
        levels = (least - MIN_CAUGHT,)
        with suppress(OutOfReach):
            turns, held = option.turns, option.held
            return unscrew_strokes(origin, wrist, nut, turns, score, held, levels)
        return None

    def serves(start: float) -> bool:
        stand, target = replace(bolt, start=start), replace(goal, start=start)
        off = safe(bolt, nut, target)
        if off is None:
            return False
        roll = nut.roll + rotation(off.strokes[:-1]) - off.strokes[-1].grip + begin
        to_go = thread_turn_to_go(target, roll) / TURN
        turns = CATCH_TURNS + (then.turns or 0.0) + max(then.extra_turns - to_go, 0.0)
        return safe(stand, OnBolt(nut.bolt, turns, stand.roll(turns)), goal) is not None

    served = [serves(TURN * k / _STAND_STARTS) for k in range(_STAND_STARTS)]
    if all(served) or not any(served):
        return 0.0 if served[0] else None
    runs = [(served[k:] + served[:k]).index(False) for k in range(_STAND_STARTS)]
    longest = max(range(_STAND_STARTS), key=runs.__getitem__)
    return wrap(TURN * (longest + (runs[longest] - 1) / 2.0) / _STAND_STARTS)
