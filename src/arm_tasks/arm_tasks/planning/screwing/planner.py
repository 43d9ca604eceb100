# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plans unscrew and screw_on: turn coupled to advance, regrasping, search for the tip."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array
from arm_kinematics.paths.shapes import PathShape

from arm_tasks.planning.plan_builder import Labels, PlanBuilder
from arm_tasks.planning.screwing.strokes import (
    CAUGHT,
    Strokes,
    grip_score,
    rotation,
    strokes_off,
    strokes_on,
)
from arm_tasks.planning.screwing.wrist import Place, Wrist, between, wrists
from arm_tasks.planning.tool_path import path_options, tool_path
from arm_tasks.planning.world_model import InJaws, OnBolt
from arm_tasks.scene.payloads import SQUEEZE
from arm_tasks.scene.scene import TURN, Scene
from arm_tasks.task.steps import Orientation, Screw, ScrewOn, Tolerance

_BETWEEN = 0.8e-3  # from ring to ring [m]; the mouth of a nut is wider by far
_OUT = 0.25  # of a ring's time, to the first one
_PIECES = 400  # to measure its length


class Spiral(PathShape):
    """A spiral search: straight out in the xy plane, one ring, and ever smaller rings back.

    What is found on the way is passed by less and less afterwards (Jasim, Plapper, Voos, "Position
    identification in force-guided robotic peg-in-hole assembly tasks", Procedia CIRP 23, 2014).
    Decaying oscillations also leave the joints in the middle of their play, as in
    demagnetization. It begins at a pose (4, 4) in the middle, has a first ring of a radius [m],
    and turns by a roll about z [rad] on the way.
    """

    def __init__(self, start: Array, radius: float, roll: float) -> None:
        self._radius = radius
        self.rings = 1 + max(1, math.ceil(radius / _BETWEEN))
        super().__init__(start, np.array([0.0, 0.0, roll]), 0.0)
        points = np.array([self._position(i / _PIECES) for i in range(_PIECES + 1)])
        self.length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

    def _polar(self, share: float) -> tuple[float, float]:
        """Return distance from the middle [m] and angle [rad]; a fourth of a ring leads out."""
        rings = share * (self.rings + _OUT) - _OUT
        ends, distances = (-_OUT, 0.0, 1.0, self.rings), (0.0, self._radius, self._radius, 0.0)
        return float(np.interp(rings, ends, distances)), TURN * max(rings, 0.0)

    def _position(self, share: float) -> Array:
        r, angle = self._polar(share)
        out = np.array([r * math.cos(angle), r * math.sin(angle), 0.0])
        return np.asarray(self.start[:3, 3] + self.start[:3, :3] @ out)

    def _velocity(self, share: float) -> Array:
        r, angle = self._polar(share)
        rate = self.rings + _OUT
        rings = share * rate - _OUT
        slope = 1.0 / _OUT if rings < 0.0 else -1.0 / (self.rings - 1) if rings > 1.0 else 0.0
        dr, dangle = self._radius * rate * slope, 0.0 if rings < 0.0 else TURN * rate
        c, s = math.cos(angle), math.sin(angle)
        moving = np.array([dr * c - r * s * dangle, dr * s + r * c * dangle, 0.0])
        return np.asarray(self.start[:3, :3] @ moving)


_CLEAR = 7e-3  # by which open jaws are wider than the nut's corners [m]
_BACK = math.radians(90.0)  # by which it turns back during the search
_SLOW = 0.1  # share of the step's speed during the search: the nut has to fall into place
_GENTLE = 0.03  # share of it while play is compensated: a servo moves by half a degree
_BEYOND = 3e-3  # largest motion of the tool to compensate play [m]
_SURE = 0.6  # share of the tilt of cross-threading that is used; the rest is for servo errors


