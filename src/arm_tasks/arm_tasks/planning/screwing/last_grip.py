# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/screwing/test_planner.py
"""Chooses how a nut comes off its bolt: with a last grip that suits the thread of the next one.

The jaws hold the nut by its flats, so the roll of the last grip decides when the next thread
catches. All angles are rolls of the tool about the bolt's z axis [rad].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from arm_common.transforms import Array, turn_z, wrap
from arm_description.model.units import deg, mm

from arm_kinematics import Chain
from arm_tasks.planning.screwing.strokes import (
    MIN_CAUGHT,
    GripScore,
    Stroke,
    Strokes,
    rotation,
    turn_back,
)
from arm_tasks.planning.screwing.wrist import MIN_BEFORE, Wrist, next_wrist, thread_turn_to_go
from arm_tasks.planning.world_model import OnBolt
from arm_tasks.scene.grasp import SIXTH
from arm_tasks.scene.scene import TURN, Bolt, Scene
from arm_tasks.task.steps import FindThread, Regrasp, ScrewOn, Unscrew

# Steps for which it matters by which flats the jaws hold the nut
NextGrip: TypeAlias = ScrewOn | FindThread | Regrasp
_EPS = 1e-9
_LATE = "as the next thread would catch too late after any other grip"
# Turn on the thread before the jaws open [rad], as MIN_CAUGHT, for a nut that must not hang on
# little thread: a quarter of a pitch and the mouth, about a pitch deep, are the 1.5 mm on which
# every nut stays when released (docs/screw.md).
FIRM = math.radians(90.0)
# In contact physics a nut stays on when it is released with the tip at least 1.5 mm deep in it. It
# comes off in a straight pull at 1.5 mm at each of 4 rolls, 1.6 mm at 3, 1.65 mm at one, 1.7 mm at
# none, but an arm tilted it in the jaws by 15 degrees at 1.45 mm (docs/screw.md).
_STAYS_ON = 1.5e-3
_PULL_OFF_DEPTH = 1.4e-3
_DEEPEST_PULL_OFF = 1.7e-3  # the same if the next thread would catch too late otherwise
_PULL_OFF_STEP = 1.0 / 12.0  # between numbers of turns to try
_DEEPER_STEP = 1.0 / 36.0  # the same, deeper
_PULL_OFF_CHANGE = 0.5  # largest change of the turns that a task requests
_PIN_GRIPS = 37  # tried rolls of a grip on a pin
FIRM_FIRST = FIRM - MIN_CAUGHT, 0.0  # levels of the score of a last grip
# An arm sags while its jaws are open, by 3 mm in contact physics. Closing jaws lift it along their
# opening alone; the nut may be above their middle by this share of the rest, as the arm still sags
# at the next bolt, and below it by the other.
_MAX_ABOVE, _MAX_BELOW = math.sin(math.radians(31.0)), 0.1


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


def pull_off_problem(bolt: Bolt, nut: OnBolt, step: Unscrew) -> str:
    """Return why a nut does not come off with the turns left that a step requests, or ""."""
    left = min(step.pull_off_turns, nut.turns)
    stays = step.turns is not None and step.turns < nut.turns
    if stays or left * bolt.pitch <= _DEEPEST_PULL_OFF:
        return ""
    what = f"pull_off_turns of {step.pull_off_turns:g} leaves {mm(left * bolt.pitch, 2)}"
    most = math.floor(_DEEPEST_PULL_OFF / bolt.pitch * 10.0) / 10.0
    return f"{what} of thread, from which a straight pull takes no nut off; give at most {most:g}"


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
    if left > max(_surely_off(bolt), step.pull_off_turns) + _EPS:
        return (
            f"the nut is pulled off with {left:.2f} turns left, {mm(left * bolt.pitch, 2)} "
            f"of thread, {_LATE}; in contact physics 3 of 4 nuts come off from 1.6 mm, and none "
            "from 1.7 mm"
        )
    if len(chosen.strokes) > 1 and released < _safe_release(bolt, step) - _EPS:
        return (
            f"the jaws open with {released:.2f} turns left, {mm(released * bolt.pitch, 2)} "
            f"of thread, {_LATE}; in contact physics every nut stays on from 1.5 mm, and some "
            "fall from less"
        )
    return "" if score is None else _next_warning(bolt, chosen, score)


def _next_warning(bolt: Bolt, chosen: Strokes, score: GripScore) -> str:
    """Return what may happen on the next bolt to a nut that these strokes take off, or ""."""
    last = chosen.strokes[-1]
    if _off_middle(bolt, last.grip):
        return (
            f"the jaws do not open upwards at the last grip, {_LATE}; as far as the arm sags "
            "meanwhile, the nut will be beside the tip of the next bolt"
        )
    caught = score(rotation(chosen.strokes[:-1]), last.grip) + MIN_CAUGHT
    if caught >= FIRM - _EPS:
        return ""
    return (
        f"the next thread catches {deg(caught, 0)} before the wrist ends, and "
        f"{deg(FIRM, 0)} hold a nut firmly"
    )


def _off_middle(bolt: Bolt, grip: float) -> bool:
    """Return whether an arm that sags grips a nut too far above or below the jaws' middle."""
    return not -_MAX_BELOW <= float((bolt.pose @ turn_z(grip))[2, 0]) <= _MAX_ABOVE


