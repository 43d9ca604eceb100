# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Paper laid by three touched corners: its pose, its size, and corners that determine none."""

import numpy as np
import pytest
from arm_common.transforms import rpy_matrix
from arm_tasks.commands.scene import main
from arm_tasks.errors import TasksError, shipped
from arm_tasks.manual.teaching import save_pose
from arm_tasks.manual.touch_location import locate_sheet
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.poses import TaughtPose
from hypothesis import given
from hypothesis import strategies as st

LENGTH, WIDTH = 0.21, 0.148
LOCAL = 0.5 * np.array([[-LENGTH, -WIDTH, 0], [LENGTH, -WIDTH, 0], [-LENGTH, WIDTH, 0]])
NAMES = ["one", "two", "three"]


@given(st.tuples(*[st.floats(-3.0, 3.0)] * 3))
def test_corners_of_any_sheet_give_its_pose_and_size(rpy):
    T = rpy_matrix((0.2, 0.1, 0.05), rpy)
    found, length, width = locate_sheet(LOCAL @ T[:3, :3].T + T[:3, 3], -T[:3, 2])
    np.testing.assert_allclose(found, T, atol=1e-9)
    assert (length, width) == pytest.approx((LENGTH, WIDTH))


@pytest.mark.parametrize(
    ("corners", "says"),
    [
        (LOCAL[[0, 0, 2]], "a side of 0.0 mm is too short; touch three different corners"),
        ([[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]], "the angle at the first corner is 0 deg"),
        ([[0, 0, 0], [0.1, 0, 0], [0.05, 0.1, 0]], "is 63 deg, not 90; touch lower left"),
        (LOCAL[[0, 2, 1]], "the corners are mirrored"),
    ],
)
def test_corners_that_determine_no_sheet_are_refused(corners, says):
    with pytest.raises(TasksError, match=says):
        locate_sheet(np.array(corners, dtype=float), np.array([0.0, 0.0, -1.0]))


@pytest.fixture
def taught(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    T = rpy_matrix((0.21, -0.02, 0.004), (0.02, 0.03, -1.2))
    for name, corner in zip(NAMES, LOCAL, strict=True):
        tool = T @ rpy_matrix(corner, (np.pi, 0.0, 0.0))
        save_pose(
            tmp_path / "taught_poses.yaml", "learm", name, TaughtPose({"a": 0.0}, tool), False
        )
    return T


def test_command_lays_the_shipped_paper_into_a_copy(taught, tmp_path):
    assert main(["paper", "-o", "mine.yaml", "lay", "paper", *NAMES]) == 0
    scene = load_scene(tmp_path / "mine.yaml")
    np.testing.assert_allclose(scene.frame("paper"), taught, atol=1e-3)
    (sheet,) = scene.object("paper").parts
    assert sorted(sheet.size) == pytest.approx(sorted([LENGTH, WIDTH, 0.019]), abs=1e-4)
    assert "# A sheet" in (tmp_path / "mine.yaml").read_text()
    before = (tmp_path / "mine.yaml").read_bytes()
    assert main(["mine.yaml", "lay", "paper", *NAMES]) == 0
    assert (tmp_path / "mine.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["paper", "one", "two", "tree"], "there is no taught pose 'tree'; did you mean 'three'"),
        (["papr", *NAMES], "there is no surface 'papr' in the scene; did you mean 'paper'"),
        (["paper", "one", "two", "two"], "is 0 deg, not 90"),
    ],
)
def test_refused_corners_write_no_file(taught, tmp_path, capsys, words, says):
    assert main(["paper", "-o", "mine.yaml", "lay", *words]) == 1
    assert says in capsys.readouterr().err
    assert not (tmp_path / "mine.yaml").exists()
    assert shipped("scenes")["paper"].is_file()
