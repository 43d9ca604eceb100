# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Soak test: thousands of random commands and faults, judged by the board's registers alone.

    ./arm exec python3 src/arm_testing/arm_testing/hardware/soak.py --motions 10000

It draws at random valid and invalid trajectories, grips, cancels, stops between ticks and during a
transfer, disturbed, dead, stuck and slow buses, flipped bits, writes by others, boards that are
reset or lose power, arming and disarming, on the simulated chip and as fast as possible.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
import threading
from collections import Counter, deque

import numpy as np
from arm_description.library import load_robot
from arm_hardware.control.snapshot import DriverState
from arm_hardware.driver import Driver
from arm_hardware.errors import HardwareError
from arm_hardware.motion.goal_validation import GoalPoint, TrajectoryGoal, validate_goal
from arm_hardware.motion.options import DriverOptions
from arm_simulation.emulation.board import ERRORS

from arm_testing.waiting import InstantClock

WINDOW = 5  # ticks of the wider of two windows for accelerations
EVERY, ARM = slice(None), slice(-1)  # of the axes; the gripper is the last
ROUND = 1000  # motions per driver; the next driver has other options
BOUND = 30.0  # [s] of wall time


def coarsest_step(servo) -> float:
    """Return the largest step of position between two neighbouring counts [rad or m]."""
    least, most = servo.counts
    positions = [servo.position_of(count) for count in range(least, most + 1)]
    return max(abs(b - a) for a, b in itertools.pairwise(positions))


class MotionJudge:
    """Checks the counts on the board against the bounds, independent of the driver's state."""

    def __init__(self, driver: Driver) -> None:
        self._chip, self._dt = driver.emulation.chip, driver.period
        axes, maps = driver.axes.all, driver.output.maps
        self.channels = [m.channel for m in maps]
        self._velocity = np.array([axis.velocity for axis in axes])
        self._acceleration = np.array([axis.acceleration for axis in axes])
        self._lower = np.array([axis.lower for axis in axes])
        self._upper = np.array([axis.upper for axis in axes])
        self._allowed = [range(m.counts[0], m.counts[1] + 1) for m in maps]
        self._position = [
            {0: np.nan} | {count: m.position_of(count) for count in allowed}
            for m, allowed in zip(maps, self._allowed, strict=True)
        ]
        # Error that rounding to counts adds to the difference of two positions.
        self._count = np.array([coarsest_step(m) for m in maps])
        self._rows: deque[np.ndarray] = deque(maxlen=2 * WINDOW + 1)
        self._counts = self.counts()
        self.ticks = 0
        self.fastest = 0.0

    def counts(self) -> list[int]:
        """Return the counts that the board actually sends, 0 for no pulses."""
        chip = self._chip
        return [chip.count(c) if chip.running else 0 for c in self.channels]

    def check_unmoved(self, channels: slice = EVERY) -> None:
        """Assert that no channel has changed, except to no pulses."""
        counts, before = self.counts(), self._counts
        self._counts = counts
        for count, old in zip(counts[channels], before[channels], strict=True):
            assert count in (old, 0), f"{before} became {counts} while no motion is allowed"

    def check_tick(self, abrupt: bool) -> None:
        """Check the effect of one tick on the board.

        Args:
            abrupt: Whether all motion had to end in this tick, regardless of acceleration limits.
        """
        self.ticks += 1
        counts = self._counts = self.check_limits()
        row = np.array([p[count] for p, count in zip(self._position, counts, strict=True)])
        assert not (row < self._lower - self._count / 2).any(), row
        assert not (row > self._upper + self._count / 2).any(), row
        self._rows.append(row)
        self._judge_speed()
        if abrupt:
            self.reset_history()
        for ticks in (1, WINDOW):
            self._judge_acceleration(ticks)

    def check_limits(self) -> list[int]:
        """Return the counts, each within the pulse limits or 0."""
        counts = self.counts()
        for count, allowed in zip(counts, self._allowed, strict=True):
            assert count == 0 or count in allowed, f"count {count} is out of the pulse limits"
        return counts

    def adopt(self) -> None:
        """Begin again with the counts that the board sends now."""
        self._counts = self.counts()
        self._rows.clear()

    def reset_history(self) -> None:
        """Discard the past ticks, because motion ended abruptly."""
        last = self._rows[-1] if self._rows else None
        self._rows.clear()
        if last is not None:
            self._rows.append(last)

    def _judge_speed(self) -> None:
        if len(self._rows) < 2:
            return
        step = np.abs(self._rows[-1] - self._rows[-2])
        assert not (step > self._velocity * self._dt + self._count + 1e-9).any(), step
        self.fastest = max(self.fastest, np.nanmax(step / (self._velocity * self._dt), initial=0))

    def _judge_acceleration(self, ticks: int) -> None:
        """Check the velocity change between two successive windows of some ticks."""
        if len(self._rows) < 2 * ticks + 1:
            return
        bend = np.abs(self._rows[-1] - 2 * self._rows[-1 - ticks] + self._rows[-1 - 2 * ticks])
        bound = self._acceleration * (ticks * self._dt) ** 2 + 2 * self._count + 1e-9
        assert not (bend > bound).any(), (ticks, bend, bound)


