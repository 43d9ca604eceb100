# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Differential IK: limits are never violated, twists are tracked or damped near singularities."""

import math

import numpy as np
import pytest
from arm_kinematics.paths.differential_ik import DifferentialIk, RateLimits, rate_bounds
from arm_testing.arms.chains import REGULAR, dh_parts, shipped
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_kinematics import Chain, ChainJoint, KinematicsError

DT = 0.02
STEPS = 150
_NAMES = ("nut_arm", "planar2", "spherical_arm", "puma560", "ur5", "panda")
CHAINS = {name: shipped(name) for name in _NAMES}
SINGULAR = {  # stretched or folded: the Jacobian is rank deficient
    "nut_arm": [0.3, 0.0, -math.pi / 2, 0.0],
    "planar2": [0.4, 0.0],
    "puma560": [0.0, 0.5, -1.0, 0.3, 0.0, 0.2],
    "ur5": [0.3, -1.2, 0.0, 0.4, 0.0, 0.1],
}


def run(chain, jog, q, twists, axes="base", dt=DT):
    """Yield each step with the positions before it; check the limits of every step."""
    rates = np.zeros(chain.n)
    for twist in twists:
        step = jog.step(q, rates, twist, dt, axes)
        assert (np.abs(step.rates) <= chain.velocity * (1 + 1e-9)).all()
        assert (np.abs(step.rates - rates) <= chain.acceleration * dt * (1 + 1e-9)).all()
        yield q, step
        q, rates = q + step.rates * dt, step.rates
        assert (q <= chain.upper + 1e-12).all() and (q >= chain.lower - 1e-12).all()


