# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the answer says when there is no solution: one test a status, on arms of several kinds."""

from __future__ import annotations

import numpy as np
import pytest
from arm_common.transforms import so3_exp

from arm_description import load_robot
from arm_kinematics import Chain, ChainJoint, IkStatus


def from_(name: str) -> Chain:
    return Chain.from_model(load_robot(name))


@pytest.mark.parametrize("name", ["nut_arm", "planar2", "puma560"])
@pytest.mark.parametrize("mode", ["pose", "position", "position_axis"])
def test_unreachable_position(name, mode):
    chain = from_(name)
    T = chain.fk(chain.middle)
    T[:3, 3] += 10.0
    r = chain.ik(T, mode=mode)
    assert r.status == r.cause == IkStatus.UNREACHABLE_POSITION
    assert not r.ok
    assert "out of reach" in r.message and "mm" in r.message and "deg" in r.message
    assert len(r.solutions) == 1
    assert ((r.q >= chain.lower) & (r.q <= chain.upper)).all()


def test_the_nearest_position_is_found():
    """Out of reach straight ahead, the planar arm stretches towards the target."""
    chain = from_("planar2")
    reach, _, height = chain.fk([0.0, 0.0])[:3, 3]
    T = np.eye(4)
    T[:3, 3] = (2.0 * reach * np.cos(0.4), 2.0 * reach * np.sin(0.4), height)
    r = chain.ik(T, mode="position")
    assert np.allclose(r.q, [0.4, 0.0], atol=1e-5)
    assert r.position_error == pytest.approx(reach, rel=1e-6)


def test_unreachable_orientation_meets_the_position_first():
    chain = from_("nut_arm")
    T = chain.fk([0.1, 0.2, 0.3, 0.4])
    T[:3, :3] = T[:3, :3] @ so3_exp([0.0, 0.7, 0.0])
    r = chain.ik(T)
    assert r.status == IkStatus.UNREACHABLE_ORIENTATION
    assert r.position_error < 1e-6
    assert r.orientation_error == pytest.approx(0.7, abs=0.05)
    assert "position is within reach" in r.message


def test_a_joint_limit_is_named_with_what_it_would_take():
    chain = from_("nut_arm")
    r = chain.ik(chain.fk([0.0, 0.2, 1.8, 0.0]))
    assert r.status == IkStatus.JOINT_LIMIT
    assert r.limiting_joints == ("elbow",)
    assert "elbow at 103.1 deg (limit 90 deg)" in r.message


def test_a_sliding_joints_limit_is_told_in_millimetres():
    screws = np.transpose([[0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0]])
    joints = [ChainJoint("turn", False, -3, 3), ChainJoint("slide", True, 0.1, 0.5)]
    chain = Chain(screws, np.eye(4), joints)
    r = chain.ik(chain.fk([0.3, 0.8]))
    assert r.status == IkStatus.JOINT_LIMIT
    assert r.limiting_joints == ("slide",)
    assert "slide at 800 mm (limit 500 mm)" in r.message
    assert r.q == pytest.approx([0.3, 0.5], abs=1e-3)


def test_an_approximate_answer_if_allowed_and_why():
    chain = from_("nut_arm")
    T = chain.fk([0.0, 0.2, 1.8, 0.0])
    refused, allowed = chain.ik(T), chain.ik(T, allow_approximate=True)
    assert allowed.status == IkStatus.APPROXIMATE and allowed.ok
    assert allowed.cause == IkStatus.JOINT_LIMIT
    assert np.array_equal(allowed.q, refused.q)
    assert "elbow" in allowed.message
    assert chain.ik(chain.fk([0.1] * 4), allow_approximate=True).status == IkStatus.SUCCESS


def test_time_out_is_not_out_of_reach():
    chain = from_("puma560")
    T = chain.fk(chain.middle)
    T[:3, 3] += 10.0
    r = chain.ik(T, timeout=1e-9)
    assert r.status == IkStatus.TIMEOUT
    assert "time ran out" in r.message
    assert len(r.solutions) == 1
    assert chain.ik(T, timeout=1e-9, allow_approximate=True).status == IkStatus.TIMEOUT
    assert chain.ik(T, timeout=60.0).status == IkStatus.UNREACHABLE_POSITION


def test_success_says_the_residuals():
    chain = from_("nut_arm")
    r = chain.ik(chain.fk([0.1, 0.2, 0.3, 0.4]))
    assert r.message.startswith("Solved: ") and r.message.endswith("from the target.")
    assert r.limiting_joints == ()
    assert "SUCCESS" in repr(r)


def test_a_search_counts_its_starts():
    chain = from_("rediestro")  # has no closed form
    r = chain.ik(chain.fk(chain.middle + 0.1))
    assert r.starts == 1 and r.evaluations > 1


def test_the_numbers_are_those_of_the_service():
    srv = pytest.importorskip("arm_interfaces.srv")
    for status in IkStatus:
        assert getattr(srv.SolveIK.Response, status.name) == status
