# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The launch files and the table of `./arm` have the same arguments, nodes and parameters."""

import re
import runpy
import subprocess
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml
from arm_common.errors import InputError
from arm_common.network import (
    RANGE,
    REPORTED,
    is_limited,
    limit_to_this_computer,
    report_reach,
)
from arm_tasks.bringup.arguments import ARGUMENTS, default_values
from arm_tasks.bringup.launch import RvizConfig
from arm_tasks.bringup.processes import chosen, processes
from arm_tasks.bringup.supervisor import resolve
from arm_testing.repository import repository
from launch import LaunchContext
from launch.actions import ExecuteLocal, LogInfo
from launch.utilities import perform_substitutions, visit_all_entities_and_collect_futures

PACKAGE = repository() / "src" / "arm_tasks"
LAUNCH = PACKAGE / "launch"
subprocess_run = subprocess.run
OF_TRANSFER = {"task", *(a.name for a in ARGUMENTS if a.name.startswith("viewer"))}
BRINGUP_NODES = ("robot_state_publisher", "arm_hardware", "kinematics")  # without tasks:=true
FILES = {
    "nut_transfer": (ARGUMENTS, processes),
    "bringup": (
        tuple(argument for argument in ARGUMENTS if argument.name not in OF_TRANSFER),
        lambda: [process for process in processes() if process.name in BRINGUP_NODES],
    ),
}
LAUNCH_ALONE = {
    "namespace",
    "prefix",
    "private_tf",
    "tasks",
    "rviz_config",
    "when_done",
    "when_failed",
}
NAMES = {"hardware": "arm_hardware"}  # executable -> node, where they differ
OF_BRINGUP = {"moveit_group", "use_sim_time"}  # `./arm` has no MoveIt and its own clock


@pytest.fixture(params=FILES)
def launched(request):
    """Return a launch description with its expected arguments and processes."""
    arguments, table = FILES[request.param]
    return description_of(request.param), arguments, table()


def description_of(name):
    return runpy.run_path(str(LAUNCH / f"{name}.launch.py"))["generate_launch_description"]()


class Started:
    """A node that a launch file would start."""

    def __init__(self, node, context):
        self.key = (node.node_package, node.node_executable)
        # without the executable, which need not be installed
        self.command = [perform_substitutions(context, word) for word in node.cmd[1:]]
        self.environment = dict(context.environment)

    def parameters(self, name=""):
        """Return the values in the parameter files for all nodes or one name; the last wins."""
        found = {}
        for option, file in zip(self.command, self.command[1:], strict=False):
            if option == "--params-file":
                for key, values in yaml.safe_load(Path(file).read_text()).items():
                    if key == "/**" or key.rsplit("/", 1)[-1] == name:
                        found |= values["ros__parameters"]
        return found


def started(description, **values):
    """Return the nodes that a launch file for one arm would start, by executable."""
    nodes = all_started(description, **values)
    found = {node.key: node for node in nodes}
    assert len(found) == len(nodes)
    return found


def all_started(description, log=None, **values):
    """Return the nodes that a launch file would start; append what it logs to a list."""
    context = LaunchContext()
    context.launch_configurations.update(values)
    found = []

    def start(node, context):
        """Record a node instead of starting its process."""
        found.append(Started(node, context))

    def write(info, context):
        """Append a line that would be logged."""
        if log is not None:
            log.append(perform_substitutions(context, info.msg))

    with (
        patch.object(ExecuteLocal, "execute", start),
        patch.object(LogInfo, "execute", write),
        patch.object(subprocess, "run", run_once),
    ):
        visit_all_entities_and_collect_futures(description, context)
    return found


@cache
def _run(command, kwargs):
    return subprocess_run(command, **dict(kwargs))


def run_once(command, **kwargs):
    """Run dh2urdf once for each robot."""
    return _run(tuple(command), tuple(kwargs.items()))


def test_launch_arguments_match_the_table(launched):
    description, arguments, _ = launched
    declared = {a.name: a for a in description.get_launch_arguments()}
    table = {argument.name: argument for argument in arguments}
    assert declared.keys() - table.keys() <= LAUNCH_ALONE | OF_BRINGUP
    assert table.keys() <= declared.keys()
    for name, argument in table.items():
        found = declared[name]
        assert found.description.startswith(argument.text)
        assert tuple(found.choices or ()) == argument.choices
        assert [part.describe() for part in found.default_value] == [repr(argument.default)]


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("nut_transfer", {"tasks"}),
        ("two_arms", {"tasks", "namespace", "prefix", "calibration"}),
    ],
)
def test_what_a_file_sets_itself_is_no_argument(name, own):
    declared = {argument.name for argument in description_of(name).get_launch_arguments()}
    assert declared and not declared & own
    assert {"robot", "hardware", "params_file"} <= declared


