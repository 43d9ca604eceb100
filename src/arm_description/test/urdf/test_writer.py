# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The URDF: its structure, and link and DH frames compared with two other libraries."""

import io
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from arm_description.model.elements import Origin, mimic_names
from arm_description.urdf.optional.bars import bar_parts
from arm_description.urdf.reader import read_urdf
from arm_description.urdf.writer import merged_urdf, robot_urdf
from arm_testing.arms.samples import ROBOTS
from hypothesis import given, settings
from hypothesis import strategies as st
from transforms3d.axangles import axangle2mat

from arm_description import DescriptionError, load_robot, parse_robot, shipped_robots

CONVENTIONS = ("standard", "modified")
EXACT = 1e-12


@pytest.mark.parametrize("robot", shipped_robots())
def test_urdf_is_self_contained_and_safe_as_yaml(robot):
    urdf = load_robot(robot).to_urdf("p_", dh_frames=True)
    assert "mesh" not in urdf
    assert "package://" not in urdf
    assert ": " not in urdf
    assert "nan" not in urdf
    ET.fromstring(urdf)


SLIDING = [
    r for r in shipped_robots() if (g := load_robot(r).gripper) is not None and g.claw is None
]


@pytest.mark.parametrize("robot", SLIDING)
def test_fingers_are_half_the_width_from_the_grasp_point(robot, urdf_fk):
    """REP 120's tool0 at the grasp point; the first finger opens towards its -y, the other +y."""
    model = load_robot(robot)
    gripper, urdf = model.gripper, model.to_urdf()
    values = dict.fromkeys(model.joint_names, 0.2) | dict.fromkeys(gripper.joints, 0.01)
    tool = urdf_fk(urdf, values, "base_link", "tool0")
    for finger, y in zip(gripper.joints, (-0.01, 0.01), strict=True):
        pose = urdf_fk(urdf, values, "base_link", f"{finger}_link")
        np.testing.assert_allclose(np.linalg.solve(tool, pose)[:3, 3], [0, y, 0], atol=1e-15)
        joint = next(j for j in read_urdf(urdf).joints if j.name == finger)
        assert (joint.limit.lower, joint.limit.upper) == (0.0, gripper.max_width / 2)


@pytest.mark.parametrize("robot", shipped_robots())
def test_frames_follow_rep_103_and_120(robot):
    """base_link is the root, flange on the last link, tool0 on the flange."""
    model = load_robot(robot)
    tree = read_urdf(model.to_urdf())
    parents = {joint.child: (joint.parent, joint.kind) for joint in tree.joints}
    assert tree.root == "base_link"
    rows = []
    for row in model.rows:
        rows += [*mimic_names(row.name, getattr(row, "terms", ()))[:-1], row.name]
    bodies = [*rows, *(("gripper", *model.gripper.joints) if model.gripper else ())]
    bodies += [joint.child.removesuffix("_link") for joint in bar_parts(model).joints]
    assert set(tree.links) == {"base_link", "flange", "tool0", *(f"{b}_link" for b in bodies)}
    assert parents["flange"] == (f"{rows[-1]}_link", "fixed")
    assert parents["tool0"] == ("flange", "fixed")
    links = {link.get("name"): link for link in ET.fromstring(model.to_urdf()).iter("link")}
    assert not len(links["flange"])
    assert not len(links["tool0"])


def test_prefix_is_prepended_to_every_name():
    model = load_robot("nut_arm")
    plain, prefixed = (ET.fromstring(model.to_urdf(p, dh_frames=True)) for p in ("", "left_"))
    for element in plain.iter():
        if element.tag in ("link", "joint"):
            element.set("name", "left_" + element.get("name"))
        if element.tag in ("parent", "child"):
            element.set("link", "left_" + element.get("link"))
    assert ET.tostring(plain) == ET.tostring(prefixed)


@pytest.mark.parametrize("prefix", ["a b", "a/", "${x}", "<", "\n"])
def test_invalid_prefix_is_rejected(prefix):
    with pytest.raises(DescriptionError, match="cannot be part of a name"):
        load_robot("planar2").to_urdf(prefix)


