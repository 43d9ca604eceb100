# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Converts keyboard and joystick input into jog commands with a hold timeout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

MODES = ("joint", "base", "tool")
MAX_DIRECTIONS = 7  # joints of an arm, or x y z and three rotations
SPEEDS = (0.05, 0.1, 0.2, 0.4, 0.8)  # fractions of the highest speed
# One pair of keys per direction: joints base to tip, or along x y z and about x y z.
PAIRS = tuple((pair[0], pair[1]) for pair in ("ws", "ad", "rf", "uo", "ik", "jl", "yh"))
JAWS = (".", ",")  # open, close; apart from the other keys
# A held key repeats at 10 to 50 Hz after an initial delay of 0.2 to 0.7 s.
KEY_TIMEOUT = 0.25  # [s] after a press without a repeat


@dataclass(frozen=True)
class JogCommand:
    """A velocity command."""

    mode: str  # "joint", or the frame of a tool motion: "base" or "tool"
    # (7,) from -1 to 1: joints base to tip, or along x y z and about x y z
    direction: tuple[float, ...] = (0.0,) * MAX_DIRECTIONS
    speed: float = 0.1  # fraction of the highest speed

    @property
    def is_zero(self) -> bool:
        """True if nothing is commanded to move."""
        return not any(self.direction)


class KeyboardInput:
    """Converts keys into commands; a held key is a dead man's switch, renewed by key repeat."""

    def __init__(self) -> None:
        self._command = JogCommand("joint")
        self.release()

    def press(self, key: str, now: float) -> bool:
        """Process a key at a time [s]; return whether it is a jogging key."""
        direction = tuple(float((key == more) - (key == less)) for more, less in PAIRS)
        if any(direction):
            self._command = replace(self._command, direction=direction)
            self._until = now + KEY_TIMEOUT
            return True
        self.release()  # any other key ends a motion
        if key == "m":
            mode = MODES[(MODES.index(self._command.mode) + 1) % len(MODES)]
            self._command = replace(self._command, mode=mode)
        elif key in ("+", "-"):
            step = SPEEDS.index(self._command.speed) + (1 if key == "+" else -1)
            speed = SPEEDS[min(max(step, 0), len(SPEEDS) - 1)]
            self._command = replace(self._command, speed=speed)
        return key in ("m", "+", "-")

    def release(self) -> None:
        """End the motion of a held key."""
        self._until = float("-inf")

    def command(self, now: float) -> JogCommand:
        """Return the command at a time [s]."""
        if now < self._until:
            return self._command
        return replace(self._command, direction=(0.0,) * MAX_DIRECTIONS)


@dataclass(frozen=True)
class JoystickLayout:
    """Assignment of the buttons and axes of a joystick; numbers as in sensor_msgs/Joy."""

    dead_man: int = 4  # button that must be held
    joint_mode: int = 5  # buttons that select a mode while held; "tool" otherwise
    base_mode: int = 0
    axes: Sequence[int] = (1, 0, 4, 6, 7, 3)  # of each direction, -1 for none
    signs: Sequence[int] = (1, 1, 1, 1, 1, 1)  # 1 or -1 for each direction
    dead_zone: float = 0.1  # of a stick, which never returns exactly to its centre

    def command(self, axes: Sequence[float], buttons: Sequence[int], speed: float) -> JogCommand:
        """Return the command of a joystick; zero without the dead man's button."""
        mode = "tool"
        for name, button in (("joint", self.joint_mode), ("base", self.base_mode)):
            mode = name if _pressed(buttons, button) else mode
        direction = [0.0] * MAX_DIRECTIONS
        if _pressed(buttons, self.dead_man):
            layout = zip(range(MAX_DIRECTIONS), self.axes, self.signs, strict=False)
            for index, axis, sign in layout:
                if 0 <= axis < len(axes):
                    direction[index] = sign * self._outside_dead_zone(axes[axis])
        return JogCommand(mode, tuple(direction), speed)

    def _outside_dead_zone(self, value: float) -> float:
        """Map an axis to -1 to 1 outside its dead zone; a value that is not finite is 0."""
        if not math.isfinite(value) or abs(value) <= self.dead_zone:
            return 0.0
        size = (min(abs(value), 1.0) - self.dead_zone) / (1.0 - self.dead_zone)
        return math.copysign(size, value)


class JoystickState:
    """The last message of a joystick, while it counts.

    A dongle may repeat the last state of a joystick that is out of reach or switched off; with a
    `repeat_limit` a message does not count once it has been identical for that long.
    """

    def __init__(self, repeat_limit: float = 0.0) -> None:
        """Take the longest time of identical messages [s], 0 for any."""
        self._limit = repeat_limit or math.inf
        self._arrived = self._changed = -math.inf
        self._sticks: tuple[float, ...] = ()
        self._buttons: tuple[int, ...] = ()

    def receive(self, axes: Sequence[float], buttons: Sequence[int], now: float) -> None:
        """Take a message that arrived at a time [s]."""
        before = self._sticks, self._buttons
        self._sticks, self._buttons = tuple(axes), tuple(buttons)
        self._arrived = now
        if before != (self._sticks, self._buttons):
            self._changed = now

    def at(self, now: float) -> tuple[tuple[float, ...], tuple[int, ...]] | None:
        """Return axes and buttons at a time [s], or None if no recent message counts."""
        if now - self._arrived > KEY_TIMEOUT or now - self._changed > self._limit:
            return None
        return self._sticks, self._buttons


def key_descriptions(mode: str, names: Sequence[str]) -> Mapping[tuple[str, str], str]:
    """Return the description of the motion of each pair of keys."""
    texts = [*(f"along {axis}" for axis in "xyz"), *(f"about {axis}" for axis in "xyz")]
    return dict(zip(PAIRS, names if mode == "joint" else texts, strict=False))


def _pressed(buttons: Sequence[int], number: int) -> bool:
    return 0 <= number < len(buttons) and bool(buttons[number])
