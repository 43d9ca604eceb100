# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table of a run and its picture."""

import numpy as np
import pytest
from arm_tasks.commands.run_picture import draw_run
from arm_tasks.planning.feasibility import parts_by_step, run_table, step_name
from arm_tasks.planning.plan import StepReport
from arm_tasks.task.parser import load_task


def report(name, seconds=1.0, off=0.0, turns=0.0, feasible=True):
    text = "fine" if feasible else "out of reach by 12.0 mm"
    return StepReport(0, name, feasible, off, 0.0, 0.1, "a", seconds, text, turns)


def test_parts_of_a_step_share_one_line_with_measured_times_before_estimates():
    parts = [report("go", 2.0), report("take: a", 1.0, 1e-3, -1.5), report("take: b", turns=-0.5)]
    table = run_table([*parts, report("go", 1.0), report("go", 1.0)], seconds=[2.5])
    assert table.splitlines() == [
        "step  parts   time  turns   off by  tilted by",
        "----  -----  -----  -----  -------  ---------",
        "go        1  2.5 s         0.00 mm    0.0 deg",
        "take      2  2.0 s  -2.00  1.00 mm    0.0 deg",
        "go        1  1.0 s         0.00 mm    0.0 deg",
        "go        1  1.0 s         0.00 mm    0.0 deg",
        "----  -----  -----  -----  -------  ---------",
        "all       5  6.5 s   2.00  1.00 mm    0.0 deg",
    ]


def test_a_refusal_is_below_the_table():
    table = run_table([report("go"), report("take: a", 0.0, off=0.012, feasible=False)])
    assert table.splitlines()[-1] == "take: out of reach by 12.0 mm"


def test_a_plan_without_steps_has_a_table():
    words = ["all", "0", "0.0", "s", "0.00", "0.00", "mm", "0.0", "deg"]
    assert run_table([]).splitlines()[-1].split() == words


def test_a_plan_has_a_line_for_each_step_of_its_task(nut_plan):
    names = [step_name(parts) for parts in parts_by_step(nut_plan.reports)]
    assert names == [step.name for step in load_task("nut_transfer").steps]


@pytest.mark.parametrize("count", [0, 30])
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture_is_written(tmp_path, scene, model, count, suffix):
    joints = list(np.linspace(np.zeros(4), [0.3, 0.1, -0.1, 1.0], count))
    end = None if count == 0 else scene.nut_pose("lower_bolt", 4.0)
    file = draw_run(tmp_path / "new" / f"run.{suffix}", model, scene, joints, end, "A run")
    assert file.stat().st_size > 20_000
    start = file.read_bytes()[:8]
    assert start == b"\x89PNG\r\n\x1a\n" if suffix == "png" else start.startswith(b"<?xml")
