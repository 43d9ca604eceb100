# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Calls of the services: no deadlock from any context, and neither losses nor leaks under load."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue

import numpy as np
import pytest
import rclpy
from arm_common.ros.service_client import ServiceClient
from arm_kinematics.ik.options import MODES
from arm_kinematics.ros.client import CallError, KinematicsClient, NoAnswerError
from arm_testing.ros.kinematics import PATIENCE, World, joint_state, pose_request
from arm_testing.waiting import wait_for
from rclpy.action import ActionClient, ActionServer
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from std_msgs.msg import String
from std_srvs.srv import Trigger

from arm_description import load_robot
from arm_interfaces.action import RunTask
from arm_interfaces.srv import GetJacobian, SolveFK, SolveIK
from arm_kinematics import Chain

MODEL = load_robot("nut_arm")
CHAIN = Chain.from_model(MODEL)
REST = dict(zip(CHAIN.joint_names, (0.1, 0.2, 0.3, 0.4), strict=True))
SUCCESS = SolveIK.Response.SUCCESS


@pytest.fixture(scope="module")
def process(serving) -> Iterator[int]:
    """A kinematics node on a stopped simulated clock; yields its process id."""
    with serving("--ros-args", "-p", "use_sim_time:=true") as world:
        world.describe(MODEL.to_urdf())
        ask = SolveFK.Request(joint_state=joint_state(REST))
        world.until(lambda: world.call("solve_fk", ask).status == SUCCESS)
        yield world.pid


@pytest.fixture(params=[SingleThreadedExecutor, lambda **k: MultiThreadedExecutor(2, **k)])
def world(process, request) -> Iterator[World]:
    """A client node spun by its own thread, on either kind of executor."""
    world = World()
    world.executor.remove_node(world.node)
    world.executor.shutdown()
    world.executor = request.param(context=world.context)
    world.executor.add_node(world.node)
    thread = threading.Thread(target=world.executor.spin)
    thread.start()
    yield world
    world.close()
    thread.join(PATIENCE)


def ask(q: list[float] | None = None, tool: float = 0.0, **fields) -> SolveIK.Request:
    """Return a request for the pose at q of a tool of some length [m]."""
    T = CHAIN.fk([0.3, 0.1, 0.2, -0.5] if q is None else q)
    T[:3, 3] += tool * T[:3, 2]
    request = pose_request(T, seed=joint_state(REST), **fields)
    request.tool.translation.z = tool
    return request


def in_a_timer(world: World, callback: Callable) -> None:
    world.node.create_timer(0.01, callback)


def in_a_subscription(world: World, callback: Callable) -> None:
    async def on_message(_: String) -> None:
        if (result := callback()) is not None:
            await result

    world.node.create_subscription(String, "topic", on_message, 10)
    publisher = world.node.create_publisher(String, "topic", 10)
    world.node.create_timer(0.05, lambda: publisher.publish(String()))


def in_an_action(world: World, callback: Callable) -> None:
    async def execute(handle):
        if (result := callback()) is not None:
            await result
        handle.succeed()
        return RunTask.Result()

    ActionServer(world.node, RunTask, "wait", execute)
    client = ActionClient(world.node, RunTask, "wait")
    assert client.wait_for_server(PATIENCE)
    client.send_goal_async(RunTask.Goal())


CONTEXTS = {"a timer": in_a_timer, "a subscription": in_a_subscription, "an action": in_an_action}


@pytest.mark.parametrize("context", CONTEXTS)
class TestCallbacks:
    def test_awaiting_a_response_works(self, world, context):
        client = KinematicsClient(world.node)
        outcome: SimpleQueue = SimpleQueue()

        async def callback() -> None:
            outcome.put(await client.solve_ik.call_async(ask()))

        CONTEXTS[context](world, callback)
        assert outcome.get(timeout=PATIENCE).status == SUCCESS

    def test_blocking_call_is_rejected_at_once(self, world, context):
        client = KinematicsClient(world.node)
        outcome: SimpleQueue = SimpleQueue()

        def callback() -> None:
            try:
                outcome.put(client.solve_ik.call(ask(), PATIENCE))
            except CallError as error:
                outcome.put(error)

        CONTEXTS[context](world, callback)
        response = outcome.get(timeout=PATIENCE)
        assert isinstance(response, CallError) and "from a callback" in str(response)