def test_arm_mounts_on_a_parent_link(urdf_fk):
    model = load_robot("planar2")
    mount = Origin((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    urdf = robot_urdf(model, "l_", parent="world", mount=mount)
    assert read_urdf(urdf).root == "world"
    values = {"l_shoulder": 0.3, "l_elbow": -0.4}
    found = urdf_fk(urdf, values, "world", "l_tool0")
    np.testing.assert_allclose(found, mount.matrix @ model.fk([0.3, -0.4]), atol=EXACT)


def test_names_used_by_the_urdf_are_rejected(small):
    model = parse_robot(small)
    joint = replace(model.joints[0], name="flange_fixed")
    with pytest.raises(DescriptionError, match="two joints of the URDF would be named 'flange_"):
        replace(model, joints=(joint, *model.joints[1:])).to_urdf()
    with pytest.raises(DescriptionError, match="two links of the URDF would be named 'tool0'"):
        robot_urdf(parse_robot(small), parent="tool0")


KINDS = ("revolute", "prismatic", "universal", "ball")
READERS = ("yourdfpy", "pinocchio")


@pytest.fixture(scope="session")
def foreign(pin_robot):
    """Return a function: reader, URDF text -> forward kinematics by values and frame."""
    readers = {"yourdfpy": yourdfpy_fk, "pinocchio": lambda text: pin_robot(text)[0]}
    return lambda reader, text: readers[reader](text)


def yourdfpy_fk(text):
    yourdfpy = pytest.importorskip("yourdfpy")
    robot = yourdfpy.URDF.load(io.StringIO(text), load_meshes=False)
    assert robot.validate(), robot.errors

    def fk(values, frame):
        robot.update_cfg(values)
        return robot.get_transform(frame, "base_link")

    return fk


def link_poses(model, q):
    """Return the poses of all links from the table; z of a link is its joint axis.

    Link i differs from a DH frame by a constant transform: in the standard convention it is frame
    i-1 moved by the joint, in the modified one frame i without the offset theta.
    """
    frames = model.dh_frames(q)
    poses = {f"dh_{i}": frame for i, frame in enumerate(frames)}
    poses |= {"flange": frames[-1], "tool0": model.fk(q), "base_link": np.eye(4)}
    for i, (joint, value) in enumerate(zip(model.joints, q, strict=True)):
        motion = np.eye(4)
        if model.convention == "modified":
            motion[:3, :3] = axangle2mat((0, 0, 1), -joint.row.theta)
        elif joint.type == "revolute":
            motion[:3, :3] = axangle2mat(joint.direction, value)
        else:
            motion[2, 3] = value
        start = frames[i] if model.convention == "standard" else frames[i + 1]
        poses[f"{joint.name}_link"] = start @ motion
    return poses


def compare(fk, model, q):
    values = dict(zip(model.joint_names, q, strict=True))
    for frame, pose in link_poses(model, q).items():
        np.testing.assert_allclose(fk(values, frame), pose, rtol=0, atol=EXACT, err_msg=frame)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("robot", ROBOTS)
def test_shipped_robots_match_other_readers(robot, reader, foreign):
    model = load_robot(robot)
    fk = foreign(reader, model.to_urdf(dh_frames=True))
    for q in np.random.default_rng(5).uniform(-3, 3, (5, model.n)):
        compare(fk, model, q)


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32),
    convention=st.sampled_from(["standard", "modified"]),
    n=st.integers(1, 7),
)
def test_random_tables_match_other_readers(random_model, foreign, reader, seed, convention, n):
    rng = np.random.default_rng(seed)
    model = random_model(rng, convention, n, KINDS)
    compare(foreign(reader, model.to_urdf(dh_frames=True)), model, rng.uniform(-3, 3, model.n))


@pytest.mark.parametrize("robot", shipped_robots())
def test_inertia_is_valid_in_pinocchio(robot, pin_robot):
    model = load_robot(robot)
    _, foreign = pin_robot(model.to_urdf())
    moving = [joint for joint in read_urdf(model.to_urdf()).joints if joint.kind != "fixed"]
    assert foreign.njoints - 1 == len(moving)
    for inertia in list(foreign.inertias)[1:]:
        assert inertia.mass > 0
        assert np.linalg.eigvalsh(inertia.inertia)[0] > 0


def test_check_urdf_accepts_shipped_robots(tmp_path):
    """ROS's own checker (Debian: liburdfdom-tools) on every shipped robot.

    Where it is not installed, Pinocchio above uses the same parser, urdfdom.
    """
    check = shutil.which("check_urdf")
    if check is None:
        pytest.skip("check_urdf is not installed: apt-get install liburdfdom-tools")
    for robot in shipped_robots():
        path = tmp_path / f"{robot}.urdf"
        path.write_text(load_robot(robot).to_urdf("left_", dh_frames=True), encoding="utf-8")
        done = subprocess.run([check, path], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "Successfully Parsed XML" in done.stdout
        assert not done.stderr


SIDES = (("left_", 0.3), ("right_", -0.3))


def test_merged_robots_stand_on_one_link():
    model = load_robot("nut_arm")
    arms = [robot_urdf(model, p, parent="world", mount=Origin((0, y, 0))) for p, y in SIDES]
    tree = read_urdf(merged_urdf("world", arms))
    assert tree.root == "world"
    mounts = {j.child: j.origin.xyz for j in tree.joints if j.parent == "world"}
    assert mounts == {f"{prefix}base_link": (0.0, y, 0.0) for prefix, y in SIDES}


def test_merged_robots_with_a_common_name_are_rejected():
    arm = load_robot("nut_arm").to_urdf("left_")
    with pytest.raises(DescriptionError, match="two robots have a link named 'left_waist"):
        merged_urdf("world", [arm, arm])
