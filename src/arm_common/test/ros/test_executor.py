# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""StaticExecutor behaves as SingleThreadedExecutor: most tests run with both."""

import threading
import time
from contextlib import suppress

import pytest
import rclpy
from arm_common.ros import executor as module
from arm_common.ros.executor import StaticExecutor
from arm_testing.ros.probe import Probe
from control_msgs.action import GripperCommand
from rclpy.action import ActionClient, ActionServer
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

PATIENCE = 60.0


class Rig(Probe):
    def __init__(self, make):
        super().__init__("rig")
        self.executor.shutdown()
        self.executor = make(context=self.context)
        self.executor.add_node(self.node)

    def done(self, future):
        self.until(future.done)
        return future.result()

    def connect(self, topic="words"):
        """Return a publisher, its matched subscription and the received texts."""
        received = []
        subscription = self.node.create_subscription(
            String, topic, lambda m: received.append(m.data), 10
        )
        publisher = self.node.create_publisher(String, topic, 10)
        self.until(publisher.get_subscription_count)
        return publisher, subscription, received


@pytest.fixture(params=[SingleThreadedExecutor, StaticExecutor])
def rig(request):
    rig = Rig(request.param)
    yield rig
    rig.close()


def test_messages_come_in_order(rig):
    publisher, _, received = rig.connect()
    words = [str(i) for i in range(10)]
    for word in words:
        publisher.publish(String(data=word))
    rig.until(lambda: received == words)


def test_timers_fire_until_canceled(rig):
    counts = {"a": 0, "b": 0}

    def count(name):
        counts[name] += 1
        if counts[name] == 3 and name == "a":
            timer.cancel()

    timer = rig.node.create_timer(0.005, lambda: count("a"))
    rig.node.create_timer(0.005, lambda: count("b"))
    rig.until(lambda: counts["b"] >= 20)
    assert counts["a"] == 3


def test_service_responds_to_a_client(rig):
    def answer(request, response):
        response.message = "here"
        return response

    rig.node.create_service(Trigger, "ask", answer)
    client = rig.node.create_client(Trigger, "ask")
    rig.until(client.service_is_ready)
    assert rig.done(client.call_async(Trigger.Request())).message == "here"


def test_action_awaits_a_message_of_the_same_node(rig):
    # The goal's coroutine awaits a word, which the node's own subscription receives.
    publisher, _, received = rig.connect()
    word = Future()

    async def execute(handle):
        handle.publish_feedback(GripperCommand.Feedback(position=0.5))
        await word
        handle.succeed()
        return GripperCommand.Result(reached_goal=True)

    server = ActionServer(rig.node, GripperCommand, "grip", execute)
    client = ActionClient(rig.node, GripperCommand, "grip")
    rig.until(client.server_is_ready)
    feedback = []
    handle = rig.done(client.send_goal_async(GripperCommand.Goal(), feedback.append))
    result = handle.get_result_async()
    rig.until(lambda: feedback)
    publisher.publish(String(data="go"))
    rig.until(lambda: received)
    assert not result.done()
    word.set_result(None)
    assert rig.done(result).result.reached_goal
    client.destroy()
    server.destroy()


def test_coroutine_resumes_when_its_future_completes(rig):
    first, order = Future(), []

    async def last():
        await first
        order.append("last")

    async def earlier():
        order.append("earlier")
        first.set_result(None)

    waiting = rig.executor.create_task(last)
    rig.executor.create_task(earlier)
    rig.until(waiting.done)
    assert order == ["earlier", "last"]


def test_failing_callback_is_attributed_to_its_node():
    rig = Rig(StaticExecutor)
    other = Node("other", context=rig.context)
    rig.executor.add_node(other)
    future = Future(executor=rig.executor)
    future.add_done_callback(lambda _: 1 / 0)  # executed by a task, which has no node itself
    timer = other.create_timer(0.001, lambda: (timer.cancel(), future.set_result(None)))
    rig.node.create_timer(0.001, lambda: None)
    with pytest.raises(ZeroDivisionError):
        rig.until(lambda: False)
    assert rig.executor.current_node is other
    other.destroy_node()
    rig.close()


