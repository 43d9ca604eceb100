# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Closed forms: every family, in any place, from either end; none missed, none false."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arm_common.transforms import inverse, pose, so3_exp
from arm_kinematics.ik.closed_form.recognition import recognise
from arm_kinematics.ik.closed_form.roots import DEGREE, FREE, phi, real_roots, roots, tables
from arm_kinematics.lie import adjoint
from arm_kinematics.model.chain_model import ChainJoint
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_kinematics import Chain

H = math.pi / 2
# Standard DH rows (theta, d, a, alpha) [rad, m]; joints that slide;
# how many solutions there are at most, without limits.
ARMS = {
    "ur5": (
        [
            (0, 0.089159, 0, H),
            (0, 0, -0.425, 0),
            (0, 0, -0.39225, 0),
            (0, 0.10915, 0, H),
            (0, 0.09465, 0, -H),
            (0, 0.0823, 0, 0),
        ],
        (),
        8,
    ),
    "puma": (
        [
            (0, 0, 0, H),
            (0, 0, 0.4318, 0),
            (0, 0.15005, 0.0203, -H),
            (0, 0.4318, 0, H),
            (0, 0, 0, -H),
            (0, 0.1, 0, 0),
        ],
        (),
        8,
    ),
    "shoulder offset": (
        [
            (0, 0.675, 0.35, -H),
            (0, 0, 1.15, 0),
            (-H, 0, 0.041, -H),
            (0, 1.2, 0, H),
            (0, 0, 0, -H),
            (0, 0.215, 0, 0),
        ],
        (),
        8,
    ),
    "skew shoulder": (
        [
            (0, 0.3, 0.2, 1.1),
            (0, 0.1, 0.4, 0.7),
            (0, 0.2, 0.15, -1.2),
            (0, 0.4, 0, 1.2),
            (0, 0, 0, -1.0),
            (0, 0.1, 0.1, 0.3),
        ],
        (),
        8,
    ),
    "stanford": (
        [
            (0, 0.412, 0, -H),
            (0, 0.154, 0, H),
            (-H, 0.5, 0, 0),
            (0, 0, 0, -H),
            (0, 0, 0, H),
            (0, 0.263, 0, 0),
        ],
        (2,),
        8,
    ),
    "slide, two skew turns": (
        [
            (0, 0.4, 0.1, 0.5),
            (0, 0.2, 0.3, -1.1),
            (0, 0.5, 0.2, 0.4),
            (0, 0.1, 0, H),
            (0, 0, 0, -H),
            (0, 0.1, 0, 0),
        ],
        (0,),
        8,
    ),
    "slide between skew turns": (
        [
            (0, 0.4, 0.1, 0.5),
            (0, 0.2, 0.3, -1.1),
            (0, 0.5, 0.2, 0.4),
            (0, 0.1, 0, H),
            (0, 0, 0, -H),
            (0, 0.1, 0, 0),
        ],
        (1,),
        8,
    ),
    "two skew turns, slide": (
        [
            (0, 0.4, 0.1, 0.5),
            (0, 0.2, 0.3, -1.1),
            (0, 0.5, 0.2, 0.4),
            (0, 0.1, 0, H),
            (0, 0, 0, -H),
            (0, 0.1, 0, 0),
        ],
        (2,),
        8,
    ),
    "gantry": (
        [
            (0, 0, 0, H),
            (H, 0.1, 0, H),
            (0, 0, 0, 0),
            (0, 0.4, 0, H),
            (0, 0, 0, -H),
            (0, 0.1, 0, 0),
        ],
        (0, 1, 2),
        2,
    ),
    "cylindrical": (
        [
            (0, 0.4, 0, 0),
            (0, 0.2, 0, -H),
            (0, 0.5, 0, 0),
            (0, 0.1, 0, H),
            (0, 0, 0, -H),
            (0, 0.1, 0, 0),
        ],
        (1, 2),
        4,
    ),
    "five joints": (
        [
            (0, 0.1, 0, H),
            (0, 0, 0.2, 0),
            (0, 0, 0.2, 0),
            (H, 0, 0.02, H),
            (0, 0.1, 0, 0),
        ],
        (),
        4,
    ),
    "two skew turns, wrist": (
        [(0, 0.3, 0.2, 1.1), (0, 0.1, 0.4, 0.7), (0, 0.4, 0, H), (0, 0, 0, -H), (0, 0.1, 0, 0)],
        (),
        4,
    ),
    "rail, skew turn, wrist": (
        [(0, 0.3, 0.2, 1.1), (0, 0.1, 0.4, 0.7), (0, 0.4, 0, H), (0, 0, 0, -H), (0, 0.1, 0, 0)],
        (0,),
        4,
    ),
    "turn, skew slide, wrist": (
        [(0, 0.3, 0.2, 1.1), (0, 0.1, 0.4, 0.7), (0, 0.4, 0, H), (0, 0, 0, -H), (0, 0.1, 0, 0)],
        (1,),
        4,
    ),
    "nut_arm": ([(0, 0.08, 0, -H), (-H, 0, 0.105, 0), (0, 0, 0, -H), (0, 0.16, 0, 0)], (), 2),
    "three pitches": (
        [(0, 0.1, 0, H), (0, 0, 0.2, 0), (0, 0, 0.2, 0), (0, 0, 0.1, 0)],
        (),
        2,
    ),
    "scara": (
        [(0, 0.3, 0.3, 0), (0, 0, 0.25, math.pi), (0, 0.1, 0, 0), (0, 0.05, 0, 0)],
        (2,),
        2,
    ),
    "scara, slide last": (
        [(0, 0.3, 0.3, 0), (0, 0, 0.25, math.pi), (0, 0.1, 0, 0), (0, 0.05, 0, 0)],
        (3,),
        2,
    ),
    "anthropomorphic": ([(0, 0.1, 0, H), (0, 0, 0.5, 0), (0, 0, 0.4, 0)], (), 1),
    "rrp": ([(0, 0.2, 0, -H), (0, 0.1, 0, H), (0, 0.3, 0, 0)], (2,), 1),
    "planar2": ([(0, 0, 1, 0), (0, 0, 0.7, 0)], (), 1),
    "planar3": ([(0, 0, 1, 0), (0, 0, 0.7, 0), (0, 0, 0.3, 0)], (), 2),
    "pan and tilt": ([(0, 0.1, 0, H), (0, 0, 0.2, 0)], (), 1),
    "one slide": ([(0, 0.1, 0, 0)], (0,), 1),
}
SHIPPED = (
    "anthropomorphic_arm",
    "nut_arm",
    "planar2",
    "planar3",
    "puma560",
    "spherical_arm",
    "ur5",
)


