# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Feasibility checks: a report of every step, and the smallest changes that make it feasible."""

import json
import math
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from arm_tasks.commands import check
from arm_tasks.errors import shipped
from arm_tasks.planning import feasibility
from arm_tasks.planning.feasibility import (
    FeasibilityReport,
    check_feasibility,
    parts_by_step,
    run_table,
)
from arm_tasks.planning.plan import StepReport
from arm_tasks.planning.planner import plan_task
from arm_tasks.planning.screwing import planner as screw_planner
from arm_tasks.scene.file import scene_from_text
from arm_tasks.task.request import ArmConfiguration

HALF = "unscrew: {name: half a turn, bolt: upper_bolt, turns: 0.5}"


@pytest.fixture
def checked(request_for, scene):
    def make(*steps, scene=scene, task=None):
        return check_feasibility(request_for(task or steps, scene=scene, width=0.02))

    return make


def test_feasible_task_needs_no_remedies(checked):
    found = checked("move_posture: ready", "open")
    assert found.plan.feasible and found.remedies == () and "Fine: all 2 steps" in found.text()
    assert found.message == found.plan.message


def target(x):
    return f"move_pose: {{name: reach out, xyz: [{x:.4f}, 0, 0.1], orientation: any}}"


@pytest.mark.parametrize("beyond", [0.004, 0.036, 0.07])
def test_unreachable_target_is_shifted_as_little_as_possible(checked, beyond):
    """The arm reaches 265 mm from the shoulder, which is 80 mm above the base."""
    edge = math.sqrt(0.265**2 - 0.02**2)
    found = checked(target(edge + beyond))
    (remedy,) = found.remedies
    assert (remedy.kind, remedy.what) == ("move", "the target of reach out")
    assert f"move {remedy.what} by" in found.message and "Help     move" in found.text()
    assert remedy.way[0] == pytest.approx(-beyond, rel=0.15, abs=0.0012)
    assert remedy.way[0] <= -beyond and remedy.way[1:] == (0.0, 0.0)
    assert checked(target(edge + beyond + remedy.way[0])).plan.feasible


def test_smallest_sufficient_tilt_is_suggested(checked):
    def line(tilt):
        return f"move_linear: {{frame: tool0, xyz_mm: [0, 0, 15], tilt_deg: {tilt}}}"

    found = checked("move_posture: ready", line(1))
    (remedy,) = [r for r in found.remedies if r.kind == "tilt"]
    least = round(math.degrees(remedy.tilt))
    assert f"tilt_deg: {least}" in remedy.text
    assert checked("move_posture: ready", line(least)).plan.feasible
    assert not checked("move_posture: ready", line(least - 1)).plan.feasible


def test_bolt_is_shifted_with_everything_placed_on_it(checked, scene):
    far = scene.shifted("upper_bolt", np.array([0.035, 0.0, 0.0]))
    found = checked(HALF, scene=far)
    assert not found.plan.feasible
    remedy = next(r for r in found.remedies if r.kind == "move")
    assert remedy.what == "upper_bolt" and 0.0 < np.linalg.norm(remedy.way) <= 0.02
    assert checked(HALF, scene=far.shifted("upper_bolt", np.array(remedy.way))).plan.feasible


def test_objects_move_with_their_parent_frame(scene):
    moved = scene.shifted("upper_bolt", np.array([0.0, 0.01, 0.0]))
    for name in scene.frames:
        way = moved.frames[name][:3, 3] - scene.frames[name][:3, 3]
        assert way[1] == pytest.approx(0.01 if "upper" in name else 0.0)
    assert np.array_equal(moved.bolts["upper_bolt"].pose, moved.frames["upper_bolt"])
    assert np.array_equal(moved.objects["upper_post"].pose, moved.frames["upper_post"])


def test_joint_limit_violation_is_reported_in_degrees(checked):
    found = checked("move_joints: {joints_deg: {elbow: 100}}")
    assert found.remedies == () and "joint elbow is 10.0 deg beyond its limit" in found.message
    assert found.as_dict()["steps"][0]["reason"] == "JOINT_LIMIT"


def test_json_report_has_margins_speeds_and_clearances(checked):
    pytest.importorskip("mujoco", reason="collision checks need MuJoCo")
    found = checked("move_joints: {name: swing, joints: {waist: 1.0}, speed: 0.5}", target(0.3))
    data = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    swing, reach = data["steps"]
    assert swing["feasible"] and not reach["feasible"] and not data["feasible"]
    assert swing["limit_margin"] == pytest.approx(math.pi / 2 - 1.0, abs=1e-3)
    assert (swing["limit_joint"], reach["reason"]) == ("waist", "UNREACHABLE_POSITION")
    assert swing["speed"] == pytest.approx(0.5, abs=0.01)
    assert swing["clearance"] > 0.0 and len(swing["between"]) == 2
    assert reach["position_error"] > 0.03 and reach["message"] in data["message"]


