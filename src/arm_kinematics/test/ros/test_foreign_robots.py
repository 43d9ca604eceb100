# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node on descriptions of other authors (example-robot-data), one after the other.

Poses are compared with those of Pinocchio for the same description.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from arm_common.ros.message_conversions import pose_matrix
from arm_kinematics.chain.robot import Robot
from arm_testing.ros.kinematics import PATIENCE, World, joint_state, pose_request

from arm_interfaces.srv import GetJacobian, SolveFK, SolveIK

pin = pytest.importorskip("pinocchio")
# Its robots are installed beside Pinocchio, under the same prefix.
FOLDER = Path(pin.__file__).parents[4] / "share/example-robot-data/robots"
if not FOLDER.is_dir():
    pytest.skip("example-robot-data is not installed", allow_module_level=True)
ROBOTS = {  # file, tip_frame ("" if the node must find it), number of joints before it
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "", 6),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "", 7),
    "panda": ("panda_description/urdf/panda.urdf", "panda_hand_tcp", 7),
    "tiago's arm and torso": ("tiago_description/robots/tiago.urdf", "hand_tool_link", 8),
    "tiago's mimic finger": (
        "tiago_pro_description/robots/tiago_pro.urdf",
        "gripper_left_fingertip_left_link",
        9,
    ),
    "a leg of a1": ("a1_description/urdf/a1.urdf", "FR_foot", 3),
    "two endless turns": (
        "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
        "",
        2,
    ),
}


def text_of(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def world(serving) -> Iterator[World]:
    with serving("--ros-args", "-p", f"default_timeout:={PATIENCE}") as world:
        yield world


def describe(world: World, text: str) -> Robot:
    """Publish a description and wait until the node uses it."""
    robot = Robot(text)
    world.describe(text)
    links = [robot.base, *robot.links[-1:]]
    zeros = joint_state(dict.fromkeys(robot.joint_names, 0.0))
    request = SolveFK.Request(links=links, joint_state=zeros)
    world.until(lambda: world.call("solve_fk", request).status == SolveFK.Response.SUCCESS)
    return robot


def pinocchio_pose(text: str, joints: dict[str, float], tip: str) -> np.ndarray:
    """Return the pose of a link by Pinocchio, which supports mimic joints too."""
    model = pin.buildModelFromXML(text, mimic=True)
    q = pin.neutral(model)
    for name, value in joints.items():
        if not model.existJointName(name):
            continue
        joint = model.joints[model.getJointId(name)]
        turning = joint.nq == 2  # Pinocchio represents a continuous joint by cosine and sine
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            [np.cos(value), np.sin(value)] if turning else [value]
        )
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return np.array(data.oMf[model.getFrameId(tip)].homogeneous)


@pytest.mark.parametrize("name", ROBOTS)
def test_ik_inverts_fk_on_foreign_robots(world, name, rng):
    file, tip, count = ROBOTS[name]
    text = text_of(file)
    robot = describe(world, text)
    link = tip or ("tool0" if "tool0" in robot.links else robot.tips[0])
    chain = robot.chain(link)
    assert chain.n == count and (chain.gearing is not None) == ("mimic" in name)
    for _ in range(5):
        q = rng.uniform(np.maximum(chain.lower, -2.0), np.minimum(chain.upper, 2.0))
        joints = dict(zip(chain.joint_names, q.tolist(), strict=True))
        fk = SolveFK.Request(joint_state=joint_state(joints), links=[tip] if tip else [])
        (pose,) = world.call("solve_fk", fk).poses
        T = pose_matrix(pose.pose)
        assert pose.header.frame_id == robot.base
        assert np.allclose(T, pinocchio_pose(text, joints, link), atol=1e-10)

        middle = dict(zip(chain.joint_names, chain.middle.tolist(), strict=True))
        answer = world.solve(T, tip_frame=tip, seed=joint_state(middle))
        found = answer.solutions[0].joint_state
        assert tuple(found.name) == chain.joint_names
        inside = np.array(found.position)
        assert ((inside >= chain.lower) & (inside <= chain.upper)).all()
        reached = pinocchio_pose(text, dict(zip(found.name, found.position, strict=True)), link)
        assert np.linalg.norm((reached - T)[:3, 3]) <= 1.1e-5


def test_ambiguous_tip_must_be_named(world):
    robot = describe(world, text_of(ROBOTS["panda"][0]))
    for name, request in (
        ("solve_ik", pose_request(np.eye(4))),
        ("solve_fk", SolveFK.Request(joint_state=joint_state({"panda_joint1": 0.0}))),
        ("get_jacobian", GetJacobian.Request()),
    ):
        answer = world.call(name, request)
        assert answer.status == SolveIK.Response.BAD_REQUEST
        assert "no 'tool0' but 3 ends" in answer.message
        for end in robot.tips:
            assert end in answer.message


def test_floating_joint_is_rejected(world):
    text = text_of("double_pendulum_description/urdf/double_pendulum.urdf").replace(
        'type="revolute"', 'type="floating"', 1
    )
    robot = Robot(text)
    assert robot.tips
    world.describe(text)
    ask = pose_request(np.eye(4), tip_frame=robot.tips[0])
    world.until(lambda: "floating" in world.call("solve_ik", ask).message)
    answer = world.call("solve_ik", ask)
    assert answer.status == SolveIK.Response.BAD_REQUEST and answer.message.endswith(".")
