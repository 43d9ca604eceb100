# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A follower keeps its limits whatever its leader does, and stops without leader or person."""

import itertools
import math

import numpy as np
import pytest
from arm_tasks.manual.follower import (
    Follower,
    FollowOptions,
    FollowState,
    JointMapping,
    Leader,
)
from arm_tasks.manual.jogger import ACCELERATION_SCALE, HORIZON, PERIOD
from arm_tasks.planning.plan import PlannedTrajectory
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import load_robot
from arm_kinematics import Chain

CHAIN = Chain.from_model(load_robot("nut_arm"))
N = CHAIN.n
SAME = tuple(JointMapping(name) for name in CHAIN.joint_names)
OPTIONS = FollowOptions(speed=0.4, align_speed=0.1, leader_timeout=0.5)
FULL = OPTIONS.speed * CHAIN.velocity
TICK = 0.025  # [s] between two samples of the commanded path
ROUNDING = 1e-9


class Run:
    """A follower, and a leader whose messages arrive once per period."""

    def __init__(self, joints=SAME, q=None, options=OPTIONS):
        self.follower = Follower(CHAIN, joints, options)
        self.follower.start(np.zeros(N) if q is None else q)
        self.now, self.samples, self.segment = 100.0, [self.follower.q.copy()], None

    @property
    def state(self):
        return self.follower.state

    def publish(self, values, stamp=None, names=CHAIN.joint_names):
        stamp = self.now if stamp is None else stamp
        self.follower.leader.receive(dict(zip(names, values, strict=False)), stamp, self.now)

    def step(self, held=True):
        """Sample the commanded path of the next period, and return its segment."""
        q, rates = self.follower.q, self.follower.rates
        segment = self.follower.step(held, self.now)
        if segment is None:
            self.samples += [q.copy()] * round(PERIOD / TICK)
        else:
            path = with_start(segment, q, rates)
            self.samples += [path.at(t) for t in np.arange(1, PERIOD / TICK + 0.5) * TICK]
            np.testing.assert_allclose(self.samples[-1], self.follower.q, atol=1e-7)
        self.segment, self.now = segment, self.now + PERIOD
        return segment

    def follow(self, values, seconds, held=True):
        for _ in range(round(seconds / PERIOD)):
            self.publish(values)
            self.step(held)

    def speeds(self):
        return np.abs(np.diff(self.samples, axis=0)) / TICK


def with_start(segment, q, rates):
    """Return a segment as the driver executes it, from its command (q, rates)."""
    return PlannedTrajectory(
        segment.joint_names,
        np.concatenate([[0.0], segment.times]),
        np.vstack([q, segment.positions]),
        np.vstack([rates, segment.velocities]),
    )


VALUES = st.lists(
    st.floats(-3.0, 3.0)
    | st.sampled_from([0.0, 1.57, -1.57, 1e308, -1e308, math.nan, math.inf, -math.inf]),
    min_size=N - 1,  # the last joint may be missing
    max_size=N,
)
STAMPS = st.sampled_from(["now", "same", "back", "none", "start"])
EVENTS = st.tuples(
    st.none() | st.tuples(VALUES, STAMPS),  # a message, or silence
    st.sampled_from([True] * 7 + [False]),  # dead man's switch
    st.integers(1, 15),  # periods for which this is repeated
)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.0, 1.0), st.lists(EVENTS, max_size=12))
def test_no_leader_makes_the_follower_exceed_speed_acceleration_or_position(share, events):
    run = Run(q=CHAIN.lower + share * (CHAIN.upper - CHAIN.lower))
    last = run.now
    for message, held, repeats in events:
        for _ in range(repeats):
            if message is not None:
                stamps = {"now": run.now, "same": last, "back": last - 1.0, "none": 0.0}
                last = stamps.get(message[1], 1.0)
                run.publish(message[0], last)
            segment = run.step(held)
            if segment is None:
                continue
            assert not np.any(segment.velocities[-1])
            assert (np.diff(segment.times) > 0.004).all()
            assert (np.abs(segment.velocities) <= FULL + ROUNDING).all()
            assert (segment.positions >= CHAIN.lower).all()
            assert (segment.positions <= CHAIN.upper).all()
    assert (run.speeds() <= FULL + 1e-6).all()
    if len(run.samples) > 2:
        changes = np.abs(np.diff(run.samples, 2, axis=0)) / TICK**2
        at_rest = 0.5  # [rad/s^2], as rates below 0.005 rad/s become 0
        assert (changes <= ACCELERATION_SCALE * CHAIN.acceleration + at_rest).all()


