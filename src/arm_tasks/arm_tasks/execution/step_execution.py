# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Execution of one step, which is started once, polled until it ends, and stopped on request.

Of an interrupted step, `remaining_motion` makes the part of the motion that remains.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array
from arm_description.model.units import SHOWN, mm
from arm_hardware.calibration.axes import START_TOLERANCE
from arm_kinematics.paths.timing import time_path

from arm_kinematics import Chain
from arm_tasks.errors import PlanError
from arm_tasks.execution.ports import (
    ArmPort,
    EndedMove,
    FrameSearch,
    Move,
    MoveState,
    MoveStatus,
    Observer,
    OtherNodes,
    SignalWatch,
)
from arm_tasks.planning.plan import PlannedStep, PlannedTrajectory, TaskPlan
from arm_tasks.task.condition import Observation, Reading
from arm_tasks.task.request import ArmConfiguration

_OBSERVATION_TIMEOUT = 3.0  # the world is observed about once a second [s]
_STEP_TIMEOUT_FACTOR = 2.0  # a step may take this many times as long as planned
_GRACE = 5.0  # and this much longer [s]
_ARRIVAL_TIMEOUT = 1.0  # of wall time, for the arm to show where a motion has ended [s]
_CANCEL_TIMEOUT = 5.0  # for the arm to report that it has stopped [s]
WIDTH_TOLERANCE = 2e-3  # [m] largest deviation of the jaws from the width that a step needs
_BEHIND = 2.0  # [s] behind its plan from which a motion is reported as slow
_SLOW = "; slower than planned, as the computer or the driver is"
_END_TOLERANCE = 1e-4  # [rad or m] nearer to its end than this, a step is complete
_PATH_SAMPLES = 400  # to find the path point nearest to the arm


_ENDINGS = {
    MoveState.REJECTED: "the driver rejected the motion",
    MoveState.CANCELED: "the driver stopped the motion",
    MoveState.STOPPED: "the motion was stopped",
}


@dataclass(frozen=True)
class Clocks:
    """Two steady clocks [s]; an arm is late only if it is late on both."""

    arm: Callable[[], float]  # of the arm, simulated if the arm is
    wall: Callable[[], float]  # simulated time may run faster than the computer that simulates

    def now(self) -> tuple[float, float]:
        """Return both times."""
        return self.arm(), self.wall()


class ConditionCheck:
    """Evaluates the condition of a branch once it is known, or waits until that of a wait holds.

    Observations made before its creation, by the arm's clock, are ignored.
    """

    def __init__(
        self, step: PlannedStep, observe: Observer | None, nodes: OtherNodes | None, clocks: Clocks
    ) -> None:
        assert step.when is not None
        self.goal: int | None = None  # index of the chosen next step
        self.is_mistake = False  # whether the condition can never hold
        self._when, self._step, self._observe = step.when, step, observe
        self._clocks, self._began = clocks, clocks.now()
        self._canceled = False
        self._watch: SignalWatch | None = None
        if self._when.signal is not None and nodes is not None:
            self._watch = nodes.watch(self._when.signal)

    def poll(self) -> MoveStatus:
        """Return the status; the first that is not RUNNING ends the subscription."""
        status = self._status()
        if status.done and self._watch is not None:
            self._watch.close()
            self._watch = None
        return status

    def cancel(self) -> None:
        """Stop waiting."""
        self._canceled = True

    def _status(self) -> MoveStatus:
        if self._canceled:
            return MoveStatus(MoveState.CANCELED)
        reading = self._read()
        if reading.failed:
            self.is_mistake = True
            return MoveStatus(MoveState.FAILED, reading.reason)
        arm, wall = self._clocks.now()
        if self._step.timeout is not None:
            if reading.holds:
                return MoveStatus(MoveState.SUCCEEDED)
            if arm - self._began[0] < self._step.timeout:
                return MoveStatus(MoveState.RUNNING, progress=0.0)
            late = f"it did not hold within {self._step.timeout:g} s that {self._when}"
            return MoveStatus(MoveState.FAILED, f"{late}{reading.reason and ': '}{reading.reason}")
        if not reading.known and wall - self._began[1] < _OBSERVATION_TIMEOUT:
            return MoveStatus(MoveState.RUNNING)
        if not reading.known:
            reason = f"{reading.reason}, so it is unknown whether {self._when}"
            return MoveStatus(MoveState.FAILED, reason)
        self.goal = self._step.next if reading.holds else self._step.otherwise
        if self.goal is None:
            return MoveStatus(MoveState.FAILED, f"it does not hold that {self._when}")
        return MoveStatus(MoveState.SUCCEEDED)

    def _read(self) -> Reading:
        """Return whether the whole condition holds now."""
        observed = self._observe(self._when, self._began[0]) if self._observe else None
        if missing := self._when.missing(observed or Observation()):
            return Reading(False, missing, known=False)
        if not self._when.holds(observed or Observation()):
            return Reading(False)
        if self._when.signal is None:
            return Reading(True)
        if self._watch is None:
            reason = f"{self._when.signal.source} cannot be received here"
            return Reading(False, reason, failed=True)
        return self._watch.read()


