# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from arm_hardware.errors import INVALID_GOAL, INVALID_JOINTS, OLD_HEADER_TIMESTAMP, CommandError
from arm_hardware.motion.goal_validation import (
    GoalPoint,
    TrajectoryBounds,
    TrajectoryGoal,
    validate_goal,
)
from arm_hardware.motion.trajectory_start import plan_motion

GOAL, JOINTS = INVALID_GOAL, INVALID_JOINTS
NAMES = ("waist", "shoulder", "elbow", "wrist_roll")
HOME = np.zeros(4)
DT = 0.02


def request(*points, names=NAMES, start=None):
    return TrajectoryGoal(names, points, start)


def at(time, *q, **more):
    return GoalPoint(time, q or (0.1, 0.1, 0.1, 0.1), **more)


def plan_of(rig, message, position=HOME, velocity=HOME, **more):
    return plan_motion(validate_goal(message, rig.axes, **more), rig.axes, position, velocity, DT)


STILL = {"velocities": (0,) * 4}
REST = at(2, **STILL)
OVERSHOOTING = at(1, 1.5, 0, 0, 0, velocities=(2, 0, 0, 0))


@pytest.mark.parametrize(
    ("message", "code", "joint", "says"),
    [
        (request(at(1), names=()), JOINTS, "waist", "missing"),
        (request(at(1), names=NAMES[:3]), JOINTS, "wrist_roll", "missing"),
        (request(at(1), names=(*NAMES, "tail")), JOINTS, "tail", "not one of"),
        (request(at(1), names=(*NAMES, "gripper")), JOINTS, "gripper", "not one of"),
        (request(at(1), names=(*NAMES, "waist")), JOINTS, "waist", "twice"),
        (request(), GOAL, "", "no points"),
        (request(at(1, 0.1, 0.1)), GOAL, "", "Point 1 has 2 positions for 4"),
        (request(GoalPoint(1.0, ())), GOAL, "", "Point 1 has 0 positions"),
        (request(at(1, velocities=(0.0,))), GOAL, "", "1 velocities for 4"),
        (request(at(1, accelerations=(0.0,))), GOAL, "", "1 accelerations for 4"),
        (request(at(1, effort=(0.0,) * 4)), GOAL, "", "efforts"),
        (request(at(1), at(2, velocities=(0.0,) * 4)), GOAL, "", "differs from point 1"),
        (request(at(1), at(1)), GOAL, "", "strictly: point 2 at 1 s follows one at 1 s"),
        (request(at(2), at(1)), GOAL, "", "strictly"),
        (request(at(-1)), GOAL, "", "not negative"),
        (request(at(math.nan)), GOAL, "", "finite"),
        (request(at(1), start=-1.5), OLD_HEADER_TIMESTAMP, "", "ended 0.5 s ago"),
        (request(at(1, 0, math.nan, 0, 0)), GOAL, "shoulder", "is nan"),
        (request(at(1, 0, 0, math.inf, 0)), GOAL, "elbow", "is inf"),
        (request(at(9, 0, 0, 0, 1.6)), GOAL, "wrist_roll", "0.0292 rad outside"),
        (request(at(9, -3, 0, 0, 0)), GOAL, "waist", "outside of its limits"),
        (request(at(0.1, 1, 0, 0, 0)), GOAL, "waist", "to the first point is faster"),
        (request(at(0, 1, 0, 0, 0)), GOAL, "waist", "leaves no time"),
        (request(at(1, *HOME), at(1.1, 0, 1, 0, 0)), GOAL, "shoulder", "10 rad/s on the way to"),
        (request(at(1, velocities=(0, 0, 0, 0.3))), GOAL, "wrist_roll", "last velocity is 0.3"),
        (
            request(at(1, velocities=(0, 2e-7, 0, 0))),
            GOAL,
            "shoulder",
            "last velocity is 2e-07 rad/s, but must be 0 unless the parameter allow_nonzero",
        ),
        (request(at(1, velocities=(0, 9, 0, 0)), REST), GOAL, "shoulder", "9 rad/s at a point is"),
        (request(at(1, velocities=(0, math.nan, 0, 0)), REST), GOAL, "shoulder", "not a finite"),
        (request(OVERSHOOTING, at(2, 1.5, 0, 0, 0, **STILL)), GOAL, "waist", "between points"),
    ],
)
def test_each_invalid_goal_is_rejected_in_one_sentence(rig, message, code, joint, says):
    with pytest.raises(CommandError) as caught:
        plan_of(rig, message)
    error = caught.value
    assert (error.code, error.joint) == (code, joint)
    assert says in str(error) and "\n" not in str(error) and str(error).endswith(".")


