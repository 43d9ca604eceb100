# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Guided calibration of an arm's servos with keys, which writes a calibration file.

However it ends, pulses continue unchanged: the arm is held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

from arm_common.terminal import Screen
from arm_common.yaml.editing import flow_word
from arm_description.model.gripper import Claw

from arm_description import RobotModel
from arm_hardware.calibration.axes import GRIPPER, Axis
from arm_hardware.calibration.calibration import Calibration, ServoCalibration, config_folder
from arm_hardware.calibration.coupling import axes_of
from arm_hardware.calibration.file import CHANNELS, TO_SI, load_calibration, monotonic
from arm_hardware.calibration.pulses import Pulses
from arm_hardware.calibration.store import DECIMALS, change, changed_keys, file_unit, within_reach
from arm_hardware.errors import CalibrationError, HardwareError


class CalibrationDraft:
    """New points and pulse limits of a servo; positions in deg or mm."""

    def __init__(self, servo: ServoCalibration) -> None:
        self.servo = servo  # as in the file
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
        return changed_keys(self.servo, self.result(today))


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


class CalibrationSession:
    """A guided calibration, starting from a file's text; its constructor sends nothing."""

    _terminal: Screen

    def __init__(
        self, path: Path, text: bytes, calibration: Calibration, pulses: Pulses, today: date
    ) -> None:
        self._path, self._text, self._today = path, text, today
        self._pulses = pulses
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
            "h": lambda: self._terminal.print(HELP),
            "?": lambda: self._terminal.print(HELP),
        }
        for key, steps in STEPS.items():
            self._actions[key] = partial(self._step, steps)

    def run(self, terminal: Screen) -> None:
        """Handle keys until the user quits."""
        self._terminal = terminal
        terminal.print(HELP)
        for name, count in self._pulses.counts.items():
            if count is not None:
                terminal.print(f"{name} gets pulses of {self._pulses.us(name):.0f} us and holds.")
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
        count = self._pulses.counts[name]
        pulse = "no pulses, p: first" if count is None else f"{self._pulses.us(name):.1f} us"
        points = ", ".join(
            f"{draft.joint_position(place):g} {draft.unit}: {us:.0f}"
            for place, us in reversed(draft.points.items())
        )
        return f"{name} (channel {draft.channel})  {pulse}  new points: {points or 'none'}"

    @property
    def _name(self) -> str:
        return self._names[self._at]

    @property
    def _draft(self) -> CalibrationDraft:
        return self._drafts[self._name]

    def _begin(self, calibration: Calibration) -> None:
        self._drafts = {
            name: CalibrationDraft(servo) for name, servo in calibration.servos.items()
        }

    def _values(self) -> dict[str, Mapping[str, str]]:
        found = {name: draft.values(self._today) for name, draft in self._drafts.items()}
        return {name: values for name, values in found.items() if values}

    def _go(self, offset: int) -> None:
        self._at = (self._at + offset) % len(self._names)

    def _has_pulses(self) -> bool:
        has = self._pulses.counts[self._name] is not None
        if not has:
            self._terminal.print(f"{self._name} gets no pulses yet; p sends the first.")
        return has

    def _step(self, steps: int) -> None:
        if self._has_pulses() and not self._pulses.step(self._name, steps):
            self._terminal.print(
                f"{self._name} is at the end of its safe pulses (safe_pulses_us of the file)."
            )

    def _first(self) -> None:
        name = self._name
        if self._pulses.counts[name] is not None:
            self._terminal.print(f"{name} gets pulses already.")
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
        if not self._has_pulses():
            return
        jaws = "angle of a jaw" if draft.unit == "deg" else "width of the gripper"
        what = jaws if name == GRIPPER else f"position of joint {name}"
        self._terminal.show(f"Measured {what}, in {draft.unit} (Enter: none): ")
        typed = self._terminal.line().strip()
        try:
            if typed:
                draft.add_point(_number(typed), self._pulses.us(name))
        except ValueError as error:
            self._terminal.print(f"Not recorded: {error}.")

    def _change_channel(self) -> None:
        name, draft = self._name, self._draft
        if self._pulses.counts[name] is not None:
            self._terminal.print(f"{name} gets pulses on channel {draft.channel}; r releases it.")
            return
        self._terminal.show(f"Channel of {name}, 0 to {CHANNELS - 1} (Enter: {draft.channel}): ")
        typed = self._terminal.line().strip()
        used = {other.channel: n for n, other in self._drafts.items() if other is not draft}
        if typed not in map(str, range(CHANNELS)):
            if typed:
                self._terminal.print(f"Not changed: {typed!r} is not 0 to {CHANNELS - 1}.")
        elif int(typed) in used:
            self._terminal.print(
                f"Not changed: channel {typed} is that of {used[int(typed)]}; change that first."
            )
        else:
            self._pulses.assign(name, int(typed))
            draft.channel = int(typed)

    def _bound(self, end: int) -> None:
        if not self._has_pulses():
            return
        us = round(self._pulses.us(self._name), 3)
        self._draft.clamp[end] = us
        self._terminal.print(f"{self._name}: never {('shorter', 'longer')[end]} than {us:.0f} us.")

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


