# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Guided calibration of an arm's servos with keys, which writes a calibration file.

However it ends, pulses continue unchanged: the arm is held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple

from arm_common.terminal import Screen

from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import Calibration, ServoCalibration
from arm_hardware.calibration.file import TO_SI, Wires, monotonic, wires_of
from arm_hardware.calibration.pulses import MeasuredPulses, Pulses
from arm_hardware.calibration.store import DECIMALS, change, changed_keys, file_unit, within_reach
from arm_hardware.errors import HardwareError


class CalibrationDraft:
    """New points and pulse limits of a servo; positions in deg or mm."""

    def __init__(self, servo: ServoCalibration, wires: Wires) -> None:
        self.servo = servo  # as in the file
        self._wires = wires
        self.unit = file_unit(servo)
        self._si = TO_SI[self.unit]
        # Position of the servo -> pulse [us], in order of measurement.
        self.points: dict[float, float] = {}
        self.channel = servo.channel
        self.clamp: list[float | None] = [None, None]  # new (least, most) pulse, None if not set

    def add_point(self, position: float, pulse_us: float) -> None:
        """Add a measured point of the joint; raise ValueError if it contradicts the others."""
        place = round(self.servo.sign * position + self.servo.zero / self._si, DECIMALS)
        pulse_us = round(pulse_us, DECIMALS)
        points = dict(sorted({**self.points, place: pulse_us}.items()))
        if not monotonic(list(points.values())):
            raise ValueError(
                "with the other points, pulses would neither rise nor fall throughout"
            )
        self.points.pop(place, None)
        self.points[place] = pulse_us

    def keep_file_points(self) -> None:
        """Add the file's points to the new ones."""
        old = {round(place / self._si, DECIMALS): us for place, us in self.servo.points}
        self.points = {**old, **self.points}

    def undo(self) -> None:
        """Remove the last point."""
        if self.points:
            self.points.popitem()

    def joint_position(self, place: float) -> float:
        """Return the joint position at a servo position."""
        return self.servo.sign * (place - self.servo.zero / self._si)

    def result(self, today: date) -> ServoCalibration:
        """Return the updated servo; the old points remain until there are two new ones."""
        servo, old = replace(self.servo, channel=self.channel), self.servo.pulse_limits_us
        if len(self.points) >= 2:
            rows = tuple(sorted((place * self._si, us) for place, us in self.points.items()))
            servo = replace(servo, points=rows, calibrated=today)
            old = min(self.points.values()), max(self.points.values())
        least, most = self.clamp
        clamp = (old[0] if least is None else least, old[1] if most is None else most)
        return within_reach(replace(servo, pulse_limits_us=clamp))

    def values(self, today: date) -> Mapping[str, str]:
        """Return the keys of the file that change, as YAML."""
        return changed_keys(self.servo, self.result(today), self._wires)


STEPS = {
    **{"right": 1, ".": 1, "left": -1, ",": -1},
    **{"up": 10, ">": 10, "down": -10, "<": -10},
}
HELP = """\
  n b    next servo, servo before
  p      first pulse of this servo, after a question: it turns at once
  . ,    one count longer, shorter        (or right, left)
  > <    ten counts longer, shorter       (or up, down)
  m      measured: type the joint's present position
  u k    undo the last point; keep the file's points and add to them
  c      change the channel that this servo is plugged into
  [ ]    this pulse is the shortest, the longest it may ever get
  r      release this servo: it goes limp
  w      show what would be written, then write it if you confirm
  h      these keys
  q      quit; pulses continue, the arm is held (Ctrl-C: at once, nothing is written)
"""


MEASURED_HELP = """\
Guide the arm by hand: servos without torque turn freely, and their counts are measured.
  n b    next servo, servo before; space: its count now
  m      measured: type the joint's present position
  u k    undo the last point; keep the file's points and add to them
  [ ]    this count is the least, the greatest that it may ever get
  p      hold: this servo gets torque where it is, nothing moves
  . ,    one count more, less             (or right, left)
  > <    ten counts more, less            (or up, down)
  r      release this servo: it goes limp
  c      change the id that this servo has
  w      show what would be written, then write it if you confirm
  h      these keys
  q      quit; servos keep their torque, or have none (Ctrl-C: at once, nothing is written)
"""


