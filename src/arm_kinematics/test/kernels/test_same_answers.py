# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The kernels answer as those before them did: statuses, solutions, branches, accuracy."""

from pathlib import Path

import numpy as np
import pytest
from arm_testing.arms.answers import Answer, Request, loaded, names, requests

STORED = np.load(Path(__file__).with_name("answers.npz"))
SAME = 1e-4  # [rad or m]; stored postures have 24 bits
TOLERANT = ("loose", "a box", "a box of the tool", "accurate")  # a solution is anywhere inside


def has_posture(request: Request, postures: np.ndarray, q: np.ndarray) -> bool:
    """Return whether q is among the postures (k, n), whole turns of revolute joints aside."""
    gaps = postures - q
    turns = 2.0 * np.pi * np.round(gaps / (2.0 * np.pi))
    gaps -= np.where(request.chain.sliding, 0.0, turns)
    return bool((np.abs(gaps) < SAME).all(axis=1).any())


def check_solutions(request: Request, before: Answer, now: Answer) -> None:
    """No branch is missing, and the solution is the same, or one as near to the seed.

    A redundant arm ends anywhere near the preferred posture of its null space.
    """
    assert len(now.postures) == len(before.postures)
    if all(has_posture(request, now.postures, q) for q in before.postures):
        return
    assert request.options.startswith("centred") or request.chain.n == 7, request
    assert now.distances[0] == pytest.approx(before.distances[0], rel=0.02)


@pytest.mark.parametrize("name", names())
def test_answers_are_those_of_the_kernels_before(name):
    for request, before in zip(requests(name), loaded(STORED, name), strict=True):
        now = Answer.of(request.answer())
        assert now.status == before.status, request
        if before.status == 1:
            check_solutions(request, before, now)
        if before.status != 1 or request.options not in TOLERANT:
            slack = 1e-6 if before.status == 1 else 1e-4  # of a best effort: where descents end
            assert (now.errors <= 1.01 * before.errors + slack).all(), request
