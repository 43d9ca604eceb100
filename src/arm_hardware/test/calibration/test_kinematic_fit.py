# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematic calibration on simulated arms whose joints deviate from their commands."""

import io
import math
import os
import re
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import yaml
from arm_description.model.transmissions.transmission import Drivetrain
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.kinematic_fit import (
    TouchPoints,
    fit,
    link_lengths,
    load_touches,
    select_parameters,
    tip_jacobian,
    tip_position,
)
from arm_hardware.calibration.writing.template import template
from arm_hardware.commands import calibrate_kinematics
from arm_hardware.commands.calibrate_kinematics import with_zeros
from arm_hardware.commands.verify import tip_resolution
from arm_hardware.errors import HardwareError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arm_description import load_robot, parse_robot

STYLUS = np.array([0.015, 0.02, 0.03])  # [m] beside the tool's axis: its roll is observable


class Arm:
    """An arm with calibrated servos whose joints are each offset by an angle."""

    def __init__(self, robot, folder, errors, real=None):
        self.model = load_robot(robot)
        self.real = real or self.model
        self.errors = np.asarray(errors)[: self.model.n]
        self.file = folder / "servos.yaml"
        self.file.write_text(template(self.model))
        self.truth = self.now = self.maps()

    def servos(self):
        servos = load_calibration(self.file).servos
        return [servos[joint] for joint in self.model.joint_names]

    def maps(self):
        return load_calibration(self.file).maps(axes_of(self.model))[: self.model.n]

    def commanded(self, q):
        """Return q as joint_states reports it, rounded to counts."""
        return np.array(
            [m.position_of(m.count_of(x)) for m, x in zip(self.maps(), q, strict=True)]
        )

    def tip(self, q, at=STYLUS):
        counts = [m.count_of(x) for m, x in zip(self.now, q, strict=True)]
        stands = [m.position_of(c) for m, c in zip(self.truth, counts, strict=True)]
        return tip_position(self.real, np.array(stands) + self.errors, at)

    def postures(self, rng, count):
        low = np.maximum(self.model.lower, -1.2)
        return rng.uniform(low, np.minimum(self.model.upper, 1.2), (count, self.model.n))

    def touches(self, rng, count, noise, at=STYLUS):
        postures = self.postures(rng, count)
        tips = np.array([self.tip(q, at) for q in postures])
        tips += rng.normal(0.0, noise, tips.shape)
        told = np.array([self.commanded(q) for q in postures])
        return TouchPoints(at, told, tips, tuple(range(1, count + 1)))

    def fit(self, touches, lengths=(), keep=()):
        return fit(self.model, select_parameters(self.model, lengths, keep), touches)

    def worst(self, rng):
        """The largest ratio of tip error to the tick limit, over postures never touched."""
        worst, self.now = 0.0, self.maps()
        for q in self.postures(rng, 20):
            told = self.commanded(q)
            error = np.linalg.norm(self.tip(q) - tip_position(self.model, told, STYLUS))
            worst = max(worst, error / tip_resolution(self.model, told, self.now))
        return worst


ZERO_ERRORS = st.lists(
    st.builds(
        lambda size, sign: math.radians(size * sign), st.floats(2, 5), st.sampled_from([1, -1])
    ),
    min_size=6,
    max_size=6,
)


@pytest.mark.parametrize("robot", ["nut_arm", "planar3", "puma560"])
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(errors=ZERO_ERRORS, seed=st.integers(0, 1000))
def test_fit_reduces_the_tip_error_below_one_servo_count(robot, errors, seed, tmp_path):
    """With zero errors of 2 to 5 degrees at every joint, and points measured to half a mm."""
    rng = np.random.default_rng(seed)
    arm = Arm(robot, tmp_path, errors)
    assert arm.worst(rng) > 1.0
    touches = arm.touches(rng, 20, 0.0005)
    found = arm.fit(touches)
    assert not found.unobservable and found.after.max() < 0.005
    with_zeros(arm.file, found, Drivetrain.of(arm.model)).write()
    assert arm.worst(rng) < 1.0


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    errors=ZERO_ERRORS,
    sign=st.sampled_from([1, -1]),
    zero=st.floats(-10, 10),
    robot=st.sampled_from(["nut_arm", "planar3"]),
)
def test_exact_points_give_exact_zeros_for_either_sign(errors, sign, zero, robot, tmp_path):
    arm = Arm(robot, tmp_path, errors)
    data = yaml.safe_load(arm.file.read_text())
    for servo in data["joints"].values():
        servo.update(sign=sign, zero_deg=zero)
    arm.file.write_text(yaml.safe_dump(data))
    arm.truth = arm.now = arm.maps()
    rng = np.random.default_rng(0)
    found = arm.fit(arm.touches(rng, 12, 0.0))
    np.testing.assert_allclose(found.values, arm.errors, atol=1e-6)
    with_zeros(arm.file, found, Drivetrain.of(arm.model)).write()
    right = [math.radians(zero) - sign * e for e in arm.errors]
    np.testing.assert_allclose([s.zero for s in arm.servos()], right, atol=2e-5)


