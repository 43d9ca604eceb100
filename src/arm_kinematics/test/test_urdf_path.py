# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Chains of a URDF: joints between two links, their limits, and what cannot be a chain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arm_kinematics.urdf_path import limits, path, read_tree

from arm_description import DescriptionError
from arm_description.urdf import read_urdf
from arm_kinematics import Chain, KinematicsError, UrdfError

GOOD = """<?xml version="1.0"?>
<robot name="mixed">
  <link name="base_link"/> <link name="a"/> <link name="b"/> <link name="tool0"/> <link name="c"/>
  <material name="ignored"/>
  <joint name="turn" type="continuous">
    <parent link="base_link"/> <child link="a"/>
    <origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/> <axis xyz="0 0 2"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="a"/> <child link="b"/> <axis xyz="1 0 0"/>
    <limit lower="-0.1" upper="0.2" velocity="0.5" effort="1"/>
  </joint>
  <joint name="tip" type="fixed">
    <parent link="b"/> <child link="tool0"/> <origin xyz="0 0 0.5"/>
  </joint>
  <joint name="follower" type="revolute">
    <parent link="b"/> <child link="c"/> <limit lower="-1" upper="1"/>
    <mimic joint="turn" multiplier="2" offset="0.5"/>
  </joint>
</robot>"""


def test_limits_are_infinite_where_there_are_none():
    turn, slide, follower = path(read_tree(GOOD), "base_link", "c")
    assert limits(turn) == (-math.inf, math.inf, math.inf)
    assert limits(slide) == (-0.1, 0.2, 0.5)
    assert limits(follower) == (-1.0, 1.0, math.inf)


def test_fixed_joints_are_folded_into_the_chain():
    chain = Chain.from_urdf(GOOD)
    assert chain.joint_names == ("turn", "slide")
    assert chain.prismatic == (False, True)
    T = chain.fk([-math.pi / 2, 0.1])
    assert np.allclose(T[:3, 3], [0.1, 0.0, 1.5], atol=1e-15)
    assert np.allclose(T[:3, :3], np.eye(3), atol=1e-15)
    poses = chain.link_poses([-math.pi / 2, 0.1])
    assert set(poses) == {"base_link", "a", "b", "tool0"}
    assert np.allclose(poses["tool0"], T, atol=1e-15)


def test_a_chain_between_any_two_links():
    chain = Chain.from_urdf(GOOD, base="a", tip="b")
    assert chain.joint_names == ("slide",)
    assert np.allclose(chain.fk([0.2])[:3, 3], [0.2, 0.0, 0.0])


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


@pytest.mark.parametrize("text", [None, "", GOOD[:100], changed('upper="0.2"', 'upper="nan"')])
def test_what_is_no_urdf_is_an_error_of_this_package(text):
    with pytest.raises(DescriptionError) as read:
        read_urdf(text)
    with pytest.raises(UrdfError) as caught:
        Chain.from_urdf(text)
    assert str(caught.value) == str(read.value)


@pytest.mark.parametrize(
    ("base", "tip", "says"),
    [
        ("base_link", "hand", "'hand' is not in the robot description"),
        ("b", "a", "'a' is not carried by link 'b'"),
        ("base_link", "base_link", "no joint moves"),
        ("base_link", "c", "follows 'turn'"),
    ],
)
def test_chains_that_cannot_be(base, tip, says):
    with pytest.raises(KinematicsError, match=says):
        Chain.from_urdf(GOOD, base=base, tip=tip)


def test_a_floating_joint_on_the_way_is_refused():
    text = changed('name="slide" type="prismatic"', 'name="slide" type="floating"')
    with pytest.raises(UrdfError, match=r"'slide' .* is floating"):
        Chain.from_urdf(text)
