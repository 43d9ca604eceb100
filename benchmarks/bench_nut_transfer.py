# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer by arms that are not exact: how often it succeeds, and what goes wrong first.

Every trial is another arm and another scene, drawn from its seed: zeros, play, ticks, jaws, bolts.
The plan is made for arm and scene as they are described. Nothing of ROS runs.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np
from arm_common.errors import InputError
from arm_common.suggestions import did_you_mean
from arm_kinematics.dexterity import jobs as jobs_on_cores
from arm_simulation.arms.trials import (
    HOBBY,
    ONE_TICK,
    Noise,
    TransferJob,
    TransferTrial,
    run_job,
    wilson_interval,
)
from arm_simulation.geometric.held_nut import CONTACT
from arm_studio.pictures.run_picture import draw_run
from arm_tasks.bringup.arguments import WORLDS
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.grasp import GRIP
from arm_tasks.scene.screw_thread import ScrewThread
from ik.tables import add_write, processor, table, write

from arm_common import cli
from arm_description import load_robot

TASKS = "nut_transfer", "nut_over_pin"
PICTURES = 3
RunAll = Callable[[Sequence[TransferJob], str], list[TransferTrial]]
FACTORS = (0.5, 2.0)
PLAY = "play of the arm: dead band and backlash"
# The world's assumptions, and the fields that hold them
ASSUMPTIONS: dict[str, tuple[object, tuple[str, ...]]] = {
    "mouth of the nut": (ScrewThread, ("mouth",)),
    "largest tilt at which the thread catches": (ScrewThread, ("starting_tilt",)),
    "friction of the nut on the bolt's end": (CONTACT, ("friction",)),
    "depth from which a nut is pulled off": (CONTACT, ("pull_depth",)),
    "distances at which the jaws catch the nut": (GRIP, ("pad_half", "pad_side", "centring")),
    "angles at which the jaws catch the nut": (GRIP, ("tilt", "flats")),
    "play of the held nut on a thread": (GRIP, ("held_off_axis", "held_tilt", "give")),
    PLAY: (None, ()),
}


@dataclass(frozen=True)
class Level:
    """A line of the table.

    Attributes:
        name: For --noise.
        text: What is off.
        noise: By how much.
        touched: Whether the arm is calibrated by touching points before.
        task: The task that is run, in the scene of its name.
    """

    name: str
    text: str
    noise: Noise
    touched: bool = False
    task: str = TASKS[0]

    def jobs(self, seeds: Sequence[int], **more: bool) -> list[TransferJob]:
        """Return a job for each seed."""
        task, touched = self.task, self.touched
        return [TransferJob(task, self.noise, s, touched=touched, **more) for s in seeds]


def geometric_levels() -> list[Level]:
    """Return the levels, each with more noise than the one before."""
    deg = math.radians
    ticks = Noise(tick=ONE_TICK)
    band = replace(ticks, dead_band=deg(1.0))
    worst = replace(HOBBY, zero=deg(2.0))
    return [
        Level("nothing", "nothing", Noise()),
        Level("ticks", "1 tick of 0.44 deg", ticks),
        Level("dead_band", "and 1 deg of dead band", band),
        Level("zeros_0.25", "and zeros to 0.25 deg", replace(band, zero=deg(0.25))),
        Level("zeros_0.5", "and zeros to 0.5 deg", replace(band, zero=deg(0.5))),
        Level("hobby", "hobby arm, zeros to 0.5 deg", HOBBY),
        Level("hobby_1", "hobby arm, zeros to 1 deg", replace(HOBBY, zero=deg(1.0))),
        Level("hobby_2", "hobby arm, zeros to 2 deg", worst),
        Level("touched", "the same, calibrated by touching", worst, touched=True),
    ]


def contact_levels() -> list[Level]:
    """Return the levels for contact physics, whose simulated board always has its ticks."""
    deg = math.radians
    new = Noise(dead_band=deg(0.45), backlash=deg(0.2))
    return [
        Level("new", "ticks and 0.45 deg of dead band", new),
        Level("zeros_0.25", "and zeros to 0.25 deg", replace(new, zero=deg(0.25))),
        Level("zeros_0.5", "and zeros to 0.5 deg", replace(new, zero=deg(0.5))),
        Level("zeros_1", "and zeros to 1 deg", replace(new, zero=deg(1.0))),
        Level("hobby", "hobby arm, zeros to 0.5 deg", HOBBY),
        Level("touched", "hobby arm, calibrated by touching", replace(HOBBY, zero=deg(2.0)), True),
    ]


def share(done: Sequence[TransferTrial]) -> str:
    """Return the share that succeeded and its interval."""
    good = sum(not trial.fault for trial in done)
    low, high = (100.0 * bound for bound in wilson_interval(good, len(done)))
    return f"{100.0 * good / len(done):.0f} % ({low:.0f} to {high:.0f})"


