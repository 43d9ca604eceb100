# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Which joints are at their limits, and which would have to pass them."""

from __future__ import annotations

import math

import numpy as np

from arm_kinematics.kernels import PERIOD
from arm_kinematics.kernels_search import HEAD
from arm_kinematics.lie import Array
from arm_kinematics.mechanism import Mechanism
from arm_kinematics.result import joint_list


def passing_joints(mechanism: Mechanism, found: Array) -> tuple[tuple[str, ...], str, Array]:
    """Return the joints that pass their limits in the mildest of some postures, a clause, and it.

    Args:
        mechanism: The chain.
        found: Postures (k, size) of which each passes some limits.
    """
    lower, upper = mechanism.lower, mechanism.upper
    near = [_into_range(mechanism, q) for q in found]
    beyond = [np.maximum(lower - q, 0.0) + np.maximum(q - upper, 0.0) for q in near]
    mildest = int(np.argmin([b.sum() for b in beyond]))
    passed = [i for i in range(mechanism.size) if beyond[mildest][i] > 0.0]
    clauses = [_passing(mechanism, i, float(near[mildest][i])) for i in passed]
    return tuple(mechanism.names[i] for i in passed), joint_list(clauses), near[mildest]


def at_limits(mechanism: Mechanism, out: Array) -> tuple[str, ...]:
    """Return the joints that stand at a limit in the first slot of a result."""
    q = out[HEAD : HEAD + mechanism.size]
    at = (q - mechanism.lower < 1e-9) | (mechanism.upper - q < 1e-9)
    return tuple(name for name, there in zip(mechanism.names, at, strict=True) if there)


def _into_range(mechanism: Mechanism, q: Array) -> Array:
    """Return q with each turning joint by whole turns as near to its range as can be."""
    lower, upper = mechanism.lower, mechanism.upper
    middle = 0.5 * (np.maximum(lower, -1e9) + np.minimum(upper, 1e9))
    period = mechanism.constants[1:, PERIOD]
    turning = (period > 0.0) & ((q < lower) | (q > upper))
    turns = np.round((middle - q) / np.where(turning, period, 1.0))
    return np.asarray(np.where(turning, q + period * turns, q))


def _passing(mechanism: Mechanism, i: int, q: float) -> str:
    limit = float(mechanism.lower[i] if q < mechanism.lower[i] else mechanism.upper[i])
    q, limit = q / mechanism.scale[i], limit / mechanism.scale[i]
    name = mechanism.names[i]
    if mechanism.sliding[i]:
        return f"{name} at {1e3 * q:.4g} mm (limit {1e3 * limit:.4g} mm)"
    return f"{name} at {math.degrees(q):.4g} deg (limit {math.degrees(limit):.4g} deg)"
