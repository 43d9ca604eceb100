# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The parts of the benchmark; each prints rows as it measures and returns a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from arm_description import load_robot
from ik import ours
from ik.cases import Case, cases, problem
from ik.judge import judge
from ik.peers import Peer
from ik.problem import Answers, Problem, Solve, ask
from ik.tables import percent, table, us

WITH_CLOSED_FORM = ("puma560", "ur5", "panda")
GENERAL = ("raghavan_roth", "puma560", "ur5")
FOR_BATCH = ("nut_arm", "puma560", "panda")


@dataclass(frozen=True)
class Amount:
    """Size of the measurements.

    Attributes:
        timed: Targets per row for times.
        solved: Targets per row for our share solved.
        seconds: Time per row for each peer.
    """

    timed: int
    solved: int
    seconds: float


def first(p: Problem, count: int) -> Problem:
    """Return the problem with the first targets only."""
    return replace(p, targets=p.targets[:count], seeds=p.seeds[:count])


def solvers(arms: list[str], amount: Amount, peers: list[Peer]) -> str:
    """Compare on the shipped robots: median time and share solved."""
    rows = []
    for case in cases(arms, amount.solved):
        solve = ours.one_solution(case)
        found = ask(solve, case.problem)
        right = judge(case.model, case.problem, found.q).right
        report_failures(case, right)
        times = found.times[: amount.timed]
        row = [case.title, us(np.median(times)), us(np.quantile(times, 0.99))]
        row.append(percent(int(right.sum()), len(right)))
        p = first(case.problem, amount.timed)
        rows.append([*row, *(cell(case, p, peer, amount, solve) for peer in peers)])
        show(rows[-1])
    head = ["arm, mode, seed", "ours: median us", "p99 us", f"solved of {amount.solved:,}"]
    return table([*head, *(peer.name for peer in peers)], rows)


def hard_sets(sets: Iterable[Case], amount: Amount, peers: list[Peer]) -> str:
    """Compare on the hard sets: share solved, worst error, median time."""
    rows = []
    for case in sets:
        solve = ours.one_solution(case)
        found = ask(solve, case.problem)
        verdict = judge(case.model, case.problem, found.q)
        report_failures(case, verdict.right)
        row = [case.title, us(np.median(found.times)), us(np.quantile(found.times, 0.99))]
        row += [percent(int(verdict.right.sum()), len(verdict.right)), worst(case, verdict)]
        rows.append([*row, *(cell(case, case.problem, peer, amount, solve) for peer in peers)])
        show(rows[-1])
    head = ["arm, mode, set", "ours: median us", "p99 us", "solved", "worst error"]
    return table([*head, *(peer.name for peer in peers)], rows)


def worst(case: Case, verdict) -> str:
    """Return the worst error of the solved targets as a share of its tolerance."""
    place = np.nanmax(verdict.position, initial=0.0) / case.problem.position_tolerance
    turn = np.nanmax(verdict.orientation, initial=0.0) / case.problem.orientation_tolerance
    return f"{max(place, turn):.2f}"


def cell(case: Case, p: Problem, peer: Peer, amount: Amount, solve: Solve) -> str:
    """Return median time, ratio to ours and share solved of a peer; a dash if not supported."""
    found, ratio = beside(solve, p, peer, amount)
    if isinstance(found, str):
        if not found.startswith(("no mode", "not an arm")):
            print(f"    {peer.name}, {case.title}: {found}", flush=True)
        return "-"
    right = judge(case.model, p, found.q).right
    return f"{us(np.median(found.times))} = {ratio} ({percent(int(right.sum()), len(right))})"


def beside(solve: Solve, p: Problem, peer: Peer, amount: Amount) -> tuple[Answers | str, str]:
    """Return the answers of a peer, and the ratio of its median time to ours before and after.

    The speed of the machine may change within a row, so ours is measured again beside each peer.
    """
    before = ask(solve, p).times
    found = peer.answer(p, amount.seconds)
    if isinstance(found, str):
        return found, ""
    own = np.median(np.concatenate([before, ask(solve, p).times]))
    return found, f"{np.median(found.times) / own:.2f} x"


