# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The picture of a run is written in the format that its name asks for."""

import numpy as np
import pytest
from arm_studio.pictures.run_picture import draw_run
from arm_tasks.scene.file import load_scene

from arm_description import load_robot


@pytest.fixture(scope="module")
def model():
    return load_robot("nut_arm")


@pytest.fixture(scope="module")
def scene(model):
    return load_scene("nut_transfer", model.name)


@pytest.mark.parametrize("count", [0, 30])
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_run_picture_is_written(tmp_path, scene, model, count, suffix):
    joints = list(np.linspace(np.zeros(4), [0.3, 0.1, -0.1, 1.0], count))
    end = None if count == 0 else scene.nut_pose("lower_bolt", 4.0)
    file = draw_run(tmp_path / "new" / f"run.{suffix}", model, scene, joints, end, "A run")
    assert file.stat().st_size > 20_000
    start = file.read_bytes()[:8]
    assert start == b"\x89PNG\r\n\x1a\n" if suffix == "png" else start.startswith(b"<?xml")