def test_blocking_calls_work_in_separate_threads(world):
    client = KinematicsClient(world.node)
    responses: list[SolveIK.Response] = []

    def work() -> None:
        for _ in range(10):
            responses.append(client.solve_ik.call(ask(), PATIENCE))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(responses) == 40 and all(r == responses[0] for r in responses)
    assert responses[0].status == SUCCESS
    state = joint_state(REST)
    fk = client.solve_fk.call(SolveFK.Request(joint_state=state), PATIENCE)
    jacobian = client.get_jacobian.call(GetJacobian.Request(joint_state=state), PATIENCE)
    assert fk.status == jacobian.status == SUCCESS


def test_request_sent_before_discovery_is_not_lost(world):
    """Sent right after the client is created, long before discovery completes."""
    outcome: SimpleQueue = SimpleQueue()
    KinematicsClient(world.node).solve_ik.call_async(ask()).add_done_callback(
        lambda future: outcome.put(future.result())
    )
    assert outcome.get(timeout=PATIENCE).status == SUCCESS


def test_server_that_appears_between_two_looks_gets_one_request(world):
    looks, received = iter((False, False)), []

    class Late(ServiceClient):
        @property
        def is_ready(self):
            return next(looks, True) and super().is_ready

    def answer(request, response):
        received.append(request)
        return response

    world.node.create_service(Trigger, "late", answer)
    client = Late(world.node, Trigger, "late")
    wait_for(lambda: ServiceClient.is_ready.fget(client), "the server")
    timers = len(list(world.node.timers))
    response = client.call_async(Trigger.Request())
    wait_for(response.done, "a response")
    wait_for(lambda: len(list(world.node.timers)) == timers, "the end of the polls")
    later = client.call_async(Trigger.Request())
    wait_for(later.done, "the next response")
    assert len(received) == 2


def test_missing_response_reports_the_likely_reason(world):
    nobody = KinematicsClient(world.node, "nobody")
    with pytest.raises(NoAnswerError, match=r"no server of '.*nobody/solve_ik'"):
        nobody.solve_ik.call(ask(), 0.05)
    with pytest.raises(CallError, match="timeout is 0"):
        nobody.solve_ik.call(ask(), 0.0)
    unspun = rclpy.create_node("unspun", context=world.context)
    client = KinematicsClient(unspun)
    wait_for(lambda: client.solve_ik.is_ready)
    with pytest.raises(TimeoutError, match="is this node being spun"):
        client.solve_ik.call(ask(), 0.5)
    unspun.destroy_node()


def test_send_needs_a_server_and_passes_the_response_on(world):
    assert not KinematicsClient(world.node, "nobody").solve_fk.send()
    client, outcome = KinematicsClient(world.node).solve_fk, SimpleQueue()
    wait_for(lambda: client.is_ready)
    assert client.send(outcome.put, joint_state=joint_state(REST))
    assert outcome.get(timeout=PATIENCE).status == SUCCESS


def test_timeouts_use_the_steady_clock(world):
    """Timeouts still end with use_sim_time and no clock."""
    client = KinematicsClient(world.node)
    request = ask([0.1, 0.2, 0.3, 0.4])
    request.target.pose.position.x += 1.0
    request.timeout.nanosec = 1
    response = client.solve_ik.call(request, PATIENCE)
    assert response.status == SolveIK.Response.TIMEOUT
    request.timeout.sec = 100
    response = client.solve_ik.call(request, PATIENCE)
    assert response.status == SolveIK.Response.UNREACHABLE_POSITION


def resident_memory(pid: int) -> int:
    """Return the resident memory of a process [bytes]."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def send_many(world: World, rng: np.random.Generator, count: int) -> int:
    """Send requests of all kinds from several clients, hundreds at once; count the successes."""
    clients = [KinematicsClient(world.node) for _ in range(5)]
    room = threading.Semaphore(300)
    futures = []
    for k, q in enumerate(rng.uniform(-0.5, 0.5, (count, 4)).tolist()):
        tip = "" if k % 7 else "tool0"
        mode = k % (len(MODES) + 1)
        request = ask(q, 1e-4 * (k % 50), mode=mode, max_solutions=k % 3, tip_frame=tip)
        assert room.acquire(timeout=PATIENCE), "responses are missing"
        futures.append(clients[k % 5].solve_ik.call_async(request))
        futures[-1].add_done_callback(lambda _: room.release())
    for _ in range(300):
        assert room.acquire(timeout=PATIENCE), "responses are missing"
    return sum(future.result().status == SUCCESS for future in futures)


def test_hundreds_of_concurrent_requests_neither_get_lost_nor_leak(world, process, rng):
    send_many(world, rng, 400)
    before = resident_memory(process)
    requests = 150 * (len(MODES) + 1)
    assert send_many(world, rng, requests) == 150 * len(MODES)  # the others have an invalid mode
    assert resident_memory(process) - before < 6_000_000  # 10 kB per request
