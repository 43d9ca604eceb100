# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Closed forms of every family, in any pose and from either end: exactly the solutions."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from arm_common.transforms import inverse, pose, so3_exp
from arm_kinematics.ik.closed_form import recognise
from arm_kinematics.ik.general_6r import General6R
from arm_kinematics.model.lie import adjoint
from arm_testing.arms.chains import dh_parts, in_limits, posture
from arm_testing.arms.header_functions import HeaderFunctions
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import load_robot
from arm_kinematics import Chain, ChainJoint

FUNCTIONS = HeaderFunctions(Path(__file__).parents[2])

H = math.pi / 2


class Arm(NamedTuple):
    """A standard DH table [m, rad], its prismatic joints, and its largest number of solutions."""

    a: tuple[float, ...]
    d: tuple[float, ...]
    alpha: tuple[float, ...]
    theta: tuple[float, ...] = ()
    slides: tuple[int, ...] = ()
    most: int = 8

    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        return dh_parts(self.a, self.d, self.alpha, self.theta, self.slides)


PUMA = Arm((0, 0.4318, 0.0203, 0, 0, 0), (0, 0, 0.15005, 0.4318, 0, 0.1), (H, 0, -H, H, -H, 0))
UR5 = Arm(
    (0, -0.425, -0.39225, 0, 0, 0),
    (0.089159, 0, 0, 0.10915, 0.09465, 0.0823),
    (H, 0, 0, H, -H, 0),
)
JAW = Arm(  # three parallel axes, and behind them two that do not meet
    (0.04, 0.11, 0.13, 0.06, 0.03, 0.08), (0.06, 0, 0.01, -0.02, 0.1, 0.02), (H, 0, 0, H, -1.2, 0)
)
SKEW = Arm((0.1, 0.3, 0.2, 0, 0, 0), (0.4, 0.2, 0.5, 0.1, 0, 0.1), (0.5, -1.1, 0.4, H, -H, 0))
SKEW_5 = Arm((0.2, 0.4, 0, 0, 0), (0.3, 0.1, 0.4, 0, 0.1), (1.1, 0.7, H, -H, 0), most=4)
SCARA = Arm((0.3, 0.25, 0, 0), (0.3, 0, 0.1, 0.05), (0, math.pi, 0, 0), slides=(2,), most=2)
ARMS = {
    "ur5": UR5,
    "puma": PUMA,
    "shoulder offset": Arm(
        (0.35, 1.15, 0.041, 0, 0, 0),
        (0.675, 0, 0, 1.2, 0, 0.215),
        (-H, 0, -H, H, -H, 0),
        (0, 0, -H, 0, 0, 0),
    ),
    "skew shoulder": Arm(
        (0.2, 0.4, 0.15, 0, 0, 0.1), (0.3, 0.1, 0.2, 0.4, 0, 0.1), (1.1, 0.7, -1.2, 1.2, -1.0, 0.3)
    ),
    "stanford": Arm(
        (0, 0, 0, 0, 0, 0),
        (0.412, 0.154, 0.5, 0, 0, 0.263),
        (-H, H, 0, -H, H, 0),
        (0, 0, -H, 0, 0, 0),
        (2,),
    ),
    "slide, two skew turns": SKEW._replace(slides=(0,)),
    "slide between skew turns": SKEW._replace(slides=(1,)),
    "two skew turns, slide": SKEW._replace(slides=(2,)),
    "gantry": Arm(
        (0, 0, 0, 0, 0, 0),
        (0, 0.1, 0, 0.4, 0, 0.1),
        (H, H, 0, H, -H, 0),
        (0, H, 0, 0, 0, 0),
        (0, 1, 2),
        2,
    ),
    "cylindrical": Arm(
        (0, 0, 0, 0, 0, 0),
        (0.4, 0.2, 0.5, 0.1, 0, 0.1),
        (0, -H, 0, H, -H, 0),
        slides=(1, 2),
        most=4,
    ),
    "five joints": Arm(
        (0, 0.2, 0.2, 0.02, 0), (0.1, 0, 0, 0, 0.1), (H, 0, 0, H, 0), (0, 0, 0, H, 0), most=4
    ),
    "jaw": JAW,
    "jaw on a rail": JAW._replace(alpha=(0.7, 0, 0, H, -1.2, 0), slides=(0,), most=4),
    "two pitches, two turns apart": Arm(
        (0.03, 0.2, 0.05, 0.06, 0.1), (0.1, 0, 0.02, 0.1, 0.03), (H, 0, 1.1, -1.2, 0), most=1
    ),
    "two skew turns, wrist": SKEW_5,
    "rail, skew turn, wrist": SKEW_5._replace(slides=(0,)),
    "turn, skew slide, wrist": SKEW_5._replace(slides=(1,)),
    "nut_arm": Arm((0, 0.105, 0, 0), (0.08, 0, 0, 0.16), (-H, 0, -H, 0), (0, -H, 0, 0), most=2),
    "three pitches": Arm((0, 0.2, 0.2, 0.1), (0.1, 0, 0, 0), (H, 0, 0, 0), most=2),
    "scara": SCARA,
    "scara, slide last": SCARA._replace(slides=(3,)),
    "anthropomorphic": Arm((0, 0.5, 0.4), (0.1, 0, 0), (H, 0, 0), most=1),
    "rrp": Arm((0, 0, 0), (0.2, 0.1, 0.3), (-H, H, 0), slides=(2,), most=1),
    "planar2": Arm((1, 0.7), (0, 0), (0, 0), most=1),
    "planar3": Arm((1, 0.7, 0.3), (0, 0, 0), (0, 0, 0), most=2),
    "pan and tilt": Arm((0, 0.2), (0.1, 0), (H, 0), most=1),
    "one slide": Arm((0,), (0.1,), (0,), slides=(0,), most=1),
}
SHIPPED = (
    "anthropomorphic_arm", "nut_arm", "planar2", "planar3", "puma560", "spherical_arm", "ur5"
)  # fmt: skip


