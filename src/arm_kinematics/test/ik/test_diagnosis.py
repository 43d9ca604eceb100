# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every status on arms of two to seven joints, in cases with a known outcome; messages."""

import math

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp, so3_log
from arm_kinematics.ik.search_model import arm_length
from arm_testing.arms.chains import in_limits, limited, shipped, turned

from arm_kinematics import Chain, ChainJoint, IkStatus

ARMS = ("planar2", "planar3", "nut_arm", "five", "puma560", "panda")
MODES = ("pose", "position", "position_axis")


def arm(name: str) -> Chain:
    if name != "five":
        return shipped(name)
    puma = shipped("puma560")
    return limited(puma, puma.lower[:5], puma.upper[:5])


def generic(chain: Chain, rng: np.random.Generator) -> np.ndarray:
    """Return a posture well inside the limits and away from singular ones."""
    low, high = np.maximum(chain.lower, -2.5), np.minimum(chain.upper, 2.5)
    while True:
        q = low + (high - low) * rng.uniform(0.2, 0.8, chain.n)
        values = np.linalg.svd(chain.jacobian(q), compute_uv=False)
        if values[min(6, chain.n) - 1] > 0.03:
            return q


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ARMS)
def test_target_beyond_all_links_is_out_of_reach(name, mode, rng):
    chain = arm(name)
    for _ in range(3):
        T = chain.fk(generic(chain, rng))
        direction = rng.normal(size=3)
        T[:3, 3] = 2.5 * arm_length(chain.S, chain.M) * direction / np.linalg.norm(direction)
        r = chain.ik(T, mode=mode)
        assert r.status == r.cause == IkStatus.UNREACHABLE_POSITION and not r.ok
        assert "out of reach" in r.message and "mm" in r.message and "deg" in r.message
        assert len(r.solutions) == 1
        assert in_limits(chain, r.q)
        near = chain.ik(T, mode=mode, allow_approximate=True)
        assert near.status == IkStatus.APPROXIMATE and near.cause == r.status
        assert np.linalg.norm((chain.fk(near.q) - T)[:3, 3]) == pytest.approx(near.position_error)


def out_of_the_plane(T: np.ndarray, _) -> np.ndarray:
    return pose(so3_exp([0.5, 0.0, 0.0]) @ T[:3, :3], T[:3, 3])


def sideways(T: np.ndarray, _) -> np.ndarray:
    """Tilt out of the vertical plane through the waist, in which the nut arm's tool stays."""
    radial = T[:3, 3] * [1.0, 1.0, 0.0] / np.linalg.norm(T[:2, 3])
    return pose(so3_exp(0.4 * radial) @ T[:3, :3], T[:3, 3])


