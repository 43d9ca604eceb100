# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plans unscrew, screw_on, regrasp, find_thread: coupled turn and advance, search for the tip."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import tee

import numpy as np
from arm_common.transforms import Array, wrap
from arm_description.model.gripper import Gripper
from arm_description.model.units import deg, mm

from arm_tasks.planning.plan import ThreadSearch
from arm_tasks.planning.plan_builder import Labels, PlanBuilder
from arm_tasks.planning.screwing.last_grip import (
    FIRM,
    FIRM_FIRST,
    NextGrip,
    OffOption,
    grip_score,
    off_options,
    off_warning,
    regrasp_strokes,
)
from arm_tasks.planning.screwing.strokes import (
    MIN_CAUGHT,
    OTHER_GRIP,
    GripScore,
    NoLastGrip,
    Stroke,
    Strokes,
    rotation,
    screw_on_strokes,
    turn_back,
    unscrew_strokes,
)
from arm_tasks.planning.screwing.wrist import Place, Spiral, Wrist, between, wrists
from arm_tasks.planning.tool_path import OutOfReach, path_options, tool_path
from arm_tasks.planning.world_model import InJaws, OnBolt
from arm_tasks.scene.grasp import holding_width
from arm_tasks.scene.scene import CATCH_TURNS, PIN_OVERHANG, TURN, Nut, Scene
from arm_tasks.task.steps import (
    FindThread,
    HandleNut,
    Orientation,
    Regrasp,
    Screw,
    ScrewOn,
    Tolerance,
    TurnNut,
    Unscrew,
)

_CLEARANCE = 7e-3  # clearance of open jaws beyond the nut's corners [m]
_SEARCH_TURN = math.radians(90.0)  # the search turns back by this angle
_SEARCH_SPEED = 0.1  # fraction of the step's speed, so that the nut can fall into place
_PUSH_SPEED = 0.25  # the same, so that no impact tilts the nut in the jaws
_PLAY_SPEED = 0.03  # the same while play is compensated by half a degree
_MAX_SETTLING = 3e-3  # largest tool motion to compensate play [m]
_SWING_SPEED = 0.06  # fraction of the step's speed
_SWINGS = [(-1) ** k * (2.0 - 0.2 * k) for k in range(10)]  # multiples of half the play
_CLICK_SPEED = math.radians(4.0)  # of a joint; a person reacts in about 0.3 s [rad/s]
# Levels of the score of a last grip. The middle of a turn back is within 30 degrees of the desired
# roll where the grips, a sixth of a turn apart, allow it.
_MIDDLES = math.radians(149.0), math.radians(119.0), 0.0
StrokeChoice = Callable[[Wrist], Strokes]
_TILT_SHARE = 0.6  # used fraction of the largest starting tilt; the rest is for servo errors


def width_problem(grip: float | None, cleared: float | None, nut: Nut, jaws: Gripper) -> str:
    """Return why jaws cannot hold or clear a nut with the widths of a step [m], or ""."""
    flats, corners = nut.across_flats * 1e3, nut.corners * 1e3
    if nut.corners > jaws.max_width:
        open_to = f"the jaws open to {mm(jaws.max_width)}"
        return f"{open_to}; the nut's corners are {corners:.2f} mm apart"
    if nut.across_flats < jaws.min_width:
        close_to = f"the jaws close to {mm(jaws.min_width)}"
        return f"{close_to}; the nut's flats are {flats:g} mm apart"
    if grip is not None and grip > nut.across_flats:
        wide = f"a grip width of {mm(grip)} does not hold the nut"
        return f"{wide}; its flats are {flats:g} mm apart"
    if cleared is not None and cleared < nut.corners:
        narrow = f"an open width of {mm(cleared)} does not clear the nut"
        return f"{narrow}; its corners are {corners:.2f} mm apart"
    return ""


