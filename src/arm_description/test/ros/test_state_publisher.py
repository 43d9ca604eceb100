# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The state publisher as a process, tested over DDS."""

import math
import signal
import subprocess
import sys

import numpy as np
import pytest
import yaml
from arm_common.ros.message_conversions import transform_matrix
from arm_common.ros.qos import LATCHED
from arm_common.ros.tf import TfListener, TransformTree
from arm_description.ros.state_publisher import StatePublisher
from arm_testing.ros.probe import Probe
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from arm_description import load_robot

TIMEOUT = 60.0  # [s]
MAIN = "import sys; from arm_description.ros.state_publisher import main; sys.exit(main())"
NUT_ARM, PLANAR2 = load_robot("nut_arm"), load_robot("planar2")
FINGERS = dict.fromkeys(NUT_ARM.gripper.joints, 0.004)


def start(folder, **parameters):
    file = folder / "parameters.yaml"
    file.write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}))
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, "--ros-args", "--params-file", str(file)],
        stderr=subprocess.PIPE,
        text=True,
    )


class Watcher(Probe):
    """A node that sends to and receives from the publisher."""

    def __init__(self):
        super().__init__("watcher", bound=TIMEOUT)
        self.descriptions, self.static, self.moving = [], [], []
        self.collect(String, "robot_description", LATCHED, self.descriptions)
        self.collect(TFMessage, "/tf_static", LATCHED, self.static)
        self.collect(TFMessage, "/tf", QoSProfile(depth=100), self.moving)
        self.joint_states = self.node.create_publisher(JointState, "joint_states", 10)
        self.parameters = AsyncParameterClient(self.node, "robot_state_publisher")
        self.stamp = 100.0

    def collect(self, kind, topic, qos, into):
        self.node.create_subscription(kind, topic, into.append, qos)

    def result(self, future):
        return self.until(future.done) and future.result()

    def set(self, **values):
        self.until(self.parameters.services_are_ready)
        changes = [Parameter(k, value=v) for k, v in values.items()]
        (result,) = self.result(self.parameters.set_parameters(changes)).results
        return result

    def move(self, values, stamp=None):
        """Publish joint states, by default stamped one second after the last."""
        self.stamp = self.stamp + 1.0 if stamp is None else stamp
        message = JointState(name=list(values), position=list(values.values()))
        message.header.stamp = Time(sec=int(self.stamp), nanosec=round(self.stamp % 1 * 1e9))
        self.joint_states.publish(message)
        return message.header.stamp

    def tf_after(self, values, stamp=None):
        sent = self.move(values, stamp)
        return self.until(lambda: next((m for m in self.moving if stamp_of(m) == sent), None))


def stamp_of(message):
    return message.transforms[0].header.stamp


def children(message):
    return sorted(t.child_frame_id for t in message.transforms)


def tree_of(*messages):
    tree = TransformTree()
    for stamped in (t for message in messages for t in message.transforms):
        T = transform_matrix(stamped.transform)
        tree.set(stamped.header.frame_id, stamped.child_frame_id, T)
    return tree


@pytest.fixture(scope="module")
def publisher(tmp_path_factory):
    """The running node with the nut arm and its DH frames."""
    process = start(
        tmp_path_factory.mktemp("publisher"),
        robot_description=NUT_ARM.to_urdf(dh_frames=True),
        publish_frequency=100.0,
    )
    yield process
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 0
    assert "Traceback" not in process.stderr.read()


@pytest.fixture(scope="module")
def joined(publisher):
    watcher = Watcher()
    watcher.until(watcher.joint_states.get_subscription_count)

    def received():
        """Return whether joint states arrive; the first may be sent before discovery."""
        watcher.move({"waist": 0.0})
        return watcher.moving

    watcher.until(received)
    last = watcher.tf_after({"waist": 0.0})
    assert watcher.moving[-1] is last
    yield watcher
    watcher.close()


@pytest.fixture
def watcher(joined):
    """The same, with the publisher in its initial state."""
    assert joined.set(robot_description=NUT_ARM.to_urdf(dh_frames=True)).successful
    assert joined.set(frame_prefix="").successful
    joined.until(lambda: joined.static and "dh_4" in children(joined.static[-1]))
    return joined


def test_frames_are_published_on_the_absolute_topics_from_a_namespace():
    probe = Probe("owner")
    urdf = Parameter("robot_description", value=PLANAR2.to_urdf())
    node = StatePublisher(namespace="left", context=probe.node.context, parameter_overrides=[urdf])
    published = {p.topic_name for p in node.publishers}
    node.destroy_node()
    probe.close()
    assert {"/tf", "/tf_static", "/left/robot_description"} <= published


def test_late_joiners_receive_description_and_fixed_frames(publisher):
    watcher = Watcher()
    watcher.until(lambda: watcher.descriptions and watcher.static)
    watcher.close()
    assert watcher.descriptions[-1].data == NUT_ARM.to_urdf(dh_frames=True)
    fixed = {"flange", "tool0", "gripper_link", *(f"dh_{i}" for i in range(5))}
    assert set(children(watcher.static[-1])) == fixed


