# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Topics of the step wait_until, and the simulated world: whether it sees the arm."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.qos import LATCHED
from arm_tasks.errors import PlanError
from arm_tasks.ros.task_server import monitors, planning
from arm_tasks.ros.task_server.monitors import (
    BlindWorldDetector,
    NutStateChecker,
    WorldObserver,
)
from arm_tasks.scene.nut_state import NutStatus, initial_nut
from arm_tasks.task.condition import Condition, Signal
from arm_tasks.task.parser import task_from_text
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from arm_interfaces.msg import NutState, TaskState


def until(topic, field="state", **condition):
    return Signal(topic, field=field, **condition or {"equals": "IDLE"})


def check(nodes, condition):
    when = Condition(signal=condition)
    step = SimpleNamespace(label="step 4, wait for left", when=when, command=None, find=None)
    other = SimpleNamespace(when=None, command=None, find=None)
    nodes.check(SimpleNamespace(steps=[other, step]))


def test_last_message_of_a_latched_topic_counts(probe, nodes):
    publisher = probe.node.create_publisher(TaskState, "/right/latched", LATCHED)
    publisher.publish(TaskState(state=TaskState.RUNNING))
    watched = nodes.watch(until("/right/latched"))
    probe.until(lambda: watched.read().reason == "it is 2")
    publisher.publish(TaskState(state=TaskState.IDLE))
    probe.until(lambda: watched.read().holds)
    watched.close()
    assert publisher.get_subscription_count() == 0


def test_topic_is_subscribed_once_it_is_published(probe, nodes):
    watched = nodes.watch(until("late", "position[1]", above=0.5))
    assert watched.read().reason == "nothing publishes late"
    publisher = probe.node.create_publisher(JointState, "late", qos_profile_sensor_data)
    probe.until(lambda: watched.read().reason == "no message was received on late")

    def reached(*position):
        publisher.publish(JointState(position=position))
        return watched.read()

    probe.until(lambda: reached(1.0).reason == "position has 1 elements")
    probe.until(lambda: reached(0.0, 0.6).holds)
    watched.close()


def test_topic_that_begins_with_another_type_fails(probe, nodes):
    watched = nodes.watch(until("other", type="arm_interfaces/msg/TaskState"))
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
def test_mistake_is_found_before_the_first_motion(probe, nodes, condition, why):
    publisher = probe.node.create_publisher(TaskState, "known", LATCHED)
    probe.until(lambda: probe.node.count_publishers("known"))
    with pytest.raises(PlanError) as error:
        check(nodes, condition)
    assert str(error.value).startswith("step 4, wait for left: ") and why in str(error.value)
    probe.node.destroy_publisher(publisher)


def test_type_that_is_unknown_yet_is_checked_later(nodes):
    check(nodes, until("silent", "whatever"))


class World:
    """A simulated world that has seen the arm up to a moment, on two clocks [s]."""

    def __init__(self, pace=1.0, received=100.0):
        self.pace, self.now, self.received, self.advanced = pace, 100.0, received, received
        self.detector = BlindWorldDetector(self, lambda: self.pace * self.now, lambda: self.now)

    def poll(self):
        pass

    def run(self, seconds, sees=True, publishes=True, moving=True):
        """Return for how long it has not seen the arm, at each tick."""
        unseen = []
        for _ in range(round(seconds / 0.02)):
            self.now += 0.02
            self.received = self.now if publishes else self.received
            self.advanced = self.now if sees else self.advanced
            unseen.append(self.detector.update(moving))
        return unseen


@pytest.mark.parametrize("pace", [1.0, 4.0, 20.0])
def test_world_that_stops_seeing_a_moving_arm_is_noticed_before_it_moves_far(pace):
    for publishes in (True, False):  # it lacks tf, or it is frozen
        world = World(pace)
        assert not any(world.run(3.0))
        unseen = world.run(3.0, sees=False, publishes=publishes)
        first = next(i for i, value in enumerate(unseen) if value) * 0.02
        assert first <= max(2.0 / pace, 0.5) + 0.1
        assert unseen[-1] == pytest.approx(3.0, abs=0.1)
        assert not any(world.run(1.0))


def test_short_motions_that_the_world_does_not_see_count_together():
    world = World(8.0)
    world.run(1.0)
    unseen = []
    for _ in range(4):
        unseen += world.run(0.2, sees=False) + world.run(0.1, sees=False, moving=False)
    first = next(i for i, value in enumerate(unseen) if value) * 0.02
    assert first <= 0.9  # after two and a half motions


def test_arm_that_stopped_for_a_blind_world_waits_until_it_sees_again():
    """The hold itself stops the arm: that is no sign of the world."""
    world = World(20.0)
    world.run(3.0)
    world.run(0.6, sees=False)
    unseen = world.run(7.0, sees=False, moving=False)
    assert all(unseen) and unseen[-1] == pytest.approx(7.6, abs=0.1)
    assert not any(world.run(0.1, moving=False))


