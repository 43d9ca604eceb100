# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two arms in one graph: each does its own, and neither disturbs the other."""

import math
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import pytest
from arm_common.ros.qos import LATCHED
from arm_tasks.bringup.arguments import default_values
from arm_tasks.bringup.processes import several_processes
from arm_tasks.bringup.supervisor import ProcessGroup
from arm_tasks.client import Arm
from arm_tasks.commands.run_task import resume_command
from arm_tasks.errors import shipped
from arm_testing.ros.probe import Probe
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Empty
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from arm_interfaces.msg import HardwareStatus, TaskState
from arm_testing import domains

ARMS = ("left", "right")


class TwoArms(Probe):
    """The nodes of two arms, and what they publish."""

    def __init__(self, domain, logs):
        super().__init__("watcher", domain)
        values = default_values(viewer="none", spacing="0.6", hardware="fake", speed="4")
        self.group = ProcessGroup(values, logs)
        for process in several_processes(ARMS, values):
            if not process.ends_all:
                self.group.start(process)
        self.status, self.task, self.diagnostics, self.parents = {}, {}, {}, {}
        node = self.node
        for arm in ARMS:
            on_status = partial(self.status.__setitem__, arm)
            node.create_subscription(
                HardwareStatus, f"{arm}/arm_hardware/status", on_status, LATCHED
            )
            on_task = partial(self.task.__setitem__, arm)
            node.create_subscription(TaskState, f"{arm}/task_server/state", on_task, LATCHED)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        for topic, qos in (("/tf", QoSProfile(depth=100)), ("/tf_static", latched)):
            node.create_subscription(TFMessage, topic, self._on_tf, qos)

    def _on_diagnostics(self, message):
        self.diagnostics |= {status.name: status.hardware_id for status in message.status}

    def _on_tf(self, message):
        for stamped in message.transforms:
            known = self.parents.setdefault(stamped.child_frame_id, stamped.header.frame_id)
            assert known == stamped.header.frame_id  # each frame has one parent

    def call(self, service):
        client = self.node.create_client(Trigger, service)
        self.until(client.service_is_ready)
        future = client.call_async(Trigger.Request())
        self.until(future.done)
        assert future.result().success, future.result().message


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    with domains.leased() as domain, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        both = TwoArms(domain, tmp_path_factory.mktemp("arms"))
        try:
            yield both
        finally:
            both.group.stop()
            both.close()


