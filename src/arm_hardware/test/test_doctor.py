# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from importlib.util import find_spec

import pytest

from arm_hardware import doctor


@pytest.mark.skipif(find_spec("adafruit_servokit") is None, reason="is not healthy")
def test_a_healthy_machine_is_ok_for_simulation(capsys):
    assert doctor.main([]) == 0
    out = capsys.readouterr().out
    for what in ("Python", "ROS 2", "adafruit", "i2c", "nut_arm_servos.yaml"):
        assert what in out


def test_every_problem_has_a_fix():
    for finding in doctor.look(real=True, calibration=None):
        assert finding.ok or finding.fix


def test_real_servos_need_a_measured_calibration(calibration_path, capsys):
    assert doctor.main(["--real", "--calibration", str(calibration_path)]) == 1
    assert "is an example" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["joints: 3", "{"])
def test_a_bad_calibration_is_a_problem(tmp_path, capsys, content):
    path = tmp_path / "servos.yaml"
    path.write_text(content)
    assert doctor.main(["--calibration", str(path)]) == 1
    assert "problem" in capsys.readouterr().out
