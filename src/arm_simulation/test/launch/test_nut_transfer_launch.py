# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""nut_transfer.launch.py as `ros2 launch` runs it: it ends by itself with an exit code.

launch_testing treats a launch that ends before its tests as a failure, so these use a
LaunchService, as `ros2 launch` does.
"""

from contextlib import contextmanager

import rclpy
from arm_common.ros.node_runner import ExecutorThread
from arm_tasks.bringup.processes import COMPOSED
from arm_testing.repository import repository
from launch import LaunchDescription, LaunchService
from launch.actions import GroupAction, IncludeLaunchDescription, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import PushRosNamespace
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from arm_interfaces.msg import NutState

TURNS = 3.0
UNHURRIED = {"sigterm_timeout": "60"}  # [s]; by default launch waits for 5 s on SIGINT
SOURCES = repository() / "src"
LAUNCH = SOURCES / "arm_tasks" / "launch" / "nut_transfer.launch.py"


def launched(output=None, **arguments):
    """Run the launch file to its end; return its exit code and those of its processes.

    What the processes write is appended to ``output``, a list of bytes.
    """
    codes = {}

    def on_output(event):
        if output is not None:
            output.append(event.text)

    def on_exit(event, context):
        codes[event.action.process_details["name"].rsplit("-", 1)[0]] = event.returncode

    transfer = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH)),
        launch_arguments=(arguments | UNHURRIED).items(),
    )
    exits = RegisterEventHandler(OnProcessExit(on_exit=on_exit))
    writes = RegisterEventHandler(OnProcessIO(on_stdout=on_output, on_stderr=on_output))
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription([exits, writes, transfer]))
    return service.run(), codes


@contextmanager
def watched():
    context = Context()
    rclpy.init(context=context)
    node = Node("beside", context=context)
    states: list[NutState] = []
    node.create_subscription(NutState, "nut_world/state", states.append, 100)
    thread = ExecutorThread(SingleThreadedExecutor(context=context), [node], lambda: None)
    try:
        yield states
    finally:
        thread.stop()
        node.destroy_node()
        rclpy.shutdown(context=context)


def test_launch_transfers_the_nut_and_exits_cleanly():
    with watched() as states:
        code, codes = launched(hardware="sim", viewer="none", speed="8")
    assert code == 0
    assert {COMPOSED, "hardware", "run_task"} <= codes.keys() and set(codes.values()) == {0}, codes
    assert not codes.keys() & {"kinematics", "nut_world", "task_server"}
    assert states[0].bolt == "upper_bolt" and states[-1].bolt == "lower_bolt"
    assert states[-1].state == NutState.ON_BOLT and states[-1].turns_engaged >= TURNS
    assert NutState.FALLEN not in {state.state for state in states}


def test_unknown_task_fails_the_launch_but_no_other_process():
    code, codes = launched(hardware="fake", viewer="none", task="nosuch", composed="false")
    assert code != 0 and codes.pop("run_task", 1) != 0
    assert len(codes) == 5 and set(codes.values()) == {0}, codes


def test_launch_fails_with_a_node_of_the_composed_process():
    output = []
    code, codes = launched(output, hardware="fake", viewer="none", robot="puma560")
    assert code != 0 and codes.pop(COMPOSED, 1) == 1
    assert b"nut_world: robot puma560 has no gripper" in b"".join(output)


def test_invalid_argument_value_starts_nothing():
    code, codes = launched(hardware="wood", viewer="none")
    assert code != 0 and not codes


def task_file(folder, name, seconds):
    """Write a task that moves to the posture ready and then waits [s]; return its path."""
    file = folder / f"{name}.yaml"
    steps = f"steps:\n  - move_posture: ready\n  - wait: {seconds}\n"
    file.write_text(f"task: {name}\nscene: nut_transfer\n{steps}")
    return str(file)


def two_arms(tasks, last=""):
    """Run a user's launch description with two arms; return its exit code and the tasks' ends.

    Args:
        tasks: Namespace -> launch arguments of its arm.
        last: The arm with whose task the user's description ends the launch.
    """
    ends = []

    def on_exit(event, context):
        if "run_task" in event.process_name:
            namespace = next(word for word in event.cmd if word.startswith("__ns:="))
            ends.append((namespace.removeprefix("__ns:=/"), event.returncode))
            return Shutdown() if ends[-1][0] == last else None
        return None

    arms = [
        GroupAction(
            [
                PushRosNamespace(namespace),
                IncludeLaunchDescription(
                    PythonLaunchDescriptionSource(str(LAUNCH)),
                    launch_arguments=({"prefix": f"{namespace}_", **given} | UNHURRIED).items(),
                ),
            ]
        )
        for namespace, given in tasks.items()
    ]
    exits = RegisterEventHandler(OnProcessExit(on_exit=on_exit))
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription([*arms, exits]))
    return service.run(), ends


def test_users_launch_file_includes_two_arms_which_end_one_after_the_other(tmp_path):
    common = {"hardware": "fake", "viewer": "none"}
    code, ends = two_arms(
        {
            "left": {"task": task_file(tmp_path, "short", 1.0), **common},
            "right": {"task": task_file(tmp_path, "long", 25.0), **common},
        }
    )
    assert (code, ends) == (0, [("left", 0), ("right", 0)])


def test_failed_task_of_one_arm_does_not_end_the_other(tmp_path):
    common = {"hardware": "fake", "viewer": "none"}
    right = {"task": task_file(tmp_path, "long", 25.0), **common}
    code, ends = two_arms({"left": {"task": "nosuch", **common}, "right": right})
    assert code == 1
    assert ends[0][0] == "left" and ends[0][1] != 0
    assert ends[1] == ("right", 0)


def test_failed_node_of_one_arm_does_not_end_the_other(tmp_path):
    stay = {"when_failed": "stay", "when_done": "stay"}
    common = {"hardware": "fake", "viewer": "none", **stay}
    right = {"task": task_file(tmp_path, "short", 1.0), **common}
    left = {"robot": "puma560", **common}  # it has no gripper
    code, ends = two_arms({"left": left, "right": right}, last="right")
    assert code == 1
    assert ends[0] == ("right", 0) and ends[1][1] != 0