HEAD = """\
# Which servo of this arm is on which channel, and which pulse means which position.
# Servo angle = sign * joint angle + zero_deg; points_deg_us: [servo angle, pulse in us].
# Servos without a day of calibration have the numbers of an ideal one, not measured:
# while there are any, `example: true` keeps real hardware from being armed.
example: true
robot: {robot}

board:
  address: 0x40
  frequency_hz: 50
  reference_clock_hz: 25000000

joints:
"""
TURN = "points_deg_us: [[-90, 500], [90, 2500]], pulse_limits_us: [500, 2500]"
JAW = "points_deg_us: [[{lower}, 1000], [{upper}, 2000]], pulse_limits_us: [1000, 2000]"
SLIDE = "points_mm_us: [[{lower}, 1000], [{upper}, 2000]], pulse_limits_us: [1000, 2000]"


def template(model: RobotModel) -> str:
    """Return a file with ideal servos, for editing.

    Their channels are those of the calibration shipped for the robot, otherwise 0, 1, 2, ...
    """
    axes = axes_of(model)
    servos = [_bounded(axis, model) for axis in axes.actuators]
    if len(servos) > CHANNELS:
        raise CalibrationError(f"{model.name} has {len(servos)} servos, a board has {CHANNELS}")
    head = HEAD if axes.coupling is None else HEAD.replace("joint angle", "actuator angle")
    text = head.format(robot=flow_word(model.name))
    channels = _channels([axis.name for axis in servos], model.name)
    for axis in servos:
        entry = f"{{channel: {channels[axis.name]}, {_points(axis, axes.claw(axis))}}}"
        if axis.name == GRIPPER:
            text += f"\n{GRIPPER}:\n  {entry}\n"
        else:
            text += f"  {flow_word(axis.name)}:\n    {entry}\n"
    return text


def _bounded(axis: Axis, model: RobotModel) -> Axis:
    """Return an actuator with limits, by default those where its joints are at theirs."""
    if axis.name not in model.drivetrain.actuators or math.isfinite(axis.lower):
        return axis
    k = model.drivetrain.actuators.index(axis.name)
    ends = (float(model.drivetrain.to_actuators(q)[k]) for q in (model.lower, model.upper))
    lower, upper = sorted(ends)
    return replace(axis, lower=lower, upper=upper)


def _channels(names: Sequence[str], robot: str) -> dict[str, int]:
    shipped = config_folder() / f"{robot}_servos.yaml"
    servos = load_calibration(shipped).servos if shipped.is_file() else {}
    channels = {name: servos[name].channel for name in names if name in servos}
    free = (channel for channel in range(CHANNELS) if channel not in channels.values())
    return channels | dict(zip((n for n in names if n not in servos), [*free], strict=False))


def _points(axis: Axis, claw: Claw | None) -> str:
    if claw:
        closed, opened = math.degrees(claw.closed), math.degrees(claw.open)
        return JAW.format(lower=f"{closed:.6g}", upper=f"{opened:.6g}")
    if axis.unit == "rad":
        return TURN
    lower, upper = axis.lower * 1e3, axis.upper * 1e3
    if math.isinf(lower) or math.isinf(upper):
        raise CalibrationError(f"{axis.name} slides and has no limits in the robot description")
    return SLIDE.format(lower=f"{lower:.6g}", upper=f"{upper:.6g}")
