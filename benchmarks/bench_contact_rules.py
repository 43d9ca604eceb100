# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The geometric rules of the nut against contact physics, without an arm: jaws on springs.

Both worlds get the same motions: a nut is pressed on a bolt and turned, released, gripped, pulled.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, pose, so3_exp, turn_z
from arm_kinematics.dexterity import jobs as jobs_on_cores
from arm_tasks.scene.scene import PIN_OVERHANG
from contact.hand import (
    ACROSS,
    OPEN,
    SHUT,
    Motion,
    Setting,
    by_rules,
    in_physics,
    nut_on_thread,
    scene,
    tool,
)
from ik.tables import add_write, processor, table, write

from arm_common import cli

PITCH = 1.27e-3
CENTRE = 2.78e-3  # half the thickness of the nut [m]
PRESS = 2.5e-3  # as nut_transfer presses
ENGAGED = 4e-3  # depth of the tip in a nut that is gripped [m]
ROLLS = tuple(math.radians(90.0 * k) for k in range(4))
NORMAL, WEAK = Setting(), Setting(lateral=250.0, angular=math.degrees(0.03))


@dataclass(frozen=True)
class Case:
    """One attempt: what is varied, by how much, at which roll, with which arm."""

    kind: str
    value: float
    roll: float
    setting: Setting = NORMAL


@dataclass(frozen=True)
class Sweep:
    """A quantity that is varied.

    Attributes:
        kind: Of its cases.
        title: What is varied, and the outcome that is counted.
        unit: Of the table, and units per SI unit.
        values: In SI units.
        rolls: Rolls of each value.
        setting: Of the springs.
    """

    kind: str
    title: str
    unit: tuple[str, float]
    values: Sequence[float]
    rolls: Sequence[float] = ROLLS
    setting: Setting = NORMAL

    def cases(self) -> Iterator[Case]:
        """Yield all attempts."""
        for value in self.values:
            yield from (Case(self.kind, value, roll, self.setting) for roll in self.rolls)


def about(axis: str, angle: float) -> Array:
    """Return a rotation (3, 3) about x or y."""
    return so3_exp(np.array([angle if axis == "x" else 0.0, angle if axis == "y" else 0.0, 0.0]))


def press_on(aside: float, R: Array, roll: float) -> tuple[Array, list[Motion]]:
    """Press a nut in the jaws on the tip, turn it by 1.5 turns, release it; return its start."""

    def at(z: float, turned: float, width: float, seconds: float) -> Motion:
        return Motion(tool(z, roll + turned, R, (aside, 0.0)), width, seconds)

    z = -CENTRE + PRESS
    motions = [at(-0.01, 0.0, SHUT, 0.3), at(z, 0.0, SHUT, 0.3)]
    steps = 18
    for i in range(1, steps + 1):
        turned = 3.0 * math.pi * i / steps
        motions.append(at(z + PITCH * turned / (2.0 * math.pi), turned, SHUT, 1.5 / steps))
    last = motions[-1].T
    motions += [Motion(last, OPEN, 0.3), Motion(last, OPEN, 0.3)]
    return motions[0].T @ turn_z(-ACROSS), motions


def push_over_pin(aside: float) -> tuple[Array, list[Motion]]:
    """Push a nut in the jaws over a pin beside its axis, and release it; return its start."""

    def at(z: float, width: float, seconds: float) -> Motion:
        return Motion(tool(z, 0.0, None, (aside, 0.0)), width, seconds)

    over, before = CENTRE + PIN_OVERHANG, -CENTRE - 0.01
    motions = [at(before, SHUT, 0.3), at(over, SHUT, 0.6), at(over, SHUT, 0.1)]
    motions += [at(over, OPEN, 0.3), at(over, OPEN, 0.3)]
    return motions[0].T @ turn_z(-ACROSS), motions


