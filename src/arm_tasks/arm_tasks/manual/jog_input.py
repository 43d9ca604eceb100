# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a person wishes who holds a key or a joystick, and for how long it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array

MODES = ("joint", "base", "tool")
MOST = 7  # directions: joints of an arm, or x y z and three turns
SPEEDS = (0.05, 0.1, 0.2, 0.4, 0.8)  # shares of the highest speed
# One pair of keys for each direction: joints base to tip, or along x y z and about x y z.
PAIRS = tuple((pair[0], pair[1]) for pair in ("ws", "ad", "rf", "uo", "ik", "jl", "yh"))
JAWS = (".", ",")  # open, close; the last thing that a hand on the other keys finds
# A key that is held repeats at 10 to 50 Hz, after a first pause of 0.2 to 0.7 s.
HELD = 0.25  # [s] that one press of a key counts
DEAD_ZONE = 0.1  # of a joystick, which never quite returns to its middle


@dataclass(frozen=True)
class JogCommand:
    """Where to go.

    Attributes:
        mode: "joint", or along the axes of "base" or "tool".
        way: (7,) from -1 to 1: joints base to tip, or x y z and turns about x y z.
        speed: Share of the highest speed.
    """

    mode: str
    way: tuple[float, ...] = (0.0,) * MOST
    speed: float = 0.1

    @property
    def still(self) -> bool:
        """Whether nothing shall move."""
        return not any(self.way)


class KeyboardInput:
    """Keys to wishes. The held key is a dead man's switch: without repeats the wish is over."""

    def __init__(self, mode: str = "joint", speed: float = 0.1) -> None:
        """Begin with nothing held.

        Args:
            mode: One of MODES.
            speed: Share of the highest speed.
        """
        self._wish = JogCommand(mode, speed=speed)
        self._until = float("-inf")

    def press(self, key: str, now: float) -> bool:
        """Take a key at a time [s]; return whether it means something here."""
        for index, (more, less) in enumerate(PAIRS):
            if key in (more, less):
                way = np.zeros(MOST)
                way[index] = 1.0 if key == more else -1.0
                self._wish = replace(self._wish, way=tuple(way.tolist()))
                self._until = now + HELD
                return True
        self._until = float("-inf")  # any other key ends a motion
        if key == "m":
            mode = MODES[(MODES.index(self._wish.mode) + 1) % len(MODES)]
            self._wish = replace(self._wish, mode=mode)
        elif key in ("+", "-"):
            self._wish = replace(self._wish, speed=_next(self._wish.speed, key == "+"))
        return key in ("m", "+", "-")

    def release(self) -> None:
        """End what is held."""
        self._until = float("-inf")

    def wish(self, now: float) -> JogCommand:
        """Return what counts at a time [s]."""
        return self._wish if now < self._until else replace(self._wish, way=(0.0,) * MOST)


@dataclass(frozen=True)
class JoystickLayout:
    """Which button and stick of a joystick means what; numbers as in sensor_msgs/Joy.

    Attributes:
        dead_man: Button to be held, or nothing moves.
        joint_mode, base_mode: Buttons that choose a mode while held; else it is the tool's.
        axes: Stick of each direction, -1 for none.
        signs: 1 or -1 of each.
    """

    dead_man: int = 4
    joint_mode: int = 5
    base_mode: int = 0
    axes: Sequence[int] = (1, 0, 4, 6, 7, 3)
    signs: Sequence[int] = (1, 1, 1, 1, 1, 1)

    def wish(self, sticks: Sequence[float], buttons: Sequence[int], speed: float) -> JogCommand:
        """Return what a joystick wishes; nothing without the dead man's button."""
        mode = "tool"
        for name, button in (("joint", self.joint_mode), ("base", self.base_mode)):
            mode = name if _pressed(buttons, button) else mode
        way = np.zeros(MOST)
        if _pressed(buttons, self.dead_man):
            for index, (stick, sign) in enumerate(zip(self.axes, self.signs, strict=False)):
                if index < MOST and 0 <= stick < len(sticks):
                    way[index] = sign * _beyond(sticks[stick])
        return JogCommand(mode, tuple(way.tolist()), speed)


def asked_rates(wish: JogCommand, velocity: Array) -> Array:
    """Return joint speeds (n,) of a wish in joint mode, for highest speeds (n,)."""
    way = np.zeros(len(velocity))
    count = min(len(way), MOST)
    way[:count] = wish.way[:count]
    return np.asarray(way * wish.speed * velocity)


def pairs_text(mode: str, names: Sequence[str]) -> Mapping[tuple[str, str], str]:
    """Return what each pair of keys does, by the pair."""
    if mode == "joint":
        whats = list(names[:MOST])
    else:
        whats = [*(f"along {axis}" for axis in "xyz"), *(f"about {axis}" for axis in "xyz")]
    return dict(zip(PAIRS, whats, strict=False))


def _next(speed: float, faster: bool) -> float:
    if faster:
        return min((s for s in SPEEDS if s > speed), default=SPEEDS[-1])
    return max((s for s in SPEEDS if s < speed), default=SPEEDS[0])


def _pressed(buttons: Sequence[int], number: int) -> bool:
    return 0 <= number < len(buttons) and bool(buttons[number])


def _beyond(value: float) -> float:
    """Return a stick from -1 to 1 without its dead zone; one that sends no number rests."""
    if not abs(value) > DEAD_ZONE:
        return 0.0
    size = (min(abs(value), 1.0) - DEAD_ZONE) / (1.0 - DEAD_ZONE)
    return size if value > 0.0 else -size
