# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The guided calibration in a terminal, on an emulated board and on emulated smart servos."""

import sys

import numpy as np
import pytest
import yaml
from arm_hardware.calibration.file import load_calibration
from arm_testing.files.robot_files import KIT
from arm_testing.programs import terminal as pp

WATCHED = """
import sys
import arm_hardware.commands.calibrate as tool
from arm_simulation.emulation import board
made, make = [], board.SimulatedBoard
board.SimulatedBoard = lambda *a: made.append(make(*a)) or made[-1]
code = tool.main(sys.argv[1:])
chip = made[0].chip
print("PULSES", {c: round(chip.pulse_us(c)) for c in range(16) if chip.pulse_us(c)}, flush=True)
sys.exit(code)
"""


def calibrate(folder, robot, *options, code=("-m", "arm_hardware.commands.calibrate")):
    """Start the tool in a terminal, for mine.yaml in a folder."""
    words = (*code, "mine.yaml", "--robot", robot, "--hardware", "sim", *options)
    return pp.PtyProgram(sys.executable, *words, folder=folder)


def write_and_end(wizard):
    """Write the file and leave, as a person does."""
    wizard.ask("w", "Write this to mine.yaml?")
    wizard.ask("y", "Written.")
    wizard.type("q")
    assert wizard.end() == 0 and "Traceback" not in wizard.said


@pytest.fixture
def wizard(tmp_path):
    with calibrate(tmp_path, "nut_arm", "--backend", "i2c_dev", code=("-c", WATCHED)) as wizard:
        yield wizard


def test_wizard_in_a_terminal_on_the_simulated_chip(wizard, tmp_path):
    wizard.wait_for("waist (channel 0)  no pulses")
    wizard.ask("p", "Send it?")
    wizard.ask("y", "1498.2 us")
    wizard.ask("\x1b[A\x1b[C", "1551.8 us")
    wizard.ask("m", "in deg")
    wizard.ask("5\n", "new points: 5 deg: 1552")
    wizard.ask(">>m", "in deg")
    wizard.ask("x\n", "'x' is not a number")
    wizard.ask("m", "in deg")
    wizard.ask("14.1\n", "14.1 deg: 1649")
    write_and_end(wizard)
    assert "PULSES {0: 1649}" in wizard.said and "the arm is held" in wizard.said
    waist = yaml.safe_load((tmp_path / "mine.yaml").read_text())["joints"]["waist"]
    assert waist["points_deg_us"] == [[5, 1551.84], [14.1, 1649.44]]
    assert wizard.attributes() == wizard.before


def test_wizard_in_a_terminal_on_servos_that_answer(tmp_path):
    pytest.importorskip("scservo_sdk")
    with calibrate(tmp_path, "so101", "--port", "/dev/ttyACM7") as wizard:
        wizard.wait_for("shoulder_pan (id 1)  2048 counts, limp")
        wizard.ask("m", "in deg")
        wizard.ask("1.5\n", "1.5 deg: 2048")
        wizard.ask("p", "2048 counts, holds")
        wizard.type("[")
        write_and_end(wizard)
    assert "Servos with torque keep it" in wizard.said
    made = load_calibration(tmp_path / "mine.yaml")
    assert made.board.port == "/dev/ttyACM7"
    assert made.servos["shoulder_pan"].setpoint_limits == (2048, 3982)


@pytest.mark.parametrize("at", ["status", "question", "line"])
def test_ctrl_c_holds_the_arm_and_writes_nothing(wizard, tmp_path, at):
    wizard.wait_for("no pulses")
    wizard.ask("p", "Send it?")
    wizard.ask("y", "1498.2 us")
    if at != "status":
        wizard.ask({"question": "r", "line": "m"}[at], {"question": "(y/n)", "line": "deg"}[at])
    wizard.type("\x03")
    assert wizard.end() == 130
    assert "PULSES {0: 1498}" in wizard.said and "Traceback" not in wizard.said
    assert not (tmp_path / "mine.yaml").exists()
    assert wizard.attributes() == wizard.before


def test_linkage_is_measured_in_a_terminal(tmp_path):
    with calibrate(tmp_path, "mearm", "--backend", "i2c_dev") as user:
        user.wait_for("waist (channel 0)  no pulses")
        user.ask("nn", "elbow (channel 2)")
        user.ask("g", "over a parallelogram")
        user.ask("py", "1498.2 us")
        user.ask("m", "positions of joints elbow and shoulder, with a space between, in deg")
        user.ask("-90\n", "2 numbers are needed")
        user.ask("m", "in deg")
        user.ask("-90.5 90\n", "-0.5 deg: 1498")
        user.ask("<<<<<<<<m", "in deg")
        user.ask("-130 90\n", "-40 deg: 1108")
        user.ask("l", "in mm")
        user.ask("80 35 80 35.2\n", "A parallelogram")
        write_and_end(user)
    elbow = load_calibration(tmp_path / "mine.yaml").servos["elbow"]
    assert np.degrees([place for place, _ in elbow.points]) == pytest.approx([-40, -0.5])


def measure(user, keys, shoulder, answer):
    """Move a servo by keys, then enter where the shoulder is [deg]."""
    user.ask(keys, "us")
    user.ask("m", "joint shoulder, in deg")
    user.ask(f"{shoulder}\n", answer)


def test_pair_is_calibrated_in_a_terminal(tmp_path):
    (tmp_path / "kit_arm.yaml").write_text(KIT)
    with calibrate(tmp_path, "kit_arm.yaml", "--backend", "i2c_dev") as user:
        user.wait_for("waist (channel 0)  no pulses")
        user.ask("ng", "then right with this one")
        measure(user, "py", "10", "10 deg: 1498")
        measure(user, ">" * 10, "98", "98 deg: 1986")
        user.ask("np", "first measure right")
        user.ask("bry", "left (channel 1)  no pulses")
        measure(user, "npy", "97", "-97 deg: 1498")
        measure(user, ">" * 10, "9", "-9 deg: 1986")
        user.ask("bp", "to the position where right holds")
        user.ask("y", "left (channel 1)  1498.2 us")
        user.ask("+" * 9, "more than the allowed 3, and work against it")
        write_and_end(user)
    found = load_calibration(tmp_path / "mine.yaml").servos
    assert found["left"].calibrated and found["right"].calibrated
