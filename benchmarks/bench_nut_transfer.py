# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer by arms that are not exact: how often it succeeds, and what goes wrong first.

Every trial is another arm and another scene, drawn from its seed: zeros, play, ticks, jaws, bolts.
The plan is made once, for arm and scene as they are described. Nothing of ROS runs.
"""

from __future__ import annotations

import argparse
import functools
import math
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from arm_common.transforms import Array
from arm_hardware.calibration.kinematic_fit import fit, joint_zeros
from arm_hardware.calibration.touch_points import TouchPoints
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.file import load_scene
from arm_tasks.simulation.contact_run import ContactArm, contact_trial
from arm_tasks.simulation.noisy_arm import (
    HOBBY,
    ONE_TICK,
    MonteCarloTrial,
    Noise,
    NoisyArm,
    run_trial,
)
from arm_tasks.task.parser import load_task
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Screw, Task
from ik.tables import at_least_one, processor, table, write

from arm_description import load_robot
from arm_kinematics import Chain

TOUCHED = 12  # points of a calibration
RULER = 0.3e-3  # standard deviation of measuring one of them, each axis [m]
MODEL = load_robot("nut_arm")
CHAIN = Chain.from_model(MODEL)
SCENE = load_scene("nut_transfer")
TASK = load_task("nut_transfer")


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
        name: What is off.
        noise: By how much.
        touched: Whether the arm is calibrated by touching points before.
    """

    name: str
    noise: Noise
    touched: bool = False


def rows() -> list[Row]:
    """Return the lines, each with more noise than the one before."""
    deg = math.radians
    ticks = Noise(tick=ONE_TICK)
    band = ticks.but(dead_band=deg(1.0))
    return [
        Row("nothing", Noise()),
        Row("1 tick of 0.44 deg", ticks),
        Row("and 1 deg of dead band", band),
        Row("and zeros to 0.25 deg", band.but(zero=deg(0.25))),
        Row("and zeros to 0.5 deg", band.but(zero=deg(0.5))),
        Row("hobby arm, zeros to 0.5 deg", HOBBY),
        Row("hobby arm, zeros to 1 deg", HOBBY.but(zero=deg(1.0))),
        Row("hobby arm, zeros to 2 deg", HOBBY.but(zero=deg(2.0))),
        Row("the same, calibrated by touching", HOBBY.but(zero=deg(2.0)), touched=True),
    ]


def plain(task: Task) -> Task:
    """Return the task as an exact arm would be given it: nothing taken up, nothing looked for."""
    as_exact = {"press": 0.3e-3, "search": 0.0, "play": 0.0}
    steps = (replace(s, **as_exact) if isinstance(s, Screw) else s for s in task.steps)
    return replace(task, steps=tuple(steps))


def planned(task: Task) -> TaskPlan:
    """Return the plan from rest."""
    rest = dict.fromkeys(MODEL.joint_names, 0.0)
    plan = plan_task(TaskRequest(task, SCENE, MODEL, CHAIN, ArmConfiguration(rest, 0.0)))
    if not plan.feasible:
        raise SystemExit(plan.message)
    return plan


def after_touching(noise: Noise, seed: int) -> Array:
    """Return how far the zeros (n,) still are off after calibrate_kinematics [rad].

    The arm comes to each point from one side, its play taken up; the roll of the wrist moves no
    tip and keeps its error.
    """
    rng = np.random.default_rng([seed, 1])
    arm = NoisyArm(CHAIN, noise, rng)
    low, high = np.radians([-35.0, -35.0, -30.0, -10.0]), np.radians([35.0, 45.0, 45.0, 10.0])
    half = 0.5 * (noise.dead_band + noise.backlash)
    commanded, tips = rng.uniform(low, high, (TOUCHED, CHAIN.n)), []
    for q in commanded:
        for there in (q - 2.0 * half, q + half, q):
            joints = arm.joints(there)
        tips.append(CHAIN.fk(joints)[:3, 3] + rng.normal(0.0, RULER, 3))
    found = fit(
        MODEL, joint_zeros(MODEL), TouchPoints(MODEL.name, np.zeros(3), commanded, np.array(tips))
    )
    left = np.array(arm.zeros)
    for parameter, value in zip(found.parameters, found.values, strict=True):
        left[parameter.joint] -= value
    return left


def trial(plan: TaskPlan, row: Row, seed: int) -> tuple[MonteCarloTrial, float]:
    """Run one trial; return it and the largest zero of the joints that move the tip [deg]."""
    zeros = after_touching(row.noise, seed) if row.touched else None
    assert TASK.expect is not None
    done = run_trial(plan, TASK.expect, row.noise, seed, zeros)
    return done, math.nan if zeros is None else math.degrees(float(np.abs(zeros[:3]).max()))


