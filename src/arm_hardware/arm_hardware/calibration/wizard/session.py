# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Guided calibration of an arm's servos with keys, which writes a calibration file.

However it ends, pulses continue unchanged: the arm is held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from pathlib import Path

from arm_common.terminal import Screen

from arm_description import RobotModel
from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import Calibration, ServoCalibration
from arm_hardware.calibration.file import TO_SI, wires_of
from arm_hardware.calibration.pulses import MeasuredPulses, Pulses
from arm_hardware.calibration.store import change
from arm_hardware.calibration.wizard.draft import CalibrationDraft, number
from arm_hardware.calibration.wizard.mechanisms import LENGTHS, STOPS, WHICH, Mechanism
from arm_hardware.calibration.wizard.partners import ServoPartners
from arm_hardware.calibration.wizard.terms import BOARD_TERMS, MEASURED_TERMS
from arm_hardware.errors import HardwareError

STEPS = {
    **{"right": 1, ".": 1, "left": -1, ",": -1},
    **{"up": 10, ">": 10, "down": -10, "<": -10},
}


class CalibrationSession:
    """A guided calibration, starting from a file's text; its constructor sends nothing."""

    _terminal: Screen

    def __init__(
        self,
        path: Path,
        text: bytes,
        calibration: Calibration,
        pulses: Pulses,
        today: date,
        model: RobotModel | None = None,
    ) -> None:
        """Begin with a file's text; without a robot, positions are those of its actuators."""
        self._path, self._text, self._today = path, text, today
        self._pulses = pulses
        self._measures = isinstance(pulses, MeasuredPulses)
        self._terms = MEASURED_TERMS if self._measures else BOARD_TERMS
        self._wires = wires_of(calibration.board)
        self._names = list(calibration.servos)
        self._at = 0
        self._mechanisms = {} if model is None else _mechanisms(model)
        self._unknown = "that needs the robot; start with --robot" if model is None else ""
        self._partners = ServoPartners(model, calibration.board.count_us)
        self._quarter = 90.0 / (360.0 / 4096.0) if self._measures else 1000.0
        self._feeling = ""  # the servo that is stepped with little force
        self._begin(calibration)
        self._actions: dict[str, Callable[[], object]] = {
            "n": lambda: self._go(1),
            "b": lambda: self._go(-1),
            "p": self._first,
            "m": self._measure,
            "u": self._undo,
            "k": lambda: self._draft.keep_file_points(),
            "c": self._change_channel,
            "[": lambda: self._bound(0),
            "]": lambda: self._bound(1),
            "r": self._release,
            "g": self._guide,
            "f": self._feel,
            "+": lambda: self._align(1),
            "-": lambda: self._align(-1),
            "t": self._gear,
            "l": self._linkage,
            "w": self._write,
            " ": lambda: None,
            "h": lambda: self._terminal.print(self._terms.help),
            "?": lambda: self._terminal.print(self._terms.help),
        }
        for key, steps in STEPS.items():
            self._actions[key] = partial(self._step, steps)

    def run(self, terminal: Screen) -> None:
        """Handle keys until the user quits."""
        self._terminal = terminal
        terminal.print(self._terms.help)
        for name, count in self._pulses.counts.items():
            if count is not None:
                us = self._pulses.us(name)
                terminal.print(self._terms.holds.format(name=name, us=us))
        while True:
            terminal.show(self.status())
            key = terminal.key()
            if key == "q" and self._may_quit():
                self._end_feeling()
                return
            try:
                if key in self._actions:
                    self._actions[key]()
                elif key.strip() and key != "q":
                    terminal.print(f"Unknown key {key!r}; h lists the keys.")
            except HardwareError as error:
                terminal.print(str(error))

    def status(self) -> str:
        """Return one line about the current servo, newest point first in case it is cut off."""
        name, draft = self._name, self._draft
        pulse = self._terms.limp
        if self._pulses.counts[name] is not None:
            pulse = f"{self._pulses.us(name):.1f} us"
        if self._measures:
            pulse = self._measured_text(name)
        points = ", ".join(
            f"{draft.joint_position(place):g} {draft.unit}: {us:.0f}"
            for place, us in reversed(draft.points.items())
        )
        channel = f"{self._wires.channel} {draft.channel}"
        mechanism = self._mechanism()
        of = "" if mechanism is None or mechanism.is_direct else " of the servo"
        return f"{name} ({channel})  {pulse}  new points{of}: {points or 'none'}"

    def _measured_text(self, name: str) -> str:
        """Return the measured count of a servo and whether it holds."""
        limp = self._pulses.counts[name] is None
        try:
            return f"{self._pulses.us(name):.0f} counts, {self._terms.limp if limp else 'holds'}"
        except HardwareError:
            return "does not answer"

    @property
    def _name(self) -> str:
        return self._names[self._at]

    @property
    def _draft(self) -> CalibrationDraft:
        return self._drafts[self._name]

    def _begin(self, calibration: Calibration) -> None:
        self._measured: dict[str, list[tuple[float, float]]] = {}  # joint positions and pulses
        self._drafts = {
            name: CalibrationDraft(servo, self._wires)
            for name, servo in calibration.servos.items()
        }

    def _values(self) -> dict[str, Mapping[str, str]]:
        found = {name: draft.values(self._today) for name, draft in self._drafts.items()}
        return {name: values for name, values in found.items() if values}

    def _go(self, offset: int) -> None:
        self._end_feeling()
        self._at = (self._at + offset) % len(self._names)

    def _has_pulses(self) -> bool:
        has = self._pulses.counts[self._name] is not None
        if not has:
            self._terminal.print(self._terms.no_step.format(name=self._name))
        return has

    def _holding(self) -> list[str]:
        """Return the servos with pulses that share the joint of the current one."""
        return [n for n in self._partners.of(self._name) if self._pulses.counts[n] is not None]

    def _step(self, steps: int) -> None:
        if not self._has_pulses():
            return
        if self._holding():
            self._step_together(1 if steps > 0 else -1, abs(steps))
            return
        step = self._pulses.tap if self._feeling else self._pulses.step
        if not step(self._name, steps):
            self._terminal.print(
                f"{self._name} is at the end of its counts."
                if self._measures
                else f"{self._name} is at the end of its safe pulses (safe_pulses_us of the file)."
            )

    def _servos(self) -> dict[str, ServoCalibration]:
        return {name: draft.result(self._today) for name, draft in self._drafts.items()}

    def _step_together(self, step: int, times: int) -> None:
        """Step all servos of a joint together, by single counts."""
        name, servos, counts = self._name, self._servos(), self._pulses.counts
        names = [name, *self._holding()]
        if any(servos[n].calibrated is None for n in names):
            self._terminal.print(
                f"{' and '.join(names)} hold one joint, but their pulses are not measured, so "
                "they cannot move together; r releases them."
            )
            return
        start = {n: counts[n] or 0 for n in names}
        for k in range(1, times + 1):
            count = start[name] + k * step
            to = {name: count}
            for other in names[1:]:
                beside = partial(self._partners.count_beside, other, name, servos)
                to[other] = start[other] + beside(count) - beside(start[name])
            if not all(self._partners.measured(servos[n], c) for n, c in to.items()):
                self._terminal.print(
                    f"That is beyond the measured points of {' or '.join(names)}; measure farther "
                    "ones with the other servo limp (r)."
                )
                return
            self._pulses.move(to)

    def _align(self, step: int) -> None:
        """Turn one servo of a joint against the others, no farther than is allowed."""
        others = self._holding()
        if not others or self._pulses.counts[self._name] is None:
            self._terminal.print(
                f"{self._name} is not one of several servos that hold a joint; . and , step it."
            )
            return
        count, servos = (self._pulses.counts[self._name] or 0) + step, self._servos()
        for other in others:
            both = (count, self._pulses.counts[other] or 0)
            away, allowed = self._partners.difference(self._name, other, servos, both)
            if away > allowed:
                self._terminal.print(
                    f"It would differ from {other} by {away:.2g} {self._draft.unit}, more than "
                    f"the allowed {allowed:.3g}, and work against it."
                )
                return
        self._pulses.step(self._name, step)

    def _join(self, other: str) -> None:
        """Send a servo its first pulse where another one holds its joint."""
        name, servos = self._name, self._servos()
        unmeasured = [n for n in (other, name) if servos[n].calibrated is None]
        if unmeasured:
            self._terminal.print(
                f"{other} holds the joint, and {name} would work against it: first measure "
                f"{' and '.join(unmeasured)}, the other one limp (r)."
            )
            return
        held = self._pulses.counts[other] or 0
        if not self._partners.measured(servos[other], held):
            self._terminal.print(f"{other} is beyond its measured points; step it back first.")
            return
        self._terminal.print(
            f"{name} turns AT ONCE to the position where {other} holds the joint. Keep clear, be "
            "ready to cut its power."
        )
        if self._yes("Send it?"):
            self._pulses.first(name, self._partners.count_beside(name, other, servos, held))

    def _guide(self) -> None:
        mechanism = self._mechanism()
        self._terminal.print(mechanism.guide() if mechanism else f"{self._name}: {WHICH}\n{STOPS}")

    def _mechanism(self) -> Mechanism | None:
        return self._mechanisms.get(self._name)

    def _feel(self) -> None:
        """Begin or end steps with little force."""
        name = self._name
        if self._feeling:
            self._end_feeling()
        elif self._measures:
            self._terminal.print(
                "Not needed: without torque, move it to the stop by hand, then [ or ]."
            )
        elif self._holding():
            self._terminal.print(
                f"Not with {self._holding()[0]} holding the joint; r releases it."
            )
        elif self._has_pulses() and self._yes(f"{name} goes limp between steps. Hold the arm?"):
            self._feeling = name
            self._pulses.end(name)
            self._terminal.print(f"Each step of {name} now pushes for a moment only; f ends that.")

    def _end_feeling(self) -> None:
        if self._feeling:
            name, self._feeling = self._feeling, ""
            self._pulses.release(name)
            self._terminal.print(f"{name} is limp; p sends pulses again.")

    def _gear(self) -> None:
        """Find the ratio of a gear."""
        mechanism = self._mechanism()
        rows = self._measured.get(self._name, [])
        try:
            if mechanism is None:
                raise ValueError(self._unknown or f"the {self._name} is no joint")
            positions, pulses = [row[0] for row in rows], [row[1] for row in rows]
            quarter = self._quarter
            if len(rows) >= 3:
                self._terminal.show(
                    f"{self._terms.unit} by which the servo's own horn turns by 90 deg (Enter: "
                    f"{quarter:g}): "
                )
                quarter = abs(number(self._terminal.line().strip() or f"{quarter:g}"))
            self._terminal.print(mechanism.gear(positions, pulses, quarter or math.nan))
        except ValueError as error:
            self._terminal.print(f"No ratio: {error}.")

    def _linkage(self) -> None:
        """Check the lengths of a linkage."""
        mechanism = self._mechanism()
        try:
            if mechanism is None:
                raise ValueError(self._unknown or f"the {self._name} is no joint")
            self._terminal.show(
                f"{', '.join(LENGTHS)}, in mm, with spaces between (Enter: none): "
            )
            typed = self._terminal.line().split()
            if typed:
                self._terminal.print(mechanism.linkage([number(text) for text in typed]))
        except ValueError as error:
            self._terminal.print(f"Not accepted: {error}.")

    def _first(self) -> None:
        name = self._name
        if self._pulses.counts[name] is not None:
            self._terminal.print(f"{name} gets {self._terms.end} already.")
            return
        if self._measures:
            self._pulses.first(name)
            return
        if self._holding():
            self._join(self._holding()[0])
            return
        self._terminal.print(
            f"The first pulse makes {name} turn AT ONCE and as fast as it can, from its "
            "unknown position to the middle\nof its pulse limits. Keep clear, be ready to cut its "
            "power."
        )
        if self._yes("Send it?"):
            self._pulses.first(name)

    def _measure(self) -> None:
        name, draft = self._name, self._draft
        if not self._measures and not self._has_pulses():
            return
        pulse, mechanism = self._pulses.us(name), self._mechanism()
        jaws = "angle of a jaw" if draft.unit == "deg" else "width of the gripper"
        what = jaws if name == GRIPPER else f"position of joint {name}"
        what = mechanism.question if mechanism else what
        self._terminal.show(f"Measured {what}, in {draft.unit} (Enter: none): ")
        typed = self._terminal.line().split()
        try:
            if typed:
                self._record([number(text) for text in typed], pulse)
        except ValueError as error:
            self._terminal.print(f"Not recorded: {error}.")

    def _undo(self) -> None:
        self._draft.undo()
        if self._measured.get(self._name):
            self._measured[self._name].pop()

    def _record(self, joints: list[float], pulse: float) -> None:
        """Add a point for measured joints, also to the servos that hold the same joint."""
        for name in (self._name, *self._holding()):
            mechanism, draft = self._mechanisms.get(name), self._drafts[name]
            if mechanism is None and len(joints) != 1:
                raise ValueError("one number is needed")
            at = mechanism.actuator_position(joints, TO_SI[draft.unit]) if mechanism else joints[0]
            us = pulse if name == self._name else self._pulses.us(name)
            draft.add_point(at, us)
            self._measured.setdefault(name, []).append((joints[0], us))

    def _change_channel(self) -> None:
        name, draft = self._name, self._draft
        if self._pulses.counts[name] is not None:
            what = f"{self._wires.channel} {draft.channel}"
            self._terminal.print(f"{name} gets {self._terms.end} on {what}; r releases it.")
            return
        last, kind = self._wires.channels[-1], self._wires.channel
        self._terminal.show(
            f"{kind.capitalize()} of {name}, 0 to {last} (Enter: {draft.channel}): "
        )
        typed = self._terminal.line().strip()
        used = {other.channel: n for n, other in self._drafts.items() if other is not draft}
        if typed not in map(str, self._wires.channels):
            if typed:
                self._terminal.print(f"Not changed: {typed!r} is not 0 to {last}.")
        elif int(typed) in used:
            self._terminal.print(
                f"Not changed: {kind} {typed} is that of {used[int(typed)]}; change that first."
            )
        else:
            self._pulses.assign(name, int(typed))
            draft.channel = int(typed)

    def _bound(self, end: int) -> None:
        if not self._measures and not self._has_pulses():
            return
        us = round(self._pulses.us(self._name), 3)
        self._draft.clamp[end] = us
        bound = f"{self._terms.bounds[end]} than {us:.0f} {self._terms.unit}"
        self._terminal.print(f"{self._name}: never {bound}.")

    def _release(self) -> None:
        names = [self._name, *self._holding()]
        what = f"{self._name} will go limp, and its load sinks. Release it?"
        if len(names) > 1 and self._pulses.counts[self._name] is not None:
            what = f"{' and '.join(names)} will go limp together, and their load sinks. Release?"
        if self._yes(what):
            self._feeling = ""
            for name in names if self._pulses.counts[self._name] is not None else names[:1]:
                self._pulses.release(name)

    def _write(self) -> None:
        say = self._terminal.print
        new = change(self._path, self._text, self._values())
        diff = new.diff()
        if not diff:
            say("Nothing to write: measure two points of a servo, or set its limits or channel.")
            return
        say(diff.rstrip("\n"))
        if not self._yes(f"Write this to {self._path}?"):
            return
        backup = new.write()
        self._text = new.new
        self._begin(new.calibration)
        say(f"Written{f'; the previous file is {backup}' if backup else ''}.")
        left = [n for n, s in new.calibration.servos.items() if s.calibrated is None]
        if left:
            say(f"Still to be measured: {', '.join(left)}.")

    def _may_quit(self) -> bool:
        names = ", ".join(self._values())
        return not names or self._yes(f"Quit and discard the new values of {names}?")

    def _yes(self, question: str) -> bool:
        self._terminal.show(f"{question} (y/n) ")
        while (key := self._terminal.key()) not in ("y", "n"):
            pass
        self._terminal.print("yes" if key == "y" else "no")
        return key == "y"


def _mechanisms(model: RobotModel) -> dict[str, Mechanism]:
    return {name: Mechanism(model, name) for name in model.drivetrain.actuators}
