# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The inverse as formulas: evaluated, they give exactly the branches of the solver."""

import math
from typing import NamedTuple

import numpy as np
import pytest
import sympy as sp
from arm_studio.closed_form.formulas import InverseStep, NoFormulasError, PlusMinus, signed
from arm_studio.derivation.inverse import ArmInverse, closed_form_of
from arm_studio.derivation.notation import latex, mathml

from arm_description import load_robot, parse_robot, shipped_robots
from arm_kinematics import Chain

H = math.pi / 2
CLOSED = (
    "anthropomorphic_arm", "braccio", "five_axis", "learm", "nut_arm", "planar2", "planar3",
    "puma560", "puma560_gripper", "scara", "so101", "spherical_arm", "stanford_arm",
    "universal_arm", "ur5",
)  # fmt: skip
REGULAR = 1e-3  # smallest ratio of singular values
LONGEST = 60  # operations of a formula: about two lines


class Table(NamedTuple):
    """The rows of a standard table [m, rad]; joints that slide, from 0."""

    a: tuple[float, ...]
    d: tuple[float, ...]
    alpha: tuple[float, ...]
    theta: tuple[float, ...] = ()
    slides: tuple[int, ...] = ()


WRIST = (H, -H, 0)
SKEW = Table((0.1, 0.3, 0.2, 0, 0, 0), (0.4, 0.2, 0.5, 0.1, 0, 0.1), (0.5, -1.1, 0.4, *WRIST))
SKEW_5 = Table((0.2, 0.4, 0, 0, 0), (0.3, 0.1, 0.4, 0, 0.1), (1.1, 0.7, *WRIST))
JAW = Table(
    (0.04, 0.11, 0.13, 0.06, 0.03, 0.08), (0.06, 0, 0.01, -0.02, 0.1, 0.02), (H, 0, 0, H, -1.2, 0)
)
FAMILIES = {
    "elbow, wrist": Table(
        (0, 0.43, 0.02, 0, 0, 0), (0, 0, 0.15, 0.43, 0, 0.1), (H, 0, -H, *WRIST)
    ),
    "axes 2 and 3 meet": Table(
        (0.2, 0, 0.3, 0, 0, 0), (0.4, 0.1, 0.2, 0.1, 0, 0), (1, 0.8, 0.6, *WRIST)
    ),
    "axes 1 and 2 meet": Table(
        (0, 0.3, 0.2, 0, 0, 0), (0.4, 0.1, 0.2, 0.1, 0, 0), (1, 0.8, 0.6, *WRIST)
    ),
    "general shoulder and wrist": Table(
        (0.2, 0.4, 0.15, 0, 0, 0.1), (0.3, 0.1, 0.2, 0.4, 0, 0.1), (1.1, 0.7, -1.2, 1.2, -1.0, 0.3)
    ),
    "turn, turn, slide": Table(
        (0,) * 6, (0.4, 0.15, 0.5, 0, 0, 0.26), (-H, H, 0, -H, H, 0), (), (2,)
    ),
    "slide, skew turns": SKEW._replace(slides=(0,)),
    "slide between skew turns": SKEW._replace(slides=(1,)),
    "skew turns, slide": SKEW._replace(slides=(2,)),
    "gantry": Table(
        (0,) * 6, (0, 0.1, 0, 0.4, 0, 0.1), (H, H, 0, *WRIST), (0, H, 0, 0, 0, 0), (0, 1, 2)
    ),
    "cylindrical": Table((0,) * 6, (0.4, 0.2, 0.5, 0.1, 0, 0.1), (0, -H, 0, *WRIST), (), (1, 2)),
    "two turns, wrist": SKEW_5,
    "slide, turn, wrist": SKEW_5._replace(slides=(0,)),
    "turn, slide, wrist": SKEW_5._replace(slides=(1,)),
    "three parallel": Table(
        (0, -0.43, -0.39, 0, 0, 0), (0.09, 0, 0, 0.11, 0.09, 0.08), (H, 0, 0, *WRIST)
    ),
    "three parallel, turned over": Table(
        (0, 0.43, 0.39, 0, 0, 0), (0.09, 0, 0, 0.11, 0.09, 0.08), (H, math.pi, 0, *WRIST)
    ),
    "jaw": JAW,
    "jaw on a rail": JAW._replace(alpha=(0.7, 0, 0, H, -1.2, 0), slides=(0,)),
    "two parallel, two turns": Table(
        (0.03, 0.2, 0.05, 0.06, 0.1), (0.1, 0, 0.02, 0.1, 0.03), (H, 0, 1.1, -1.2, 0)
    ),
    "five joints": Table((0, 0.2, 0.2, 0.02, 0), (0.1, 0, 0, 0, 0.1), (H, 0, 0, H, 0)),
    "yaw, two pitches, roll": Table(
        (0, 0.1, 0, 0), (0.08, 0, 0, 0.16), (-H, 0, -H, 0), (0, -H, 0, 0)
    ),
    "three pitches": Table((0, 0.2, 0.2, 0.1), (0.1, 0, 0, 0), (H, 0, 0, 0)),
    "scara": Table((0.3, 0.25, 0, 0), (0.3, 0, 0.1, 0.05), (0, math.pi, 0, 0), (), (2,)),
    "scara, slide last": Table(
        (0.3, 0.25, 0, 0), (0.3, 0, 0.1, 0.05), (0, math.pi, 0, 0), (), (3,)
    ),
    "three turns": Table((0, 0.5, 0.4), (0.1, 0, 0), (H, 0, 0)),
    "two turns, slide": Table((0, 0, 0), (0.2, 0.1, 0.3), (-H, H, 0), (), (2,)),
    "planar": Table((1, 0.7), (0, 0), (0, 0)),
    "planar pose": Table((1, 0.7, 0.3), (0, 0, 0), (0, 0, 0)),
    "pan and tilt": Table((0, 0.2), (0.1, 0), (H, 0)),
    "one slide": Table((0,), (0.1,), (0,), (), (0,)),
}
PLACINGS = {
    "as it is": (False, False),
    "moved, with offsets": (True, False),
    "from its tip": (False, True),
    "from its tip, moved, with offsets": (True, True),
}