class _BothMoves:
    """A motion of the arm and one of the jaws, which begin and are stopped together."""

    def __init__(self, arm: Move, jaws: Move) -> None:
        self._moves = arm, jaws
        self._canceled = False

    def poll(self) -> MoveStatus:
        """Return the status; what ends one of them otherwise than done also ends the other."""
        found = [move.poll() for move in self._moves]
        ended = [s for s in found if s.done and s.state is not MoveState.SUCCEEDED]
        if not all(status.done for status in found):
            if ended:
                self.cancel()
            return MoveStatus(MoveState.RUNNING, progress=found[0].progress)
        other = [s for s in ended if s.state is not MoveState.CANCELED]
        return min((other or ended or found), key=lambda s: s.state is not MoveState.STOPPED)

    def cancel(self) -> None:
        """Stop both, once."""
        for move in self._moves if not self._canceled else ():
            move.cancel()
        self._canceled = True


_UNSENT = EndedMove(MoveStatus(MoveState.FAILED, "no other node can be reached here"))


class StepExecution:
    """Starts a step and monitors it; conditions need the observer, or the other nodes."""

    def __init__(
        self,
        step: PlannedStep,
        port: ArmPort,
        clocks: Clocks,
        observe: Observer | None = None,
        nodes: OtherNodes | None = None,
    ) -> None:
        self.step = step
        self._port = port
        self._clocks = clocks
        self._began = self._since = clocks.now()
        self._polled, self._stretched = clocks.arm(), 0.0
        self._progress: float | None = None  # that the driver has reported, 0 to 1
        self._stretched_before = 0.0  # when it did so last
        self._canceled = self._overdue = False
        self._arrived: float | None = None  # when the motion was reported done, wall time
        self._move: Move | None = None
        self._search: FrameSearch | None = None
        if step.trajectory is not None:
            self._move = port.move(step.trajectory)
            if step.width is not None:
                self._move = _BothMoves(self._move, port.set_width(step.width))
        elif step.width is not None:
            self._move = port.set_width(step.width)
        elif step.when is not None:
            self._move = ConditionCheck(step, observe, nodes, clocks)
        elif step.find is not None and nodes is not None:
            self._move = self._search = nodes.find(step)
        elif step.find is not None:
            self._move = _UNSENT
        elif step.command is not None:
            self._move = _UNSENT if nodes is None else nodes.send(step.command)

    @property
    def plan(self) -> TaskPlan | None:
        """The plan to go on with, if this step has found a frame."""
        return None if self._search is None else self._search.plan

    @property
    def next(self) -> int:
        """Index of the next step, once this one has succeeded."""
        if self.plan is not None:
            return self.plan.steps[self.step.index].next
        chosen = self._move.goal if isinstance(self._move, ConditionCheck) else None
        return self.step.next if chosen is None else chosen

    @property
    def can_recover(self) -> bool:
        """Whether it may be tried again or replaced by other steps once it has failed.

        Not if it is overdue: it is unknown what the arm does then.
        """
        is_mistake = isinstance(self._move, ConditionCheck) and self._move.is_mistake
        return self.step.kind != "branch" and not is_mistake and not self._overdue

    @property
    def is_motion(self) -> bool:
        """Whether it moves the arm or the jaws."""
        return self.step.trajectory is not None or self.step.width is not None

    def end_reason(self, status: MoveStatus) -> str:
        """Return why it has ended otherwise than done, a clause."""
        if not self.is_motion:
            return status.message
        word = _ENDINGS.get(status.state, "the motion failed")
        return f"{word}: {status.message}" if status.message else word

    @property
    def behind(self) -> float:
        """How far a motion is behind its plan by the driver's reports [s]; 0 if that is little."""
        if self._progress is None or not self.is_motion:
            return 0.0
        behind = self.elapsed - self._stretched - self._progress * self.step.duration
        return behind if behind > _BEHIND else 0.0

    @property
    def message(self) -> str:
        """What the arm is doing, one sentence."""
        return f"{self.step.message}{_SLOW if self.behind else ''}"

    @property
    def elapsed(self) -> float:
        """Time since it began, on the arm's clock [s]."""
        return self._clocks.arm() - self._began[0]

    def cancel(self) -> None:
        """Stop the arm where it is; poll() reports CANCELED once it has stopped."""
        if not self._canceled:
            self._canceled, self._since = True, self._clocks.now()
            self._cancel_move()

    def _cancel_move(self) -> None:
        if self._move is not None:
            self._move.cancel()

    def poll(self) -> MoveStatus:
        """Return the status; a step that takes far too long has failed.

        A step takes longer by the time that the speed scaling stretches it. As long as the driver
        reports progress, it is slow but not late.
        """
        now = self._clocks.arm()
        if self.is_motion:
            self._stretched += (now - self._polled) * (1.0 - self._port.speed_scaling)
        self._polled = now
        status = self._wait() if self._move is None else self._move.poll()
        self._note_progress(1.0 if status.state is MoveState.SUCCEEDED else status.progress)
        if status.state is MoveState.SUCCEEDED:
            return self._check_arrival(status)
        if status.done:
            return status
        planned, command = self.step.duration, self.step.command
        has_own_time = self.step.timeout is None and command is None  # no timeout limits it
        if self._canceled:
            if self._is_late(_CANCEL_TIMEOUT):
                return MoveStatus(MoveState.FAILED, "the arm does not report that it stopped")
        elif command is not None and self.elapsed > command.timeout:
            self._cancel_move()
            late = f"it was not done within {command.timeout:g} s"
            return MoveStatus(MoveState.FAILED, f"{late}: {status.message}".removesuffix(": "))
        elif has_own_time and self._is_late(_STEP_TIMEOUT_FACTOR * planned + _GRACE):
            self._cancel_move()
            self._overdue = True
            late = f"the arm was not done after {self.elapsed:.1f} s; {planned:.1f} s were planned"
            return MoveStatus(MoveState.FAILED, late)
        if status.progress is not None:
            return status
        done = self.elapsed - self._stretched
        guess = min(done / planned, 0.99) if planned > 0.0 else 0.0
        return MoveStatus(MoveState.RUNNING, progress=guess)

    def _note_progress(self, progress: float | None) -> None:
        """Restart the time limit if the driver reports more progress than before."""
        if progress is not None and progress > (self._progress or 0.0):
            self._progress, self._stretched_before = progress, self._stretched
            if not self._canceled:
                self._since = self._clocks.now()

    def _check_arrival(self, status: MoveStatus) -> MoveStatus:
        """Return the status of a motion that was reported done: the joint states decide."""
        if self.step.trajectory is None or not (
            missed := self._missed_joint(self.step.trajectory)
        ):
            return status
        now = self._clocks.wall()
        self._arrived = now if self._arrived is None else self._arrived
        if now - self._arrived < _ARRIVAL_TIMEOUT:
            return MoveStatus(MoveState.RUNNING, progress=0.99)
        return MoveStatus(MoveState.FAILED, missed)

    def _missed_joint(self, trajectory: PlannedTrajectory) -> str:
        """Return which joint is too far from the end of a motion, a clause, or ""."""
        now, bounds = self._port.configuration().positions, self._port.goal_tolerances
        ends = zip(trajectory.joint_names, trajectory.at(trajectory.duration), strict=True)
        away = {name: abs(now[name] - float(end)) for name, end in ends if name in now}
        beyond = {
            n: distance for n, distance in away.items() if distance > bounds.get(n, math.inf)
        }
        if not beyond:
            return ""
        worst = max(beyond, key=lambda name: beyond[name] / bounds[name])
        return (
            f"the motion was reported done, but {worst} is {beyond[worst]:.3g} from its goal, "
            f"more than {bounds[worst]:g} (rad or m)"
        )

    def _wait(self) -> MoveStatus:
        if self.elapsed >= self.step.duration:
            return MoveStatus(MoveState.SUCCEEDED)
        return MoveStatus(MoveState.CANCELED if self._canceled else MoveState.RUNNING)

    def _is_late(self, timeout: float) -> bool:
        """Return whether a timeout [s] has passed on the arm's clock, and enough on the wall."""
        arm, wall = self._clocks.now()
        stretched = 0.0 if self._canceled else self._stretched - self._stretched_before
        spent = arm - self._since[0] - stretched
        return spent > timeout and wall - self._since[1] > _GRACE


