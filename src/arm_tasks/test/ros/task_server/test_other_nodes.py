# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Steps and conditions on other nodes: services, topics, tf, and functions of packages."""

import math
import sys
import threading
import time
from types import ModuleType, SimpleNamespace

import pytest
import rclpy
from arm_common.plugins import PluginGroup
from arm_common.ros.qos import LATCHED
from arm_tasks.errors import PlanError
from arm_tasks.execution.ports import MoveState
from arm_tasks.ros.task_server import other_nodes
from arm_tasks.ros.task_server.message_fields import filled
from arm_tasks.ros.task_server.other_nodes import NodeConnections
from arm_tasks.task import functions
from arm_tasks.task.condition import Condition, Signal
from arm_tasks.task.steps import Command
from geometry_msgs.msg import PoseStamped, TransformStamped
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import ByteMultiArray, String, UInt8
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.msg import HardwareStatus


def command(kind, to, type_name="", **content):
    common = {"name": "light", "kind": kind, "file": "t.yaml", "line": 1, "speed": 1.0}
    return Command(**common, to=to, type=type_name, content=content, timeout=10.0)


def check(nodes, made=None, signal=None):
    when = None if signal is None else Condition(signal=signal)
    nodes.check(
        SimpleNamespace(
            steps=[SimpleNamespace(label="step 2, b", when=when, command=made, find=None)]
        )
    )


def end_of(probe, move):
    return probe.until(lambda: (status := move.poll()).done and status)


def test_service_is_called_once_it_exists_and_may_refuse(probe, nodes):
    switch = command("call_service", "switch", "std_srvs/srv/SetBool", data=True)
    check(nodes, switch)
    move = nodes.send(switch)
    assert move.poll().message == "nothing offers switch"
    requests = []

    def answer(request, response):
        requests.append(request.data)
        response.success, response.message = len(requests) > 1, "the lamp is broken"
        return response

    service = probe.node.create_service(SetBool, "switch", answer)
    refused = end_of(probe, move)
    assert (refused.state, refused.message) == (MoveState.FAILED, "switch: the lamp is broken")
    assert end_of(probe, nodes.send(switch)).state is MoveState.SUCCEEDED
    assert requests == [True, True]
    probe.until(lambda: probe.node.get_service_names_and_types())
    with pytest.raises(
        PlanError, match="the type of switch is std_srvs/srv/SetBool, not std_srvs"
    ):
        check(nodes, command("call_service", "switch", "std_srvs/Trigger"))
    probe.node.destroy_service(service)


def test_condition_on_an_answer_calls_the_service_until_it_holds(probe, nodes):
    count = iter(range(9))
    done = Signal(service="count", field="message", equals="2")
    watch = nodes.watch(done)
    assert not watch.read().known

    def answer(request, response):
        response.message = str(next(count))
        return response

    service = probe.node.create_service(Trigger, "count", answer)
    probe.until(lambda: watch.read().holds)
    watch.close()
    with pytest.raises(
        PlanError, match=r"step 2, b: .* has no field 'msg'; did you mean 'message'"
    ):
        check(nodes, signal=Signal(service="count", field="msg", equals="2"))
    probe.node.destroy_service(service)


def test_service_that_never_answers_is_called_again_by_the_same_client(probe, nodes, monkeypatch):
    clients, create = [], probe.node.create_client
    monkeypatch.setattr(
        probe.node, "create_client", lambda *given: clients.append(create(*given)) or clients[-1]
    )
    other = rclpy.create_node("dying", context=probe.context)  # nothing spins it
    other.create_service(Trigger, "dead", lambda _, response: response)
    watch = nodes.watch(Signal(service="dead", field="message", equals="2"))
    probe.until(lambda: watch.read() and clients and clients[0].service_is_ready())
    watch.read()  # calls it
    other.destroy_node()
    now = time.monotonic()
    monkeypatch.setattr(other_nodes.time, "monotonic", lambda: now + 6.0)
    assert watch.read().reason == "no answer from dead"
    monkeypatch.undo()
    count = iter(range(9))

    def answer(request, response):
        response.message = str(next(count))
        return response

    service = probe.node.create_service(Trigger, "dead", answer)
    probe.until(lambda: watch.read().holds)
    assert len(clients) == 1 and clients[0] in probe.node.clients
    watch.close()
    assert clients[0] not in probe.node.clients
    probe.node.destroy_service(service)


def test_message_waits_for_a_subscriber(probe, nodes):
    hello = command(
        "publish",
        "hello",
        "geometry_msgs/msg/PoseStamped",
        header={"stamp": "now", "frame_id": "cup"},
        pose={"position": {"x": 1}},
    )
    move = nodes.send(hello)
    assert move.poll().message == "nothing subscribes to hello"
    received = []
    probe.node.create_subscription(PoseStamped, "hello", received.append, 1)
    assert end_of(probe, move).state is MoveState.SUCCEEDED
    message = probe.until(lambda: received and received[0])
    assert (message.header.frame_id, message.pose.position.x) == ("cup", 1.0)
    assert message.header.stamp.sec > 0


