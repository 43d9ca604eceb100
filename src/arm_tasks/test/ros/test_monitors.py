# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Topics of the step wait_until: any type, latched or not, published or not."""

from types import SimpleNamespace

import pytest
from arm_common.ros.qos import LATCHED
from arm_tasks.errors import PlanError
from arm_tasks.ros.task_server.monitors import TopicSubscriber
from arm_tasks.task.condition import TopicCondition
from arm_testing.ros.probe import Probe
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from arm_interfaces.msg import TaskState


@pytest.fixture(scope="module")
def probe():
    probe = Probe()
    yield probe
    probe.close()


@pytest.fixture
def subscriber(probe):
    return TopicSubscriber(probe.node)


def until(topic, field="state", **condition):
    return TopicCondition(topic, field, 10.0, **condition or {"equals": "IDLE"})


def check(subscriber, condition):
    step = SimpleNamespace(index=3, name="wait for left", until=condition)
    subscriber.check(SimpleNamespace(steps=[SimpleNamespace(until=None), step]))


def test_last_message_of_a_latched_topic_counts(probe, subscriber):
    publisher = probe.node.create_publisher(TaskState, "/right/latched", LATCHED)
    publisher.publish(TaskState(state=TaskState.RUNNING))
    watched = subscriber(until("/right/latched"))
    probe.until(lambda: watched.read().reason == "it is 2")
    publisher.publish(TaskState(state=TaskState.IDLE))
    probe.until(lambda: watched.read().holds)
    watched.close()
    assert publisher.get_subscription_count() == 0


def test_topic_is_subscribed_once_it_is_published(probe, subscriber):
    watched = subscriber(until("late", "position[1]", above=0.5))
    assert watched.read().reason == "nothing publishes late"
    publisher = probe.node.create_publisher(JointState, "late", qos_profile_sensor_data)
    probe.until(lambda: watched.read().reason == "no message was received on late")

    def reached(*position):
        publisher.publish(JointState(position=position))
        return watched.read()

    probe.until(lambda: reached(1.0).reason == "position has 1 elements")
    probe.until(lambda: reached(0.0, 0.6).holds)
    watched.close()


def test_topic_that_begins_with_another_type_fails(probe, subscriber):
    watched = subscriber(until("other", type="arm_interfaces/msg/TaskState"))
    assert not watched.read().failed
    probe.node.create_publisher(JointState, "other", 1)
    probe.until(lambda: watched.read().failed)
    assert "the type of other is sensor_msgs/msg/JointState" in watched.read().reason


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (until("known", "stat"), "has no field 'stat'; did you mean 'state'?"),
        (until("known", equals="EXECUTING"), "equals is 'EXECUTING'; known are CHECKING, IDLE"),
        (until("known", "message", above=1.0), "message is text"),
        (until("known", type="std_msgs/msg/Bool"), "is arm_interfaces/msg/TaskState, not std_"),
        (until("silent", "x", equals=1.0, type="std_msgs/Bool"), "no field 'x'"),
        (until("silent", type="no_msgs/msg/Bool"), "type no_msgs/msg/Bool is not installed"),
        (until("a topic"), "'a topic' is not the name of a topic: topic name must not contain"),
    ],
)
def test_mistake_is_found_before_the_first_motion(probe, subscriber, condition, why):
    publisher = probe.node.create_publisher(TaskState, "known", LATCHED)
    probe.until(lambda: probe.node.count_publishers("known"))
    with pytest.raises(PlanError) as error:
        check(subscriber, condition)
    assert str(error.value).startswith("step 4, wait for left: ") and why in str(error.value)
    probe.node.destroy_publisher(publisher)


def test_type_that_is_unknown_yet_is_checked_later(subscriber):
    check(subscriber, until("silent", "whatever"))
