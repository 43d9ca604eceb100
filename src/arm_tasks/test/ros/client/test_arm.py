# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The client against scripted servers: in callbacks, threads and asyncio; time-outs."""

import asyncio
import contextlib
import math
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import rclpy
import yaml
from arm_common.ros.node_runner import ExecutorThread
from arm_common.ros.qos import LATCHED
from arm_common.transforms import pose, so3_exp
from arm_tasks.client import Arm, ArmError, ArmTimeoutError, Teacher
from arm_tasks.ros.client.task_goal import TaskServerClient, pose_keys, task_text
from arm_tasks.task.parser import task_from_text
from arm_testing.ros.probe import Probe
from arm_testing.waiting import wait_for
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.msg import IKSolution, TaskState
from arm_interfaces.srv import (
    CancelIKBatch,
    CheckTask,
    SolveDynamics,
    SolveFK,
    SolveIK,
    SolveIKBatch,
)
from arm_tasks import client

BOUND = 60.0
RESULT = RunTask.Result


class Servers:
    """Scripted servers; a motion to a waist above 1 ends only when it is cancelled."""

    def __init__(self, context):
        self.node = rclpy.create_node("task_server", context=context)
        self.node.declare_parameter("prefix", "")
        self.goals, self.silent, self.over = [], False, False
        self.endless = False  # whether all goals end only when they are cancelled
        self.stopped = []  # goals that were cancelled
        self.batches, self.canceled = [], []  # requests, and ids
        self.preferred = []  # preferences of requests
        self.not_ready = 0  # remaining responses NOT_READY
        self.beating = True  # whether the task server has its heartbeat
        group = ReentrantCallbackGroup()
        self.action = ActionServer(
            self.node,
            RunTask,
            "run_task",
            self.run,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=group,
        )
        for kind, name, answer in (
            (SolveIK, "kinematics/solve_ik", self.ik),
            (SolveIKBatch, "kinematics/solve_ik_batch", self.ik_batch),
            (CancelIKBatch, "kinematics/cancel_ik_batch", self.cancel_batch),
            (SolveFK, "kinematics/solve_fk", self.fk),
            (SolveDynamics, "kinematics/solve_dynamics", self.dynamics),
            (CheckTask, "check_task", self.check),
            (Trigger, "arm_hardware/stop", self.trigger),
            (Trigger, "arm_hardware/reset", self.trigger),
        ):
            self.node.create_service(kind, name, answer, callback_group=group)
        publisher = self.node.create_publisher(JointState, "joint_states", 10)
        self.state = JointState(name=["waist"], position=[0.25])
        self.node.create_timer(0.05, lambda: publisher.publish(self.state), callback_group=group)
        self.beats = self.node.create_publisher(TaskState, "task_server/state", LATCHED)
        self.node.create_timer(0.05, self.beat, callback_group=group)
        executor = MultiThreadedExecutor(num_threads=4, context=context)
        self.thread = ExecutorThread(executor, [self.node], lambda: None)

    def beat(self):
        if self.beating:
            self.beats.publish(TaskState())

    def run(self, handle):
        goal = handle.request
        self.goals.append(goal)
        handle.publish_feedback(RunTask.Feedback(step=0, steps_total=1, message="moving"))
        step = yaml.safe_load(goal.text)["steps"][0] if goal.text else {}
        waist = step.get("move_joints", {}).get("joints", {}).get("waist", 0.0)
        if waist < -1.0:
            handle.abort()
            return RESULT(status=RESULT.NOT_FEASIBLE, message="joint waist is beyond its limit")
        while (waist > 1.0 or self.endless) and not (handle.is_cancel_requested or self.over):
            time.sleep(0.01)
        if handle.is_cancel_requested:
            self.stopped.append(goal)
            handle.canceled()
            return RESULT(status=RESULT.CANCELED, message="canceled; the arm holds where it is")
        handle.succeed()
        return RESULT(status=RESULT.SUCCESS, message="done")

    def check(self, _, response):
        while not (self.beating or self.over):
            time.sleep(0.01)
        return response

    def ik(self, request, response):
        self.preferred.append(request.preference)
        if self.not_ready:
            self.not_ready -= 1
            response.status, response.message = SolveIK.Response.NOT_READY, "no robot yet"
            return response
        response.status = 1 if request.target.pose.position.x < 1.0 else -1
        response.message = "fine" if response.status == 1 else "out of reach by 12 mm"
        joints = JointState(name=["waist"], position=[request.target.pose.position.x])
        response.solutions = [IKSolution(joint_state=joints)]
        return response

    def ik_batch(self, request, response):
        """Answer targets with x below 1; otherwise the batch ends when it is cancelled."""
        self.batches.append(request)
        x = list(request.positions[::3])
        while max(x) > 1.0 and request.id not in self.canceled:
            time.sleep(0.01)
        if request.id in self.canceled:
            response.status, response.message = -11, "the batch was cancelled"
            return response
        response.status, response.message = 1, "fine"
        response.joint_names = [f"{self.node.get_parameter('prefix').value}waist"]
        response.statuses, response.joint_positions = [1] * len(x), x
        response.position_errors = response.orientation_errors = [0.0] * len(x)
        return response

    def cancel_batch(self, request, response):
        self.canceled.append(request.id)
        response.success = len(self.canceled) > 1  # the first time it has not arrived yet
        return response

    def fk(self, request, response):
        while self.silent:
            time.sleep(0.01)
        response.status, response.message = SolveFK.Response.BAD_REQUEST, "no such link"
        return response

    def dynamics(self, request, response):
        """Answer with accelerations as torques, and speeds as those of gravity."""
        response.status = 1 if request.payload_mass >= 0.0 else -6
        response.message = "no such mass" if response.status < 0 else "fine"
        response.joint_names = list(request.joint_state.name)
        response.torques = request.acceleration
        response.gravity_torques = request.joint_state.velocity
        response.shares = [request.payload_mass] * len(response.joint_names)
        response.inertia = [1.0] * len(response.joint_names) ** 2
        response.payload_capacity = math.inf
        return response

    def trigger(self, request, response):
        response.success, response.message = True, "stopped"
        return response


