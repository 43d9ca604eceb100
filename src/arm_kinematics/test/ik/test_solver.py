# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics: reachable targets are solved inside the limits, deterministically."""

import math

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp, so3_log
from arm_testing.arms.chains import in_limits, limited, posture, random_chain, shipped, turned

from arm_kinematics import Chain, ChainJoint, IkStatus, KinematicsError

MODES = ("pose", "position", "position_axis")
TARGETS = 1000


def errors(chain: Chain, q: np.ndarray, T: np.ndarray) -> tuple[float, float, float]:
    """Return distance, whole angle, and angle between the z axes, computed independently."""
    reached = chain.fk(q)
    turn = float(np.linalg.norm(so3_log(T[:3, :3].T @ reached[:3, :3])))
    z, target = reached[:3, 2], T[:3, 2]
    tilt = math.atan2(float(np.linalg.norm(np.cross(z, target))), float(z @ target))
    return float(np.linalg.norm(reached[:3, 3] - T[:3, 3])), turn, tilt


@pytest.mark.parametrize("mode", MODES)
def test_every_reachable_target_is_solved(chain, rng, mode):
    for _ in range(TARGETS):
        T = chain.fk(rng.uniform(chain.lower, chain.upper))
        r = chain.ik(T, mode=mode)
        assert r.status == IkStatus.SUCCESS, r
        assert in_limits(chain, r.q)
        position, turn, tilt = errors(chain, r.q, T)
        assert position <= 1e-5
        assert mode == "position" or (turn if mode == "pose" else tilt) <= 1e-4
        reported = {"pose": turn, "position": 0.0, "position_axis": tilt}[mode]
        assert r.position_error == pytest.approx(position, abs=1e-9)
        assert r.orientation_error == pytest.approx(reported, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 30.0])
def test_arms_from_millimetres_to_tens_of_metres_are_solved(rng, scale):
    arm = shipped("puma560")
    S, M = np.array(arm.S), np.array(arm.M)
    S[:3] *= scale
    M[:3, 3] *= scale
    bounds = zip(arm.joint_names, arm.prismatic, arm.lower, arm.upper, strict=True)
    scaled = Chain(S, M, [ChainJoint(*joint) for joint in bounds])
    for _ in range(200):
        T = scaled.fk(rng.uniform(scaled.lower, scaled.upper))
        r = scaled.ik(T, position_tolerance=1e-5 * scale)
        assert r.ok, r
        assert errors(scaled, r.q, T)[0] <= 1e-5 * scale


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_arms_of_any_shape_are_solved(rng, n):
    """Random axes, sliding joints, joints without limits or with many turns."""
    bounds = [(-2.0, 2.0), (-9.0, 9.0), (-math.inf, math.inf), (0.5, 3.0)] * 2
    for _ in range(8):
        chain = random_chain(rng, bounds[:n])
        for _ in range(20):
            T = chain.fk(posture(chain, rng, 9.0))
            r = chain.ik(T)
            assert r.ok, r
            assert in_limits(chain, r.q)
            assert errors(chain, r.q, T)[0] <= 1e-5 and errors(chain, r.q, T)[1] <= 1e-4


def test_solution_near_the_seed_stays_near(chain, rng):
    for _ in range(200):
        q = rng.uniform(chain.lower, chain.upper)
        seed = np.clip(q + rng.uniform(-0.02, 0.02, chain.n), chain.lower, chain.upper)
        r = chain.ik(chain.fk(q), seed, "position")
        assert r.ok
        solution = r.solutions[0]
        assert solution.distance == pytest.approx(np.linalg.norm(solution.q - seed))
        if np.linalg.cond(chain.jacobian(q)[:3]) < 20.0:
            assert solution.distance < 0.5


def test_ik_is_deterministic(chain, rng):
    again = limited(chain, chain.lower, chain.upper)
    for mode in MODES:
        for _ in range(20):
            T = chain.fk(rng.uniform(chain.lower, chain.upper))
            first = chain.ik(T, mode=mode, max_solutions=5)
            second = again.ik(T, mode=mode, max_solutions=5)
            assert first.message == second.message
            for a, b in zip(first.solutions, second.solutions, strict=True):
                assert np.array_equal(a.q, b.q)