def dh_parts(rows, slides=()):
    """Return screws (6, n) and home pose of a standard DH table."""
    T, screws = np.eye(4), []
    for i, (theta, d, a, alpha) in enumerate(rows):
        z = T[:3, 2]
        v = z if i in slides else np.cross(T[:3, 3], z)
        screws.append(np.concatenate([v, np.zeros(3) if i in slides else z]))
        c, s, k, m = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
        T = T @ [[c, -s * k, s * m, a * c], [s, c * k, -c * m, a * s], [0, m, k, d], [0, 0, 0, 1]]
    return np.transpose(screws), T


def some_motion(rng, size=1.0):
    return pose(so3_exp(rng.normal(size=3)), size * rng.normal(size=3))


def arm(name, rng=None, backwards=False, limit=math.pi):
    """Return a chain of the table, put somewhere and with some tool if there is an rng."""
    rows, slides, _ = ARMS[name]
    S, M = dh_parts(rows, slides)
    sliding = [i in slides for i in range(len(rows))]
    if backwards:
        home = inverse(M)
        S, M, sliding = -(adjoint(home) @ S)[:, ::-1], home, sliding[::-1]
    if rng is not None:
        base, tool = some_motion(rng), some_motion(rng, 0.2)
        S, M = adjoint(base) @ S, base @ M @ tool
        S[:3] -= S[3:] * (S[:3] * S[3:]).sum(axis=0)
    joints = [
        ChainJoint(f"j{i}", s, *((-1.0, 1.0) if s else (-limit, limit)))
        for i, s in enumerate(sliding)
    ]
    return Chain(S, M, joints)


