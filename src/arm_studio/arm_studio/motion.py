# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Motion over time without a driver: functions of time a joint, and trajectories that are played.

Times are given, never read, so that all of it can be tested; none of it moves anything by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from arm_common.errors import InputError
from arm_common.yaml.expressions import Expressions
from arm_description.trajectories.trajectory import JointTrajectory

VARIABLE = "t"
DEGREE = math.pi / 180.0
INTERRUPTED = "Paused, as something else moved the arm."
PAUSED = "Paused, for the reason at the top."  # a STOP, or what the arm cannot follow
MOVED = 1e-5  # by which a joint is elsewhere, if something moved it [rad or m]


@dataclass
class Clock:
    """A clock that a person starts, pauses, sets and turns back; `now` is any steady time [s]."""

    rate: float = 1.0  # seconds shown per second; below 0 it runs backwards
    _shown: float = 0.0  # the time when it was last started, paused or set [s]
    _since: float | None = None  # when that was; None while it stands

    @property
    def running(self) -> bool:
        """True if it runs."""
        return self._since is not None

    def at(self, now: float) -> float:
        """Return the time that it shows [s]."""
        return (
            self._shown if self._since is None else self._shown + self.rate * (now - self._since)
        )

    def start(self, now: float) -> None:
        """Let it run from the time that it shows."""
        self.set(self.at(now), now)
        self._since = now

    def pause(self, now: float) -> None:
        """Let it stand."""
        self._shown, self._since = self.at(now), None

    def set(self, shown: float, now: float) -> None:
        """Set the time that it shows [s]; it goes on if it runs."""
        self._shown = shown
        if self._since is not None:
            self._since = now

    def set_rate(self, rate: float, now: float) -> None:
        """Run at another rate from the time that it shows."""
        self.set(self.at(now), now)
        self.rate = rate


class TimeFunctions:
    """Expressions of the time t by name, such as ``30*sin(90*t)``.

    Angles, also those within functions, are in degrees; a value is a number in the unit of what
    its name stands for.

    Args:
        constants: Numbers or expressions that they may refer to by name.
    """

    def __init__(self, constants: Mapping[str, str] | None = None) -> None:
        self._expressions = Expressions(constants, DEGREE, "name")
        self._functions: dict[str, Callable[[float], float]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names that have a function."""
        return tuple(self._functions)

    def set(self, name: str, text: str, now: float) -> None:
        """Give a name a function, or none if the text is empty.

        Raises:
            InputError: The text is no expression, or has no value at the time `now` [s]; the
                name keeps its former function.
        """
        if not text.strip():
            self._functions.pop(name, None)
            return
        function = self._expressions.function(text, VARIABLE)
        function(now)
        self._functions[name] = function

    def keep(self, names: frozenset[str]) -> None:
        """Forget the functions of all other names."""
        self._functions = {name: f for name, f in self._functions.items() if name in names}

    def at(self, time: float) -> dict[str, float]:
        """Return the value of each name at a time [s].

        Raises:
            InputError: One has no value then; the error names it.
        """
        values = {}
        for name, function in self._functions.items():
            try:
                values[name] = function(time)
            except InputError as error:
                problem = f"{error.problem} at {VARIABLE} = {time:.6g} s"
                raise InputError(problem, remedy=error.remedy, key=name) from None
        return values


@dataclass
class Reached:
    """Where a motion's last step left its joints; it shows whether something else moved them."""

    _positions: Mapping[str, float] = field(default_factory=dict)

    def set(self, names: Iterable[str], present: Mapping[str, float]) -> None:
        """Keep the positions of these joints [rad or m]; none at a start."""
        self._positions = {name: present[name] for name in names if name in present}

    def left(self, present: Mapping[str, float]) -> bool:
        """Return whether a joint is elsewhere by now [rad or m]."""
        return any(abs(present.get(n, q) - q) > MOVED for n, q in self._positions.items())


@dataclass
class Playback:
    """A trajectory under a clock: played, backwards, paused, dragged, at a speed, in a loop."""

    clock: Clock = field(default_factory=Clock)
    trajectory: JointTrajectory | None = None
    loop: bool = False

    @property
    def duration(self) -> float:
        """Duration of the trajectory [s]; 0 without one."""
        return 0.0 if self.trajectory is None else self.trajectory.duration

    def load(self, trajectory: JointTrajectory | None, now: float) -> None:
        """Take another trajectory, at its start and paused."""
        self.clock.pause(now)
        self.clock.set(0.0, now)
        self.trajectory = trajectory

    def play(self, rate: float, now: float) -> None:
        """Play at a rate, below 0 backwards, from the other end if this one is reached."""
        time = self.time(now)
        end, begin = (self.duration, 0.0) if rate > 0.0 else (0.0, self.duration)
        self.clock.set(begin if time == end else time, now)
        self.clock.set_rate(rate, now)
        self.clock.start(now)

    def seek(self, time: float, now: float) -> None:
        """Go to a time of the trajectory [s]; playing goes on from there."""
        self.clock.set(min(max(time, 0.0), self.duration), now)

    def time(self, now: float) -> float:
        """Return the time within the trajectory [s]; at its end the clock is paused."""
        shown, duration = self.clock.at(now), self.duration
        if self.loop and self.clock.running and duration > 0.0:
            if not 0.0 <= shown < duration:
                self.clock.set(shown % duration, now)  # so that a pause stops in this round
            return self.clock.at(now)
        inside = min(max(shown, 0.0), duration)
        if inside != shown:
            self.clock.pause(now)
            self.clock.set(inside, now)
        return inside

    def positions(self, now: float) -> dict[str, float]:
        """Return the joint positions by name [rad or m]; none without a trajectory."""
        if self.trajectory is None:
            return {}
        time, known = self.time(now), self.trajectory
        columns = known.positions.T
        values = (float(np.interp(time, known.times, column)) for column in columns)
        return dict(zip(known.names, values, strict=True))
