# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A URDF, made a table and a URDF again, is the same arm: kinematics, limits and dynamics."""

import numpy as np
import pytest
from arm_common.transforms import matrix_rpy, pose, so3_exp
from arm_description.importers.urdf import import_urdf
from arm_description.model.dh_from_axes import NearlyParallelError
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.reader import read_urdf
from arm_testing.arms.samples import ROBOTS
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from arm_description import load_robot, parse_robot
from arm_kinematics import Chain

FOLLOWING = '<mimic joint="left"/>'
CONVENTIONS = ("standard", "modified")


def assert_same_arm(before, after, seed=0):
    """Compare two chains with the same joints at random positions, speeds and accelerations."""
    assert before.joint_names == after.joint_names
    for limits in ("lower", "upper", "velocity", "effort"):
        np.testing.assert_allclose(getattr(after, limits), getattr(before, limits), atol=1e-12)
    rng = np.random.default_rng(seed)
    for q in rng.uniform(before.lower, before.upper, (5, before.n)):
        np.testing.assert_allclose(after.fk(q), before.fk(q), atol=1e-9)
        motion = rng.normal(size=(2, before.n))
        expected = before.inverse_dynamics(q, *motion)
        np.testing.assert_allclose(after.inverse_dynamics(q, *motion), expected, atol=1e-9)


def assert_same_joints(before, after):
    """Compare limits and mimic laws of the joints that both URDFs have."""
    common = [name for name in read_urdf(before).joint if name in read_urdf(after).joint]
    for name in common:
        one, other = (read_urdf(text).joint[name] for text in (before, after))
        assert one.kind == other.kind
        assert (one.mimic is None) == (other.mimic is None)
        if one.mimic:
            assert one.mimic.joint == other.mimic.joint
            assert one.mimic.multiplier == pytest.approx(other.mimic.multiplier, rel=1e-12)
        if one.limit:
            numbers = [vars(joint.limit) for joint in (one, other)]
            assert numbers[1] == pytest.approx(numbers[0], rel=1e-9, abs=1e-12), name
    return common


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_shipped_robot_is_the_same_after_a_round_trip(robot, convention):
    urdf = load_robot(robot).to_urdf()
    again = parse_robot(robot_yaml(import_urdf(urdf, convention).model)).to_urdf()
    assert_same_arm(Chain.from_urdf(urdf), Chain.from_urdf(again))
    assert len(assert_same_joints(urdf, again)) >= load_robot(robot).n


def numbers(values):
    return " ".join(repr(float(v)) for v in values)


