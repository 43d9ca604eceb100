# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes that share a process: one that cannot start is named; a failing callback ends none."""

import pytest
from arm_tasks.ros.arm_nodes import MODULES, main
from arm_testing.hardware.factories import factory
from arm_testing.programs.processes import end, kill, output_of, parameters, start_python
from arm_testing.ros.probe import Probe
from arm_testing.waiting import wait_for
from rcl_interfaces.srv import ListParameters

from arm_description import load_robot
from arm_interfaces.msg import NutState

DISCOVERY_LEASE = 12.0  # [s], less than the 20 s after which DDS drops a silent participant
URDF = load_robot("nut_arm").to_urdf()
RUN = "import sys; from arm_tasks.ros.arm_nodes import main; {then}; sys.exit(main())"
BREAK = "import arm_simulation.ros.nut_world_node as m; m.NutWorldNode._publish = lambda _: 1 / 0"


@pytest.fixture
def start(tmp_path):
    file = tmp_path / "urdf.yaml"
    lines = "".join(f"      {line}\n" for line in URDF.splitlines())
    text = f"/**:\n  ros__parameters:\n    robot_description: |\n{lines}"
    file.write_text(text)

    def start(*arguments, then="pass"):
        words = [*arguments, "--ros-args", "--params-file", str(file)]
        return start_python("-c", RUN.format(then=then), *words)

    yield from factory(start, kill)


@pytest.fixture
def observer():
    probe = Probe("observer")
    yield probe
    probe.close()


def test_all_nodes_appear_and_leave_with_exit_code_0(start, observer):
    process = start("robot_state_publisher", "", "nut_world", "task_server")
    names = {"robot_state_publisher", "nut_world", "task_server", "scene"}
    observer.until(lambda: names <= set(observer.node.get_node_names()))
    for name in names:  # each is spun
        client = observer.node.create_client(ListParameters, f"{name}/list_parameters")
        observer.request(client, ListParameters.Request())
    code, written = end(process)
    assert code == 0, written
    wait_for(lambda: not names & set(observer.node.get_node_names()), "end", DISCOVERY_LEASE)


def test_each_node_has_its_own_remappings_and_parameters(start):
    words = ["-r", "nut_world:__node:=world", "-p", "world:scene:=nosuch"]
    code, written = output_of(start("robot_state_publisher", "nut_world", "--ros-args", *words))
    assert code == 1
    last = written.splitlines()[-1]
    assert last.startswith("nut_world: ") and "nosuch" in last


def test_node_that_cannot_be_created_is_named(start):
    words = parameters(robot="puma560")
    code, written = output_of(start("robot_state_publisher", "nut_world", *words))
    assert code == 1 and "Traceback" not in written
    reason = "nut_world: robot puma560 has no gripper; the nut cannot be held"
    assert written.splitlines()[-1] == reason


def test_scene_without_a_nut_needs_no_gripper(start, observer):
    process = start("nut_world", *parameters(robot="puma560", scene="easel"))
    observer.until(lambda: "nut_world" in observer.node.get_node_names())
    code, written = end(process)
    assert code == 0, written


def test_world_whose_callback_fails_judges_no_more_and_no_node_ends(start, observer):
    process = start("nut_world", "task_server", then=BREAK)
    states = []
    observer.node.create_subscription(NutState, "nut_world/state", states.append, 10)
    observer.until(lambda: states)
    assert {state.state for state in states} == {NutState.NOT_JUDGED}
    said = "not judged: an internal error in a callback of nut_world (ZeroDivisionError: "
    assert states[0].message.startswith(said) and not states[0].bolt
    client = observer.node.create_client(ListParameters, "task_server/list_parameters")
    assert observer.request(client, ListParameters.Request()).result.names
    code, written = end(process)
    assert code == 0 and written.count("Traceback") == 1


def test_unknown_node_is_rejected_with_the_known_ones(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["arm_nodes", "kinematic"])
    with pytest.raises(SystemExit):
        main()
    message = capsys.readouterr().err
    assert "'kinematic'" in message and all(name in message for name in MODULES)