def test_world_of_an_arm_at_rest_may_be_silent_for_longer():
    """joint_states of an arm at rest are rare in wall time, whatever the pace."""
    world = World(20.0)
    for _ in range(5):
        assert not any(world.run(1.0, sees=False, moving=False))
        assert not any(world.run(0.04, moving=False))
    assert not any(world.run(0.4, sees=False))  # the first tf of the motion may be late
    assert any(world.run(3.0, sees=False, moving=False))


def test_without_a_simulated_world_nothing_is_blind():
    world = World(received=0.0)
    assert not any(world.run(20.0, sees=False, publishes=False))
    assert any(world.run(5.0, sees=False))  # one that starts later must see, too


def test_world_that_was_blind_before_the_task_is_noticed():
    world = World(received=98.0)
    assert any(world.run(3.0, sees=False, publishes=False))


def test_pause_of_the_process_is_no_blindness():
    world = World(20.0)
    world.run(1.0)
    world.now += 5.0
    assert not world.detector.update(True)
    assert not any(world.run(1.0))


def test_nut_that_nobody_has_seen_lately_is_unknown(probe, monkeypatch):
    polled = PolledSubscriptions()
    observer = WorldObserver(
        probe.node, SimpleNamespace(width=0.02, positions={}, measured=False), polled
    )
    publisher = probe.node.create_publisher(NutState, "nut_world/state", 10)
    message = NutState(bolt="upper_bolt", state=NutState.ON_BOLT)
    message.header.stamp.sec = 7
    message.pose.pose.orientation.w = 1.0

    def published():
        publisher.publish(message)
        return observer.nut

    assert probe.until(published).bolt == "upper_bolt"
    now = monitors.time.monotonic()
    monkeypatch.setattr(monitors.time, "monotonic", lambda: now + 6.0)
    received = observer.received
    probe.until(lambda: published() or observer.received > received)
    assert observer.nut is None  # it is published, but with the same stamp
    when = Condition(nut_on="upper_bolt")
    assert observer(when, 7.5) is None and observer(when, 6.5).nut.bolt == "upper_bolt"
    message.header.stamp.sec = 8
    assert probe.until(published).bolt == "upper_bolt"
    for message.state in (NutState.NOT_JUDGED, 167):  # of a world that failed, and of none
        message.header.stamp.sec += 1
        probe.until(lambda: published() is None)
        assert observer(when, 6.5) is None


@pytest.mark.parametrize(
    ("inside", "is_refused"),
    [
        ("{steps}", True),
        ("  - repeat: {{times: 1, steps: [wait: 0]}}\n{steps}", True),
        ("  - if: {{when: {{nut_on: upper_bolt}}, then: [wait: 0]}}\n{steps}", False),
        (
            "  - repeat: {{times: 1, steps: [if: {{when: {{nut_on: upper_bolt}}, "
            "then: [wait: 0]}}]}}\n{steps}",
            False,
        ),
    ],
)
def test_task_that_handles_another_start_of_the_nut_is_not_refused(inside, is_refused, scene):
    text = "task: t\nsteps:\n" + inside.format(steps="  - wait: 0\n")
    task = task_from_text(text, "t.yaml")
    turning = SimpleNamespace(report=SimpleNamespace(turns=3.0))
    plan = SimpleNamespace(steps=[turning], request=SimpleNamespace(task=task, scene=scene))
    fallen = replace(initial_nut(scene), status=NutStatus.FALLEN)
    checker = NutStateChecker(SimpleNamespace(nut=fallen), None, None, None)
    assert bool(checker.start_problem(plan)) is is_refused


class NoReference:
    """Planning where no package that simulates is installed."""

    async def reference_run(self, plan):
        return None


def test_without_a_reference_run_a_person_is_asked_to_look(scene):
    plan = SimpleNamespace(request=SimpleNamespace(scene=scene), joint_names=())
    observer = SimpleNamespace(nut=initial_nut(scene))
    port = SimpleNamespace(configuration=lambda: SimpleNamespace(positions={}))
    checker = NutStateChecker(observer, NoReference(), port, None)
    (warning,) = finished(checker.check(plan, 3))
    assert "no reference run was made" in warning and "arm_simulation" in warning
    observer.nut = None
    assert finished(checker.safe_state(plan, 3)) == ""


def finished(coroutine):
    """Return the result of a coroutine that waits for nothing."""
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    return end.value.value


@pytest.mark.parametrize("installed", [False, True])
def test_reference_run_is_that_of_an_installed_package(monkeypatch, installed):
    made = SimpleNamespace(names=("mine",) * installed, load=lambda name: lambda plan: plan.task)
    monkeypatch.setattr(planning, "REFERENCE_RUNS", made)
    monkeypatch.setattr(planning, "run_in_child", lambda work, timeout: work())

    async def run(work):
        return work()

    server = SimpleNamespace(_goals=SimpleNamespace(run=run), _timeout=1.0)
    answer = finished(planning.Planning.reference_run(server, SimpleNamespace(task="nut")))
    assert answer == ("nut" if installed else None)