def grip_and_turn(offset: Array, R: Array, flats: float) -> list[Motion]:
    """Grip an engaged nut with the jaws off by (x, y, z) [m] in the tool, and turn back 60 deg."""
    bolt = scene().bolt("lower_bolt")
    start = bolt.start + 2.0 * math.pi * ENGAGED / PITCH + ACROSS

    def at(turned: float, width: float, seconds: float) -> Motion:
        z = ENGAGED - CENTRE + PITCH * turned / (2.0 * math.pi)
        T = tool(z, start + turned, R)
        return Motion(T @ pose(p=tuple(offset)), width, seconds)

    sixth = math.radians(-60.0)
    return [
        at(flats, OPEN, 0.05),
        at(flats, SHUT, 0.3),
        at(flats, SHUT, 0.1),
        at(flats + 0.5 * sixth, SHUT, 0.25),
        at(flats + sixth, SHUT, 0.25),
    ]


def pull_off(depth: float) -> list[Motion]:
    """Grip a nut on the bolt and pull it straight by 15 mm."""
    bolt = scene().bolt("lower_bolt")
    start = bolt.start + 2.0 * math.pi * depth / PITCH + ACROSS
    there, away = tool(depth - CENTRE, start), tool(depth - CENTRE - 0.015, start)
    return [
        Motion(there, OPEN, 0.05),
        Motion(there, SHUT, 0.3),
        Motion(there, SHUT, 0.1),
        Motion(away, SHUT, 0.6),
        Motion(away, SHUT, 0.2),
    ]


def run_case(case: Case) -> tuple[bool, bool]:
    """Return whether the attempt succeeds in physics and by the rules."""
    by_kind = {"aside": _press, "tilt": _press, "release": _release, "pull": _pull, "pin": _hang}
    return by_kind.get(case.kind, _grip)(case)


def _press(case: Case) -> tuple[bool, bool]:
    tilt, aside = (case.value, 0.0) if case.kind == "tilt" else (0.0, case.value)
    nut, motions = press_on(aside, about("x", tilt), case.roll)
    ends = in_physics(nut, motions, case.setting), by_rules(0.0, motions, free=True)
    return ends[0].on_bolt, ends[1].on_bolt


def _release(case: Case) -> tuple[bool, bool]:
    away = [Motion(tool(-0.1, 0.0), OPEN, 0.8)]
    bolt_turned = turn_z(case.roll)  # gravity meets another side of the thread
    end = in_physics(nut_on_thread(case.value), away, case.setting, bolt_turned)
    return end.on_bolt, case.value > 0.0


def _pull(case: Case) -> tuple[bool, bool]:
    motions, nut = pull_off(case.value), nut_on_thread(case.value)
    physics = in_physics(nut, motions, case.setting, turn_z(case.roll))
    rules = by_rules(case.value / PITCH, motions, free=False)
    return physics.came_off, rules.came_off


def _hang(case: Case) -> tuple[bool, bool]:
    nut, motions = push_over_pin(case.value)
    physics = in_physics(nut, motions, case.setting, turn_z(case.roll), pin=True)
    return physics.on_bolt, by_rules(0.0, motions, free=True, pin=True).on_bolt


def _grip(case: Case) -> tuple[bool, bool]:
    along = "xyz".find(case.kind)
    offset = np.eye(3)[along] * case.value if along >= 0 else np.zeros(3)
    R = about(case.kind[-1], case.value) if case.kind.startswith("lean") else np.eye(3)
    motions = grip_and_turn(offset, R, case.value if case.kind == "flats" else 0.0)
    physics = in_physics(nut_on_thread(ENGAGED), motions, case.setting, turn_z(case.roll))
    rules = by_rules(ENGAGED / PITCH, motions, free=False)
    return physics.unscrewed, rules.unscrewed


