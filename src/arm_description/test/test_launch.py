# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The launch file and the RViz configuration, tested without launch."""

import runpy
import shlex
import sys
import types

import pytest
import yaml


def test_rviz_displays_use_relative_topics(package):
    manager = yaml.safe_load((package / "rviz/view_arm.rviz").read_text())["Visualization Manager"]
    groups = [d.get("Displays", [d]) for d in manager["Displays"]]
    displays = {d["Class"].split("/")[1]: d for group in groups for d in group}
    assert {"RobotModel", "TF", "MarkerArray", "Grid"} <= set(displays)
    topic = displays["RobotModel"]["Description Topic"]
    assert (topic["Value"], topic["Durability Policy"]) == ("robot_description", "Transient Local")


class StandIn(types.ModuleType):
    """A module whose every name is a class that records its arguments."""

    class Recorded:
        def __init__(self, *args, **kwargs):
            self.args, self.kwargs = args, kwargs

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (self.Recorded,), {})


@pytest.fixture
def launch_file(package, monkeypatch):
    """The launch file run without launch: every action records its arguments."""
    pytest.importorskip("ament_index_python")
    launch = ("", ".actions", ".conditions", ".logging", ".substitutions")
    launch_ros = ("", ".actions", ".parameter_descriptions", ".substitutions")
    names = [f"launch{part}" for part in launch] + [f"launch_ros{part}" for part in launch_ros]
    for name in (*names, "arm_common.ros.launch"):
        monkeypatch.setitem(sys.modules, name, StandIn(name))
    shared = sys.modules["arm_common.ros.launch"]
    shared.namespace_actions = shared.namespace_arguments = list  # of no actions
    return runpy.run_path(str(package / "launch/view_arm.launch.py"))[
        "generate_launch_description"
    ]


def nodes_of(description):
    (group,) = (a for a in description.args[0] if type(a).__name__ == "StartTogether")
    context = types.SimpleNamespace(launch_configurations={"params_file": ""})
    functions = [a.kwargs["function"] for a in group.args[0] if "function" in a.kwargs]
    nodes = [node for function in functions for node in function(context)]
    return {node.kwargs["executable"]: node.kwargs for node in nodes}


def words(parts, values):
    text = ""
    for part in parts:
        kind = type(part).__name__
        if kind == "ExecutableInPackage":
            text += part.args[0]
        elif kind == "LaunchConfiguration":
            text += values[part.args[0]]
        elif kind == "IfElseSubstitution":
            text += part.args[1] if values[part.args[0].args[0]] == "true" else part.args[2]
        else:
            text += part
    return shlex.split(text)


@pytest.mark.parametrize("robot", ["puma560", "/my arms/a: b#1.yaml", "./\u00fc.yaml"])
def test_robot_description_is_a_string_parameter(launch_file, robot):
    """launch must not read it as YAML, and paths with spaces must stay one argument."""
    parameters = nodes_of(launch_file())["robot_state_publisher"]["parameters"]
    value = parameters[0]["robot_description"]
    assert type(value).__name__ == "ParameterValue"
    assert value.kwargs == {"value_type": str}
    values = {"robot": robot, "prefix": "left_", "dh_frames": "true"}
    found = words(value.args[0].args[0], values)
    assert found == ["dh2urdf", robot, "--prefix=left_", "--dh-frames"]


def test_rviz_fixed_frame_has_the_prefix(launch_file):
    arguments = nodes_of(launch_file())["rviz2"]["arguments"]
    frame = arguments[arguments.index("-f") + 1]
    assert frame[0].args == ("prefix",)
    assert frame[1:] == ["base_link"]
