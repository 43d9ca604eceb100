# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Failures that a person rehearses on a running driver of simulated servos.

EVENTS declares them; the command `rehearse` and the service of the driver follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from arm_common.suggestions import did_you_mean
from arm_hardware.calibration.servo_map import PointMap, ServoMap
from arm_hardware.errors import StateError

if TYPE_CHECKING:  # `release --sim` works without NumPy
    from arm_hardware.calibration.axes import Axes, Axis

BUS = "bus"  # stands for all servos in place of one
HIGHEST_SUPPLY = 15.0  # [V]


class Emulation(Protocol):
    """A simulated board or bus with its servos, by channel or id.

    Setpoints are those of calibrations: lengths of pulses [us] of a board, counts of smart servos.
    """

    channels: str  # what its numbers are called
    port: str  # a serial port by which other programs reach the same servos; "" if it has none
    travel: tuple[float, float]  # setpoints at the ends of a servo's own travel
    _supply: float  # [V]
    _without: set[int]  # channels without a plug

    def unplug(self, channel: int | None = None) -> None:
        """Unplug a servo, or the wires or the adapter to all of them."""
        if channel is None:
            self._connect(False)
        else:
            self._without.add(channel)
            self.supply(self._supply)

    def plug(self, channel: int | None = None) -> None:
        """Plug it in again."""
        if channel is None:
            self._connect(True)
        else:
            self._without.discard(channel)
            self.supply(self._supply)

    def rehearsal(self, axes: Axes, maps: Sequence[ServoMap]) -> Rehearsal:
        """Return what lets the servos fail; see Rehearsal."""
        return Rehearsal(self, axes, maps)

    def _connect(self, on: bool) -> None:
        """Plug in or unplug the wires or the adapter to all servos."""

    def _voltage(self, channel: int) -> float:
        """Return the voltage at a servo [V]."""
        return 0.0 if channel in self._without else self._supply

    def supply(self, volts: float | None = None) -> None:
        """Set the voltage of the servos' supply [V], by default that of a good one."""

    def push(self, channel: int, setpoint: float | None) -> None:
        """Let a hand, stronger than the servo, hold its horn at a setpoint; None to let go."""

    def block(self, channel: int, lower: float = -math.inf, upper: float = math.inf) -> None:
        """Bound the setpoints between which a horn can turn, by default not at all."""

    def setpoint(self, channel: int) -> float:
        """Return where a horn stands."""