def test_first_motion_is_slow_and_starts_where_the_arm_is():
    run = Run()
    far = np.array([1.2, -1.0, 0.8, 1.5])
    run.publish(far)
    first = run.step()
    assert run.state is FollowState.ALIGNING
    assert np.abs(first.positions).max() <= 0.1 * CHAIN.velocity[0] * first.times[-1]
    run.follow(far, 0.8 * 1.2 / (OPTIONS.align_speed * CHAIN.velocity[0]))
    assert run.state is FollowState.ALIGNING
    assert (run.speeds() <= OPTIONS.align_speed * CHAIN.velocity + ROUNDING).all()
    run.follow(far, 8.0)
    assert run.state is FollowState.FOLLOWING
    np.testing.assert_allclose(run.follower.q, far, atol=2e-4)


def aligned(**options):
    run = Run(options=FollowOptions(speed=0.4, **options))
    run.follow(np.zeros(N), 0.2)
    assert run.state is FollowState.FOLLOWING
    return run


def test_follower_keeps_up_with_a_leader_below_the_speed_limit():
    run = aligned()
    gaps = []
    for k in itertools.count():
        leader = 0.5 * math.sin(0.8 * k * PERIOD) * np.ones(N)
        gaps.append(np.abs(leader - run.follower.q).max())
        run.publish(leader)
        run.step()
        assert run.state is FollowState.FOLLOWING
        if k * PERIOD > 8.0:
            break
    assert max(gaps) < 0.4 * 0.35  # [rad/s] of the leader, [s] of delay


def test_jump_of_the_leader_is_followed_slowly():
    run = aligned()
    run.follow(np.full(N, 1.5), 1.0)
    assert run.state is FollowState.ALIGNING
    assert (run.speeds() <= OPTIONS.align_speed * CHAIN.velocity + ROUNDING).all()


def moving(**options):
    """Return a run at its speed limit."""
    run = aligned(**options)
    for k in range(12):
        run.publish(np.minimum(0.05 * (k + 1), 1.0) * FULL)
        run.step()
    assert run.follower.rates.max() > 0.5 * FULL.max()
    return run


STOP_TIME = PERIOD + HORIZON + 0.3  # [s] beyond the time-out and the braking time


@pytest.mark.parametrize("timeout", [0.1, 0.5])
@pytest.mark.parametrize(
    "published",
    [
        None,
        lambda run: run.publish(np.full(N, math.nan)),
        lambda run: run.publish(np.ones(N), stamp=run.now - 60.0),
        lambda run: run.publish(np.ones(N), stamp=42.0),
        lambda run: run.publish(np.ones(N - 1)),
    ],
    ids=["silence", "NaN", "reversed time", "a stale stamp", "a missing joint"],
)
def test_arm_stops_within_a_stated_time_and_stays_stopped(timeout, published):
    run = moving(leader_timeout=timeout)
    braking = run.follower.rates.max() / (0.4 * CHAIN.acceleration[0])
    last = run.now - PERIOD  # of the last valid message
    while run.follower.moving or run.now - last < timeout:
        if published:
            published(run)
        run.step()
        assert run.now < last + timeout + braking + STOP_TIME
    assert run.state is FollowState.STOPPED
    stopped = run.follower.q.copy()
    run.follow(np.zeros(N), 1.0)  # the leader is back, the switch still held
    assert run.state is FollowState.STOPPED
    np.testing.assert_array_equal(run.follower.q, stopped)
    run.follow(np.zeros(N), 0.1, held=False)
    assert run.state is FollowState.WAITING
    run.follow(np.zeros(N), 0.1)
    assert run.follower.engaged


def test_released_switch_brakes_and_waits():
    run = moving()
    run.follow(np.zeros(N), 1.5, held=False)
    assert run.state is FollowState.WAITING and not run.follower.moving
    assert run.segment is None