def test_distance_of_two_frames_is_received_from_tf(probe, nodes):
    near = Signal(frames=("camera", "cup"), below=0.6)
    watch = nodes.watch(near)
    assert not watch.read().known
    cup = TransformStamped()
    cup.header.frame_id, cup.child_frame_id = "camera", "cup"
    cup.transform.translation.x, cup.transform.translation.y = 0.3, 0.4
    cup.transform.rotation.w = 1.0
    static = probe.node.create_publisher(TFMessage, "/tf_static", LATCHED)
    static.publish(TFMessage(transforms=[cup]))
    probe.until(lambda: watch.read().holds)
    assert nodes.watch(Signal(frames=("cup", "camera"), above=0.6)).read().reason == "it is 0.5"


def tf_publisher(probe):
    """Return a publisher of /tf of which no message is lost."""
    publisher = probe.node.create_publisher(TFMessage, "/tf", 10)
    probe.until(publisher.get_subscription_count)
    return publisher


def test_frame_is_as_old_as_the_oldest_moving_transform_that_leads_to_it(probe, nodes):
    listener = nodes._listen()
    publish = tf_publisher(probe).publish
    links = [TransformStamped(), TransformStamped()]
    for link, names, second in zip(links, (("base", "arm"), ("arm", "eye")), (7, 5), strict=True):
        link.header.frame_id, link.child_frame_id = names
        link.header.stamp.sec, link.transform.rotation.w = second, 1.0
    publish(TFMessage(transforms=links))
    probe.until(lambda: listener.tree.has("eye"))
    assert listener.oldest_stamp("base", "eye") == listener.oldest_stamp("eye", "arm") == 5.0
    assert listener.oldest_stamp("base", "arm") == 7.0
    assert listener.oldest_stamp("arm", "arm") == math.inf


def test_ignored_transform_does_not_make_a_frame_newer(probe, nodes):
    listener = nodes._listen()
    publish = tf_publisher(probe).publish
    for second, x, child in ((5, 0.1, "mug"), (7, math.nan, "mug"), (8, 0.1, "plate")):
        link = TransformStamped()
        link.header.frame_id, link.child_frame_id, link.header.stamp.sec = "base", child, second
        link.transform.translation.x, link.transform.rotation.w = x, 1.0
        publish(TFMessage(transforms=[link]))
    probe.until(lambda: listener.tree.has("plate"))
    assert listener.oldest_stamp("base", "mug") == 5.0


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (command("publish", "a b", "std_msgs/msg/Bool"), "'a b' is not the name of a topic"),
        (command("call_service", "a b", "std_srvs/Trigger"), "'a b' is not the name of a service"),
        (command("publish", "a//b", "std_msgs/Bool"), "topic name must not contain repeated '/'"),
        (command("call_service", "{x}", "std_srvs/Trigger"), "only {node} and {ns} are known"),
        (command("publish", "a", "Bool"), "type 'Bool' is not a type such as std_msgs/msg/Bool"),
        (command("publish", "a", "no_msgs/msg/Bool"), "type no_msgs/msg/Bool is not installed"),
        (command("publish", "a", "antigravity/msg/X"), "antigravity/msg/X is not installed"),
        (command("publish", "a", "antigravity/X"), "antigravity/msg/X is not installed"),
        (command("call_service", "a", "std_msgs/msg/Bool"), "is not a type such as std_srvs/srv/"),
        (command("publish", "a", "std_msgs/Bool", dat=1), "no field 'dat'; did you mean 'data'?"),
        (command("publish", "a", "std_msgs/Bool", data=1), "data of std_msgs/Bool is a boolean"),
    ],
)
def test_mistake_in_a_command_is_found_before_the_first_motion(nodes, made, why):
    with pytest.raises(PlanError) as error:
        check(nodes, made)
    assert str(error.value).startswith("step 2, b: ") and why in str(error.value)
    assert "antigravity" not in sys.modules  # it opens a web browser


MOVE = {"points": [{"positions": [1.0], "time_from_start": {"sec": 1}}]}
TRAJECTORY = ("publish", "trajectory_msgs/JointTrajectory", MOVE)
SCALING = ("publish", "control_msgs/SpeedScalingFactor", {"factor": 1.0})
TRIGGER = ("call_service", "std_srvs/Trigger", {})
SETTING = ("call_service", "rcl_interfaces/SetParameters", {})