def remaining_motion(step: PlannedStep, current: ArmConfiguration, chain: Chain) -> PlannedStep:
    """Return the rest of a step for an arm that is at its start or on its path.

    The rest of a motion is timed again, from rest to rest, no faster than the step was.

    Raises:
        PlanError: The arm is elsewhere; the text names the joint and its deviation.
    """
    q, path = current.array(chain.joint_names), step.trajectory
    time = 0.0 if path is None else _nearest_time(path, q)
    _check_joints(step, chain, q, step.start if path is None else path.at(time))
    _check_width(step, current.width)
    if path is None or time == 0.0 or np.abs(q - step.start).max() < _END_TOLERANCE:
        return step
    return _from(step, path, time, chain)


def return_motion(step: PlannedStep, current: ArmConfiguration, chain: Chain) -> PlannedStep:
    """Return the way back to the start of a step, along its path, for an arm that is on it.

    Raises:
        PlanError: The arm is elsewhere; the text names the joint and its deviation.
    """
    back = replace(step, message=f"returning to where {step.name} began")
    if step.width is not None:
        back = replace(back, width=step.start_width, start_width=step.width)
    path = step.trajectory
    if path is None:
        if step.width is not None:
            _check_joints(step, chain, current.array(chain.joint_names), step.start)
        return back
    _check_width(step, current.width)
    reverse = PlannedTrajectory(
        path.joint_names,
        path.duration - path.times[::-1],
        path.positions[::-1].copy(),
        -path.velocities[::-1],
    )
    back = replace(back, trajectory=reverse, start=path.positions[-1])
    return remaining_motion(back, current, chain)