def robot(table, rng, moved=False, backwards=False):
    """Return the arm of a table: with a base, a tool and offsets; read from its tip."""
    n = len(table.a)
    slides = [i in table.slides for i in range(n)]
    theta = np.array(table.theta or (0.0,) * n)
    if moved:
        theta = theta + np.where(slides, 0.0, rng.uniform(-1.0, 1.0, n))
    rows = [*zip(theta, table.d, table.a, table.alpha, slides, strict=True)]
    if backwards:  # the inverse of a standard table is a modified one
        rows = [(-t, -d, -a, -alpha, s) for t, d, a, alpha, s in reversed(rows)]
    lines = ["name: arm", f"convention: {'modified' if backwards else 'standard'}"]
    lines.append("units: {length: m, angle: rad}")
    for end in ("base", "tool") if moved else ():
        xyz, rpy = 0.3 * rng.normal(size=3), rng.normal(size=3)
        lines.append(f"{end}: {{xyz: {xyz.tolist()}, rpy: {rpy.tolist()}}}")
    lines.append("joints:")
    for i, (t, d, a, alpha, is_slide) in enumerate(rows, start=1):
        kind, limit = ("prismatic", 1.0) if is_slide else ("revolute", 3.1)
        lines.append(
            f"  - {{name: j{i}, type: {kind}, theta: {float(t)!r}, d: {float(d)!r}, "
            f"a: {float(a)!r}, alpha: {float(alpha)!r}, "
            f"limits: {{lower: {-limit}, upper: {limit}}}}}"
        )
    return parse_robot("\n".join(lines))


