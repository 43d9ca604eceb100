# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm, targets and seeds, as passed to a solver, in this process or its own.

Needs NumPy only, as it also runs where the peers are installed and the arm packages are not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

Solve = Callable[[np.ndarray, np.ndarray], "np.ndarray | None"]
"""Target (4, 4), seed (n,) -> joint positions (n,), or candidates (c, n), or None."""


class NotForThisError(Exception):
    """A solver does not support this kind of arm or mode; the message is the reason."""


@dataclass(frozen=True)
class Problem:
    """Targets for a solver, and the arm to reach them.

    Attributes:
        name: Name of the arm.
        urdf: The arm from base_link to tool0.
        S: Screw axes (6, n) [v; w] at q = 0, in the base frame [m].
        M: Pose (4, 4) of the tip at q = 0.
        prismatic: Whether each joint is prismatic (n,).
        dh: Rows theta, d, a, alpha at q = 0 (n, 4) of the standard convention; NaN in another one.
        base, tool: Poses (4, 4) before and after the table.
        lower, upper: Limits (n,) [rad or m].
        mode: "pose", "position" or "position_axis" (z).
        targets: Reachable poses (m, 4, 4).
        seeds: Joint positions (m, n) to start at.
        position_tolerance: Largest accepted distance [m].
        orientation_tolerance: Largest accepted angle [rad].
    """

    name: str
    urdf: str
    S: np.ndarray
    M: np.ndarray
    prismatic: np.ndarray
    dh: np.ndarray
    base: np.ndarray
    tool: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    mode: str
    targets: np.ndarray
    seeds: np.ndarray
    position_tolerance: float = 1e-5
    orientation_tolerance: float = 1e-4

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.lower)

    def points(self) -> np.ndarray:
        """Return the points (n, 3) of the revolute axes nearest to the origin."""
        return np.cross(self.S[3:].T, self.S[:3].T)

    def joint_frame(self, k: int) -> np.ndarray:
        """Return a frame (4, 4) on joint k at q = 0 with the axis as its z."""
        slides = bool(self.prismatic[k])
        z = self.S[:3, k] if slides else self.S[3:, k]
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
        x /= np.linalg.norm(x)
        frame = np.eye(4)
        frame[:3, :3] = np.column_stack([x, np.cross(z, x), z])
        if not slides:
            frame[:3, 3] = self.points()[k]
        return frame

    def save(self, file: Path) -> None:
        """Write to an .npz file."""
        np.savez(file, **{k: np.asarray(v) for k, v in asdict(self).items()})

    @classmethod
    def load(cls, file: Path) -> Problem:
        """Read a file written by `save`."""
        with np.load(file) as data:
            return cls(**{k: v if v.ndim else v.item() for k, v in data.items()})


@dataclass(frozen=True)
class Answers:
    """Answers of a solver.

    Attributes:
        times: Time of each call [us], (k,); fewer than the targets if the time was up.
        q: Candidates (k, c, n), NaN where there are fewer.
    """

    times: np.ndarray
    q: np.ndarray


def ask(solve: Solve, problem: Problem, seconds: float = np.inf) -> Answers:
    """Solve the targets one by one until the time is up; only the calls are timed."""
    clock = time.perf_counter_ns
    end = time.monotonic() + seconds
    solve(problem.targets[0], problem.seeds[0])  # preparations of the first call are not timed
    times, answers = [], []
    for T, seed in zip(problem.targets, problem.seeds, strict=True):
        begin = clock()
        q = solve(T, seed)
        times.append(clock() - begin)
        answers.append(q)
        if time.monotonic() > end:
            break
    return Answers(np.array(times) * 1e-3, _candidates(answers, problem.n))


def _candidates(answers: list, n: int) -> np.ndarray:
    """Return answers as one array (k, c, n), NaN where there are fewer candidates."""
    rows = [np.empty((0, n)) if q is None else np.reshape(q, (-1, n)) for q in answers]
    table = np.full((len(rows), max(1, *map(len, rows)) if rows else 1, n), np.nan)
    for k, row in enumerate(rows):
        table[k, : len(row)] = row
    return table


def reply(text: dict) -> None:
    """Print one line of JSON and flush."""
    print(json.dumps(text), flush=True)