def apart(chain, a, b):
    """Return the largest difference of two postures, whole turns aside."""
    gap = np.asarray(a) - b
    return np.abs(np.where(chain.prismatic, gap, 2.0 * np.sin(0.5 * gap))).max()


def assert_complete(chain, q, most, **asked):
    """Assert the laws of one target: all exact, inside the limits, different, q among them."""
    T = chain.fk(q)
    result = chain.all_solutions(T, **asked)
    assert result.status.name == "SUCCESS", result
    found = [s.q for s in result.solutions]
    assert len(found) <= most
    assert min(apart(chain, q, s) for s in found) < 1e-6, (q, found)
    for i, s in enumerate(found):
        assert np.abs(chain.fk(s) - T).max() < 1e-9 * (1.0 + np.abs(T).max())
        assert (chain.lower <= s).all() and (s <= chain.upper).all()
        assert all(apart(chain, s, other) > 1e-7 for other in found[:i])
    far = [s.distance for s in result.solutions]
    assert far == sorted(far)
    return result


@pytest.mark.parametrize("backwards", [False, True], ids=["from base", "from tip"])
@pytest.mark.parametrize("name", ARMS)
def test_no_solution_is_missed_and_none_is_false(name, backwards, rng):
    chain, most = arm(name, rng, backwards), ARMS[name][2]
    assert recognise(chain.S, chain.M, chain.prismatic) is not None
    counts = set()
    for _ in range(25):
        q = rng.uniform(chain.lower, chain.upper)
        counts.add(len(assert_complete(chain, q, most).solutions))
    assert max(counts) == most or "skew" in name


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_robots_are_recognised_from_dh_and_from_urdf_alike(name, rng):
    from arm_description import load_robot

    model = load_robot(name)
    chain = Chain.from_model(model)
    other = Chain.from_urdf(model.to_urdf())
    form = recognise(chain.S, chain.M, chain.prismatic)
    assert form.name == recognise(other.S, other.M, other.prismatic).name
    for _ in range(10):
        q = rng.uniform(np.maximum(chain.lower, -4.0), np.minimum(chain.upper, 4.0))
        first = assert_complete(chain, q, 8)
        second = other.all_solutions(chain.fk(q))
        assert len(first.solutions) == len(second.solutions)
        for a, b in zip(first.solutions, second.solutions, strict=True):
            assert np.abs(a.q - b.q).max() < 1e-6


@pytest.mark.parametrize("name", ["ur5", "puma", "skew shoulder", "stanford", "five joints"])
def test_an_exhaustive_search_finds_no_other_solution(name, rng):
    chain = arm(name)
    for _ in range(4):
        T = chain.fk(rng.uniform(chain.lower, chain.upper))
        found = [s.q for s in chain.all_solutions(T).solutions]
        starts = rng.uniform(chain.lower, chain.upper, size=(60, chain.n))
        for start in starts:
            searched = chain.ik(T, start, position_tolerance=1e-9, orientation_tolerance=1e-9)
            if searched.ok:
                assert min(apart(chain, searched.q, q) for q in found) < 1e-4


@pytest.mark.parametrize("name", ["ur5", "puma", "shoulder offset", "stanford", "five joints"])
def test_numbers_rounded_in_a_file_cost_no_accuracy(name, rng):
    rows, slides, most = ARMS[name]
    rounded = [(round(t, 4), d, a, round(alpha, 4)) for t, d, a, alpha in rows]
    S, M = dh_parts(rounded, slides)
    exact = arm(name)
    joints = [
        ChainJoint(j, s, lower, upper)
        for j, s, lower, upper in zip(
            exact.joint_names, exact.prismatic, exact.lower, exact.upper, strict=True
        )
    ]
    chain = Chain(S, M, joints)
    assert recognise(chain.S, chain.M, chain.prismatic) is not None
    for _ in range(15):
        assert_complete(chain, rng.uniform(chain.lower, chain.upper), most)