def inverse_of(model):
    """Return the formulas of a model, and its chain."""
    chain = Chain.from_model(model)
    form, mode = closed_form_of(chain)
    assert form is not None, model.name
    return ArmInverse(model, chain, form, mode), chain


def regular_postures(chain, mode, count, rng, or_none=False):
    """Return random postures inside the limits that are not singular."""
    found = []
    for _ in range(50 * count):
        q = rng.uniform(chain.lower, chain.upper)
        J = chain.jacobian(q)
        sizes = np.linalg.svd(J if mode == "pose" else J[:3], compute_uv=False)
        if sizes[-1] > REGULAR * sizes[0]:
            found.append(q)
        if len(found) == count:
            return found
    assert or_none, "too few regular postures"
    return []


def branches(inverse, chain, q):
    """Return the postures that the formulas give for the pose of a posture."""
    return inverse.branches(chain.fk(q)[None], np.asarray(q)[None])[0].postures


def assert_same_branches(inverse, chain, count, rng):
    """Check that formulas and solver give the same postures."""
    postures = np.array(regular_postures(chain, inverse.mode, count, rng))
    poses = np.array([chain.fk(q) for q in postures])
    for q, T, found in zip(postures, poses, inverse.branches(poses, postures), strict=True):
        formulas = [x for x in found.postures if inverse.is_inside(x)]
        solver = chain.all_solutions(T, q, inverse.mode).every_q
        for some, others in ((formulas, solver), (solver, formulas), ([q], formulas)):
            for posture in some:
                assert min(inverse.apart(posture, other) for other in others) < 1e-8


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_every_shipped_arm_with_a_closed_form_is_tested():
    chains = {name: Chain.from_model(load_robot(name)) for name in shipped_robots()}
    assert {name for name, chain in chains.items() if closed_form_of(chain)[0]} == {*CLOSED}


@pytest.mark.parametrize("name", CLOSED)
def test_formulas_of_shipped_arms_give_the_branches_of_the_solver(name, rng):
    inverse, chain = inverse_of(load_robot(name))
    assert inverse.is_exact
    assert_same_branches(inverse, chain, 200, rng)


@pytest.mark.parametrize("family", FAMILIES)
def test_formulas_of_each_family_are_short_and_give_the_branches_of_the_solver(family, rng):
    inverse, chain = inverse_of(robot(FAMILIES[family], rng, moved=True))
    for step in inverse.formulas.steps:
        assert step.expression.count_ops() <= LONGEST, step
        assert "k_" not in step.symbol.name  # no name is taken twice
    assert_same_branches(inverse, chain, 6, rng)


@pytest.mark.thorough
@pytest.mark.parametrize("placing", PLACINGS)
@pytest.mark.parametrize("family", FAMILIES)
def test_formulas_of_each_family_hold_however_it_is_placed(family, placing, rng):
    inverse, chain = inverse_of(robot(FAMILIES[family], rng, *PLACINGS[placing]))
    assert_same_branches(inverse, chain, 200, rng)


@pytest.mark.thorough
def test_formulas_of_random_tables_have_all_solutions_of_the_solver(random_model, rng):
    tested = 0
    for i in range(200):
        model = random_model(rng, ("standard", "modified")[i % 2], 1 + i % 5)
        chain = Chain.from_model(model)
        form, mode = closed_form_of(chain)
        q = regular_postures(chain, mode, 1, rng, or_none=True)
        if form is None or not q:
            continue
        try:
            inverse = ArmInverse(model, chain, form, mode)
        except NoFormulasError:
            continue
        T = chain.fk(q[0])
        found = inverse.branches(T[None], np.array(q))[0].postures
        for posture in (*q, *chain.all_solutions(T, q[0], mode).every_q):
            assert min(inverse.apart(posture, x) for x in found) < 1e-6, model
        tested += 1
    assert tested >= 60