def cells(done: Sequence[MonteCarloTrial]) -> tuple[str, str]:
    """Return the share that succeeded, and why the others did not."""
    faults = Counter(t.fault for t in done if t.fault)
    share = 100.0 * (len(done) - faults.total()) / len(done)
    return f"{share:.0f} %", ", ".join(f"{what} ({n})" for what, n in faults.most_common())


def contact_rows() -> list[Row]:
    """Return the lines of the trials in contact physics."""
    new = Noise(dead_band=math.radians(0.45), backlash=math.radians(0.2))
    return [
        Row("new servos, 0.45 deg of dead band", new),
        Row("and zeros to 0.25 deg", new.but(zero=math.radians(0.25))),
        Row("and zeros to 0.5 deg", new.but(zero=math.radians(0.5))),
        Row("hobby arm, zeros to 0.1 deg", HOBBY.but(zero=math.radians(0.1))),
        Row("hobby arm, zeros to 0.5 deg", HOBBY),
    ]


def in_contact(plan: TaskPlan, noise: Noise, seed: int) -> tuple[str, float]:
    """Run one trial in contact physics; return its fault and CPU seconds per simulated second."""
    begin = time.process_time()
    fault, run = contact_trial(plan, noise, seed)
    return fault, (time.process_time() - begin) / run.duration


def run_contact(seeds: Sequence[int], write_to: Path | None) -> None:
    """Run the trials in contact physics, with the task for it."""
    start = ContactArm(MODEL, SCENE).configuration()  # also stores the compiled threads
    plan = plan_task(TaskRequest(load_task("nut_transfer_contact"), SCENE, MODEL, CHAIN, start))
    if not plan.feasible:
        raise SystemExit(plan.message)
    lines, costs = [], []
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("fork")) as pool:
        for row in contact_rows():
            done = list(pool.map(functools.partial(in_contact, plan, row.noise), seeds))
            costs += [cost for _, cost in done]
            faults = Counter(fault for fault, _ in done if fault)
            why = ", ".join(f"{what} ({n})" for what, n in faults.most_common())
            lines.append([row.name, f"{len(done) - faults.total()} of {len(done)}", why])
            print("  ".join(lines[-1]), flush=True)
    text = (
        f"{processor()}, {os.cpu_count()} cores; {np.median(costs):.2f} CPU seconds per simulated "
        f"second (median).\n\n{table(['off by', 'succeeded', 'what went wrong first'], lines)}"
    )
    if write_to:
        write(write_to, "nut_transfer_contact", text)
        print(f"written to {write_to}")


def main() -> None:
    """Run the trials, print, and write where told to."""
    parser = argparse.ArgumentParser(prog="./arm bench nut_transfer", description=__doc__)
    parser.add_argument("--trials", type=at_least_one, default=100, help="a line and task (100)")
    parser.add_argument("--seed", type=int, default=0, help="of the first trial (0)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table into a document")
    parser.add_argument(
        "--world",
        choices=("geometric", "contact"),
        default="geometric",
        help="rules of geometry, or contact physics, where a trial takes minutes (geometric)",
    )
    chosen = parser.parse_args()
    if chosen.world == "contact":
        run_contact(range(chosen.seed, chosen.seed + chosen.trials), chosen.write)
        return
    plans = planned(plain(TASK)), planned(TASK)
    seeds = range(chosen.seed, chosen.seed + chosen.trials)
    lines, begin, left = [], time.monotonic(), 0.0
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for row in rows():
            exact, whole = (
                pool.map(functools.partial(trial, plan, row), seeds, chunksize=4) for plan in plans
            )
            if row.touched:
                left = float(np.sqrt(np.mean([z**2 for _, z in whole])))
            plainly, _ = cells([t for t, _ in exact])
            share, why = cells([t for t, _ in whole])
            lines.append([row.name, plainly, share, why])
            print(f"{row.name:36} {plainly:>6} {share:>6}  {why}", flush=True)
    spent = (time.monotonic() - begin) / (2 * len(lines) * chosen.trials)
    text = "\n".join(
        [
            f"{processor()}, {os.cpu_count()} cores; {chosen.trials} trials per number, "
            f"{spent:.2f} s each. After touching {TOUCHED} points the worst zero of waist, "
            f"shoulder and elbow is {left:.2f} deg (rms).",
            "",
            table(["off by", "as for an exact arm", "as shipped", "what went wrong first"], lines),
        ]
    )
    if chosen.write:
        write(chosen.write, "nut_transfer", text)
        print(f"written to {chosen.write}")


if __name__ == "__main__":
    main()