@pytest.mark.parametrize("size", [1e-3, 50.0])
@pytest.mark.parametrize("name", ["ur5", "puma", "skew shoulder"])
def test_arms_of_any_size(name, size, rng):
    rows, slides, most = ARMS[name]
    S, M = dh_parts([(t, size * d, size * a, alpha) for t, d, a, alpha in rows], slides)
    chain = Chain(S, M, [ChainJoint(f"j{i}", False, -3.0, 3.0) for i in range(len(rows))])
    for _ in range(10):
        assert_complete(chain, rng.uniform(chain.lower, chain.upper), most)


def test_what_has_no_closed_form_is_not_taken_for_one(rng):
    for n in (6, 7):
        rows = [(0, *rng.uniform(0.1, 0.5, 2), rng.uniform(0.3, 1.2)) for _ in range(n)]
        S, M = dh_parts(rows)
        assert recognise(S, M, [False] * n) is None
    S, M = dh_parts([(0, 0, 1, 0)] * 4)  # four parallel axes have infinitely many solutions
    assert recognise(S, M, [False] * 4) is None


def test_a_nearly_special_arm_is_no_special_one():
    rows, slides, _ = ARMS["ur5"]
    bent = [(t, d, a, alpha + 1e-3 * (i == 1)) for i, (t, d, a, alpha) in enumerate(rows)]
    S, M = dh_parts(bent, slides)
    assert recognise(S, M, [False] * 6) is None


numbers = st.floats(-10.0, 10.0)


@given(numbers, numbers, st.floats(-math.pi, math.pi), st.booleans())
@settings(max_examples=100, deadline=None)
def test_an_equation_in_one_joint_gives_back_its_root(a, b, q, slides):
    if slides:  # of a sliding joint, the square comes with 1 or not at all
        b = float(b > 0.0)
    f, g = phi(slides, q)
    size = 1.0 + abs(a) + abs(b)
    found, *values = roots(slides, a, b, a * f + b * g, size)
    if found == FREE:
        assert abs(a) + abs(b) < 1e-9 * size
        return
    near = [abs(v - q) if slides else abs(2.0 * math.sin(0.5 * (v - q))) for v in values[:found]]
    residuals = []
    for v in values[:found]:
        f_, g_ = phi(slides, v)
        residuals.append(abs(a * (f_ - f) + b * (g_ - g)) / (size * (1.0 + abs(v)) ** 2))
    assert max(residuals) < 1e-9
    assert min(near) < 1e-3 or min(residuals) < 1e-15


def test_an_equation_beyond_reach_has_no_root_and_at_its_edge_one():
    assert roots(False, 3.0, 4.0, 5.1, 5.0)[0] == 0
    found, q, _ = roots(False, 3.0, 4.0, 5.0 + 1e-14, 5.0)
    assert found == 1 and math.isclose(q, math.atan2(4.0, 3.0), abs_tol=1e-9)
    assert roots(True, 1.0, 1.0, -1.0, 1.0)[0] == 0
    assert roots(False, 0.0, 0.0, 0.0, 1.0)[0] == FREE
    assert roots(False, 0.0, 0.0, 1.0, 1.0)[0] == 0


@given(st.lists(st.floats(-3.0, 3.0), min_size=0, max_size=4), st.floats(0.1, 5.0))
@settings(max_examples=100, deadline=None)
def test_a_polynomial_has_the_roots_that_it_was_made_of(real, scale):
    real = sorted(round(x, 2) for x in real)
    pairs = [complex(0.3, 1.0)] * ((4 - len(real)) // 2)
    p = np.real(np.poly([*real, *pairs, *np.conj(pairs)]))[::-1] * scale
    P, X = tables()
    P[DEGREE, : len(p)] = p
    found = X[DEGREE, : real_roots(P, X)]
    for x in real:
        multiple = real.count(x) > 1
        assert np.abs(found - x).min() < (2e-3 if multiple else 1e-5)
    for x in found:
        assert abs(x - 0.3) < 1e3 and np.abs(np.polyval(p[::-1], x)) < 1e-5 * scale