class CommandChecker:
    """Checks the same bounds exactly, on commands before they are rounded to counts."""

    def __init__(self, driver: Driver) -> None:
        self._motion, self._dt, self._axes = driver.controller, driver.period, driver.axes.all
        self.reset_history()

    def reset_history(self) -> None:
        """Start again from the current command."""
        self._before = self._motion.command()

    def check_tick(self, abrupt: bool) -> None:
        """Check the effect of one tick; see MotionJudge.check_tick()."""
        now, before = self._motion.command(), self._before
        self._before = now
        if abrupt:
            return
        for axis, x, v, old_x, old_v in zip(self._axes, *now, *before, strict=True):
            assert axis.lower <= x <= axis.upper, (axis.name, x)
            assert abs(x - old_x) <= axis.velocity * self._dt + 1e-9, (axis.name, x, old_x)
            assert abs(v - old_v) <= axis.acceleration * self._dt + 1e-9, (axis.name, v, old_v)


class Soak:
    """A driver under random commands and faults."""

    def __init__(self, seed: int, backend: str = "i2c_dev", model=None) -> None:
        self.rng = np.random.default_rng(seed)
        options = DriverOptions(
            hardware="sim",
            backend=backend,
            recovery="direct",
            jerk_time=float(self.rng.choice([0.0, 0.1])),
            command_timeout=0.3,
            max_moving_joints=int(self.rng.choice([0, 2])),
            stagger=float(self.rng.choice([0.0, 0.1])),
            gripper_hold_time=0.5,
        )
        self.driver = Driver(model or load_robot("nut_arm"), options, InstantClock())
        self.driver.loop.start = lambda: None
        self.controller, self.sim = self.driver.controller, self.driver.emulation
        self.tally: Counter[str] = Counter()
        self.goals = []
        self.driver.open()
        self.judge, self.commands = MotionJudge(self.driver), CommandChecker(self.driver)
        self._arm()
        self._acts = {
            self._follow: 0.5,
            self._grip: 0.12,
            self._garbage: 0.08,
            self._cancel: 0.08,
            self._stop: 0.03,
            self._stop_during_a_transfer: 0.03,
            self._reset: 0.2,
            self._disturb: 0.03,
            self._break_bus: 0.02,
            self._break_board: 0.015,
            self._interfere: 0.015,
            self._rearm: 0.015,
        }

    def run(self, motions: int) -> None:
        """Act at random until ``motions`` motions have started; then come to rest.

        Raises:
            AssertionError: A bound was broken, or a motion or goal does not end.
        """
        acts, weights = list(self._acts), np.array(list(self._acts.values()))
        weights /= weights.sum()
        while len(self.goals) < motions:
            act = acts[self.rng.choice(len(acts), p=weights)]
            self.tally[act.__name__.strip("_")] += 1
            act()
            self._ticks(int(self.rng.integers(0, 22)))
        self._repair()
        deadline = self.judge.ticks + 1000
        while self.controller.state is DriverState.MOVING:
            self._ticks(1)
            assert self.judge.ticks < deadline, "the arm does not come to rest"
        assert all(goal.done for goal in self.goals), "a goal does not end"
        for goal in self.goals:
            self.tally[goal.outcome.name] += 1

    # -- Time ------------------------------------------------------------------------------------

    def _ticks(self, number: int) -> None:
        for _ in range(number):
            before = self.controller.state
            try:
                self.controller.tick()
            except HardwareError:
                assert self.controller.state is DriverState.FAULT
            now = self.controller.state
            could = before in (DriverState.MOVING, DriverState.UNKNOWN)
            if not could:  # except a gripper that backs off after pressing long enough
                self.judge.check_unmoved(ARM if DriverState.ARMED in (before, now) else EVERY)
            abrupt = now in (DriverState.FAULT, DriverState.STOPPED)
            self.judge.check_tick(abrupt)
            self.commands.check_tick(
                abrupt or before not in (DriverState.MOVING, DriverState.ARMED)
            )

    def _reset_histories(self) -> None:
        self.judge.reset_history()
        self.commands.reset_history()

    # -- Commands --------------------------------------------------------------------------------

    def _try(self, command) -> None:
        try:
            self.goals.append(command())
        except HardwareError as error:
            assert str(error).endswith("."), error
            self.tally["refused"] += 1

    def _follow(self) -> None:
        streamed = self.rng.random() < 0.2
        self._try(
            lambda: self.controller.follow(
                validate_goal(self._request(), self.driver.axes), streamed=streamed
            )
        )

    def _grip(self) -> None:
        width, counts = float(self.rng.uniform(-0.002, 0.032)), float(self.rng.choice([0, 3, 9]))
        self._try(lambda: self.controller.grip(width, counts))

    def _garbage(self) -> None:
        names, nan = self.driver.axes.names, float("nan")
        bad = (
            TrajectoryGoal(names, [GoalPoint(0.5, (0.0, nan, 0.0, 0.0))]),
            TrajectoryGoal(names, [GoalPoint(nan, (0.0,) * 4)]),
            TrajectoryGoal(names, [GoalPoint(0.5, (9.0, 0.0, 0.0, 0.0))]),
            TrajectoryGoal(
                names, [GoalPoint(0.001, (1.5, -1.5, 1.5, -1.5)), GoalPoint(0.002, (-1.5,) * 4)]
            ),
            TrajectoryGoal(names[:2], [GoalPoint(0.5, (0.0, 0.0))]),
            TrajectoryGoal(("x", *names[1:]), [GoalPoint(0.5, (0.0,) * 4)]),
            TrajectoryGoal(names, []),
        )
        request, begun = bad[int(self.rng.integers(len(bad)))], len(self.goals)
        self._try(lambda: self.controller.follow(validate_goal(request, self.driver.axes)))
        self._try(lambda: self.controller.grip(nan))
        assert len(self.goals) == begun, "garbage was accepted"

    def _cancel(self) -> None:
        if self.goals:
            self.controller.cancel(self.goals[-int(self.rng.integers(1, 5)) % len(self.goals)])

    def _request(self) -> TrajectoryGoal:
        """Return a trajectory; most are feasible, some are not."""
        rng, n = self.rng, len(self.driver.axes.arm)
        m = int(rng.integers(1, 5))
        here = np.array(self.controller.command()[0][:n])
        limit = np.array([axis.velocity for axis in self.driver.axes.arm])
        time, rows, cubic = 0.0, [], rng.random() < 0.5
        edge = 1.5 if rng.random() < 0.9 else 1.6
        for k in range(m):
            step = rng.uniform(0.02, 0.6)
            time += step
            way = rng.uniform(-1.0, 1.0, n) * rng.uniform(0.4, 1.02) * limit * step
            here = np.clip(here + way, -edge, edge)
            rate = rng.uniform(-0.5, 0.5, n) * limit * (k < m - 1)
            rows.append(GoalPoint(time, tuple(here), tuple(rate) if cubic else ()))
        start = None if rng.random() < 0.8 else rng.uniform(-0.1, 0.3)
        return TrajectoryGoal(self.driver.axes.names, rows, start)

    # -- Stops -----------------------------------------------------------------------------------

    def _stop(self) -> None:
        self.controller.stop()
        self._reset_histories()
        self.judge.check_unmoved()

    def _stop_during_a_transfer(self) -> None:
        """Call the stop during one of the next transfers; no other may follow."""
        chip, left = self.sim.chip, int(self.rng.integers(1, 12))
        self.sim.faults.flip_writes(0.0)
        seen = []

        def changed() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                stopper = threading.Thread(target=self.controller.stop)
                stopper.start()
                stopper.join(BOUND)
                assert not stopper.is_alive(), "the stop waits for the bus"
                seen.append(self.judge.counts())

        chip.changed = changed
        self._ticks(6)
        chip.changed = lambda: None
        if seen and self.sim.chip.running:
            assert self.judge.counts() == seen[0], "a channel changed after the stop"

    def _reset(self) -> None:
        self._try_quietly(self.controller.reset)
        self.judge.check_unmoved()

    # -- Faults ----------------------------------------------------------------------------------

    def _disturb(self) -> None:
        """Inject single faults or flipped bits, which must have no effect."""
        (faults := self.sim.faults).clear()
        inject = (faults.fail_randomly, faults.flip_reads, faults.flip_writes)
        k, seed = int(self.rng.integers(3)), int(self.rng.integers(1 << 30))
        inject[k](float(self.rng.uniform(0.0, 0.05 if k else 0.03)), seed)

    def _interfere(self) -> None:
        """Let another program write to a channel or to MODE2, which must be put right."""
        channel, two = self.rng.choice(self.judge.channels), self.rng.integers(16, size=2).tolist()
        other = bytes([6 + 4 * channel, 0, 0, *two] if self.rng.random() < 0.5 else [1, *two[:1]])
        watched = self.controller.state in (DriverState.ARMED, DriverState.MOVING)
        self.sim.faults.write_by_others(other, after=int(self.rng.integers(9)))
        for _ in range(20):
            self._try_quietly(self.controller.tick)
        assert not watched or (self.judge.check_limits() and self.sim.chip.registers[1] == 4)
        self.judge.adopt()
        self.commands.reset_history()
        self._repair()

    def _break_bus(self) -> None:
        """Make the bus dead, stuck or slow for some ticks."""
        (faults := self.sim.faults).clear()
        kind = int(self.rng.integers(4))
        if kind == 0:
            faults.fail(int(self.rng.choice(ERRORS)))
        elif kind == 1:
            faults.block()
        elif kind == 2:
            self.sim.i2c.move(0x40, 0x41)
        else:
            faults.delay = 0.004
        self._ticks(int(self.rng.integers(0, 20)))
        if kind == 2:
            self.sim.i2c.move(0x41, 0x40)
        self._repair()

    def _break_board(self) -> None:
        chip = self.sim.chip
        (chip.reset if self.rng.random() < 0.5 else chip.power_off)()
        self._reset_histories()
        self._ticks(int(self.rng.integers(0, 8)))
        if not chip.powered:
            chip.power_on()
        self._ticks(6)
        assert self.controller.state in (
            DriverState.FAULT,
            DriverState.DISARMED,
            DriverState.UNKNOWN,
        ), self.controller.state
        self._repair()

    def _repair(self) -> None:
        """Clear the faults and arm again, as a user would."""
        self.sim.faults.clear()
        if self.controller.state is not DriverState.MOVING:
            self._rearm()

    def _rearm(self) -> None:
        """Deactivate, reset, activate."""
        self.controller.disarm()
        self._reset_histories()
        self._try_quietly(self.controller.reset)
        self.judge.check_unmoved()
        self._arm()

    def _arm(self) -> None:
        for _ in range(5):
            if self._try_quietly(self.controller.arm):
                break
        self._reset_histories()
        for _ in range(200):
            if not self.controller.arming:
                return
            self._ticks(1)
        raise AssertionError("arming does not end")

    @staticmethod
    def _try_quietly(command) -> bool:
        try:
            command()
        except HardwareError:
            return False
        return True


def main() -> None:
    """Run the soak test and print a summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--motions", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="i2c_dev", choices=("i2c_dev", "servokit"))
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    tally, ticks, failed, flipped, fastest = Counter(), 0, 0, 0, 0.0
    for start in range(0, chosen.motions, ROUND):
        soak = Soak(chosen.seed + start // ROUND, chosen.backend)
        soak.run(min(ROUND, chosen.motions - start))
        tally += soak.tally
        ticks, failed = ticks + soak.judge.ticks, failed + soak.sim.faults.failed
        flipped += soak.sim.faults.flipped
        fastest = max(fastest, soak.judge.fastest)
    print(f"{chosen.motions} motions, {ticks} ticks, no bound broken")
    print(f"fastest step: {fastest:.2f} of a tick at the speed limit, with rounding to counts")
    print(f"transfers that failed on purpose: {failed}, with a flipped bit: {flipped}")
    print(", ".join(f"{what} {number}" for what, number in sorted(tally.items())))


if __name__ == "__main__":
    sys.exit(main())