class RandomUrdf:
    """Writes the URDF of a chain with fixed side links, a follower, a branch and a gripper."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.parts = ['<robot name="random">']

    def origin(self, size=0.5):
        xyz = self.rng.uniform(-size, size, 3)
        rpy = self.rng.choice([0.0, np.pi / 2, -np.pi / 2, self.rng.uniform(-3, 3)], 3)
        return f'<origin xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/>'

    def link(self, name):
        """Add a link whose inertia is that of a box, along any axes."""
        x, y, z = self.rng.uniform(0.01, 0.3, 3) ** 2
        mass = self.rng.uniform(0.05, 4.0)
        R = so3_exp(self.rng.normal(size=3))
        tensor = R @ np.diag([y + z, z + x, x + y]) @ R.T * mass / 12.0
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        values = zip(keys, tensor[np.triu_indices(3)].tolist(), strict=True)
        moments = " ".join(f'{key}="{value!r}"' for key, value in values)
        self.parts.append(
            f'<link name="{name}"><inertial>{self.origin(0.2)}<mass value="{mass!r}"/>'
            f"<inertia {moments}/></inertial></link>"
        )

    def joint(
        self, name, parent, child, kind="revolute", origin=None, axis=None, more="", limits=()
    ):
        limits = limits or self.rng.uniform((-2, 0.1, 0.1, 1), (-0.1, 2, 3, 50)).tolist()
        keys = ("lower", "upper", "velocity", "effort")
        limit = " ".join(f'{k}="{value!r}"' for k, value in zip(keys, limits, strict=True))
        direction = self.rng.normal(size=3) if axis is None else axis
        if axis is None and self.rng.random() < 0.5:
            direction = self.rng.permutation([0, 0, self.rng.choice([-1, 1])])
        self.parts.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'{origin or self.origin()}<axis xyz="{numbers(direction)}"/><limit {limit}/>{more}'
            "</joint>"
        )
        self.link(child)

    def text(self):
        """Return the URDF; its tip is hand."""
        joints = self.rng.integers(2, 7)
        self.link("base")
        for i in range(joints):
            kind = self.rng.choice(["revolute", "revolute", "prismatic"])
            parent, more = f"side{i - 1}b" if i % 2 else (f"link{i - 1}" if i else "base"), ""
            if i == joints - 1 and i > 1:
                ratio = self.rng.choice([-1.0, 0.5, 2.0])
                more = f'<mimic joint="joint0" multiplier="{ratio}" offset="0.02"/>'
            self.joint(f"joint{i}", parent, f"link{i}", kind, more=more)
            self.joint(f"fix{i}a", f"link{i}", f"side{i}a", "fixed")
            self.joint(f"fix{i}b", f"link{i}", f"side{i}b", "fixed")
        last = f"link{joints - 1}"
        self.joint("branch", "side0a", "flag")
        self.joint("wrist", last, "hand", "fixed")
        place = f'<origin xyz="0 0 {self.rng.uniform(0, 0.2)!r}"/>'
        slide = {"kind": "prismatic", "origin": place, "limits": (0.001, 0.04, 0.07, 13.0)}
        self.joint("left", "hand", "left_pad", axis=(0, -1, 0), **slide)
        self.joint("right", "hand", "right_pad", axis=(0, 1, 0), **slide, more=FOLLOWING)
        return "".join(self.parts) + "</robot>"


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(CONVENTIONS))
@example(605, "standard")  # axes 0.02 rad from parallel
def test_random_arms_with_side_links_and_a_gripper_are_the_same(seed, convention):
    urdf = RandomUrdf(seed).text()
    try:
        found = import_urdf(urdf, convention, tip="hand")
    except NearlyParallelError:  # of an arm with a mimic joint, which only a table describes
        assert '<mimic joint="joint0"' in urdf
        reject()
    again = parse_robot(robot_yaml(found.model, notes=found.notes)).to_urdf()
    before = Chain.from_urdf(urdf, "base", "hand")
    if (before.upper - before.lower).min() > 1e-6:
        assert_same_arm(before, Chain.from_urdf(again), seed)
    assert found.model.gripper.joints == ("left", "right")
    assert found.model.gripper.effort == 13.0
    assert {"left", "right"} <= set(assert_same_gripper(urdf, again))
    assert any("'branch'" in note and "joint0_link" in note for note in found.notes)


def assert_same_gripper(before, after):
    trees = [read_urdf(text).joint for text in (before, after)]
    for name in ("left", "right"):
        limits = [vars(tree[name].limit) for tree in trees]
        assert limits[1] == pytest.approx(limits[0], rel=1e-12)
    return set(trees[0]) & set(trees[1])


def test_masses_of_side_links_are_not_lost():
    """The torque of a camera on a rod, by hand."""
    text = """<robot name="r"><link name="b"/><link name="l"/><link name="camera"><inertial>
    <origin xyz="0.1 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    </link><joint name="j" type="revolute"><parent link="b"/><child link="l"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="9"/></joint><joint name="f" type="fixed">
    <parent link="l"/><child link="camera"/><origin xyz="0.4 0 0"/></joint></robot>"""
    model = import_urdf(text, tip="l").model
    chain = Chain.from_model(parse_robot(robot_yaml(model)))
    assert chain.gravity_torques([0.0]) == pytest.approx([-2 * 9.81 * 0.5])
    assert chain.inertia_matrix([0.0])[0, 0] == pytest.approx(2 * 0.25 + 0.01)


def test_frames_between_nearly_parallel_axes_carry_the_same_masses():
    T = pose(so3_exp([1e-4, 2e-5, 0.3]), [0.3, 0.01, 0.2])
    xyz, rpy = matrix_rpy(T)
    maker = RandomUrdf(3)
    maker.link("base")
    place = f'<origin xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/>'
    for i in range(3):
        parent = f"link{i - 1}" if i else "base"
        maker.joint(f"joint{i}", parent, f"link{i}", "revolute", place, (0, 0, 1))
    urdf = "".join(maker.parts) + "</robot>"
    found = import_urdf(urdf)
    assert found.model.is_tilted
    again = parse_robot(robot_yaml(found.model)).to_urdf()
    assert_same_arm(Chain.from_urdf(urdf, "base", "link2"), Chain.from_urdf(again))
