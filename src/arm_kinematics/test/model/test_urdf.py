# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Chains of a URDF: joints between two links, their limits, and invalid chains."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from arm_common.transforms import inverse
from arm_description.urdf.elements import joint_range
from arm_description.urdf.reader import read_urdf
from arm_kinematics.chain.robot import Robot
from arm_kinematics.model.urdf import path
from arm_testing.arms.chains import in_limits, posture
from arm_testing.arms.lie import se3_log

from arm_description import DescriptionError
from arm_kinematics import Chain, IkStatus, KinematicsError

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


def test_missing_limits_are_infinite():
    turn, slide, follower = (step.joint for step in path(read_urdf(GOOD), "base_link", "c"))
    assert joint_range(turn) == (-math.inf, math.inf, math.inf)
    assert joint_range(slide) == (-0.1, 0.2, 0.5)
    assert joint_range(follower) == (-1.0, 1.0, math.inf)


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


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


@pytest.mark.parametrize("text", [None, "", GOOD[:100], changed('upper="0.2"', 'upper="nan"')])
def test_invalid_urdf_raises_the_reader_error(text):
    with pytest.raises(DescriptionError) as read:
        read_urdf(text)
    with pytest.raises(KinematicsError) as caught:
        Chain.from_urdf(text)
    assert type(caught.value) is KinematicsError and str(caught.value) == str(read.value)


@pytest.mark.parametrize(
    ("base", "tip", "pattern"),
    [
        ("base_link", "hand", "'hand' is not in the robot description"),
        ("base_link", "base_link", "no joint moves"),
        ("tool0", "b", "no joint moves"),
    ],
)
def test_chains_without_joints_or_links_are_rejected(base, tip, pattern):
    with pytest.raises(KinematicsError, match=pattern):
        Chain.from_urdf(GOOD, base=base, tip=tip)


def test_floating_joint_on_the_path_is_rejected():
    text = changed('name="slide" type="prismatic"', 'name="slide" type="floating"')
    with pytest.raises(KinematicsError, match=r"'slide' .* is floating"):
        Chain.from_urdf(text)


TREE = """<robot name="two_arms">
  <link name="root"/> <link name="left"/> <link name="left_hand"/> <link name="right"/>
  <link name="right_hand"/>
  <joint name="l1" type="revolute"> <parent link="root"/> <child link="left"/>
    <origin xyz="0 0.2 0.3" rpy="0.1 0.2 0.3"/> <axis xyz="1 2 3"/>
    <limit lower="-1" upper="2" velocity="3"/> </joint>
  <joint name="l2" type="prismatic"> <parent link="left"/> <child link="left_hand"/>
    <origin xyz="0.4 0 0" rpy="0 -0.5 0"/> <axis xyz="0 1 1"/>
    <limit lower="-0.2" upper="0.1"/> </joint>
  <joint name="r1" type="continuous"> <parent link="root"/> <child link="right"/>
    <origin xyz="0 -0.2 0.3"/> <axis xyz="0 1 0"/> </joint>
  <joint name="r2" type="revolute"> <parent link="right"/> <child link="right_hand"/>
    <origin xyz="0.3 0 0.1" rpy="1 0 0"/> <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2"/> {mimic} </joint>
</robot>"""
ONE_BY_ONE = TREE.format(mimic="")
JOINTS = {"l1": 0.7, "l2": -0.05, "r1": 1.9, "r2": -0.4}
ENDS = ("root", "left", "left_hand", "right", "right_hand")


@pytest.mark.parametrize(("base", "tip"), [*itertools.permutations(ENDS, 2)])
def test_chain_between_any_two_links_matches_the_robot(base, tip):
    """The pose base <- tip is inverse(root <- base) (root <- tip)."""
    robot = Robot(ONE_BY_ONE)
    chain = Chain.from_urdf(ONE_BY_ONE, base=base, tip=tip)
    back = Chain.from_urdf(ONE_BY_ONE, base=tip, tip=base)
    assert chain.joint_names == back.joint_names[::-1]
    q = chain.positions(JOINTS)
    expected = inverse(robot.link_pose(base, JOINTS)) @ robot.link_pose(tip, JOINTS)
    assert np.allclose(chain.fk(q), expected, atol=1e-14)
    for link, pose in chain.link_poses(q).items():
        seen = inverse(robot.link_pose(base, JOINTS)) @ robot.link_pose(link, JOINTS)
        assert np.allclose(pose, seen, atol=1e-14), link
    r = chain.ik(chain.fk(q), q + 0.05)
    assert r.ok and in_limits(chain, r.q)


MIMICS = {
    "on the path": '<mimic joint="r1" multiplier="-2" offset="0.3"/>',
    "off the path": '<mimic joint="l1" multiplier="0.5" offset="-0.1"/>',
    "slower": '<mimic joint="r1" multiplier="0.25"/>',
    "not at all": '<mimic joint="l1" multiplier="0" offset="0.8"/>',
}


