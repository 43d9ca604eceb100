# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What moves the axes in each tick: a trajectory, a width of the gripper, or braking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from arm_hardware.axes import Axes, Axis
from arm_hardware.errors import (
    GOAL_TOLERANCE_VIOLATED,
    PATH_TOLERANCE_VIOLATED,
    SUCCESSFUL,
)
from arm_hardware.goal import Goal, Outcome
from arm_hardware.limiter import AxisState, brake, settled, track
from arm_hardware.trajectory import Trajectory


@dataclass(frozen=True)
class Tolerances:
    """Bounds that a goal sets, on the command: a servo reports nothing.

    Attributes:
        path: By joint name, how far the command may lag behind the trajectory [rad or m].
        goal_time: Seconds after its end by which the command must have arrived; 0 means no bound.
    """

    path: Mapping[str, float] = field(default_factory=dict)
    goal_time: float = 0.0


class ArmRun:
    """A trajectory being followed, or given up and braked."""

    def __init__(
        self, axes: Axes, trajectory: Trajectory, delay: float, tolerances: Tolerances
    ) -> None:
        """Make the run; it begins with the next tick.

        Args:
            axes: The arm.
            trajectory: Begins at the present command.
            delay: Seconds to wait before it.
            tolerances: Of the goal.
        """
        self.goal = Goal()
        self.canceled = False
        self._axes = axes.arm
        self._trajectory = trajectory
        self._tolerances = tolerances
        self._time = -delay

    @property
    def reference(self) -> tuple[float, ...]:
        """Where the trajectory is now (n,) [rad or m]."""
        return tuple(float(p) for p in self._trajectory.sample(self._time))

    @property
    def elapsed(self) -> float:
        """Seconds since the trajectory's start."""
        return self._time

    def cancel(self) -> None:
        """Give up the trajectory: brake, then report the goal as canceled."""
        self.canceled = True

    def advance(self, states: Sequence[AxisState], dt: float) -> bool:
        """Move the states by one tick; return whether the run is over."""
        if self.canceled or self.goal.done:
            return self._brake(states, dt)
        now = self._trajectory.sample(self._time)
        then = self._trajectory.sample(self._time + dt)
        for i, axis in enumerate(self._axes):
            turn = self._trajectory.next_turn(i, self._time)
            track(axis, states[i], float(now[i]), float(then[i]), dt, turn)
        self._time += dt
        self._check_path(states)
        return self._arrived(states)

    def _brake(self, states: Sequence[AxisState], dt: float) -> bool:
        for axis, state in zip(self._axes, states, strict=False):
            brake(axis, state, dt)
        return all(state.velocity == 0.0 for state in states[: len(self._axes)])

    def finish(self) -> None:
        """Report how the run ended, after its last position was sent."""
        if self.canceled:
            self.goal.finish(Outcome.CANCELED, SUCCESSFUL, "Canceled; the arm holds where it is.")
        self.goal.finish(
            Outcome.SUCCEEDED, SUCCESSFUL, "Commanded to the goal; the servos report no position."
        )

    def _arrived(self, states: Sequence[AxisState]) -> bool:
        late = self._time - self._trajectory.duration
        if late < -1e-9:
            return False
        rests = [
            settled(state, float(final))
            for state, final in zip(states, self._trajectory.final, strict=False)
        ]
        if all(rests):
            return True
        if 0.0 < self._tolerances.goal_time < late:
            name = self._axes[rests.index(False)].name
            self.goal.finish(
                Outcome.ABORTED,
                GOAL_TOLERANCE_VIOLATED,
                f"{name}: not there {late:.3g} s after the trajectory's end; its limits of speed "
                "and acceleration need longer.",
            )
        return False

    def _check_path(self, states: Sequence[AxisState]) -> None:
        for axis, state, wanted in zip(self._axes, states, self.reference, strict=False):
            bound, lag = self._tolerances.path.get(axis.name, 0.0), abs(wanted - state.position)
            if 0.0 < bound < lag:
                self.goal.finish(
                    Outcome.ABORTED,
                    PATH_TOLERANCE_VIOLATED,
                    f"{axis.name}: {lag:.4g} {axis.unit} behind the trajectory, more than the "
                    f"tolerance {bound:.4g}.",
                )


class GripRun:
    """The gripper on its way to a width."""

    def __init__(self, axis: Axis, width: float) -> None:
        """Make the run; it begins with the next tick.

        Args:
            axis: The gripper.
            width: Within its limits [m].
        """
        self.goal = Goal()
        self.canceled = False
        self._axis = axis
        self._width = width

    def cancel(self) -> None:
        """Brake, then report the goal as canceled."""
        self.canceled = True

    def advance(self, state: AxisState, dt: float) -> bool:
        """Move the state by one tick; return whether the run is over."""
        if self.canceled:
            brake(self._axis, state, dt)
            return state.velocity == 0.0
        track(self._axis, state, self._width, self._width, dt, self._width)
        return settled(state, self._width)

    def finish(self) -> None:
        """Report how the run ended, after its last width was sent."""
        if self.canceled:
            self.goal.finish(
                Outcome.CANCELED, SUCCESSFUL, "Canceled; the gripper holds its width."
            )
        self.goal.finish(
            Outcome.SUCCEEDED,
            SUCCESSFUL,
            f"Commanded to a width of {self._width * 1e3:.1f} mm; commanded, not measured.",
        )