def formula(inverse, name):
    """Return the expression of a symbol without its signs, which are 1."""
    step = next(s for s in inverse.formulas.steps if s.symbol.name == name)
    return signed(step.expression).subs({sign: 1 for sign in step.signs})


def same(a, b):
    return sp.simplify(a - b) == 0


def test_formulas_are_those_of_textbooks():
    planar, _ = inverse_of(load_robot("planar2"))
    l1, l2, x, y, q2 = (sp.Symbol(s, real=True) for s in ("l1", "l2", "p_x", "p_y", "q_2"))
    D = sp.Symbol("D_2", real=True)
    assert same(formula(planar, "D_2"), (x**2 + y**2 - l1**2 - l2**2) / (2 * l1 * l2))
    assert formula(planar, "q_2") == sp.atan2(sp.sqrt(1 - D**2), D)
    inner = sp.atan2(l2 * sp.sin(q2), l1 + l2 * sp.cos(q2))
    assert formula(planar, "q_1") == sp.atan2(y, x) - inner
    puma, _ = inverse_of(load_robot("puma560"))
    d3 = sp.Symbol("d3", real=True)
    root = sp.sqrt(x**2 + y**2 - d3**2)
    assert formula(puma, "q_1") == sp.atan2(y, x) + sp.atan2(d3, root)


@pytest.mark.parametrize(
    ("name", "q"),
    [("puma560", [0.3, 0.7, -0.4, 0.5, 0.0, 0.7]), ("ur5", [0.3, -1.0, 1.2, 0.4, 0.0, 0.7])],
)
def test_free_joints_stay_where_they_are(name, q):
    inverse, chain = inverse_of(load_robot(name))
    found = branches(inverse, chain, q)
    assert min(inverse.apart(q, x) for x in found) < 1e-6


def test_first_joint_below_the_wrist_follows_from_the_direction_of_the_hand():
    inverse, chain = inverse_of(load_robot("nut_arm"))
    q = np.array([0.4, 0.0, 0.3, 0.2])  # upright: the elbow is on the axis of the waist
    found = branches(inverse, chain, q)
    assert min(inverse.apart(q, x) for x in found) < 1e-7


def test_what_is_out_of_reach_has_no_branch():
    inverse, chain = inverse_of(load_robot("puma560"))
    T = chain.fk(np.zeros(6))
    T[0, 3] += 5.0
    assert len(inverse.branches(T[None], np.zeros((1, 6)))[0].postures) == 0


def test_axes_that_are_parallel_up_to_rounding_are_told(rng):
    table = FAMILIES["three parallel, turned over"]
    rounded = table._replace(alpha=tuple(round(x, 4) for x in table.alpha))
    inverse, chain = inverse_of(robot(rounded, rng))
    assert not inverse.is_exact
    for q in regular_postures(chain, "pose", 20, rng):
        assert min(inverse.apart(q, x) for x in branches(inverse, chain, q)) < 0.02


def test_both_signs_are_printed():
    a, b, sign = (sp.Symbol(s, real=True) for s in ("a", "b", "sigma"))
    assert latex(PlusMinus.of(b, sign, a)) == r"a \pm b"
    assert latex(PlusMinus.of(-b, sign)) == r"\mp b"
    assert "\u00b1" in mathml(PlusMinus.of(b, sign, a))
    assert latex(sp.atan2(PlusMinus.of(a + b, sign), b)) == (
        r"\operatorname{atan2}\left(\pm \left(a + b\right), b\right)"
    )


def test_signs_of_a_step_are_in_the_order_of_their_names():
    q, names = sp.Symbol("q"), [f"sigma_{i}" for i in range(1, 9)]
    terms = [PlusMinus.of(q, sp.Symbol(name, real=True)) for name in names]
    step = InverseStep(q, sp.Add(*terms))
    assert [sign.name for sign in step.signs] == names
