# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Node processes shut down in order, whatever ends them."""

import contextlib
import select
import signal
import sys
import threading

import pytest
import rclpy
from arm_common.ros.node_runner import ExecutorThread, ros_arguments
from arm_testing.programs.processes import start_python
from arm_testing.ros.probe import Probe
from arm_testing.waiting import BOUND, wait_for
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rosgraph_msgs.msg import Clock

DISCOVERY_LEASE = 12.0  # [s], less than the 20 s after which DDS drops a silent participant
NODE = """
import sys, time
import rclpy
from arm_common.ros.node_runner import run_node
from rclpy.node import Node

def make():
    global node
    node = Node("short_lived")
    print("made", flush=True)
    {then}
    return [node]

def begin(end):
    print("begun", flush=True)
    return {begins}

def close():
    done = [] if rclpy.ok() else [True]
    timer = rclpy.ok() and node.create_timer(0.01, lambda: done.append(True))
    while not done:
        time.sleep(0.01)
    print("closed", flush=True)

sys.exit(run_node(make, (KeyError,), begin=begin, close=close))
"""


@pytest.fixture
def probe():
    probe = Probe("observer")
    yield probe
    probe.close()


@pytest.fixture
def observer(probe):
    return probe.node


@pytest.fixture
def start():
    started = []

    def start(*lines, then="pass", begins=True):
        process = start_python("-c", NODE.format(then=then, begins=begins))
        started.append(process)
        for line in lines:
            assert process.stdout.readline() == f"{line}\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def end(process, number=0):
    """Send a signal, if any; return the exit code and the unread output."""
    process.send_signal(number)
    return process.wait(BOUND), process.stdout.read()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_closes_the_node_and_leaves_the_graph(start, observer, number):
    """Its goodbye is one datagram, which a busy machine may lose: one of three must arrive."""
    for _ in range(3):
        process = start("made", "begun")
        wait_for(lambda: "short_lived" in observer.get_node_names(), "node")
        assert end(process, number) == (0, "closed\n")  # callbacks run until then
        with contextlib.suppress(AssertionError):
            wait_for(lambda: "short_lived" not in observer.get_node_names(), "", DISCOVERY_LEASE)
            return
        wait_for(lambda: "short_lived" not in observer.get_node_names(), "end of its lease")
    pytest.fail("no goodbye arrived")


@pytest.mark.parametrize("kind", [SetParameters, SetParametersAtomically])
def test_parameter_of_no_type_is_refused_and_the_node_lives_on(start, probe, kind):
    process = start("made", "begun")
    name = "set_parameters" + "_atomically" * (kind is SetParametersAtomically)
    client = probe.node.create_client(kind, f"short_lived/{name}")
    value = ParameterValue(type=99)
    parameters = [Parameter(name="use_sim_time", value=value), Parameter(name="x", value=value)]
    for _ in range(2):
        answer = probe.request(client, kind.Request(parameters=parameters))
        results = answer.results if kind is SetParameters else [answer.result] * 2
        assert [result.successful for result in results] == [False, False]
        assert "use_sim_time has a type that does not exist" in results[0].reason
    assert end(process, signal.SIGINT) == (0, "closed\n")


def test_signal_during_construction_exits_at_once(start):
    process = start("made", then="import threading; threading.Event().wait()")
    assert end(process, signal.SIGINT) == (0, "")


@pytest.mark.parametrize(
    ("then", "error"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero\n"),
        ("raise KeyError('no such robot')", "'no such robot'\n"),
    ],
)
def test_failing_start_exits_with_code_1(start, then, error):
    code, written = end(start("made", then=then))
    assert code == 1
    assert written.endswith(error)
    assert ("Traceback" in written) == ("Zero" in error)


def test_failing_callback_is_logged_once_and_counted_and_ends_nothing(start, probe):
    process = start("made", "begun", then="node.create_timer(0.01, lambda: 1 / 0)")
    counts = []
    topic = "/diagnostics"
    probe.node.create_subscription(DiagnosticArray, topic, lambda m: counts.append(m.status[0]), 1)
    probe.until(lambda: counts and int(counts[-1].values[0].value) > 20)
    assert counts[-1].name == "/short_lived: callbacks"
    assert "(ZeroDivisionError: division by zero); see its log" in counts[-1].message
    code, written = end(process, signal.SIGINT)
    assert code == 0 and written.endswith("closed\n") and written.count("Traceback") == 1