@pytest.mark.parametrize("name", ["nut_transfer", "bringup", "two_arms"])
def test_every_default_is_a_text(name):
    """As `ros2 launch --show-args` prints it, of the arguments that have a default."""
    for argument in description_of(name).get_launch_arguments():
        texts = [part.describe() for part in argument.default_value]
        assert all(re.fullmatch("'[^']*'", text) for text in texts), argument.name


def test_launched_nodes_have_the_parameters_of_the_table(launched, changes):
    description, arguments, table = launched
    tasks = "true" if "task" in {argument.name for argument in arguments} else "false"
    values = default_values(tasks=tasks, **changes)
    changes.pop("params_file", None)
    nodes = started(description, **changes)
    expected = {(p.package, p.executable): p for p in chosen(table, values)}
    assert nodes.keys() == expected.keys()
    for key, process in expected.items():
        parameters = nodes[key].parameters(process.name)
        for name, value in process.parameters.items():
            assert parameters[name] == resolve(value, values), (key, name)


@pytest.fixture(
    params=[
        {},
        {"composed": "false"},
        {"hardware": "real", "exit_action": "park"},
        {"speed": "8", "robot": "five_axis", "composed": "false", "hardware": "fake"},
        {"part": "hardware"},
        {"part": "rest", "scene": "easel"},
        {"viewer": "none"},
        {"viewer": "browser", "viewer_port": "8081", "viewer_allowed_hosts": "a b"},
    ],
    ids=str,
)
def changes(request):
    return dict(request.param)


def test_contact_physics_take_the_speed_and_set_the_pace_of_the_driver():
    pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")
    nodes = started(description_of("nut_transfer"), world="contact", speed="4")
    assert nodes["arm_hardware", "hardware"].parameters("arm_hardware")["speed"] == 1.0
    assert nodes["arm_simulation", "contact_world"].parameters("contact_world")["speed"] == 4.0


def test_moveit_group_reaches_the_kinematics():
    nodes = started(description_of("bringup"), moveit_group="none")
    assert nodes["arm_tasks", "arm_nodes"].parameters("kinematics")["moveit_group"] == "none"


@pytest.mark.parametrize(
    ("file", "values", "reason"),
    [
        ("bringup", {"speed": "fast"}, "speed is 'fast'; give a number"),
        ("bringup", {"speed": "-1"}, "speed is '-1'; give a number"),
        ("bringup", {"robot": "nosuch"}, "no robot named 'nosuch'"),
        ("bringup", {"calibration": "nosuch"}, "no calibration 'nosuch'"),
        ("bringup", {"params_file": "/nosuch.yaml"}, r"params_file is .*, which is not a file"),
        ("bringup", {"params_file": __file__}, "test_launch_files.py"),
        ("bringup", {"namespace": "1st"}, "'1st' is not a namespace"),
        ("bringup", {"tasks": "true", "scene": "nosuch"}, "'nosuch' is neither a scene"),
        ("bringup", {"tasks": "true", "task_path": "/nosuch"}, "there is no folder /nosuch"),
        ("nut_transfer", {"scene": "nosuch"}, "'nosuch' is neither a scene"),
        ("nut_transfer", {"task": "nosuch"}, "'nosuch' is neither a task"),
        ("nut_transfer", {"viewer": "browser", "viewer_port": "x"}, "viewer_port is 'x'"),
        ("nut_transfer", {"rviz_config": "/nosuch"}, "rviz_config is /nosuch, which is not a"),
        ("two_arms", {"spacing": "far"}, "spacing is 'far'; give a number"),
        ("two_arms", {"scene": "nosuch"}, "'nosuch' is neither a scene"),
    ],
    ids=str,
)
def test_missing_file_or_invalid_number_is_named(file, values, reason):
    with pytest.raises(Exception, match=reason):
        all_started(description_of(file), **values)


def test_values_of_the_parameter_file_come_last(tmp_path):
    file = tmp_path / "mine.yaml"
    values = {"rate_hz": 100.0, "exit_action": "park", "autostart": "none"}
    file.write_text(yaml.safe_dump({"/**/arm_hardware": {"ros__parameters": values}}))
    nodes = started(description_of("bringup"), params_file=str(file), exit_action="hold")
    assert values.items() <= nodes["arm_hardware", "hardware"].parameters("arm_hardware").items()