class Terms(NamedTuple):
    """What the sentences for servos on a board, and for servos that answer, differ in."""

    help: str
    unit: str
    end: str  # what holds a servo
    bounds: tuple[str, str]  # of its pulses
    holds: str
    limp: str
    no_step: str


BOARD_TERMS = Terms(
    HELP,
    "us",
    "pulses",
    ("shorter", "longer"),
    "{name} gets pulses of {us:.0f} us and holds.",
    "no pulses, p: first",
    "{name} gets no pulses yet; p sends the first.",
)
MEASURED_TERMS = Terms(
    MEASURED_HELP,
    "counts",
    "torque",
    ("less", "more"),
    "{name} has torque and holds at {us:.0f} counts; r releases it.",
    "limp",
    "{name} has no torque; p holds it where it is.",
)


class CalibrationSession:
    """A guided calibration, starting from a file's text; its constructor sends nothing."""

    _terminal: Screen

    def __init__(
        self, path: Path, text: bytes, calibration: Calibration, pulses: Pulses, today: date
    ) -> None:
        self._path, self._text, self._today = path, text, today
        self._pulses = pulses
        self._measures = isinstance(pulses, MeasuredPulses)
        self._terms = MEASURED_TERMS if self._measures else BOARD_TERMS
        self._wires = wires_of(calibration.board)
        self._names = list(calibration.servos)
        self._at = 0
        self._begin(calibration)
        self._actions: dict[str, Callable[[], object]] = {
            "n": lambda: self._go(1),
            "b": lambda: self._go(-1),
            "p": self._first,
            "m": self._measure,
            "u": lambda: self._draft.undo(),
            "k": lambda: self._draft.keep_file_points(),
            "c": self._change_channel,
            "[": lambda: self._bound(0),
            "]": lambda: self._bound(1),
            "r": self._release,
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
        return f"{name} ({channel})  {pulse}  new points: {points or 'none'}"

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
        self._drafts = {
            name: CalibrationDraft(servo, self._wires)
            for name, servo in calibration.servos.items()
        }

    def _values(self) -> dict[str, Mapping[str, str]]:
        found = {name: draft.values(self._today) for name, draft in self._drafts.items()}
        return {name: values for name, values in found.items() if values}

    def _go(self, offset: int) -> None:
        self._at = (self._at + offset) % len(self._names)

    def _has_pulses(self) -> bool:
        has = self._pulses.counts[self._name] is not None
        if not has:
            self._terminal.print(self._terms.no_step.format(name=self._name))
        return has

    def _step(self, steps: int) -> None:
        if self._has_pulses() and not self._pulses.step(self._name, steps):
            self._terminal.print(
                f"{self._name} is at the end of its counts."
                if self._measures
                else f"{self._name} is at the end of its safe pulses (safe_pulses_us of the file)."
            )

    def _first(self) -> None:
        name = self._name
        if self._pulses.counts[name] is not None:
            self._terminal.print(f"{name} gets {self._terms.end} already.")
            return
        if self._measures:
            self._pulses.first(name)
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
        pulse = self._pulses.us(name)
        jaws = "angle of a jaw" if draft.unit == "deg" else "width of the gripper"
        what = jaws if name == GRIPPER else f"position of joint {name}"
        self._terminal.show(f"Measured {what}, in {draft.unit} (Enter: none): ")
        typed = self._terminal.line().strip()
        try:
            if typed:
                draft.add_point(_number(typed), pulse)
        except ValueError as error:
            self._terminal.print(f"Not recorded: {error}.")

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
        if self._yes(f"{self._name} will go limp, and its load sinks. Release it?"):
            self._pulses.release(self._name)

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


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not math.isfinite(value) or abs(value) > 1e4:
        raise ValueError(f"{text} is not a position")
    return value
