# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The launch files declare the arguments and start the processes of the table."""

import runpy
from pathlib import Path

import pytest
from arm_tasks.bringup.processes import (
    ARGUMENTS,
    BRINGUP_ARGUMENTS,
    bringup_processes,
    chosen,
    processes,
)
from launch import LaunchContext
from launch_ros.actions import Node

LAUNCH = Path(__file__).resolve().parents[2] / "launch"
FILES = {
    "nut_transfer": (ARGUMENTS, processes),
    "bringup": (BRINGUP_ARGUMENTS, bringup_processes),
}


@pytest.fixture(params=FILES)
def launched(request):
    """Return a launch description with its expected arguments and processes."""
    arguments, table = FILES[request.param]
    module = runpy.run_path(str(LAUNCH / f"{request.param}.launch.py"))
    return module["generate_launch_description"](), arguments, table()


def test_launch_arguments_match_the_table(launched):
    description, arguments, _ = launched
    declared = {a.name: a for a in description.get_launch_arguments()}
    assert list(declared) == [argument.name for argument in arguments]
    for argument in arguments:
        found = declared[argument.name]
        assert found.description.startswith(argument.text)
        assert tuple(found.choices or ()) == argument.choices
        assert [part.describe() for part in found.default_value] == [repr(argument.default)]


def test_launched_nodes_match_the_enabled_processes(launched):
    description, arguments, table = launched
    context = LaunchContext()
    values = {argument.name: argument.default for argument in arguments}
    context.launch_configurations.update(values)
    nodes = [e for e in description.entities[-1].execute(context) if isinstance(e, Node)]
    assert [(n.node_package, n.node_executable) for n in nodes] == [
        (p.package, p.executable) for p in chosen(table, values)
    ]


def test_every_process_gets_the_network_of_the_argument(launched, monkeypatch):
    description, arguments, table = launched
    asked = []
    monkeypatch.setattr(
        "arm_tasks.bringup.launch.node_environment",
        lambda environment, network: asked.append(network) or dict(environment),
    )
    values = {argument.name: argument.default for argument in arguments} | {"network": "subnet"}
    context = LaunchContext()
    context.launch_configurations.update(values)
    description.entities[-1].execute(context)
    assert asked == ["subnet"] * len(chosen(table, values))


def test_every_launch_file_is_tested():
    assert {f"{name}.launch.py" for name in FILES} == {f.name for f in LAUNCH.glob("*.launch.py")}