@pytest.fixture(scope="module")
def remapped(probe):
    """Connections of a node whose launch file gives other names to what it uses."""
    names = {"lamp": "arm_controller/joint_trajectory", "arm_hardware/reset": "again"}
    remapping = [word for pair in names.items() for word in ("-r", ":=".join(pair))]
    node = rclpy.create_node(
        "remapped", namespace="left", context=probe.context, cli_args=["--ros-args", *remapping]
    )
    yield NodeConnections(node, lambda: "base_link", None)
    node.destroy_node()


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("/arm_controller/joint_trajectory", TRAJECTORY),
        ("arm_controller/joint_trajectory", TRAJECTORY),
        ("/right/arm_controller/joint_trajectory", TRAJECTORY),
        ("{ns}/arm_controller/joint_trajectory", TRAJECTORY),
        ("lamp", TRAJECTORY),
        ("/left/lamp", TRAJECTORY),
        ("arm_controller/speed_scaling_input", SCALING),
        ("/joy", ("publish", "sensor_msgs/Joy", {})),
        ("/right/tool_handle/feedback", ("publish", "std_msgs/Bool", {})),
        ("leader/joint_states", ("publish", "sensor_msgs/JointState", {})),
        ("arm_hardware/reset", TRIGGER),
        ("again", TRIGGER),
        ("/right/arm_hardware/release", TRIGGER),
        ("arm_hardware/change_state", ("call_service", "lifecycle_msgs/ChangeState", {})),
        ("/arm_hardware/set_parameters", SETTING),
        ("/right/task_server/resume", TRIGGER),
        ("teach/replay", ("call_service", "arm_interfaces/RecordPath", {})),
        ("/right/run_task/_action/send_goal", TRIGGER),
    ],
)
def test_a_task_commands_no_arm_by_publish_or_call_service(remapped, name, what):
    kind, type_name, content = what
    made = command(kind, name, type_name, **content)
    with pytest.raises(PlanError, match=r"step 2, b: .* commands an arm; a task moves it by its"):
        check(remapped, made)
    refused = remapped.send(made).poll()  # what a frame that is found adds to the plan
    assert refused.state is MoveState.FAILED and "commands an arm" in refused.message
    if kind == "call_service":
        with pytest.raises(PlanError, match=r"step 2, b: .* commands an arm"):
            check(remapped, signal=Signal(service=name, field="success", equals=True))


def test_a_task_commands_no_driver_whose_names_are_remapped(probe, nodes, monkeypatch):
    node = rclpy.create_node("servos", context=probe.context)
    infos = probe.node.get_publishers_info_by_topic
    ended = [SimpleNamespace(node_name=f"ended{k}", node_namespace="/") for k in range(9)]

    def with_ended_drivers(topic):
        return [*(ended if topic == "/servos/state" else []), *infos(topic)]

    monkeypatch.setattr(probe.node, "get_publishers_info_by_topic", with_ended_drivers)
    node.create_publisher(HardwareStatus, "servos/state", 1)
    node.create_subscription(JointTrajectory, "path", print, 1)
    node.create_service(Trigger, "servos/again", print)
    node.create_service(Trigger, "get_left/again", print)
    node.create_service(Trigger, "servos/arm_hardware/stop", print)
    readers = probe.node.count_subscribers
    probe.until(lambda: readers("path") and probe.node.count_services("get_left/again"))
    for made in (command(*TRAJECTORY[:1], "path", TRAJECTORY[1], **MOVE),
                 command(TRIGGER[0], "servos/again", TRIGGER[1]),
                 command(TRIGGER[0], "get_left/again", TRIGGER[1])):  # fmt: skip
        with pytest.raises(PlanError, match="commands an arm"):
            check(nodes, made)
    check(nodes, command("publish", "path", TRAJECTORY[1]))
    check(nodes, command(TRIGGER[0], "servos/arm_hardware/stop", TRIGGER[1]))
    node.destroy_node()


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("/right/arm_controller/joint_trajectory", ("publish", TRAJECTORY[1], {})),
        ("arm_controller/speed_scaling_input", ("publish", SCALING[1], {"factor": 0.0})),
        ("/right/arm_hardware/emergency_stop", ("publish", "std_msgs/Empty", {})),
        ("arm_hardware/stop", TRIGGER),
        ("/right/task_server/pause", TRIGGER),
        ("task_server/stop", TRIGGER),
        ("arm_hardware/get_state", ("call_service", "lifecycle_msgs/GetState", {})),
        ("my_arm_controller/joint_trajectory", TRAJECTORY),  # of another machine
    ],
)
def test_a_task_may_stop_every_arm(remapped, name, what):
    kind, type_name, content = what
    made = command(kind, name, type_name, **content)
    check(remapped, made)
    move = remapped.send(made)
    assert move.poll().state is MoveState.RUNNING
    move.cancel()