def _safe_release(bolt: Bolt, step: Unscrew) -> float:
    """Return the turns that keep a nut on its bolt when the jaws open."""
    return max(step.pull_off_turns, _STAYS_ON / bolt.pitch)


def _surely_off(bolt: Bolt) -> float:
    """Return the turns of thread from which a straight pull takes every nut off."""
    return _PULL_OFF_DEPTH / bolt.pitch


def grip_score(
    chain: Chain, scene: Scene, nut: OnBolt, then: NextGrip, seed: Array
) -> GripScore | None:
    """Return the score of a last grip for the first stroke on the next bolt, for ratchet().

    It is None if it does not matter, as where that bolt's thread starts is unknown. The nut is
    still on its bolt; the arm stays near the seed (n,) [rad or m].
    """
    origin, bolt = scene.bolt(nut.bolt), scene.bolt(then.bolt)
    if isinstance(then, Regrasp):
        return lambda _, grip: _EPS if _off_middle(origin, grip) else math.inf
    if isinstance(then, ScrewOn) and not bolt.start_known:
        return None
    wrist = next_wrist(chain, scene, then, seed)
    if wrist is None:
        return None  # that step itself will be refused
    if isinstance(then, FindThread):
        back, around = turn_back(bolt, wrist), then.around
        middle = nut.roll + back.grip + back.turn / 2.0 - around
        return lambda turned, grip: math.pi - abs(wrap(middle + turned - grip))
    return _catch_score(bolt, wrist, then, origin, nut.roll)


def _catch_score(bolt: Bolt, wrist: Wrist, then: ScrewOn, origin: Bolt, roll: float) -> GripScore:
    """Return the score of a last grip of a nut, now at a roll [rad] on its bolt, for the next one.

    It is the turn on the thread before the first release, less the least one [rad]; hardly
    above 0 if the nut would be beside the middle of the jaws.
    """
    turns = bolt.hand * ((then.turns or 0.0) + then.extra_turns) * TURN
    begin = wrist.low if turns > 0.0 else wrist.high
    room = min(wrist.high - wrist.low, abs(turns))

    def score(turned: float, grip: float) -> float:
        to_go = thread_turn_to_go(bolt, roll + turned - grip + begin)
        if to_go < MIN_BEFORE:
            return -1.0
        most = _EPS if _off_middle(origin, grip) else math.inf
        # the earlier it catches, the more turns hold the nut
        return min(room - to_go - MIN_CAUGHT, most)

    return score


def regrasp_strokes(score: GripScore, wrist: Wrist) -> Strokes:
    """Choose the rolls at which the jaws leave a nut on a pin and grip it again.

    They differ by sixths of a turn, at most as many as the wrist can turn by. The score rates a
    grip for the next thread, with the nut's roll on the pin as its rotation.
    """
    sixths = np.arange(-3, 4) * SIXTH
    pairs = [
        (float(grip + more), float(grip))
        for grip in np.linspace(wrist.low, wrist.high, _PIN_GRIPS)
        for more in sixths
        if wrist.low - _EPS <= grip + more <= wrist.high + _EPS
    ]
    leave, grip = max(pairs, key=lambda pair: score(*pair))
    return Strokes([Stroke(leave, 0.0), Stroke(grip, 0.0)], 0.0)
