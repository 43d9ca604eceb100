# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest
from arm_kinematics.dexterity.reach import reach
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import load_robot, parse_robot


def test_reach_matches_hand_calculation():
    planar = reach(load_robot("planar2"))
    assert planar.from_axis == pytest.approx(0.5)
    assert planar.from_base == pytest.approx(math.hypot(0.5, 0.1))
    assert (planar.lowest, planar.highest) == pytest.approx((0.1, 0.1))
    nut = reach(load_robot("nut_arm"))
    assert nut.from_axis == pytest.approx(0.105 + 0.160)
    assert nut.highest == pytest.approx(0.080 + 0.105 + 0.160)
    assert nut.lowest == pytest.approx(0.080 - 0.160)


def test_reach_of_a_prismatic_joint_is_at_its_limit(table_yaml):
    rows = [("prismatic", 0.0, 0.0, 0.0, 0.0)]
    found = reach(parse_robot(table_yaml(rows, "standard")))
    assert found.from_axis is None
    assert (found.from_base, found.lowest, found.highest) == pytest.approx((3.0, -3.0, 3.0))


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["standard", "modified"]))
def test_no_random_position_exceeds_the_reach(random_model, seed, convention):
    rng = np.random.default_rng(seed)
    model = random_model(rng, convention, int(rng.integers(1, 6)))
    found = reach(model)
    points = np.array(
        [model.fk(q)[:3, 3] for q in rng.uniform(model.lower, model.upper, (200, model.n))]
    )
    assert np.linalg.norm(points, axis=1).max() <= found.from_base + 1e-6
    assert found.lowest - 1e-6 <= points[:, 2].min()
    assert points[:, 2].max() <= found.highest + 1e-6
