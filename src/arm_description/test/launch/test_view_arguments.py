# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of view_arm.launch.py, and the nodes that it starts with them."""

import os
import runpy
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml
from launch import LaunchContext
from launch.actions import ExecuteLocal, GroupAction, SetEnvironmentVariable
from launch.utilities import perform_substitutions

LAUNCH = Path(__file__).resolve().parents[2] / "launch" / "view_arm.launch.py"


def test_every_launch_argument_is_documented():
    arguments = runpy.run_path(str(LAUNCH))["generate_launch_description"]().get_launch_arguments()
    found = {a.name: a for a in arguments}
    views = {"robot", "dh_frames", "gui", "rviz", "rviz_config"}
    shared = {"namespace", "prefix", "private_tf", "network", "params_file", "log_level"}
    assert found.keys() == views | shared
    for argument in arguments:
        assert argument.default_value is not None
        assert argument.description[0].isupper() and "no description" not in argument.description
    for name in ("private_tf", "dh_frames", "gui", "rviz"):
        assert found[name].choices == ["true", "false"]


@pytest.mark.parametrize(("robot", "metres"), [("nut_arm", 0.5), ("panda", 1.5)])
def test_rviz_camera_is_fitted_to_the_robot_by_default(robot, metres):
    context = LaunchContext()
    context.launch_configurations.update(robot=robot, rviz_config="")
    config = runpy.run_path(str(LAUNCH))["RvizConfig"]()
    manager = yaml.safe_load(Path(config.perform(context)).read_text())["Visualization Manager"]
    assert 0.8 * metres < manager["Views"]["Current"]["Distance"] < 1.2 * metres
    assert config.perform(context) != config.perform(context)  # of a file included twice
    context.launch_configurations["rviz_config"] = str(LAUNCH)  # any file
    assert config.perform(context) == str(LAUNCH)


class Started(list):
    """The nodes that the launch file would start: command after the executable, environment."""

    def __init__(self, **values):
        super().__init__()
        self._context = LaunchContext()
        self._context.launch_configurations.update(values)
        outside = SetEnvironmentVariable("RMW_IMPLEMENTATION", "rmw_cyclonedds_cpp")
        description = runpy.run_path(str(LAUNCH))["generate_launch_description"]()
        start = patch.object(ExecuteLocal, "execute", lambda node, _: self._start(node))
        with start, patch.dict(os.environ):  # which launch sets, also for the tests that follow
            self._visit(GroupAction([outside, description]))

    def _start(self, node):
        command = " ".join(perform_substitutions(self._context, word) for word in node.cmd[1:])
        self.append((node.node_executable, command, dict(node.env or self._context.environment)))

    def _visit(self, entity):
        if getattr(entity, "condition", None) and not entity.condition.evaluate(self._context):
            return
        for child in entity.visit(self._context) or ():
            self._visit(child)


def parameters(command):
    """Return the values of all parameter files of a command."""
    words, found = command.split(), {}
    for option, file in pairwise(words):
        if option == "--params-file":
            for values in yaml.safe_load(Path(file).read_text()).values():
                found |= values["ros__parameters"]
    return found


def test_namespace_prefix_tf_and_log_level_reach_every_node():
    values = {"namespace": "left", "prefix": "left_", "private_tf": "true", "log_level": "warn"}
    nodes = Started(**values)
    assert len(nodes) >= 4
    for executable, command, _ in nodes:
        assert "__ns:=/left" in command and "--log-level warn" in command
        assert "-r /tf:=tf" in command and "-r /tf_static:=tf_static" in command
        if executable in ("robot_file_watcher", "kinematics", "tool_handle"):
            assert parameters(command)["prefix"] == "left_"


def test_values_of_the_parameter_file_come_last(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("/**/robot_file_watcher: {ros__parameters: {robot: puma560}}")
    (command,) = (c for name, c, _ in Started(params_file=str(file)) if name.endswith("watcher"))
    assert command.endswith(f"--params-file {file}")


def test_nodes_get_the_environment_and_the_network_of_their_group(monkeypatch):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")  # as a sourced Jazzy does
    for name in ("ARM_NETWORK", "RMW_IMPLEMENTATION", "CYCLONEDDS_URI"):
        monkeypatch.delenv(name, raising=False)
    for network, wanted in (("subnet", "SUBNET"), ("auto", "SYSTEM_DEFAULT")):
        for _, _, environment in Started(network=network):
            assert environment["RMW_IMPLEMENTATION"] == "rmw_cyclonedds_cpp"
            assert environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == wanted
            assert ("CYCLONEDDS_URI" in environment) == (network == "auto")


def test_parameter_file_that_does_not_exist_is_refused():
    with pytest.raises(Exception, match=r"params_file is '/nosuch.yaml', which is not a file"):
        Started(params_file="/nosuch.yaml")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"robot": "nosuch"}, "no robot named 'nosuch'"),
        ({"rviz_config": "/nosuch.rviz"}, "rviz_config is /nosuch.rviz, which is not a file"),
    ],
)
def test_missing_file_is_named(values, reason):
    with pytest.raises(Exception, match=reason):
        Started(**values)
