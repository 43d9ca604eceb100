# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Singular postures on the page: the law that the conditions are all there is, and their zeros."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import sympy as sp
from arm_studio.commands import explain
from arm_studio.derivation.document import DerivationPage
from arm_studio.derivation.singularities import (
    SINGULAR,
    SingularPostures,
    TaskJacobian,
    ToolTask,
    conditions_of,
    roots_within,
    tasks_of,
)
from arm_studio.symbolic.arm import SymbolicArm
from arm_studio.symbolic.singularities import LONGEST
from arm_testing.arms.samples import sampled

from arm_description import load_robot, parse_robot, shipped_robots
from arm_kinematics import Chain

UNRESOLVED = {"rediestro", "panda"}  # their pages say so
KINDS = ("wrist", "parallel", "slides", "square", "general")
STARTS = 10


def random_arm(seed: int):
    """Return an arm with the structure of its kind, whose joints can move independently.

    Seeds 0 to 4 are one of each kind.
    """
    rng = np.random.default_rng(seed)
    while True:
        model = _drawn(KINDS[seed % len(KINDS)], seed, rng)
        J = Chain.from_model(model).jacobian(rng.uniform(-1.0, 1.0, model.n))
        if np.linalg.matrix_rank(J, 1e-6) == model.n:
            return model


def _drawn(kind: str, seed: int, rng):
    n = {"wrist": 6, "parallel": 6, "general": 3}.get(kind, int(rng.integers(3, 7)))
    alpha = rng.choice([-90, 0, 90, 90, -90, 180], n).astype(float)
    a, d = np.round(rng.uniform(0.05, 0.5, (2, n)), 3) * (rng.random((2, n)) < 0.5)
    slides = np.full(n, False)
    if kind == "wrist":
        alpha[3:] = -90, 90, 0
        a[3:], d[4:] = 0.0, (0.0, d[5])
        slides[:3] = rng.random(3) < 0.2
    elif kind == "parallel":
        alpha[:] = 90, 0, 0, 90, -90, 0
        a[1:3] = np.round(rng.uniform(0.1, 0.5, 2), 3)
        a[4:] = 0.0
    elif kind == "slides":
        slides = rng.random(n) < 0.4
    elif kind == "general":
        alpha = np.round(rng.uniform(-180.0, 180.0, n), 1)
    rows = [
        f"  - {{name: j{i}, type: {'prismatic' if slides[i] else 'revolute'}, theta: 0, "
        f"d: {d[i]}, a: {a[i]}, alpha: {alpha[i]}, limits: {{lower: "
        + ("-1, upper: 1}}" if slides[i] else "-180, upper: 180}}")
        for i in range(n)
    ]
    head = f"name: arm{seed}\nconvention: standard\nunits: {{length: m, angle: deg}}\njoints:\n"
    return parse_robot(head + "\n".join(rows) + "\n")


class Postures:
    """Singular postures that are found from the numbers of the Jacobian alone."""

    def __init__(self, chain: Chain, task: ToolTask, rank: int) -> None:
        self.jacobian, self.rank = TaskJacobian(chain, task), rank
        self.range = np.where(chain.sliding, chain.length, math.pi)

    def smallest(self, q):
        """Return the singular value that is 0 where the rank is less, and its gradient (n,)."""
        U, sizes, Vt = np.linalg.svd(self.jacobian.at(q))
        u, v, h = U[:, self.rank - 1], Vt[self.rank - 1], 1e-6
        steps = h * np.eye(len(q))
        change = [self.jacobian.at(q + s) - self.jacobian.at(q - s) for s in steps]
        return sizes[self.rank - 1], np.array([u @ dJ @ v for dJ in change]) / (2.0 * h)

    def found(self, rng, starts: int):
        """Minimise it by Polyak's steps from random postures, and return those with 0."""
        for _ in range(starts):
            q = rng.uniform(-self.range, self.range)
            for _ in range(150):
                size, slope = self.smallest(q)
                if size < 1e-13 or slope @ slope < 1e-20:
                    break
                step = slope * size / (slope @ slope)
                q = q - step * min(1.0, 0.7 / np.linalg.norm(step))
            if self.jacobian.ratio(q, self.rank) < SINGULAR:
                yield q


def check_law(model, rng) -> tuple[int, int]:
    """Check both directions of the law; return numbers of postures that were compared."""
    arm, chain = SymbolicArm(model), Chain.from_model(model)
    symbols, compared = list(arm.joints.values()), [0, 0]
    for task in tasks_of(arm, chain):
        loss = conditions_of(arm, task)
        if loss is None or not loss.complete:
            continue
        for factor in (f for condition in loss.conditions for f in condition):
            assert len(sp.Add.make_args(factor)) <= LONGEST
        conditions = [
            sp.lambdify(symbols, arm.numbers(sp.Matrix(condition)), cse=True)
            for condition in (*loss.conditions, *loss.long)
        ]
        postures = Postures(chain, task, loss.rank)
        for q in postures.found(rng, STARTS):
            sizes = [np.abs(np.array(f(*q), dtype=float)).max() for f in conditions]
            assert min(sizes, default=1.0) < 1e-5, (model.name, task, q, loss.conditions)
            compared[0] += 1
        for f in conditions:
            for q in zeros(f, rng, postures.range):
                assert postures.jacobian.ratio(q, loss.rank) < 1e-7, (model.name, q)
                compared[1] += 1
    return compared[0], compared[1]