@pytest.fixture(scope="module")
def context():
    context = rclpy.Context()
    rclpy.init(context=context)
    yield context
    rclpy.try_shutdown(context=context)


@pytest.fixture(scope="module")
def servers(context):
    servers = Servers(context)
    yield servers
    servers.over = True
    servers.thread.stop(BOUND)
    servers.action.destroy()
    servers.node.destroy_node()


@pytest.fixture
def arm(servers):
    with Arm() as arm:
        yield arm


def test_verbs_return_their_results(arm, servers):
    assert arm.joints == {"waist": 0.25}
    assert arm.move_joints({"waist": 0.1}).message == "done"
    assert servers.goals[-1].task == "move_joints"
    with pytest.raises(ArmError, match="the position of waist is 'a', not a number"):
        arm.move_joints({"waist": "a"})
    assert arm.grip(0.01).status == RESULT.SUCCESS
    answer = arm.ik([0.5, 0.0, 0.0])
    assert answer and answer.joints == {"waist": 0.5}
    answer = arm.ik([2.0, 0.0, 0.0])
    assert not answer and answer.message == "out of reach by 12 mm"
    assert servers.preferred[-1] == SolveIK.Request.NEAREST
    assert arm.ik([0.5, 0.0, 0.0], prefer="torque")
    assert servers.preferred[-1] == SolveIK.Request.LEAST_TORQUE
    with pytest.raises(ArmError, match="prefer is 'up'; expected one of nearest, centred, torque"):
        arm.ik([0.5, 0.0, 0.0], prefer="up")
    assert arm.stop() == "stopped"
    assert arm.check_task("t").feasible is False


def test_batch_of_targets_has_a_row_for_each(arm, servers):
    answer = arm.ik_batch(
        [[0.1, 0.0, 0.0], [0.2, 0.0, 0.0]], seeds={"waist": 0.3, "elbow": [1, 2]}
    )
    assert answer.ok.all() and len(answer) == 2 and answer.joint_names == ("waist",)
    assert answer.q.tolist() == [[0.1], [0.2]]
    request = servers.batches[-1]
    assert request.preference == SolveIK.Request.NEAREST
    assert request.mode == SolveIK.Request.POSITION and not request.orientations
    assert list(request.seed_joints) == ["waist", "elbow"]
    assert list(request.seeds) == [0.3, 1.0, 0.3, 2.0]
    T = pose(so3_exp([0.0, 0.0, 2.0]), (0.4, 0.0, 0.0))
    assert arm.ik_batch([T], frame="bolt", timeout=3.0, prefer="centred").q.tolist() == [[0.4]]
    request = servers.batches[-1]
    assert request.mode == SolveIK.Request.POSE and request.reference_frame == "bolt"
    assert list(request.orientations) == pytest.approx([0, 0, math.sin(1), math.cos(1)])
    assert request.timeout.sec == 3 and request.preference == SolveIK.Request.CENTRED


