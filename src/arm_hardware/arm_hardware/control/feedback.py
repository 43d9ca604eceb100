# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/control/test_feedback.py
"""What smart servos measure, in the units of their axes; and what they must not exceed."""

from __future__ import annotations

from collections.abc import Sequence

from arm_description.model.units import SHOWN

from arm_hardware.bus.interface import COUNTS, LATCHED, RADIANS, ServoFault
from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.calibration.axes import Axes, Axis, Fight
from arm_hardware.calibration.servo_map import ServoMap
from arm_hardware.errors import ARM, VERIFY, BusError, HardwareError, StateError
from arm_hardware.motion.execution import MeasuredState

FAULT_TIME = 0.1  # [s] for which a servo reports a fault before it counts: supplies dip
RETRY = 0.5  # [s] between two attempts to measure once the bus is lost
WARM = 60.0  # [deg C] from which diagnostics warn; servos switch off at 70 unless set otherwise
NEAR = 12  # counts by which a servo may be outside of its limits and is moved back when armed
TOGETHER = f"Release the servos. Bring them together by hand, then run {ARM}."
REMEDIES = {
    ServoFault.OVERLOAD: "is overloaded and has reduced its torque: remove what blocks it",
    ServoFault.TEMPERATURE: "is too hot ({temperature:.0f} deg C) and has switched its motor off: "
    "let it cool down",
    ServoFault.VOLTAGE: "has a supply of {voltage:.1f} V, outside of its limits: check the power "
    "supply and its wires",
    ServoFault.CURRENT: "draws too much current ({current:.1f} A): remove what blocks it",
    ServoFault.ENCODER: "reports an error of its encoder: replace it",
}


