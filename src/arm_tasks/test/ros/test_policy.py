# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The shipped policy is valid, covers all processes, and restricts who moves the arm."""

import os
import xml.etree.ElementTree as ET

import pytest
from arm_tasks.bringup.processes import processes
from arm_tasks.commands import keystore
from arm_tasks.errors import TasksError
from arm_tasks.task.policy import arm_commands, read_policy, shipped_policy

POLICY = """<policy version="0.2.0"><enclaves><enclave path="/a"><profiles>
<profile ns="/left" node="b">{}</profile></profiles></enclave></enclaves></policy>"""
MOVES = {
    "publish": {"/arm_controller/joint_trajectory"},
    "call": {"/arm_controller/follow_joint_trajectory", "/gripper_controller/gripper_cmd"},
}


@pytest.fixture(scope="module")
def policy():
    return read_policy(shipped_policy())


def written(tmp_path, text):
    file = tmp_path / "p.xml"
    file.write_text(text)
    return file


def test_every_process_has_an_enclave(policy):
    publishers = ("arm_description", "robot_state_publisher")
    table = {process.enclave for package in publishers for process in processes(package)}
    assert set(policy) == table | {"/arm/operator"}


def test_only_three_nodes_may_command_the_driver(policy):
    movers = {
        name.removeprefix("/arm/")
        for name, rights in policy.items()
        if any(rights[verb] & names for verb, names in MOVES.items())
    }
    assert movers == {"arm_nodes", "arm_viewer", "tool_handle"}
    task_clients = {name for name, rights in policy.items() if "/run_task" in rights["call"]}
    names = ("arm_nodes", "arm_viewer", "operator", "task_client")
    assert task_clients == {f"/arm/{name}" for name in names}


def test_a_task_may_command_by_no_topic_or_service_that_the_driver_receives(policy):
    """Whatever the policy lets it receive is a command unless it is a stop or a query."""
    driver = policy["/arm/arm_hardware"]
    harmless = (driver["subscribe"] | driver["reply"]) - arm_commands()
    stops = {"emergency_stop", "stop"}
    queries = ("describe_", "get_", "list_", "query_")
    words = {name.rsplit("/", 1)[1] for name in harmless}
    assert all(word in stops or word.startswith(queries) for word in words)
    assert {"emergency_stop", "stop"} <= words
    for names in MOVES["publish"], {f"{name}/_action/send_goal" for name in MOVES["call"]}:
        assert names <= arm_commands()


def test_only_the_driver_may_publish_its_state(policy):
    for topic in ("/joint_states", "/arm_hardware/status"):
        publishers = [name for name, rights in policy.items() if topic in rights["publish"]]
        assert publishers == ["/arm/arm_hardware"]


def test_the_operator_may_read_every_topic_and_move_nothing(policy):
    operator = policy["/arm/operator"]
    assert operator["subscribe"] == set().union(*(may["publish"] for may in policy.values()))
    assert not any(operator[verb] & names for verb, names in MOVES.items())


def test_the_operator_may_run_the_commands_of_ros2(policy):
    """Their nodes have a number or a word in the name; ros2 param reads three services or four."""
    operator = policy["/arm/operator"]
    assert "/_ros2cli_*/get_type_description" in operator["reply"]
    for node in ("arm_hardware", "kinematics", "task_server"):
        parameters = ("describe_parameters", "get_parameter_types", "get_parameters")
        assert {f"/{node}/{name}" for name in parameters} <= operator["request"]
        assert f"/{node}/set_parameters" not in operator["request"]


def test_every_node_in_cpp_may_subscribe_to_parameter_events(policy):
    """Every rclcpp node does, for use_sim_time; none in Python does."""
    for enclave in ("/arm/robot_state_publisher", "/arm/rviz2"):
        assert "/parameter_events" in policy[enclave]["subscribe"]


def test_policy_has_no_comment_where_sros2_expects_an_enclave():
    """generate_artifacts treats every child of <enclaves> as an enclave, even comments."""
    builder = ET.TreeBuilder(insert_comments=True)
    root = ET.parse(shipped_policy(), ET.XMLParser(target=builder)).getroot()
    assert {child.tag for child in root.find("enclaves")} == {"enclave"}


