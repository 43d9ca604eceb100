# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The task server outlives its planning processes, whatever happens to them."""

import subprocess
import sys

import pytest
from arm_common.ros.qos import LATCHED
from arm_description.model.elements import ActuatorLimits
from arm_description.urdf.servo_limits import TOPIC, limits_text
from arm_testing.programs.processes import end, start_python
from arm_testing.ros.probe import Probe
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_description import load_robot
from arm_interfaces.action import RunTask
from arm_interfaces.msg import TaskState
from arm_interfaces.srv import CheckTask, ListTasks

SERVER = """
import os, signal, sys, time
from pathlib import Path
from arm_tasks.errors import PlanError
from arm_tasks.ros.task_server import node, planning

def fork(original=os.fork):
    if Path(sys.argv[1]).exists():
        raise BlockingIOError(11, "Resource temporarily unavailable")
    return original()

def limits():
    raise PlanError(f"upper {SERVER[0]._model.upper[0]:g}")

def resolve(server, request, start, files):
    SERVER[:] = [server]
    return request.task

os.fork, SERVER = fork, []
ACTIONS = {
    "hang": lambda: time.sleep(600.0),
    "exit": lambda: sys.exit(0),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "fail": lambda: 1 / 0,
    "limits": limits,
}
planning.Planning._resolve = resolve
planning.plan_task = planning.check_feasibility = lambda task, *_, **__: ACTIONS[task]()
sys.exit(node.main())
"""
PREPARED = """
import sys
from arm_tasks.ros.task_server.forked import run_in_child
from arm_description import load_robot
from arm_kinematics import Chain
from arm_tasks.planning.planner import plan_task
from arm_tasks.ros.task_server.planning import prepare_planning
from arm_tasks.scene.file import load_scene
from arm_tasks.task.parser import load_task
from arm_tasks.task.request import ArmConfiguration, TaskRequest

model = load_robot("nut_arm")
chain, task = Chain.from_model(model), load_task("draw_square")
scene = load_scene(task.scene, model.name)
start = ArmConfiguration(dict.fromkeys(chain.joint_names, 0.0), 0.0)
prepare_planning()
modules = set(sys.modules)
request = TaskRequest(task, scene, model, chain, start)
feasible, after = run_in_child(lambda: (plan_task(request).feasible, set(sys.modules)))
print(feasible, after - modules)
"""


class Client(Probe):
    """Sends goals and checks, and records the state of the server."""

    def __init__(self, no_fork):
        super().__init__("client")
        self.no_fork, self.state, self.beats = no_fork, None, 0
        node = self.node
        node.create_subscription(TaskState, "task_server/state", self._on_state, LATCHED)
        self.checks = node.create_client(CheckTask, "check_task")
        self.tasks = ActionClient(node, RunTask, "run_task")
        self.joints = node.create_publisher(JointState, "joint_states", 1)
        node.create_timer(0.1, self._publish)

    def _on_state(self, message):
        self.state = message.state
        self.beats += 1

    def _publish(self):
        message = JointState(name=list(load_robot("nut_arm").joint_names))
        message.position = [0.0] * len(message.name)
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.joints.publish(message)

    def start(self, task):
        """Send a dry run; return its handle."""
        self.until(self.tasks.server_is_ready)
        sent = self.tasks.send_goal_async(RunTask.Goal(task=task, dry_run=True))
        self.until(sent.done)
        return sent.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.until(future.done)
        self.until(lambda: self.state == TaskState.IDLE)
        return future.result().result


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    no_fork = tmp_path_factory.mktemp("server") / "no_fork"
    server = start_python("-c", SERVER, str(no_fork))
    client = Client(no_fork)
    yield client
    client.close()
    assert end(server)[0] == 0


FAULTS = {
    "exit": "exit code 1",
    "kill": "ended by SIGKILL",
    "fail": "an internal error in {} of task_server (ZeroDivisionError: division by zero)",
    "fork": "no child process can be started: Resource temporarily unavailable",
}


@pytest.fixture
def without_fork(client):
    client.no_fork.touch()
    yield
    client.no_fork.unlink()


def test_check_waits_for_the_limits_of_a_driver_that_is_there(client):
    model = load_robot("nut_arm")
    listed = client.node.create_client(ListTasks, "list_tasks")
    driver = client.node.create_publisher(String, TOPIC, LATCHED)
    client.until(driver.get_subscription_count)
    client.until(client.checks.service_is_ready)
    future = client.checks.call_async(CheckTask.Request(task="limits"))
    client.request(listed, ListTasks.Request())  # by now the check has been received
    limited = model.limited({model.joint_names[0]: ActuatorLimits(-0.25, 0.25)})
    driver.publish(String(data=limits_text(limited)))
    client.until(future.done)
    client.node.destroy_publisher(driver)
    assert future.result().message == "upper 0.25"


@pytest.mark.parametrize(("task", "why"), FAULTS.items())
def test_check_without_a_result_is_answered(client, request, task, why):
    if task == "fork":
        request.getfixturevalue("without_fork")
    response = client.request(client.checks, CheckTask.Request(task=task))
    assert not response.feasible and why.format("check_task") in response.message


@pytest.mark.parametrize(("task", "why"), FAULTS.items())
def test_goal_without_a_plan_ends_with_a_reason(client, request, task, why):
    if task == "fork":
        request.getfixturevalue("without_fork")
    result = client.result(client.start(task))
    is_internal = task == "fail"
    assert result.status == (RunTask.Result.FAILURE if is_internal else RunTask.Result.BAD_REQUEST)
    assert why.format("run_task") in result.message


def test_goal_is_canceled_while_its_plan_hangs(client):
    handle = client.start("hang")
    client.until(lambda: client.state == TaskState.CHECKING)
    client.until(handle.cancel_goal_async().done)
    result = client.result(handle)
    assert result.status == RunTask.Result.CANCELED
    assert result.message == "canceled before anything moved"


def test_heart_beats_while_idle_and_while_a_plan_hangs(client):
    client.until(lambda beats=client.beats: client.beats > beats + 1)
    handle = client.start("hang")
    client.until(lambda: client.state == TaskState.CHECKING)
    client.until(lambda beats=client.beats: client.beats > beats + 2)
    client.until(handle.cancel_goal_async().done)
    assert client.result(handle).status == RunTask.Result.CANCELED


def test_children_import_nothing():
    done = subprocess.run(
        [sys.executable, "-c", PREPARED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True set()\n"
