# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The topic kinematics_markers of a running node: latched, switchable, silent at rest."""

import signal

import numpy as np
import pytest
from arm_common.ros.message_conversions import pose_matrix
from arm_common.ros.qos import LATCHED
from arm_common.transforms import pose
from arm_testing.ros.kinematics import World, joint_state
from arm_testing.ros.markers import MarkerWatcher
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState

from arm_description import load_robot
from arm_interfaces.srv import SolveIK
from arm_kinematics import Chain

pytestmark = pytest.mark.system
MODEL = load_robot("nut_arm")
CHAIN = Chain.from_model(MODEL)
REST = joint_state(dict.fromkeys(CHAIN.joint_names, 0.0))


@pytest.fixture(scope="module")
def world(serving):
    arguments = ["--ros-args", "-p", "markers.link_frames:=true", "-p", "markers.rate:=30.0"]
    with serving(*arguments, number=signal.SIGTERM) as world:
        world.clients["switch"] = world.node.create_client(
            SetParameters, "kinematics/set_parameters"
        )
        world.goal = world.node.create_publisher(JointState, "arm_controller/goal", LATCHED)
        world.describe(MODEL.to_urdf())
        yield world


@pytest.fixture
def watcher(world):
    watcher = MarkerWatcher(world.node, "kinematics_markers")
    yield watcher
    watcher.close()


def switch(world: World, layer: str, on: bool) -> None:
    value = ParameterValue(type=1, bool_value=on)
    parameter = Parameter(name=f"markers.{layer}", value=value)
    answer = world.call("switch", SetParameters.Request(parameters=[parameter]))
    assert answer.results[0].successful


def publish_joints(world: World, q) -> None:
    joints = dict(zip(CHAIN.joint_names, map(float, q), strict=True))
    world.joint_states.publish(joint_state(joints))


def test_late_joiner_gets_all_markers(world, watcher):
    names = {link.name for link in CHAIN.links}
    world.until(lambda: {t for m in watcher.shown.values() for t in m.text.split("\n")} >= names)
    late = MarkerWatcher(world.node, "kinematics_markers")
    world.until(lambda: late.shown.keys() == watcher.shown.keys())
    # One message on joining, and one more after it has received tf.
    world.until(
        lambda: sum({k.ns for k in m.markers} >= watcher.layers() for m in late.messages) >= 2
    )
    late.close()


def wait_seconds(world: World, seconds: int) -> None:
    """Wait for a number of diagnostics, which are published once a second."""
    count = len(world.diagnostics)
    world.until(lambda: len(world.diagnostics) >= count + seconds)


def test_motion_sends_changes_only_and_rest_sends_nothing(world, watcher):
    wait_seconds(world, 4)  # the resend for late joiners is over
    switch(world, "text", True)
    for degree in range(1, 30):
        publish_joints(world, [np.radians(degree), 0.0, 0.0, 0.0])
        text = f"{degree:.1f} deg"
        world.until(lambda text=text: text in watcher.texts())
    layers = [{m.ns for m in message.markers} for message in watcher.messages]
    assert {"text"} in layers  # and not the frames with it
    world.until(lambda: watcher.layers() <= {m.ns for m in watcher.messages[-1].markers})
    count = len(watcher.messages)
    wait_seconds(world, 3)  # at rest
    for _ in range(20):
        publish_joints(world, [np.radians(29), 0.0, 0.0, 0.0])
    wait_seconds(world, 2)
    assert len(watcher.messages) == count
    switch(world, "text", False)
    world.until(lambda: "text" not in watcher.layers())


def test_target_and_reached_pose_of_a_request_are_shown(world, watcher):
    publish_joints(world, np.zeros(4))
    world.solve(CHAIN.fk([0.2, 0.3, -0.2, 0.1]), seed=REST)
    world.until(lambda: "0 mm, 0 deg" in watcher.texts())
    away = pose(p=[0.7, 0.0, 0.2])
    unreachable = SolveIK.Response.UNREACHABLE_POSITION
    mode = SolveIK.Request.POSITION
    answer = world.solve(away, status=unreachable, mode=mode, seed=REST)
    error = answer.solutions[0].position_error
    world.until(lambda: f"{1e3 * error:.3g} mm" in watcher.texts())
    (line,) = (m for m in watcher.shown.values() if m.ns == "target" and len(m.points) == 2)
    ends = np.array([[p.x, p.y, p.z] for p in line.points])
    reached = pose_matrix(answer.solutions[0].achieved.pose)[:3, 3]
    np.testing.assert_allclose(ends, [away[:3, 3], reached], atol=1e-9)


def test_goal_ghost_is_shown_until_the_arm_arrives(world, watcher):
    publish_joints(world, np.zeros(4))
    goal = [0.5, 0.2, -0.3, 0.4]
    world.goal.publish(joint_state(dict(zip(CHAIN.joint_names, goal, strict=True))))
    world.until(lambda: "goal" in watcher.layers())
    publish_joints(world, goal)
    world.until(lambda: "goal" not in watcher.layers())
    world.goal.publish(joint_state(dict.fromkeys(CHAIN.joint_names, 1.0)))
    world.until(lambda: "goal" in watcher.layers())
    world.goal.publish(JointState())  # cancelled
    world.until(lambda: "goal" not in watcher.layers())


def test_reachable_region_appears_once_computed(world, watcher):
    switch(world, "reach", True)
    world.until(lambda: "reach" in watcher.layers())
    switch(world, "reach", False)
    world.until(lambda: "reach" not in watcher.layers())


def test_new_robot_replaces_all_markers(world, watcher):
    world.until(lambda: "wrist_roll_link" in watcher.texts())
    world.describe(load_robot("planar2").to_urdf())
    world.until(lambda: "wrist_roll_link" not in watcher.texts() and watcher.shown)