@pytest.mark.parametrize("name", CHAINS)
def test_random_twists_never_violate_limits(name):
    chain, rng = CHAINS[name], np.random.default_rng(3)
    low, high = np.maximum(chain.lower, -3.0), np.minimum(chain.upper, 3.0)
    for mode in (None, "pose", "position"):
        jog = DifferentialIk(chain, mode)
        for _ in range(2):
            twists = np.repeat(rng.normal(0.0, 0.6, (STEPS // 30, 6)), 30, axis=0)
            for _ in run(chain, jog, rng.uniform(low, high), twists, "tool"):
                pass


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("direction", range(6))
def test_rates_stay_finite_out_of_a_singular_posture(name, direction):
    chain = CHAINS[name]
    q = np.array(SINGULAR[name])
    J = chain.jacobian(q)
    values = np.linalg.svd(J if chain.n >= 6 else J[:3, :], compute_uv=False)
    assert values[-1] < 1e-9 or chain.n < 6
    twist = 0.1 * np.eye(6)[direction]
    for _, step in run(chain, DifferentialIk(chain), q, [twist] * 50):
        assert np.isfinite(step.rates).all()


@pytest.mark.parametrize("name", ["puma560", "ur5", "panda"])
@pytest.mark.parametrize("axes", ["base", "tool"])
def test_twist_is_exact_away_from_singular_postures(name, axes):
    chain, rng = CHAINS[name], np.random.default_rng(4)
    q0 = np.array(REGULAR[name])
    for _ in range(5):
        twist = rng.normal(0.0, 0.02, 6)
        *_, (q, step) = run(chain, DifferentialIk(chain), q0, [twist] * 20, axes)
        R = chain.fk(q)[:3, :3] if axes == "tool" else np.eye(3)
        assert np.allclose(chain.jacobian(q) @ step.rates, step.twist, atol=1e-12)
        assert np.allclose(step.twist[:3], R @ twist[:3], atol=1e-9)
        assert np.allclose(step.twist[3:], R @ twist[3:], atol=1e-9)
        assert step.scale == 1.0 and step.limiting_joints == ()


def test_four_joints_meet_linear_velocity_exactly():
    chain = CHAINS["nut_arm"]
    q0 = np.array(REGULAR["nut_arm"])
    *_, (_, step) = run(chain, DifferentialIk(chain), q0, [[0.02, 0.01, -0.02, 0, 0, 0]] * 10)
    assert np.allclose(step.twist[:3], [0.02, 0.01, -0.02], atol=1e-12)
    *_, (_, step) = run(chain, DifferentialIk(chain), q0, [[0, 0, 0, 0, 0, 0.2]] * 10, "tool")
    assert np.allclose(step.twist[:3], 0.0, atol=1e-12)
    assert np.allclose(step.rates, [0, 0, 0, 0.2], atol=1e-9)


@pytest.mark.parametrize("name", ["puma560", "nut_arm"])
def test_too_fast_twist_keeps_its_direction(name):
    chain = CHAINS[name]
    q0 = np.array(REGULAR[name])
    twist = np.array([30.0, 20.0, -10.0, 0, 0, 0])
    step = DifferentialIk(chain, acceleration=np.full(chain.n, np.inf)).step(
        q0, np.zeros(chain.n), twist, DT
    )
    assert 0.0 < step.scale < 1.0 and step.limiting_joints
    assert np.allclose(step.twist[:3], step.scale * twist[:3], atol=1e-9)
    assert np.abs(step.rates / chain.velocity).max() == pytest.approx(1.0)


def test_limit_is_approached_smoothly_and_named():
    chain = CHAINS["nut_arm"]
    rows = list(
        run(chain, DifferentialIk(chain), chain.middle + 0.1, [[0, 0, 0, 0, 0, 3.0]] * 80, "tool")
    )
    q, step = rows[-1]
    assert q[3] == pytest.approx(chain.upper[3], abs=1e-3)
    assert step.limiting_joints == ("wrist_roll",) and step.scale < 0.05
    assert np.allclose(step.twist[:3], 0.0, atol=1e-9)


def test_redundant_joint_at_its_limit_does_not_stop_the_arm():
    joints = [ChainJoint(f"j{i}", False, -2.0, 0.8, 2.0, 8.0) for i in range(4)]
    chain = Chain(*dh_parts([0.2] * 4, [0.0] * 4, [0.0] * 4), joints)
    q = np.array([0.4, -0.6, 0.5, chain.upper[3]])
    *_, (q, step) = run(
        chain, DifferentialIk(chain, "position"), q, [[-0.03, 0.02, 0, 0, 0, 0]] * 5
    )
    assert np.allclose(step.twist[:2], [-0.03, 0.02], atol=1e-9)
    assert q[3] <= chain.upper[3]


@settings(max_examples=80, deadline=None)
@given(
    st.floats(-1.0, 1.0),
    st.floats(-2.0, 2.0),
    st.floats(0.01, 50.0),
    st.floats(1e-3, 0.1),
    st.lists(st.floats(0.0, 1.0), min_size=60, max_size=60),
)
def test_rate_bounds_stay_satisfiable(q, rate, acceleration, dt, choices):
    """Any choice between the bounds leaves feasible next bounds and keeps the limits."""
    limits = RateLimits(*(np.array([x]) for x in (-1.0, 1.0, 2.0, acceleration)))
    position, speed = np.array([q]), np.array([0.0])
    for choice in choices:
        bounds = rate_bounds(limits, position, speed, dt)
        assert bounds.lower <= bounds.upper
        chosen = bounds.lower + choice * (bounds.upper - bounds.lower)
        assert np.abs(chosen - speed) <= acceleration * dt * (1 + 1e-6) + 1e-12
        position, speed = position + chosen * dt, chosen
        assert -1.0 - 1e-9 <= position <= 1.0 + 1e-9
    too_fast = rate_bounds(limits, np.array([q]), np.array([10.0 * rate]), dt)
    assert q + too_fast.upper * dt <= 1.0 + 1e-9 and q + too_fast.lower * dt >= -1.0 - 1e-9


def test_joint_outside_its_limits_may_only_return():
    chain = CHAINS["nut_arm"]
    q = np.array([0.0, 0.2, 0.3, chain.upper[3] + 0.1])
    jog, rest = DifferentialIk(chain), np.zeros(4)
    assert jog.step(q, rest, [0, 0, 0, 0, 0, 1.0], DT, "tool").rates[3] == 0.0
    assert jog.step(q, rest, [0, 0, 0, 0, 0, -1.0], DT, "tool").rates[3] < 0.0


BAD = {
    "q": (dict(q=[0.0] * 3), "q: expected 4"),
    "nan": (dict(twist=[math.nan] * 6), "twist: expected 6 finite"),
    "rates": (dict(rates=[math.inf] * 4), "rates: expected 4 finite"),
    "dt": (dict(dt=0.0), "dt is 0.0"),
    "axes": (dict(axes="hand"), "axes is 'hand'"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_arguments_are_rejected(case):
    arguments, message = BAD[case]
    good = {"q": [0.0] * 4, "rates": [0.0] * 4, "twist": [0.0] * 6, "dt": DT}
    with pytest.raises(KinematicsError, match=message):
        DifferentialIk(CHAINS["nut_arm"]).step(**{**good, **arguments})
    with pytest.raises(KinematicsError, match="mode is 'fast'"):
        DifferentialIk(CHAINS["nut_arm"], "fast")
    with pytest.raises(KinematicsError, match="velocity"):
        DifferentialIk(CHAINS["nut_arm"], velocity=[1.0, 1.0, 0.0, 1.0])
