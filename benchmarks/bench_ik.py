# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics called from Python: microseconds and success, beside other solvers.

Targets are poses of random joint positions inside the limits, so each has a solution. One judge
for all: forward kinematics of the answer by the DH table within 1e-5 m and 1e-4 rad, limits kept.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arm_kinematics.lie import so3_log
from ik_peers import ORIENTATION_TOLERANCE, POSITION_TOLERANCE, Solve, peers

from arm_description import RobotModel, load_robot
from arm_kinematics import Chain

ROBOTS = ("nut_arm", "planar2", "puma560")
MODES = ("pose", "position", "position_axis")
NEAR = 0.1  # [rad or m] from the solution to a near seed, at most, in each joint


@dataclass(frozen=True)
class Case:
    """Targets and seeds of one line of the table."""

    model: RobotModel
    mode: str
    seed: str
    targets: list[np.ndarray]
    seeds: list[np.ndarray]


def cases(robots: list[str], count: int) -> Iterator[Case]:
    """Yield every robot, mode and kind of seed with the same targets each time it is run."""
    for name in robots:
        model = load_robot(name)
        rng = np.random.default_rng(1)
        middle = 0.5 * (model.lower + model.upper)
        joints = rng.uniform(model.lower, model.upper, (count, len(model.joints)))
        targets = [model.fk(q) for q in joints]
        near = np.clip(joints + rng.uniform(-NEAR, NEAR, joints.shape), model.lower, model.upper)
        for mode in MODES:
            yield Case(model, mode, "mid-range", targets, [middle] * count)
            yield Case(model, mode, "near", targets, list(near))


def ours(case: Case) -> Solve:
    """Return our solver as the peers are called."""
    chain = Chain.from_model(case.model)

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        r = chain.ik(T, seed, case.mode)
        return r.q if r.ok else None

    return solve


def is_right(case: Case, T: np.ndarray, q: np.ndarray | None) -> bool:
    """Judge an answer by the DH table and the limits."""
    if q is None or not np.isfinite(q).all():
        return False
    if (q < case.model.lower - 1e-9).any() or (q > case.model.upper + 1e-9).any():
        return False
    reached = case.model.fk(q)
    if np.linalg.norm(reached[:3, 3] - T[:3, 3]) > POSITION_TOLERANCE * (1.0 + 1e-6):
        return False
    if case.mode == "pose":
        angle = np.linalg.norm(so3_log(T[:3, :3].T @ reached[:3, :3]))
    elif case.mode == "position_axis":
        z, wanted = reached[:3, 2], T[:3, 2]
        angle = math.atan2(np.linalg.norm(np.cross(z, wanted)), z @ wanted)
    else:
        angle = 0.0
    return bool(angle <= ORIENTATION_TOLERANCE * (1.0 + 1e-6))


def measure(case: Case, solve: Solve, count: int) -> tuple[float, float, float]:
    """Return median and 99th percentile [us] and the share solved [%]."""
    clock = time.perf_counter_ns
    solve(case.targets[0], case.seeds[0])  # whatever is prepared at the first call
    targets, times, answers = case.targets[:count], [], []
    for T, seed in zip(targets, case.seeds[:count], strict=True):
        begin = clock()
        q = solve(T, seed)
        times.append(clock() - begin)
        answers.append(q)
    solved = sum(is_right(case, T, q) for T, q in zip(targets, answers, strict=True))
    microseconds = np.array(times) * 1e-3
    return float(np.median(microseconds)), float(np.quantile(microseconds, 0.99)), solved / count


def processor() -> str:
    """Return the name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=list(ROBOTS), help="robots to measure on")
    parser.add_argument("--targets", type=int, default=1000, help="targets a line")
    parser.add_argument("--alone", action="store_true", help="leave the other solvers out")
    chosen = parser.parse_args()
    print(f"{processor()}, Python {platform.python_version()}, {chosen.targets} targets a line")
    print(
        f"{'robot':9} {'mode':14} {'seed':10} {'solver':22} "
        f"{'median us':>10} {'p99 us':>10} {'solved':>8}"
    )
    for case in cases(chosen.robots, chosen.targets):
        others = [] if chosen.alone else list(peers(case.model, case.mode))
        for name, solve, share in [("arm_kinematics", ours(case), 1.0), *others]:
            median, worst, solved = measure(case, solve, max(1, int(share * chosen.targets)))
            print(
                f"{case.model.name:9} {case.mode:14} {case.seed:10} {name:22} "
                f"{median:10.1f} {worst:10.1f} {solved:8.2%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
