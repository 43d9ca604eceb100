# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/teleop/test_terminal.py
"""Converts keys and sticks into jog commands, and these into short trajectories that end at rest.

Without commands the arm stops; a key or stick that is no longer held commands nothing. The
commanded positions are integrated instead of read from joint_states, which lag and are rounded to
the board's counts, so that slow motions would be lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array
from arm_description.model.constraints import SLACK, largest_share
from arm_kinematics.paths.differential_ik import DifferentialIk, RateLimits, rate_bounds

from arm_kinematics import Chain
from arm_tasks.planning.plan import PlannedTrajectory

MODES = ("joint", "base", "tool")
MAX_DIRECTIONS = 7  # joints of an arm, or x y z and three rotations
SPEEDS = (0.05, 0.1, 0.2, 0.4, 0.8)  # fractions of the highest speed
# One pair of keys per direction: joints base to tip, or along x y z and about x y z.
PAIRS = tuple((pair[0], pair[1]) for pair in ("ws", "ad", "rf", "uo", "ik", "jl", "yh"))
JAWS = (".", ",")  # open, close; apart from the other keys
# A held key repeats at 10 to 50 Hz after an initial delay of 0.2 to 0.7 s.
KEY_TIMEOUT = 0.25  # [s] after a press without a repeat
PERIOD = 0.05  # [s] between messages
HORIZON = 2.0 * PERIOD  # [s] of motion per message before braking; the next one may be late
ACCELERATION_SCALE = 0.4  # a cubic between messages peaks at twice its mean acceleration
LINEAR, ANGULAR = 0.25, 1.5  # [m/s], [rad/s] of the tool at speed 1
_SETTLING_PERIODS = 10  # at rest until joint_states are up to date
_MAX_DEVIATION = 0.15  # [rad or m] of joint_states from the command, beyond the lag


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


class MotionStream:
    """The commanded state of an arm that is moved by short trajectories; start() sets it.

    Attributes:
        q: (n,) commanded positions; None if unknown.
        rates: (n,) commanded rates.
    """

    def __init__(self, chain: Chain) -> None:
        self.use(chain)

    def use(self, chain: Chain) -> None:
        """Use the chain of the same robot with other limits; nothing moves until start()."""
        self._chain = chain
        self._acceleration = ACCELERATION_SCALE * chain.acceleration
        self._reset(None)

    def _reset(self, q: Array | None) -> None:
        self.q = q
        self.rates = np.zeros(self._chain.n)
        self._idle = _SETTLING_PERIODS

    def forget(self) -> None:
        """Forget the position; nothing moves until start()."""
        self._reset(None)

    @property
    def settled(self) -> bool:
        """True if the arm has been at rest long enough for joint_states to be up to date."""
        return self._idle >= _SETTLING_PERIODS

    @property
    def moving(self) -> bool:
        """True while the arm is commanded to move."""
        return bool(np.any(self.rates))

    def start(self, positions: Array) -> None:
        """Start at positions (n,) [rad or m], at rest."""
        self._reset(np.array(positions, dtype=float))

    @staticmethod
    def _kept_inside(rates: Array, braked: Array, fits: Callable[[Array], bool]) -> Array:
        """Return rates (n,) from which the arm can brake inside the limits, which ``fits`` checks.

        They are between those wanted and ``braked``, the present ones after some braking. These
        fit because the last step left room for them.
        """
        share = largest_share(lambda s: fits(braked + s * (rates - braked)))
        if share > 0.0:
            return braked + share * (rates - braked)
        return largest_share(lambda s: fits(s * braked)) * braked

    def deviates(self, positions: Array) -> bool:
        """Return True if measured positions (n,) do not follow the command."""
        if self.q is None:
            return False
        allowed = _MAX_DEVIATION + 4.0 * HORIZON * np.abs(self.rates)
        return bool(np.any(np.abs(self.q - positions) > allowed))


class Jogger(MotionStream):
    """Jogs one arm; start() sets its position.

    Attributes:
        slowed_by: Joints that make the motion slower than commanded.
    """

    def use(self, chain: Chain) -> None:
        """Use the chain of the same robot with other limits; nothing moves until start()."""
        super().use(chain)
        self._jog = DifferentialIk(chain, acceleration=self._acceleration)
        self.slowed_by: tuple[str, ...] = ()

    def step(self, command: JogCommand) -> PlannedTrajectory | None:
        """Return the motion of the next period followed by braking, or None if nothing moves."""
        if self.q is None or (command.is_zero and not self.moving):
            self.slowed_by = ()
            self._idle += 1
            return None
        self._idle = 0
        if command.is_zero:
            return self._brake()
        q = self.q
        self.rates = rates = self._slowed(q, self._rates(command))
        self.q = q + rates * PERIOD
        if not self.moving:
            return None
        braking = self._braking_time(rates)
        ahead = q + rates * HORIZON
        last = ahead + 0.5 * rates * braking
        return self._ending_at_rest([HORIZON, HORIZON + braking], [ahead, last], [rates])

    def _brake(self) -> PlannedTrajectory:
        assert self.q is not None
        braking = self._braking_time(self.rates)
        self.q = self.q + 0.5 * self.rates * braking
        self.rates = np.zeros_like(self.rates)
        self.slowed_by = ()
        return self._ending_at_rest([braking], [self.q], [])

    def _ending_at_rest(
        self, times: list[float], positions: list[Array], rates: list[Array]
    ) -> PlannedTrajectory:
        velocities = np.array([*rates, np.zeros(self._chain.n)])
        names = self._chain.joint_names
        return PlannedTrajectory(names, np.array(times), np.array(positions), velocities)

    def _rates(self, command: JogCommand) -> Array:
        """Return joint rates (n,) for the next period from which every joint can still stop.

        For tool motions they are evaluated in the middle of the period (midpoint rule); otherwise
        the tool would drift off a straight line.
        """
        assert self.q is not None
        q = np.clip(self.q, self._chain.lower, self._chain.upper)
        if command.mode != "joint":
            scale = [LINEAR] * 3 + [ANGULAR] * 3
            twist = np.array(command.direction[:6]) * command.speed * scale
            first = self._jog.step(q, self.rates, twist, HORIZON, command.mode)
            middle = np.clip(
                q + first.rates * (0.5 * PERIOD), self._chain.lower, self._chain.upper
            )
            step = self._jog.step(middle, self.rates, twist, HORIZON, command.mode)
            self.slowed_by = step.limiting_joints
            return step.rates
        chain = self._chain
        limits = RateLimits(chain.lower, chain.upper, chain.velocity, self._acceleration)
        bounds = rate_bounds(limits, q, self.rates, HORIZON)
        target = np.zeros(max(chain.n, MAX_DIRECTIONS))
        target[:MAX_DIRECTIONS] = command.direction
        target = target[: chain.n] * command.speed * chain.velocity
        rates = np.clip(target, bounds.lower, bounds.upper)
        short = np.abs(np.clip(target, bounds.target_lower, bounds.target_upper) - target) > 1e-9
        self.slowed_by = tuple(chain.joint_names[i] for i in np.flatnonzero(short))
        return np.asarray(rates)

    def _slowed(self, q: Array, rates: Array) -> Array:
        """Return rates (n,) slowed as far as the motion and braking stay inside the limits.

        All joints brake for the same time, some more gently than necessary.
        """
        chain = self._chain
        lower, upper = np.minimum(chain.lower, q) - SLACK, np.maximum(chain.upper, q) + SLACK

        def fits(reduced: Array) -> bool:
            end = q + self._travel(reduced)
            inside = bool(((lower <= end) & (end <= upper)).all())
            return inside and chain.constraints.keeps(q, end)

        braking = max(0.0, 1.0 - HORIZON / self._braking_time(self.rates))
        slowed = self._kept_inside(rates, braking * self.rates, fits)
        end = q + self._travel(rates)
        if not chain.constraints.keeps(q, end) and (near := chain.constraints.tightest(end)):
            self.slowed_by = tuple(dict.fromkeys((*self.slowed_by, near.joint)))
        return slowed

    def _travel(self, rates: Array) -> Array:
        """Return the travel (n,) of a motion with rates (n,), which ends by braking."""
        return rates * (HORIZON + 0.5 * self._braking_time(rates))

    def _braking_time(self, rates: Array) -> float:
        """Return the time in which all rates (n,) reach zero together [s]."""
        return max(PERIOD, float(np.max(np.abs(rates) / self._acceleration)))