def test_whole_turns_are_nearest_to_the_seed():
    screw = np.transpose([[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    M = pose(p=[1.0, 0.0, 0.0])
    wide = Chain(screw, M, [ChainJoint("j", False, -10.0, 10.0)])
    assert wide.ik(wide.fk([0.5]), [7.0]).q[0] == pytest.approx(0.5 + 2 * math.pi, abs=1e-4)
    assert wide.ik(wide.fk([4.0]), [9.9]).q[0] == pytest.approx(4.0, abs=1e-4)
    endless = Chain(screw, M, [ChainJoint("j", False, -math.inf, math.inf)])
    assert endless.ik(endless.fk([0.5]), [50.0]).q[0] == pytest.approx(
        0.5 + 16 * math.pi, abs=1e-4
    )


def test_four_joints_meet_position_and_roll_with_the_least_tilt(nut_arm, rng):
    """Yaw, pitch, pitch, roll about the tool axis: position and roll can be met exactly."""
    tolerance = (math.radians(15.0), math.radians(15.0), 1e-4)
    for _ in range(300):
        q = rng.uniform(0.8 * nut_arm.lower, 0.8 * nut_arm.upper)
        bend = math.radians(10.0) * rng.random()
        about = rng.uniform(-math.pi, math.pi)
        T = turned(nut_arm.fk(q), [bend * math.cos(about), bend * math.sin(about), 0.0])
        r = nut_arm.ik(T, q, orientation_tolerance=tolerance)
        assert r.status == IkStatus.SUCCESS, r
        assert r.position_error <= 1e-5
        e = so3_log(T[:3, :3].T @ nut_arm.fk(r.q)[:3, :3])
        assert abs(e[2]) <= 1e-4
        assert r.orientation_error <= bend + 1e-3


def test_three_angle_tolerances_form_a_box(rng):
    puma = shipped("puma560")
    for _ in range(50):
        T = puma.fk(rng.uniform(puma.lower, puma.upper))
        r = puma.ik(T, orientation_tolerance=(1e-4, 2e-4, 3e-4))
        assert r.ok
        e = np.abs(so3_log(T[:3, :3].T @ puma.fk(r.q)[:3, :3]))
        assert (e <= [1e-4, 2e-4, 3e-4]).all()


def test_free_orientation_leaves_the_position(nut_arm):
    T = nut_arm.fk([0.1, 0.2, 0.3, 0.4])
    T[:3, :3] = so3_exp([1.0, 2.0, 0.5])
    assert nut_arm.ik(T, orientation_tolerance=math.inf).ok
    assert nut_arm.ik(T, orientation_tolerance=(math.inf,) * 3).ok


GOOD_TARGET = shipped("nut_arm").fk([0.1, 0.2, 0.3, 0.4])


def target(row: int, column: int, value: float) -> np.ndarray:
    T = GOOD_TARGET.copy()
    T[row, column] = value
    return T


BAD = {
    "NaN": ({"T": target(0, 3, math.nan)}, "NaN"),
    "no rotation": ({"T": target(0, 0, 3.0)}, "not a rotation"),
    "text": ({"T": "here"}, "target"),
    "position alone": ({"T": [0.1, 0.0, 0.2]}, "a position alone needs mode .position."),
    "mode": ({"mode": "somehow"}, "'somehow'"),
    "seed too short": ({"seed": [0.0]}, "seed"),
    "seed NaN": ({"seed": [0.0, math.nan, 0.0, 0.0]}, "seed"),
    "negative tolerance": ({"position_tolerance": -1e-3}, "position_tolerance is -0.001"),
    "zero tolerance": ({"orientation_tolerance": 0.0}, "orientation_tolerance"),
    "NaN tolerance": ({"orientation_tolerance": math.nan}, "orientation_tolerance"),
    "infinite position": ({"position_tolerance": math.inf}, "position_tolerance"),
    "two angles": ({"orientation_tolerance": (0.1, 0.1)}, "one number or three"),
    "three places of which one is no number": (
        {"position_tolerance": (1e-3, math.nan, 1e-3)},
        "position_tolerance is nan",
    ),
    "no axis": ({"axis": (0.0, 0.0, 0.0)}, "axis: expected 3 finite numbers"),
    "infinite axis": ({"axis": (math.inf, 0.0, 0.0)}, "axis"),
    "axis in the plane": ({"axis": (1.0, 0.0)}, "axis"),
    "axes of something else": ({"tolerance_axes": "base"}, "expected one of target, tool"),
    "negative weight": ({"weights": {"elbow": -1.0}}, "weights"),
    "weight of another joint": ({"weights": {"knee": 1.0}}, "no joint 'knee'"),
    "NaN weight": ({"weights": (1.0, math.nan, 1.0, 1.0)}, "weights"),
    "too few weights": ({"weights": (1.0, 1.0)}, "4 finite numbers"),
    "another preference": (
        {"prefer": "fastest"},
        "expected one of nearest, centred, torque, accurate",
    ),
    "tool that bends": ({"tool": target(0, 0, 3.0)}, "tool: .* not a rotation"),
    "no solutions": ({"max_solutions": 0}, "max_solutions is 0"),
    "half a solution": ({"max_solutions": 2.5}, "max_solutions is 2.5"),
    "no time": ({"timeout": 0.0}, "timeout"),
    "time in words": ({"timeout": "soon"}, "timeout is 'soon'"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_arguments_are_rejected(nut_arm, case):
    changes, pattern = BAD[case]
    with pytest.raises(KinematicsError, match=pattern) as caught:
        nut_arm.ik(**{"T": GOOD_TARGET, **changes})
    assert "\n" not in str(caught.value)


def test_targets_may_be_any_kind_of_array(nut_arm):
    expected = nut_arm.ik(GOOD_TARGET).q
    frozen = GOOD_TARGET.copy()
    frozen.setflags(write=False)
    for T in (GOOD_TARGET.tolist(), frozen, np.asfortranarray(GOOD_TARGET)):
        assert np.array_equal(nut_arm.ik(T).q, expected)
    assert nut_arm.ik(GOOD_TARGET.astype(np.float32)).ok
    assert nut_arm.ik(GOOD_TARGET, (0, 0, 0, 0)).ok


def test_inputs_are_not_modified(nut_arm):
    T, seed = GOOD_TARGET.copy(), np.full(4, 5.0)
    r = nut_arm.ik(T, seed)
    assert np.array_equal(T, GOOD_TARGET) and np.array_equal(seed, np.full(4, 5.0))
    assert in_limits(nut_arm, r.q)
    with pytest.raises(ValueError, match="read-only"):
        r.q[0] = 1.0