def chain_of(table, S, M, limit=math.pi):
    joints = [
        ChainJoint(
            f"j{i}", i in table.slides, *((-1.0, 1.0) if i in table.slides else (-limit, limit))
        )
        for i in range(len(table.a))
    ]
    return Chain(S, M, joints)


def random_placement(table, rng, backwards=False):
    """Return the chain of a table with a random base and tool, optionally read from its tip."""
    S, M = table.parts()
    if backwards:
        S, M = -(adjoint(inverse(M)) @ S)[:, ::-1], inverse(M)
        table = table._replace(slides=tuple(len(table.a) - 1 - i for i in table.slides))
    base = pose(so3_exp(rng.normal(size=3)), rng.normal(size=3))
    tool = pose(so3_exp(rng.normal(size=3)), 0.2 * rng.normal(size=3))
    S, M = adjoint(base) @ S, base @ M @ tool
    S[:3] -= S[3:] * (S[:3] * S[3:]).sum(axis=0)
    return chain_of(table, S, M)


def apart(chain, a, b):
    """Return the largest difference of two postures, whole turns aside."""
    gap = np.asarray(a) - b
    return np.abs(np.where(chain.prismatic, gap, 2.0 * np.sin(0.5 * gap))).max()


def assert_complete(chain, q, most, **options):
    """Assert that all solutions are exact, inside the limits and distinct, with q among them."""
    T = chain.fk(q)
    result = chain.all_solutions(T, **options)
    assert result.status.name == "SUCCESS", result
    found = [s.q for s in result.solutions]
    assert len(found) <= most
    assert min(apart(chain, q, s) for s in found) < 1e-6, (q, found)
    for i, s in enumerate(found):
        assert np.abs(chain.fk(s) - T).max() < 1e-9 * (1.0 + np.abs(T).max())
        assert in_limits(chain, s)
        assert all(apart(chain, s, other) > 1e-7 for other in found[:i])
    far = [s.distance for s in result.solutions]
    assert far == sorted(far)
    return result


@pytest.mark.parametrize("backwards", [False, True], ids=["from base", "from tip"])
@pytest.mark.parametrize("name", ARMS)
def test_closed_form_finds_exactly_the_solutions(name, backwards, rng):
    chain, most = random_placement(ARMS[name], rng, backwards), ARMS[name].most
    assert recognise(chain.S, chain.M, chain.prismatic) is not None
    counts = set()
    for _ in range(25):
        q = rng.uniform(chain.lower, chain.upper)
        counts.add(len(assert_complete(chain, q, most).solutions))
    assert max(counts) == most or "skew" in name


