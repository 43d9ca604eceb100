# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How near the best effort comes to a target out of reach, beside a search from many starts.

The search is SciPy's: SLSQP for the least angle with the position met, L-BFGS-B for the least
distance, each from random joint positions within the limits.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from arm_common.transforms import Array, so3_exp, so3_log
from ik.tables import add_write, processor, table, write
from scipy.optimize import minimize

from arm_description import load_robot
from arm_kinematics import Chain, IkResult, IkStatus

ROBOTS = ("ur5", "panda", "rediestro")
POSITION_MET = 1e-5  # [m]
_SCALE = 10.0  # of the position against the angle, for SLSQP


@dataclass(frozen=True)
class Request:
    """One kind of targets out of reach."""

    mode: str
    status: IkStatus
    move: Callable[[Array, np.random.Generator], None]  # takes a reachable pose out of reach
    nearest: Callable[[Chain, Array, Array], float]  # residual from a start; inf if invalid
    residual: Callable[[IkResult], float]
    tolerance: float  # difference that counts as farther
    unit: str


def main() -> int:
    """Measure all arms in both modes; return 0."""
    parser = argparse.ArgumentParser(prog="./arm bench best_effort", description=__doc__)
    parser.add_argument("robots", nargs="*", default=ROBOTS, help=f"({' '.join(ROBOTS)})")
    parser.add_argument("--targets", type=int, default=50, help="for each arm and mode (50)")
    parser.add_argument("--starts", type=int, default=40, help="of the search per target (40)")
    add_write(parser)
    chosen = parser.parse_args()
    rows = []
    for name in chosen.robots:
        for request in REQUESTS:
            rows.append(measure(name, request, chosen.targets, chosen.starts))
            sys.stdout.write(f"{' '.join(rows[-1])}\n")
            sys.stdout.flush()
    head = ("arm", "out of reach", "as near", "ours nearer", "farthest behind", "median time")
    text = f"{processor()}; {chosen.starts} starts.\n\n{table(head, rows)}"
    print(text)
    write(chosen.write, "best_effort", text)
    return 0


def measure(name: str, request: Request, count: int, starts: int) -> tuple[str, ...]:
    """Return the row of an arm: how many best efforts are as near as the search's."""
    chain, rng = Chain.from_model(load_robot(name)), np.random.default_rng(21)
    gaps, times = [], []
    for target, result, spent in refused(chain, request, count, rng):
        low, high = finite_limits(chain)
        found = [request.nearest(chain, target, rng.uniform(low, high)) for _ in range(starts)]
        gaps.append(request.residual(result) - min(found))
        times.append(spent)
    near = sum(gap <= request.tolerance for gap in gaps)
    nearer = sum(gap < -request.tolerance for gap in gaps)
    worst = f"{max(0.0, *gaps):.1g} {request.unit}"
    what = request.status.name.removeprefix("UNREACHABLE_").lower()
    spent_ms = f"{1e3 * statistics.median(times):.1f} ms"
    return name, what, f"{near} of {count}", str(nearer), worst, spent_ms


def refused(
    chain: Chain, request: Request, count: int, rng: np.random.Generator
) -> Iterator[tuple[Array, IkResult, float]]:
    """Yield targets (4, 4) that are refused for the request's reason, results, and times [s]."""
    low, high = finite_limits(chain)
    while count:
        target = chain.fk(rng.uniform(low, high))
        request.move(target, rng)
        start = time.perf_counter()
        result = chain.ik(target, mode=request.mode)
        spent = time.perf_counter() - start
        if result.status == request.status:
            count -= 1
            yield target, result, spent


def finite_limits(chain: Chain) -> tuple[Array, Array]:
    """Return the limits (n,), at most a turn to each side."""
    return np.maximum(chain.lower, -math.tau), np.minimum(chain.upper, math.tau)


def turn_away(target: Array, rng: np.random.Generator) -> None:
    """Give a target a random orientation, and move it a little."""
    target[:3, 3] *= rng.uniform(0.9, 1.15)
    target[:3, :3] = so3_exp(rng.normal(0.0, 1.5, 3))


def move_away(target: Array, rng: np.random.Generator) -> None:
    """Move a target outwards or inwards."""
    target[:3, 3] *= rng.uniform(1.1, 1.6) if rng.random() < 0.6 else rng.uniform(0.0, 0.3)


def least_angle(chain: Chain, target: Array, start: Array) -> float:
    """Return the least angle [rad] from a start with the position met; inf if it is not met."""
    goal, point = target[:3, :3], target[:3, 3]

    def cost(q: Array) -> tuple[float, Array]:
        T, J = chain.fk_jacobian(q)
        away = so3_log(goal.T @ T[:3, :3])
        return 0.5 * float(away @ away), (goal @ away) @ J[3:]

    met: dict[str, Any] = {
        "type": "eq",
        "fun": lambda q: _SCALE * (chain.fk(q)[:3, 3] - point),
        "jac": lambda q: _SCALE * chain.jacobian(q)[:3],
    }
    bounds = list(zip(*finite_limits(chain), strict=True))
    options = {"maxiter": 100, "ftol": 1e-12}
    found = minimize(
        cost, start, jac=True, method="SLSQP", bounds=bounds, constraints=met, options=options
    )
    q = np.clip(found.x, *finite_limits(chain))
    if not np.linalg.norm(chain.fk(q)[:3, 3] - point) < POSITION_MET:
        return math.inf
    return math.sqrt(2.0 * cost(q)[0])


def least_distance(chain: Chain, target: Array, start: Array) -> float:
    """Return the least distance [m] of the tool from the target's position, from a start."""

    def cost(q: Array) -> tuple[float, Array]:
        T, J = chain.fk_jacobian(q)
        away = T[:3, 3] - target[:3, 3]
        return 0.5 * float(away @ away), away @ J[:3]

    bounds = list(zip(*finite_limits(chain), strict=True))
    options = {"maxiter": 300, "ftol": 1e-15, "gtol": 1e-10}
    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return math.sqrt(2.0 * float(found.fun))


REQUESTS = (
    Request(
        "pose",
        IkStatus.UNREACHABLE_ORIENTATION,
        turn_away,
        least_angle,
        lambda result: float(result.orientation_error),
        1e-3,
        "rad",
    ),
    Request(
        "position",
        IkStatus.UNREACHABLE_POSITION,
        move_away,
        least_distance,
        lambda result: float(result.position_error),
        1e-4,
        "m",
    ),
)

if __name__ == "__main__":
    sys.exit(main())
