# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table of a run and its picture."""

import math

import numpy as np
import pytest
from arm_tasks.commands.run_picture import draw_run
from arm_tasks.planning.plan import StepReport
from arm_tasks.planning.report import plan_rows, rows, table
from arm_tasks.task.parser import load_task


def report(name, seconds=1.0, off=0.0, tilt=0.0, feasible=True):
    text = "fine" if feasible else "out of reach by 12.0 mm"
    return StepReport(0, name, feasible, off, tilt, 0.1, "a", seconds, text)


def test_the_parts_of_a_step_are_put_together():
    lines = rows(
        [
            report("go", 2.0),
            report("take: a", 1.0, off=1e-3),
            report("take: b", 3.0, tilt=math.radians(2)),
            report("go", 1.0),
            report("go", 1.0),
        ],
        seconds=[2.5],
        turns=[0.0, -1.5, -0.5, 0.0],
    )
    assert [(row.name, row.parts, row.seconds) for row in lines] == [
        ("go", 1, 2.5),
        ("take", 2, 4.0),
        ("go", 1, 1.0),
        ("go", 1, 1.0),
    ]
    assert (lines[1].turns, lines[1].position_error) == (-2.0, 1e-3)
    assert lines[1].orientation_error == math.radians(2)


def test_the_table_reads_well():
    text = table(rows([report("go", 2.0), report("take: a", 1.0, off=1e-3)], turns=[0.0, -1.5]))
    assert text.splitlines() == [
        "step  parts   time  turns   off by  tilted by",
        "----  -----  -----  -----  -------  ---------",
        "go        1  2.0 s         0.00 mm    0.0 deg",
        "take      1  1.0 s  -1.50  1.00 mm    0.0 deg",
        "----  -----  -----  -----  -------  ---------",
        "all       2  3.0 s   1.50  1.00 mm    0.0 deg",
    ]


def test_a_refusal_stands_below_the_table():
    text = table(rows([report("go"), report("take: a", 0.0, off=0.012, feasible=False)]))
    assert "turns" not in text
    assert text.splitlines()[-1] == "take: out of reach by 12.0 mm"


def test_nothing_to_report_is_a_table_too():
    assert table([]).splitlines()[-1].split() == [
        "all",
        "0",
        "0.0",
        "s",
        "0.00",
        "mm",
        "0.0",
        "deg",
    ]


def test_a_plan_has_a_line_for_each_step_of_its_task(nut_plan):
    task = load_task("nut_transfer")
    lines = plan_rows(nut_plan)
    assert [row.name for row in lines] == [step.name for step in task.steps]
    assert sum(row.turns for row in lines) == pytest.approx(-4.478 + 4.5, abs=0.02)


@pytest.mark.parametrize("count", [0, 30])
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture_is_written(tmp_path, scene, model, count, suffix):
    joints = list(np.linspace(np.zeros(4), [0.3, 0.1, -0.1, 1.0], count))
    end = None if count == 0 else scene.nut_pose("lower_bolt", 4.0)
    file = draw_run(tmp_path / "new" / f"run.{suffix}", model, scene, joints, end, "A run")
    assert file.stat().st_size > 20_000
    start = file.read_bytes()[:8]
    assert start == b"\x89PNG\r\n\x1a\n" if suffix == "png" else start.startswith(b"<?xml")
