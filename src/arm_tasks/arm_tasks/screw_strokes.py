# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Which strokes take a nut off or put it on, so that it is never let go while it is free."""

from __future__ import annotations

import math
from dataclasses import dataclass

from arm_kinematics.paths import PathStatus

from arm_kinematics import Chain
from arm_tasks.geometry import Array
from arm_tasks.nut_belief import InJaws, OnBolt
from arm_tasks.ratchet import Stroke, Wanted, ratchet
from arm_tasks.scene import Bolt, Scene
from arm_tasks.screw_places import Wrist, thread_turn_to_go, wrists
from arm_tasks.task_steps import ScrewOn
from arm_tasks.thread import TURN
from arm_tasks.tool_path import OutOfReach

CAUGHT = math.radians(30.0)  # a nut shall be caught by so much before the jaws open
_BEFORE = math.radians(10.0)  # and the thread shall not catch earlier than so much into a stroke


@dataclass(frozen=True)
class Strokes:
    """How a screw step is turned.

    Attributes:
        strokes: Grips and turns, in order.
        turns: Turns in all, without sign.
        before_catching: Turns of them before the thread catches (screw_on with a known start).
    """

    strokes: list[Stroke]
    turns: float
    before_catching: float = 0.0

    @property
    def before_last(self) -> float:
        """Rotation before the last stroke, signed [rad]."""
        return math.fsum(stroke.turn for stroke in self.strokes[:-1])


def strokes_off(
    bolt: Bolt, wrist: Wrist, nut: OnBolt, turns: float, wanted: Wanted | None
) -> Strokes:
    """Choose the strokes that unscrew a nut, so that it comes free within the last one.

    Args:
        bolt: The bolt.
        wrist: How the arm holds the tool there.
        nut: Where the nut is.
        turns: Turns to make, without sign.
        wanted: How good a last grip is for what comes next, or None.

    Raises:
        OutOfReach: The wrist turns too little, or no last grip is good.
    """
    total, span = -bolt.hand * turns * TURN, (wrist.low, wrist.high)
    beyond = (turns - nut.turns) * TURN  # turned on after the nut has come free
    least = min(abs(total), beyond + CAUGHT) if beyond >= 0.0 else 0.0
    strokes = ratchet(total, span, nut.fit, least, wanted)
    if strokes is not None:
        return Strokes(strokes, turns)
    if wanted is not None and ratchet(total, span, nut.fit, least) is not None:
        what = "no last grip lets the next thread catch before the wrist ends"
        raise OutOfReach(f"{what}; turn the other bolt about its axis")
    raise _too_little(wrist)


def strokes_on(bolt: Bolt, wrist: Wrist, nut: InJaws, turns: float, extra_turns: float) -> Strokes:
    """Choose the strokes that screw a nut on, so that it has caught before the jaws open.

    Args:
        bolt: The bolt.
        wrist: How the arm holds the tool there.
        nut: How the nut is held.
        turns: Turns of thread to make.
        extra_turns: Turns more than these, as long as nobody knows better.

    Raises:
        OutOfReach: The wrist turns too little, or the thread would catch too late.
    """
    begin = wrist.low if bolt.hand > 0 else wrist.high
    to_go = thread_turn_to_go(bolt, nut.phase + begin) if bolt.start_known else 0.0
    total = turns + max(extra_turns, to_go / TURN)
    strokes = ratchet(bolt.hand * total * TURN, (wrist.low, wrist.high), None)
    if strokes is None:
        raise _too_little(wrist)
    turn = abs(strokes[0].turn)
    missing = to_go + CAUGHT / 2.0 - turn
    if missing > 0.0:
        what = (
            f"the thread would catch after {math.degrees(to_go):.0f} deg but the wrist turns by "
            f"{math.degrees(turn):.0f} deg: the nut would fall at the first regrasp"
        )
        raise OutOfReach(what, 0.0, missing)
    return Strokes(strokes, total, to_go / TURN)


def wanted_for(
    chain: Chain, scene: Scene, nut: OnBolt, then: ScrewOn, seed: Array
) -> Wanted | None:
    """Return how well a last grip suits the first stroke on the next bolt.

    Args:
        chain: The arm.
        scene: Where that bolt is.
        nut: Where the nut is before it is unscrewed.
        then: The step that will screw it on.
        seed: Joint positions (n,) to stay near [rad or m].

    Returns:
        The score for ratchet(), or None if nobody knows where that bolt's thread starts.
    """
    bolt = scene.bolt(then.bolt)
    if not bolt.start_known:
        return None
    turns = bolt.hand * ((then.turns or 0.0) + then.extra_turns) * TURN
    z = then.press - scene.the_nut().thickness / 2.0
    try:
        wrist = next(wrists(chain, bolt, z, (), seed, then.tolerance))
    except OutOfReach:
        return None  # that step will be refused itself
    begin = wrist.low if turns > 0.0 else wrist.high
    room = min(wrist.high - wrist.low, abs(turns))

    def score(turned: float, grip: float) -> float:
        to_go = thread_turn_to_go(bolt, nut.roll + turned - grip + begin)
        return min(to_go - _BEFORE, room - to_go - CAUGHT)

    return score


def _too_little(wrist: Wrist) -> OutOfReach:
    span = math.degrees(wrist.high - wrist.low)
    what = f"the wrist can turn by {span:.0f} deg there, which is too little to regrasp"
    return OutOfReach(what, reason=PathStatus.JOINT_LIMIT.name)