@pytest.mark.parametrize("d", [(0, 0, 0, 0.1), (0, 0.15, 0, 0.1), (0, 0.15, 0.15, 0.1)])
@pytest.mark.parametrize("alpha", [(H, 0, H, 0), (H, 0, -H, 0)])
def test_last_axis_that_crosses_others_at_zero(alpha, d, rng):
    """It has as many solutions as on a random base, which hides where the axes cross."""
    table = Arm((0, 0, 0, 0), d, alpha, slides=(2,), most=2)
    chain, moved = chain_of(table, *table.parts()), random_placement(table, rng)
    for _ in range(10):
        q = rng.uniform(chain.lower, chain.upper)
        there = assert_complete(moved, q, 2).solutions
        assert len(assert_complete(chain, q, 2).solutions) == len(there)


@pytest.mark.parametrize("backwards", [False, True], ids=["from base", "from tip"])
@pytest.mark.parametrize("name", ARMS)
def test_narrow_limits_leave_out_only_what_is_outside(name, backwards, rng):
    wide = random_placement(ARMS[name], rng, backwards)
    for _ in range(8):
        q = rng.uniform(wide.lower, wide.upper)
        lower, upper = q - rng.uniform(0.1, 2.0, wide.n), q + rng.uniform(0.1, 2.0, wide.n)
        joints = zip(wide.joint_names, wide.prismatic, lower, upper, strict=True)
        narrow, T = Chain(wide.S, wide.M, [ChainJoint(*joint) for joint in joints]), wide.fk(q)
        found = narrow.all_solutions(T, q).every_q
        for s in wide.all_solutions(T, q).every_q:
            turns = np.where(wide.prismatic, 0.0, np.ceil((lower - s) / (2.0 * np.pi)))
            inside = s + 2.0 * np.pi * turns
            if (inside <= upper - 1e-4).all() and (inside >= lower + 1e-4).all():
                assert min(apart(wide, s, other) for other in found) < 1e-6


@pytest.mark.parametrize("name", SHIPPED)
def test_recognition_is_the_same_from_dh_and_urdf(name, rng):
    model = load_robot(name)
    chain = Chain.from_model(model)
    other = Chain.from_urdf(model.to_urdf())
    form = recognise(chain.S, chain.M, chain.prismatic)
    assert form.name == recognise(other.S, other.M, other.prismatic).name
    for _ in range(10):
        q = posture(chain, rng, 4.0)
        first = assert_complete(chain, q, 8)
        second = other.all_solutions(chain.fk(q))
        assert len(first.solutions) == len(second.solutions)
        for a, b in zip(first.solutions, second.solutions, strict=True):
            assert np.abs(a.q - b.q).max() < 1e-6


def test_jaw_of_an_so101_has_the_solutions_of_elimination(rng):
    jaw = Chain.from_urdf(load_robot("so101").to_urdf(), tip="moving_jaw_link")
    joints = [ChainJoint(name, False, -math.pi, math.pi) for name in jaw.joint_names]
    chain, elimination = Chain(jaw.S, jaw.M, joints), General6R(jaw.S, jaw.M)
    assert recognise(chain.S, chain.M, chain.prismatic) is not None
    for _ in range(30):
        q = rng.uniform(chain.lower, chain.upper)
        found = assert_complete(chain, q, 8).every_q
        others = elimination.solve(chain.fk(q))
        assert len(found) == len(others)
        assert max(min(apart(chain, q, other) for q in found) for other in others) < 1e-5


@pytest.mark.parametrize("name", ["jaw", "ur5", "puma", "skew shoulder", "stanford"])
def test_exhaustive_search_finds_no_other_solution(name, rng):
    chain = chain_of(ARMS[name], *ARMS[name].parts())
    for _ in range(4):
        T = chain.fk(rng.uniform(chain.lower, chain.upper))
        found = [s.q for s in chain.all_solutions(T).solutions]
        starts = rng.uniform(chain.lower, chain.upper, size=(60, chain.n))
        for start in starts:
            searched = chain.ik(T, start, position_tolerance=1e-9, orientation_tolerance=1e-9)
            if searched.ok:
                assert min(apart(chain, searched.q, q) for q in found) < 1e-4


@pytest.mark.parametrize("name", ["ur5", "puma", "shoulder offset", "stanford", "jaw"])
def test_rounded_dh_parameters_cost_no_accuracy(name, rng):
    table = ARMS[name]
    rounded = table._replace(
        alpha=tuple(round(x, 4) for x in table.alpha),
        theta=tuple(round(x, 4) for x in table.theta),
    )
    chain = chain_of(table, *rounded.parts())
    assert recognise(chain.S, chain.M, chain.prismatic) is not None
    for _ in range(15):
        assert_complete(chain, rng.uniform(chain.lower, chain.upper), table.most)


