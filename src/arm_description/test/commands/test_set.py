# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import pytest
from arm_common.suggestions import program
from arm_description.commands.set import main
from arm_description.library import shipped_robots


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(shipped_robots()["planar2"].read_bytes())
    return path


def test_a_constant_gets_another_value_and_nothing_else_changes(file):
    before = file.read_text()
    assert main(["l1", "l2 + 0.25", str(file)]) == 0
    assert file.read_text() == before.replace("l1: 0.30", "l1: l2 + 0.25")
    assert file.with_name("mine.yaml.bak").read_text() == before


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["l9", "1"], "did you mean 'l2'"),
        (["l1", "l9"], "l9"),
        (["l1", "60"], "is 60 m; check units.length"),
    ],
)
def test_a_wrong_value_changes_nothing(file, words, problem, capsys):
    before = file.read_bytes()
    assert main([*words, str(file)]) == 1
    assert problem in capsys.readouterr().err
    assert file.read_bytes() == before and not file.with_name("mine.yaml.bak").exists()


def test_a_shipped_robot_is_not_changed(capsys):
    assert main(["l1", "0.4", "planar2"]) == 1
    assert (
        f"{program('arm_description', 'new')} my_arm.yaml --from planar2"
        in capsys.readouterr().err
    )
