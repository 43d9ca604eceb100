# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Our solvers, called as the peers are."""

from __future__ import annotations

import os
import time

import numpy as np

from arm_description import RobotModel
from arm_kinematics import Chain
from ik.cases import Case
from ik.problem import Problem, Solve


def one_solution(case: Case) -> Solve:
    """Return inverse kinematics as anybody calls it."""
    chain, p = Chain.from_model(case.model), case.problem

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        r = chain.ik(T, seed, p.mode, p.position_tolerance, p.orientation_tolerance)
        return r.q if r.ok else None

    return solve


def every_solution(model: RobotModel) -> Solve:
    """Return all solutions at once, nearest first."""
    chain = Chain.from_model(model)

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        r = chain.all_solutions(T, seed)
        return r.every_q if r.ok else None

    return solve


def by_elimination(model: RobotModel) -> Solve:
    """Return all real solutions of any arm of six turning joints; limits are not asked."""
    from arm_kinematics.ik.general_6r import General6R

    chain = Chain.from_model(model)
    arm = General6R(chain.S, chain.M)

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        return arm.solve(T)

    return solve


def forward_times(model: RobotModel, calls: int) -> tuple[float, float]:
    """Return the median time of one pose, and of pose and Jacobian [us], called from Python."""
    chain = Chain.from_model(model)
    joints = np.random.default_rng(1).uniform(model.lower, model.upper, (calls, model.n))

    def both(q: np.ndarray) -> None:
        chain.fk(q)
        chain.jacobian(q)

    return _median(chain.fk, joints), _median(both, joints)


def _median(function, joints: np.ndarray) -> float:
    function(joints[0])
    times = []
    for q in joints:
        begin = time.perf_counter_ns()
        function(q)
        times.append(time.perf_counter_ns() - begin)
    return float(np.median(times)) * 1e-3


def batch_rates(model: RobotModel, problem: Problem) -> dict[int, float]:
    """Return number of cores -> targets per second of `ik_batch`, for 1 core up to all."""
    chain, all_cores = Chain.from_model(model), os.sched_getaffinity(0)
    chain.ik_batch(problem.targets[:64], problem.seeds[:64], problem.mode)
    rates = {}
    try:
        for cores in sorted({1, len(all_cores)}):
            os.sched_setaffinity(0, sorted(all_cores)[:cores])
            begin = time.perf_counter()
            answers = chain.ik_batch(problem.targets, problem.seeds, problem.mode)
            rates[cores] = len(answers) / (time.perf_counter() - begin)
    finally:
        os.sched_setaffinity(0, all_cores)
    return rates