def test_entity_created_in_a_callback_is_served(rig):
    publisher, _, received = rig.connect()
    later = []

    def begin():
        timer.cancel()
        rig.node.create_subscription(String, "words", lambda m: later.append(m.data), 10)

    timer = rig.node.create_timer(0.001, begin)
    rig.until(lambda: publisher.get_subscription_count() == 2)
    publisher.publish(String(data="x"))
    rig.until(lambda: later == received == ["x"])


def test_entity_created_in_another_thread_ends_the_wait(rig):
    done, fired = threading.Event(), []

    def make():
        rig.node.create_timer(0.001, lambda: fired.append(True))
        done.set()

    threading.Thread(target=make).start()
    end = time.monotonic() + PATIENCE
    while not fired and time.monotonic() < end:
        rig.executor.spin_once(timeout_sec=PATIENCE)  # nothing else ends this wait
    assert fired
    assert done.wait(PATIENCE)


def test_destroyed_subscription_disappears_for_publishers(rig):
    publisher, subscription, received = rig.connect()
    rig.node.destroy_subscription(subscription)
    rig.until(lambda: publisher.get_subscription_count() == 0)
    publisher.publish(String(data="x"))
    rig.executor.spin_once(timeout_sec=0.0)
    assert received == []


def test_entities_destroyed_after_the_wait_are_skipped(rig):
    """Events of several publishers are ready at once, and each spin serves one."""
    events = PublisherEventCallbacks(matched=lambda status: None)
    for _ in range(20):
        publishers = [
            rig.node.create_publisher(String, f"t{i}", 10, event_callbacks=events)
            for i in range(5)
        ]
        subscriptions = [
            rig.node.create_subscription(String, f"t{i}", print, 10) for i in range(5)
        ]
        rig.executor.spin_once(timeout_sec=0.01)
        for publisher, subscription in zip(publishers, subscriptions, strict=True):
            rig.node.destroy_publisher(publisher)
            rig.node.destroy_subscription(subscription)
    rig.executor.spin_once(timeout_sec=0.01)


def test_nodes_can_be_added_and_removed(rig):
    other = Node("other", context=rig.context)
    fired = []
    other.create_timer(0.001, lambda: fired.append(True))
    rig.executor.add_node(other)
    rig.until(lambda: fired)
    rig.executor.remove_node(other)
    count = len(fired)
    ticks = []
    rig.node.create_timer(0.001, lambda: ticks.append(True))
    rig.until(lambda: len(ticks) > 5)
    assert len(fired) <= count + 1
    other.destroy_node()


def test_match_event_is_reported_under_load(rig):
    ticks, matches = [], []
    rig.node.create_timer(0.001, lambda: ticks.append(True))
    rig.until(lambda: len(ticks) > 5)
    events = PublisherEventCallbacks(matched=lambda status: matches.append(status.current_count))
    rig.node.create_publisher(String, "words", 10, event_callbacks=events)
    rig.until(lambda: len(ticks) > 10)
    rig.node.create_subscription(String, "words", lambda m: None, 10)
    rig.until(lambda: matches == [1])


def test_idle_wait_times_out(rig):
    rig.executor.spin_once(timeout_sec=0.0)
    rig.executor.spin_once(timeout_sec=0.01)
    never = Future()
    rig.executor.spin_until_future_complete(never, timeout_sec=0.01)
    assert not never.done()


def test_completed_future_ends_spinning(rig):
    future = Future()
    rig.node.create_timer(0.001, lambda: future.done() or future.set_result(7))
    rig.executor.spin_until_future_complete(future, timeout_sec=PATIENCE)
    assert future.result() == 7


