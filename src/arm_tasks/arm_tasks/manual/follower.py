# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Lets one arm follow the joint positions of another by short trajectories that end at rest.

Each joint moves towards the leader's position, scaled and offset, as fast as possible
while still able to stop there. A person must hold a dead man's switch; the arm first aligns
slowly, and stops if the leader is silent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from arm_common.transforms import Array
from arm_kinematics.paths.differential_ik import RateLimits, rate_bounds

from arm_kinematics import Chain
from arm_tasks.manual.jogger import HORIZON, PERIOD, MotionStream
from arm_tasks.planning.plan import PlannedTrajectory

# A joint at distance d is slow enough to stop after d if it continues for this time and then
# brakes. Commands last PERIOD each: with less than 7 of them it would oscillate about its target.
_SETTLING = 4.0 * PERIOD  # [s] towards the leader: a step is overshot by up to 3 %
_SETTLING_AT_LIMIT = 7.0 * PERIOD  # [s] towards a position limit
_ALIGNED = 0.1  # [s] at full speed from the leader: aligned
_FAR = 1.0  # [s] at full speed from the leader: aligns again, slowly
_AT_REST = 5e-3  # [rad/s or m/s], below the resolution of a servo
_AT_TARGET = 1e-4  # [rad or m]
_TURN = 2.0 * math.pi
_NEAR_A_TURN = 0.7  # [rad] between a full turn and a jump that is a wrap
_BRAKE_GRID = 0.005  # [s] between two points of a trajectory


class FollowState(Enum):
    """State of a follower."""

    WAITING = "waiting"  # for the dead man's switch
    ALIGNING = "aligning"  # moves slowly to the leader's position
    FOLLOWING = "following"
    STOPPED = "stopped"  # until the dead man's switch is released


@dataclass(frozen=True)
class JointMapping:
    """Where a joint of the follower is for a position of the leader: scale * leader + offset."""

    leader: str  # name of the leader's joint; "" if the follower's joint keeps its position
    scale: float = 1.0
    offset: float = 0.0  # [rad or m]


@dataclass(frozen=True)
class FollowOptions:
    """Limits of a follower in addition to those of its robot."""

    speed: float = 0.5  # fraction of the joints' speed limits
    align_speed: float = 0.1  # the same while aligning
    leader_timeout: float = 1.0  # [s] without a valid position of the leader; then the arm stops