def test_torques_come_by_name(arm):
    answer = arm.dynamics({"waist": 0.1, "elbow": 0.2}, {"elbow": 3.0}, {"waist": 4.0}, 0.05)
    assert answer.torques == {"waist": 4.0, "elbow": 0.0}
    assert answer.gravity_torques == {"waist": 0.0, "elbow": 3.0}
    assert answer.shares == {"waist": 0.05, "elbow": 0.05}
    assert answer.inertia.shape == (2, 2) and math.isinf(answer.payload_capacity)
    with pytest.raises(ArmError, match="dynamics: no such mass"):
        arm.dynamics({"waist": 0.1}, {"waist": 1.0}, {"waist": 1.0}, payload=-1.0)
    with pytest.raises(ArmError, match="velocities has joint 'elbow', whose position"):
        arm.dynamics({"waist": 0.1}, {"elbow": 1.0})


def test_cancelled_batch_ends_on_the_server(arm, servers):
    computing = arm.later.ik_batch([[2.0, 0.0, 0.0]])
    wait_for(lambda: servers.batches and servers.batches[-1].positions[0] == 2.0, "batch")
    computing.cancel()
    with pytest.raises(ArmError, match="ik_batch: the batch was cancelled"):
        computing.result(BOUND)
    assert servers.canceled[-1] == servers.batches[-1].id


@pytest.mark.parametrize(
    ("targets", "fields", "message"),
    [
        ([[1.0, 2.0]], {}, r"targets have shape \(1, 2\)"),
        ("here", {}, "targets: expected numbers"),
        ([[0.0] * 3], {"seeds": {"waist": [1, 2], "elbow": [1, 2, 3]}}, "differ in their number"),
        ([[0.0] * 3], {"timeout": 0.0}, "timeout is 0"),
    ],
)
def test_unusable_batch_is_rejected_at_once(arm, targets, fields, message):
    with pytest.raises(ArmError, match=message):
        arm.ik_batch(targets, **fields)


@pytest.fixture
def left_servers(servers):
    """The servers of an arm with a prefix."""

    def change(prefix):
        servers.node.set_parameters([Parameter("prefix", value=prefix)])
        servers.state = JointState(name=[f"{prefix}waist"], position=[0.25])

    change("left_")
    yield servers
    change("")


@pytest.mark.parametrize("prefix", [None, "left_"])
def test_names_have_the_prefix_of_the_task_server_unless_it_is_given(left_servers, prefix):
    with Arm(prefix=prefix) as arm:
        assert arm.joints == {"waist": 0.25}


def test_wrong_prefix_is_named(left_servers):
    missing = r"waited 5 s for joints named right_\* in joint_states"
    with pytest.raises(ArmTimeoutError, match=missing):
        Arm(prefix="right_").connect(timeout=5.0)  # its end closes it


def test_failed_verb_raises_an_error_with_the_reason(arm):
    with pytest.raises(ArmError, match="joint waist is beyond its limit") as caught:
        arm.move_joints({"waist": -2.0})
    assert caught.value.result.status == RESULT.NOT_FEASIBLE
    with pytest.raises(ArmError, match="fk: no such link"):
        arm.fk(link="nose")


@pytest.mark.parametrize("make", [SingleThreadedExecutor, MultiThreadedExecutor])
def test_blocking_verb_works_in_a_callback_of_the_users_node(servers, context, make):
    """With a plain client this deadlocks: node, executor and one thread are the user's."""
    node = rclpy.create_node("user", context=context)
    executor = make(context=context)
    executor.add_node(node)
    results = []
    with Arm(node) as arm:

        def on_target(target):
            answer = arm.ik([target.data, 0.0, 0.0])
            results.append(arm.move_joints(answer.joints).message)
            with pytest.raises(ArmTimeoutError):
                arm.move_joints({"waist": 2.0}, timeout=0.2)
            results.append(arm.joints["waist"])

        node.create_subscription(Float64, "target", on_target, 10)
        publisher = node.create_publisher(Float64, "target", 10)
        end = time.monotonic() + BOUND
        while not publisher.get_subscription_count():
            assert time.monotonic() < end
            executor.spin_once(timeout_sec=0.05)
        publisher.publish(Float64(data=0.3))
        while len(results) < 2:
            assert time.monotonic() < end
            executor.spin_once(timeout_sec=0.05)
    assert results == ["done", 0.25]
    executor.shutdown()
    node.destroy_node()