@dataclass
class ScrewPlanner:
    """Plans one unscrew or screw_on step onto a builder, under a name with its repetition."""

    builder: PlanBuilder
    scene: Scene
    step: Screw
    name: str

    def __post_init__(self) -> None:
        self.bolt = self.scene.bolt(self.step.bolt)
        nut = self.scene.the_nut()
        corners = nut.across_flats / math.cos(math.pi / 6.0)
        jaws = self.builder.jaws(self.step)
        squeezed = max(nut.across_flats - SQUEEZE, jaws.min_width)
        cleared = min(corners + _CLEAR, jaws.max_width)
        self.grip_width = squeezed if self.step.grip_width is None else self.step.grip_width
        self.open_width = cleared if self.step.open_width is None else self.step.open_width
        self.loose = Tolerance(self.step.tolerance.position, self.step.approach_tilt)
        self.half = nut.thickness / 2.0

    def unscrew(self, nut: OnBolt, then: ScrewOn | None) -> InJaws | OnBolt:
        """Plan to unscrew the nut, or to loosen it; return where it is then.

        The next screw_on step of the task, if there is one, decides the last grip.
        """
        requested = nut.turns if self.step.turns is None else self.step.turns
        comes_off = requested >= nut.turns
        turns = nut.turns + self.step.extra_turns if comes_off else requested
        chain, q = self.builder.chain, self.builder.q
        score = grip_score(chain, self.scene, nut, then, q) if then and comes_off else None
        z = self.bolt.depth(nut.turns) - self.half

        def choose(wrist: Wrist) -> Strokes:
            return strokes_off(self.bolt, wrist, nut, turns, score)

        self._gripper("open", max(self.open_width, self.builder.width))
        chosen = self._any_wrist(z, [z - self.bolt.pitch * turns], choose, holding=False)
        if comes_off:
            return InJaws(nut.roll + rotation(chosen.strokes[:-1]) - chosen.strokes[-1].grip)
        turned = -self.bolt.hand * turns * TURN
        return OnBolt(nut.bolt, nut.turns - turns, nut.roll + turned)

    def screw_on(self, nut: InJaws) -> OnBolt:
        """Plan to screw on the nut in the jaws, release it and retreat; return where it is."""
        turns, extra = self.step.turns or 0.0, self.step.extra_turns
        z = self.step.press - self.half
        if not self.bolt.start_known:
            warning = f"{self.name}: where the thread of {self.bolt.name} starts is unknown"
            self.builder.warnings.append(f"{warning}; the nut may fall at the first regrasp")

        def choose(wrist: Wrist) -> Strokes:
            return strokes_on(self.bolt, wrist, nut, turns, extra)

        end = self.bolt.pitch * (turns + extra) - self.half
        chosen = self._any_wrist(z, [-self.half, end], choose, holding=True)
        last = chosen.strokes[-1]
        roll = nut.phase + last.grip + last.turn
        return OnBolt(self.bolt.name, chosen.turns - chosen.before_catching, roll)

    def _any_wrist(
        self, z: float, others: Sequence[float], choose: Callable[[Wrist], Strokes], holding: bool
    ) -> Strokes:
        chain, q = self.builder.chain, self.builder.q
        return self.builder.first_feasible(
            Labels(self.step, self.name, self.name),
            lambda: wrists(chain, self.bolt, z, others, q, self.step.tolerance),
            lambda wrist: self._with_wrist(wrist, choose(wrist), holding),
        )

    def _with_wrist(self, wrist: Wrist, chosen: Strokes, holding: bool) -> Strokes:
        first = Place(self.bolt, wrist.at.z, chosen.strokes[0].grip)
        self._approach(wrist, first, holding)
        last = self._turn(chosen, first, holding)
        if isinstance(self.step, ScrewOn) or chosen.turns == self.step.turns:
            self._gripper("open", self.open_width)
        away = min(last.z, 0.0) - self.step.approach
        # the roll is free: at the end of the wrist's range the tilt may ask for a little more
        end = Place(self.bolt, away, last.roll)
        self._move("draw back", last, end, mode="axis", tolerance=self.loose)
        return chosen

    def _approach(self, wrist: Wrist, place: Place, holding: bool) -> None:
        """Move in front of a place and straight to it, ending in the wrist's configuration."""
        chain = self.builder.chain
        begin = self._beginning(wrist, place) if holding and self.step.search else place
        front = Place(self.bolt, place.z - self.step.approach, begin.roll)
        q = wrist.turned(chain, begin.roll, self.step.tolerance)
        out = tool_path(chain, between(begin, front), q, path_options("axis", self.loose))
        errors = out.position_error, out.orientation_error
        thing = "bolt" if holding else "nut"
        labels = self._labels(f"move in front of the {thing}")
        signs = np.sign(out.positions[0] - out.positions[-1])
        before = [self._play(out.positions[-1], -2.0 * signs)] if self.step.play else []
        self.builder.motion(labels, np.array([self.builder.q, *before, out.positions[-1]]), errors)
        push = "push the nut against the bolt" if holding else "go to the nut"
        with self.builder.touches(self.bolt.name if holding else ""):
            self.builder.motion(self._labels(push), out.positions[::-1], errors)
        self._settle(signs)
        if begin is not place:
            rings = Spiral(begin.pose, self.step.search, place.roll - begin.roll)
            with self.builder.touches(self.bolt.name):
                labels = self._labels("look for the tip", _SLOW)
                self.builder.follow(labels, rings, path_options("full", self.loose))
            self._settle(signs)

    def _settle(self, signs: Array) -> None:
        """Move on by half the play and back, so that the joints are where they are commanded.

        The signs (n,) are the directions of the joints' last motion.
        """
        if self.step.play:
            here, fk = self.builder.q, self.builder.chain.fk
            beyond = self._play(here, signs)
            way = float(np.linalg.norm((fk(beyond) - fk(here))[:3, 3]))
            beyond = here + (beyond - here) * min(1.0, _BEYOND / max(way, _BEYOND))
            rows = np.array([here, beyond, here])
            with self.builder.touches(self.bolt.name):  # only the command moves, not the arm
                self.builder.motion(self._labels("take up the play", _GENTLE), rows)

    def _play(self, q: Array, halves: Array) -> Array:
        """Return joint positions (n,) moved on by halves of the play, within the limits."""
        chain = self.builder.chain
        turning = ~np.asarray(chain.prismatic)
        moved = q + 0.5 * self.step.play * halves * turning
        return np.asarray(np.clip(moved, chain.lower, chain.upper))

    def _beginning(self, wrist: Wrist, place: Place) -> Place:
        """Return where the search begins: turned on, since it turns back during the search."""
        room = wrist.high - place.roll if self.bolt.hand > 0 else place.roll - wrist.low
        return Place(self.bolt, place.z, place.roll + self.bolt.hand * min(_BACK, room))

    def _turn(self, chosen: Strokes, at: Place, holding: bool) -> Place:
        count, done, skipped = len(chosen.strokes), 0.0, 0.0
        for i, stroke in enumerate(chosen.strokes):
            if self.builder.sketch and 0 < i < count - 1:
                skipped += self._advance(stroke.turn)  # all like the first
                continue
            if i > 0:
                self._gripper("open", self.open_width)
                again = Place(self.bolt, at.z + skipped, stroke.grip)
                before = self.builder.q
                self._move(f"turn back {i} of {count - 1}", at, again)
                self._settle(np.sign(self.builder.q - before))
                at = again
            if i > 0 or not holding:
                self._gripper("grip", self.grip_width)
            done += abs(stroke.turn) / TURN
            part = f"turn {i + 1} of {count}, {done:.1f} of {chosen.turns:.1f} turns"
            if i == 0 and holding and self.bolt.start_known:
                at = self._catch(chosen, at)
            roll = stroke.grip + stroke.turn
            z = at.z + self._advance(roll - at.roll)
            if i == 0 and holding:
                before_catching = self.bolt.pitch * chosen.before_catching
                z = min(z, self._advance(stroke.turn) - before_catching - self.half)
            goal = Place(self.bolt, z, roll)
            turns = self.bolt.hand * (roll - at.roll) / TURN
            with self.builder.touches(self.bolt.name if i == 0 and holding else ""):
                self._move(part, at, goal, turns)
            at = goal
        return at

    def _catch(self, chosen: Strokes, at: Place) -> Place:
        """Plan to turn under pressure until the thread must have caught; return where that is."""
        first = chosen.strokes[0].turn
        turn = min(chosen.before_catching * TURN + CAUGHT, abs(first)) * self.bolt.hand
        goal = Place(self.bolt, at.z, at.roll + turn)
        with self.builder.touches(self.bolt.name):
            part, turns = "turn until the thread catches", abs(turn) / TURN
            self._move(part, at, goal, turns, tolerance=self._upright())
        return goal

    def _advance(self, turn: float) -> float:
        return self.bolt.hand * self.bolt.pitch * turn / TURN

    def _upright(self) -> Tolerance:
        """Return the tolerance while the thread starts; a larger tilt would cross-thread it."""
        most = _SURE * math.atan(0.5 * self.bolt.pitch / self.bolt.diameter)
        return Tolerance(self.step.tolerance.position, min(self.step.tolerance.tilt, most))

    def _move(
        self,
        part: str,
        start: Place,
        goal: Place,
        turns: float = 0.0,
        mode: Orientation = "full",
        tolerance: Tolerance | None = None,
    ) -> None:
        options = path_options(mode, tolerance or self.step.tolerance)
        self.builder.follow(self._labels(part), between(start, goal), options, turns)

    def _gripper(self, part: str, width: float) -> None:
        if width != self.builder.width:
            self.builder.gripper(self._labels(part), width)

    def _labels(self, part: str, speed: float = 1.0) -> Labels:
        doing = "screwing onto" if isinstance(self.step, ScrewOn) else "unscrewing from"
        step = replace(self.step, speed=speed * self.step.speed)
        return Labels(step, f"{self.name}: {part}", f"{doing} {self.step.bolt}: {part}")
