# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The way home before the release, on the simulated chip; and what outlives a process."""

import itertools
import subprocess
import sys
import threading

import pytest
from arm_hardware.commands import release
from arm_hardware.errors import HardwareError, StateError
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import single_point_goal
from arm_simulation.emulation.pca9685_chip import PCA9685_CHIP_CHANNELS, ChipMemory, Pca9685Chip

from arm_hardware import driver as parking

THERE = (0.5, -0.5, 0.5, 1.0)
FAR = (-1.2, 1.0, -1.0, -1.4)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "board"


@pytest.fixture
def driver(opened, file):
    made = opened(exit_action="park", sim_registers=str(file))
    made.arm()
    goal = made.controller.follow(single_point_goal(made.axes, 2.0, THERE))
    assert goal.wait(30)
    return made


@pytest.fixture
def slow_parking(monkeypatch):
    monkeypatch.setattr(parking, "PARK_TIME", 1000.0)
    monkeypatch.setattr(parking, "PARK_SPEED", 0.001)


def counts(chip) -> list[int]:
    return [chip.count(channel) for channel in range(PCA9685_CHIP_CHANNELS)]


def record(driver) -> list[list[int]]:
    """Return a list that every set of counts is added to which the chip has from now on."""
    rows, chip = [], driver.emulation.chip
    chip.changed = lambda: rows.append([chip.count(m.channel) for m in driver.output.maps])
    return rows


def home_of(driver) -> list[int]:
    maps = driver.output.maps[:-1]
    return [m.count_of(p) for m, p in zip(maps, driver.rest, strict=False)]


def test_parking_moves_to_rest_slowly_and_then_releases(driver):
    history = record(driver)
    begun = counts(driver.emulation.chip)
    driver.close()
    arrived = next(row for row in reversed(history) if all(row))
    assert arrived[:4] == home_of(driver) and arrived[4] == begun[5]  # the gripper stays
    assert not any(history[-1])
    for row, after in itertools.pairwise(history):
        if all(after):
            assert all(abs(a - b) <= 12 for a, b in zip(row, after, strict=True))


def test_paused_arm_is_parked(driver):
    goal = driver.controller.follow(single_point_goal(driver.axes, 2.0, FAR))
    driver.controller.set_speed_scaling(0.0)
    history = record(driver)
    driver.close()
    arrived = next(row for row in reversed(history) if all(row))
    assert arrived[:4] == home_of(driver) and not any(history[-1])
    assert goal.outcome is GoalOutcome.ABORTED


def test_second_signal_cuts_parking_short(driver, slow_parking, monkeypatch):
    monkeypatch.setattr(parking, "SIGNAL_ECHO", 0.0)
    history, asked = record(driver), []

    def cut_short() -> bool:
        asked.append(len(history))
        return len(history) > 2

    driver.close(cut_short=cut_short)
    assert len(asked) > 1 and home_of(driver) not in [row[:4] for row in history]
    assert not any(counts(driver.emulation.chip))


def test_only_the_stop_is_accepted_while_parking(driver, slow_parking):
    history, closing = record(driver), threading.Thread(target=driver.close)
    begun, refuse = threading.Event(), driver.controller.refuse_new_goals
    driver.controller.refuse_new_goals = lambda why: (refuse(why), begun.set())
    closing.start()
    assert begun.wait(30)
    for action in (driver.controller.stop, lambda: None):
        with pytest.raises(StateError, match="the driver is ending"):
            driver.controller.grip(0.01)
        action()
    closing.join(30)
    assert not closing.is_alive() and not any(history[-1])


def test_goal_is_accepted_while_braking(driver):
    driver.controller.follow(single_point_goal(driver.axes, 9.0, FAR))
    driver.controller.hold("The test says so.")
    goal = driver.controller.follow(single_point_goal(driver.axes, 3.0, THERE))
    assert goal.wait(30) and goal.outcome is GoalOutcome.SUCCEEDED


@pytest.mark.parametrize("spoil", ["stop", "fail"])
def test_arm_that_cannot_move_is_released_in_place(driver, spoil):
    history = record(driver)
    driver.controller.stop() if spoil == "stop" else driver.controller.fail("broken on purpose.")
    held = counts(driver.emulation.chip)
    driver.close()
    for row in history:
        assert all(c in (0, held[m.channel]) for c, m in zip(row, driver.output.maps, strict=True))
    assert not any(counts(driver.emulation.chip))


def test_bus_failure_ends_parking(driver, monkeypatch, caplog):
    monkeypatch.setattr(parking, "PARK_SPEED", 0.001)
    chip, changes = driver.emulation.chip, []

    def die() -> None:
        changes.append(counts(chip))
        if len(changes) == 5:
            chip.power_off()

    chip.changed = die
    driver.close()
    assert len(changes) > 4
    assert "not parked" in caplog.text and "could not be released" in caplog.text


def test_invalid_register_file_is_one_sentence(opened, file):
    file.write_text("hello")
    with pytest.raises(HardwareError, match="5 bytes"):
        opened(sim_registers=str(file))
    assert file.read_text() == "hello"


def test_release_ends_all_pulses(file, driver, capsys):
    assert any(counts(driver.emulation.chip))
    assert release.main(["--sim", str(file)]) == 0
    assert not any(counts(driver.emulation.chip)) and "Released" in capsys.readouterr().out
    assert release.main(["--sim", str(file)]) == 0


def test_release_errors_are_one_line(tmp_path, file, capsys):
    file.write_text("hello")
    for arguments in (
        ["--sim", str(tmp_path / "none")],
        ["--sim", str(file)],
        ["--device", str(tmp_path / "i2c-9")],
        ["--device", "/dev/null"],
    ):
        assert release.main(arguments) == 1
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and arguments[1] in said


def test_release_needs_neither_adafruit_nor_numpy_nor_ros(file):
    Pca9685Chip(memory=ChipMemory(file))
    code = (
        "import sys\n"
        "for name in ('adafruit_servokit', 'board', 'numpy', 'rclpy', 'yaml'):\n"
        "    sys.modules[name] = None\n"
        "from arm_hardware.commands.release import main\n"
        f"sys.exit(main(['--sim', {str(file)!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