class ServoFeedback:
    """Measures smart servos; takes the place of PositionEstimate.

    Attributes:
        state: The last measurement, None while the bus is lost.
    """

    def __init__(self, bus: RetryingBus, axes: Axes, maps: Sequence[ServoMap]) -> None:
        self._bus = bus
        self._axes, self._coupling = axes.actuators, axes.coupling
        self._maps = tuple(maps)
        self.state: MeasuredState | None = None
        self._wait = 0.0  # [s] until the next attempt
        self._faulty = [0.0] * len(self._maps)  # [s] for which each servo has reported a fault
        self._servos: tuple[float, ...] = ()  # measured positions of the servos [rad or m]
        self._apart = 0.0  # [s] for which servos of one joint have differed too much

    def synchronize(self, counts: Sequence[int | None]) -> None:
        """Do nothing: positions are measured, not modelled."""

    def advance(self, counts: Sequence[int | None], dt: float) -> None:
        """Do nothing: positions are measured, not modelled."""

    def positions(self) -> list[float | None]:
        """Return the servos' measured positions [rad or m], None while the bus is lost."""
        return list(self._servos) if self.state else [None] * len(self._maps)

    def axes_positions(self) -> tuple[float, ...]:
        """Return the measured positions of the axes [rad or m]; raise BusError if not measured."""
        return (self.state or self.measure()).positions

    def measure(self) -> MeasuredState:
        """Measure; raise BusError if the bus is lost."""
        try:
            found = self._bus.measure(servo.channel for servo in self._maps)
        except BusError:
            self.state, self._wait = None, RETRY
            raise
        servos = tuple(found[servo.channel] for servo in self._maps)
        pairs = list(zip(self._maps, servos, strict=True))
        slopes = [servo.slope(m.count) for servo, m in pairs]
        self._servos = tuple(servo.measured(m.count) for servo, m in pairs)
        speeds = tuple(m.speed * per for m, per in zip(servos, slopes, strict=True))
        efforts = tuple(m.torque * RADIANS / per for m, per in zip(servos, slopes, strict=True))
        measured = (self._servos, speeds, efforts)
        if self._coupling is not None:
            measured = self._coupling.measured_joints(*measured)
        self.state = MeasuredState(*measured, servos)
        return self.state

    def update(self, dt: float) -> None:
        """Measure in a tick of dt [s], rarely while the bus is lost; raise BusError."""
        self._wait -= dt
        if self._wait > 0.0:
            return
        for i, servo in enumerate(self.measure().servos):
            self._faulty[i] = self._faulty[i] + dt if servo.faults else 0.0
        self._apart = self._apart + dt if self.fighting() else 0.0

    def fighting(self) -> Fight | None:
        """Return the servos of one joint that differ by more than is allowed."""
        return None if self._coupling is None else self._coupling.fighting(self._servos)

    def fighting_long(self) -> Fight | None:
        """Return the same once it has lasted for FAULT_TIME."""
        return self.fighting() if self._apart > FAULT_TIME else None

    def check(self) -> None:
        """Raise HardwareError for a fault that a servo reports for FAULT_TIME."""
        for i, seconds in enumerate(self._faulty):
            if seconds > FAULT_TIME:
                self._raise(i, HardwareError)

    def resting_positions(self, commanded: Sequence[float | None]) -> list[float]:
        """Measure; return where each servo is to hold without moving [rad or m].

        That is its command if it has torque, otherwise where it was measured.

        Raises:
            StateError: A servo reports a fault or is outside of its limits, or servos of one joint
                differ too much.
            BusError: The bus is lost.
        """
        for i, servo in enumerate(self.measure().servos):
            if servo.faults:
                self._raise(i, StateError)
        self._faulty, self._apart = [0.0] * len(self._faulty), 0.0
        resting = [
            target
            if target is not None and axis.lower <= target <= axis.upper
            else self._inside(i, axis, self._servos[i])
            for i, (axis, target) in enumerate(zip(self._axes, commanded, strict=True))
        ]
        if self._coupling is not None:
            for places in (self._servos, resting):
                if fight := self._coupling.fighting(places):
                    raise StateError(f"{fight.sentence} {TOGETHER}")
        return resting

    def latched(self) -> list[int]:
        """Measure; return the servos whose faults last until their torque is switched off."""
        servos = self.measure().servos
        return [i for i, servo in enumerate(servos) if servo.faults & LATCHED]

    def warnings(self) -> list[str]:
        """Return a sentence for each servo that is warm."""
        if self.state is None:
            return []
        return [
            f"{axis.name} is at {servo.temperature:.0f} deg C"
            for axis, servo in zip(self._axes, self.state.servos, strict=True)
            if servo.temperature >= WARM
        ]

    def _inside(self, i: int, axis: Axis, position: float) -> float:
        count = self.state.servos[i].count if self.state else 0
        if not 0 <= count < COUNTS:
            raise StateError(
                f"{axis.name} (servo {self._maps[i].channel}) is at count {count}, outside of one "
                "turn (0 to 4095): it counts whole turns (multi-turn), by bit 4 of its Phase or "
                "by Min_Position_Limit and Max_Position_Limit 0. Switch its supply off and on; if "
                f"that does not help, run {VERIFY} CALIBRATION --mend."
            )
        near = NEAR * abs(self._maps[i].slope(None))
        if not axis.lower - near <= position <= axis.upper + near:
            raise StateError(
                f"{axis.name} is at {axis.text(position, SHOWN)}, outside of "
                f"{axis.range_text(SHOWN)}: move it inside by hand, then run {ARM}."
            )
        return min(max(position, axis.lower), axis.upper)

    def _raise(self, i: int, kind: type[HardwareError]) -> None:
        assert self.state is not None
        servo = self.state.servos[i]
        fault = next(fault for fault in REMEDIES if fault in servo.faults)
        reason = REMEDIES[fault].format(
            temperature=servo.temperature, voltage=servo.voltage, current=servo.current
        )
        name = f"{self._axes[i].name} (servo {self._maps[i].channel})"
        raise kind(f"{name} {reason}; then run {ARM}.")