@pytest.fixture(params=MIMICS)
def text(request) -> str:
    return TREE.format(mimic=MIMICS[request.param])


@pytest.fixture
def chain(text) -> Chain:
    return Chain.from_urdf(text, "left_hand", "right_hand")


class TestMimic:
    def test_chain_moves_like_the_robot(self, text, rng):
        """Compare with the tree without the mimic, its joint at the mimicked position."""
        chain = Chain.from_urdf(text, "root", "right_hand")
        assert "r2" not in chain.joint_names
        free = Robot(ONE_BY_ONE)
        follower = next(j for j in read_urdf(text).joints if j.name == "r2").mimic
        for _ in range(20):
            joints = {"l1": rng.uniform(-1, 2), "l2": 0.0, "r1": rng.uniform(-1, 1)}
            joints["r2"] = follower.multiplier * joints[follower.joint] + follower.offset
            q = chain.positions(joints)
            for link, pose in chain.link_poses(q).items():
                assert np.allclose(pose, free.link_pose(link, joints), atol=1e-13), link
            assert np.allclose(chain.fk(q), free.link_pose("right_hand", joints), atol=1e-13)

    def test_jacobian_columns_add_up(self, chain, rng):
        q = rng.uniform(-0.1, 0.1, chain.n)
        J, h = chain.jacobian(q), 1e-6
        assert J.shape == (6, chain.n)
        for k, step in enumerate(h * np.eye(chain.n)):
            rate = se3_log(chain.fk(q + step) @ inverse(chain.fk(q - step))) / (2 * h)
            assert np.allclose(chain.space_jacobian(q)[:, k], rate, atol=1e-8)

    def test_solutions_are_inside_all_limits(self, chain, rng):
        for _ in range(20):
            q = posture(chain, rng, 3.0)
            for mode in ("pose", "position_axis"):
                r = chain.ik(chain.fk(q), chain.middle, mode, max_solutions=3)
                assert r.ok, r
                for s in r.solutions:
                    assert in_limits(chain, s.q)
                    assert np.linalg.norm((chain.fk(s.q) - chain.fk(q))[:3, 3]) <= 1e-5
                    assert s.distance == pytest.approx(np.linalg.norm(s.q - chain.middle))

    def test_limiting_joints_are_independent_ones(self, chain):
        T = chain.fk(chain.middle)
        T[:3, 3] += 10.0
        r = chain.ik(T)
        assert r.status == IkStatus.UNREACHABLE_POSITION and r.q.shape == (chain.n,)
        assert set(r.limiting_joints) <= set(chain.joint_names)


def test_mimic_limits_constrain_the_leader():
    text = TREE.format(mimic='<mimic joint="l1" multiplier="-2" offset="1"/>')
    chain = Chain.from_urdf(text, "left", "right_hand")
    assert chain.joint_names == ("l1", "r1")
    assert chain.lower[0] == pytest.approx(-0.5) and chain.upper[0] == pytest.approx(1.5)
    assert chain.velocity[0] == 3.0
    not_given = text.replace('lower="-2" upper="2"', 'effort="1"')
    chain = Chain.from_urdf(not_given, "left", "right_hand")
    assert (chain.lower[0], chain.upper[0]) == (-1.0, 2.0)


def test_mimic_without_a_feasible_leader_position_is_rejected():
    text = TREE.format(mimic='<mimic joint="l1" multiplier="1" offset="5"/>')
    with pytest.raises(KinematicsError, match=r"'l1' \(-1 to 2\) cannot move where joint 'r2'"):
        Chain.from_urdf(text, "left", "right_hand")


def test_a_joint_that_its_follower_fixes_is_told_once(caplog):
    text = TREE.format(mimic='<mimic joint="l1" multiplier="-1"/>')
    text = text.replace('lower="-1"', 'lower="0"').replace('lower="-2"', 'lower="0"')
    for _ in range(2):
        chain = Chain.from_urdf(text, "left", "right_hand")
    assert chain.lower[0] == chain.upper[0] == 0.0
    (told,) = (record.message for record in caplog.records)
    assert "'l1' (0 to 2) cannot move where joint 'r2'" in told and "stays at 0" in told


def test_mimic_limit_is_reported_as_the_leaders():
    text = TREE.format(mimic='<mimic joint="l1" multiplier="2"/>').replace("-1", "-9")
    chain = Chain.from_urdf(text, "right", "right_hand")
    assert chain.joint_names == ("l1",) and chain.upper[0] == pytest.approx(1.0)
    beyond = Chain.from_urdf(ONE_BY_ONE, "right", "right_hand").fk([2.4])
    r = chain.ik(beyond)
    assert r.status == IkStatus.JOINT_LIMIT and r.limiting_joints == ("l1",)
    assert "l1 at 68.75 deg (limit 57.3 deg)" in r.message
    assert r.q[0] == pytest.approx(1.0)


