# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Rigid transforms and rotations, also near zero, half a turn and gimbal lock."""

import math

import numpy as np
import pytest
from arm_common.errors import InputError
from arm_common.transforms import (
    cosc,
    frame_along,
    inverse,
    is_rigid,
    matrix_rpy,
    pose,
    pose_to_matrix,
    quaternion,
    rpy_matrix,
    sinc,
    so3_exp,
    so3_log,
    tilt_z,
    turn_z,
    twist_z,
    wrap,
)
from hypothesis import given
from hypothesis import strategies as st
from transforms3d.axangles import axangle2mat

SMALL = [0.0, 1e-300, 1e-12, 1e-8, 9.9e-5, 1.01e-4]
NEAR_PI = [math.pi - 1e-3, math.pi - 1e-6, math.pi - 1e-9, math.pi - 1e-14, math.pi]

triples = st.tuples(*[st.floats(-3, 3)] * 3)
pitches = st.floats(-3, 3) | st.sampled_from([math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-7])
rpys = st.tuples(st.floats(-3, 3), pitches, st.floats(-3, 3))
units = (
    st.tuples(*[st.floats(-1, 1)] * 3)
    .filter(lambda v: np.linalg.norm(v) > 0.1)
    .map(lambda v: np.array(v) / np.linalg.norm(v))
)
angles = st.floats(0.0, math.pi) | st.sampled_from(SMALL + NEAR_PI)


@given(units, angles)
def test_exp_equals_rotation_about_the_axis(axis, angle):
    R = so3_exp(axis * angle)
    assert is_rigid(pose(R))
    np.testing.assert_allclose(R, axangle2mat(axis, angle), atol=1e-14)


@given(units, angles)
def test_log_inverts_exp_up_to_pi(axis, angle):
    w = axis * angle
    back = so3_log(so3_exp(w))
    if angle > math.pi - 1e-7:  # there w and -w are the same rotation
        back = math.copysign(1.0, back @ w) * back
    assert np.abs(back - w).max() < 5e-15 + 1e-15 * angle


@given(units, st.sampled_from(NEAR_PI))
def test_log_of_half_turns_is_exact(axis, angle):
    R = so3_exp(axis * angle)
    np.testing.assert_allclose(so3_exp(so3_log(R)), R, atol=1e-14)


@pytest.mark.parametrize("axis", range(3))
def test_log_at_exactly_half_a_turn_about_each_axis(axis):
    R = -np.eye(3)
    R[axis, axis] = 1.0
    np.testing.assert_allclose(np.abs(so3_log(R)), math.pi * np.eye(3)[axis])
    np.testing.assert_allclose(np.abs(quaternion(R)), np.eye(4)[axis])


@pytest.mark.parametrize(
    ("function", "formula", "limit"),
    [
        (sinc, lambda x: np.sin(x) / x, 1.0),
        (cosc, lambda x: (1 - np.cos(x)) / x**2, 0.5),
    ],
)
def test_quotients_match_extended_precision(function, formula, limit):
    for x in (0.3, 0.999, 1.001, 1.5, 3.0, math.pi - 1e-9, math.pi, 4.0, 6.0):
        assert function(x) == pytest.approx(float(formula(np.longdouble(x))), rel=3e-14)
    for x in (0.0, 1e-300, 1e-9):
        assert function(x) == pytest.approx(limit, rel=1e-15)


@given(triples, rpys)
def test_quaternions_round_trip(xyz, rpy):
    T = rpy_matrix(xyz, rpy)
    xyzw = quaternion(T)
    assert math.isclose(np.linalg.norm(xyzw), 1.0, abs_tol=1e-12)
    assert xyzw[3] >= 0
    np.testing.assert_allclose(pose_to_matrix(T[:3, 3], xyzw), T, atol=1e-12)


@given(triples, rpys)
def test_rpy_round_trip(xyz, rpy):
    T = rpy_matrix(xyz, rpy)
    np.testing.assert_allclose(rpy_matrix(*matrix_rpy(T)), T, atol=1e-7)


@given(triples, rpys)
def test_inverse_times_transform_is_identity(xyz, rpy):
    T = rpy_matrix(xyz, rpy)
    np.testing.assert_allclose(inverse(T) @ T, np.eye(4), atol=1e-13)


@pytest.mark.parametrize("length", [1.0, 1e308])
def test_quaternion_of_any_length_is_in_ros_order(length):
    T = pose_to_matrix((1, 2, 3), (0, 0, length * math.sqrt(0.5), length * math.sqrt(0.5)))
    np.testing.assert_allclose(
        T, [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]], atol=1e-15
    )


def test_rpy_uses_fixed_axes_roll_first():
    T = rpy_matrix((0, 0, 0), (math.pi / 2, 0, math.pi / 2))
    np.testing.assert_allclose(T[:3, :3] @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(T[:3, :3] @ [1, 0, 0], [0, 1, 0], atol=1e-15)


@given(st.floats(-3.0, 3.0), st.floats(-math.pi, math.pi), st.floats(0.0, 1.5))
def test_rotation_decomposes_into_twist_and_tilt(roll, direction, tilt):
    swing = so3_exp([math.cos(direction) * tilt, math.sin(direction) * tilt, 0.0])
    R = swing @ turn_z(roll)[:3, :3]
    assert math.isclose(twist_z(R), roll, abs_tol=1e-9)
    assert math.isclose(tilt_z(R), tilt, abs_tol=1e-7)


@given(st.floats(-50.0, 50.0))
def test_wrap_keeps_the_angle(angle):
    assert -math.pi < wrap(angle) <= math.pi
    assert math.isclose(math.cos(wrap(angle)), math.cos(angle), abs_tol=1e-9)
    assert math.isclose(math.sin(wrap(angle)), math.sin(angle), abs_tol=1e-9)


@given(units)
def test_frame_along_has_z_on_the_axis_and_x_up(axis):
    R = frame_along(axis)
    assert is_rigid(pose(R))
    np.testing.assert_allclose(R[:, 2], axis, atol=1e-15)
    if abs(R[2, 2]) < 1.0 - 1e-9:  # where the axis is vertical no x is up
        assert R[2, 0] >= -1e-12


@pytest.mark.parametrize(
    ("position", "quaternion", "message"),
    [
        ((0, 0, 0), (0, 0, 0, 0), "quaternion is zero"),
        ((0, 0, math.nan), (0, 0, 0, 1), "position must be 3 finite"),
        ((0, 0), (0, 0, 0, 1), "position must be 3 finite"),
        ((0, 0, 0), (0, 0, math.inf, 1), "quaternion must be 4 finite"),
    ],
)
def test_invalid_pose_is_rejected(position, quaternion, message):
    with pytest.raises(InputError, match=message):
        pose_to_matrix(position, quaternion)
