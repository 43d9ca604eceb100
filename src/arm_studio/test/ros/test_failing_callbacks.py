# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A law for each node: each of its callbacks raises once; nothing ends, each request is answered.

The nodes run as their programs do, with all their callbacks; only these raise at their first call.
"""

import importlib
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from action_msgs.msg import GoalStatus
from arm_common.ros.failures import ANSWER_WITHOUT_ERROR, fill_error
from arm_common.ros.qos import LATCHED
from arm_testing.programs.processes import parameters, start_python
from arm_testing.ros.driver import NAMES
from arm_testing.ros.probe import ASK_AGAIN, Probe
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient, get_action_server_names_and_types_by_node
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectoryPoint

import arm_testing
from arm_interfaces.msg import HardwareStatus

TESTING = Path(arm_testing.__file__).parents[1]
ROBOT = '<robot name="arm"><link name="base_link"/></robot>'
DRIVER = {"hardware": "fake", "autostart": "activate"}
PROGRAMS = {
    "arm_nodes": ["arm_tasks.ros.arm_nodes", "kinematics", "nut_world", "task_server"],
    "scene_file": ["arm_tasks.ros.scene_publisher"],
    "state_publisher": [
        "arm_description.ros.state_publisher", *parameters(robot_description=ROBOT),
    ],
    "robot_file_watcher": ["arm_description.ros.robot_file_watcher"],
    "hardware": ["arm_hardware.ros.process", *parameters(**DRIVER)],
    "contact_world": ["arm_simulation.ros.contact_world_node", *parameters(scene="easel")],
    "viewer": ["arm_viewer.ros.node", *parameters(port=0, drive=True)],
    "tool_handle": ["arm_viewer.ros.tool_handle_node"],
    "recorder": ["arm_studio.ros.recorder", "-o", "{folder}/all.mcap"],
}  # fmt: skip
NO_CHANGE = Parameter(
    name="use_sim_time",
    value=ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=False),
)
# Of a person at the page or handle, and 20 s after a warning; they go the same way as all others.
ON_DEMAND = (
    "ArmPage._on_user_action",
    "DriverCommander._send_next_part",
    "KeysPanel._tick",
    "SceneSubscriptions._forget_log",
)
GOALS = 12  # that let the four callbacks of an action raise
NEVER_TAKEN = "/_action/client_"  # probes of a client, which the middleware acknowledges
UNHEARD = ("/rosout",)  # the probe does not publish there


class RaisingNode:
    """A program whose callbacks raise, and a probe that triggers them."""

    def __init__(self, *arguments):
        path = f"{TESTING}:{os.environ.get('PYTHONPATH', '')}"
        self.process = start_python("-m", "arm_testing.ros.raising", *arguments, PYTHONPATH=path)
        self.lines = []
        threading.Thread(target=self._read, daemon=True).start()
        self.probe = Probe("prober")
        self.counts = {}
        self._publishers = {}
        self.probe.node.create_subscription(DiagnosticArray, "/diagnostics", self._count, 100)
        self.driver = None
        self.probe.node.create_subscription(
            HardwareStatus, "arm_hardware/status", self._on_driver, LATCHED
        )
        self.probe.until(lambda: self._nodes() or self.process.poll() is not None)
        self.probe.until(lambda: self._nodes() and self.said("ARMED"), what=self)

    def __repr__(self):
        return "".join(self.lines[-30:])

    def _read(self):
        self.lines.extend(self.process.stdout)

    def _count(self, message):
        for status in message.status:
            if status.name.endswith(": callbacks"):
                self.counts[status.name] = int(status.values[0].value)

    def _on_driver(self, message):
        self.driver = message.state

    def _nodes(self):
        names = self.probe.node.get_node_names_and_namespaces()
        return [(name, space) for name, space in names if name != "prober"]

    def said(self, word):
        """Return (kind, name) of the callbacks that were created, or have raised."""
        rows = [line.split(None, 2) for line in list(self.lines)]
        return {(row[1], row[2].strip()) for row in rows if row[:1] == [word] and len(row) == 3}

    def services(self):
        node = self.probe.node
        for name, space in self._nodes():
            for service, (kind, *_) in node.get_service_names_and_types_by_node(name, space):
                if "/_action/" not in service and not service.endswith("get_type_description"):
                    yield service, interface(kind)

    def actions(self):
        for name, space in self._nodes():
            for action, (kind, *_) in get_action_server_names_and_types_by_node(
                self.probe.node, name, space
            ):
                yield action, interface(kind)

    def call(self, service, kind, request=None):
        client = self.probe.node.create_client(kind, service)
        try:
            return self.probe.request(client, kind.Request() if request is None else request)
        finally:
            self.probe.node.destroy_client(client)

    def publish_all(self):
        """Publish an empty message on each topic that the nodes subscribe to."""
        node = self.probe.node
        for name, space in self._nodes():
            for topic, (kind, *_) in node.get_subscriber_names_and_types_by_node(name, space):
                if topic in UNHEARD or kind.endswith(("_FeedbackMessage", "/GoalStatusArray")):
                    continue  # of action clients, which rclpy handles
                if topic not in self._publishers:
                    kind = interface(kind)
                    self._publishers[topic] = node.create_publisher(kind, topic, LATCHED), kind
        for publisher, kind in self._publishers.values():
            publisher.publish(kind())

    def awaited(self, kind):
        """Return the callbacks of a kind that have not raised yet."""
        rows = self.said("CREATED") - self.said("RAISED")
        rows = {row for row in rows if row[0] == kind and NEVER_TAKEN not in row[1]}
        return {row for row in rows if not row[1].startswith(ON_DEMAND)}

    def close(self):
        self.process.kill()
        self.process.wait()
        self.probe.close()


def interface(kind):
    """Return the class of an interface such as std_msgs/msg/String."""
    package, folder, name = kind.split("/")
    return getattr(importlib.import_module(f"{package}.{folder}"), name)


@pytest.fixture
def run(tmp_path):
    started = []

    def run(name):
        words = [word.replace("{folder}", str(tmp_path)) for word in PROGRAMS[name]]
        started.append(RaisingNode(*words))
        return started[0]

    yield run
    for node in started:
        node.close()


def reason_of(response):
    """Return the first text in a response that tells of an internal error, or ""."""
    return next((part for part in str(response).split("'") if "an internal error in" in part), "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_callback_raises_once_and_nothing_ends(run, program):
    node = run(program)
    services = {name for kind, name in node.said("CREATED") if kind == "service"}
    node.probe.until(lambda: len(list(node.services())) >= len(services), what=node)
    node.probe.until(lambda: not node.awaited("timer") or node.process.poll() is not None)
    for action, kind in list(node.actions()):
        check_action(node, action, kind)
    for service, kind in list(node.services()):
        check_service(node, service, kind)
    check_parameters(node)

    def heard():
        node.publish_all()
        return not node.awaited("subscription") or node.process.poll() is not None

    kinds = ("subscription", "service", "timer", "guard", "parameters", "action")
    node.probe.until(heard, what=node)
    node.probe.until(lambda: not any(map(node.awaited, kinds)), what=node)
    assert node.process.poll() is None, node
    raised = [kind for kind, _ in node.said("RAISED") if kind != "parameters"]
    node.probe.until(lambda: sum(node.counts.values()) >= len(raised))
    node.process.send_signal(signal.SIGINT)
    assert node.process.wait(60) == 0, node


def check_service(node, service, kind):
    """Call a service that raises, which answers with the error, and again, which does not."""
    if ("service", service) not in node.awaited("service"):  # it has raised before
        return
    request = kind.Request(parameters=[NO_CHANGE]) if "set_parameters" in service else None
    answer = node.call(service, kind, request)
    node.probe.until(lambda: ("service", service) not in node.awaited("service"), what=node)
    if f"{kind.__module__.split('.')[0]}/{kind.__name__}" in ANSWER_WITHOUT_ERROR:
        assert answer == kind.Response()
    else:
        assert fill_error(kind.Response(), "", kind.Request())
        assert is_flag(answer) or f"an internal error in {service}" in reason_of(answer)
    if "set_parameters" not in service:  # whose callbacks raise next
        again = reason_of(node.call(service, kind))  # of a polled subscription, at most
        assert not again or again != reason_of(answer)


def is_flag(answer):
    """Return whether the only field of a response is a flag, which is False."""
    return [*answer.get_fields_and_field_types().values()] == ["boolean"] and not answer.success


def check_parameters(node):
    """Set a parameter until no callback raises any more: it is refused, then taken."""
    request = SetParameters.Request(parameters=[NO_CHANGE])
    for service in [s for s, kind in node.services() if kind is SetParameters]:
        while node.awaited("parameters"):
            before = len(node.awaited("parameters"))
            result = node.call(service, SetParameters, request).results[0]
            if result.successful:
                break
            assert "an internal error in" in result.reason
            assert len(node.awaited("parameters")) < before
        assert (
            "an internal error" not in node.call(service, SetParameters, request).results[0].reason
        )


def check_action(node, action, kind):
    """Let each callback of an action raise."""
    client = ActionClient(node.probe.node, kind, action)
    try:
        exhaust(node, client, kind, action)
    finally:
        client.destroy()


def exhaust(node, client, kind, action):
    """Send goals until no callback raises any more; no goal succeeds during which one does."""
    node.probe.until(client.server_is_ready)
    result = goal_to_end(node, client, kind)
    assert result is None, "its goal callback raised: rejected"
    for _ in range(GOALS):  # the driver may stop by another failed callback meanwhile
        awaited = node.awaited("action")
        if not any(c for c in awaited if c[1].startswith(action.strip("/"))):
            return
        result = goal_to_end(node, client, kind)
        succeeded = result is not None and result.status == GoalStatus.STATUS_SUCCEEDED
        assert not succeeded or node.awaited("action") == awaited
    raise AssertionError(f"not all callbacks of {action} have raised: {node}")


def goal_to_end(node, client, kind):
    """Send a goal and cancel it; return its result, None if it was rejected."""
    if any(service == "/arm_hardware/reset" for service, _ in node.services()):
        rearm(node)
    sent = client.send_goal_async(goal_of(kind))
    node.probe.until(sent.done)
    handle = sent.result()
    if not handle.accepted:
        return None
    cancels, results = [], []

    def ended():
        """Cancel the goal until its result arrives; a callback may raise, an answer be lost."""
        if not cancels or cancels[-1][0].done() or time.monotonic() > cancels[-1][1] + ASK_AGAIN:
            cancels.append((handle.cancel_goal_async(), time.monotonic()))
            results.append(handle.get_result_async())
        return next((result.result() for result in results if result.done()), None)

    return node.probe.until(ended, what=f"end of a goal: {node}")


def rearm(node):
    """Arm the driver, which stops the arm at each failed callback."""
    ends = (HardwareStatus.ARMED, HardwareStatus.STOPPED, HardwareStatus.FAULT)
    node.driver = None
    for _ in range(GOALS):
        if node.probe.until(lambda: node.driver in ends and node.driver) == HardwareStatus.ARMED:
            return
        node.call("/arm_hardware/reset", Trigger)
        for label in ("deactivate", "activate"):
            request = ChangeState.Request()
            request.transition.label = label
            node.call("/arm_hardware/change_state", ChangeState, request)
        node.driver = None
    raise AssertionError(f"the driver is not armed: {node}")


def goal_of(kind):
    """Return a valid goal that takes long."""
    goal = kind.Goal()
    if hasattr(goal, "trajectory"):
        goal.trajectory.joint_names = NAMES
        point = JointTrajectoryPoint(positions=[1.0, 0.0, 0.0, 0.0])
        point.time_from_start.sec = 20
        goal.trajectory.points = [point]
    if hasattr(goal, "command"):
        goal.command.position = 0.03  # fully open, from closed
    return goal
