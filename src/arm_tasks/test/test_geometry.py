# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Laws of the small helpers on rigid transforms, near zero and near half a turn included."""

import math

import numpy as np
from arm_common.transforms import (
    Between,
    frame_along,
    inverse,
    is_rigid,
    pose,
    rotation,
    rotation_vector,
    tilt_z,
    turn_z,
    twist_z,
    wrap,
)
from hypothesis import given
from hypothesis import strategies as st

directions = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 0.1)
angles = st.one_of(
    st.floats(0.0, math.pi),
    st.floats(0.0, 1e-7),
    st.floats(math.pi - 1e-7, math.pi),
)


def turned(axis, angle):
    axis = np.array(axis)
    return rotation(axis / np.linalg.norm(axis) * angle)


@given(directions, angles)
def test_rotation_vector_and_rotation_are_inverse(axis, angle):
    R = turned(axis, angle)
    assert is_rigid(pose(R))
    assert np.allclose(rotation(rotation_vector(R)), R, atol=1e-7)
    assert math.isclose(np.linalg.norm(rotation_vector(R)), angle, abs_tol=1e-6)


@given(directions, angles, directions, angles, st.floats(0, 1))
def test_between_begins_at_the_start_and_ends_at_the_goal(a, angle_a, b, angle_b, u):
    start, goal = pose(turned(a, angle_a), tuple(b)), pose(turned(b, angle_b), tuple(a))
    between = Between.of(start, goal)
    assert np.allclose(between.at(0.0), start, atol=1e-9)
    assert np.allclose(between.at(1.0), goal, atol=1e-6)
    assert is_rigid(between.at(u))
    assert 0.0 <= between.angle <= math.pi + 1e-9


@given(st.floats(-3.0, 3.0), st.floats(-math.pi, math.pi), st.floats(0.0, 1.5))
def test_twist_and_tilt_are_what_a_rotation_is_made_of(roll, way, tilt):
    swing = rotation(np.array([math.cos(way), math.sin(way), 0.0]) * tilt)
    R = swing @ turn_z(roll)[:3, :3]
    assert math.isclose(twist_z(R), roll, abs_tol=1e-9)
    assert math.isclose(tilt_z(R), tilt, abs_tol=1e-7)


@given(st.floats(-50.0, 50.0))
def test_wrapped_is_the_same_angle(angle):
    assert -math.pi < wrap(angle) <= math.pi
    assert math.isclose(math.cos(wrap(angle)), math.cos(angle), abs_tol=1e-9)
    assert math.isclose(math.sin(wrap(angle)), math.sin(angle), abs_tol=1e-9)


@given(directions)
def test_a_frame_along_an_axis_has_its_z_there_and_its_x_up(axis):
    R = frame_along(np.array(axis))
    assert is_rigid(pose(R))
    assert np.allclose(R[:, 2], np.array(axis) / np.linalg.norm(axis))
    if abs(R[2, 2]) < 1.0 - 1e-9:  # where the axis is vertical no x is up
        assert R[2, 0] >= -1e-12


@given(directions, angles, directions)
def test_a_transform_times_its_inverse_is_nothing(axis, angle, p):
    T = pose(turned(axis, angle), tuple(p))
    assert np.allclose(T @ inverse(T), np.eye(4), atol=1e-12)