def sweeps() -> list[Sweep]:
    """Return all sweeps."""
    mm, deg = ("mm", 1e3), ("deg", 180.0 / math.pi)

    def lengths(first: float, last: float, step: float) -> list[float]:
        return [v * 1e-3 for v in np.arange(first, last + step / 2.0, step).tolist()]

    def angles(last: int, step: int) -> list[float]:
        return np.radians(range(0, last + 1, step)).tolist()

    two, one = ROLLS[:2], ROLLS[:1]
    return [
        Sweep(
            "release", "released with the tip this deep in it: stays", mm, lengths(0.8, 1.8, 0.1)
        ),
        Sweep(
            "pull", "pulled off straight from this depth: comes off", mm, lengths(1, 3, 0.5), two
        ),
        Sweep("tilt", "pressed on the tip tilted: catches", deg, angles(14, 2), two),
        Sweep("x", "jaws off along the pads' width: turn it", mm, lengths(0, 7, 1), one),
        Sweep("y", "jaws off along the opening: turn it", mm, lengths(0, 5, 1), one),
        Sweep("y", "the same, 0.25 N/mm", mm, lengths(0, 5, 1), one, WEAK),
        Sweep("z", "jaws off along the bolt: turn it", mm, lengths(2, 10, 2), one),
        Sweep("lean_x", "jaws inclined to the flats: turn it", deg, angles(30, 6), one),
        Sweep("lean_y", "jaws leaning along the flats: turn it", deg, angles(30, 6), one),
        Sweep("flats", "flats turned against the jaws: turn it", deg, angles(30, 6), one),
        Sweep("aside", "pressed on the tip beside its axis: catches", mm, lengths(0, 2.5, 0.25)),
        Sweep("pin", "pushed over a pin beside its axis: hangs", mm, lengths(0, 3, 0.5)),
        Sweep("pin", "the same, 0.25 N/mm", mm, lengths(0, 3, 0.5), ROLLS, WEAK),
    ]


def ranges(sweep: Sweep, counts: Sequence[int]) -> str:
    """Return counts in words, equal neighbours together: "0 to 1: all, 1.25: 2 of 4"."""
    values = [f"{value * sweep.unit[1]:.3g}" for value in sweep.values]
    whole, parts = len(sweep.rolls), []
    for count, group in itertools.groupby(zip(values, counts, strict=True), lambda pair: pair[1]):
        ends = [value for value, _ in group]
        words = {0: "none", whole: "all"}.get(count, f"{count} of {whole}")
        span = ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[-1]}"
        parts.append(f"{span}: {words}")
    return ", ".join(parts)


def line(sweep: Sweep, found: Sequence[tuple[bool, bool]]) -> list[str]:
    """Return the line of the table for the results of a sweep's cases, in their order."""
    n = len(sweep.rolls)
    by_value = [found[i : i + n] for i in range(0, len(found), n)]
    physics, rules = (
        ranges(sweep, [sum(pair[world] for pair in pairs) for pairs in by_value])
        for world in (0, 1)
    )
    return [f"{sweep.title} [{sweep.unit[0]}]", physics, rules]


def bench(arguments: argparse.Namespace) -> None:
    """Run the sweeps, print, and write where told to."""
    chosen = [sweep for sweep in sweeps() if not arguments.only or sweep.kind in arguments.only]
    rows, count = [], 0
    with jobs_on_cores.executor(arguments.workers) as pool:
        for sweep in chosen:
            cases = list(sweep.cases())
            count += len(cases)
            rows.append(line(sweep, jobs_on_cores.run_jobs(pool, run_case, cases, sweep.title)))
            print(" | ".join(rows[-1]), flush=True)
    head = ["a nut, or the jaws", "contact physics", "rules"]
    text = f"{processor()}, {os.cpu_count()} cores; {count} attempts.\n\n{table(head, rows)}"
    write(arguments.write, "contact_rules", text)


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="./arm bench contact_rules", description=__doc__)
    kinds = sorted({sweep.kind for sweep in sweeps()})
    parser.add_argument("--only", nargs="+", choices=kinds, default=[], help="only these sweeps")
    add_write(parser)
    parser.add_argument("--workers", type=cli.whole_number(1), default=0, help="processes (cores)")
    return cli.run(parser, bench, None)


if __name__ == "__main__":
    sys.exit(main())
