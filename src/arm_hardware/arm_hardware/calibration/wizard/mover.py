# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/calibration/wizard/test_session.py
"""Moves the servos of a guided calibration: first pulses, steps alone or in pairs, feeling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from arm_common.terminal import Screen
from arm_description.model.transmissions.transmission import (
    Drivetrain,
    SeveralActuatorsTransmission,
)
from arm_description.model.units import SHOWN
from arm_description.robot_model import RobotModel

from arm_hardware.calibration.calibration import ServoCalibration
from arm_hardware.calibration.file import file_unit
from arm_hardware.calibration.wizard.setpoints import Setpoints


class ServoPartners:
    """Which servos share a joint with which."""

    def __init__(self, model: RobotModel | None, setpoint_per_count: float) -> None:
        """Find the groups of a robot, none without one; ``setpoint_per_count`` as of its board."""
        drives = Drivetrain.of(model).drives() if model else {}
        self._drives = {
            name: (transmission, output)
            for name, (transmission, output) in drives.items()
            if isinstance(transmission, SeveralActuatorsTransmission)
        }
        self._setpoint_per_count = setpoint_per_count

    def of(self, name: str) -> tuple[str, ...]:
        """Return the other servos on the joint of a servo."""
        if name not in self._drives:
            return ()
        return tuple(other for other in self._drives[name][0].actuators if other != name)

    def count_beside(
        self, name: str, other: str, servos: Mapping[str, ServoCalibration], count: int
    ) -> int:
        """Return the count of a servo where another one on its joint has a count."""
        place = servos[other].map(self._setpoint_per_count).position_of(count)
        return (
            servos[name].map(self._setpoint_per_count).count_of(self._ratio(name, other) * place)
        )

    def difference(
        self,
        name: str,
        other: str,
        servos: Mapping[str, ServoCalibration],
        counts: tuple[int, int],
    ) -> tuple[float, float]:
        """Return by how much two servos at counts differ, and the most allowed [deg or mm]."""
        transmission = self._drives[name][0]
        mine, its = (
            servos[n].map(self._setpoint_per_count).position_of(c)
            for n, c in zip((name, other), counts, strict=True)
        )
        unit = SHOWN.written(1.0, "prismatic" if servos[name].unit == "m" else "revolute")
        away = abs(mine - self._ratio(name, other) * its)
        return away * unit, transmission.allowed_difference * unit

    def measured(self, servo: ServoCalibration, count: int) -> bool:
        """Return whether a count lies among the measured points of a servo."""
        setpoints = [setpoint for _, setpoint in servo.points]
        return (
            min(setpoints) - self._setpoint_per_count
            <= count * self._setpoint_per_count
            <= max(setpoints) + self._setpoint_per_count
        )

    def _ratio(self, name: str, other: str) -> float:
        transmission, k = self._drives[name]
        matrix = transmission.matrix
        return float(matrix[k, 0] / matrix[self._drives[other][1], 0])


class ServoMover:
    """Moves one servo, and those that hold its joint with it, after the questions it takes."""

    def __init__(
        self,
        terminal: Screen,
        setpoints: Setpoints,
        partners: ServoPartners,
        servos: Callable[[], Mapping[str, ServoCalibration]],
    ) -> None:
        """Create it without moving anything; ``servos`` returns them as measured by now."""
        self._terminal, self._setpoints = terminal, setpoints
        self._partners, self._terms, self._servos = partners, setpoints.terms, servos
        self._measures = setpoints.measures
        self._feeling = ""  # the servo that is stepped with little force

    def first(self, name: str) -> None:
        """Send a servo its first pulse, after a question if it may turn."""
        if self._setpoints.counts[name] is not None:
            self._terminal.print(f"{name} already has {self._terms.end}.")
            return
        if self._measures:
            self._setpoints.first(name)
            return
        if self.holding(name):
            self._join(name, self.holding(name)[0])
            return
        self._terminal.print(
            f"The first pulse makes {name} turn AT ONCE and as fast as it can, from its "
            "unknown position to the middle\nof its pulse limits. Keep clear, be ready to cut its "
            "power."
        )
        if confirmed(self._terminal, "Send it?"):
            self._setpoints.first(name)

    def has_pulses(self, name: str) -> bool:
        """Return whether a servo has pulses; if not, print what sends the first."""
        has = self._setpoints.counts[name] is not None
        if not has:
            self._terminal.print(self._terms.no_step.format(name=name))
        return has

    def holding(self, name: str) -> list[str]:
        """Return the servos with pulses that share the joint of another one."""
        return [n for n in self._partners.of(name) if self._setpoints.counts[n] is not None]

    def step(self, name: str, steps: int) -> None:
        """Step a servo by some counts, together with those that hold its joint."""
        if not self.has_pulses(name):
            return
        if self.holding(name):
            self._step_together(name, 1 if steps > 0 else -1, abs(steps))
            return
        step = self._setpoints.tap if self._feeling else self._setpoints.step
        if not step(name, steps):
            self._terminal.print(
                f"{name} is at the end of its counts."
                if self._measures
                else f"{name} is at the end of its safe pulses (safe_pulses_us of the file)."
            )

    def _step_together(self, name: str, step: int, times: int) -> None:
        """Step all servos of a joint together, by single counts."""
        servos, counts = self._servos(), self._setpoints.counts
        names = [name, *self.holding(name)]
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
            self._setpoints.move(to)

    def align(self, name: str, step: int) -> None:
        """Turn one servo of a joint against the others, no farther than is allowed."""
        others = self.holding(name)
        if not others or self._setpoints.counts[name] is None:
            self._terminal.print(
                f"{name} is not one of several servos that hold a joint; . and , step it."
            )
            return
        count, servos = (self._setpoints.counts[name] or 0) + step, self._servos()
        for other in others:
            both = (count, self._setpoints.counts[other] or 0)
            away, allowed = self._partners.difference(name, other, servos, both)
            if away > allowed:
                self._terminal.print(
                    f"It would differ from {other} by {away:.2g} {file_unit(servos[name])}, more "
                    f"than the allowed {allowed:.3g}, and work against it."
                )
                return
        self._setpoints.step(name, step)

    def _join(self, name: str, other: str) -> None:
        """Send a servo its first pulse where another one holds its joint."""
        servos = self._servos()
        unmeasured = [n for n in (other, name) if servos[n].calibrated is None]
        if unmeasured:
            self._terminal.print(
                f"{other} holds the joint, and {name} would work against it: first measure "
                f"{' and '.join(unmeasured)}, the other one limp (r)."
            )
            return
        held = self._setpoints.counts[other] or 0
        if not self._partners.measured(servos[other], held):
            self._terminal.print(f"{other} is beyond its measured points; step it back first.")
            return
        self._terminal.print(
            f"{name} turns AT ONCE to the position where {other} holds the joint. Keep clear, be "
            "ready to cut its power."
        )
        if confirmed(self._terminal, "Send it?"):
            self._setpoints.first(name, self._partners.count_beside(name, other, servos, held))

    def feel(self, name: str) -> None:
        """Begin or end steps with little force."""
        if self._feeling:
            self.end_feeling()
        elif self._measures:
            self._terminal.print(
                "Not needed: without torque, move it to the stop by hand, then [ or ]."
            )
        elif others := self.holding(name):
            self._terminal.print(f"Not with {others[0]} holding the joint; r releases it.")
        elif self.has_pulses(name) and confirmed(
            self._terminal, f"{name} goes limp between steps. Hold the arm?"
        ):
            self._feeling = name
            self._setpoints.end(name)
            self._terminal.print(f"Each step of {name} now pushes for a moment only; f ends that.")

    def end_feeling(self) -> None:
        """Release the servo that feels for a stop, if one does."""
        if self._feeling:
            name = self._feeling
            self._setpoints.release(name)
            self._feeling = ""
            self._terminal.print(f"{name} is limp; p sends pulses again.")

    def release(self, name: str) -> None:
        """Release a servo after a question; those that hold its joint go limp with it."""
        names = [name, *self.holding(name)]
        what = f"{name} will go limp, and its load sinks. Release it?"
        if len(names) > 1 and self._setpoints.counts[name] is not None:
            what = f"{' and '.join(names)} will go limp together, and their load sinks. Release?"
        if confirmed(self._terminal, what):
            for each in names if self._setpoints.counts[name] is not None else names[:1]:
                self._setpoints.release(each)
            self._feeling = ""


def confirmed(terminal: Screen, question: str) -> bool:
    """Return whether a person answers a question with y, not n."""
    terminal.show(f"{question} (y/n) ")
    while (key := terminal.key()) not in ("y", "n"):
        pass
    terminal.print("yes" if key == "y" else "no")
    return key == "y"