def test_error_carries_the_amount_beyond_the_limit(rig):
    with pytest.raises(CommandError) as caught:
        plan_of(rig, request(at(9, 2.0, 0, 0, 0)))
    assert caught.value.amount == pytest.approx(2.0 - math.pi / 2)


def test_columns_are_mapped_by_name(rig):
    names = ("elbow", "wrist_roll", "waist", "shoulder")
    plan = validate_goal(request(at(1, 0.3, 0.4, 0.1, 0.2), names=names), rig.axes)
    np.testing.assert_array_equal(plan.positions, [[0.1, 0.2, 0.3, 0.4]])


def test_partial_goals_hold_the_other_joints_if_allowed(rig):
    message = request(at(1, 0.3), names=("elbow",))
    motion = plan_of(rig, message, np.full(4, 0.05), allow_partial=True)
    np.testing.assert_allclose(motion.path.final, [0.05, 0.05, 0.3, 0.05])


def test_omitted_moving_joints_come_to_rest_without_reversing(rig):
    message, moving = request(at(2, 0.3), names=("elbow",)), np.array([1.0, 0.0, 0.0, -0.5])
    end = plan_of(rig, message, velocity=moving, allow_partial=True).path.final
    assert end[0] > 0.0 > end[3]


def test_past_points_are_dropped(rig):
    message = request(at(1, 0.1, 0, 0, 0), at(2, 0.2, 0, 0, 0), at(3, 0.3, 0, 0, 0), start=-1.5)
    plan = validate_goal(message, rig.axes)
    np.testing.assert_allclose(plan.times, [0.5, 1.5])
    np.testing.assert_allclose(plan.positions[:, 0], [0.2, 0.3])


def test_future_start_gives_more_time_to_the_first_point(rig):
    plan = validate_goal(request(at(0, 0, 0, 0, 0), at(1), start=2.0), rig.axes)
    np.testing.assert_allclose(plan.times, [2.0, 3.0])


def test_goal_starting_at_quantised_joint_states_is_accepted(rig):
    first = np.full(4, 0.0077)  # one count
    motion = plan_of(rig, request(at(0, *first), at(1)))
    np.testing.assert_allclose(motion.requested.positions[0], first)
    np.testing.assert_allclose(motion.samples(np.zeros(1))[0], HOME)


def test_cubics_start_with_the_current_velocity(rig):
    moving = np.array([0.5, 0.0, 0.0, 0.0])
    motion = plan_of(rig, request(at(1, **STILL)), velocity=moving)
    np.testing.assert_array_equal(motion.path.velocities, [moving, HOME])


def test_accelerations_make_quintics(rig):
    zero = STILL | {"accelerations": (0.0,) * 4}
    path = plan_of(rig, request(at(2, 1.0, 0, 0, 0, **zero))).path
    for s in np.linspace(0.0, 1.0, 41):
        exact = 10 * s**3 - 15 * s**4 + 6 * s**5
        assert path.sample(2.0 * s)[0] == pytest.approx(exact, abs=2e-4)
    some = validate_goal(request(at(1, **zero), at(2, velocities=(0.0,) * 4)), rig.axes)
    assert some.accelerations is None