def test_silent_leader_whose_stamps_go_back_after_a_restart_is_followed_again():
    run = aligned()
    run.step()
    for _ in range(20):
        run.step(held=False)
    run.publish(np.ones(N), stamp=1.0)
    run.step()
    assert run.state is FollowState.ALIGNING


def test_a_lost_position_stops_until_the_switch_is_released():
    run = moving()
    run.follower.forget()
    assert run.step() is None if run.follower.q is not None else True
    run.follower.start(np.zeros(N))
    run.follow(np.ones(N), 0.3)
    assert run.state is FollowState.STOPPED and not run.follower.moving


def test_a_message_that_arrives_after_the_time_was_taken_is_not_silence():
    """Messages arrive in another thread, a moment after the period began."""
    run = aligned()
    run.follower.leader.receive(
        dict(zip(CHAIN.joint_names, np.zeros(N), strict=True)), run.now + 1e-3, run.now + 1e-3
    )
    run.step()
    assert run.state is FollowState.FOLLOWING


def test_a_leader_that_appears_does_not_move_the_arm_of_a_held_switch():
    run = Run()
    run.step()
    run.follow(np.ones(N), 1.0)
    assert run.state is FollowState.STOPPED and not run.follower.moving
    np.testing.assert_array_equal(run.follower.q, np.zeros(N))
    run.follow(np.ones(N), 0.1, held=False)
    run.follow(np.ones(N), 0.1)
    assert run.state is FollowState.ALIGNING and run.follower.moving


def test_joints_are_mapped_scaled_offset_and_limited():
    joints = (
        JointMapping("a", -2.0, 0.1),
        JointMapping(""),
        JointMapping("b", 100.0),
        JointMapping("a"),
    )
    leader = Leader(CHAIN, joints, 0.5)
    assert math.isinf(leader.age(0.0))
    assert leader.receive({"a": 0.2, "b": 1.0, "other": math.nan}, 1.0, 0.0)
    q = np.full(N, 0.7)
    expected = [-0.3, 0.7, CHAIN.upper[2], 0.2]
    np.testing.assert_allclose(leader.target(0.1, q), expected)
    assert leader.target(0.6, q) is None
    assert not leader.receive({"a": 0.2}, 2.0, 0.0)
    assert leader.problem == "the leader has no b"


ROLLING = Chain.from_model(load_robot("ur5"))


def rolling(*degrees, chain=ROLLING, start=170.0):
    """Return a follower whose leader's last joint shows these angles [deg] in turn."""
    joints = tuple(JointMapping(name) for name in chain.joint_names)
    follower = Follower(chain, joints, OPTIONS)
    q = np.zeros(chain.n)
    q[-1] = math.radians(start)
    follower.start(q)
    now, path = 100.0, []
    for angle in degrees:
        for _ in range(20):
            values = dict.fromkeys(chain.joint_names, 0.0)
            values[chain.joint_names[-1]] = math.radians(angle)
            follower.leader.receive(values, now, now)
            follower.step(True, now)
            path.append(math.degrees(follower.q[-1]))
            now += PERIOD
    return follower, np.array(path)


def test_leader_that_passes_180_degrees_is_followed_the_short_way():
    follower, path = rolling(170, 175, 179, -179, -175, -170)
    assert follower.state is FollowState.FOLLOWING
    assert path.min() > 169.0 and path[-1] == pytest.approx(190.0, abs=0.5)
    follower, path = rolling(170, 179, -179, -175, -179, 179, 170)
    assert path.max() < 186.0 and path[-1] == pytest.approx(170.0, abs=0.5)
    _, path = rolling(10, 2, 358, 350, start=10.0)  # a leader that counts from 0 to 360
    assert path.max() < 11.0 and path[-1] == pytest.approx(-10.0, abs=0.5)


def test_arm_that_cannot_turn_on_stops_with_a_sentence():
    chain = Chain.from_model(load_robot("so101"))
    follower, path = rolling(150, 165, 179, -179, -170, chain=chain, start=150.0)
    assert path.min() > 149.0 and follower.state is FollowState.STOPPED
    assert follower.leader.problem.startswith("the leader's wrist_roll went on past 180 deg")


def test_arm_beyond_180_degrees_engages_without_turning_back():
    _, path = rolling(-170, -165, start=190.0)
    assert path.min() > 189.0 and path[-1] == pytest.approx(195.0, abs=0.5)
