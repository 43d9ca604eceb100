# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The same posture, whole turns apart: every variation that the joint limits allow."""

from __future__ import annotations

import itertools
import math

import numpy as np

from arm_kinematics.errors import KinematicsError
from arm_kinematics.kernels import LEADER, PERIOD
from arm_kinematics.kernels_error import OPTIONS
from arm_kinematics.kernels_search import FOUND, HEAD, SLOT
from arm_kinematics.lie import Array
from arm_kinematics.mechanism import Mechanism

MOST = 100_000
_ROUNDING = 1e-12


def with_whole_turns(mechanism: Mechanism, opt: Array, seed: Array, out: Array) -> Array:
    """Return a result with every variation of its solutions, the nearest to the seed first.

    A joint without limits on either side stays as it is: it has no end of variations.

    Args:
        mechanism: The chain.
        opt: Options, see kernels_error.py.
        seed: What the distance is measured from (n,).
        out: Result of a search with at least one solution.

    Raises:
        KinematicsError: They would be more than MOST.
    """
    n = mechanism.size
    slots = mechanism.slots(out)
    choices = [[_turns(mechanism, i, float(slot[i])) for i in range(n)] for slot in slots]
    count = sum(math.prod(map(len, choice)) for choice in choices)
    if count > MOST:
        raise KinematicsError(
            f"whole turns make {count} solutions of {len(slots)}; narrow the joint limits, or ask "
            "without whole_turns",
            what="whole_turns",
            value=count,
        )
    found = [
        np.concatenate([q, slot[n:]])
        for slot, choice in zip(slots, choices, strict=True)
        for q in itertools.product(*choice)
    ]
    varied = np.array(found)
    varied[:, n + SLOT - 1] = np.sqrt((opt[OPTIONS:] * (varied[:, :n] - seed) ** 2).sum(axis=1))
    head = out[:HEAD].copy()
    head[FOUND] = len(varied)
    return mechanism.in_order(opt, seed, np.concatenate([head, varied.ravel()]), len(varied))


def _turns(mechanism: Mechanism, i: int, q: float) -> list[float]:
    """Return the positions of one row that are whole turns from q and inside its limits."""
    period = float(mechanism.constants[i + 1, PERIOD])
    lower, upper = float(mechanism.lower[i]), float(mechanism.upper[i])
    if period == 0.0 or mechanism.constants[i + 1, LEADER] != i or math.isinf(upper - lower):
        return [q]
    first = math.ceil((lower - q) / period - _ROUNDING)
    last = math.floor((upper - q) / period + _ROUNDING)
    return [min(max(q + k * period, lower), upper) for k in range(first, last + 1)]
