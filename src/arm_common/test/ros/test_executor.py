# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What SingleThreadedExecutor does, StaticExecutor does: each test is run with both."""

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

    def talk(self, topic="words"):
        """A publisher that has met its subscription, and what was heard."""
        heard = []
        hearing = self.node.create_subscription(String, topic, lambda m: heard.append(m.data), 10)
        publisher = self.node.create_publisher(String, topic, 10)
        self.until(publisher.get_subscription_count)
        return publisher, hearing, heard


@pytest.fixture(params=[SingleThreadedExecutor, StaticExecutor])
def rig(request):
    rig = Rig(request.param)
    yield rig
    rig.close()


def test_messages_come_in_order(rig):
    publisher, _, heard = rig.talk()
    words = [str(i) for i in range(10)]
    for word in words:
        publisher.publish(String(data=word))
    rig.until(lambda: heard == words)


def test_timers_fire_again_and_again_until_canceled(rig):
    counts = {"a": 0, "b": 0}

    def count(name):
        counts[name] += 1
        if counts[name] == 3 and name == "a":
            timer.cancel()

    timer = rig.node.create_timer(0.005, lambda: count("a"))
    rig.node.create_timer(0.005, lambda: count("b"))
    rig.until(lambda: counts["b"] >= 20)
    assert counts["a"] == 3


def test_a_service_answers_a_client(rig):
    def answer(request, response):
        response.message = "here"
        return response

    rig.node.create_service(Trigger, "ask", answer)
    client = rig.node.create_client(Trigger, "ask")
    rig.until(client.service_is_ready)
    assert rig.done(client.call_async(Trigger.Request())).message == "here"


def test_an_action_runs_beside_what_it_waits_for(rig):
    """The goal's coroutine waits for a word; it comes by a subscription of the same node."""
    publisher, _, heard = rig.talk()
    word = Future()

    async def execute(handle):
        handle.publish_feedback(GripperCommand.Feedback(position=0.5))
        await word
        handle.succeed()
        return GripperCommand.Result(reached_goal=True)

    server = ActionServer(rig.node, GripperCommand, "grip", execute)
    client = ActionClient(rig.node, GripperCommand, "grip")
    rig.until(client.server_is_ready)
    told = []
    handle = rig.done(client.send_goal_async(GripperCommand.Goal(), told.append))
    result = handle.get_result_async()
    rig.until(lambda: told)
    publisher.publish(String(data="go"))
    rig.until(lambda: heard)
    assert not result.done()
    word.set_result(None)
    assert rig.done(result).result.reached_goal
    client.destroy()
    server.destroy()


def test_a_coroutine_goes_on_when_a_later_one_has_ended(rig):
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


def test_what_comes_in_a_callback_is_served(rig):
    publisher, _, heard = rig.talk()
    later = []

    def begin():
        timer.cancel()
        rig.node.create_subscription(String, "words", lambda m: later.append(m.data), 10)

    timer = rig.node.create_timer(0.001, begin)
    rig.until(lambda: publisher.get_subscription_count() == 2)
    publisher.publish(String(data="x"))
    rig.until(lambda: later == heard == ["x"])


def test_what_comes_from_another_thread_ends_the_wait(rig):
    done, fired = threading.Event(), []

    def make():
        rig.node.create_timer(0.001, lambda: fired.append(True))
        done.set()

    threading.Thread(target=make).start()
    end = time.monotonic() + PATIENCE
    while not fired and time.monotonic() < end:
        rig.executor.spin_once(timeout_sec=PATIENCE)  # a wait that nothing else ends
    assert fired
    assert done.wait(PATIENCE)


def test_what_is_destroyed_is_gone_for_others(rig):
    publisher, hearing, heard = rig.talk()
    rig.node.destroy_subscription(hearing)
    rig.until(lambda: publisher.get_subscription_count() == 0)
    publisher.publish(String(data="x"))
    rig.executor.spin_once(timeout_sec=0.0)
    assert heard == []


def test_what_is_destroyed_after_the_wait_is_not_served(rig):
    """Events of several publishers are ready at once, and one event is served a spin."""
    events = PublisherEventCallbacks(matched=lambda status: None)
    for _ in range(20):
        publishers = [
            rig.node.create_publisher(String, f"t{i}", 10, event_callbacks=events)
            for i in range(5)
        ]
        hearing = [rig.node.create_subscription(String, f"t{i}", print, 10) for i in range(5)]
        rig.executor.spin_once(timeout_sec=0.01)
        for publisher, subscription in zip(publishers, hearing, strict=True):
            rig.node.destroy_publisher(publisher)
            rig.node.destroy_subscription(subscription)
    rig.executor.spin_once(timeout_sec=0.01)


def test_nodes_come_and_go(rig):
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


def test_a_match_is_heard_of_amid_a_stream(rig):
    ticks, matches = [], []
    rig.node.create_timer(0.001, lambda: ticks.append(True))
    rig.until(lambda: len(ticks) > 5)
    events = PublisherEventCallbacks(matched=lambda status: matches.append(status.current_count))
    rig.node.create_publisher(String, "words", 10, event_callbacks=events)
    rig.until(lambda: len(ticks) > 10)
    rig.node.create_subscription(String, "words", lambda m: None, 10)
    rig.until(lambda: matches == [1])


def test_a_wait_ends_in_time_with_nothing_to_do(rig):
    rig.executor.spin_once(timeout_sec=0.0)
    rig.executor.spin_once(timeout_sec=0.01)
    never = Future()
    rig.executor.spin_until_future_complete(never, timeout_sec=0.01)
    assert not never.done()


def test_a_future_ends_the_spinning(rig):
    future = Future()
    rig.node.create_timer(0.001, lambda: future.done() or future.set_result(7))
    rig.executor.spin_until_future_complete(future, timeout_sec=PATIENCE)
    assert future.result() == 7


def test_what_a_callback_raises_reaches_who_spins(rig):
    def fail():
        raise ValueError("of a callback")

    rig.node.create_timer(0.001, fail)
    with pytest.raises(ValueError, match="of a callback"):
        rig.until(lambda: False)


def test_the_end_of_the_context_ends_the_spinning(rig):
    rig.node.create_timer(0.001, lambda: rclpy.shutdown(context=rig.context))
    with suppress(ExternalShutdownException):  # or it just returns
        rig.executor.spin()
    assert not rig.context.ok()


def test_a_shutdown_from_another_thread_ends_the_spinning(rig):
    thread = threading.Thread(target=rig.executor.spin)
    thread.start()
    rig.executor.shutdown()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_triggered_guard_is_not_forgotten_while_its_group_is_busy(rig):
    """A timer of the same group, ready in the same look, goes on as a coroutine."""
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


def test_the_wait_set_is_kept_from_message_to_message(made):
    rig = Rig(StaticExecutor)
    publisher, _, heard = rig.talk()
    rig.until(lambda: made)
    count = len(made)
    for i in range(20):
        publisher.publish(String(data=str(i)))
        rig.until(lambda i=i: heard[-1:] == [str(i)])
    assert len(made) - count <= 1
    rig.close()


def test_with_an_unknown_rclpy_it_is_a_single_threaded_executor(made, monkeypatch):
    monkeypatch.setattr(module, "KNOWN", [])
    rig = Rig(StaticExecutor)
    rig.talk()
    assert made == []
    rig.close()