def faults(done: Sequence[TransferTrial]) -> str:
    """Return what went wrong first, the commonest before the others."""
    found = Counter(trial.fault for trial in done if trial.fault)
    return ", ".join(f"{what} ({count})" for what, count in found.most_common())


def run_geometric(levels: Sequence[Level], seeds: Sequence[int], run: RunAll) -> str:
    """Run the trials by the rules of geometry; return their table."""
    lines, begin = [], time.monotonic()
    for level in levels:
        exact, whole = (run(level.jobs(seeds, exact=exact), level.text) for exact in (True, False))
        lines.append([level.text, share(exact), share(whole), faults(whole)])
        print(f"{level.text:36} {lines[-1][1]:>20} {lines[-1][2]:>20}  {lines[-1][3]}", flush=True)
    spent = (time.monotonic() - begin) / (2 * len(lines) * len(seeds))
    head = ["off by", "as for an exact arm", "as shipped", "what went wrong first"]
    return (
        f"{processor()}, {os.cpu_count()} cores; {len(seeds)} trials per number, with the "
        f"interval of 95 % confidence (Wilson), {spent:.2f} s each.\n\n{table(head, lines)}"
    )


@dataclass(frozen=True)
class ScaledJob:
    """A job in a world of which one assumption is scaled; the plan does not know."""

    job: TransferJob
    assumption: str
    factor: float


def run_scaled(scaled: ScaledJob) -> TransferTrial:
    """Run a job in its world."""
    _plan(scaled.job.task)
    owner, names = ASSUMPTIONS[scaled.assumption]
    with ExitStack() as patches:
        if isinstance(owner, type):
            for name in names:
                scale = _scaled_property(getattr(owner, name), scaled.factor)
                patches.enter_context(mock.patch.object(owner, name, scale))
        elif owner is not None:
            other = replace(owner, **{n: scaled.factor * getattr(owner, n) for n in names})
            for module, name in _holders(owner):
                patches.enter_context(mock.patch.object(module, name, other))
        return run_job(scaled.job)


@functools.cache
def _plan(task: str) -> None:
    """Make the plan, which the process keeps, with the assumptions as they are."""
    run_job(TransferJob(task, Noise(), 0))


def _scaled_property(original: property, factor: float) -> property:
    return property(lambda self: factor * original.fget(self))


def _holders(rules: object) -> list[tuple[object, str]]:
    """Return the modules that have imported some rules, and their names there."""
    modules = [m for m in sys.modules.values() if m.__name__.startswith("arm_")]
    return [(m, name) for m in modules for name, v in list(vars(m).items()) if v is rules]


def run_sensitivity(level: Level, seeds: Sequence[int], pool: Executor) -> str:
    """Run the trials of a level with each assumption scaled; return their table."""
    lines = []
    for what in ASSUMPTIONS:
        row = [what]
        for factor in FACTORS:
            noise = level.noise
            if what == PLAY:
                band, gears = factor * noise.dead_band, factor * noise.backlash
                noise = replace(noise, dead_band=band, backlash=gears)
            jobs = replace(level, noise=noise).jobs(seeds)
            scaled = [ScaledJob(job, what, factor) for job in jobs]
            done = jobs_on_cores.run_jobs(pool, run_scaled, scaled, f"{what}, {factor:g}")
            row += [share(done), faults(done)]
        lines.append(row)
        print("  ".join(row), flush=True)
    head = ["assumption", "halved", "what went wrong first", "doubled", "what went wrong first"]
    return (
        f"{processor()}, {os.cpu_count()} cores; {level.text}, {len(seeds)} trials per number, "
        f"with the interval of 95 % confidence (Wilson).\n\n{table(head, lines)}"
    )


def run_and_keep(file: Path, job: TransferJob) -> TransferTrial:
    """Run a job and append its result to a file, a line of JSON each."""
    trial = run_job(job)
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(asdict(trial)) + "\n")
    return trial


def run_the_rest(
    pool: Executor, keep: Path, level: Level, jobs: Sequence[TransferJob]
) -> list[TransferTrial]:
    """Run the jobs that have no result in the level's file yet; return all results."""
    file = keep / f"{level.task}_{level.name}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    kept = {trial.seed: trial for trial in (TransferTrial(**json.loads(line)) for line in lines)}
    missing = [job for job in jobs if job.seed not in kept]
    ran = jobs_on_cores.run_jobs(pool, functools.partial(run_and_keep, file), missing, level.text)
    kept |= {trial.seed: trial for trial in ran}
    return [kept[job.seed] for job in jobs]


