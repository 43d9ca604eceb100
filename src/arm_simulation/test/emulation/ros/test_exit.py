# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How a driver process ends, seen at the registers of the board that it leaves behind."""

import contextlib
import os
import signal

import pytest
from action_msgs.msg import GoalStatus
from arm_common.signals import LAUNCH_HOLDS_STDIN
from arm_hardware.commands import release
from arm_simulation.emulation.pca9685_chip import PCA9685_CHIP_CHANNELS, ChipMemory, Pca9685Chip
from arm_testing.ros import driver as nc
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import Transition
from rclpy.qos import QoSProfile
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system


class Board:
    """The simulated board, as it goes on without the driver."""

    def __init__(self, file) -> None:
        self.file = file
        self.chip = Pca9685Chip(memory=ChipMemory(file))

    def counts(self) -> list[int]:
        channels = range(PCA9685_CHIP_CHANNELS)
        return [self.chip.count(c) if self.chip.running else 0 for c in channels]

    def pulses(self) -> int:
        return sum(count > 0 for count in self.counts())


@pytest.fixture
def board(tmp_path):
    return Board(tmp_path / "board")


@pytest.fixture
def start(board, start):
    usual = {"hardware": "sim", "backend": "i2c_dev", "autostart": "activate"}
    return lambda code="", **more: start(code, **usual | more, sim_registers=board.file)


def moving(client):
    client.wait_armed()
    answer = client.end_of(client.creep())
    client.wait_moving()
    return answer


@pytest.mark.parametrize(
    ("action", "number", "pulses"),
    [
        ("hold", signal.SIGINT, 5),
        ("release", signal.SIGTERM, 0),
        ("park", signal.SIGHUP, 0),
    ],
)
def test_exit_action_is_carried_out_on_the_board(start, client, board, action, number, pulses):
    process = start(exit_action=action)
    answer = moving(client)
    code, output = process.end(number)
    assert code == 0 and "Traceback" not in output and "never retrieved" not in output, output
    assert board.pulses() == pulses
    assert ("Parked." in output) == (action == "park")
    assert client.done(answer).status == GoalStatus.STATUS_ABORTED


@pytest.fixture
def pipe():
    """Return both ends of a pipe."""
    ends = os.pipe()
    yield ends
    for descriptor in ends:
        with contextlib.suppress(OSError):
            os.close(descriptor)


@pytest.mark.parametrize("launched", [True, False])
def test_only_a_driver_of_a_launch_ends_when_nobody_holds_its_standard_input(
    start, client, board, pipe, launched
):
    environment = {LAUNCH_HOLDS_STDIN: "1"} if launched else {}
    process = start(exit_action="release", environment=environment, stdin=pipe[0])
    answer = moving(client)
    os.close(pipe[1])
    if launched:
        code, output = process.output()
        assert "The launch that started this process is gone" in output
        assert client.done(answer).status == GoalStatus.STATUS_ABORTED
    else:
        client.states.clear()
        nc.wait_for(lambda: len(client.states) > 20, "driver that goes on")
        assert client.status.state == HardwareStatus.MOVING
        code, output = process.end()
        assert "launch" not in output
    assert code == 0 and "Traceback" not in output
    assert board.pulses() == 0


def test_driver_of_a_launch_that_was_gone_before_is_not_armed(start, board, pipe):
    os.close(pipe[1])
    process = start(environment={LAUNCH_HOLDS_STDIN: "1"}, stdin=pipe[0], exit_action="hold")
    code, output = process.output()
    assert code == 0 and "Configured" not in output and board.pulses() == 0


def test_second_signal_releases_at_once(start, client, board):
    process = start(exit_action="park", code=SLOW_PARKING)
    moving(client)
    counts = [board.counts()[0]]

    def turned_back():
        counts.append(board.counts()[0])
        return counts[-1] < max(counts)

    process.process.send_signal(signal.SIGINT)
    nc.wait_for(turned_back, "way home")
    code, output = process.end(signal.SIGTERM)
    assert code == 0 and "Parking was cut short" in output, output
    assert "Parked." not in output and "Traceback" not in output
    assert board.pulses() == 0


