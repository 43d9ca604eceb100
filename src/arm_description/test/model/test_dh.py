# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The DH transforms of both conventions agree with their definition."""

import math

import numpy as np
import pytest
from arm_common.transforms import rpy_matrix
from arm_description.model.elements import DhRow, cos_sin, dh_matrix
from hypothesis import given
from hypothesis import strategies as st

angles = st.floats(-7, 7) | st.sampled_from([k * math.pi / 2 for k in range(-4, 5)])
lengths = st.floats(-2, 2)
rows = st.builds(DhRow, theta=angles, d=lengths, a=lengths, alpha=angles)


def rz(angle):
    return rpy_matrix((0, 0, 0), (0, 0, angle))


def rx(angle):
    return rpy_matrix((0, 0, 0), (angle, 0, 0))


def shift(x, z):
    return rpy_matrix((x, 0, z), (0, 0, 0))


@given(rows)
def test_standard_row_is_theta_d_a_alpha(row):
    expected = rz(row.theta) @ shift(0, row.d) @ shift(row.a, 0) @ rx(row.alpha)
    np.testing.assert_allclose(dh_matrix(row, "standard"), expected, atol=1e-14)


@given(rows)
def test_modified_row_is_alpha_a_theta_d(row):
    expected = rx(row.alpha) @ shift(row.a, 0) @ rz(row.theta) @ shift(0, row.d)
    np.testing.assert_allclose(dh_matrix(row, "modified"), expected, atol=1e-14)


@given(rows, st.floats(-3, 3))
def test_offset_and_joint_variable_add(row, q):
    revolute = row.at("revolute", q)
    assert (revolute.theta, revolute.d) == (row.theta + q, row.d)
    prismatic = row.at("prismatic", q)
    assert (prismatic.theta, prismatic.d) == (row.theta, row.d + q)


@pytest.mark.parametrize("quarters", range(-8, 9))
def test_quarter_turns_are_exact(quarters):
    c, s = cos_sin(quarters * math.pi / 2)
    assert {abs(c), abs(s)} == {0.0, 1.0}
    assert c == pytest.approx(math.cos(quarters * math.pi / 2), abs=1e-14)
    assert s == pytest.approx(math.sin(quarters * math.pi / 2), abs=1e-14)


@given(st.floats(-1e-3, 1e-3))
def test_small_angles_are_accurate(angle):
    assert cos_sin(angle)[1] == pytest.approx(math.sin(angle), abs=2e-15)