def test_namespace_prefix_tf_and_log_level_reach_every_node():
    nodes = started(
        description_of("nut_transfer"),
        **{"namespace": "left", "prefix": "left_", "private_tf": "true", "log_level": "warn"},
    )
    assert len(nodes) >= 5
    for node in nodes.values():
        command = " ".join(node.command)
        assert "__ns:=/left" in command and "/left/left" not in command
        assert "-r /tf:=tf" in command and "-r /tf_static:=tf_static" in command
        assert "--log-level warn" in command
        if node.key[0] == "robot_state_publisher":  # in C++; its names are those of the URDF
            urdf = node.parameters(node.key[1])["robot_description"]
            assert '<link name="left_base_link"' in urdf
        elif node.key[1] != "run_task":
            assert node.parameters(NAMES.get(node.key[1], node.key[1]))["prefix"] == "left_"
    urdf = nodes["arm_tasks", "arm_nodes"].parameters()["robot_description"]
    assert '<link name="left_base_link"' in urdf
    assert nodes["rviz2", "rviz2"].command[2:4] == ["-f", "left_base_link"]


@pytest.mark.parametrize(
    ("network", "variable", "is_open"),
    [
        ("auto", "", False),
        ("auto", "subnet", True),
        ("subnet", "this_computer", True),
        ("this_computer", "subnet", False),
    ],
)
def test_every_process_is_reached_as_the_argument_or_arm_network_says(
    launched, monkeypatch, network, variable, is_open
):
    monkeypatch.delenv(REPORTED, raising=False)
    monkeypatch.setenv(RANGE, "SUBNET")  # as a sourced Jazzy does
    monkeypatch.setenv("ARM_NETWORK", variable)
    log = []
    for node in all_started(launched[0], log, network=network):
        assert is_limited(node.environment) is not is_open
        assert limit_to_this_computer(dict(node.environment)) == node.environment
        assert report_reach(node.environment) == ""  # the launch has reported it
    (sentence,) = (line for line in log if "reached from" in line)
    assert "ARM_NETWORK=subnet" in sentence or is_open
    assert ("every computer of the network" in sentence) is is_open


def test_an_unknown_arm_network_starts_nothing(launched, monkeypatch):
    monkeypatch.setenv("ARM_NETWORK", "lan")
    with pytest.raises(InputError, match="ARM_NETWORK is 'lan'; set it to one of auto"):
        all_started(launched[0])


@pytest.mark.parametrize("variable", ["", "subnet"])
def test_two_arms_report_once_from_where_they_are_reached(monkeypatch, variable):
    monkeypatch.delenv(REPORTED, raising=False)
    monkeypatch.setenv("ARM_NETWORK", variable)
    log = []
    all_started(description_of("two_arms"), log)
    assert sum("reached from" in line for line in log) == 1


def test_rviz_opens_a_copy_of_the_shipped_configuration_and_the_users_file_itself(tmp_path):
    shipped = PACKAGE / "rviz" / "nut_transfer.rviz"
    copy = Path(RvizConfig("", str(shipped)).perform(LaunchContext()))
    assert copy != shipped and copy.read_bytes() == shipped.read_bytes()
    copy.write_text("changed in RViz")
    assert shipped.read_text() != "changed in RViz"
    other = Path(RvizConfig("", str(shipped)).perform(LaunchContext()))
    assert other != copy and copy.read_text() == "changed in RViz"  # of a file included twice
    mine = tmp_path / "mine.rviz"
    mine.touch()
    assert RvizConfig(str(mine), str(shipped)).perform(LaunchContext()) == str(mine)


def test_two_arms_have_their_own_nodes_and_share_one_clock_and_one_view():
    nodes = all_started(description_of("two_arms"))
    commands = {node: " ".join(node.command) for node in nodes}
    arms = [[n for n in nodes if f"__ns:=/{side}" in commands[n]] for side in ("left", "right")]
    keys, others = ({node.key for node in arm} for arm in arms)
    assert keys == others and len(keys) == len(arms[0]) == len(arms[1]) >= 3
    for arm, clock in zip(arms, (True, False), strict=True):
        (driver,) = (node for node in arm if node.key == ("arm_hardware", "hardware"))
        assert f"publish_clock:={clock}" in commands[driver]
        assert ("arm_viewer", "tool_handle") in {node.key for node in arm}
    shared = [node.key for node in nodes if node not in (*arms[0], *arms[1])]
    assert sorted(shared) == [("arm_description", "state_publisher"), ("rviz2", "rviz2")]


def test_every_launch_file_is_tested():
    assert {f"{name}.launch.py" for name in (*FILES, "two_arms")} == {
        f.name for f in LAUNCH.glob("*.launch.py")
    }
