# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What ends a launch: short commands replace the nodes, in a scope that is gone by then."""

import os
import signal
import sys

import pytest
from arm_common.ros.launch import StartTogether, set_network
from arm_common.signals import LAUNCH_HOLDS_STDIN
from arm_tasks.bringup.launch import (
    exit_handlers,
    on_last_task_exit,
    on_task_exit,
    on_task_start,
    on_view_exit,
)
from launch import LaunchDescription, LaunchService
from launch.actions import (
    ExecuteProcess,
    GroupAction,
    OpaqueFunction,
    RegisterEventHandler,
    SetLaunchConfiguration,
    Shutdown,
)
from launch.event_handlers import OnProcessExit, OnProcessStart
from launch_ros.actions import Node

FOREVER = ["sleep", "600"]
BRIEFLY = ["sleep", "1.5"]
WHEN_DONE = {"shutdown": on_last_task_exit, "stay": on_task_exit}


def interrupt(event, context):
    """Send the launch SIGINT, as Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


def ended(task, when_done, view=None, node=FOREVER, more=(), when_failed="shutdown"):
    """Run commands as task, view and node; return the launch's exit code and the commands'."""
    codes = {}

    def on_exit(event, context):
        codes[event.action.process_details["name"].rsplit("-", 1)[0]] = event.returncode

    client = ExecuteProcess(cmd=task, name="task")
    started = OnProcessStart(target_action=client, on_start=on_task_start)
    exited = OnProcessExit(target_action=client, on_exit=WHEN_DONE[when_done])
    actions = [SetLaunchConfiguration("when_failed", when_failed)]
    actions += [RegisterEventHandler(started), RegisterEventHandler(exited), client]
    nodes = [ExecuteProcess(cmd=node, name="node")]
    actions += [*exit_handlers(nodes), *nodes]
    if view:
        views = [ExecuteProcess(cmd=view, name="view")]
        actions += [*exit_handlers(views, on_view_exit), *views]
    service = LaunchService(noninteractive=True)
    exits = RegisterEventHandler(OnProcessExit(on_exit=on_exit))
    service.include_launch_description(LaunchDescription([GroupAction(actions), exits, *more]))
    return service.run(), codes


@pytest.mark.parametrize(("task", "expected"), [("true", 0), ("false", 1)])
def test_task_that_ends_or_fails_ends_the_launch(task, expected):
    code, codes = ended([task], "shutdown")
    assert (code, codes["task"]) == (expected, expected)
    assert codes["node"] != 0  # by a signal of launch


@pytest.mark.parametrize(("task", "expected"), [("true", 0), ("false", 1)])
def test_task_that_ends_or_fails_leaves_the_view_open_until_it_is_closed(task, expected):
    code, codes = ended([task], "stay", view=BRIEFLY)
    assert (code, codes["task"], codes["view"]) == (expected, expected, 0)


@pytest.mark.parametrize("when_done", WHEN_DONE)
def test_view_closed_before_the_task_has_ended_is_an_error(when_done):
    code, codes = ended(FOREVER, when_done, view=["true"])
    assert (code, codes["view"]) == (1, 0)


@pytest.mark.parametrize("when_done", WHEN_DONE)
def test_node_that_fails_is_an_error(when_done):
    code, codes = ended(FOREVER, when_done, view=FOREVER, node=["false"])
    assert (code, codes["node"]) == (1, 1)


@pytest.mark.parametrize("when_done", WHEN_DONE)
def test_launch_interrupted_during_a_task_is_an_error(when_done):
    clock = ExecuteProcess(cmd=["sleep", "0.5"], on_exit=interrupt)
    code, codes = ended(FOREVER, when_done, more=[clock])
    assert (code, codes["task"]) == (1, -signal.SIGINT)


@pytest.mark.parametrize(("task", "expected"), [("true", 0), ("false", 1)])
def test_launch_interrupted_after_its_task_is_an_error_if_the_task_failed(task, expected):
    clock = ExecuteProcess(cmd=BRIEFLY, on_exit=interrupt)
    code, codes = ended([task], "stay", more=[clock])
    assert (code, codes["task"]) == (expected, expected)


@pytest.mark.parametrize(
    ("parts", "name", "expected"),
    [({"node": ["false"], "view": FOREVER}, "node", 1), ({"view": ["true"]}, "view", 0)],
)
def test_launch_file_around_it_ends_a_launch_that_stays(parts, name, expected):
    """A failed node is spared, but is an error at the end; a closed view is none."""
    last = ExecuteProcess(cmd=BRIEFLY, name="last", on_exit=Shutdown())
    code, codes = ended(["true"], "stay", more=[last], when_failed="stay", **parts)
    assert (code, codes[name], codes["last"]) == (expected, expected, 0)


def test_failed_arm_does_not_end_an_arm_beside_it():
    """Two included files, of which one has a failing node and the other one ends the launch."""
    codes = {}

    def on_exit(event, context):
        codes[event.process_name.rsplit("-", 1)[0]] = event.returncode

    def arm(when_failed, **nodes):
        actions = [ExecuteProcess(cmd=command, name=name) for name, command in nodes.items()]
        chosen = SetLaunchConfiguration("when_failed", when_failed)
        return GroupAction([chosen, *exit_handlers(actions), *actions])

    service = LaunchService(noninteractive=True)
    arms = [arm("stay", left=["false"]), arm("shutdown", right=BRIEFLY)]
    exits = RegisterEventHandler(OnProcessExit(on_exit=on_exit))
    service.include_launch_description(LaunchDescription([exits, *arms]))
    service.run()
    assert codes == {"left": 1, "right": 0}


@pytest.mark.parametrize("nested", [False, True])
def test_no_process_starts_if_a_later_action_of_the_launch_file_raises(tmp_path, nested):
    """launch itself would start the first process, and leave it behind."""
    first, second = tmp_path / "first", tmp_path / "second"
    start = ExecuteProcess(cmd=["touch", str(first)])
    actions = [StartTogether([start]) if nested else start]
    actions += [Node(package="no_such_package", executable="node")]
    actions += [ExecuteProcess(cmd=["touch", str(second)])]
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription([StartTogether(actions)]))
    assert service.run() == 1
    assert not first.exists() and not second.exists()


def test_launch_waits_for_processes_that_start_together(tmp_path):
    file = tmp_path / "end"
    words = ["sh", "-c", f"sleep 1; touch {file}"]
    service = LaunchService(noninteractive=True)
    actions = [StartTogether([ExecuteProcess(cmd=words)])]
    service.include_launch_description(LaunchDescription([StartTogether(actions)]))
    assert service.run() == 0 and file.exists()


def test_process_learns_that_launch_holds_its_standard_input(tmp_path):
    """A test of the driver shows that it ends with that pipe."""
    file = tmp_path / "words"
    code = "import os, stat; m = os.fstat(0).st_mode; p = stat.S_ISFIFO(m) or stat.S_ISSOCK(m)"
    code += f"; open({str(file)!r}, 'w').write(str([p, os.environ[{LAUNCH_HOLDS_STDIN!r}]]))"
    network = [SetLaunchConfiguration("network", "this_computer")]
    actions = [*network, OpaqueFunction(function=set_network)]
    actions += [ExecuteProcess(cmd=[sys.executable, "-c", code])]
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription([StartTogether(actions)]))
    assert service.run() == 0 and file.read_text() == "[True, '1']"