def _nearest_time(path: PlannedTrajectory, q: Array) -> float:
    """Return the time at which a trajectory is nearest to joint positions (n,) [s]."""

    def distance(time: float) -> float:
        return float(np.abs(path.at(time) - q).max())

    times = np.union1d(np.linspace(0.0, path.duration, _PATH_SAMPLES), path.times)
    best = int(np.argmin([distance(time) for time in times]))
    low, high = times[max(best - 1, 0)], times[min(best + 1, len(times) - 1)]
    return float(min(np.linspace(low, high, 21), key=distance))


def _from(step: PlannedStep, path: PlannedTrajectory, time: float, chain: Chain) -> PlannedStep:
    """Return the part of a motion after a time [s]."""
    rows = np.vstack([path.at(time), path.positions[path.times > time]])
    if np.abs(rows - rows[-1]).max() < _END_TOLERANCE:
        report = replace(step.report, duration=0.0)
        return replace(step, kind="wait", trajectory=None, report=report)
    means = np.diff(path.positions, axis=0) / np.diff(path.times)[:, None]
    share = float((np.abs(np.vstack([path.velocities, means])) / chain.velocity).max())
    timed = time_path(rows, chain.velocity, chain.acceleration, scaling=min(share, 1.0))
    rest = PlannedTrajectory(path.joint_names, *timed)
    report = replace(step.report, duration=rest.duration)
    return replace(step, trajectory=rest, report=report)


def _check_joints(step: PlannedStep, chain: Chain, q: Array, expected: Array) -> None:
    """Raise PlanError unless the driver would begin a motion from q (n,) where it is expected."""
    off = np.abs(q - expected)
    units = ["m" if sliding else "rad" for sliding in chain.sliding]
    share = off / [START_TOLERANCE[unit] for unit in units]
    worst = int(np.argmax(share))
    if not share[worst] <= 1.0:
        name = chain.joint_names[worst]
        kind = "prismatic" if chain.sliding[worst] else "revolute"
        where = f"{name} is off by {SHOWN.text(off[worst], kind, 3)}"
        if not math.isfinite(off[worst]):
            where = f"the position of {name} is unknown"
        what = f"{step.label}, begins elsewhere: {where}; move there first"
        raise PlanError(what)


def _check_width(step: PlannedStep, width: float) -> None:
    needed = step.start_width
    ends = needed, needed if step.width is None else step.width
    if not min(ends) - WIDTH_TOLERANCE <= width <= max(ends) + WIDTH_TOLERANCE:
        what = f"the jaws at {mm(needed, 1)}, they are at {mm(width, 1)}"
        raise PlanError(f"{step.label}, begins with {what}; move them there first")