def test_callback_that_exits_ends_the_executor_and_says_so(probe):
    probe.executor.remove_node(probe.node)
    probe.node.create_timer(0.01, lambda: sys.exit(3))
    ended = threading.Event()
    executor = SingleThreadedExecutor(context=probe.context)
    thread = ExecutorThread(executor, [probe.node], ended.set)
    assert ended.wait(BOUND)
    thread.stop()


def test_argument_that_is_not_utf8_is_refused_in_one_line(start):
    process = start_python("-c", NODE.format(then="pass", begins=True), b"caf\xe9")
    code, written = process.wait(BOUND), process.stdout.read()
    assert code == 1 and "'caf\\udce9' is not UTF-8" in written and "Traceback" not in written


REFUSES = """
    def check(parameters):
        raise ValueError("x" * 100000)
    def store(parameters):
        raise KeyError("y")
    node.declare_parameter("speed", 1)
    node.add_{when}_set_parameters_callback({function})
"""


@pytest.mark.parametrize(("when", "function"), [("on", "check"), ("post", "store")])
def test_parameter_whose_callback_raises_keeps_its_value(start, probe, when, function):
    process = start("made", "begun", then=REFUSES.format(when=when, function=function).strip())
    value = ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=2)
    client = probe.node.create_client(SetParameters, "short_lived/set_parameters")
    request = SetParameters.Request(parameters=[Parameter(name="speed", value=value)])
    (result,) = probe.request(client, request).results
    assert not result.successful and "an internal error in" in result.reason
    assert len(result.reason) < 600
    asked = probe.node.create_client(GetParameters, "short_lived/get_parameters")
    answer = probe.request(asked, GetParameters.Request(names=["speed"]))
    assert answer.values[0].integer_value == 1
    code, written = end(process, signal.SIGINT)
    assert code == 0 and len(written) < 20000


def test_failed_begin_exits_with_code_1(start):
    assert end(start("made", "begun", "closed", begins=False)) == (1, "")


def test_context_shutdown_ends_the_process(start):
    process = start("made", then="node.create_timer(0.01, lambda: rclpy.shutdown())")
    assert end(process) in ((0, "begun\nclosed\n"), (0, "closed\n"))


SIMULATED = """
    node.set_parameters([rclpy.Parameter("use_sim_time", value=True)])
    node.create_timer(5.0, lambda: print("5 s passed", flush=True))
"""


def line_after(process, publisher, times):
    """Publish times in seconds until the process prints a line; it may miss any of them."""
    while not select.select([process.stdout], [], [], 0.05)[0]:
        for seconds in times:
            message = Clock()
            message.clock.sec = seconds
            publisher.publish(message)
    return process.stdout.readline()


def test_negative_time_of_a_simulator_is_ignored_and_reported_once(start, observer):
    process = start("made", "begun", then=SIMULATED.strip())
    publisher = observer.create_publisher(Clock, "/clock", 10)
    wait_for(publisher.get_subscription_count, "the subscription")
    assert "Ignoring a negative time" in line_after(process, publisher, [-1] * 5)
    assert line_after(process, publisher, [10, -20, 20]) == "5 s passed\n"


@pytest.mark.parametrize("wanted", [False, True])
def test_type_descriptions_are_served_only_on_request(wanted, monkeypatch):
    """rcl writes each request for one into the log, however long it is."""
    words = ["--ros-args", "-p", "start_type_description_service:=true"] if wanted else []
    monkeypatch.setattr(sys, "argv", ["program", "--plain", *words])
    context = Context()
    rclpy.init(args=ros_arguments(), context=context)
    node = rclpy.create_node("described", context=context)
    services = node.get_service_names_and_types_by_node("described", "/")
    assert any(name.endswith("/get_type_description") for name, _ in services) == wanted
    node.destroy_node()
    rclpy.shutdown(context=context)