@pytest.mark.parametrize(
    ("cls", "content", "why"),
    [
        (
            PoseStamped,
            {"header": {"fram_id": "cup"}},
            "no field 'fram_id'; did you mean 'fr",
        ),
        (PoseStamped, {"pose": {"position": {"x": "a"}}}, "x of geometry_msgs/Point is a double"),
        (TFMessage, {"transforms": [{"child": "a"}]}, "geometry_msgs/TransformStamped has no"),
    ],
)
def test_mistake_in_a_nested_field_is_named(cls, content, why):
    with pytest.raises(PlanError) as error:
        filled(cls, content)
    assert why in str(error.value)


def test_plain_data_fills_every_kind_of_field():
    state = filled(JointState, {"name": ["a", "b"], "position": [1, 2.5]})
    assert (state.name, list(state.position)) == (["a", "b"], [1.0, 2.5])
    point = filled(JointTrajectoryPoint, {"time_from_start": {"sec": 3}, "velocities": []})
    assert point.time_from_start.sec == 3
    assert filled(ByteMultiArray, {"data": [7]}).data == [b"\x07"]


@pytest.mark.parametrize(
    ("cls", "content"),
    [
        (UInt8, {"data": 256}),
        (UInt8, {"data": -1}),
        (UInt8, {"data": 1.5}),
        (UInt8, {"data": "x"}),
        (UInt8, {"data": None}),
        (UInt8, {"data": float("nan")}),
        (String, {"data": 5}),
        (String, {"data": [1]}),
        (JointState, {"position": 5}),
        (JointState, {"position": [True]}),
        (PoseStamped, {"pose": 1}),
        (PoseStamped, {"header": {"stamp": "then"}}),
        (ByteMultiArray, {"data": [300]}),
        (Imu, {"orientation_covariance": [0, 0]}),
    ],
)
def test_value_of_another_kind_is_refused(cls, content):
    with pytest.raises(PlanError, match=r" is a .*, not "):
        filled(cls, content)


@pytest.mark.parametrize(
    ("cls", "content", "why"),
    [
        (UInt8, {"data": None}, "data of std_msgs/UInt8 is a uint8, not nothing"),
        (PoseStamped, {"header": {"stamp": {"sec": 1e12}}}, "is an int32, not 1000000000000.0"),
        (JointState, {"position": {}}, "is a sequence<double>, not a mapping"),
        (Imu, {"orientation_covariance": [0, 0]}, "is a double[9], not a list of 2"),
    ],
)
def test_sentence_names_the_value_that_is_refused(cls, content, why):
    with pytest.raises(PlanError) as error:
        filled(cls, content)
    assert str(error.value).endswith(why)


class Functions:
    """Entry points of a package."""

    def __init__(self, monkeypatch, folder):
        module, names = ModuleType("lamp"), ("count", "wait", "fail", "deny")
        for name in names:
            setattr(module, name, getattr(self, name))
        monkeypatch.setitem(sys.modules, "lamp", module)
        points = "\n".join(f"{name} = lamp:{name}" for name in (*names, "broken"))
        (folder / "lamp-1.dist-info").mkdir()
        written = folder / "lamp-1.dist-info" / "entry_points.txt"
        written.write_text(f"[{functions.FUNCTIONS.group}]\n{points}\n")
        monkeypatch.syspath_prepend(folder)
        unread = PluginGroup(functions.FUNCTIONS.group, functions.FUNCTIONS.kind)
        monkeypatch.setattr(functions, "FUNCTIONS", unread)
        self.seen, self.started = [], threading.Event()

    def count(self, times, name="x"):
        self.seen.append((times, name))

    def wait(self, canceled):
        self.started.set()
        while not canceled():
            pass
        self.seen.append("canceled")

    def fail(self):
        raise RuntimeError("no light\nhere")

    def deny(self):
        return False


def test_function_of_a_package_is_run(monkeypatch, tmp_path, probe, nodes):
    package = Functions(monkeypatch, tmp_path)

    def run(name, **arguments):
        return end_of(probe, nodes.send(command("run_function", name, **arguments)))

    assert run("count", times=3).state is MoveState.SUCCEEDED and package.seen == [(3, "x")]
    assert run("fail").message == r"fail: no light\nhere"
    assert run("deny").message == "deny returned false"
    assert "did you mean 'count'?" in run("cuont", times=3).message
    assert "the arguments of the function 'count' do not fit" in run("count").message
    assert "'broken' (lamp:broken) cannot be imported (module 'lamp' has" in run("broken").message


def test_function_is_told_that_it_was_canceled(monkeypatch, tmp_path, probe, nodes):
    package = Functions(monkeypatch, tmp_path)
    move = nodes.send(command("run_function", "wait"))
    probe.until(package.started.is_set)
    move.cancel()
    assert move.poll().state is MoveState.CANCELED
    probe.until(lambda: package.seen == ["canceled"])