def test_motion_that_exceeds_its_timeout_is_cancelled(arm, servers):
    with pytest.raises(ArmTimeoutError, match="move_joints did not finish within"):
        arm.move_joints({"waist": 2.0}, timeout=0.3)
    assert arm.move_joints({"waist": 0.1}).message == "done"


@pytest.mark.parametrize(
    "call",
    [lambda arm: arm.later.move_joints({"waist": 1.5}), lambda arm: arm.later.check_task("t")],
    ids=["motion", "check"],
)
def test_task_server_that_hangs_is_noticed_by_its_heartbeat(arm, servers, call):
    goals, servers.beating = len(servers.stopped), False
    try:
        future = call(arm)
        with pytest.raises(ArmError, match="the task server has been silent for 5 s; see its log"):
            future.result(BOUND)
    finally:
        servers.beating = True
    if future.what == "move_joints":  # it is cancelled, should the server work again
        wait_for(lambda: len(servers.stopped) > goals, "cancelled goal")


def test_unresponsive_server_delays_only_its_own_verb(arm, servers):
    servers.silent = True
    with pytest.raises(ArmTimeoutError, match=r"fk did not finish within 0\.3 s"):
        arm.fk(timeout=0.3)
    assert arm.ik([0.5, 0.0, 0.0])  # other requests are answered
    servers.silent = False


def test_ik_is_retried_until_the_kinematics_node_has_the_robot(arm, servers):
    servers.not_ready = 3
    assert arm.ik([0.5, 0.0, 0.0]).joints == {"waist": 0.5}
    assert servers.not_ready == 0


def test_kinematics_node_without_a_robot_is_reported(arm, servers, monkeypatch):
    monkeypatch.setattr("arm_tasks.ros.client.kinematics._ROBOT_TIMEOUT", 0.0)
    servers.not_ready = 1000
    answer = arm.ik([0.5, 0.0, 0.0])
    servers.not_ready = 0
    assert not answer
    assert answer.message == "no robot yet"


def test_asynchronous_verb_can_be_cancelled(arm):
    moving = arm.later.move_joints({"waist": 2.0})
    assert not moving.done
    moving.cancel()
    with pytest.raises(
        ArmError, match=r"canceled( before anything moved|; the arm holds where it is)"
    ):
        moving.result(BOUND)


def far(arm):
    """Start a motion that ends only when it is cancelled."""
    return arm.later.move_joints({"waist": 2.0})


async def awaited(arm):
    await far(arm)


async def limited(arm, servers):
    await asyncio.wait_for(far(arm), 0.3)


async def until_received(servers, count):
    while len(servers.goals) <= count:
        await asyncio.sleep(0)


async def cancelled(arm, servers):
    count = len(servers.goals)
    task = asyncio.create_task(awaited(arm))
    await asyncio.wait_for(until_received(servers, count), BOUND)
    task.cancel()
    await task


async def closed(arm, servers):
    """Cancel a task, and leave at once."""
    with Arm() as another:
        await cancelled(another, servers)


@pytest.mark.parametrize("call", [limited, cancelled, closed])
def test_asyncio_task_that_no_longer_waits_stops_the_arm(arm, servers, call):
    goals = len(servers.stopped)
    with pytest.raises((asyncio.CancelledError, TimeoutError, asyncio.TimeoutError)):
        asyncio.run(call(arm, servers))
    wait_for(lambda: len(servers.stopped) > goals, "cancelled goal")


def asleep(arm):
    far(arm)
    threading.Event().wait(BOUND)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda arm: arm.move_joints({"waist": 2.0}), id="blocking"),
        pytest.param(lambda arm: far(arm).wait(), id="wait"),
        pytest.param(lambda arm: far(arm).result(), id="result"),
        pytest.param(asleep, id="asleep"),
        pytest.param(lambda arm: asyncio.run(awaited(arm)), id="await"),
    ],
)
def test_ctrl_c_stops_the_arm(servers, call):
    goals, servers.endless = len(servers.stopped), True
    received = len(servers.goals)

    def press():
        wait_for(lambda: len(servers.goals) > received, "goal")
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), Arm() as arm:
        threading.Thread(target=press, daemon=True).start()
        call(arm)
    assert len(servers.stopped) == goals + 1  # the connection was closed after that
    servers.endless = False


def test_unknown_bolt_surface_is_rejected(arm):
    for surface in ("add", "clear", "RIM", ""):
        with pytest.raises(ArmError, match=f"no surface '{surface}'; .*known are rim, end, flank"):
            Teacher(arm).touch("lower_bolt", surface)


