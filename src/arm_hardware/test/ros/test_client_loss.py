# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import os
import signal
import subprocess
import sys
import time

import pytest
from action_msgs.msg import GoalStatus
from arm_common.ros.actions.client import GoalClient
from arm_testing.programs.processes import start_python
from arm_testing.ros import driver as nc
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectory

from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system


STALL = 1.5  # [s]


@pytest.fixture
def client(start, client):
    process = start(hardware="fake", autostart="activate")
    client.process = process.process
    client.wait_armed()
    yield client
    code, output = process.end()
    assert code == 0 and "Traceback" not in output, output


def test_goal_of_a_lost_client_is_aborted_and_the_arm_holds(client):
    client.request(client.arm.destroy)  # it only watches
    other = nc.Client()
    other.wait_armed()
    other.creep()
    other.wait_moving()
    other.close()
    gone = "client of the goal has gone"
    nc.wait_for(lambda: gone in client.wait_state(HardwareStatus.ARMED).message, "end of the goal")


BESIDE = """
import sys
import rclpy
from arm_common.ros.actions.client import GoalClient
from arm_testing.ros import driver as nc
from rclpy.action import ActionClient

client = nc.Client({kind})
client.wait_armed()
if {owns}:
    client.creep()
print("ready", flush=True)
sys.stdin.read()
"""
LONGER_THAN_TIMEOUT = 5.0  # [s] of a motion; client_timeout is 2 s


@pytest.fixture
def beside(client):
    """Return a function that starts another program with a client of the same actions."""
    programs = []

    def start(kind, owns=False):
        code = BESIDE.format(kind=kind, owns=owns)
        program = start_python(
            "-c", code, stdin=subprocess.PIPE, PYTHONPATH=os.pathsep.join(sys.path)
        )
        programs.append(program)
        assert program.stdout.readline() == "ready\n", program.stdout.read()
        return program

    yield start
    for program in programs:
        program.kill()
        program.wait()


def test_killed_owner_ends_its_motion_whoever_else_is_a_client(client, beside):
    owner = beside("GoalClient", owns=True)
    client.wait_moving()
    owner.kill()
    gone = "client of the goal has gone"
    nc.wait_for(lambda: gone in client.wait_state(HardwareStatus.ARMED).message, "end of the goal")


@pytest.mark.parametrize(
    ("owner", "other"),
    [
        ("GoalClient", "ActionClient"),
        pytest.param("GoalClient", "GoalClient", marks=pytest.mark.thorough),
        pytest.param("ActionClient", "GoalClient", marks=pytest.mark.thorough),
    ],
)
def test_death_of_another_client_does_not_end_a_motion(client, beside, owner, other):
    program = beside(other)
    mine = nc.Client(GoalClient if owner == "GoalClient" else ActionClient)
    mine.wait_armed()
    handle = mine.send((LONGER_THAN_TIMEOUT, nc.AWAY))
    client.wait_moving()
    program.kill()
    result = mine.result(handle)
    assert result.status == GoalStatus.STATUS_SUCCEEDED, result.result.error_string
    mine.close()
    client.go(*nc.HOME)


def test_pause_ends_with_the_lost_client_that_could_resume(client):
    client.request(client.arm.destroy)  # it only watches
    client.scale(0.5)
    other = nc.Client()
    other.wait_armed()
    other.creep()
    other.wait_moving()
    other.scale(0.0)
    other.close()
    over = "The pause is over: the speed scaling is 0.5 again."
    nc.wait_for(lambda: over in client.wait_state(HardwareStatus.ARMED).message, "its end")
    assert client.status.speed_scaling == 0.5
    client.wait_settled(HardwareStatus.ARMED)
    assert client.position("waist") < nc.AWAY[0]
    client.scale(1.0)


def test_empty_trajectory_on_the_topic_holds(client):
    handle = client.creep()
    client.wait_moving()
    client.topic.publish(JointTrajectory())
    result = client.result(handle)
    assert result.status == GoalStatus.STATUS_ABORTED
    assert "empty trajectory arrived on the topic" in result.result.error_string
    client.wait_settled(HardwareStatus.ARMED)
    assert 0.0 < client.position("waist") < nc.AWAY[0]


def test_stream_that_ends_on_the_topic_is_braked(client):
    def lost():
        return "stream of trajectories ended" in client.status.message

    client.scale(0.05)  # so that each message takes longer than command_timeout
    for k in range(1, 11):
        ahead = [0.02 * k * place for place in nc.AWAY]
        client.topic.publish(nc.trajectory([(0.4, ahead)]))
    nc.wait_for(lost, "end of the stream")
    client.wait_state(HardwareStatus.ARMED)
    assert "Holding" in client.status.message
    client.scale(1.0)


def test_same_trajectory_published_twice_runs_to_its_end(client):
    for _ in range(2):
        client.topic.publish(nc.trajectory([(1.5, nc.AWAY)]))
    nc.wait_for(lambda: abs(client.position("waist") - nc.AWAY[0]) < nc.NEAR, "the goal")


def test_motion_ends_in_hold_after_the_process_was_stopped(client):
    answer = client.end_of(client.creep())
    client.wait_moving()
    os.kill(client.process.pid, signal.SIGSTOP)
    time.sleep(STALL)  # what is tested is that the process does not run for so long
    before = client.position("waist")
    os.kill(client.process.pid, signal.SIGCONT)
    result = client.done(answer)
    assert result.status == GoalStatus.STATUS_ABORTED
    assert "stalled for" in result.result.error_string
    status = client.wait_settled(HardwareStatus.ARMED)
    assert "stalled for" in status.message and "holding" in status.message
    assert client.position("waist") == pytest.approx(before, abs=nc.NEAR)
    values = nc.wait_for(
        lambda: (
            client.diagnostics
            and "stalled" in client.diagnostics.status[0].message
            and client.diagnostics.status[0].values
        ),
        "diagnostics",
    )
    assert {v.key: v.value for v in values}["stalls"] == "1"
    held, count = list(client.states[-1].position), len(client.states)
    nc.wait_for(lambda: len(client.states) > count + 2, "joint states")
    assert list(client.states[-1].position) == held
    client.go(*nc.HOME)
