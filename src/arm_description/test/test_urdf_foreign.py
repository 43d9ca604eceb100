# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The URDF against the DH table by two foreign libraries: every link and every DH frame."""

import io
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transforms3d.axangles import axangle2mat

from arm_description import load_robot, shipped_robots

EXACT = 1e-12
KINDS = ("revolute", "prismatic", "universal", "ball")
READERS = ("yourdfpy", "pinocchio")


@pytest.fixture(scope="session")
def foreign(pin_robot):
    """Function: reader's name and URDF text -> function of values and frame to its pose."""
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
    """Poses of all links by the table alone; a link turns with its joint, its z the joint's axis.

    Link i differs from the DH frames in what is constant on it: in the standard convention its
    place is frame i-1 turned and shifted by the joint, in the modified one frame i less theta.
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
@pytest.mark.parametrize("robot", shipped_robots())
def test_shipped_robots(robot, reader, foreign):
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
def test_random_tables(random_model, foreign, reader, seed, convention, n):
    rng = np.random.default_rng(seed)
    model = random_model(rng, convention, n, KINDS)
    compare(foreign(reader, model.to_urdf(dh_frames=True)), model, rng.uniform(-3, 3, model.n))


@pytest.mark.parametrize("robot", shipped_robots())
def test_inertia_as_the_simulator_reads_it(robot, pin_robot):
    """Pinocchio's own reading of each body: mass, centre, and the same total as written."""
    model = load_robot(robot)
    _, foreign = pin_robot(model.to_urdf())
    fingers = 2 if model.gripper else 0
    assert foreign.njoints - 1 == model.n + fingers
    for inertia in list(foreign.inertias)[1:]:
        assert inertia.mass > 0
        assert np.linalg.eigvalsh(inertia.inertia)[0] > 0


def test_check_urdf_has_nothing_to_say(tmp_path):
    """ROS's own checker (Debian: liburdfdom-tools) on every shipped robot.

    Where it is not installed, Pinocchio's reading above goes through the same parser, urdfdom.
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
