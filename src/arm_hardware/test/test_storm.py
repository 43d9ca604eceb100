# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Random commands of every kind, good and garbage: no bound is broken at the counts."""

import numpy as np
import pytest
from arm_hardware.errors import HardwareError
from arm_hardware.request import Point, Request, check
from arm_hardware.states import State

DT = 0.02


class Watch:
    """Looks at commands and counts after every tick."""

    def __init__(self, rig) -> None:
        self.rig = rig
        self.x, self.v = (np.array(values) for values in rig.motion.command())
        self.counts = self.read()
        self.worst = 0.0
        self.ticks = 0

    def read(self) -> np.ndarray:
        return np.array([self.rig.bus.counts[m.channel] for m in self.rig.maps])

    def tick(self) -> None:
        self.rig.motion.tick()
        self.ticks += 1
        self.look()

    def look(self, stopped: bool = False) -> None:
        x, v = (np.array(values) for values in self.rig.motion.command())
        counts = self.read()
        for i, axis in enumerate(self.rig.axes):
            servo = self.rig.maps[i]
            assert axis.lower <= x[i] <= axis.upper
            assert abs(x[i] - self.x[i]) <= axis.velocity * DT + 1e-9
            assert abs(v[i]) <= axis.velocity + 1e-9
            if not stopped:
                assert abs(v[i] - self.v[i]) <= axis.acceleration * DT + 1e-9
            least, most = servo.counts
            assert least <= counts[i] <= most
            moved = abs(servo.position_of(counts[i]) - servo.position_of(self.counts[i]))
            count = abs(servo.position_of(least + 1) - servo.position_of(least))
            assert moved <= axis.velocity * DT + count + 1e-9
            self.worst = max(self.worst, abs(v[i]) / axis.velocity)
        if stopped:
            assert (counts == self.counts).all()
        self.x, self.v, self.counts = x, v, counts


def random_request(rig, rng) -> Request:
    """A trajectory, most of them feasible, some not."""
    m, n = int(rng.integers(1, 6)), 4
    here = np.array(rig.motion.command()[0][:n])
    limit = np.array([axis.velocity for axis in rig.axes.arm])
    time, rows = 0.0, []
    cubic = rng.random() < 0.5
    edge = 1.5 if rng.random() < 0.9 else 1.6
    for k in range(m):
        step = rng.uniform(0.02, 0.8)
        time += step
        here = np.clip(
            here + rng.uniform(-1.0, 1.0, n) * rng.uniform(0.5, 1.05) * limit * step, -edge, edge
        )
        rate = rng.uniform(-0.5, 0.5, n) * limit * (k < m - 1)
        rows.append(Point(time, tuple(here), tuple(rate) if cubic else ()))
    start = None if rng.random() < 0.8 else rng.uniform(-0.1, 0.3)
    return Request(rig.axes.names, rows, start)


def garbage(rig, rng) -> Request:
    """Requests that must be refused."""
    names = rig.axes.names
    bad = [
        Request(names, [Point(0.5, (0.0, np.nan, 0.0, 0.0))]),
        Request(names, [Point(0.5, (9.0, 0.0, 0.0, 0.0))]),
        Request(names, [Point(0.001, (1.5, -1.5, 1.5, -1.5)), Point(0.002, (-1.5,) * 4)]),
        Request(names[:2], [Point(0.5, (0.0, 0.0))]),
        Request(("x", *names[1:]), [Point(0.5, (0.0,) * 4)]),
        Request(names, []),
    ]
    return bad[int(rng.integers(len(bad)))]


@pytest.mark.parametrize("seed", range(6))
def test_no_bound_is_broken_whatever_is_commanded(armed, seed):
    rng = np.random.default_rng(seed)
    watch, goals, accepted, refused = Watch(armed), [], 0, 0
    for _ in range(400):
        act = rng.random()
        if act < 0.55:
            try:
                plan = check(random_request(armed, rng), armed.axes)
                goals.append(armed.motion.follow(plan))
                accepted += 1
            except HardwareError:
                refused += 1
        elif act < 0.65:
            with pytest.raises(HardwareError):
                armed.motion.follow(check(garbage(armed, rng), armed.axes))
        elif act < 0.8:
            try:
                goals.append(armed.motion.grip(float(rng.uniform(-0.002, 0.032))))
            except HardwareError:
                refused += 1
        elif act < 0.9 and goals:
            armed.motion.cancel(goals[int(rng.integers(len(goals)))])
        elif act < 0.92:
            armed.motion.stop()
            watch.look(stopped=True)
        else:
            armed.motion.reset()
            watch.look()
        for _ in range(int(rng.integers(0, 30))):
            watch.tick()
    armed.motion.reset()
    while armed.motion.state is State.MOVING:
        watch.tick()
        assert watch.ticks < 400 * 30 + 1000, "it does not come to rest"
    assert all(goal.done for goal in goals)
    assert accepted > 60 and refused > 20 and watch.worst > 0.95