def test_threads_can_share_one_arm(arm):
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda k: arm.ik([k / 10, 0, 0]), range(8)))
    assert [a.joints["waist"] for a in answers] == pytest.approx([k / 10 for k in range(8)])


def test_asyncio_can_await_several_verbs(arm):
    async def several():
        return await asyncio.gather(arm.later.ik([0.1, 0, 0]), arm.later.move_posture("rest"))

    answer, result = asyncio.run(several())
    assert answer.joints["waist"] == pytest.approx(0.1)
    assert result.message == "done"


def test_blocking_verb_in_the_arms_own_thread_is_rejected(arm):
    messages, ended = [], threading.Event()

    def on_progress(progress):
        try:
            arm.ik([0.1, 0, 0])
        except ArmError as error:
            messages.append(str(error))
        raise RuntimeError("of the user's")

    def on_done(_future):
        arm.later.ik([0.2, 0, 0]).add_done_callback(lambda _: ended.set())

    arm.later.run_task("any", on_progress=on_progress).add_done_callback(on_done)
    assert ended.wait(BOUND)
    assert "would wait for itself; use arm.later there" in messages[0]


def in_this_thread(arm):
    arm.close()


def in_another_thread(arm):
    thread = threading.Thread(target=arm.close)
    thread.start()
    thread.join(BOUND)


def at_the_end_of_with(arm):
    with contextlib.suppress(ArmError), arm:
        pass


@pytest.mark.parametrize("close", [in_this_thread, in_another_thread, at_the_end_of_with])
def test_closing_cancels_unfinished_verbs_from_any_thread(servers, close):
    arm, stopped, received = Arm(), len(servers.stopped), len(servers.goals)
    arm.connect()
    servers.endless = True
    moving = arm.later.move_joints({"waist": 2.0})
    wait_for(lambda: len(servers.goals) > received, "goal")
    close(arm)
    servers.endless = False
    with pytest.raises(ArmError):
        moving.result(BOUND)
    assert len(servers.stopped) == stopped + 1


def test_task_server_that_was_restarted_or_fell_silent_is_lost(servers):
    """The heartbeat of a new server must not hide that the goal of the old one is gone."""
    probe, other = Probe("watcher"), Probe("new_server")
    try:
        old = probe.node.create_publisher(TaskState, "restarted/task_server/state", 1)
        rules = ["--ros-args", "-r", "__ns:=/restarted"]
        node = rclpy.create_node("watched", context=probe.node.context, cli_args=rules)
        server = TaskServerClient(node)
        server.action.server_is_ready = lambda: True
        probe.until(lambda: node.count_publishers("task_server/state"))
        server.begin()
        assert server.lost() == ""
        for _ in range(11):
            server._tick()
        assert "silent for 5 s" in server.lost()
        server._on_state(TaskState())
        assert server.lost() == ""
        new = other.node.create_publisher(TaskState, "restarted/task_server/state", 1)
        probe.until(lambda: "restarted" in server.lost())
        server.begin()
        assert server.lost() == ""
        assert old and new
        node.destroy_node()
    finally:
        other.close()
        probe.close()


def test_closed_arm_answers_no_more(servers):
    arm = Arm()
    arm.connect()
    arm.close()
    with pytest.raises(ArmError, match="the arm was closed"):
        arm.ik([0, 0, 0])


def test_missing_server_is_named(context):
    missing = r"waited 0\.3 s for the task server; is it running\?"
    with pytest.raises(ArmTimeoutError, match=missing):
        Arm(namespace="nobody").connect(timeout=0.3)  # its end closes it


@pytest.mark.parametrize(
    "text",
    [
        task_text("move_joints", joints={"waist": 0.1}, speed=None),
        task_text("move_pose", **pose_keys([0.1, 0, 0.2], None, "base_link", None), speed=0.5),
        task_text("move_linear", **pose_keys([0, 0, 0.01], [0, 0, 1.0], "tool0", "axis")),
        task_text("grip", width=0.01),
        task_text("move_posture", posture="rest", speed=None),
    ],
)
def test_every_verb_makes_a_valid_task(text):
    assert len(task_from_text(text).steps) == 1


def test_former_names_still_work():
    for former, new in (("ArmLater", client.AsyncArm), ("Pending", client.ArmFuture)):
        with pytest.warns(DeprecationWarning, match=former):
            assert getattr(client, former) is new