class Leader:
    """The latest positions of the leader, as positions of the follower.

    Attributes:
        chain: The follower's chain, whose limits hold.
        problem: Why the last message was ignored, or "".
    """

    def __init__(self, chain: Chain, joints: Sequence[JointMapping], timeout: float) -> None:
        self.chain, self._joints, self._timeout = chain, joints, timeout
        self._scale = np.array([joint.scale for joint in joints])
        self._offset = np.array([joint.offset for joint in joints])
        self._followed = np.array([bool(joint.leader) for joint in joints])
        self._target, self._received, self._stamp = np.zeros(chain.n), -math.inf, 0.0
        self._turns_on = ~np.array(chain.sliding) & self._followed
        self._values: Array | None = None  # the last message's, as received
        self._turns = np.zeros(chain.n)  # whole turns of the leader beyond its values
        self.problem = ""

    def receive(self, positions: Mapping[str, float], stamp: float, now: float) -> bool:
        """Process a message with a stamp (0: none) at a monotonic time [s]; return if it counts.

        It is ignored if a joint is missing or not finite, or its stamp is not later than the last.
        """
        names = [joint.leader for joint in self._joints]
        missing = [name for name in names if name and name not in positions]
        values = np.array([float(positions.get(name, 0.0)) for name in names])
        self.problem = ""
        if missing:
            self.problem = f"the leader has no {', '.join(missing)}"
        elif not np.isfinite(values).all():
            self.problem = "the leader's positions are not finite"
        elif self._stamp and stamp and stamp <= self._stamp:
            self.problem = "the leader's stamps do not advance"
        else:
            self._count_turns(values)
            target = self._unlimited(values)
            self._target = np.clip(target, self.chain.lower, self.chain.upper)
            beyond = (self._turns != 0.0) & (target != self._target)
            if beyond.any():
                name = names[int(beyond.argmax())]
                self.problem = f"the leader's {name} went on past 180 deg, where the arm cannot go"
                return False
            self._received, self._stamp = now, stamp
        return not self.problem

    def _unlimited(self, values: Array) -> Array:
        """Return the follower's target (n,) for values of the leader (n,), without limits."""
        with np.errstate(over="ignore"):
            return np.asarray(self._scale * (values + _TURN * self._turns) + self._offset)

    def _count_turns(self, values: Array) -> None:
        """Count a turn where a joint's value jumped by nearly one."""
        last, self._values = self._values, values
        if last is None:
            return
        jump = values - last
        wrapped = self._turns_on & (np.abs(np.abs(jump) - _TURN) < _NEAR_A_TURN)
        self._turns = self._turns - np.where(wrapped, np.sign(jump), 0.0)

    def age(self, now: float) -> float:
        """Return the time since the last message that counts [s]; infinite before the first."""
        return now - self._received

    def silent(self, now: float) -> bool:
        """Return True if no message has counted for too long."""
        return self.age(now) > self._timeout  # negative if one arrives after `now` was taken

    def target(self, now: float, q: Array) -> Array | None:
        """Return the follower's target (n,) at positions q (n,), or None if the leader is silent.

        Joints that do not follow keep their positions.
        """
        return None if self.silent(now) else np.where(self._followed, self._target, q)

    def restart(self) -> None:
        """Accept any stamp next, as those of a restarted leader may be earlier."""
        self._stamp = 0.0

    def unwind(self, q: Array) -> None:
        """Count turns anew, from those with which the leader is nearest to the arm at q (n,)."""
        if self._values is None:
            return
        scale = np.where(self._scale == 0.0, np.inf, self._scale)
        turns = np.round(((q - self._offset) / scale - self._values) / _TURN)
        self._turns = np.where(self._turns_on, turns, 0.0)
        target = self._unlimited(self._values)
        inside = (self.chain.lower <= target) & (target <= self.chain.upper)
        self._turns = np.where(inside, self._turns, 0.0)
        target = self._unlimited(self._values)
        self._target = np.clip(target, self.chain.lower, self.chain.upper)