@pytest.mark.parametrize("size", [1e-3, 50.0])
@pytest.mark.parametrize("name", ["ur5", "puma", "skew shoulder", "jaw"])
def test_closed_form_is_independent_of_arm_size(name, size, rng):
    a, d, *rest = ARMS[name]
    table = Arm(tuple(size * x for x in a), tuple(size * x for x in d), *rest)
    chain = chain_of(table, *table.parts(), 3.0)
    for _ in range(10):
        assert_complete(chain, rng.uniform(chain.lower, chain.upper), table.most)


def test_arms_without_a_closed_form_are_not_recognised(rng):
    for n in (6, 7):
        parts = dh_parts(*rng.uniform(0.1, 0.5, (2, n)), rng.uniform(0.3, 1.2, n))
        assert recognise(*parts, [False] * n) is None
    parallel = dh_parts([1.0] * 4, [0.0] * 4, [0.0] * 4)  # these have infinitely many solutions
    assert recognise(*parallel, [False] * 4) is None


def test_nearly_special_arm_is_not_recognised():
    bent = UR5._replace(alpha=(H, 1e-3, 0, H, -H, 0))
    assert recognise(*bent.parts(), [False] * 6) is None


numbers = st.floats(-10.0, 10.0)
ANY_Q = -1  # instead of a number of roots
TOUCHES = 1e-7  # as in cpp/closed_form/roots.hpp


def _phi(slides, q):
    """Return the functions through which a joint enters an equation."""
    return (q, q * q) if slides else (math.cos(q), math.sin(q))


@given(numbers, numbers, st.floats(-math.pi, math.pi), st.booleans())
@settings(max_examples=100, deadline=None)
def test_roots_contain_the_joint_of_the_equation(a, b, q, slides):
    if slides:  # for a prismatic joint the square has coefficient 1 or 0
        b = float(b > 0.0)
    f, g = _phi(slides, q)
    size = 1.0 + abs(a) + abs(b)
    found, *values = FUNCTIONS.roots(slides, a, b, a * f + b * g, size)
    if found == ANY_Q:
        assert abs(a) + abs(b) < 1e-9 * size
        return
    near = [abs(v - q) if slides else abs(2.0 * math.sin(0.5 * (v - q))) for v in values[:found]]
    residuals = []
    for v in values[:found]:
        f_, g_ = _phi(slides, v)
        residuals.append(abs(a * (f_ - f) + b * (g_ - g)) / (size * (1.0 + abs(v)) ** 2))
    assert max(residuals) < 1e-9
    assert min(near) < 1e-3 or min(residuals) < 1e-15


def test_roots_are_none_beyond_reach_and_one_at_its_edge():
    assert FUNCTIONS.roots(False, 3.0, 4.0, 5.1, 5.0)[0] == 0
    found, q, _ = FUNCTIONS.roots(False, 3.0, 4.0, 5.0 + 1e-14, 5.0)
    assert found == 1 and math.isclose(q, math.atan2(4.0, 3.0), abs_tol=1e-9)
    assert FUNCTIONS.roots(True, 1.0, 1.0, -1.0, 1.0)[0] == 0
    assert FUNCTIONS.roots(False, 0.0, 0.0, 0.0, 1.0)[0] == ANY_Q
    assert FUNCTIONS.roots(False, 0.0, 0.0, 1.0, 1.0)[0] == 0


@given(st.lists(st.floats(-3.0, 3.0), min_size=0, max_size=4), st.floats(0.1, 5.0))
@settings(max_examples=100, deadline=None)
def test_real_roots_are_those_of_the_polynomial(real, scale):
    real = sorted(round(x, 2) for x in real)
    pairs = [complex(0.3, 1.0)] * ((4 - len(real)) // 2)
    p = np.real(np.poly([*real, *pairs, *np.conj(pairs)]))[::-1] * scale
    coefficients = np.zeros(5)
    coefficients[: len(p)] = p
    found = FUNCTIONS.real_roots(coefficients)
    for x in real:
        multiple = real.count(x) > 1
        assert np.abs(found - x).min() < (2e-3 if multiple else 1e-5)
    for x in found:
        size = np.polyval(np.abs(p[::-1]), abs(x))  # extrema this close to 0 are double roots
        assert np.abs(np.polyval(p[::-1], x)) <= 1.01 * TOUCHES * size
