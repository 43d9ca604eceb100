# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from dataclasses import replace

import pytest
from arm_common.ros.qos import LATCHED
from arm_description.errors import UrdfError
from arm_description.model.elements import ActuatorLimits
from arm_description.model.transmissions.transmission import Drivetrain
from arm_description.ros.description import DescriptionSubscription, limited_model, limited_urdf
from arm_description.urdf.reader import read_urdf
from arm_description.urdf.servo_limits import TOPIC, limits_text
from arm_testing.ros.probe import Probe
from std_msgs.msg import String

from arm_description import load_robot, shipped_robots


def narrowed(model):
    """Return a robot whose servos reach the middle three quarters of every range."""

    def inside(lower, upper, velocity):
        share = 0.125 * (upper - lower)
        return ActuatorLimits(lower + share, upper - share, 0.5 * velocity)

    width = model.gripper and inside(model.gripper.min_width, model.gripper.max_width, 0.1)
    actuators = {}
    if not Drivetrain.of(model).is_identity:
        ends = zip(
            Drivetrain.of(model).actuators,
            Drivetrain.of(model).to_actuators(model.lower),
            Drivetrain.of(model).to_actuators(model.upper),
            strict=True,
        )
        actuators = {n: inside(*sorted((float(a), float(b))), 1.0) for n, a, b in ends}
    joints = {
        j.name: inside(max(j.lower, -6.0), min(j.upper, 6.0), j.velocity) for j in model.joints
    }
    return model.limited(joints, actuators, width)


@pytest.mark.parametrize("name", shipped_robots())
def test_limits_of_a_driver_arrive_exactly(name):
    model = load_robot(name)
    limited = narrowed(model)
    assert limited_model(model, limits_text(limited, "left_")) == limited
    assert limited_model(model, limits_text(model)) == replace(model)
    for joint, before in zip(limited.joints, model.joints, strict=True):
        assert before.lower < joint.lower < joint.upper < before.upper


@pytest.mark.parametrize("name", shipped_robots())
def test_description_gets_the_limits_of_the_driver(name):
    model = load_robot(name)
    limited = narrowed(model)
    described = limited_urdf(model.to_urdf("left_"), limits_text(limited, "left_"))
    found, expected = (
        {j.name: (j.kind, j.limit and (j.limit.lower, j.limit.upper)) for j in read_urdf(x).joints}
        for x in (described, limited.to_urdf("left_"))
    )
    followers = {j.name for j in read_urdf(described).joints if j.mimic}
    for joint, expectation in expected.items():
        if joint not in followers:
            assert found[joint][0] == expectation[0]
            assert found[joint][1] == pytest.approx(expectation[1], abs=1e-12), joint
    assert read_urdf(described).constraints == read_urdf(limited.to_urdf("left_")).constraints
    other = limits_text(limited, "right_")
    assert limited_urdf(model.to_urdf("left_"), other) == model.to_urdf("left_")


@pytest.mark.parametrize("text", ["<robot", "", '<robot><width lower="a"/></robot>'])
def test_message_that_is_no_limits_is_refused(text):
    with pytest.raises(UrdfError):
        limited_model(load_robot("learm"), text)


@pytest.fixture
def probe():
    made = Probe("limits")
    yield made
    made.close()


def test_description_is_passed_on_again_when_the_limits_arrive(probe):
    model, received = load_robot("learm"), []
    node = probe.node
    DescriptionSubscription(node, lambda message: received.append(message.data))
    describe = node.create_publisher(String, "robot_description", LATCHED)
    limits = node.create_publisher(String, TOPIC, LATCHED)
    describe.publish(String(data=model.to_urdf()))
    probe.until(lambda: received)
    limits.publish(String(data=limits_text(narrowed(model))))
    probe.until(lambda: len(received) > 1)
    upper = {joint.name: joint.limit for joint in read_urdf(received[-1]).joints}["elbow"].upper
    assert upper == narrowed(model).joints[2].upper < model.joints[2].upper
