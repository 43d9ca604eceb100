# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Summary and reach of an arm with dependent joints."""

import numpy as np
import pytest
from arm_kinematics.commands.describe import main
from arm_kinematics.dexterity.reach import reach
from arm_testing.files.robot_files import LINKAGE

from arm_description import parse_robot


def test_summary_shows_the_sum_and_the_range(tmp_path, capsys):
    file = tmp_path / "linkage.yaml"
    file.write_text(LINKAGE, encoding="utf-8")
    assert main([str(file)]) == 0
    text = capsys.readouterr().out
    assert "3 joints and 1 dependent" in text
    assert "4  level     turns  -shoulder - elbow   0  147      0" in text
    assert (
        "  elbow: the linkage allows -0.6755*shoulder - 70.768 .. -0.7165*shoulder - 13.144 deg"
        in text
    )


def test_reach_is_that_of_postures_inside():
    model = parse_robot(LINKAGE)
    q = np.random.default_rng(0).uniform(model.lower, model.upper, (20000, model.n))
    tips = np.array([model.fk(one)[:3, 3] for one in q[model.constraint_set.violation(q) <= 0.0]])
    found = reach(model)
    assert found.from_base == pytest.approx(np.linalg.norm(tips, axis=1).max(), abs=3e-3)
    assert found.highest == pytest.approx(tips[:, 2].max(), abs=3e-3)
    assert found.highest >= tips[:, 2].max()
    assert found.lowest == pytest.approx(tips[:, 2].min(), abs=3e-3)
