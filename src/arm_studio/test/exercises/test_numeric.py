# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Numbers that a search finds, beside what geometry and other searches say."""

import math

import numpy as np
import pytest
from arm_kinematics.dexterity.reach import reach
from arm_kinematics.model.chain_model import parts_of_model
from arm_studio.derivation.singularities import TaskJacobian, ToolTask
from arm_studio.exercises.numeric import (
    SingularJoint,
    distances,
    singular_joints,
)
from arm_testing.arms.chains import shipped

from arm_description import load_robot
from arm_kinematics import Chain


@pytest.mark.parametrize("name", ["planar2", "scara", "puma560", "stanford_arm", "five_axis"])
def test_distances_bound_every_posture_and_are_reached(name, rng):
    chain = shipped(name)
    largest, smallest = distances(chain)
    sampled = [
        np.linalg.norm(chain.fk(q)[:3, 3])
        for q in rng.uniform(chain.lower, chain.upper, (3000, chain.n))
    ]
    assert smallest <= min(sampled) + 1e-6 and largest >= max(sampled) - 1e-6
    assert largest == pytest.approx(reach(load_robot(name)).from_base, abs=1e-6)


def test_planar_arm_has_the_distances_of_geometry():
    model = load_robot("planar2")
    l1, l2, height = (model.constants[key] for key in ("l1", "l2", "height"))
    largest, _ = distances(shipped("planar2"))
    assert largest == pytest.approx(math.hypot(l1 + l2, height), abs=1e-6)


def test_elbow_of_the_puma_is_singular_where_the_forearm_is_stretched():
    chain, model = shipped("puma560"), load_robot("puma560")
    a3, d4 = model.constants["a3"], model.constants["d4"]
    q = np.array([0.3, 0.9, -0.4, 0.5, 0.8, 0.2])
    found = SingularJoint.of(chain, "pose", q, 2)
    assert found is not None
    # where a3 sin q3 + d4 cos q3 = 0, and once more with the wrist above the shoulder
    assert len(found.positions) == 2
    assert found.positions[0] == pytest.approx(math.atan2(-d4, a3), abs=1e-7)
    q[2] = found.positions[1]
    a2 = model.constants["a2"]
    ahead = a2 * math.cos(q[1]) + a3 * math.cos(q[1] + q[2]) - d4 * math.sin(q[1] + q[2])
    assert ahead == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("name", ["scara", "spherical_arm", "stanford_arm", "puma560"])
def test_ratio_does_not_depend_on_the_size_of_the_arm(name, rng):
    chain, sliding = shipped(name), np.array(shipped(name).sliding)
    S, M = chain.S.copy(), chain.M.copy()
    S[:3, ~sliding] *= 1e-3
    M[:3, 3] *= 1e-3
    small = Chain(S, M, parts_of_model(load_robot(name)).joints)
    for q in rng.uniform(chain.lower, chain.upper, (20, chain.n)):
        shrunk = np.where(sliding, 1e-3 * q, q)
        for mode in ("pose", "position"):
            expected = TaskJacobian(chain, ToolTask(mode)).ratio(q)
            assert TaskJacobian(small, ToolTask(mode)).ratio(shrunk) == pytest.approx(
                expected, rel=1e-6, abs=1e-9
            )


def test_wrist_is_singular_where_it_is_straight():
    q = np.array([0.3, 0.9, -0.4, 0.5, 0.8, 0.2])
    found = SingularJoint.of(shipped("puma560"), "pose", q, 4)
    assert found is not None
    np.testing.assert_allclose(found.positions, [0.0], atol=1e-7)


def test_a_joint_that_never_makes_an_arm_singular_is_not_asked_for(rng):
    chain = shipped("planar2")
    postures = rng.uniform(chain.lower, chain.upper, (5, 2))
    assert SingularJoint.of(chain, "position", postures[0], 0) is None
    assert singular_joints(chain, "position", list(postures)) == (1, 1)