def test_final_velocity_needs_permission_and_room_to_brake(rig):
    fast = request(at(1, 0.5, 0, 0, 0, velocities=(1.0, 0, 0, 0)))
    assert plan_of(rig, fast, allow_end_velocity=True).ends_moving
    near = request(at(2, 1.57, 0, 0, 0, velocities=(1.0, 0, 0, 0)))
    with pytest.raises(CommandError, match=r"waist.*where it can come to rest"):
        validate_goal(near, rig.axes, allow_end_velocity=True)


@pytest.mark.parametrize("last", [3.2e-17, -1.4e-17, 1.8e-15, 1e-9, 1.19e-7])
def test_last_velocity_of_rounding_size_is_0(rig, last):
    """In the words of joint_trajectory_controller: below the epsilon of a float."""
    points = (
        GoalPoint(2.0, (0.1, 0, 0, 0), (0.05, 0, 0, 0)),
        GoalPoint(4.0, (0.2, 0, 0, 0), (last, 0, 0, 0)),
    )
    motion = plan_of(rig, request(*points))
    assert not motion.ends_moving and motion.path.final[0] == 0.2


def test_computed_trajectory_that_ends_with_rounding_is_accepted(rig):
    """A goal as a client sent it: its last velocity is -1.4e-17 rad/s."""
    file = Path(__file__).parent / "end_velocity_1e-17.yaml"
    goal = yaml.safe_load(file.read_text())["trajectory"]
    points = [
        GoalPoint(p["time_from_start"]["sec"], p["positions"], p["velocities"])
        for p in goal["points"]
    ]
    motion = plan_of(rig, request(*points, names=tuple(goal["joint_names"])))
    assert not motion.ends_moving


def test_first_time_of_rounding_size_is_0(rig):
    for first in (-1e-17, 1e-17, -1 + 0.999999999):  # the last as a message has it: sec, nanosec
        goal = validate_goal(request(at(first, *HOME), at(0.5)), rig.axes)
        assert goal.times[0] == 0.0


HOUR = 3600.0


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (request(at(2e9)), "ends in 2e.09 s, later than the 3600 s of max_trajectory_duration"),
        (request(at(1e308)), "max_trajectory_duration"),
        (request(at(1), start=3e8), "ends in 3e.08 s"),
        (request(at(2147483647), start=-1e9), "max_trajectory_duration"),
        (request(at(math.inf)), "finite"),
        (request(*[at(1)] * 50_001), "50001 points, more than the 50000 of max_trajectory_points"),
    ],
)
def test_trajectories_beyond_the_bounds_are_rejected(rig, message, says):
    with pytest.raises(CommandError, match=says):
        validate_goal(message, rig.axes)


def test_a_trajectory_up_to_the_bounds_is_accepted(rig):
    many = request(*[at(0.05 * (k + 1)) for k in range(50_000)])
    assert len(validate_goal(many, rig.axes).times) == 50_000
    validate_goal(request(at(HOUR)), rig.axes)
    validate_goal(request(at(10.0), at(2e9), start=10.0 - 2e9), rig.axes)
    with pytest.raises(CommandError, match="2 points, more than the 1 of"):
        validate_goal(request(at(1), at(2)), rig.axes, bounds=TrajectoryBounds(1, HOUR))
    with pytest.raises(CommandError, match="later than the 10 s"):
        validate_goal(request(at(11)), rig.axes, bounds=TrajectoryBounds(1, 10.0))


@pytest.mark.parametrize("acceleration", [1e3, 1e155, 1e308])
@pytest.mark.parametrize("times", [(1.0, 2.0), (1e-300, 1.0), (5e-324, 1e-9)])
@pytest.mark.parametrize("speed", [0.0, 0.5])
def test_values_beyond_computation_are_rejected_and_not_driven(rig, acceleration, times, speed):
    points = [
        at(t, *HOME, velocities=(0.0,) * 4, accelerations=(sign * acceleration,) * 4)
        for t, sign in zip(times, (1, -1), strict=True)
    ]
    with pytest.raises(CommandError, match=r"cannot be followed|between points"):
        plan_of(rig, request(*points), velocity=np.full(4, speed))
