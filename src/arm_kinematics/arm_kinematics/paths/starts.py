# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Postures in which a tool path may begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from arm_common.transforms import Array
from numpy.typing import ArrayLike

from arm_kinematics.chain.chain import Chain
from arm_kinematics.ik.result import IkResult
from arm_kinematics.paths.options import AT_ONCE, PathOptions

_DESCENTS = 3  # until a posture is as accurate as it gets, at most
_SAME = 1e-3  # postures that differ by less in every joint are the same [rad or m]


def path_starts(
    chain: Chain,
    T: Array,
    seed: ArrayLike | None,
    options: PathOptions,
    count: int,
    timeout: float | None = None,
) -> Iterator[IkResult]:
    """Yield postures with the tool at a pose (4, 4), of each tolerance the nearest to the seed.

    Those of narrower tolerances come first, up to a count of each, so that a wider tolerance only
    adds some. From a posture that is only just within a wide one, the first step would be a leap.

    Args:
        chain: The arm.
        T: The pose of the tip in the base frame.
        seed: Joint positions (n,) [rad or m]; None is mid-range.
        options: Components that count, and tolerances.
        count: Of postures at one tolerance, at most.
        timeout: Time limit of the search at the widest tolerance [s].

    Yields:
        A result with one solution each; if there are none, one result with the reason.

    Raises:
        KinematicsError: An argument is invalid.
    """
    postures: list[Array] = []
    tolerances = options.narrowed()
    for each in tolerances:
        arguments = each.ik_arguments()
        limit = timeout if each is tolerances[-1] else AT_ONCE
        result = chain.ik(T, seed, max_solutions=count, timeout=limit, **arguments)
        for q in result.every_q if result.ok else ():
            settled = _settled(chain, T, q, arguments)
            if settled.ok and not any(_same(settled.q, other) for other in postures):
                postures.append(settled.q)
                yield settled
    if not postures:
        yield result


def _settled(chain: Chain, T: Array, q: Array, arguments: Mapping[str, Any]) -> IkResult:
    """Return the result of descents from joint positions (n,) until they lead no farther."""
    result = chain.ik(T, q, **arguments)
    for _ in range(_DESCENTS):
        if _same(result.q, q):
            break
        q, result = result.q, chain.ik(T, result.q, **arguments)
    return result


def _same(q: Array, other: Array) -> bool:
    return bool(np.abs(q - other).max() < _SAME)
