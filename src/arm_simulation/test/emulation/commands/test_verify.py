# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reference postures: what is said is what the chip was told, and nothing moves too fast."""

import io
import re

import numpy as np
import pytest
from arm_description.model.transmissions.transmission import Drivetrain
from arm_hardware.calibration.kinematic_fit import tip_jacobian, tip_position
from arm_hardware.calibration.selection import config_folder
from arm_hardware.calibration.servo_map import PointMap
from arm_hardware.calibration.writing.template import template
from arm_hardware.commands import verify

from arm_description import load_robot, shipped_robots

SIM = ["--hardware", "sim", "--backend", "i2c_dev"]


@pytest.fixture
def made(monkeypatch):
    """The drivers that the tool makes, and every position that leaves them."""
    drivers, sent = [], []

    class Watched(verify.Driver):
        def __init__(self, *args):
            super().__init__(*args)
            drivers.append(self)
            self.controller.moved = lambda: sent.append(self.controller.command()[0])

    monkeypatch.setattr(verify, "Driver", Watched)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return drivers, sent


def told(driver):
    """Joint positions by the chip's own registers."""
    chip = driver.emulation.chip
    return [m.position_of(chip.count(m.channel)) for m in driver.output.maps]


def test_reported_tip_matches_the_chips_counts(made, calibration_path, model, capsys):
    arguments = [str(calibration_path), "parked", "waist=30,elbow=-20", *SIM]
    assert verify.main(arguments) == 0
    (driver,), _ = made
    out = capsys.readouterr().out
    tips = [list(map(float, m.split())) for m in re.findall(r"tool0\) at (.*) mm in", out)]
    assert len(tips) == 2
    assert tips[1] == pytest.approx(tip_position(model, told(driver)[:4]) * 1e3, abs=0.051)
    assert np.degrees(told(driver)[:4]) == pytest.approx([30, 0, -20, 0], abs=0.3)
    assert "the arm is held" in out and driver.emulation.chip.count(0) > 0


def test_servos_that_answer_are_reported_as_measured(made, model, capsys):
    pytest.importorskip("scservo_sdk")
    file = str(config_folder() / "nut_arm_feetech.yaml")
    assert verify.main([file, "waist=30,elbow=-20", "--hardware", "sim", "--speed", "1"]) == 0
    (driver,), _ = made
    out = capsys.readouterr().out
    (tip,) = (list(map(float, m.split())) for m in re.findall(r"tool0\) at (.*) mm in", out))
    counts = [servo.position for servo in driver.emulation.servos.values()]
    q = [(count - 2048) * 2 * np.pi / 4096 for count in counts[:4]]
    assert tip == pytest.approx(tip_position(model, q) * 1e3, abs=0.4)  # a count at the tip
    assert "Servos with torque keep it" in out
    assert np.degrees(q) == pytest.approx([30, 0, -20, 0], abs=1.0) and q[0] != np.radians(30)


@pytest.mark.parametrize("robot", ["eezybotarm_mk2", "mearm"])
def test_inclinometer_on_the_links_shows_what_the_pulses_mean(made, robot, capsys):
    file = str(config_folder() / f"{robot}_servos.yaml")
    assert verify.main([file, "shoulder=75,elbow=-100", *SIM]) == 0
    (driver,), _ = made
    shown = re.search(r"shows: shoulder (.*), elbow (.*), level (.*) deg", capsys.readouterr().out)
    servos = told(driver)
    model = load_robot(robot)
    _, shoulder, elbow = np.degrees(Drivetrain.of(model).to_joints(np.array(servos[:3])))
    assert [float(x) for x in shown.groups()] == pytest.approx(
        [shoulder, shoulder + elbow, 0.0], abs=0.06
    )


def test_servos_that_hold_a_joint_together_are_named(made, tmp_path, capsys):
    (tmp_path / "kit.yaml").write_text(
        "name: kit\nconvention: standard\nunits: {length: mm, angle: deg}\njoints:\n"
        "  - {name: lift, type: revolute, d: 0, a: 90, alpha: 0,"
        " limits: {lower: -60, upper: 60, velocity: 90}}\n"
        "transmissions:\n  - {type: several, joint: lift, actuators: [left, right],"
        " mirrored: [false, true], allowed_difference: 3}\n"
    )
    (tmp_path / "servos.yaml").write_text(template(load_robot(str(tmp_path / "kit.yaml"))))
    arguments = [str(tmp_path / "servos.yaml"), "lift=20", "--robot", str(tmp_path / "kit.yaml")]
    assert verify.main([*arguments, *SIM]) == 0
    assert "left and right hold lift together: if one hums" in capsys.readouterr().out