def test_lengths_are_fitted_only_on_request(tmp_path):
    model = load_robot("nut_arm")
    joints = list(model.joints)
    joints[1] = replace(joints[1], row=replace(joints[1].row, a=joints[1].row.a + 0.004))
    joints[3] = replace(joints[3], row=replace(joints[3].row, d=joints[3].row.d - 0.006))
    arm = Arm("nut_arm", tmp_path, np.radians([3, -2, 4, 2]), replace(model, joints=tuple(joints)))
    touches = arm.touches(np.random.default_rng(3), 25, 0.0)
    zeros, both = arm.fit(touches), arm.fit(touches, ["shoulder.a", "wrist_roll.d"])
    assert zeros.after.max() > 0.003
    assert both.after.max() < 1e-8
    np.testing.assert_allclose(both.values[4:], [0.004, -0.006], atol=1e-8)


def test_reported_deviations_match_the_scatter_of_the_fits(tmp_path):
    """Over many measurements with the same noise."""
    arm = Arm("planar3", tmp_path, np.radians([3, -2, 4]))
    rng = np.random.default_rng(5)
    fits = [arm.fit(arm.touches(rng, 15, 0.001)) for _ in range(12)]
    scaled = [(f.values - arm.errors) / f.deviations for f in fits]
    assert 0.7 < np.sqrt(np.mean(np.square(scaled))) < 1.4


def test_joint_whose_axis_passes_through_the_tip_is_unobservable(tmp_path):
    arm = Arm("nut_arm", tmp_path, np.radians([3, -2, 4, 5]))
    touches = arm.touches(np.random.default_rng(1), 20, 0.0002, np.zeros(3))
    found = arm.fit(touches)
    assert found.unobservable == ("wrist_roll",)
    assert [p.name for p in found.parameters] == ["waist", "shoulder", "elbow"]
    assert found.after.max() < 0.001


@pytest.mark.parametrize("more", [[], ["shoulder.a"]])
def test_indistinguishable_parameters_are_named(tmp_path, more):
    arm = Arm("nut_arm", tmp_path, np.radians([3, -2, 4, 5]))
    touches = arm.touches(np.random.default_rng(1), 30, 0.0)
    lengths = ["shoulder.d", "elbow.d", *more]  # the first two along parallel axes
    with pytest.raises(HardwareError, match=r"distinguish shoulder.d, elbow.d: .*--keep elbow.d"):
        arm.fit(touches, lengths)
    assert arm.fit(touches, lengths, ["elbow.d"]).after.max() < 1e-8


def test_nearly_identical_postures_are_rejected(tmp_path):
    arm = Arm("planar3", tmp_path, np.radians([3, -2, 4]))
    touches = arm.touches(np.random.default_rng(1), 1, 0.0)
    again = replace(
        touches, commanded=np.repeat(touches.commanded, 9, 0), tips=np.repeat(touches.tips, 9, 0)
    )
    with pytest.raises(HardwareError, match="cannot distinguish shoulder, elbow, wrist"):
        arm.fit(again)


@given(row=st.integers(0, 19), off=st.floats(0.01, 0.05), seed=st.integers(0, 50))
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_outlier_is_reported(tmp_path, row, off, seed):
    arm = Arm("nut_arm", tmp_path, np.radians([3, -2, 4, 5]))
    touches = arm.touches(np.random.default_rng(seed), 20, 0.0002)
    touches.tips[row] += [0.0, off, 0.0]
    assert arm.fit(touches).outliers == (row,)


def test_d_of_a_prismatic_joint_is_its_zero():
    model = load_robot("spherical_arm")
    sliding = [joint.name for joint in model.joints if joint.type == "prismatic"]
    names = [parameter.name for parameter in link_lengths(model)]
    assert sliding and all(f"{n}.a" in names and f"{n}.d" not in names for n in sliding)


POINTS = {"robot": "nut_arm", "units": {"length": "mm", "angle": "deg"}}


