# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The policy allows each process exactly what it does on the ROS graph.

MoveIt's services are included, and the state publisher in C++ where it is installed.
"""

import importlib.util
import os
from collections import defaultdict

import pytest
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from arm_tasks.bringup.processes import processes
from arm_tasks.task.policy import read_policy, shipped_policy
from rclpy.action import get_action_client_names_and_types_by_node as action_clients
from rclpy.action import get_action_server_names_and_types_by_node as action_servers

VERBS = ("publish", "subscribe", "reply", "request", "execute", "call")
CPP, COMPOSED = "/arm/robot_state_publisher", "/arm/arm_nodes"
WITH_MUJOCO = ("contact_world",) if importlib.util.find_spec("mujoco") else ()
# needs a screen; is a person
NOT_STARTED = {"/arm/rviz2", "/arm/operator"} | (set() if WITH_MUJOCO else {"/arm/contact_world"})


def has_cpp_publisher():
    try:
        return bool(get_package_prefix("robot_state_publisher"))
    except PackageNotFoundError:
        return False


@pytest.fixture
def moveit_messages(monkeypatch):
    """Let the nodes find moveit_msgs; without them, kinematics serves neither of its services."""
    if importlib.util.find_spec("moveit_msgs"):
        return
    if "ARM_VENV" not in os.environ:
        pytest.skip("moveit_msgs is not installed: ARM_WITH_MOVEIT=1 rosdep install ...")
    from pip_ros import messages_for_tests
    from pip_ros.paths import Paths

    install = messages_for_tests.prefix(Paths())
    for name, value in messages_for_tests.environment(install).items():
        monkeypatch.setenv(name, value)


# With a keyboard, or if its last lines judge the run; here it has neither.
AT_A_TERMINAL = {f"/task_server/{name}" for name in ("pause", "resume", "step")}
AT_A_TERMINAL |= {"/ground_truth/joint_states"}


def rights_on_graph(watcher):
    found = defaultdict(lambda: defaultdict(set))
    for name, space, enclave in watcher.get_node_names_and_namespaces_with_enclaves():
        rights = found[enclave]
        ask = {
            "publish": watcher.get_publisher_names_and_types_by_node,
            "subscribe": watcher.get_subscriber_names_and_types_by_node,
            "reply": watcher.get_service_names_and_types_by_node,
            "request": watcher.get_client_names_and_types_by_node,
            "execute": lambda *node: action_servers(watcher, *node),
            "call": lambda *node: action_clients(watcher, *node),
        }
        for verb, names_of in ask.items():
            # execute and call allow the topics of an action
            names = {topic for topic, _ in names_of(name, space) if "/_action/" not in topic}
            rights[verb].update(names)
    return found


def difference(graph, policy):
    """Return missing and unused permissions, one line each.

    Of the two state publishers one runs, and the rights of the other are unused.
    """
    cpp = has_cpp_publisher()
    unused = policy[CPP] if cpp else {}
    lines = []
    for enclave in sorted(set(policy) - NOT_STARTED - ({CPP} if not cpp else set())):
        for verb in VERBS:
            done, allowed = graph[enclave][verb], policy[enclave][verb]
            spare = unused.get(verb, set()) if enclave == COMPOSED else set()
            # clients are probed on these topics, of any name, while a goal runs
            spare = spare | {x for x in allowed if x.endswith("/_action/client_*")}
            spare |= AT_A_TERMINAL if enclave == "/arm/task_client" else set()
            lines += [f"{enclave} must be allowed to {verb} {x}" for x in done - allowed]
            lines += [f"{enclave} need not {verb} {x}" for x in allowed - done - spare]
    return lines


def test_policy_matches_what_the_nodes_use(moveit_messages, start_arm):
    """In simulated time, with both views and a task started from a terminal."""
    arm = start_arm(hardware="fake", speed="2", viewer="browser", viewer_port="8300")
    for process in processes("arm_description"):
        if process.name in ("tool_handle", "task_client", *WITH_MUJOCO):
            arm.start(process)
    policy = read_policy(shipped_policy())
    seen = []

    def matches():
        seen[:] = difference(rights_on_graph(arm.node), policy)
        return not seen

    try:
        arm.wait_for(matches, "the graph")
    except AssertionError:
        raise AssertionError("\n".join(seen)) from None
    enclaves = set(rights_on_graph(arm.node))
    absent = NOT_STARTED if has_cpp_publisher() else {*NOT_STARTED, CPP}
    assert enclaves - {"/"} == set(policy) - absent  # the watcher has none
