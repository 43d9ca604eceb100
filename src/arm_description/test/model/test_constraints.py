# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Constraints between joints: violation, bounds and sentence agree."""

import math

import numpy as np
import pytest
from arm_description.model.constraints import ConstraintSet, LinearExpression, LinearLimits

SUM = LinearLimits(
    "elbow",
    (LinearExpression(-2.0, (("shoulder", -0.5),)), LinearExpression(-2.5)),
    (LinearExpression(0.5, (("shoulder", -1.0), ("lift", 2.0))),),
)
NAMES = ("waist", "elbow", "lift", "shoulder")
SET = ConstraintSet(NAMES, [SUM], ["lift"])


def test_violation_is_the_distance_from_the_bounds():
    rng = np.random.default_rng(1)
    q = rng.uniform(-3.0, 3.0, (5, 40, 4))
    violation = SET.violation(q)
    for k in np.ndindex(5, 40):
        values = dict(zip(NAMES, q[k], strict=True))
        lower, upper = SUM.bounds(values)
        assert violation[k] == pytest.approx(max(lower - q[k][1], q[k][1] - upper))


def test_posture_moved_inside_is_inside():
    for q in np.random.default_rng(2).uniform(-1.0, 1.0, (50, 4)):
        assert SET.violation(SET.inside(q)) <= 1e-12


def test_sentence_names_the_joints_it_depends_on_and_the_range():
    worst = SET.worst([0.0, 1.0, 0.01, math.radians(20.0)])
    assert worst.sentence == (
        "elbow: at shoulder 20 deg and lift 10 mm the linkage allows -124.6 to 9.794 deg"
    )
    assert worst.joint == "elbow" and worst.amount == pytest.approx(
        1.0 - math.radians(9.794), abs=1e-4
    )
    assert "no position" in SET.worst([0.0, 0.0, 0.0, 9.0]).sentence
    assert SET.worst([0.0, 0.0, 0.0, 0.0]) is None


def test_constraints_of_missing_joints_are_left_out():
    assert not ConstraintSet(("waist", "elbow"), [SUM])
    assert ConstraintSet(("waist",), []).violation(np.zeros((3, 1))).max() == -math.inf


def test_reported_posture_is_put_inside_if_it_is_near():
    lower, upper = np.full(4, -1.0), np.full(4, 1.0)
    near = SET.put_inside([1.001, 0.31, 0.0, 0.2], lower, upper)
    assert near == pytest.approx([1.0, 0.3, 0.0, 0.2])
    far = SET.put_inside([1.04, 0.4, 0.0, 0.2], lower, upper)
    assert far == pytest.approx([1.04, 0.4, 0.0, 0.2])