def beside(T: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Five joints span five of six dimensions: a pose beside a reachable one is unreachable."""
    return turned(T, rng.uniform(0.1, 0.3, 3))


@pytest.mark.parametrize(
    ("name", "lean", "modes"),
    [
        ("planar2", out_of_the_plane, ("pose", "position_axis")),
        ("planar3", out_of_the_plane, ("pose", "position_axis")),
        ("nut_arm", sideways, ("pose", "position_axis")),
        ("five", beside, ("pose",)),
    ],
)
def test_arms_of_few_joints_report_unreachable_orientations(name, lean, modes, rng):
    chain = arm(name)
    for mode in modes:
        for _ in range(3):
            r = chain.ik(lean(chain.fk(generic(chain, rng)), rng), mode=mode)
            assert r.status == IkStatus.UNREACHABLE_ORIENTATION and r.position_error <= 1e-5


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_stretched_arm_cannot_point_backwards(name, rng):
    """A long tool points outwards at the edge of reach: turned round, the wrist is too far."""
    chain = arm(name)
    tool = pose(p=[0.0, 0.0, 0.5 * arm_length(chain.S, chain.M)])
    poses = [chain.fk(generic(chain, rng)) @ tool for _ in range(4000)]
    T = max(poses, key=lambda T: float(np.linalg.norm(T[:3, 3])))
    outwards = T[:3, 3] / np.linalg.norm(T[:3, 3])
    T[:3, 2] = -outwards
    T[:3, 0] = np.cross(outwards, [0.3, 0.5, 0.8])
    T[:3, 0] /= np.linalg.norm(T[:3, 0])
    T[:3, 1] = np.cross(T[:3, 2], T[:3, 0])
    for mode in ("pose", "position_axis"):
        r = chain.ik(T, mode=mode, tool=tool)
        assert r.status == IkStatus.UNREACHABLE_ORIENTATION and r.position_error <= 1e-5


@pytest.mark.parametrize("name", ARMS)
def test_limiting_joint_is_named(name, rng):
    """Limits are narrow about a posture, and the range of one joint excludes it."""
    chain = arm(name)
    margin = 0.02 if chain.n == 7 else 0.1
    for k in range(chain.n):
        q = generic(chain, rng)
        J = chain.jacobian(q)
        while chain.n == 7:  # the self-motion must not bring joint k back inside
            null = np.abs(np.linalg.svd(J)[2][-1])
            if null[k] * margin < 0.03 * max(np.delete(null, k)):
                break
            q = generic(chain, rng)
            J = chain.jacobian(q)
        lower, upper = q - margin, q + margin
        lower[k], upper[k] = q[k] + 0.1, q[k] + 0.3
        narrow = limited(chain, lower, upper)
        r = narrow.ik(chain.fk(q))
        assert r.status == IkStatus.JOINT_LIMIT, (k, r)
        assert r.limiting_joints == (chain.joint_names[k],), (k, r)
        assert f"limit {math.degrees(lower[k]):.4g} deg" in r.message
        assert in_limits(narrow, r.q)


def test_position_within_limits_is_diagnosed_before_orientation():
    chain = arm("planar2")
    narrow = limited(chain, [-0.2, 0.1], [0.2, 0.4])
    r = narrow.ik(out_of_the_plane(chain.fk([1.5, 0.3]), None))
    assert r.status == IkStatus.UNREACHABLE_POSITION
    assert r.limiting_joints == (chain.joint_names[0],)
    assert "within the joint limits" in r.message and "beyond them" in r.message


def test_best_effort_is_the_nearest_position():
    """Out of reach straight ahead, the planar arm stretches towards the target."""
    chain = arm("planar2")
    reach, _, height = chain.fk([0.0, 0.0])[:3, 3]
    T = np.eye(4)
    T[:3, 3] = (2.0 * reach * np.cos(0.4), 2.0 * reach * np.sin(0.4), height)
    r = chain.ik(T, mode="position")
    assert np.allclose(r.q, [0.4, 0.0], atol=1e-5)
    assert r.position_error == pytest.approx(reach, rel=1e-6)


def test_best_effort_for_an_orientation_meets_the_position():
    chain = arm("nut_arm")
    r = chain.ik(turned(chain.fk([0.1, 0.2, 0.3, 0.4]), [0.0, 0.7, 0.0]))
    assert r.status == IkStatus.UNREACHABLE_ORIENTATION
    assert r.position_error < 1e-6
    assert r.orientation_error == pytest.approx(0.7, abs=0.05)
    assert "position is within reach" in r.message


def test_limit_of_a_prismatic_joint_is_reported_in_millimetres():
    screws = np.transpose([[0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0]])
    joints = [ChainJoint("turn", False, -3, 3), ChainJoint("slide", True, 0.1, 0.5)]
    chain = Chain(screws, np.eye(4), joints)
    r = chain.ik(chain.fk([0.3, 0.8]))
    assert r.status == IkStatus.JOINT_LIMIT
    assert r.limiting_joints == ("slide",)
    assert "slide at 800 mm (limit 500 mm)" in r.message
    assert r.q == pytest.approx([0.3, 0.5], abs=1e-3)


def test_limited_target_reports_the_required_angle_and_allows_approximation():
    chain = arm("nut_arm")
    T = chain.fk([0.0, 0.2, 1.8, 0.0])
    refused, allowed = chain.ik(T), chain.ik(T, allow_approximate=True)
    assert refused.status == allowed.cause == IkStatus.JOINT_LIMIT
    assert allowed.status == IkStatus.APPROXIMATE and allowed.ok
    assert np.array_equal(allowed.q, refused.q)
    for r in (refused, allowed):
        assert r.limiting_joints == ("elbow",)
        assert "elbow at 103.1 deg (limit 90 deg)" in r.message
    assert chain.ik(chain.fk([0.1] * 4), allow_approximate=True).status == IkStatus.SUCCESS


@pytest.mark.parametrize("name", ARMS)
def test_timeout_is_not_reported_as_out_of_reach(name):
    chain = arm(name)
    T = chain.fk(chain.middle)
    T[:3, 3] += 10.0
    r = chain.ik(T, timeout=1e-9)
    assert r.status == IkStatus.TIMEOUT
    assert "time ran out" in r.message
    assert len(r.solutions) == 1
    assert chain.ik(T, timeout=1e-9, allow_approximate=True).status == IkStatus.TIMEOUT
    assert chain.ik(T, timeout=60.0).status == IkStatus.UNREACHABLE_POSITION


def test_success_message_contains_the_residuals():
    chain = arm("nut_arm")
    r = chain.ik(chain.fk([0.1, 0.2, 0.3, 0.4]))
    assert r.message.startswith("Solved: ") and r.message.endswith("from the target.")
    assert r.limiting_joints == ()
    assert "SUCCESS" in repr(r)


def test_search_counts_its_starts():
    chain = arm("rediestro")  # has no closed form
    r = chain.ik(chain.fk(chain.middle + 0.1))
    assert r.starts == 1 and r.evaluations > 1


def test_status_values_match_the_service():
    srv = pytest.importorskip("arm_interfaces.srv")
    for status in IkStatus:
        assert getattr(srv.SolveIK.Response, status.name) == status


@pytest.mark.parametrize(
    ("name", "count"),
    [("ur5", 3), ("panda", 3)]
    + [pytest.param(name, 60, marks=pytest.mark.thorough) for name in ("ur5", "panda", "puma560")],
)
def test_best_effort_is_the_nearest_orientation_whatever_the_seed(name, count):
    """Different seeds start the search elsewhere, so a local best would differ."""
    chain, rng, refused = shipped(name), np.random.default_rng(4), 0
    low, high = np.maximum(chain.lower, -math.pi), np.minimum(chain.upper, math.pi)
    while refused < count:
        T = chain.fk(rng.uniform(low, high))
        T[:3, 3] *= rng.uniform(1.0, 1.2)
        T[:3, :3] = so3_exp(rng.normal(0.0, 1.5, 3))
        results = [chain.ik(T, seed) for seed in (None, *rng.uniform(low, high, (3, chain.n)))]
        if any(r.status != IkStatus.UNREACHABLE_ORIENTATION for r in results):
            continue
        refused += 1
        assert max(r.position_error for r in results) < 1e-4
        errors = [r.orientation_error for r in results]
        assert max(errors) - min(errors) < 1e-3, errors


@pytest.mark.parametrize(
    ("place", "turn", "q"),
    [
        (
            [-0.207, 0.28, 2.02],
            [0.635, 1.448, -0.778],
            [1.65806, -1.26623, -0.24841, 0.22178, 1.61616, -0.74083, 1.13148],
        ),
        (
            [-0.196, 0.855, 1.582],
            [-0.336, 0.67, -1.082],
            [1.65806, -0.67611, -0.13013, 0.03336, 1.44134, -0.75089, 1.59279],
        ),
    ],
)
def test_best_effort_is_no_farther_than_a_known_posture(place, turn, q):
    """Other minima lead with little priority of the position, and end farther away."""
    chain, T = shipped("rediestro"), pose(so3_exp(turn), place)
    known = T[:3, :3].T @ chain.fk(q)[:3, :3]
    r = chain.ik(T)
    assert r.status == IkStatus.UNREACHABLE_ORIENTATION and r.position_error < 1e-5
    assert np.linalg.norm(chain.fk(q)[:3, 3] - place) < 1e-4
    assert r.orientation_error < np.linalg.norm(so3_log(known)) + 1e-3


def test_best_effort_meets_every_position_that_can_be_met():
    """Random orientations at positions of random postures: 4 axes reach few of them."""
    chain = shipped("nut_arm")
    rng, lower, upper = np.random.default_rng(14), np.array(chain.lower), np.array(chain.upper)
    met = 0
    for _ in range(100):
        T = chain.fk(rng.uniform(lower, upper)).copy()
        axis = rng.normal(size=3)
        T[:3, :3] = so3_exp(axis * rng.uniform(0.0, np.pi) / np.linalg.norm(axis))
        result = chain.ik(T, seed=0.5 * (lower + upper), allow_approximate=True)
        if result.cause == IkStatus.UNREACHABLE_ORIENTATION:
            assert result.position_error < 1e-5, result.message
            met += 1
    assert met > 80
