# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every status on arms of two to seven joints, each case built so that the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp

from arm_description import load_robot
from arm_kinematics import Chain, ChainJoint, IkStatus

ARMS = ("planar2", "planar3", "nut_arm", "five", "puma560", "panda")
MODES = ("pose", "position", "position_axis")


def within(chain: Chain, lower: np.ndarray, upper: np.ndarray) -> Chain:
    """The same arm with other limits, and without those of its joints that are not given."""
    joints = [
        ChainJoint(name, slides, float(low), float(high))
        for name, slides, low, high in zip(
            chain.joint_names, chain.prismatic, lower, upper, strict=False
        )
    ]
    return Chain(chain.S[:, : len(joints)], chain.M, joints)


def arm(name: str) -> Chain:
    if name != "five":
        return Chain.from_model(load_robot(name))
    puma = Chain.from_model(load_robot("puma560"))
    return within(puma, puma.lower[:5], puma.upper[:5])


def generic(chain: Chain, rng: np.random.Generator) -> np.ndarray:
    """A posture well inside the limits that is not near a singular one."""
    low, high = np.maximum(chain.lower, -2.5), np.minimum(chain.upper, 2.5)
    while True:
        q = low + (high - low) * rng.uniform(0.2, 0.8, chain.n)
        values = np.linalg.svd(chain.jacobian(q), compute_uv=False)
        if values[min(6, chain.n) - 1] > 0.03:
            return q


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ARMS)
def test_beyond_the_sum_of_all_links(name, mode, rng):
    chain = arm(name)
    for _ in range(3):
        T = chain.fk(generic(chain, rng))
        direction = rng.normal(size=3)
        T[:3, 3] = 2.5 * chain._mechanism.length * direction / np.linalg.norm(direction)
        r = chain.ik(T, mode=mode)
        assert r.status == IkStatus.UNREACHABLE_POSITION
        near = chain.ik(T, mode=mode, allow_approximate=True)
        assert near.status == IkStatus.APPROXIMATE and near.cause == r.status
        assert np.linalg.norm((chain.fk(near.q) - T)[:3, 3]) == pytest.approx(near.position_error)


@pytest.mark.parametrize("name", ["planar2", "planar3"])
@pytest.mark.parametrize("mode", ["pose", "position_axis"])
def test_a_planar_arm_cannot_lean_out_of_its_plane(name, mode, rng):
    chain = arm(name)
    for _ in range(3):
        T = chain.fk(generic(chain, rng))
        T[:3, :3] = so3_exp([0.5, 0.0, 0.0]) @ T[:3, :3]
        r = chain.ik(T, mode=mode)
        assert r.status == IkStatus.UNREACHABLE_ORIENTATION
        assert r.position_error <= 1e-5


@pytest.mark.parametrize("mode", ["pose", "position_axis"])
def test_four_joints_cannot_lean_sideways(mode, rng):
    """The tool of the nut arm stays in the upright plane through its waist."""
    chain = arm("nut_arm")
    for _ in range(3):
        T = chain.fk(generic(chain, rng))
        radial = T[:3, 3] * [1.0, 1.0, 0.0] / np.linalg.norm(T[:2, 3])
        T[:3, :3] = so3_exp(0.4 * radial) @ T[:3, :3]
        lean = T[:3, :3] @ [0.0, 0.0, 1.0] @ np.cross([0.0, 0.0, 1.0], radial)
        if abs(lean) < 0.05:
            continue
        r = chain.ik(T, mode=mode)
        assert r.status == IkStatus.UNREACHABLE_ORIENTATION and r.position_error <= 1e-5


def test_five_joints_cannot_hold_any_pose(rng):
    """Their poses have five dimensions of six: a pose beside one of them is not among them."""
    chain = arm("five")
    for _ in range(3):
        T = chain.fk(generic(chain, rng))
        T[:3, :3] = T[:3, :3] @ so3_exp(rng.uniform(0.1, 0.3, 3))
        r = chain.ik(T)
        assert r.status == IkStatus.UNREACHABLE_ORIENTATION and r.position_error <= 1e-5


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_stretched_out_it_cannot_look_back(name, rng):
    """A long tool that points outwards at the end of reach: turned round, the wrist is too far."""
    chain = arm(name)
    tool = pose(p=[0.0, 0.0, 0.5 * chain._mechanism.length])
    poses = [chain.fk(generic(chain, rng)) @ tool for _ in range(4000)]
    T = max(poses, key=lambda T: float(np.linalg.norm(T[:3, 3])))
    outwards = T[:3, 3] / np.linalg.norm(T[:3, 3])
    T[:3, 2] = -outwards
    T[:3, 0] = np.cross(outwards, [0.3, 0.5, 0.8])
    T[:3, 0] /= np.linalg.norm(T[:3, 0])
    T[:3, 1] = np.cross(T[:3, 2], T[:3, 0])
    for mode in ("pose", "position_axis"):
        r = chain.ik(T, mode=mode, tool=tool)
        assert r.status == IkStatus.UNREACHABLE_ORIENTATION and r.position_error <= 1e-5


@pytest.mark.parametrize("name", ARMS)
def test_the_joint_whose_limit_is_in_the_way_is_named(name, rng):
    """All joints may move a little about a posture, but one of them not as far as it."""
    chain = arm(name)
    margin = 0.02 if chain.n == 7 else 0.1
    for k in range(chain.n):
        q = generic(chain, rng)
        J = chain.jacobian(q)
        while chain.n == 7:  # the self-motion must not bring joint k back inside
            null = np.abs(np.linalg.svd(J)[2][-1])
            if null[k] * margin < 0.03 * max(np.delete(null, k)):
                break
            q = generic(chain, rng)
            J = chain.jacobian(q)
        lower, upper = q - margin, q + margin
        lower[k], upper[k] = q[k] + 0.1, q[k] + 0.3
        narrow = within(chain, lower, upper)
        r = narrow.ik(chain.fk(q))
        assert r.status == IkStatus.JOINT_LIMIT, (k, r)
        assert r.limiting_joints == (chain.joint_names[k],), (k, r)
        assert f"limit {math.degrees(lower[k]):.4g} deg" in r.message
        assert ((r.q >= lower) & (r.q <= upper)).all()


@pytest.mark.parametrize("name", ARMS)
def test_without_time_it_is_the_time_and_nothing_else(name):
    chain = arm(name)
    T = chain.fk(chain.middle)
    T[0, 3] += 100.0
    assert chain.ik(T, timeout=1e-9).status == IkStatus.TIMEOUT


def test_a_position_that_only_limits_keep_away_and_an_orientation_that_nothing_gives():
    chain = arm("planar2")
    narrow = within(chain, np.array([-0.2, 0.1]), np.array([0.2, 0.4]))
    T = chain.fk([1.5, 0.3])
    T[:3, :3] = so3_exp([0.5, 0.0, 0.0]) @ T[:3, :3]
    r = narrow.ik(T)
    assert r.status == IkStatus.UNREACHABLE_POSITION
    assert r.limiting_joints == (chain.joint_names[0],)
    assert "within the joint limits" in r.message and "beyond them" in r.message