def test_remedies_are_tried_from_the_start_of_the_step(checked):
    """A step after a motion is refused; its remedy starts from the end of that motion."""
    step = "move_linear: {frame: tool0, xyz_mm: [0, 0, 90], orientation: any}"
    found = checked("move_joints: {joints: {waist: 1.2}}", step)
    remedy = next(r for r in found.remedies if r.kind == "move")
    assert remedy.way[1] < 0.0 and found.plan.refused_at.step.kind == "move_linear"


def test_check_command_sets_the_exit_code(tmp_path, capsys):
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("task: good\nsteps: [{move_posture: ready}]\n")
    bad.write_text(f"task: bad\nsteps:\n  - {target(0.3)}\n")
    assert check.main([str(good)]) == 0
    assert "Fine: the only step of good" in capsys.readouterr().out
    assert check.main([str(bad), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["remedies"]
    for wrong in (["nope"], [str(good), "--start", "nope"], [str(good), "--robot", "nope"]):
        assert check.main(wrong) == 2
        captured = capsys.readouterr()
        assert captured.err.startswith("./arm check: ")
        assert "nope" in captured.err and not captured.out


def test_start_is_zero_without_gripper_and_rest_posture(model):
    start = ArmConfiguration.of_posture(replace(model, gripper=None, postures={}))
    assert set(start.positions.values()) == {0.0} and start.width == 0.0


@pytest.fixture
def attempts(monkeypatch):
    tried = Mock(wraps=feasibility.can_step)
    monkeypatch.setattr(feasibility, "can_step", tried)
    return tried


class TimedTrials:
    """Trials of one duration [s] by a clock of their own; every feasible_one-th is feasible."""

    def __init__(self, duration, feasible_one):
        self.now, self.begun, self.was_feasible = 0.0, [], []
        self._duration, self._feasible_one = duration, feasible_one

    def can_step(self, step, scene, plan, is_over):
        assert not is_over()
        self.begun.append(self.now)
        self.now += self._duration
        assert is_over() == (self.now >= feasibility._TOTAL_TIME - 1.0)  # the planner can see it
        self.was_feasible.append(len(self.begun) % self._feasible_one == 0)
        return self.was_feasible[-1] and not is_over()


@pytest.mark.parametrize("feasible_one", [1, 2, 5, 1000])
@pytest.mark.parametrize("duration", [0.01, 0.3, 0.9, 1.7, 4.0])
def test_no_trial_begins_that_the_time_left_cannot_hold(
    checked, monkeypatch, duration, feasible_one
):
    """Of the time for planning and trials, planning has taken 1 s."""
    plan = checked(target(0.5)).plan
    trials = TimedTrials(duration, feasible_one)
    monkeypatch.setattr(feasibility, "can_step", trials.can_step)
    end = feasibility._TOTAL_TIME - 1.0
    feasibility.remedies(plan, clock=lambda: trials.now, spent=1.0)
    assert trials.begun and all(begin < end for begin in trials.begun)
    tried = list(zip(trials.begun, trials.was_feasible, strict=True))
    first = next((begin for begin, feasible in tried if feasible), math.inf)
    assert all(begin + duration < end for begin, _ in tried if begin > first)


def test_nothing_is_tried_after_long_planning(checked, attempts):
    plan = checked(target(0.3)).plan
    attempts.reset_mock()
    assert feasibility.remedies(plan, spent=feasibility._TOTAL_TIME) == []
    attempts.assert_not_called()


def test_trial_is_given_up_between_parts_of_the_step(request_for, scene, monkeypatch):
    """Every time that planning could end there, it does; the wrists are searched only once."""
    far = scene.shifted("upper_bolt", np.array([0.035, 0.0, 0.0]))
    plan = plan_task(request_for((HALF,), scene=far, width=0.02))
    searched = Mock(wraps=screw_planner.wrists)
    monkeypatch.setattr(screw_planner, "wrists", searched)
    step, asked = plan.refused_at.step, Mock(return_value=False)
    assert feasibility.can_step(step, scene, plan, asked)
    searched.assert_called_once()
    count = asked.call_count
    assert count > 10  # several times in each of sketch, collision checks and all strokes
    for k in (1, count // 2):
        is_over = Mock(side_effect=[*[False] * (k - 1), True])  # asked again, it would fail
        assert not feasibility.can_step(step, scene, plan, is_over)
        assert is_over.call_count == k


def barely_on(scene_with, start_deg):
    """Return a scene whose nut is gripped only once, as it is on by a quarter of a turn."""
    scene = scene_with("lower_bolt", start=math.radians(start_deg))
    return replace(scene, nut=replace(scene.nut, turns=0.25))


def test_no_shift_is_tried_if_no_stroke_fits(checked, scene_with, attempts):
    """Shifting the bolt does not change its thread start; the message says what does."""
    found = checked(task="nut_transfer", scene=barely_on(scene_with, 90.0))
    assert "turn the other bolt about its axis" in found.message
    attempts.assert_not_called()


def test_no_shift_is_tried_if_the_obstacle_moves_with_the_bolt(checked, attempts):
    pytest.importorskip("mujoco", reason="collision checks need MuJoCo")
    wall = "{frame: lower_bolt, xyz: [0.0, 0.02, 0.0], size: [0.03, 0.02, 0.03]}"
    text = f"{shipped('scenes')['nut_transfer'].read_text()}  wall: {wall}\n"
    found = checked(task="nut_transfer", scene=scene_from_text(text))
    assert "collision" in found.message and "wall" in found.message
    attempts.assert_not_called()
    assert found.remedies == ()
    refused = found.as_dict()["steps"][-1]
    assert refused["clearance"] < 0.0 and "wall" in refused["between"]


def test_closing_the_jaws_on_a_bolt_is_refused(checked):
    pytest.importorskip("mujoco", reason="collision checks need MuJoCo")
    inside = "move_linear: {frame: upper_bolt, xyz_mm: [0, 0, 2], roll_deg: 45}"
    front = "move_pose: {frame: upper_bolt, xyz_mm: [0, 0, -20], roll_deg: 45}"
    assert checked(front, inside, "grip: {width_mm: 8}").plan.feasible
    found = checked(front, inside, "grip: {width_mm: 5}")
    assert "deep in upper_bolt" in found.message


def test_tool_retreats_at_the_end_of_the_wrist_range(checked, scene):
    """With the bolt 25 mm farther, the tool tilts as it retreats and needs a little more roll."""
    far = scene.shifted("upper_bolt", np.array([0.025, 0.0, 0.0]))
    assert checked(HALF, scene=far).plan.feasible


def report(name, seconds=1.0, off=0.0, turns=0.0, feasible=True, step=0):
    text = "fine" if feasible else "out of reach by 12.0 mm"
    errors = off, 0.0, 0.1
    return StepReport(0, "1", name, feasible, *errors, "a", seconds, text, turns, name, step)


def test_tilt_of_a_screw_step_is_that_while_the_nut_turns(nut_plan):
    """The approach may be tilted more, which does not matter to the thread."""
    rows = [row.split() for row in run_table(nut_plan.reports).splitlines()]
    shown = next(float(row[-2]) for row in rows if row[:3] == ["screw", "it", "on"])
    parts = [report for report in nut_plan.reports if report.step_name == "screw it on"]
    tilts = {report.name: math.degrees(report.orientation_error) for report in parts}
    turning = max(tilts[report.name] for report in parts if report.turns)
    assert shown == pytest.approx(turning, abs=0.06) and shown < 3.0
    assert max(tilts.values()) > 1.5 * shown
    text = FeasibilityReport(nut_plan).text().splitlines()
    assert f"{turning:.1f} deg" in next(row for row in text if row.startswith("screw it on"))


def test_run_table_has_one_row_per_step_and_prefers_measured_times():
    parts = [report("take", 1.0, 1e-3, -1.5, step=1), report("take", turns=-0.5, step=1)]
    reports = [report("go", 2.0), *parts, report("go", step=3), report("go", step=4)]
    table = run_table(reports, seconds=[2.5])
    assert table.splitlines() == [
        "step  parts   time  turns   off by",
        "----  -----  -----  -----  -------",
        "go        1  2.5 s         0.00 mm",
        "take      2  2.0 s  -2.00  1.00 mm",
        "go        1  1.0 s         0.00 mm",
        "go        1  1.0 s         0.00 mm",
        "----  -----  -----  -----  -------",
        "all       5  6.5 s   2.00  1.00 mm",
    ]


@pytest.mark.parametrize(
    ("reports", "last"),
    [
        ([report("go"), report("take", feasible=False)], "take: out of reach by 12.0 mm"),
        ([], "all 0 0.0 s"),
    ],
)
def test_run_table_ends_with_the_refusal_or_the_total(reports, last):
    assert run_table(reports).splitlines()[-1].split() == last.split()


def test_parts_are_grouped_by_step_of_the_task(checked):
    """The names of steps may contain what separates the name of a step from that of a part."""
    names = ["wait: first", "wait: second", "unscrew: half a turn"]
    waits = [f"wait: {{name: '{name}', seconds: 1}}" for name in names[:2]]
    half = HALF.replace("half a turn", f"'{names[2]}'")
    groups = parts_by_step(checked(*waits, half).plan.reports)
    assert [{part.step_name for part in parts} for parts in groups] == [{name} for name in names]
