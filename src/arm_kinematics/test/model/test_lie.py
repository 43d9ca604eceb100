# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""SO(3) and SE(3): group axioms, exp against log, and the left Jacobians."""

import math

import numpy as np
import pytest
from arm_common.transforms import inverse, so3_exp
from arm_kinematics.model import lie
from arm_testing.arms import lie as more_lie
from arm_testing.arms.lie import (
    se3_left_jacobian,
    se3_left_jacobian_inverse,
    se3_log,
    so3_left_jacobian_inverse,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

ANGLES = [0.0, 1e-300, 1e-12, 1e-8, 9.9e-5, 1.01e-4, 0.049, 0.051, 1.0, 3.0, math.pi - 1e-8]
NEAR_PI = [math.pi - 1e-3, math.pi - 1e-6, math.pi - 1e-9, math.pi - 1e-14, math.pi]

numbers = st.floats(-10.0, 10.0, allow_nan=False)
directions = arrays(np.float64, 3, elements=st.floats(-1.0, 1.0)).filter(
    lambda v: np.linalg.norm(v) > 0.1
)
twists = arrays(np.float64, 6, elements=numbers)
angles = st.one_of(st.sampled_from(ANGLES + NEAR_PI), st.floats(0.0, math.pi))


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


@given(twists, directions, angles)
def test_se3_log_inverts_exp(twist, direction, angle):
    xi = np.concatenate([twist[:3], unit(direction) * min(angle, math.pi - 1e-6)])
    assert np.allclose(se3_log(lie.se3_exp(xi)), xi, atol=1e-8)


@given(twists, twists, twists)
def test_group_axioms(a, b, c):
    A, B, C = lie.se3_exp(a), lie.se3_exp(b), lie.se3_exp(c)
    assert np.allclose((A @ B) @ C, A @ (B @ C), atol=1e-11)
    assert np.allclose(A @ inverse(A), np.eye(4), atol=1e-12)
    assert np.allclose(lie.se3_exp(-a), inverse(A), atol=1e-11)


@given(twists, twists)
def test_adjoint_is_a_homomorphism_and_transforms_twists(a, b):
    A, B = lie.se3_exp(a), lie.se3_exp(b)
    assert np.allclose(lie.adjoint(A @ B), lie.adjoint(A) @ lie.adjoint(B), atol=1e-10)
    moved = A @ lie.se3_exp(b) @ inverse(A)
    assert np.allclose(lie.se3_exp(lie.adjoint(A) @ b), moved, atol=1e-7)


@settings(max_examples=50)
@given(directions, st.sampled_from([1e-9, 1e-5, 0.03, 0.06, 1.0, 3.0]), directions)
def test_so3_left_jacobian_matches_finite_differences(direction, angle, rate):
    w, h = unit(direction) * angle, 1e-6
    R = so3_exp(w)
    spin = (so3_exp(w + h * rate) - so3_exp(w - h * rate)) / (2 * h) @ R.T
    omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    assert np.allclose(lie.so3_left_jacobian(w) @ rate, omega, atol=1e-8)
    product = lie.so3_left_jacobian(w) @ so3_left_jacobian_inverse(w)
    assert np.allclose(product, np.eye(3), atol=1e-12)


@settings(max_examples=50)
@given(directions, st.sampled_from([0.0, 1e-9, 1e-5, 0.03, 0.9, 1.1, 3.0, 3.14]), twists, twists)
def test_se3_left_jacobian_matches_finite_differences(direction, angle, twist, rate):
    xi, h = np.concatenate([twist[:3], unit(direction) * angle]), 1e-6
    ahead, behind = lie.se3_exp(xi + h * rate), lie.se3_exp(xi - h * rate)
    speed = se3_log(ahead @ inverse(behind)) / (2 * h)
    assert np.allclose(se3_left_jacobian(xi) @ rate, speed, rtol=1e-6, atol=1e-5)
    product = se3_left_jacobian(xi) @ se3_left_jacobian_inverse(xi)
    assert np.allclose(product, np.eye(6), atol=1e-11)


def test_left_jacobian_maps_a_twist_to_itself():
    """J xi = xi, since exp(t xi) has the constant twist xi."""
    for angle in (0.0, 1e-8, 0.5, 2.0, 3.1):
        xi = np.array([0.3, -0.2, 0.5, *(angle * unit(np.array([1.0, 2.0, -1.0])))])
        assert np.allclose(se3_left_jacobian(xi) @ xi, xi, atol=1e-14)


LONG = np.longdouble
REFERENCE = {
    "sinc_rest": (lambda x: (x - np.sin(x)) / x**3, 1.0 / 6),
    "cosc_rest": (lambda x: (x * x + 2 * np.cos(x) - 2) / (2 * x**4), 1.0 / 24),
    "sinc_rest_rest": (lambda x: (2 * x - 3 * np.sin(x) + x * np.cos(x)) / (2 * x**5), 1.0 / 120),
    "cot_rest": (lambda x: (1 - x / 2 / np.tan(x / 2)) / x**2, 1.0 / 12),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_quotients_match_extended_precision(name):
    """Compare with 64 bits of mantissa where these cancel little, otherwise with the limit."""
    formula, limit = REFERENCE[name]
    function = getattr(more_lie, name)  # it has the name of the product's, too
    for x in (0.3, 0.7, 0.999, 1.001, 1.5, 3.0, math.pi - 1e-9, math.pi, 4.0, 6.0):
        assert function(x) == pytest.approx(float(formula(LONG(x))), rel=3e-14)
    for x in (0.0, 1e-300, 1e-9):
        assert function(x) == pytest.approx(limit, rel=1e-15)
    edge = [function(1.0 + step) for step in (-1e-15, 1e-15)]
    assert edge[0] == pytest.approx(edge[1], rel=3e-14)
