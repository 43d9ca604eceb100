# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Variants: the same for a name and a secret, different for others, and equally hard."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arm_studio.derivation.document import DerivationPage
from arm_studio.derivation.singularities import TaskJacobian, ToolTask
from arm_studio.exercises.statements import Statements
from arm_studio.exercises.variants import (
    ANGLE_MARGIN,
    LEAST_RATIO,
    VARIED,
    ExerciseError,
    VariantMaker,
    digest,
    varied,
)

from arm_description import load_robot

ARMS = ("planar2", "scara", "puma560", "ur5", "five_axis", "modified")
STUDENTS = [f"student {i}" for i in range(6)]


def numbers(variant) -> list[float]:
    rows = [value for joint in variant.model.rows for value in vars(joint.row).values()]
    return [*rows, *variant.q, *variant.other, *variant.solutions.ravel()]


@pytest.mark.parametrize("name", ARMS)
def test_a_name_and_a_secret_determine_all_numbers(makers, name):
    first = makers[name]
    again = VariantMaker(load_robot_of(first), b"the teacher's secret")
    other = VariantMaker(load_robot_of(first), b"another secret")
    assert numbers(first.of("Ada")) == numbers(again.of("Ada"))
    assert numbers(first.of("Ada")) != numbers(other.of("Ada"))
    assert numbers(first.of("Ada")) != numbers(first.of("Ada "))


def load_robot_of(maker):
    return maker.model


@pytest.mark.parametrize("name", ARMS)
def test_variants_are_equally_hard_and_away_from_limits_and_singularities(makers, name):
    maker = makers[name]
    for student in STUDENTS:
        variant = maker.of(student)
        chain, model = variant.chain, variant.model
        jacobian = TaskJacobian(chain, ToolTask(variant.mode))
        assert len(variant.solutions) == maker.profile.solutions
        turns = np.array([joint.type == "revolute" for joint in model.joints])
        for q in [variant.q, variant.other, *variant.solutions]:
            assert jacobian.ratio(q) > LEAST_RATIO
            margin = np.where(turns, 0.9 * ANGLE_MARGIN, 1e-6)
            assert (q >= model.lower + margin).all() and (q <= model.upper - margin).all()
        for q in variant.solutions:
            part = slice(None) if variant.mode == "pose" else np.s_[:3, 3]
            np.testing.assert_allclose(chain.fk(q)[part], variant.target[part], atol=1e-7)
        every = chain.all_solutions(variant.target, variant.other, variant.mode).every_q
        assert len(every) == len(variant.solutions)
        if maker.profile.singular is not None:
            joint, count = maker.profile.singular
            assert len(variant.singular.positions) == count
            for x in variant.singular.positions:
                at = variant.other.copy()
                at[joint] = x
                assert jacobian.ratio(at) < 1e-6


def test_lengths_differ_a_little_and_equal_ones_stay_equal(makers):
    model = makers["puma560"].model
    new = varied(model, np.random.default_rng(3))
    pairs = [
        (getattr(old.row, key), getattr(joint.row, key))
        for old, joint in zip(model.rows, new.rows, strict=True)
        for key in ("d", "a")
    ]
    assert {was for was, now in pairs if now == 0.0} == {0.0}
    ratios = {round(was, 9): now / was for was, now in pairs if was}
    assert all(abs(ratio - 1.0) <= VARIED + 0.01 for ratio in ratios.values())
    assert len(set(ratios.values())) > 1
    assert ratios[0.4318] == pytest.approx(new.rows[3].row.d / 0.4318)  # a2 = d4


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mearm", "a joint of its own"),
        ("ball_arm", "a joint of its own"),
        ("panda", "not certain"),
        ("travpuma", "not certain"),
    ],
)
def test_other_arms_are_refused(name, reason):
    with pytest.raises(ExerciseError, match=f"{name} cannot be used for exercises.*{reason}"):
        VariantMaker(load_robot(name), b"x" * 8)


def test_an_arm_without_room_for_variants_is_refused(makers):
    model = makers["planar2"].model
    narrow = [replace(joint, lower=-1e-4, upper=1e-4) for joint in model.joints]
    maker = VariantMaker(replace(model, joints=tuple(narrow)), b"x" * 8)
    with pytest.raises(ExerciseError, match="no exercise for planar2: its solutions lie at"):
        maker.of("Ada")


def test_the_code_of_an_arm_is_that_of_its_numbers():
    model = load_robot("puma560")
    assert digest(model) == digest(replace(model, description="another", postures={}))
    joint = replace(model.joints[0], upper=model.joints[0].upper + 1e-9)
    assert digest(model) != digest(replace(model, joints=(joint, *model.joints[1:])))


def test_limits_beyond_half_a_turn_have_variants(makers):
    model = makers["planar2"].model
    joints = [replace(j, lower=j.lower + math.tau, upper=j.upper + math.tau) for j in model.joints]
    maker = VariantMaker(replace(model, joints=tuple(joints)), b"x" * 8)
    variant = maker.of("Ada")
    assert (variant.q > maker.model.lower).all() and (variant.q < maker.model.upper).all()
    assert maker.profile.solutions == makers["planar2"].profile.solutions
    assert maker.profile.singular == makers["planar2"].profile.singular
    np.testing.assert_allclose(variant.singular.positions, math.tau, atol=1e-6)
    page = DerivationPage(Path("sheet.md"))
    Statements(variant).question(page, "singular")
    assert page.body.endswith("Write all that are within its limits.")