REVERSED = ONE_BY_ONE.replace('lower="-2" upper="2"', 'lower="2" upper="-2"')
DANGLING = TREE.format(mimic='<mimic joint="gone"/>')
CIRCLE = TREE.format(mimic='<mimic joint="r2"/>')


@pytest.mark.parametrize(
    ("text", "words"),
    [(REVERSED, "above its upper"), (DANGLING, "'gone', which is"), (CIRCLE, "in a circle")],
)
def test_fault_elsewhere_does_not_refuse_the_chain_and_is_logged_once(text, words, caplog):
    text = text.replace("two_arms", f"robot {words}")  # told once for each robot
    for _ in range(3):
        chain = Chain.from_urdf(text, "root", "left_hand")
        assert chain.ik(chain.fk([0.5, 0.0]), mode="position")
    assert [words in record.message for record in caplog.records] == [True]
    assert "joint 'r2'" in caplog.text and "chains through this joint" in caplog.text
    for robot_or_text in (text, Robot(text).urdf):
        with pytest.raises(KinematicsError, match=words):
            Chain.from_urdf(robot_or_text, "root", "right_hand")
    robot = Robot(text)
    assert robot.link_pose("left_hand", JOINTS).shape == (4, 4)
    with pytest.raises(DescriptionError, match=words):  # a description is still imported as sound
        read_urdf(text)


def test_follower_of_a_joint_with_a_fault_is_refused():
    text = REVERSED.replace('name="l2" type="prismatic">', 'name="l2" type="prismatic">')
    text = text.replace('<limit lower="-0.2" upper="0.1"/>', '<limit/><mimic joint="r2"/>')
    with pytest.raises(KinematicsError, match="'r2' has the lower limit"):
        Chain.from_urdf(text, "root", "left_hand")


@pytest.mark.parametrize("kind", [str, Path])
def test_urdf_file_is_read_by_its_path(tmp_path, kind):
    file = tmp_path / "mixed.urdf"
    with pytest.raises(KinematicsError, match="cannot be read"):
        Chain.from_urdf(kind(file))
    file.write_text(GOOD)
    assert Chain.from_urdf(kind(file)).joint_names == ("turn", "slide")
    file.write_text("<robot")
    with pytest.raises(KinematicsError, match=r"mixed.urdf: .* is not XML"):
        Chain.from_urdf(kind(file))


def test_xacro_file_is_expanded(tmp_path):
    head, end = '<robot name="mixed" xmlns:xacro="http://www.ros.org/wiki/xacro">', "</robot>"
    body = GOOD[GOOD.index("<link") : GOOD.index(end)]
    file = tmp_path / "mixed.urdf.xacro"
    file.write_text(f'{head}<xacro:macro name="all" params="">{body}</xacro:macro>{end}')
    with pytest.raises(KinematicsError, match="only defines macros"):
        Chain.from_urdf(file)
    file.write_text(file.read_text().replace(end, f"<xacro:all/>{end}"))
    assert Chain.from_urdf(str(file)).joint_names == ("turn", "slide")
    with pytest.raises(KinematicsError, match="is a xacro file; expand it"):
        Chain.from_urdf(file.read_text())


@pytest.mark.parametrize(
    ("old", "new"),
    [('xyz="0.3 0 0.1"', 'xyz="0.3 0"'), ('xyz="0 0 1"', 'xyz="0 0 0"'), ("continuous", "hinge")],
)
def test_a_robot_with_a_link_that_is_nowhere_is_refused_but_not_chains_elsewhere(old, new):
    assert old in ONE_BY_ONE
    text = ONE_BY_ONE.replace(old, new)
    assert Chain.from_urdf(text, "left", "left_hand").n == 1
    for refused in (lambda: Chain.from_urdf(text, "root", "right_hand"), lambda: Robot(text)):
        with pytest.raises(KinematicsError, match=r"joint 'r[12]'"):
            refused()


def snake(count):
    """Return the URDF of a chain of turning joints, each 50 mm long."""
    links = "".join(f'<link name="l{i}"/>' for i in range(count + 1))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<origin xyz="0 0 0.05"/><axis xyz="{i % 2} {1 - i % 2} 0"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
        for i in range(count)
    )
    return f'<robot name="snake">{links}{joints}</robot>'


def test_chain_has_at_most_128_joints():
    chain = Chain.from_urdf(snake(128), base="l0", tip="l128")
    q = np.full(128, 0.1)
    assert chain.ik(chain.fk(q), seed=np.zeros(128), timeout=30.0).ok
    for count in (129, 500):
        with pytest.raises(KinematicsError, match=f"has {count} joints; at most 128"):
            Chain.from_urdf(snake(count), base="l0", tip=f"l{count}")
