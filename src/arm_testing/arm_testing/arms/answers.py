# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Requests of inverse kinematics whose answers are stored, to compare another set of kernels with.

    ./arm exec python3 -m arm_testing.arms.answers FILE.npz     # from tools/; records the answers

The answers in src/arm_kinematics/test/kernels/answers.npz are those of the kernels before these,
which Numba compiled.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from arm_description.library import shipped_robots

from arm_kinematics import Chain, IkResult, KinematicsError
from arm_testing.arms.chains import posture, random_chain, shipped

ANY, NARROW = (-math.inf, math.inf), (-2.0, 2.0)
RANDOM = {f"random {n}": [NARROW, (-9.0, 9.0), ANY, (0.5, 3.0)] * 2 for n in range(1, 9)}
TARGETS = 6  # of each arm and set of options, of which the last one is out of reach
SOME_WEIGHTS = (1.0, 0.2, 3.0, 0.5, 2.0, 0.1, 1.5, 1.0)
OPTIONS: dict[str, dict[str, Any]] = {
    "pose": {},
    "position": {"mode": "position"},
    "position_axis": {"mode": "position_axis"},
    "another axis": {"mode": "position_axis", "axis": [1.0, 0.5, 0.0]},
    "loose": {"position_tolerance": 5e-3, "orientation_tolerance": 0.1},
    "a box": {"position_tolerance": (1e-3, 2e-3, 1e-5), "orientation_tolerance": (0.1, 0.2, 0.01)},
    "free roll": {"orientation_tolerance": (1e-4, 1e-4, math.inf)},
    "free height": {"position_tolerance": (1e-5, 1e-5, math.inf)},
    "a box of the tool": {"position_tolerance": (1e-3, 1e-5, 1e-3), "tolerance_axes": "tool"},
    "centred": {"prefer": "centred"},
    "centred position": {"prefer": "centred", "mode": "position"},
    "accurate": {"prefer": "accurate", "mode": "position_axis", "orientation_tolerance": 0.2},
    "weights": {"weights": SOME_WEIGHTS},
    "approximate": {"allow_approximate": True},
    "all": {},
    "all of an axis": {"mode": "position_axis"},
}


class Request(NamedTuple):
    """One request: what, of which arm, for a target (4, 4) and a seed (n,)."""

    arm: str
    options: str
    chain: Chain
    target: np.ndarray
    seed: np.ndarray

    def answer(self) -> IkResult:
        """Return the answer of the kernels here."""
        options = dict(OPTIONS[self.options])
        if "weights" in options:
            options["weights"] = options["weights"][: self.chain.n]
        solve = self.chain.all_solutions if self.options.startswith("all") else self.chain.ik
        return solve(self.target, self.seed, **options)


def arm(name: str) -> Chain:
    """Return a shipped arm, or a random one."""
    if name not in RANDOM:
        return shipped(name)
    n = int(name.split()[1])
    return random_chain(np.random.default_rng(n), RANDOM[name][:n])


def requests(name: str) -> Iterator[Request]:
    """Yield the requests for an arm: half of the seeds are near the posture of the target."""
    chain = arm(name)
    rng = np.random.default_rng(41)
    for options in OPTIONS:
        for k in range(TARGETS):
            q = posture(chain, rng)
            near = np.clip(q + rng.uniform(-0.1, 0.1, chain.n), chain.lower, chain.upper)
            seed = near if k % 2 == 0 else posture(chain, rng)
            T = chain.fk(q)
            if k == TARGETS - 1:
                T[:3, 3] *= 1.3
            yield Request(name, options, chain, T, seed)


class Answer(NamedTuple):
    """What is stored of an answer.

    Attributes:
        status: Value of IkStatus.
        errors: Distance [m] and angle [rad] of the first solution, or of the best effort.
        distances: Of all solutions from the seed (k,).
        postures: Joint positions of all solutions (k, n) [rad or m].
    """

    status: int
    errors: np.ndarray
    distances: np.ndarray
    postures: np.ndarray

    @classmethod
    def of(cls, result: IkResult) -> Answer:
        """Return what is stored of a result."""
        errors = np.array([result.position_error, result.orientation_error])
        distances = np.array([solution.distance for solution in result.solutions])
        return cls(int(result.status), errors, distances, np.array(result.every_q))


def stored(answers: list[Answer]) -> dict[str, np.ndarray]:
    """Return the answers for one arm as arrays; postures to 2e-7 of their size."""
    return {
        "status": np.array([a.status for a in answers], np.int8),
        "errors": np.array([a.errors for a in answers], np.float32),
        "count": np.array([len(a.postures) for a in answers], np.int16),
        "distances": np.concatenate([a.distances for a in answers]).astype(np.float32),
        "postures": np.concatenate([a.postures for a in answers]).astype(np.float32),
    }


def loaded(arrays: Any, name: str) -> list[Answer]:
    """Return the stored answers for an arm."""
    parts = {key: arrays[f"{name}/{key}"] for key in (*Answer._fields, "count")}
    ends = np.cumsum(parts["count"])[:-1]
    cut = {key: np.split(parts[key], ends) for key in ("distances", "postures")}
    return [
        Answer(int(s), e, d, p)
        for s, e, d, p in zip(
            parts["status"], parts["errors"], cut["distances"], cut["postures"], strict=True
        )
    ]


def names() -> list[str]:
    """Return the names of all arms."""
    return [*shipped_robots(), *RANDOM]


def main(file: str) -> None:
    """Record the answers to all requests."""
    arrays = {}
    for name in names():
        answers = []
        for request in requests(name):
            try:
                answers.append(Answer.of(request.answer()))
            except KinematicsError as error:
                raise SystemExit(f"{name}, {request.options}: {error}") from None
        arrays |= {f"{name}/{key}": values for key, values in stored(answers).items()}
        print(name, len(answers))
    np.savez_compressed(file, **arrays)


if __name__ == "__main__":
    main(sys.argv[1])