def run_contact(
    levels: Sequence[Level],
    seeds: Sequence[int],
    pool: Executor,
    pictures: Path | None,
    keep: Path | None,
) -> str:
    """Run the trials in contact physics, return their table."""
    lines, failed, begin = [], [], time.monotonic()
    for level in levels:
        jobs = level.jobs(seeds, contact=True)
        if keep:
            done = run_the_rest(pool, keep, level, jobs)
        else:
            done = jobs_on_cores.run_jobs(pool, run_job, jobs, level.text)
        failed += [(level, trial) for trial in done if trial.fault]
        took = float(np.median([trial.duration for trial in done]))
        lines.append([level.text, share(done), f"{took:.0f} s", faults(done)])
        print(f"{level.text:36} {lines[-1][1]:>20} {lines[-1][2]:>6}  {lines[-1][3]}", flush=True)
    if pictures:
        draw(failed, pictures)
    each = (time.monotonic() - begin) / (len(lines) * len(seeds))
    spent = "" if keep else f", {each:.0f} s each"
    head = ["off by", "succeeded", "simulated time", "what went wrong first"]
    return (
        f"{processor()}, {os.cpu_count()} cores; {len(seeds)} trials per line, with the "
        f"interval of 95 % confidence (Wilson){spent}.\n\n{table(head, lines)}"
    )


def draw(failed: Sequence[tuple[Level, TransferTrial]], folder: Path) -> None:
    """Draw one run of each of the commonest faults, up to the fault."""
    model = load_robot("nut_arm")
    failed = [pair for pair in failed if pair[1].joints]
    common = Counter(trial.fault for _, trial in failed).most_common(PICTURES)
    for number, (fault, _) in enumerate(common, 1):
        level, trial = next(pair for pair in failed if pair[1].fault == fault)
        file = folder / f"failure_{number}.png"
        joints = [np.array(q) for q in trial.joints]
        title = f"{level.text}, seed {trial.seed}: {fault}"
        draw_run(file, model, load_scene(level.task), joints, np.array(trial.nut), title)
        print(f"written to {file}")


def chosen_levels(levels: Sequence[Level], names: str) -> list[Level]:
    """Return the levels with these names, separated by commas, or all."""
    known = [level.name for level in levels]
    for name in filter(None, names.split(",")):
        if name not in known:
            raise InputError(f"there is no noise level {name!r}", remedy=did_you_mean(name, known))
    return [level for level in levels if not names or level.name in names.split(",")]


def bench(chosen: argparse.Namespace) -> None:
    """Run the trials, print, and write where told to."""
    contact, judge = chosen.world == "contact", WORLDS[chosen.world].words
    if chosen.sensitivity and contact:
        raise InputError("--sensitivity is for the geometric world")
    for option, folder in (("pictures", chosen.pictures), ("keep", chosen.keep)):
        if folder:
            if not contact:
                raise InputError(f"--{option} needs --world contact")
            folder.mkdir(parents=True, exist_ok=True)
    levels = chosen_levels(contact_levels() if contact else geometric_levels(), chosen.noise)
    levels = [replace(level, task=chosen.task) for level in levels]
    seeds = range(chosen.seed, chosen.seed + chosen.trials)
    with jobs_on_cores.executor(chosen.workers, chosen.dask) as pool:
        if chosen.sensitivity:
            level = chosen_levels(levels, chosen.noise or "hobby")[0]
            text = run_sensitivity(level, seeds, pool)
        elif contact:
            text = run_contact(levels, seeds, pool, chosen.pictures, chosen.keep)
        else:
            text = run_geometric(
                levels, seeds, functools.partial(jobs_on_cores.run_jobs, pool, run_job)
            )
    text = f"Judge: {judge}. {text}"
    if chosen.sensitivity:
        write(chosen.write, "nut_transfer_sensitivity", text)
    else:
        write(chosen.write, "nut_transfer_contact" if contact else "nut_transfer", text)


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="./arm bench nut_transfer", description=__doc__)
    parser.add_argument(
        "--trials", type=cli.whole_number(1), default=100, help="a line and task (100)"
    )
    parser.add_argument(
        "--seed", type=cli.whole_number(0), default=0, help="of the first trial (0)"
    )
    parser.add_argument("--noise", default="", metavar="LEVELS", help="only these lines (all)")
    parser.add_argument("--task", choices=TASKS, default=TASKS[0], help=f"to run ({TASKS[0]})")
    add_write(parser)
    parser.add_argument(
        "--pictures", type=Path, metavar="FOLDER", help="draw typical failures in contact physics"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep results, run only missing trials"
    )
    parser.add_argument(
        "--world",
        choices=tuple(WORLDS),
        default="geometric",
        help="rules of geometry, or contact physics, where a trial takes minutes (geometric)",
    )
    parser.add_argument(
        "--sensitivity",
        action="store_true",
        help="halve and double each assumption of the geometric world (for the level hobby)",
    )
    jobs_on_cores.add_executor(parser)
    return cli.run(parser, bench, None)


if __name__ == "__main__":
    sys.exit(main())