def report_failures(case: Case, right: np.ndarray) -> None:
    """Print the targets that we did not solve, with the seed to reproduce them."""
    wrong = np.flatnonzero(~right)
    if len(wrong):
        some = ", ".join(map(str, wrong[:10]))
        print(f"    NOT SOLVED {case.title}: {len(wrong)}, targets {some} of seed {case.seed}")


def all_solutions(amount: Amount, peers: list[Peer]) -> str:
    """Compare finding all solutions: median time, and mean number of right ones."""
    rows = []
    for name in WITH_CLOSED_FORM:
        case = next(cases([name], amount.timed, seed=3))
        rows += _all_of(case, ours.every_solution(case.model), amount, peers)
    return table(_EVERY, rows)


def general(amount: Amount, peers: list[Peer]) -> str:
    """Compare solvers of general 6R arms on a general arm and on special ones, without limits."""
    rows = []
    for name in GENERAL:
        case = without_limits(next(cases([name], amount.timed, seed=4)))
        rows += _all_of(case, ours.by_elimination(case.model), amount, peers)
    return table(_EVERY, rows)


def _all_of(case: Case, solve: Solve, amount: Amount, peers: list[Peer]) -> list[list[str]]:
    """Return the rows of an arm: ours, and each peer that supports it."""
    rows = [_every(case, "ours", ask(solve, case.problem), "1")]
    for peer in peers:
        found, ratio = beside(solve, case.problem, peer, amount)
        if not isinstance(found, str):
            rows.append(_every(case, peer.name, found, ratio))
    return rows


def without_limits(case: Case) -> Case:
    """Return the case with limits of -pi and pi for every joint."""
    joints = tuple(replace(j, lower=-np.pi, upper=np.pi) for j in case.model.joints)
    model = replace(case.model, joints=joints)
    q = np.random.default_rng(case.seed).uniform(-np.pi, np.pi, (len(case.problem.seeds), 6))
    return Case(model, problem(model, "pose", q, 0.0 * q), "no limits", case.seed)


_EVERY = ["arm, solver", "median us", "ratio", "p99 us", "solved", "solutions a target"]


def _every(case: Case, solver: str, found: Answers, ratio: str) -> list[str]:
    verdict = judge(case.model, case.problem, found.q)
    row = [f"{case.model.name}, {solver}", us(np.median(found.times)), ratio]
    row += [us(np.quantile(found.times, 0.99))]
    row += [
        percent(int(verdict.right.sum()), len(verdict.right)),
        f"{verdict.branches.mean():.3f}",
    ]
    show(row)
    return row


def forward(arms: list[str], amount: Amount) -> str:
    """Time forward kinematics, called from Python."""
    rows = []
    for name in arms:
        pose, both = ours.forward_times(load_robot(name), amount.timed)
        rows.append([name, f"{pose:.2f}", f"{both:.2f}"])
        show(rows[-1])
    return table(["arm", "pose: median us", "pose and Jacobian: median us"], rows)


def batches(amount: Amount) -> str:
    """Measure targets per second of `ik_batch`."""
    rows = []
    for name in FOR_BATCH:
        case = next(cases([name], amount.solved))
        rates = ours.batch_rates(case.model, case.problem)
        row = [case.title, *(f"{rates[cores]:,.0f}" for cores in sorted(rates))]
        rows.append(row)
        show(row)
    head = [f"{cores} core{'s' * (cores > 1)}: targets/s" for cores in sorted(rates)]
    return table(["arm, mode, seed", *head], rows)


def show(row: list[str]) -> None:
    """Print a row and flush."""
    print("  ".join(row), flush=True)