def zeros(f, rng, size, count: int = 3):
    """Yield points where all entries of a function are 0, by Newton's method."""
    for _ in range(40):
        q = rng.uniform(-size, size)
        for _ in range(60):
            value = np.array(f(*q), dtype=float)[:, 0]
            if np.abs(value).max() < 1e-13:
                count -= 1
                yield q
                break
            h = 1e-7 * np.eye(len(q))
            J = [np.array(f(*(q + s)), float) - np.array(f(*(q - s)), float) for s in h]
            J = np.transpose(np.array(J)[:, :, 0]) / 2e-7
            q = q - np.clip(np.linalg.lstsq(J, value, rcond=1e-8)[0], -1.0, 1.0)
        if count == 0:
            return


@pytest.mark.parametrize(
    "name",
    sampled(sorted(set(shipped_robots()) - UNRESOLVED), "stanford_arm", "nut_arm", "mearm"),
)
def test_conditions_hold_at_singular_postures_and_only_there(name, rng):
    found, checked = check_law(load_robot(name), rng)
    assert found >= 5 and checked >= 3  # nothing is skipped


@pytest.mark.parametrize("first", sampled(range(0, 50, 5), 0))
def test_conditions_of_random_arms(first, rng):
    """Of five arms, one of each kind, at least four have short conditions."""
    counts = [check_law(random_arm(seed), rng) for seed in range(first, first + 5)]
    assert sum(found > 0 for found, _ in counts) >= 3
    assert sum(checked > 0 for _, checked in counts) >= 3


def test_factor_of_five_joints_is_combined_with_that_of_another_minor():
    loss = conditions_of(SymbolicArm(random_arm(138)), ToolTask.POSE)
    assert loss is not None and loss.complete
    assert {"cos(q_3)", "a_3*cos(q_4) + a_4 - d_3*sin(q_4)"} in [
        set(map(str, condition)) for condition in loss.conditions
    ]


@pytest.mark.parametrize(
    ("text", "roots"),
    [
        ("sin(q)", [-180, 0, 180]),
        ("1 - cos(q)", [0]),
        ("1 + cos(q)", [-180, 180]),
        ("203*sin(q) + 4318*cos(q)", [-87.308364, 92.691636]),
        ("cos(q)**2*(sin(q) - 1/2)", [-90, 30, 90, 150]),
        ("cos(q) + 2", []),
        ("q - 1/3", [math.degrees(1 / 3)]),
    ],
)
def test_roots_are_exact_also_where_the_sign_stays(text, roots):
    q = sp.Symbol("q", real=True)
    found = roots_within(sp.sympify(text, {"q": q}), q, -math.pi, math.pi)
    np.testing.assert_allclose(np.degrees(found), roots, atol=1e-4)
    f = sp.lambdify(q, sp.sympify(text, {"q": q}))
    assert all(abs(f(x)) < 1e-9 for x in found)


def singular_part(name, tmp_path) -> str:
    """Return what a page says about singular postures."""
    page = tmp_path / "page.md"
    assert explain.main([name, "-o", str(page)]) == 0
    return page.read_text().split("## Singular postures")[1].split("## Example")[0]


def test_page_of_a_prismatic_arm_has_the_zero_of_the_slide(tmp_path):
    text = singular_part("spherical_arm", tmp_path)
    assert "q_{3} = 0" in text and "s_{2} = 0" in text
    assert "slide has no such position within its limits, 0.25 to 0.55 m." in text
    assert "tilt = 0 deg" in text and "tool's position" in text


def test_zero_inside_a_conjunction_is_compared_with_the_jacobian(tmp_path):
    pose = singular_part("nut_arm", tmp_path).split("(all six rows")[1]
    assert "these are 0 together" in pose and "shoulder = 0 deg" in pose
    ratio = re.search(r"is at most (\S+) of the largest", pose)
    assert ratio and float(ratio[1]) < SINGULAR


def test_tasks_share_the_time(tmp_path):
    model, given = load_robot("nut_arm"), []
    page = DerivationPage(tmp_path / "page.md")
    arm = SymbolicArm(model)
    SingularPostures(page, model, arm, 8.0, lambda *of: given.append(of[1:])).write()
    assert [task for task, _ in given] == list(ToolTask)
    assert given[0][1] <= 4.0 and given[1][1] <= 8.0


def test_page_of_a_general_arm_says_that_nothing_factors(tmp_path):
    page = tmp_path / "page.md"
    assert explain.main(["raghavan_roth", "--seconds", "0.2", "-o", str(page)]) == 0
    text = page.read_text()
    assert "does not factor into conditions of at most 12 terms" in text
    assert "A numerical search found these singular postures" in text


def test_limits_beyond_half_a_turn_are_explained(tmp_path):
    """The range of no turn reaches the half turn around 0, in which others are sampled."""
    limits = "limits: {lower: 190, upper: 350}"
    rows = [
        f"  - {{name: j{i}, type: revolute, theta: 0, d: 0, a: 1, alpha: 0, {limits}}}\n"
        for i in "12"
    ]
    file, page = tmp_path / "far.yaml", tmp_path / "page.md"
    file.write_text(
        "name: far\nconvention: standard\nunits: {length: m, angle: deg}\njoints:\n"
        + "".join(rows)
    )
    assert explain.main([str(file), "-o", str(page)]) == 0
    text = page.read_text()
    assert (
        "j2 has no such position within its limits, 190 to 350 deg." in text and "branch 2" in text
    )
    jacobian = TaskJacobian(Chain.from_model(load_robot(file)), ToolTask.POSITION)
    np.testing.assert_allclose(
        np.degrees([jacobian.lower, jacobian.upper]), [[190] * 2, [350] * 2]
    )