def test_speed_option_limits_the_motion(made, calibration_path, capsys):
    arguments = [str(calibration_path), "parked", "--speed", "0.1", *SIM]
    assert verify.main(arguments) == 0
    (driver,), sent = made
    steps = np.abs(np.diff(np.array(sent), axis=0)).max(axis=0)
    bound = 0.1 * np.array([axis.velocity for axis in driver.axes]) * driver.period
    assert (steps <= 1.05 * bound).all() and steps[1] > 0.5 * bound[1]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("redy", "did you mean 'ready'"),
        ("waist=100", "100 deg of posture waist=100 is 10 deg outside of its limits -90 deg"),
        ("wiast=10", "did you mean 'waist'"),
        ("waist=ten", "'ten' is not a number"),
        ("waist=nan", "'waist=nan': nan is not finite"),
        ("--speed=0", "not above 0"),
    ],
)
def test_invalid_arguments_are_rejected_before_anything_is_sent(
    made, calibration_path, capsys, asked, says
):
    assert verify.main([str(calibration_path), "rest", asked, *SIM]) == 1
    said = capsys.readouterr()
    assert says in said.err and said.err.count("\n") == 1 and not said.out
    assert all(driver.emulation.chip.channel_writes == 0 for driver in made[0])


def test_failed_motion_is_reported_and_the_arm_held(made, calibration_path, capsys, monkeypatch):
    real = verify.drive

    def stopped(driver, to, share):
        driver.controller.stop("somebody called it")
        real(driver, to, share)

    monkeypatch.setattr(verify, "drive", stopped)
    assert verify.main([str(calibration_path), *SIM]) == 1
    assert "stop is latched" in capsys.readouterr().err
    assert made[0][0].emulation.chip.count(0) > 0


@pytest.mark.parametrize("robot", sorted(shipped_robots()))
def test_one_count_moves_the_tip_no_further_than_its_resolution(robot):
    model = load_robot(robot)
    rng = np.random.default_rng(1)
    low, high = np.maximum(model.lower, -3.0), np.minimum(model.upper, 3.0)
    maps = [
        PointMap(i, (a, (a + b) / 2, b), (2500.0, 1400.0, 500.0), (500.0, 2500.0), 4.88)
        for i, (a, b) in enumerate(zip(low, high, strict=True))
    ]
    q = low + (high - low) * rng.uniform(0.1, 0.9, model.n)
    counts = [m.count_of(x) for m, x in zip(maps, q, strict=True)]
    q = np.array([m.position_of(c) for m, c in zip(maps, counts, strict=True)])
    limit = verify.tip_resolution(model, q, maps)
    for i, count in enumerate(counts):
        for step in (-1, 1):
            moved = q.copy()
            moved[i] = maps[i].position_of(count + step)
            way = np.linalg.norm(tip_position(model, moved) - tip_position(model, q))
            assert way <= 1.01 * limit + 1e-12


@pytest.mark.parametrize("robot", ["nut_arm", "puma560", "ball_arm", "spherical_arm"])
def test_tip_jacobian_matches_finite_differences(robot):
    model = load_robot(robot)
    q, at = 0.3 * np.ones(model.n), np.array([0.01, 0.02, 0.03])
    rates = tip_jacobian(model, model.dh_frames(q), at)
    d = np.random.default_rng(2).normal(size=model.n) * 1e-4
    moved = tip_position(model, q + d, at) - tip_position(model, q - d, at)
    np.testing.assert_allclose(2.0 * rates @ d, moved, atol=1e-9)


def test_correction_of_servos_moves_to_no_posture(tmp_path, capsys):
    for words in (["rest", "--mend"], ["--mend", "rest"]):
        assert verify.main([str(tmp_path / "arm.yaml"), *words]) != 0
        assert "--mend moves to no posture" in capsys.readouterr().err