def test_names_are_expanded_as_sros2_does(tmp_path):
    text = POLICY.format(
        '<topics publish="ALLOW" subscribe="ALLOW"><topic>t</topic><topic>/u</topic></topics>'
        '<services reply="ALLOW"><service>~/s</service></services>'
    )
    rights = read_policy(written(tmp_path, text))["/a"]
    assert rights["publish"] == rights["subscribe"] == {"/left/t", "/u"}
    assert rights["reply"] == {"/left/b/s"}


def test_empty_list_may_deny(tmp_path):
    rights = read_policy(written(tmp_path, POLICY.format('<topics publish="DENY"/>')))
    assert not any(rights["/a"].values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no xml", "cannot be read"),
        ('<policy version="1"></policy>', "version 1 is not 0.2.0"),
        ("<rules/>", '<rules> where <policy version="...">'),
        (POLICY.format("<topic>t</topic>"), "a profile has no <topic>"),
        (
            POLICY.format("<topics><topic>t</topic></topics>"),
            "<topics> has attributes publish or subscribe",
        ),
        (POLICY.format('<topics reply="ALLOW"/>'), "has attributes publish or subscribe only"),
        (POLICY.format('<topics publish="DENY"><topic>t</topic></topics>'), 'publish is "DENY"'),
        (POLICY.format('<topics publish="ALLOW"><service>t</service></topics>'), "where <topic>"),
        (POLICY.format("").replace("ns=", "space="), "where <profile ns="),
        (POLICY.format("").replace("<enclaves>", '<enclaves x="1">'), "where <enclaves>"),
    ],
)
def test_invalid_policy_is_rejected_with_the_reason(tmp_path, text, message):
    with pytest.raises(TasksError, match=message):
        read_policy(written(tmp_path, text))


@pytest.fixture
def fake_ros2(tmp_path, monkeypatch):
    def make(code=0):
        folder = tmp_path / "bin"
        folder.mkdir()
        file = folder / "ros2"
        file.write_text(
            f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\ncp "$6" {tmp_path}/policy\n'
            f"echo boom >&2\nexit {code}\n"
        )
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    return make


def test_keystore_is_generated_by_sros2_from_the_policy(fake_ros2, tmp_path, capsys):
    fake_ros2()
    assert keystore.main([str(tmp_path / "keys")]) == 0
    arguments = (tmp_path / "arguments").read_text().split()
    expected = ["security", "generate_artifacts", "-k", str(tmp_path / "keys")]
    assert arguments == [*expected, "-p", str(shipped_policy())]
    assert f"ROS_SECURITY_KEYSTORE={tmp_path / 'keys'}" in capsys.readouterr().out


def test_keystore_of_a_namespace_permits_its_names_and_the_shared_ones(fake_ros2, tmp_path):
    fake_ros2()
    assert keystore.main([str(tmp_path / "keys"), "--namespace", "left"]) == 0
    rights = read_policy(tmp_path / "policy")["/arm/arm_nodes"]
    assert {"/left/scene_markers", "/tf", "/tf_static", "/diagnostics"} <= rights["publish"]
    assert {"/left/joint_states", "/tf", "/clock"} <= rights["subscribe"]
    assert "/left/run_task" in rights["execute"]
    assert not any(name.startswith("/left/tf") for names in rights.values() for name in names)


def test_keystore_failures_are_reported_in_one_sentence(fake_ros2, tmp_path, capsys, monkeypatch):
    assert keystore.main([str(tmp_path), "--policy", str(tmp_path / "none.xml")]) == 1
    assert "cannot be read" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        assert keystore.main([str(tmp_path)]) == 1
    assert "and source ROS 2" in capsys.readouterr().err
    fake_ros2(code=2)
    assert keystore.main([str(tmp_path)]) == 1
    assert "ros2 security failed: boom" in capsys.readouterr().err
