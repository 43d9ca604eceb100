# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Guided calibration of an arm's servos with keys, which writes a calibration file.

However it ends, pulses continue unchanged: the arm is held. Only a servo that feels for a
stop goes limp.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial

from arm_common.errors import finite_number
from arm_common.terminal import Screen
from arm_description.model.transmissions.transmission import Drivetrain
from arm_description.robot_model import RobotModel

from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import Calibration, ServoCalibration
from arm_hardware.calibration.file import TO_SI, wires_of
from arm_hardware.calibration.wizard.mechanisms import LENGTHS, STOPS, WHICH, Mechanism
from arm_hardware.calibration.wizard.mover import ServoMover, ServoPartners, confirmed
from arm_hardware.calibration.wizard.setpoints import Setpoints
from arm_hardware.calibration.wizard.stiffness import HungWeight, mean_compliance
from arm_hardware.calibration.writing.changes import CalibrationDraft, MeasuredPoint, change
from arm_hardware.errors import HardwareError

STEPS = {
    **{"right": 1, ".": 1, "left": -1, ",": -1},
    **{"up": 10, ">": 10, "down": -10, "<": -10},
}


class CalibrationSession:
    """A guided calibration, starting from a file's text; its constructor sends nothing."""

    _terminal: Screen
    _mover: ServoMover

    def __init__(
        self,
        text: bytes,
        read: bytes | None,
        calibration: Calibration,
        setpoints: Setpoints,
        today: date,
        model: RobotModel | None = None,
        robot: str = "",
    ) -> None:
        """Begin with a file's text; without a robot, positions are those of its actuators.

        `read` is what the file contained, None if it is a new one; `robot` is the robot's file.
        """
        self._path, self._text, self._read, self._today = calibration.path, text, read, today
        self._setpoints = setpoints
        self._measures, self._terms = setpoints.measures, setpoints.terms
        self._wires = wires_of(calibration.board)
        self._names = list(calibration.servos)
        self._at = 0
        self._mechanisms = {} if model is None else _mechanisms(model, robot)
        self._model, self._setpoint_per_count = model, calibration.board.setpoint_per_count
        self._unknown = "that needs the robot; start with --robot" if model is None else ""
        self._partners = ServoPartners(model, calibration.board.setpoint_per_count)
        self._quarter = 90.0 / (360.0 / 4096.0) if self._measures else 1000.0
        self._begin(calibration)
        self._actions: dict[str, Callable[[], object]] = {
            "n": lambda: self._go(1),
            "b": lambda: self._go(-1),
            "p": lambda: self._mover.first(self._name),
            "m": self._measure,
            "u": self._undo,
            "k": lambda: self._draft.keep_file_points(),
            "c": self._change_channel,
            "[": lambda: self._bound(0),
            "]": lambda: self._bound(1),
            "r": lambda: self._mover.release(self._name),
            "g": self._guide,
            "f": lambda: self._mover.feel(self._name),
            "+": lambda: self._mover.align(self._name, 1),
            "-": lambda: self._mover.align(self._name, -1),
            "t": self._gear,
            "l": self._linkage,
            "s": self._stiffness,
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
        self._mover = ServoMover(terminal, self._setpoints, self._partners, self._servos)
        terminal.print(self._terms.help)
        for name, count in self._setpoints.counts.items():
            if count is not None:
                setpoint = self._setpoints.setpoint(name)
                terminal.print(self._terms.holds.format(name=name, setpoint=setpoint))
        try:
            self._handle_keys(terminal)
        finally:
            self._mover.end_feeling()

    def _handle_keys(self, terminal: Screen) -> None:
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
        shown = self._terms.limp
        if self._setpoints.counts[name] is not None:
            shown = f"{self._setpoints.setpoint(name):.1f} us"
        if self._measures:
            shown = self._measured_text(name)
        points = ", ".join(
            f"{draft.joint_position(place):g} {draft.unit}: {setpoint:.0f}"
            for place, setpoint in reversed(draft.points.items())
        )
        channel = f"{self._wires.channel} {draft.channel}"
        mechanism = self._mechanism()
        of = "" if mechanism is None or mechanism.is_direct else " of the servo"
        return f"{name} ({channel})  {shown}  new points{of}: {points or 'none'}"

    def _measured_text(self, name: str) -> str:
        """Return the measured count of a servo and whether it holds."""
        limp = self._setpoints.counts[name] is None
        try:
            count = self._setpoints.setpoint(name)
            return f"{count:.0f} counts, {self._terms.limp if limp else 'holds'}"
        except HardwareError:
            return "does not answer"

    @property
    def _name(self) -> str:
        return self._names[self._at]

    @property
    def _draft(self) -> CalibrationDraft:
        return self._drafts[self._name]

    def _begin(self, calibration: Calibration) -> None:
        self._records: list[dict[str, MeasuredPoint]] = []  # of the servos that held a joint
        self._drafts = {
            name: CalibrationDraft(servo, self._wires)
            for name, servo in calibration.servos.items()
        }

    def _values(self) -> dict[str, Mapping[str, str]]:
        found = {name: draft.values(self._today) for name, draft in self._drafts.items()}
        return {name: values for name, values in found.items() if values}

    def _servos(self) -> dict[str, ServoCalibration]:
        return {name: draft.result(self._today) for name, draft in self._drafts.items()}

    def _step(self, steps: int) -> None:
        self._mover.step(self._name, steps)

    def _go(self, offset: int) -> None:
        self._mover.end_feeling()
        self._at = (self._at + offset) % len(self._names)

    def _guide(self) -> None:
        mechanism = self._mechanism()
        self._terminal.print(mechanism.guide() if mechanism else f"{self._name}: {WHICH}\n{STOPS}")

    def _mechanism(self) -> Mechanism | None:
        return self._mechanisms.get(self._name)

    def _gear(self) -> None:
        """Find the ratio of a gear."""
        mechanism = self._mechanism()
        rows = [record[self._name] for record in self._records if self._name in record]
        try:
            if mechanism is None:
                raise ValueError(self._unknown or f"the {self._name} is not a joint")
            positions, setpoints = [row.joint for row in rows], [row.setpoint for row in rows]
            quarter = self._quarter
            if len(rows) >= 3:
                self._terminal.show(
                    f"{self._terms.unit} by which the servo's own horn turns by 90 deg (Enter: "
                    f"{quarter:g}): "
                )
                quarter = abs(number(self._terminal.line().strip() or f"{quarter:g}"))
            self._terminal.print(mechanism.gear(positions, setpoints, quarter or math.nan))
        except ValueError as error:
            self._terminal.print(f"No ratio: {error}.")

    def _linkage(self) -> None:
        """Check the lengths of a linkage."""
        mechanism = self._mechanism()
        try:
            if mechanism is None:
                raise ValueError(self._unknown or f"the {self._name} is not a joint")
            self._terminal.show(
                f"{', '.join(LENGTHS)}, in mm, with spaces between (Enter: none): "
            )
            typed = self._terminal.line().split()
            if typed:
                self._terminal.print(mechanism.linkage([number(text) for text in typed]))
        except ValueError as error:
            self._terminal.print(f"Not accepted: {error}.")

    def _stiffness(self) -> None:
        """Find the stiffness of a servo, and of those that hold its joint with it."""
        name = self._name
        try:
            if self._mechanism() is None or self._model is None:
                raise ValueError(self._unknown or f"the {name} is not a joint")
            positions = self._positions(self._model)
            self._terminal.show("Weight in g, and the frame it will hang at (Enter: none): ")
            typed = self._terminal.line().split()
            if not typed:
                return
            servos = [name, *self._mover.holding(name)]
            if (mass := number(typed[0])) == 0.0:
                for each in servos:
                    self._drafts[each].compliances.clear()
                self._terminal.print(f"The readings of {' and '.join(servos)} are forgotten.")
                return
            frame = typed[1] if typed[1:] else "tool0"
            weight = HungWeight(self._model, positions, mass * 1e-3, frame)
            found = self._yielding(weight, servos, positions, frame)
            mean = mean_compliance(self._draft.compliances, found)
            for each in servos:
                self._drafts[each].compliances.append(found)
            unit = "N m/rad" if self._draft.unit == "deg" else "N/m"
            number_of = len(self._draft.compliances)
            self._terminal.print(
                f"{name}: {1.0 / found:.3g} {unit}; the mean of {number_of} is {1.0 / mean:.3g}."
            )
        except ValueError as error:
            self._terminal.print(f"Not recorded: {error}.")

    def _positions(self, model: RobotModel) -> dict[str, float]:
        """Return where all joints' servos hold [rad or m]; raise ValueError if one does not."""
        names = Drivetrain.of(model).actuators
        limp = [name for name in names if self._setpoints.counts[name] is None]
        if limp:
            raise ValueError(f"{' and '.join(limp)} must hold, too (p)")
        return {name: self._place(name) for name in names}

    def _place(self, name: str) -> float:
        servo = self._servos()[name].map(self._setpoint_per_count)
        return servo.measured(round(self._setpoints.setpoint(name) / self._setpoint_per_count))

    def _yielding(
        self, weight: HungWeight, servos: list[str], before: Mapping[str, float], frame: str
    ) -> float:
        """Return 1 / stiffness as a person, or a smart servo, measures it."""
        if self._measures:
            self._terminal.show(f"Hang it at {frame}, let it rest, then press Enter: ")
            self._terminal.line()
            count = abs(self._drafts[servos[0]].servo.map(self._setpoint_per_count).slope(None))
            turn = self._place(servos[0]) - before[servos[0]]
            return weight.compliance_of_turn(servos[0], turn, 1.5 * count)
        self._terminal.show(f"Hang it at {frame}; how far did {frame} sink, in mm? ")
        known = {name: servo.stiffness for name, servo in self._servos().items()}
        return weight.compliance(servos, number(self._terminal.line().strip()) * 1e-3, known)

    def _measure(self) -> None:
        name, draft = self._name, self._draft
        if not self._measures and not self._mover.has_pulses(self._name):
            return
        setpoint, mechanism = self._setpoints.setpoint(name), self._mechanism()
        jaws = "angle of a jaw" if draft.unit == "deg" else "width of the gripper"
        what = jaws if name == GRIPPER else f"position of joint {name}"
        what = mechanism.question if mechanism else what
        self._terminal.show(f"Measured {what}, in {draft.unit} (Enter: none): ")
        typed = self._terminal.line().split()
        try:
            if typed:
                self._record(self._joints_of(typed), setpoint)
        except ValueError as error:
            self._terminal.print(f"Not recorded: {error}.")

    def _joints_of(self, typed: list[str]) -> list[float]:
        """Return typed positions of joints [deg or mm], or those of an inclinometer's readings."""
        mechanism = self._mechanism()
        if typed[0] != "i":
            return [number(text) for text in typed]
        if mechanism is None:
            raise ValueError(self._unknown or f"the {self._name} is not a joint")
        joints = mechanism.from_readings([number(text) for text in typed[1:]])
        named = zip(mechanism.joints, joints, strict=True)
        self._terminal.print(", ".join(f"{name} is at {value:.1f} deg" for name, value in named))
        return joints

    def _undo(self) -> None:
        """Remove the last point of the servo, also from those that it was recorded with."""
        last = next((r for r in reversed(self._records) if self._name in r), None)
        if last is None:
            self._draft.undo()
            return
        self._records.remove(last)
        for name, point in last.items():
            self._drafts[name].points.pop(point.place, None)
        if len(last) > 1:
            self._terminal.print(f"The point is removed from {' and '.join(last)}.")

    def _record(self, joints: list[float], setpoint: float) -> None:
        """Add a point for measured joints, also to the servos that hold the same joint.

        Raises:
            ValueError: It contradicts the points of one of them; then none gets it.
        """
        points = {}
        for name in (self._name, *self._mover.holding(self._name)):
            mechanism, draft = self._mechanisms.get(name), self._drafts[name]
            if mechanism is None and len(joints) != 1:
                raise ValueError("one number is needed")
            at = mechanism.actuator_position(joints, TO_SI[draft.unit]) if mechanism else joints[0]
            there = setpoint if name == self._name else self._setpoints.setpoint(name)
            points[name] = draft.point(joints[0], at, there)
        for name, point in points.items():
            self._drafts[name].add(point)
        self._records.append(points)

    def _change_channel(self) -> None:
        name, draft = self._name, self._draft
        if self._setpoints.counts[name] is not None:
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
            self._setpoints.assign(name, int(typed))
            draft.channel = int(typed)

    def _bound(self, end: int) -> None:
        if not self._measures and not self._mover.has_pulses(self._name):
            return
        setpoint = round(self._setpoints.setpoint(self._name), 3)
        self._draft.clamp[end] = setpoint
        bound = f"{self._terms.bounds[end]} than {setpoint:.0f} {self._terms.unit}"
        self._terminal.print(f"{self._name}: never {bound}.")

    def _write(self) -> None:
        say = self._terminal.print
        new = change(self._path, self._text, self._values(), self._read)
        diff = new.diff()
        if not diff:
            say("Nothing to write: measure two points of a servo, or set its limits or channel.")
            return
        say(diff.rstrip("\n"))
        if not confirmed(self._terminal, f"Write this to {self._path}?"):
            return
        backup = new.write()
        self._text = self._read = new.new
        self._begin(new.calibration)
        say(f"Written{f'; the previous file is {backup}' if backup else ''}.")
        left = [n for n, s in new.calibration.servos.items() if s.calibrated is None]
        if left:
            say(f"Still to be measured: {', '.join(left)}.")

    def _may_quit(self) -> bool:
        names = ", ".join(self._values())
        return not names or confirmed(
            self._terminal, f"Quit and discard the new values of {names}?"
        )


def _mechanisms(model: RobotModel, robot: str) -> dict[str, Mechanism]:
    return {name: Mechanism(model, name, robot) for name in Drivetrain.of(model).actuators}


def number(text: str) -> float:
    """Return a typed number; raise ValueError with the reason if it is none."""
    value = finite_number(text)
    if abs(value) > 1e4:
        raise ValueError(f"{text} is not a position")
    return value