@pytest.fixture
def case(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arm = Arm("nut_arm", tmp_path, np.radians([3, -2, 4, 5]))
    touches = arm.touches(np.random.default_rng(1), 20, 0.0002)
    rows = [
        {"joints": dict(zip(arm.model.joint_names, map(float, np.degrees(q)), strict=True)),
         "tip": [float(x) * 1e3 for x in tip]}
        for q, tip in zip(touches.commanded, touches.tips, strict=True)
    ]  # fmt: skip
    data = {**deepcopy(POINTS), "touching": [float(x) * 1e3 for x in STYLUS], "points": rows}
    return arm, data, tmp_path / "points.yaml"


def ran(case, *arguments):
    arm, data, file = case
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return calibrate_kinematics.main([str(arm.file), str(file), *arguments])


def test_command_reports_and_writes_with_a_backup(case, capsys):
    arm, _, _ = case
    before = arm.file.read_text()
    assert ran(case, "--yes") == 0
    out = capsys.readouterr().out
    found = {name: float(x) for name, x in re.findall(r"(\w+) is (\S+) deg", out)}
    assert found == pytest.approx(
        {"waist": 3, "shoulder": -2, "elbow": 4, "wrist_roll": 5}, abs=0.5
    )
    assert "tip errors before" in out and ".1.bak" in out
    assert arm.file.with_name("servos.yaml.1.bak").read_text() == before
    assert arm.worst(np.random.default_rng(2)) < 1.0


def test_points_older_than_the_calibration_give_a_warning(case, capsys):
    arm, _, points = case
    os.utime(arm.file, (0, 0))
    assert ran(case, "--yes") == 0
    assert "would correct twice" not in capsys.readouterr().out
    os.utime(points, (0, 0))
    calibrate_kinematics.main([str(arm.file), str(points)])
    assert "would correct twice" in capsys.readouterr().out


def test_nothing_is_written_without_a_terminal_or_yes(case, capsys, monkeypatch):
    arm, _, _ = case
    monkeypatch.setattr("sys.stdin", io.StringIO())
    before = arm.file.read_text()
    assert ran(case) == 0
    assert "Nothing was written" in capsys.readouterr().out and arm.file.read_text() == before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(robot="puma560"), "points.yaml:1: robot: is 'puma560'"),
        (lambda d: d.update(pionts=1), "did you mean 'points'"),
        (lambda d: d.update(points=[]), "points: must be 1 or more points"),
        (lambda d: d["units"].update(length="feet"), "units.length: cannot be 'feet'"),
        (lambda d: d["points"][3].update(tip=[1, 2]), "points[3].tip: must be 3 numbers"),
        (
            lambda d: d["points"][3]["joints"].pop("waist"),
            "points[3].joints: has no 'waist'; a point needs every joint",
        ),
        (
            lambda d: d["points"][3]["joints"].update(wiast=1),
            "points[3].joints.wiast: is not a joint of this robot; did you mean 'waist'",
        ),
        (lambda d: d["points"][3]["joints"].update(waist="x"), "'x' is not a number"),
        (
            lambda d: d["points"][3].update(tip=[1, 2, 20_001]),
            "points[3].tip[2]: is 20.001 m; check",
        ),
        (lambda d: d.update(points=d["points"][:1]), "Too few points, 1, for 4"),
    ],
)
def test_wrong_points_are_one_sentence_and_write_nothing(case, capsys, change, says):
    change(case[1])
    before = case[0].file.read_text()
    assert ran(case, "--yes") == 1
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1
    assert case[0].file.read_text() == before


def test_points_are_expressions_as_far_away_as_their_file_allows(case):
    arm, data, file = case
    data["units"]["max_length"] = 40_000
    data["points"][3] = {
        "joints": dict.fromkeys(arm.model.joint_names, "10 + 5"),
        "tip": [1, 2, "3e4"],
    }
    file.write_text(yaml.safe_dump(data))
    touches = load_touches(file, arm.model)
    assert touches.tips[3].tolist() == pytest.approx([0.001, 0.002, 30.0])
    assert touches.commanded[3] == pytest.approx(np.radians(15.0))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--lengths", "elbow.b"], "no length 'elbow.b'"),
        (["--keep", "elbo"], "did you mean 'elbow'"),
    ],
)
def test_wrong_names_are_one_sentence(case, capsys, arguments, says):
    assert ran(case, *arguments) == 1
    assert says in capsys.readouterr().err


def test_tip_jacobian_of_dependent_joints_is_the_derivative():
    model = parse_robot(
        "name: a\nconvention: modified\nunits: {length: mm, angle: deg}\njoints:\n"
        "  - {name: b, type: revolute, d: 9, a: 0, alpha: 0, limits: {lower: -90, upper: 90}}\n"
        "  - {name: c, type: revolute, theta: 2*e - b, d: 0, a: 50, alpha: 90}\n"
        "  - {name: e, type: revolute, d: 0, a: 90, alpha: 9, limits: {lower: -90, upper: 90}}\n"
        "tool: {xyz: [70, 0, 0]}\n"
    )
    q, step = np.array([0.3, -0.7]), 1e-6
    J = tip_jacobian(model, model.dh_frames(q))
    for i, change in enumerate(step * np.eye(2)):
        rate = (tip_position(model, q + change) - tip_position(model, q - change)) / (2.0 * step)
        np.testing.assert_allclose(J[:, i], rate, atol=1e-9)