class Rehearsal:
    """Lets simulated servos fail, by the names and positions of the axes that they turn."""

    def __init__(self, emulation: Emulation, axes: Axes, maps: Sequence[ServoMap]) -> None:
        """Begin without failures; maps of the servos are in the order of ``axes.actuators``."""
        self._emulation, self._gripper = emulation, axes.gripper
        pairs = zip(axes.actuators, maps, strict=True)
        self._servos = [(axis, servo) for axis, servo in pairs if isinstance(servo, PointMap)]
        self._failures: dict[tuple[str, str], str] = {}  # what lasts, by kind and servo

    def happen(self, name: str, servo: str = "", value: float = 0.0) -> str:
        """Let an event of EVENTS happen; return a sentence.

        Args:
            name: Of the event.
            servo: Name of its joint, "gripper", its number, or BUS.
            value: Angle [rad], distance [m] or voltage [V].

        Raises:
            StateError: There is no such event or servo, or it is impossible; nothing was changed.
        """
        event = next((event for event in EVENTS if event.name == name), None)
        if event is None:
            names = (event.name for event in EVENTS)
            raise StateError(f"{name!r} cannot be rehearsed; {did_you_mean(name, names)}.")
        if not math.isfinite(value):
            raise StateError(f"{name}: {value} is not a finite number.")
        given = [*([servo] if event.servo else []), *([value] if event.unit else [])]
        return event.act(self, *given)

    # -- Events -----------------------------------------------------------------------------------

    def show(self) -> str:
        """Return where the servos stand, what fails, and the port of other programs."""
        lines = [f"{self._label(a, m)}: {_text(a, self._position(m))}" for a, m in self._servos]
        lines += [f"- {failure}" for failure in self._failures.values()] or ["- nothing fails"]
        if port := self._emulation.port:
            lines.append(f"Any program reaches these servos at the serial port {port}")
        return "\n".join(lines)

    def unplug(self, servo: str) -> str:
        """Unplug a servo or the bus."""
        channel, label = self._channel(servo)
        self._emulation.unplug(channel)
        return self._lasts("plug", servo if channel is None else label, f"{label} is unplugged.")

    def plug(self, servo: str) -> str:
        """Plug it in again."""
        channel, label = self._channel(servo)
        self._emulation.plug(channel)
        self._failures.pop(("plug", servo if channel is None else label), None)
        return f"{label} is plugged in."

    def supply(self, volts: float) -> str:
        """Change the servos' supply."""
        if not 0.0 <= volts <= HIGHEST_SUPPLY:
            raise StateError(f"supply: {volts:g} V is not within 0 to {HIGHEST_SUPPLY:g} V.")
        self._emulation.supply(volts)
        return self._lasts("supply", "", f"The servos' supply is {volts:g} V.")

    def push(self, servo: str, angle: float) -> str:
        """Push a joint by an angle [rad], and hold it there."""
        return self._push(servo, angle, "rad", "slide")

    def slide(self, servo: str, distance: float) -> str:
        """Push a joint that slides, or the jaws, by a distance [m], and hold it there."""
        return self._push(servo, distance, "m", "push")

    def let_go(self, servo: str) -> str:
        """Let a joint go that was pushed."""
        axis, servo_map = self._find(servo)
        self._emulation.push(servo_map.channel, None)
        label = self._label(axis, servo_map)
        self._failures.pop(("push", label), None)
        return f"No hand holds {label}."

    def put(self, width: float) -> str:
        """Put an object of a width [m] into the jaws, or take it out (0)."""
        gripper = self._gripper
        if gripper is None:
            raise StateError("object: this arm has no gripper.")
        _, jaws = self._servos[-1]
        if width == 0.0:
            self._emulation.block(jaws.channel)
            self._failures.pop(("object", ""), None)
            return "No object is in the jaws."
        shown = f"object: {1e3 * width:g} mm"
        if not gripper.lower < width <= gripper.upper:
            raise StateError(
                f"{shown} does not fit: the jaws open to {_text(gripper, gripper.upper)}."
            )
        if self._position(jaws) < width:
            raise StateError(
                f"{shown} does not fit: the jaws are at {_text(gripper, self._position(jaws))}; "
                "open them first."
            )
        stop = jaws.setpoint_of(width)
        opens = jaws.setpoint_of(gripper.upper) > stop
        self._emulation.block(jaws.channel, **({"lower": stop} if opens else {"upper": stop}))
        return self._lasts("object", "", f"An object of {1e3 * width:g} mm is in the jaws.")

    def restore(self) -> str:
        """End every failure."""
        self._emulation.plug()
        for _, servo_map in self._servos:
            self._emulation.plug(servo_map.channel)
            self._emulation.push(servo_map.channel, None)
            self._emulation.block(servo_map.channel)
        self._emulation.supply()
        self._failures.clear()
        return "Nothing fails any more."

    # -- Servos -----------------------------------------------------------------------------------

    def _push(self, servo: str, amount: float, unit: str, other: str) -> str:
        axis, servo_map = self._find(servo)
        label = self._label(axis, servo_map)
        if axis.unit != unit:
            raise StateError(f"{label} moves in {_UNITS[axis.unit]}; use the event {other}.")
        per_count = servo_map.setpoint_per_count
        setpoint = self._emulation.setpoint(servo_map.channel)
        setpoint += amount / servo_map.slope(round(setpoint / per_count)) * per_count
        low, high = self._emulation.travel
        setpoint = max(low, min(high, setpoint))
        self._emulation.push(servo_map.channel, setpoint)
        place = _text(axis, servo_map.measured(round(setpoint / per_count)))
        return self._lasts("push", label, f"A hand pushes {label} to {place} and holds it.")

    def _lasts(self, kind: str, servo: str, sentence: str) -> str:
        self._failures[kind, servo] = sentence
        return sentence

    def _channel(self, servo: str) -> tuple[int | None, str]:
        """Return the number of a servo, None for the bus; and what it is called."""
        if servo == BUS:
            return None, "The bus"
        axis, servo_map = self._find(servo)
        return servo_map.channel, self._label(axis, servo_map)

    def _find(self, servo: str) -> tuple[Axis, PointMap]:
        """Return the axis and the map of a servo by its joint's name or its number."""
        for axis, servo_map in self._servos:
            if servo in (axis.name, str(servo_map.channel)):
                return axis, servo_map
        names = [axis.name for axis, _ in self._servos]
        raise StateError(f"There is no servo {servo!r}; {did_you_mean(servo, names)}.")

    def _label(self, axis: Axis, servo_map: PointMap) -> str:
        return f"{axis.name} ({self._emulation.channels} {servo_map.channel})"

    def _position(self, servo_map: PointMap) -> float:
        """Return where a servo stands [rad or m]."""
        setpoint = self._emulation.setpoint(servo_map.channel)
        return servo_map.measured(round(setpoint / servo_map.setpoint_per_count))


_UNITS = {"rad": "degrees", "m": "millimetres"}


def _text(axis: Axis, position: float) -> str:
    """Return a position [rad or m] as people type it."""
    from arm_description.model.units import SHOWN  # here: `release --sim` works without NumPy

    return SHOWN.fixed(position, "revolute" if axis.unit == "rad" else "prismatic")


@dataclass(frozen=True)
class Event:
    """What a person can do to the servos."""

    name: str  # its name
    act: Callable[..., str]  # does it, by those of servo and value that it takes
    text: str  # what it does, for the help
    servo: bool = False  # whether it concerns one servo, which is named
    unit: str = ""  # of the value that it takes, such as mm; "" for none


EVENTS = (
    Event("show", Rehearsal.show, "where the servos are, what fails, and a serial port to them"),
    Event("unplug", Rehearsal.unplug, f"unplug a servo, or the {BUS}", servo=True),
    Event("plug", Rehearsal.plug, "plug it in again", servo=True),
    Event("supply", Rehearsal.supply, "change the voltage of the servos' supply", unit="V"),
    Event("push", Rehearsal.push, "turn a joint by hand, and hold it", servo=True, unit="deg"),
    Event("slide", Rehearsal.slide, "the same with jaws, or a joint that slides", True, "mm"),
    Event("let_go", Rehearsal.let_go, "let that joint go", servo=True),
    Event("object", Rehearsal.put, "put an object of a width into the jaws; 0: none", unit="mm"),
    Event("restore", Rehearsal.restore, "end every failure"),
)