@pytest.fixture
def left_and_right(arms, monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", str(arms.node.context.get_domain_id()))
    clients = [Arm(namespace=name, prefix=f"{name}_") for name in ARMS]
    try:
        for client in clients:
            client.connect(60.0)
        yield clients
    finally:
        for client in clients:
            client.close()


def test_both_arms_move_at_the_same_time_and_only_where_they_are_told(arms, left_and_right):
    left, right = left_and_right
    futures = [left.later.move_joints({"waist": 0.4}), right.later.move_joints({"waist": -0.4})]
    for future in futures:
        future.wait()
    arms.until(lambda: math.isclose(left.joints["waist"], 0.4, abs_tol=0.02))
    arms.until(lambda: math.isclose(right.joints["waist"], -0.4, abs_tol=0.02))
    answer = left.ik(left.fk()[:3, 3])
    assert answer and set(answer.joints) == {"waist", "shoulder", "elbow", "wrist_roll"}
    left.move_joints(answer.joints)  # the names of an answer are those of a command


def test_frames_and_diagnostics_of_the_arms_do_not_mix(arms, left_and_right):
    expected = {
        f"/{arm}/{status}": f"{arm}_nut_arm"
        for arm in ARMS
        for status in ("arm_hardware: servo driver", "kinematics: solver")
    }
    arms.until(lambda: arms.diagnostics == expected)
    names = ("base_link", "waist_link", "tool0", "nut", "upper_bolt")
    frames = {f"{arm}_{name}" for arm in ARMS for name in names}
    arms.until(lambda: arms.parents.keys() >= frames, what=frames)
    assert {arms.parents[f"{arm}_base_link"] for arm in ARMS} == {"world"}
    assert not set(names) & arms.parents.keys()
    assert [i.node_namespace for i in arms.node.get_publishers_info_by_topic("/clock")] == [
        "/left"
    ]


def test_a_stop_stops_one_arm_alone(arms, left_and_right):
    left, right = left_and_right
    arms.call("/left/arm_hardware/stop")
    arms.until(lambda: arms.status["left"].state == HardwareStatus.STOPPED)
    right.move_joints({"waist": 0.2})
    assert arms.status["left"].state == HardwareStatus.STOPPED
    left.reset()
    left.move_joints({"waist": 0.0})


def test_one_message_stops_both_arms(arms, left_and_right):
    publisher = arms.node.create_publisher(Empty, "/arm_hardware/emergency_stop", 1)
    arms.until(lambda: publisher.get_subscription_count() == 2)
    publisher.publish(Empty())
    arms.until(lambda: {arms.status[a].state for a in ARMS} == {HardwareStatus.STOPPED})
    for arm in left_and_right:
        arm.reset()


def test_right_arm_waits_for_the_left_one(arms, left_and_right, tmp_path):
    left, right = left_and_right
    text = shipped("tasks")["after_left"].read_text().partition("expect:")[0]
    assert "call: nut_transfer" in text
    text = text.replace("call: nut_transfer", "move_joints: {joints: {waist: 0.3}}")
    task = tmp_path / "after_left.yaml"
    task.write_text(text)
    waiting = right.later.run_task(str(task))
    try:
        arms.until(lambda: arms.task["right"].name == "wait for the left arm to begin")
        aside = -0.3 if left.joints["waist"] > 0.0 else 0.3
        moving = left.later.move_joints({"waist": aside}, speed=0.03)  # long enough to be seen
        arms.until(lambda: arms.task["right"].name == "wait for the left arm to finish")
        assert arms.task["left"].state == TaskState.RUNNING
        assert abs(right.joints["waist"]) < 0.29
        moving.wait()
        waiting.wait()
    finally:
        waiting.cancel()  # unless it is done
    arms.until(lambda: math.isclose(right.joints["waist"], 0.3, abs_tol=0.02))


def test_run_task_names_its_arm_in_its_lines_and_its_picture(arms, left_and_right, tmp_path):
    task = tmp_path / "swing.yaml"
    task.write_text("task: swing\nsteps:\n  - move_joints: {joints: {waist: 0.1}}\n")
    main = "from arm_tasks.commands.entry_points import run_task; exit(run_task())"
    command = [sys.executable, "-c", main, str(task), "--output", str(tmp_path)]
    command += ["--ros-args", "-r", "__ns:=/left", "-r", "__node:=task_client"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "left [1   ] moving" in done.stdout
    assert f"Picture  {tmp_path}/swing_left.png\nDone: left: all steps" in done.stdout
    assert (tmp_path / "swing_left.png").exists()


@pytest.mark.parametrize(("arm", "more"), [("", ""), ("left", " --namespace left")])
def test_command_that_resumes_names_the_arm(monkeypatch, arm, more):
    options = SimpleNamespace(task="nut_transfer", scene="", robot="nut_arm", calibration="")
    done = SimpleNamespace(arm=arm, result=SimpleNamespace(resume_step="3.14"))
    for venv, program in (("/venv", "./arm"), ("", "ros2 run arm_tasks")):
        monkeypatch.setenv("ARM_VENV", venv) if venv else monkeypatch.delenv("ARM_VENV")
        expected = f"{program} run_task nut_transfer --start-step 3.14{more}"
        assert resume_command(options, done) == expected
    options.scene, options.robot = "my scene.yaml", "learm"
    assert "--scene 'my scene.yaml' --robot learm" in resume_command(options, done)


@pytest.mark.thorough
def test_both_transfers_succeed_at_the_same_time(arms, left_and_right):
    futures = [arm.later.run_task("nut_transfer") for arm in left_and_right]
    for result in [future.wait() for future in futures]:
        assert result.steps_done == len(result.report) > 0