@dataclass
class ScrewPlanner:
    """Plans one step that handles the nut and adds it to a builder."""

    builder: PlanBuilder
    scene: Scene
    step: HandleNut
    name: str

    def __post_init__(self) -> None:
        self.bolt = self.scene.bolt(self.step.bolt)
        self._thread: ThreadSearch | None = None  # of find_thread
        nut, jaws, step = self.scene.require_nut(), self.builder.jaws(self.step), self.step
        grip = cleared = None
        if isinstance(step, Screw | Regrasp):
            grip, cleared = step.grip_width, step.open_width
        fits = self.scene.pin_misfit if isinstance(step, Regrasp) else self.scene.misfit
        if misfit := fits(step.bolt) or width_problem(grip, cleared, nut, jaws):
            raise self.builder.invalid(step, misfit)
        self.grip_width = holding_width(jaws, nut.across_flats) if grip is None else grip
        widest = min(nut.corners + _CLEARANCE, jaws.max_width)
        self.open_width = widest if cleared is None else cleared
        self.approach_tolerance = Tolerance(step.tolerance.position, step.approach_tilt)
        self.half_nut = nut.thickness / 2.0

    @property
    def _keeps_pressing(self) -> bool:
        step = self.step
        return not isinstance(step, Screw) or (isinstance(step, ScrewOn) and step.keep_pressing)

    def unscrew(self, step: Unscrew, nut: OnBolt, then: NextGrip | None) -> InJaws | OnBolt:
        """Plan to unscrew or loosen the nut; return where it is afterwards.

        The next step of the task that handles the nut, if any, determines the last grip.
        """
        requested = nut.turns if step.turns is None else step.turns
        comes_off = requested >= nut.turns
        options = off_options(self.bolt, nut, step) if comes_off else [OffOption([requested])]
        if isinstance(then, FindThread):
            options = options[1:] or options  # the middle of the turn back matters more
        score = self._grip_score(nut, then if comes_off else None)
        self._gripper("open", max(self.open_width, self.builder.width))
        z = self.bolt.depth(nut.turns) - self.half_nut
        end = z - self.bolt.pitch * max(options[0].turns)
        choices = self._off_choices(nut, options, then, score)
        chosen = self._choose_wrist(z, [end], choices, holding=False, release=not comes_off)
        if comes_off:
            next_score = score() if isinstance(then, ScrewOn) else None
            if risk := off_warning(self.bolt, nut, step, chosen, next_score):
                self.builder.warnings.append(f"{self.name}: {risk}; {OTHER_GRIP}")
            return InJaws(nut.roll + rotation(chosen.strokes[:-1]) - chosen.strokes[-1].grip)
        turned = -self.bolt.hand * requested * TURN
        return OnBolt(nut.bolt, nut.turns - requested, nut.roll + turned)

    def _off_choices(
        self,
        nut: OnBolt,
        options: Sequence[OffOption],
        then: NextGrip | None,
        score: Callable[[], GripScore | None],
    ) -> list[StrokeChoice]:
        """Return choices of strokes; all but the first are for a NoLastGrip of the first."""

        def choose(option: OffOption, wrist: Wrist) -> Strokes:
            firm = FIRM_FIRST if option.held else FIRM_FIRST[1:]
            levels = _MIDDLES if isinstance(then, FindThread) else firm
            turns, held = option.turns, option.held
            return unscrew_strokes(self.bolt, wrist, nut, turns, score(), held, levels)

        def choose_less_safe(option: OffOption, wrist: Wrist) -> Strokes:
            with suppress(NoLastGrip):
                choose(options[0], wrist)
                raise OutOfReach("there is a safer last grip")
            return choose(option, wrist)

        less_safe = (partial(choose_less_safe, option) for option in options[1:])
        return [partial(choose, options[0]), *less_safe]

    def _grip_score(self, nut: OnBolt, then: NextGrip | None) -> Callable[[], GripScore | None]:
        chain, q = self.builder.chain, self.builder.q

        @cache  # slow, and not needed if the nut is out of reach
        def score() -> GripScore | None:
            if then is None:
                return None
            make = partial(grip_score, chain, self.scene, nut, then, q)
            return self.builder.remembered("score", make)

        return score

    def regrasp(self, step: Regrasp, nut: InJaws, then: NextGrip | None) -> InJaws:
        """Plan to grip the nut in the jaws anew on a pin, as suits the next thread; return it."""
        score = self._grip_score(OnBolt(step.bolt, 0.0, nut.phase), then)()
        if score is None:
            what = f"{self.name} needs a following screw_on onto a bolt with a thread_start"
            raise self.builder.invalid(step, what)
        z = self.half_nut + PIN_OVERHANG
        choose = partial(regrasp_strokes, score)
        chosen = self._choose_wrist(z, [-self.half_nut], [choose], holding=True)
        leave, grip = (stroke.grip for stroke in chosen.strokes)
        return InJaws(wrap(nut.phase + leave - grip))

    def find_thread(self, step: FindThread, nut: InJaws) -> None:
        """Plan to turn the nut in the jaws back on the bolt's end, and to retreat."""
        self._thread = ThreadSearch(self.bolt, nut, step.click_depth)

        def choose(wrist: Wrist) -> Strokes:
            return Strokes([turn_back(self.bolt, wrist)], 0.0)

        z = step.press - self.half_nut
        self._choose_wrist(z, [-self.half_nut], [choose], holding=True)

    def screw_on(self, step: ScrewOn, nut: InJaws) -> OnBolt:
        """Plan to screw on the nut in the jaws and to retreat; return where the nut is then."""
        turns, extra = step.turns or 0.0, step.extra_turns
        z = step.press - self.half_nut
        if not self.bolt.start_known:
            warning = f"{self.name}: where the thread of {self.bolt.name} starts is unknown"
            self.builder.warnings.append(f"{warning}; the nut may fall at the first regrasp")

        def choose(wrist: Wrist) -> Strokes:
            return screw_on_strokes(self.bolt, wrist, nut, turns, extra)

        room = self.bolt.max_turns - CATCH_TURNS
        if turns + extra > room:
            most = f"{self.bolt.name} has thread for {room:.1f} turns after the thread has caught"
            what = f"{turns:g} turns and {extra:g} extra_turns are too many; {most}"
            raise self.builder.invalid(self.step, what)
        end = self.bolt.pitch * (turns + extra) - self.half_nut
        at = [-self.half_nut, end]
        chosen = self._choose_wrist(z, at, [choose], holding=True, release=True)
        first, last = chosen.strokes[0], chosen.strokes[-1]
        caught = abs(first.turn) - chosen.before_catching * TURN
        if self._keeps_pressing and self.bolt.start_known and first is not last and caught < FIRM:
            self.builder.warnings.append(
                f"{self.name}: the nut may fall at the first regrasp, {deg(caught, 0)} "
                f"after the thread catches; {deg(FIRM, 0)} hold it firmly"
            )
        roll = nut.phase + last.grip + last.turn
        caught_turns = CATCH_TURNS if self.bolt.start_known else 0.0
        on = chosen.turns - chosen.before_catching + caught_turns
        return OnBolt(self.bolt.name, on, roll)

    def _choose_wrist(
        self,
        z: float,
        others: Sequence[float],
        choices: Sequence[StrokeChoice],
        holding: bool,
        release: bool = False,
    ) -> Strokes:
        """Plan with the first choice of strokes that is feasible with any wrist."""
        chain, q = self.builder.chain, self.builder.q

        def found() -> Iterator[Wrist]:
            return tee(wrists(chain, self.bolt, z, others, q, self.step.tolerance), 1)[0]

        def options() -> Iterator[tuple[Wrist, StrokeChoice]]:
            for choose in choices:
                for wrist in copy(self.builder.remembered("wrists", found)):
                    yield wrist, choose

        return self.builder.first_feasible(
            Labels(self.step, self.name, self.name),
            options,
            lambda each: self._plan_with_wrist(each[0], each[1](each[0]), holding, release),
        )

    def _plan_with_wrist(
        self, wrist: Wrist, chosen: Strokes, holding: bool, release: bool
    ) -> Strokes:
        first = Place(self.bolt, wrist.at.z, chosen.strokes[0].grip)
        self._approach(wrist, first, holding)
        if self._thread is not None:
            last = self._turn_back(chosen.strokes[0], first, self._thread)
        elif isinstance(self.step, Regrasp):
            again = replace(first, roll=chosen.strokes[1].grip)
            last = self._grip_anew(first, again, "turn to other flats")
        else:
            last = self._turn(chosen, first, holding)
        if release:
            self._gripper("open", self.open_width)
        away = min(last.z, 0.0) - self.step.approach
        # the roll is free, as the tilt may need a little more at the end of the wrist's range
        end = Place(self.bolt, away, last.roll)
        self._move("retreat", last, end, mode="axis", tolerance=self.approach_tolerance)
        return chosen

    def _approach(self, wrist: Wrist, place: Place, holding: bool) -> None:
        """Plan a motion in front of a place and straight to it, in the wrist's configuration."""
        chain = self.builder.chain
        step = self.step
        searching = step if holding and isinstance(step, TurnNut) and step.search else None
        begin = self._search_start(wrist, place, searching.press) if searching else place
        front = Place(self.bolt, place.z - self.step.approach, begin.roll)
        q = wrist.joints_at(chain, begin.roll, self.step.tolerance)
        options = path_options("axis", self.approach_tolerance)
        if begin.z != wrist.at.z:
            deep = replace(begin, z=wrist.at.z)
            q = np.asarray(tool_path(chain, between(deep, begin), q, options).positions[-1])
        out = tool_path(chain, between(begin, front), q, options)
        errors = out.position_error, out.orientation_error
        labels = self._labels(f"move in front of the {'bolt' if holding else 'nut'}")
        signs = np.sign(out.positions[0] - out.positions[-1])
        before = [self._play(out.positions[-1], -2.0 * signs)] if self.step.play else []
        self.builder.motion(labels, np.array([self.builder.q, *before, out.positions[-1]]), errors)
        speed = 1.0
        if self._keeps_pressing:
            self._swing(signs)
            speed = _PUSH_SPEED
        push = "push the nut against the bolt" if holding else "go to the nut"
        with self.builder.allow_contact(self.bolt.name if holding else ""):
            self.builder.motion(self._labels(push, speed), out.positions[::-1], errors)
        self._settle(signs)
        if searching:
            turn, more = place.roll - begin.roll, place.z - begin.z
            mouth = self.scene.nut_thread.mouth
            rings = Spiral(begin.pose, searching.search, turn, mouth, more)
            with self.builder.allow_contact(self.bolt.name):
                labels = self._labels("search for the tip", _SEARCH_SPEED)
                self.builder.follow(labels, rings, path_options("full", self.approach_tolerance))
            self._settle(signs)

    def _settle(self, signs: Array) -> None:
        """Overshoot by half the play and return, so that the joints reach the commanded positions.

        The signs (n,) are the directions of the joints' last motion.
        """
        if self.step.play:
            q, fk = self.builder.q, self.builder.chain.fk
            beyond = self._play(q, signs)
            distance = float(np.linalg.norm((fk(beyond) - fk(q))[:3, 3]))
            beyond = q + (beyond - q) * min(1.0, _MAX_SETTLING / max(distance, _MAX_SETTLING))
            rows = np.array([q, beyond, q])
            with self.builder.allow_contact(self.bolt.name):  # only the command moves
                self.builder.motion(self._labels("compensate play", _PLAY_SPEED), rows)

    def _swing(self, signs: Array) -> None:
        """Swing to both sides of the position, ever less, starting with the signs (n,).

        This leaves the joints in the middle of their play, whatever it is up to twice the one that
        the step assumes, as in demagnetization; dry friction acts like more play.
        """
        if self.step.play:
            q = self.builder.q
            rows = np.array([q, *(self._play(q, share * signs) for share in _SWINGS), q])
            self.builder.motion(self._labels("compensate play", _SWING_SPEED), rows)

    def _play(self, q: Array, halves: Array) -> Array:
        """Return joint positions (n,) shifted by multiples of half the play, within the limits."""
        chain = self.builder.chain
        turning = ~np.asarray(chain.sliding)
        moved = q + 0.5 * self.step.play * halves * turning
        shift = np.clip(moved, chain.lower, chain.upper) - q
        return np.asarray(q + chain.constraints.share(q, shift) * shift)

    def _search_start(self, wrist: Wrist, place: Place, press: float) -> Place:
        """Return the start of the search, turned ahead because the search turns back.

        A press that is kept rises from half during the search: the joints yield by angles, not
        straight back, and a firm press would drive the nut past the tip before it is found.
        """
        room = wrist.high - place.roll if self.bolt.hand > 0 else place.roll - wrist.low
        roll = place.roll + self.bolt.hand * min(_SEARCH_TURN, room)
        rise = press / 2.0 if self._keeps_pressing else 0.0
        return Place(self.bolt, place.z - rise, roll)

    def _turn(self, chosen: Strokes, at: Place, holding: bool) -> Place:
        count, done, skipped = len(chosen.strokes), 0.0, 0.0
        for i, stroke in enumerate(chosen.strokes):
            if self.builder.sketch and 0 < i < count - 1:
                skipped += self._advance(stroke.turn)  # all are like the first
                continue
            if i > 0:
                again = Place(self.bolt, at.z + skipped, stroke.grip)
                at = self._grip_anew(at, again, f"turn back {i} of {count - 1}")
            elif not holding:
                self._gripper("grip", self.grip_width)
            done += abs(stroke.turn) / TURN
            part = f"turn {i + 1} of {count}, {done:.1f} of {chosen.turns:.1f} turns"
            if i == 0 and holding and self.bolt.start_known:
                at = self._catch(chosen, at)
            roll = stroke.grip + stroke.turn
            z = at.z + self._advance(roll - at.roll)
            if i == 0 and holding and not self._keeps_pressing:
                before_catching = self.bolt.pitch * chosen.before_catching
                z = min(z, self._advance(stroke.turn) - before_catching - self.half_nut)
            goal = Place(self.bolt, z, roll)
            turns = self.bolt.hand * (roll - at.roll) / TURN
            with self.builder.allow_contact(self.bolt.name if i == 0 and holding else ""):
                self._move(part, at, goal, turns)
            at = goal
        return at

    def _grip_anew(self, at: Place, goal: Place, part: str) -> Place:
        """Plan to open the jaws, move them to another place and close them; return that place."""
        self._gripper("open", self.open_width)
        before = self.builder.q
        self._move(part, at, goal)
        self._settle(np.sign(self.builder.q - before))
        self._gripper("grip", self.grip_width)
        return goal

    def _turn_back(self, stroke: Stroke, at: Place, thread: ThreadSearch) -> Place:
        """Plan to turn back so slowly that a person can tell the moment of the click."""
        goal, chain = Place(self.bolt, at.z, at.roll + stroke.turn), self.builder.chain
        share = _CLICK_SPEED / float(chain.velocity[~np.asarray(chain.sliding)].max())
        ends = (math.degrees(wrap(thread.nut.phase + place.roll)) for place in (at, goal))
        part = "turn back until the nut clicks, from {:.0f} to {:.0f} deg".format(*ends)
        labels = self._labels(part, min(1.0, share / self.step.speed))
        options = path_options("full", self._threading_tolerance())
        with self.builder.allow_contact(self.bolt.name):
            self.builder.follow(labels, between(at, goal), options)
        steps = self.builder.steps
        steps[-1] = replace(steps[-1], thread=thread)
        return goal

    def _catch(self, chosen: Strokes, at: Place) -> Place:
        """Plan a turn under pressure until the thread must have caught; return its end."""
        first = chosen.strokes[0].turn
        turn = min(chosen.before_catching * TURN + MIN_CAUGHT, abs(first)) * self.bolt.hand
        goal = Place(self.bolt, at.z, at.roll + turn)
        with self.builder.allow_contact(self.bolt.name):
            part, turns = "turn until the thread catches", abs(turn) / TURN
            self._move(part, at, goal, turns, tolerance=self._threading_tolerance())
        return goal

    def _advance(self, turn: float) -> float:
        return self.bolt.hand * self.bolt.pitch * turn / TURN

    def _threading_tolerance(self) -> Tolerance:
        """Return the tolerance while the thread starts, which needs a small tilt."""
        most = _TILT_SHARE * self.bolt.thread.starting_tilt
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
        step = replace(self.step, speed=speed * self.step.speed)
        return Labels(step, self.name, f"{step.doing} {step.bolt}: {part}", part)