def test_exception_of_a_callback_reaches_the_spinner(rig):
    def fail():
        raise ValueError("of a callback")

    rig.node.create_timer(0.001, fail)
    with pytest.raises(ValueError, match="of a callback"):
        rig.until(lambda: False)


def test_context_shutdown_ends_spinning(rig):
    rig.node.create_timer(0.001, lambda: rclpy.shutdown(context=rig.context))
    with suppress(ExternalShutdownException):  # or it just returns
        rig.executor.spin()
    assert not rig.context.ok()


def test_shutdown_from_another_thread_ends_spinning(rig):
    thread = threading.Thread(target=rig.executor.spin)
    thread.start()
    rig.executor.shutdown()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_triggered_guard_waits_until_its_group_is_free(rig):
    """A timer of the same group, ready in the same wait, continues as a coroutine."""
    free, order = Future(), []

    async def work():
        timer.cancel()
        await free
        order.append("work")

    guard = rig.node.create_guard_condition(lambda: order.append("guard"))
    timer = rig.node.create_timer(0.001, work)
    other = MutuallyExclusiveCallbackGroup()
    ticks = []
    rig.node.create_timer(0.001, lambda: ticks.append(True), callback_group=other)
    while not timer.is_ready():
        pass
    guard.trigger()
    rig.until(lambda: len(ticks) > 5)
    assert order == []
    free.set_result(None)
    rig.until(lambda: len(order) == 2)
    assert order == ["work", "guard"]


@pytest.fixture
def made(monkeypatch):
    made = []

    class Counted(module.CachedWaitSet):
        def __init__(self, *args):
            made.append(self)
            super().__init__(*args)

    monkeypatch.setattr(module, "CachedWaitSet", Counted)
    return made


def test_wait_set_is_reused_between_messages(made):
    rig = Rig(StaticExecutor)
    publisher, _, received = rig.connect()
    rig.until(lambda: made)
    count = len(made)
    for i in range(20):
        publisher.publish(String(data=str(i)))
        rig.until(lambda i=i: received[-1:] == [str(i)])
    assert len(made) - count <= 1
    rig.close()


def test_unknown_rclpy_falls_back_to_single_threaded_executor(made, monkeypatch):
    monkeypatch.setattr(module, "KNOWN_SIGNATURE", [])
    rig = Rig(StaticExecutor)
    rig.connect()
    assert made == []
    rig.close()


def test_destroyed_timers_leave_nothing_in_their_group(rig):
    entities = rig.node.default_callback_group.entities
    before = len(entities)
    for _ in range(10):
        module.destroy_timer(rig.node, rig.node.create_timer(60.0, lambda: None))
    assert len(entities) == before and not list(rig.node.timers)


def test_messages_that_gathered_are_handled_after_one_delay(monkeypatch):
    rig = Rig(lambda **more: StaticExecutor(0.05, **more))
    publisher, _, received = rig.connect()
    delays = []
    monkeypatch.setattr(module.time, "sleep", delays.append)
    words = [str(i) for i in range(10)]
    for word in words:
        publisher.publish(String(data=word))
    rig.until(lambda: received == words)
    assert len(delays) < len(words) / 2
    rig.close()


def test_task_that_awaits_does_not_end_the_delays(monkeypatch):
    rig = Rig(lambda **more: StaticExecutor(0.01, **more))
    sleep, delays, waits = time.sleep, [], []
    monkeypatch.setattr(module.time, "sleep", lambda s: (delays.append(s), sleep(s)))
    wait = module.CachedWaitSet.wait
    monkeypatch.setattr(
        module.CachedWaitSet, "wait", lambda *args: (waits.append(args), wait(*args))
    )

    async def await_forever():
        await Future()

    rig.executor.create_task(await_forever)
    ticks = []
    rig.node.create_timer(0.05, lambda: ticks.append(1))
    rig.until(lambda: len(ticks) >= 5)
    assert len(waits) <= 2 * len(delays) + 2
    rig.close()