def test_tf_agrees_with_forward_kinematics(watcher):
    rng = np.random.default_rng(5)
    for _ in range(5):
        q = rng.uniform(NUT_ARM.lower, NUT_ARM.upper)
        names = rng.permutation([*NUT_ARM.joint_names, *FINGERS])
        values = dict(zip(NUT_ARM.joint_names, q, strict=True)) | FINGERS
        message = watcher.tf_after({str(name): float(values[name]) for name in names})
        assert {stamp_of(message).sec} == {t.header.stamp.sec for t in message.transforms}
        tree = tree_of(watcher.static[-1], message)
        np.testing.assert_allclose(tree.lookup("base_link", "tool0"), NUT_ARM.fk(q), atol=1e-12)
        for i, frame in enumerate(NUT_ARM.dh_frames(q)):
            np.testing.assert_allclose(tree.lookup("base_link", f"dh_{i}"), frame, atol=1e-12)
        finger = tree.lookup("tool0", "right_finger_link")
        np.testing.assert_allclose(finger[:3, 3], [0, 0.004, 0], atol=1e-12)


def test_only_received_joints_are_published(watcher):
    assert children(watcher.tf_after({"elbow": 0.1})) == ["elbow_link"]
    message = watcher.tf_after({"left_finger": 0.01, "unknown": 1.0, "waist": 0.0})
    assert children(message) == ["left_finger_link", "waist_link"]


def test_invalid_joint_states_are_ignored(watcher):
    first = watcher.tf_after({"elbow": 0.1})
    bad = JointState(name=["elbow", "waist"], position=[0.1])
    bad.header.stamp = Time(sec=1_000_000)
    watcher.joint_states.publish(bad)
    watcher.move({"elbow": float("nan")})
    watcher.move({"nobody": 0.1})
    last = watcher.tf_after({"elbow": 0.2})
    since = watcher.moving[watcher.moving.index(first) + 1 :]
    assert [stamp_of(m) for m in since] == [stamp_of(last)]


def test_publish_frequency_limits_the_rate_by_stamp(watcher):
    assert watcher.set(publish_frequency=10.0).successful
    begin = watcher.stamp + 1.0
    for i in range(5):
        watcher.move({"waist": 0.01 * i}, begin + 0.05 * i)
    last = Time(sec=int(begin), nanosec=200_000_000)
    watcher.until(lambda: any(stamp_of(m) == last for m in watcher.moving))
    found = [stamp_of(m).nanosec for m in watcher.moving if stamp_of(m).sec == int(begin)]
    assert found == [0, 100_000_000, 200_000_000]
    assert watcher.set(publish_frequency=100.0).successful


def test_time_jump_back_restarts_publishing(watcher):
    watcher.tf_after({"waist": 0.1}, 5000.0)
    watcher.tf_after({"waist": 0.2}, 10.0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "robot_description is empty"),
        ("robot: yes", "not XML"),
        ("<robot name='x'/>", "one root link"),
        (NUT_ARM.to_urdf().replace('rpy="0 0 0"', 'rpy="0 0 nan"'), "must be 3 finite numbers"),
    ],
)
def test_invalid_description_is_rejected(watcher, text, reason):
    result = watcher.set(robot_description=text)
    assert not result.successful
    assert reason in result.reason
    kept = watcher.result(watcher.parameters.get_parameters(["robot_description"])).values[0]
    assert kept.string_value == NUT_ARM.to_urdf(dh_frames=True)
    late = []
    watcher.collect(String, "robot_description", LATCHED, late)
    watcher.until(lambda: late)
    assert [message.data for message in late] == [NUT_ARM.to_urdf(dh_frames=True)]
    assert children(watcher.tf_after({"elbow": 0.1})) == ["elbow_link"]


def test_new_description_replaces_the_old_one(watcher):
    assert watcher.set(robot_description=PLANAR2.to_urdf()).successful
    watcher.until(lambda: watcher.descriptions[-1].data == PLANAR2.to_urdf())
    watcher.until(lambda: children(watcher.static[-1]) == ["flange", "tool0"])
    tree = tree_of(watcher.static[-1], watcher.tf_after({"shoulder": 0.5, "elbow": -0.2}))
    found = tree.lookup("base_link", "tool0")
    np.testing.assert_allclose(found, PLANAR2.fk([0.5, -0.2]), atol=1e-12)


def test_frame_prefix_is_prepended(watcher):
    assert watcher.set(frame_prefix="left/").successful
    watcher.until(lambda: "left/tool0" in children(watcher.static[-1]))
    (stamped,) = watcher.tf_after({"waist": 0.0}).transforms
    assert stamped.header.frame_id == "left/base_link"
    assert stamped.child_frame_id == "left/waist_link"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({}, "robot_description is empty"), ({"robot_description": "<robot/>"}, "one root link")],
)
def test_start_without_a_robot_fails_with_a_message(tmp_path, parameters, message):
    process = start(tmp_path, publish_frequency=20.0, **parameters)
    _, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1
    assert message in err
    assert "Traceback" not in err


def test_unchanged_or_invalid_frame_is_not_set(watcher):
    calls = []
    listener = TfListener(watcher.node)
    listener.tree.set = lambda parent, child, T: calls.append((parent, child))
    tf = watcher.node.create_publisher(TFMessage, "/tf", 10)
    message = TFMessage(transforms=[TransformStamped(child_frame_id="b")])
    rejected = [("a", math.inf), ("a", math.nan), ("a", 1e308)]
    for parent, x in (*rejected, ("a", 0.0), ("a", 0.0), ("a", 0.1), ("a", 0.1), ("c", 0.1)):
        message.transforms[0].header.frame_id = parent
        message.transforms[0].transform.translation.x = x
        tf.publish(message)
    watcher.until(lambda: ("c", "b") in calls)
    assert [call for call in calls if call[1] == "b"] == [("a", "b"), ("a", "b"), ("c", "b")]