SLOW_PARKING = """
import sys
from arm_hardware import driver as parking
from arm_hardware.ros import process

parking.SIGNAL_ECHO, parking.PARK_SPEED = 0.0, 0.001
parking.PARK_TIME = parking.PARK_TIMEOUT = 1000.0
sys.exit(process.main())
"""

FAILING = """
import sys
from arm_hardware.ros import process
from arm_hardware.ros.driver_node import HardwareNode

answer = HardwareNode._answer

def fail(node, name, *rest):
    if name == "reset":
        raise RuntimeError("on purpose")
    return answer(node, name, *rest)

HardwareNode._answer = fail
sys.exit(process.main())
"""


def test_exception_in_a_callback_holds_and_the_process_lives(start, client, board):
    process = start(exit_action="release", code=FAILING)
    answer = moving(client)
    client.ask("reset", Trigger.Request())
    assert client.done(answer).status == GoalStatus.STATUS_ABORTED
    status = client.wait_settled(HardwareStatus.STOPPED)
    assert "RuntimeError('on purpose')" in status.message and board.pulses() == 5
    left = board.counts()
    assert client.trigger("stop").success and client.lifecycle() == "active"
    assert board.counts() == left
    code, output = process.end()
    assert code == 0, output
    assert output.count("raised in <string>:10 fail") == output.count("Traceback") == 1, output
    assert board.pulses() == 0


def test_board_of_a_killed_driver_keeps_pulsing_until_taken_over_or_released(
    start, client, board, capsys
):
    process = start()
    moving(client)
    process.process.kill()
    process.output()
    left, stamps = board.counts(), list(board.chip.changed_at)
    assert board.pulses() == 5 and left[0] > 0

    process = start(autostart="configure")
    # To the first client the services of the killed driver seem to be there for a lease of DDS:
    # what it asks may be lost.
    with contextlib.closing(nc.Client()) as again:
        again.wait_state(HardwareStatus.DISARMED)
        joints = nc.wait_for(lambda: again.status.joints, "configured driver")
        assert [pulse.count for pulse in joints] == [left[pulse.channel] for pulse in joints]
        nc.wait_for(lambda: again.lifecycle() == "inactive", "inactive driver")
        assert again.change(Transition.TRANSITION_ACTIVATE)
        again.wait_state(HardwareStatus.ARMED)
    assert board.counts() == left and list(board.chip.changed_at) == stamps
    process.process.kill()
    process.output()

    assert board.counts() == left
    assert release.main(["--sim", str(board.file)]) == 0
    assert board.pulses() == 0 and "Released" in capsys.readouterr().out


def test_stop_topic_and_board_reset_abort_goals(start, client, board):
    process = start()
    answer = moving(client)
    stop = client.node.create_publisher(Empty, "arm_hardware/emergency_stop", QoSProfile(depth=1))
    nc.wait_for(stop.get_subscription_count, "subscription of the stop")
    stop.publish(Empty())
    assert client.done(answer).status == GoalStatus.STATUS_ABORTED
    assert "emergency_stop" in client.wait_settled(HardwareStatus.STOPPED).message
    assert client.trigger("reset").success
    client.wait_settled(HardwareStatus.ARMED)

    answer = client.end_of(client.creep())
    board.chip.reset()
    assert client.done(answer).status == GoalStatus.STATUS_ABORTED
    status = client.wait_state(HardwareStatus.FAULT)
    assert "reset or lost its power" in status.message
    nc.wait_for(
        lambda: (
            client.diagnostics
            and client.diagnostics.status[0].level == DiagnosticStatus.ERROR
            and "check the supply" in client.diagnostics.status[0].message
        ),
        "diagnostics",
    )
    code, output = process.end()
    assert code == 0 and "Traceback" not in output, output
