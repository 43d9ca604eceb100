# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The commands driver, arm, disarm, stop, reset, rehearse and release, as a person types them."""

import re
import signal

import pytest
from ament_index_python.packages import get_package_prefix
from arm_testing.hardware.factories import factory
from arm_testing.programs.processes import end, kill, output_of, start_python
from arm_testing.waiting import wait_for

from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system


def executable(name):
    package = "arm_simulation" if name == "rehearse" else "arm_hardware"
    return f"{get_package_prefix(package)}/lib/{package}/{name}"


def command(*words):
    """Run a command; return its exit code and its output, without what the middleware writes."""
    name, *arguments = words
    code, text = output_of(start_python(executable(name), *arguments))
    return code, "".join(line for line in text.splitlines(True) if "RTPS" not in line)


def wait_for_answer(expected, *words):
    """Run a command until its exit code and output are as expected: discovery has no end."""
    wait_for(lambda: expected(*command(*words)), " ".join(words))


@pytest.fixture
def driver():
    """Return a function that starts the command driver."""
    yield from factory(lambda *words: start_python(executable("driver"), *words), kill)


def test_driver_is_armed_stopped_reset_and_released_by_commands(driver, client):
    process = driver("nut_arm", "--ros-args", "-p", "rate_hz:=20.0")
    client.wait_armed()
    assert client.status.hardware == "sim"

    code, text = command("disarm")
    assert code == 0 and text == "Disarmed. The servos keep their last pulses.\n"
    client.wait_state(HardwareStatus.DISARMED)
    code, text = command("arm")
    assert code == 0 and text.splitlines()[-1].startswith("Holding")
    client.wait_armed()

    code, text = command("stop")
    assert code == 0 and text.startswith("/arm_hardware: Stopped")
    client.wait_state(HardwareStatus.STOPPED)
    code, text = command("arm")
    assert code == 1 and re.search(r"latched; run .* reset before arming", text)
    assert command("reset")[0] == 0
    client.wait_armed()

    code, text = command("release", "--driver")
    assert code == 0 and "The servos are released" in text
    code, text = command("arm")  # anew: the node is still active
    assert code == 0 and "rest posture is assumed" in text
    client.wait_armed()
    assert end(process, signal.SIGINT)[0] == 0


@pytest.mark.parametrize(
    ("robot", "words", "reason"),
    [
        ("nut_arm", ["unplug", "bus"], "does not answer"),
        ("so101", ["unplug", "3"], "Servo 3 (elbow_flex) of /dev/ttyACM0 is silent"),
        ("so101", ["supply", "3.9"], "has a supply of 3.9 V"),
        ("so101", ["push", "elbow_flex", "-10"], "elbow_flex (servo 3) is overloaded"),
    ],
)
def test_failure_is_rehearsed_and_the_arm_is_armed_again(driver, client, robot, words, reason):
    process = driver(robot)
    client.wait_state(HardwareStatus.ARMED)
    code, text = command("rehearse", *words)
    assert code == 0 and text.count("\n") >= 2, text
    assert reason in client.wait_state(HardwareStatus.FAULT).message
    assert command("rehearse", "restore") == (0, "Nothing fails any more.\n")
    code, text = command("arm")
    assert code == 0, text
    client.wait_state(HardwareStatus.ARMED)
    assert "- nothing fails" in command("rehearse", "show")[1]
    assert end(process, signal.SIGINT)[0] == 0


def test_fake_hardware_does_not_fail_on_request(start, client):
    process = start(hardware="fake", autostart="activate")
    client.wait_armed()
    code, text = command("rehearse", "unplug", "3")
    assert code == 1 and text == (
        "rehearse: Only simulated servos fail on request: start the driver with hardware sim.\n"
    )
    assert client.status.state == HardwareStatus.ARMED
    assert process.end()[0] == 0


def test_commands_ask_which_of_several_drivers_is_meant(driver):
    processes = [driver("planar2", "--namespace", name) for name in ("left", "right")]
    for name in ("left", "right"):
        code, text = command("arm", "--namespace", name)
        assert code == 0, text
    question = "choose one by --namespace: /left, /right"
    wait_for_answer(lambda code, text: code == 1 and question in text, "disarm")
    code, text = command("stop")
    assert code == 0 and {line.split(":")[0] for line in text.splitlines()} == {
        "/left/arm_hardware",
        "/right/arm_hardware",
    }
    for process in processes:
        assert end(process, signal.SIGINT)[0] == 0


@pytest.mark.parametrize("name", ["arm", "disarm", "stop", "reset", "rehearse"])
def test_without_a_driver_the_command_says_so(name):
    code, text = command(name, *(["show"] if name == "rehearse" else []))
    assert code == 1 and text.count("\n") == 1
    assert "No driver is running in this ROS_DOMAIN_ID" in text


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["driver", "no_such_arm"], "no_such_arm"),
        (["driver", "nut_arm", "--namespace", "1 2"], "is not a namespace"),
        (["arm", "--namespace", "1 2"], "is not a namespace"),
        (["release", "--namespace", "left"], "--namespace has no effect without --driver"),
    ],
)
def test_wrong_words_are_one_sentence(words, why):
    code, text = command(*words)
    assert code in (1, 2) and why in text and "Traceback" not in text
