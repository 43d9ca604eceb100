# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The reference of trajectories: every file shown in it is read, its Python runs."""

import re

import pytest
from arm_description.trajectories.files import read_trajectory

from arm_description import load_robot, robot_path

KINDS = ("csv", "yaml", "python")


@pytest.fixture
def blocks(package):
    text = (package.parents[1] / "docs/reference/trajectories.md").read_text()
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for block in found if block[0] in KINDS]


def test_what_is_shown_works(blocks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_bytes(robot_path("nut_arm").read_bytes())
    model = load_robot("nut_arm")
    assert {kind for kind, _ in blocks} == set(KINDS)
    for kind, text in blocks:
        if kind == "python":
            exec(compile(text, "reference", "exec"), {})
        else:
            path = tmp_path / f"shown.{kind}"
            path.write_text(text)
            assert read_trajectory(path, model).duration > 1.0
    assert load_robot("./mine.yaml").postures["here"]["waist"] == pytest.approx(0.5)
