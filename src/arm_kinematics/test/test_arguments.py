# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from arm_kinematics.arguments import positive, rigid_transform, vector
from arm_kinematics.ik.solver import deadline_after

from arm_kinematics import KinematicsError


@pytest.mark.parametrize(
    ("bad", "pattern"),
    [
        (np.zeros((3, 3)), "shape"),
        ("twist", "something else"),
        (None, ""),
        (np.full((4, 4), np.nan), "NaN"),
        (np.full((4, 4), np.inf), "NaN or infinity"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "not a rotation"),
        (np.diag([1.0, 1.0, 1.1, 1.0]), "not a rotation"),
        (np.diag([1.0, 1.0, 1.0, 2.0]), "last row"),
    ],
)
def test_invalid_rigid_transform_is_rejected(bad, pattern):
    with pytest.raises(KinematicsError, match=f"target: .*{pattern}"):
        rigid_transform(bad, "target")


@pytest.mark.parametrize("bad", [[1.0], [1.0, np.nan], [[1.0, 2.0]], "xy", None])
def test_invalid_vector_is_rejected(bad):
    with pytest.raises(KinematicsError, match="q: expected 2 finite numbers, got"):
        vector(bad, 2, "q")


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, "soon", None])
def test_non_positive_number_is_rejected(bad):
    with pytest.raises(KinematicsError, match=r"tolerance is .*; expected a positive number"):
        positive(bad, "tolerance")


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, "1", True, [1.0]])
def test_invalid_timeout_is_rejected(bad):
    with pytest.raises(KinematicsError) as caught:
        deadline_after(bad)
    assert str(caught.value) == f"timeout is {bad!r} s; expected a positive number or None"