class Follower(MotionStream):
    """Follows a leader with one arm; start() sets its position.

    Attributes:
        leader: Receives the leader's positions.
        state: Its state.
    """

    def __init__(
        self, chain: Chain, joints: Sequence[JointMapping], options: FollowOptions | None = None
    ) -> None:
        self._options = options or FollowOptions()
        self.leader = Leader(chain, joints, self._options.leader_timeout)
        super().__init__(chain)
        self.state = FollowState.WAITING

    def use(self, chain: Chain) -> None:
        """Use the chain of the same robot with other limits; nothing moves until start()."""
        super().use(chain)
        self.leader.chain = chain

    @property
    def engaged(self) -> bool:
        """True while the arm moves with its leader."""
        return self.state in (FollowState.ALIGNING, FollowState.FOLLOWING)

    def forget(self) -> None:
        """Forget the position, and stop until the dead man's switch is released."""
        super().forget()
        self.state = FollowState.STOPPED

    def step(self, held: bool, now: float) -> PlannedTrajectory | None:
        """Return the motion of the next period followed by braking, or None if nothing moves.

        Args:
            held: Whether the dead man's switch is held.
            now: Monotonic time [s].
        """
        if (q := self.q) is None:
            return None
        if self.state is FollowState.WAITING:
            self.leader.unwind(q)
        target = self.leader.target(now, q)
        self.state = self._next_state(held, q, target)
        if target is None and not self.engaged:
            self.leader.restart()
        goal = np.zeros(self._chain.n)
        if target is not None and self.engaged:
            goal = self._goal_rates(q, target)
        if not self.moving and not np.any(goal):
            self._idle += 1
            return None
        self._idle = 0
        return self._advance(q, goal)

    def _next_state(self, held: bool, q: Array, target: Array | None) -> FollowState:
        if not held:
            return FollowState.WAITING
        if target is None:
            return FollowState.STOPPED
        if self.state is FollowState.STOPPED:
            return self.state
        full = self._options.speed * self._chain.velocity  # distance in one second
        distance = np.abs(target - q)
        if np.all(distance <= _ALIGNED * full):
            return FollowState.FOLLOWING
        if self.state is FollowState.FOLLOWING and np.all(distance <= _FAR * full):
            return self.state
        return FollowState.ALIGNING

    def _goal_rates(self, q: Array, target: Array) -> Array:
        """Return the rates (n,) towards a target (n,) from which each joint can stop there."""
        chain, options = self._chain, self._options
        following = self.state is FollowState.FOLLOWING
        share = options.speed if following else min(options.align_speed, options.speed)
        most = share * chain.velocity
        here = np.where(np.abs(target - q) < _AT_TARGET, target, q)
        between = np.minimum(here, target), np.maximum(here, target)
        to_target = RateLimits(*between, most, self._acceleration)
        towards = rate_bounds(to_target, here, self.rates, _SETTLING)
        # one of the two is 0: here is a limit of the range between here and the target
        goal = towards.target_lower + towards.target_upper
        to_limit = RateLimits(chain.lower, chain.upper, most, self._acceleration)
        room = rate_bounds(to_limit, q, self.rates, _SETTLING_AT_LIMIT)
        return np.clip(goal, room.target_lower, room.target_upper)

    def _advance(self, q: Array, goal: Array) -> PlannedTrajectory:
        """Return the trajectory towards goal rates (n,), and command its first period."""
        change = self._acceleration * HORIZON
        last = self.rates + np.clip(goal - self.rates, -change, change)
        braked = self.rates - np.clip(self.rates, -change, change)
        last = self._kept_inside(last, braked, lambda rates: self._keeps(q, rates))
        segment = self._segment(q, self.rates, last)
        half = 0.5 * (self.rates + last)  # PERIOD is half of HORIZON
        after = q + 0.5 * PERIOD * (self.rates + half)
        self.q = np.clip(after, *self._range(q))
        self.rates = np.where((last == 0.0) & (np.abs(half) < _AT_REST), 0.0, half)
        return segment

    def _keeps(self, q: Array, last: Array) -> bool:
        """Return whether a segment keeps to limits between joints, with room to brake after it."""
        if not self._chain.constraints:
            return True
        positions = self._segment(q, self.rates, last).positions
        further = HORIZON * (0.5 * self.rates + last)
        return self._chain.constraints.keeps(q, np.vstack([positions, positions + further]))

    def _segment(self, q: Array, first: Array, last: Array) -> PlannedTrajectory:
        """Return the motion from q (n,): rates first to last (n,) in HORIZON, then braking.

        Each joint brakes with its own deceleration, in a multiple of _BRAKE_GRID.
        """
        braking = _BRAKE_GRID * np.ceil(np.abs(last) / self._acceleration / _BRAKE_GRID)
        times = np.union1d(braking, [0.0])
        share = np.minimum(times[:, None] / np.maximum(braking, _BRAKE_GRID), 1.0)
        ahead = q + 0.5 * HORIZON * (first + last)
        positions = ahead + last * braking * (share - 0.5 * share**2)
        inside = np.clip(positions, *self._range(q))
        velocities = last * (1.0 - share)
        velocities[-1] = 0.0
        return PlannedTrajectory(self._chain.joint_names, HORIZON + times, inside, velocities)

    def _range(self, q: Array) -> tuple[Array, Array]:
        """Return the position limits (n,), extended to a position outside."""
        return np.minimum(self._chain.lower, q), np.maximum(self._chain.upper, q)
