# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Stress tests of the rclpy executors, each hazard in its own process.

python3 benchmarks/stress_executor.py [EventsExecutor|SingleThreadedExecutor|StaticExecutor ...]
prints for each hazard whether the process behaved as expected, or how it died.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import rclpy
from arm_common.ros.executor import StaticExecutor
from control_msgs.action import GripperCommand
from rclpy.action import ActionClient, ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

ROUNDS = 200
TIMEOUT = 60.0  # [s] of each hazard
EXECUTORS = ("EventsExecutor", "SingleThreadedExecutor", "StaticExecutor")


def make_executor(name: str) -> Any:
    """Return an executor."""
    if name == "EventsExecutor":
        from rclpy.experimental.events_executor import EventsExecutor

        return EventsExecutor()
    return {"SingleThreadedExecutor": SingleThreadedExecutor, "StaticExecutor": StaticExecutor}[
        name
    ]()


def services(node: Node, executor: Any) -> bool:
    """Call a service whose callback is a coroutine that waits for a timer."""

    async def answer(request: Any, response: Any) -> Any:
        waited = Future(executor=executor)
        timer = node.create_timer(
            0.001, lambda: waited.done() or waited.set_result(None), ReentrantCallbackGroup()
        )
        await waited
        node.destroy_timer(timer)
        response.success = True
        return response

    node.create_service(Trigger, "ask", answer)
    client = node.create_client(Trigger, "ask")
    client.wait_for_service()
    for _ in range(ROUNDS):
        future = client.call_async(Trigger.Request())
        executor.spin_until_future_complete(future, 5.0)
        if not (future.done() and future.result().success):
            return False
    return True


def actions(node: Node, executor: Any) -> bool:
    """Run goals of an action, with feedback."""

    async def execute(handle: Any) -> Any:
        handle.publish_feedback(GripperCommand.Feedback())
        handle.succeed()
        return GripperCommand.Result(reached_goal=True)

    server = ActionServer(node, GripperCommand, "grip", execute)
    client = ActionClient(node, GripperCommand, "grip")
    client.wait_for_server()
    for _ in range(ROUNDS):
        sent = client.send_goal_async(GripperCommand.Goal())
        executor.spin_until_future_complete(sent, 5.0)
        result = sent.result().get_result_async()
        executor.spin_until_future_complete(result, 5.0)
        if not (result.done() and result.result().result.reached_goal):
            return False
    client.destroy()
    server.destroy()
    return True


def entities_that_come_and_go(node: Node, executor: Any) -> bool:
    """Create and destroy timers, subscriptions and publishers with event handlers."""
    events = PublisherEventCallbacks(matched=lambda status: None)
    for _ in range(ROUNDS):
        publishers = [
            node.create_publisher(String, f"t{i}", 10, event_callbacks=events) for i in range(5)
        ]
        subscriptions = [
            node.create_subscription(String, f"t{i}", lambda m: None, 10) for i in range(5)
        ]
        timers = [node.create_timer(0.0005, lambda: None) for _ in range(5)]
        publishers[0].publish(String())
        executor.spin_once(timeout_sec=0.01)
        for publisher, subscription, timer in zip(publishers, subscriptions, timers, strict=True):
            node.destroy_publisher(publisher)
            node.destroy_subscription(subscription)
            node.destroy_timer(timer)
    return True


def tasks_that_fail(node: Node, executor: Any) -> bool:
    """Raise in tasks and callbacks; the exception must propagate from spin."""

    def fail() -> None:
        raise ValueError

    async def fail_later() -> None:
        fail()

    node.create_timer(0.001, fail)
    failed = 0
    for _ in range(ROUNDS):
        executor.create_task(fail_later)
        try:
            executor.spin_once(timeout_sec=0.1)
        except ValueError:
            failed += 1
    return failed > ROUNDS // 2


def shutdown_while_spinning(node: Node, executor: Any) -> bool:
    """Shut the context down from another thread while timers fire."""
    for _ in range(10):
        node.create_timer(0.0005, lambda: None)
    threading.Timer(0.5, rclpy.shutdown).start()
    with suppress(rclpy.executors.ExternalShutdownException):
        executor.spin()
    executor.shutdown()
    node.destroy_node()
    return not rclpy.ok()


HAZARDS: tuple[Callable[[Node, Any], bool], ...] = (
    services,
    actions,
    entities_that_come_and_go,
    tasks_that_fail,
    shutdown_while_spinning,
)


def run_hazard(executor: str, hazard: str) -> int:
    """Run one hazard in this process; return 0 if it went as expected."""
    rclpy.init()
    node = rclpy.create_node("stress")
    spun = make_executor(executor)
    spun.add_node(node)
    work = next(function for function in HAZARDS if function.__name__ == hazard)
    return 0 if work(node, spun) else 1


def outcome(executor: str, hazard: str) -> str:
    """Run one hazard in a new process; return its outcome as text."""
    command = [sys.executable, __file__, "--hazard", hazard, executor]
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return f"hangs (more than {TIMEOUT:g} s)"
    if done.returncode < 0:
        return f"killed by signal {-done.returncode}"
    seconds = time.monotonic() - began
    return f"ok, {seconds:.1f} s" if done.returncode == 0 else "wrong result"


def main() -> int:
    """Run all hazards with the given executors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("executors", nargs="*", default=EXECUTORS, metavar="EXECUTOR")
    parser.add_argument("--hazard", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.hazard:
        return run_hazard(given.executors[0], given.hazard)
    for executor in given.executors:
        for hazard in HAZARDS:
            text = hazard.__name__.replace("_", " ")
            print(f"{executor:24} {text:28} {outcome(executor, hazard.__name__)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
