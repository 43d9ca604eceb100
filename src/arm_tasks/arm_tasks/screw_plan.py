# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The screw primitive: turn coupled to advance, regrasping where the wrist ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from arm_tasks.nut_belief import InJaws, OnBolt
from arm_tasks.plan_builder import Labels, PlanBuilder, Refused
from arm_tasks.scene import Scene
from arm_tasks.screw_places import Place, Wrist, between, wrists
from arm_tasks.screw_strokes import Strokes, strokes_off, strokes_on, wanted_for
from arm_tasks.task_steps import Screw, ScrewOn, Tolerance
from arm_tasks.thread import TURN
from arm_tasks.tool_path import OutOfReach, along, wish

_SQUEEZE = 0.6e-3  # jaws are commanded so much narrower than the nut [m]
_CLEAR = 4e-3  # and opened so much wider than its corners [m]


@dataclass
class ScrewPlanner:
    """Plans one unscrew or screw_on step onto a builder.

    Attributes:
        builder: The plan so far.
        scene: Where bolts and nut are.
        step: The step of the task.
        name: Its name, with its repetition.
    """

    builder: PlanBuilder
    scene: Scene
    step: Screw
    name: str

    def __post_init__(self) -> None:
        nut = self.scene.the_nut()
        self.bolt = self.scene.bolt(self.step.bolt)
        corners = nut.across_flats / math.cos(math.pi / 6.0)
        jaws = self.builder.jaws(self.step)
        squeezed = max(nut.across_flats - _SQUEEZE, jaws.min_width)
        cleared = min(corners + _CLEAR, jaws.max_width)
        self.grip_width = squeezed if self.step.grip_width is None else self.step.grip_width
        self.open_width = cleared if self.step.open_width is None else self.step.open_width
        self.loose = Tolerance(self.step.tolerance.position, self.step.approach_tilt)
        self.half = nut.thickness / 2.0

    def unscrew(self, nut: OnBolt, then: ScrewOn | None) -> InJaws | OnBolt:
        """Take the nut off and return how it is held; with fewer turns than it has, loosen it.

        Args:
            nut: Where it is.
            then: The step that will screw it on, if the task has one.
        """
        wanted = nut.turns if self.step.turns is None else self.step.turns
        comes_off = wanted >= nut.turns
        turns = nut.turns + self.step.extra_turns if comes_off else wanted
        chain, q = self.builder.chain, self.builder.q
        suits = wanted_for(chain, self.scene, nut, then, q) if then and comes_off else None
        z = self.bolt.thread.depth(nut.turns) - self.half

        def choose(wrist: Wrist) -> Strokes:
            return strokes_off(self.bolt, wrist, nut, turns, suits)

        self._gripper("open", max(self.open_width, self.builder.width))
        chosen = self._any_way(z, z - self.bolt.pitch * turns, choose, holding=False)
        if comes_off:
            return InJaws(nut.roll + chosen.before_last - chosen.strokes[-1].grip)
        turned = -self.bolt.hand * turns * TURN
        return OnBolt(nut.bolt, nut.turns - turns, nut.roll + turned)

    def screw_on(self, nut: InJaws) -> OnBolt:
        """Screw the nut in the jaws on, leave it there, draw back; return where it is then."""
        turns, extra = self.step.turns or 0.0, self.step.extra_turns
        z = self.step.press - self.half
        if not self.bolt.start_known:
            warning = f"{self.name}: where the thread of {self.bolt.name} starts is not known"
            self.builder.warnings.append(f"{warning}; the nut may fall at the first regrasp")

        def choose(wrist: Wrist) -> Strokes:
            return strokes_on(self.bolt, wrist, nut, turns, extra)

        end = z + self.bolt.pitch * (turns + extra)
        chosen = self._any_way(z, end, choose, holding=True)
        last = chosen.strokes[-1]
        roll = nut.phase + last.grip + last.turn
        return OnBolt(self.bolt.name, chosen.turns - chosen.before_catching, roll)

    # -- one way after the other ----------------------------------------------------------------

    def _any_way(
        self, z: float, z_end: float, choose: Callable[[Wrist], Strokes], holding: bool
    ) -> Strokes:
        """Plan with the first way of holding the tool that lets everything be done."""
        chain, q = self.builder.chain, self.builder.q
        mark, refusal = self.builder.mark(), None
        try:
            for wrist in wrists(chain, self.bolt, z, z_end, q, self.step.tolerance):
                try:
                    return self._whole(wrist, choose(wrist), holding)
                except (Refused, OutOfReach) as failed:
                    refusal = refusal or self._refused(failed)
                    self.builder.back(mark)
        except OutOfReach as miss:
            refusal = refusal or self._refused(miss)
        raise refusal or self._refused(OutOfReach("out of reach"))

    def _whole(self, wrist: Wrist, chosen: Strokes, holding: bool) -> Strokes:
        first = Place(self.bolt, wrist.at.z, chosen.strokes[0].grip)
        self._come(wrist, first, holding)
        last = self._turn(chosen, first, holding)
        if self._leaves(chosen):
            self._gripper("open", self.open_width)
        away = min(last.z, 0.0) - self.step.approach
        self._move("draw back", last, Place(self.bolt, away, last.roll))
        return chosen

    def _leaves(self, chosen: Strokes) -> bool:
        """Return whether the nut stays on the bolt at the end."""
        if isinstance(self.step, ScrewOn):
            return True
        return self.step.turns is not None and chosen.turns == self.step.turns

    # -- motions ------------------------------------------------------------------------------

    def _come(self, wrist: Wrist, place: Place, holding: bool) -> None:
        """Move in front of a place and straight to it, so as to end in the wrist's own joints."""
        chain = self.builder.chain
        front = Place(self.bolt, place.z - self.step.approach, place.roll)
        there = wrist.turned(chain, place.roll, self.step.tolerance)
        out = along(chain, between(place, front), there, wish("full", self.loose))
        errors = out.position_error, out.orientation_error
        thing = "bolt" if holding else "nut"
        labels = self._labels(f"move in front of the {thing}")
        self.builder.joint_motion(labels, out.positions[-1], errors)
        push = "push the nut against the bolt" if holding else "go to the nut"
        self.builder.motion(self._labels(push), out.positions[::-1], errors)

    def _turn(self, chosen: Strokes, at: Place, holding: bool) -> Place:
        advance = self.bolt.hand * self.bolt.pitch / TURN
        count, done = len(chosen.strokes), 0.0
        for i, stroke in enumerate(chosen.strokes):
            if i > 0:
                self._gripper("open", self.open_width)
                again = Place(self.bolt, at.z, stroke.grip)
                self._move(f"turn back {i} of {count - 1}", at, again)
                at = again
            if i > 0 or not holding:
                self._gripper("grip", self.grip_width)
            goal = Place(self.bolt, at.z + advance * stroke.turn, at.roll + stroke.turn)
            done += abs(stroke.turn) / TURN
            part = f"turn {i + 1} of {count}, {done:.1f} of {chosen.turns:.1f} turns"
            self._move(part, at, goal, self.bolt.hand * stroke.turn / TURN)
            at = goal
        return at

    def _move(self, part: str, start: Place, goal: Place, turns: float = 0.0) -> None:
        labels = self._labels(part)
        tolerance = self.step.tolerance if start.roll != goal.roll else self.loose
        chain, asked = self.builder.chain, wish("full", tolerance)
        try:
            path = along(chain, between(start, goal), self.builder.q, asked)
        except OutOfReach as miss:
            raise self.builder.refuse(labels, miss) from None
        errors = path.position_error, path.orientation_error
        self.builder.motion(labels, path.positions, errors, turns)

    def _gripper(self, part: str, width: float) -> None:
        if width != self.builder.width:
            self.builder.gripper(self._labels(part), width)

    def _labels(self, part: str) -> Labels:
        doing = "screwing onto" if isinstance(self.step, ScrewOn) else "unscrewing from"
        return Labels(self.step, f"{self.name}: {part}", f"{doing} {self.step.bolt}: {part}")

    def _refused(self, failed: Refused | OutOfReach) -> Refused:
        if isinstance(failed, Refused):
            return failed
        return self.builder.refuse(Labels(self.step, self.name, self.name), failed)
