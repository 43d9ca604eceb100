# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Poses at the boundaries: round trips, also near the singular pitch, and what is refused."""

import math

import numpy as np
import pytest
from arm_common.errors import InputError
from arm_common.transforms import inverse, matrix_rpy, matrix_to_pose, pose_to_matrix, rpy_matrix
from hypothesis import given
from hypothesis import strategies as st

triples = st.tuples(*[st.floats(-3, 3)] * 3)
pitches = st.floats(-3, 3) | st.sampled_from([math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-7])
rpys = st.tuples(st.floats(-3, 3), pitches, st.floats(-3, 3))


@given(triples, rpys)
def test_quaternions_round_trip(xyz, rpy):
    T = rpy_matrix(xyz, rpy)
    position, quaternion = matrix_to_pose(T)
    assert math.isclose(np.linalg.norm(quaternion), 1.0, abs_tol=1e-12)
    assert quaternion[3] >= 0
    np.testing.assert_allclose(pose_to_matrix(position, quaternion), T, atol=1e-12)


@given(triples, rpys)
def test_rpy_round_trip(xyz, rpy):
    T = rpy_matrix(xyz, rpy)
    np.testing.assert_allclose(rpy_matrix(*matrix_rpy(T)), T, atol=1e-7)


@given(triples, rpys)
def test_inverse(xyz, rpy):
    T = rpy_matrix(xyz, rpy)
    np.testing.assert_allclose(inverse(T) @ T, np.eye(4), atol=1e-13)


def test_known_quaternion_in_ros_order():
    T = pose_to_matrix((1, 2, 3), (0, 0, math.sqrt(0.5), math.sqrt(0.5)))
    np.testing.assert_allclose(
        T, [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]], atol=1e-15
    )


def test_rpy_is_fixed_axes_roll_first():
    T = rpy_matrix((0, 0, 0), (math.pi / 2, 0, math.pi / 2))
    np.testing.assert_allclose(T[:3, :3] @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(T[:3, :3] @ [1, 0, 0], [0, 1, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("position", "quaternion", "says"),
    [
        ((0, 0, 0), (0, 0, 0, 0), "quaternion is zero"),
        ((0, 0, math.nan), (0, 0, 0, 1), "position must be 3 finite"),
        ((0, 0), (0, 0, 0, 1), "position must be 3 finite"),
        ((0, 0, 0), (0, 0, math.inf, 1), "quaternion must be 4 finite"),
    ],
)
def test_what_is_no_pose(position, quaternion, says):
    with pytest.raises(InputError, match=says):
        pose_to_matrix(position, quaternion)
