# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""None missed, none false: the general 6R solver against exhaustive search on random arms.

    ./arm exec python3 benchmarks/prove_general_6r.py --kind general --arms 120 --targets 20

Each target is the pose of random joint angles, so that one solution is known. From many random
starts descents look for others (those of the search, nothing of the solver); what they find and
the solver did not, is a miss. What the solver finds and forward kinematics denies, is false. Sizes
go from millimetres to tens of metres.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter

import numpy as np
from arm_common.transforms import pose
from arm_kinematics.ik.general_6r import General6R
from arm_kinematics.ik.options import IkOptions, option_record
from arm_kinematics.kernels.compiled import search
from arm_kinematics.kernels.layout import empty_result

from arm_kinematics import Chain, ChainJoint

SIZES = (1e-3, 0.3, 10.0)
JOINTS = [ChainJoint(f"j{i}", False, -math.inf, math.inf) for i in range(6)]
WORST_CONDITION = 1e3  # of a special arm's Jacobian; worse ones can hardly move in six ways
ANGLES = 0.5 * math.pi * np.array([-1.0, 0.0, 0.0, 1.0, 2.0])


def apart(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the largest difference of angles (..., n), modulo full turns."""
    return np.abs(np.angle(np.exp(1j * (p - q)))).max(axis=-1)


def general(rng: np.random.Generator, size: float) -> np.ndarray:
    """Return a random DH table (6, 3): a, d, alpha."""
    return np.column_stack([rng.uniform(-size, size, (6, 2)), rng.uniform(-np.pi, np.pi, 6)])


def special(rng: np.random.Generator, size: float) -> np.ndarray:
    """Return a table with lengths of 0, parallel and perpendicular axes."""
    table = general(rng, size)
    table[:, :2] *= rng.random((6, 2)) > 0.4
    table[:, 2] = np.where(rng.random(6) < 0.5, rng.choice(ANGLES, 6), table[:, 2])
    return table


def nearly_special(rng: np.random.Generator, size: float) -> np.ndarray:
    """Return a table that misses a special one by a billionth to a hundredth."""
    off = rng.choice([-1.0, 1.0], (6, 3)) * 10.0 ** rng.uniform(-9, -2, (6, 3))
    return special(rng, size) + off * (size, size, 1.0)


KINDS = {"general": general, "special": special, "nearly_special": nearly_special}


def chain_of(table: np.ndarray) -> Chain:
    """Return the chain of a standard DH table with theta = 0."""
    T, screws = np.eye(4), []
    for a, d, alpha in table:
        screws.append([*np.cross(T[:3, 3], T[:3, 2]), *T[:3, 2]])
        s, k = math.sin(alpha), math.cos(alpha)
        T = T @ pose(np.array([[1, 0, 0], [0, k, -s], [0, s, k]]), [a, 0, d])
    return Chain(np.transpose(screws), T, JOINTS)


def random_arm(kind: str, rng: np.random.Generator, size: float) -> Chain:
    """Return an arm that can move in six ways."""
    while True:
        chain = chain_of(KINDS[kind](rng, size))
        scale = np.array([size] * 3 + [1.0] * 3)[:, None]
        samples = rng.uniform(-np.pi, np.pi, (4, 6))
        if (
            np.median([np.linalg.cond(chain.jacobian(q) / scale) for q in samples])
            < WORST_CONDITION
        ):
            return chain


def unknown(
    solver: General6R, T: np.ndarray, starts: np.ndarray, known: np.ndarray
) -> list[np.ndarray]:
    """Return solutions (6,) from the starts (k, 6) that are not among the known ones (m, 6)."""
    new: list[np.ndarray] = []
    tolerances = IkOptions("pose", solver.unit, 1.0, None, "target", None, "nearest")
    options = option_record(tolerances, solver.unit, [joint.name for joint in JOINTS])
    options["aim"], options["exact_minimum"], options["starts"] = 1e-15, 1.0, 1.0  # to rounding
    for start in np.ascontiguousarray(starts):
        out = empty_result(6, 1)
        search(solver._c, options, T, start, out)
        q, error = out["slots"]["q"][0], out["slots"]["error"][0]
        error[:3] /= solver.unit
        seen = np.vstack([known, *new])
        if np.linalg.norm(error) < 1e-12 and (apart(seen, q) > 1e-6).all():
            new.append(q)
    return new


def prove(kind: str, arms: int, targets: int, starts: int, seed: int) -> None:
    """Print what was found, missed and false, and the time that it took."""
    rng = np.random.default_rng(seed)
    counts: Counter[int] = Counter()
    missed = false = odd = 0
    busy, wall = [], []
    for i in range(arms):
        size = SIZES[i % len(SIZES)]
        chain = random_arm(kind, rng, size)
        solver = General6R(chain.S, chain.M)
        tolerance = 1e-10 * np.array([1.0, 1.0, 1.0, 3.0 * solver.unit])
        postures = rng.uniform(-np.pi, np.pi, (targets, 6))
        poses = [chain.fk(q) for q in postures]
        answers = []
        for T in poses:
            cpu, clock = time.thread_time(), time.perf_counter()
            answers.append(solver.solve(T))
            wall.append(time.perf_counter() - clock)
            busy.append(time.thread_time() - cpu)
        for q, T, found in zip(postures, poses, answers, strict=True):
            counts[len(found)] += 1
            odd += len(found) % 2
            false += sum(bool((np.abs(chain.fk(p) - T) > tolerance).any()) for p in found)
            tries = np.vstack([q, rng.uniform(-np.pi, np.pi, (starts, 6))])
            missed += len(unknown(solver, T, tries, found))
    us, clock_us = 1e6 * np.array(busy), 1e6 * np.array(wall)
    total = sum(k * n for k, n in counts.items())
    print(f"{kind}: {arms} arms, {len(us)} targets, {total} solutions, {starts} starts a target")
    print(f"  missed {missed}, false {false}, targets with an odd number {odd}")
    print(f"  targets by number of solutions: {dict(sorted(counts.items()))}")
    for name, t in (("CPU", us), ("wall", clock_us)):
        print(f"  {name} time: median {np.median(t):.0f} us, p99 {np.percentile(t, 99):.0f} us")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kind", choices=KINDS, default="general")
    parser.add_argument("--arms", type=int, default=120)
    parser.add_argument("--targets", type=int, default=20)
    parser.add_argument("--starts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    prove(options.kind, options.arms, options.targets, options.starts, options.seed)
