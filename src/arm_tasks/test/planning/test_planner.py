# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Planning: properties of every plan, and refusals with the step and the error."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_common.transforms import pose, shift_z, so3_exp, tilt_z
from arm_tasks.errors import PlanError, TaskFileError
from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.planning.planner import plan_task
from arm_tasks.task.request import ArmConfiguration

from arm_description import load_robot
from arm_kinematics import Chain

REST = {"waist": 0.0, "shoulder": 0.0, "elbow": 0.0, "wrist_roll": 0.0}


@pytest.fixture
def plan(plan_of):
    return lambda steps, **options: plan_of(steps, width=0.02, collisions=True, **options)


def check_plan(plan, chain):
    """Assert that a plan is continuous, within limits and at rest between its steps."""
    q, width = plan.start, plan.request.start.width
    for i, step in enumerate(plan.steps):
        assert step.index == step.report.index == i
        assert np.array_equal(step.start, q)
        assert step.start_width == width
        assert step.duration >= 0.0 and math.isfinite(step.duration)
        if step.trajectory is not None:
            t = step.trajectory
            assert t.joint_names == chain.joint_names
            assert t.times[0] == 0.0 and (np.diff(t.times) > 0.0).all()
            assert np.array_equal(t.positions[0], q)
            assert not t.velocities[0].any() and not t.velocities[-1].any()
            dense = np.array([t.at(x) for x in np.linspace(0.0, t.duration, 200)])
            assert (dense >= chain.lower - 1e-9).all() and (dense <= chain.upper + 1e-9).all()
            assert (np.abs(t.velocities) <= chain.velocity * 1.0001).all()
            assert step.report.limit_margin >= 0.0
        q, width = step.end, step.start_width if step.width is None else step.width


def test_nut_transfer_is_feasible(chain, nut_plan):
    assert nut_plan.feasible and "can be done" in nut_plan.message
    check_plan(nut_plan, chain)
    assert len(nut_plan.reports) == len(nut_plan.steps) > 50
    assert nut_plan.worst_position_error < 1e-5
    assert nut_plan.worst_orientation_error < math.radians(6.0)
    off = sum(s.report.turns for s in nut_plan.steps if s.name.startswith("take"))
    assert off == pytest.approx(-3.378, abs=0.01)  # the last turn is pulled off
    on = sum(s.report.turns for s in nut_plan.steps if s.name.startswith("screw"))
    assert on == pytest.approx(4.5, abs=0.01)
    names = {step.name for step in nut_plan.steps}
    assert "take the nut off: turn 1 of 7, 0.5 of 3.4 turns" in names


def test_planning_is_deterministic(plan_of):
    first, again = (plan_of(["unscrew: {bolt: upper_bolt, turns: 1}"]) for _ in range(2))
    for a, b in zip(first.steps, again.steps, strict=True):
        assert a.name == b.name and np.array_equal(a.end, b.end)


def test_tool_advances_by_the_pitch_while_screwing(scene, chain, nut_plan):
    pressed = ("catches", "screw it on: turn 1 of")  # the thread may not have caught yet
    strokes = [
        s for s in nut_plan.steps if s.report.turns and not any(p in s.name for p in pressed)
    ]
    assert len(strokes) >= 15
    for step in strokes:
        bolt = scene.bolt("upper_bolt" if "off" in step.name else "lower_bolt")
        to_bolt = np.linalg.inv(bolt.pose)
        first = to_bolt @ chain.fk(step.start)
        for t in np.linspace(0.0, step.duration, 40):
            now = to_bolt @ chain.fk(step.trajectory.at(t))
            turned = first[:3, :3].T @ now[:3, :3]
            roll = math.atan2(turned[1, 0] - turned[0, 1], turned[0, 0] + turned[1, 1])
            sign = 1.0 if step.report.turns > 0 else -1.0
            roll = roll if roll * sign > -0.1 else roll + sign * 2 * math.pi
            advance = now[2, 3] - first[2, 3]
            assert advance == pytest.approx(bolt.pitch * roll / (2 * math.pi), abs=2e-5)
            assert math.hypot(now[0, 3], now[1, 3]) < 2e-5
            assert tilt_z(now[:3, :3]) < math.radians(3.0)


def test_planned_steps_reach_their_targets(plan, scene, chain):
    made = plan("""
task: t
steps:
  - move_joints: {joints_deg: {waist: 30}}
  - move_posture: ready
  - move_pose: {frame: upper_bolt, xyz_mm: [0, 0, -20], roll_deg: 45}
  - move_linear: {frame: upper_bolt, roll_deg: 45}
  - turn: {angle_deg: -90, advance_mm: -2}
  - grip: {width_mm: 8}
  - open
  - wait: 0.25
  - move_linear: {frame: tool0, xyz_mm: [0, 0, -15]}
  - move_linear: {frame: tool0, xyz_mm: [0, 0, 10], orientation: axis}
""")
    check_plan(made, chain)
    joints, posture, _, _, _, grip, wide, wait, _, _ = made.steps
    front, at, turn, back = (chain.fk(made.steps[k].end) for k in (2, 3, 4, 8))
    assert joints.end[0] == pytest.approx(math.radians(30))
    assert posture.end == pytest.approx([0, -math.radians(20), math.radians(20), 0])
    bolt = np.linalg.inv(scene.frame("upper_bolt"))
    assert (bolt @ front)[:3, 3] == pytest.approx([0, 0, -0.02], abs=1e-5)
    reached = bolt @ at
    assert reached[:3, 3] == pytest.approx([0, 0, 0], abs=1e-5)
    assert math.atan2(reached[1, 0], reached[0, 0]) == pytest.approx(math.radians(45), abs=1e-3)
    turned = np.linalg.inv(at) @ turn
    assert turned[:3, 3] == pytest.approx([0, 0, -0.002], abs=1e-5)
    assert math.atan2(turned[1, 0], turned[0, 0]) == pytest.approx(-math.pi / 2, abs=1e-3)
    assert (grip.width, wide.width) == (0.008, 0.03)
    assert grip.duration == pytest.approx(2.0 * math.sqrt(0.012 / 0.24))
    assert wait.duration == 0.25 and wait.kind == "wait"
    assert np.linalg.norm((back - turn)[:3, 3]) == pytest.approx(0.015, abs=1e-5)


def test_repetitions_are_expanded_and_numbered(plan):
    made = plan(["repeat: {times: 2, steps: [{wait: 1}, {repeat: {times: 2, steps: [open]}}]}"])
    names = []
    for k in ("(1 of 2)", "(2 of 2)"):
        names += [f"wait {k}", f"open {k} (1 of 2)", f"open {k} (2 of 2)"]
    assert [s.name for s in made.steps] == names
    assert [s.report.number for s in made.steps] == ["1", "1.2", "1.3", "1.4", "1.5", "1.6"]


def test_each_step_is_found_by_its_number(plan):
    made = plan(["open", "set_speed: 0.5", "repeat: {times: 3, steps: [{wait: 1}]}", "wait: 2"])
    assert [made.index_of(s.report.number) for s in made.steps] == [0, 1, 2, 3, 4]
    assert [s.report.number for s in made.steps] == ["1", "3", "3.2", "3.3", "4"]
    assert made.index_of("") == made.index_of("1.1") == 0
    assert made.index_of("2") == 1  # it has no motion of its own
    assert made.message.startswith("all 4 steps of t can be done")


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("5", "there is no step 5 to begin at; the last one is 4"),
        ("3.4", "there is no step 3.4; step 3 has 3 parts"),
        ("2.2", "there is no step 2.2; step 2 has one part"),
        ("0", "there is no step '0'; give the number of a step in the task file, from 1"),
        ("open", "there is no step 'open'; give the number"),
        ("-1", "there is no step '-1'; give the number"),
        ("9" * 9999, "there is no step '99999999999999999999'; give the number"),
        ("\u0663", "there is no step '\u0663'; give the number"),
    ],
)
def test_number_of_no_step_is_refused(plan, number, why):
    made = plan(["open", "set_speed: 0.5", "repeat: {times: 3, steps: [{wait: 1}]}", "wait: 2"])
    with pytest.raises(PlanError) as error:
        made.index_of(number)
    assert str(error.value).startswith(why)


def test_loop_is_a_grid_of_positions(plan, chain):
    move = "move_pose: {xyz_mm: [200 + 10*row, 5*column, 110], orientation: any}"
    made = plan([f"for: {{each: {{row: 2, column: [-1, 1]}}, steps: [{{{move}}}]}}", "open"])
    assert [step.name for step in made.steps] == [
        *(f"move_pose (row {row}, column {column})" for row in (0, 1) for column in (-1, 1)),
        "open",
    ]
    ends = [1e3 * chain.fk(step.end)[:2, 3] for step in made.steps[:4]]
    assert np.allclose(ends, [(200, -5), (200, 5), (210, -5), (210, 5)], atol=0.05)
    assert [s.report.number for s in made.steps] == ["1", "1.2", "1.3", "1.4", "2"]


def test_screw_step_in_a_loop_is_prepared_for_the_next_one(plan):
    """The last grip on the first bolt is chosen for the second."""
    plan(["open", "for: {each: {bolt: [upper_bolt]}, steps: [{unscrew: $bolt}]}", TRANSFER[2]])


def test_motion_to_the_current_position_takes_no_time(plan):
    (step,) = plan(["move_posture: rest"]).steps
    assert (step.kind, step.duration) == ("wait", 0.0) and "already there" in step.message


@pytest.mark.parametrize(
    ("step", "position", "angle", "message"),
    [
        ("move_pose: {xyz: [0.5, 0, 0.08]}", 0.235, None, "mm"),
        ("move_linear: {frame: tool0, xyz_mm: [0, 0, 150]}", 0.026, None, "% of its length"),
        ("move_joints: {joints_deg: {elbow: 100}}", 0, 10, "joint elbow is 10.0 deg beyond"),
        ("turn: {angle_deg: 100}", 0, 10, "wrist_roll at 100 deg (limit 90 deg)"),
        ("move_pose: {xyz: [0.2, 0, 0.15], rpy_deg: [0, 180, 0], tilt_deg: 2}", None, None, "deg"),
    ],
)
def test_infeasible_step_is_refused_with_its_error(plan, step, position, angle, message):
    made = plan(["move_posture: ready", step, "open"], refused=True)
    assert len(made.steps) == 1 and len(made.reports) == 2
    refusal = made.refusal
    assert (refusal.index, refusal.feasible) == (1, False)
    assert message in refusal.message
    assert refusal.name in made.message
    if position:
        assert refusal.position_error == pytest.approx(position, abs=0.005)
    if angle:
        assert refusal.orientation_error == pytest.approx(math.radians(angle), abs=1e-3)


@pytest.mark.parametrize(("bolt", "index"), [("upper_bolt", 2), ("lower_bolt", 30)])
def test_unreachable_bolt_is_refused_with_the_missing_distance(plan_of, scene, bolt, index):
    far = scene.bolt(bolt).pose @ shift_z(0.12)
    made = plan_of(scene=scene.with_bolt(bolt, far), refused=True)
    assert made.refusal.index >= index
    assert made.refusal.name.startswith("take the nut off" if index == 2 else "screw it on")
    # The arm reaches 265 mm from the shoulder.
    place = far @ pose(p=(0, 0, 0.00278 if index == 2 else 0.0))
    missing = np.linalg.norm(place[:3, 3] - [0, 0, 0.08]) - 0.265
    assert made.refusal.position_error == pytest.approx(missing, abs=0.004)
    assert f"{made.refusal.position_error * 1e3:.1f} mm" in made.message


def test_misaligned_bolt_is_refused_with_the_missing_angle(plan_of, scene):
    tilt = so3_exp(np.array([math.radians(30.0), 0.0, 0.0]))
    tilted = scene.bolt("upper_bolt").pose @ pose(tilt)
    made = plan_of(scene=scene.with_bolt("upper_bolt", tilted), refused=True)
    assert "deg" in made.refusal.message
    assert made.refusal.orientation_error > math.radians(3.0)


def test_thread_start_that_suits_no_grip_is_refused(plan_of, scene_with):
    scene = scene_with("lower_bolt", start=math.radians(90.0))
    once = replace(scene, nut=replace(scene.nut, turns=0.25))  # too little for another grip
    made = plan_of(scene=once, refused=True)
    assert "no last grip lets the next thread catch" in made.message


def test_unknown_thread_start_is_a_warning(plan_of, scene_with):
    made = plan_of(scene=scene_with("lower_bolt", start_known=False))
    assert "lower_bolt starts is unknown" in made.warnings[0]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("move_posture: redy", "nut_arm has no posture 'redy'; did you mean 'ready'?"),
        ("move_joints: {joints: {wasit: 1}}", "no joint 'wasit'; did you mean 'waist'?"),
        ("move_pose: {frame: uper_bolt}", "no frame 'uper_bolt' in the scene; did you mean"),
        ("unscrew: uper_bolt", "no bolt 'uper_bolt' in the scene"),
        ("unscrew: lower_bolt", "the nut is on upper_bolt at this step, not on lower_bolt"),
        ("screw_on: {bolt: lower_bolt, turns: 3}", "not in the jaws; unscrew it first"),
        (
            "screw_on: {bolt: lower_bolt, turns: 3, press_mm: -1}",
            "press_mm is -1 but must be at lea",
        ),
        ("grip: {width_mm: 50}", "the width 50.00 mm is not within 0 to 30 mm"),
        ("if: {when: {nut_on: uper_bolt}, then: [open]}", "no bolt 'uper_bolt' in the scene; did"),
    ],
)
def test_invalid_step_is_reported_with_its_line(plan, step, message):
    with pytest.raises(TaskFileError) as error:
        plan(["open", step])
    assert message in str(error.value)
    assert str(error.value).startswith("t.yaml:4: step ")


TRANSFER = ["open", "unscrew: upper_bolt", "screw_on: {bolt: lower_bolt, turns: 4}"]


def expecting(steps, expected):
    return "task: t\nsteps:\n" + "".join(f"  - {s}\n" for s in steps) + f"expect: {expected}\n"


@pytest.mark.parametrize("jaws", ["open: {name: let go, width_mm: 20}", "grip: {width_mm: 11.8}"])
def test_nut_that_the_jaws_drop_is_not_screwed_on(plan, jaws):
    name = "let go" if "name" in jaws else "grip"
    with pytest.raises(TaskFileError) as error:
        plan([*TRANSFER[:2], jaws, TRANSFER[2]])
    why = f"step screw_on: the nut lies on the floor, as {name} (line 5) opened the jaws"
    assert why in str(error.value)


def test_jaws_that_only_squeeze_the_nut_keep_it(plan):
    plan([*TRANSFER[:2], "grip: {width_mm: 10.4}", TRANSFER[2]])


def test_nut_that_was_dropped_is_there_again_once_a_person_has_put_it_back(plan):
    back = "pause_for_person: {say: put it back, nut_back: true}"
    plan([*TRANSFER[:2], "open", back, *TRANSFER[1:]])


def test_jaws_that_hold_the_nut_grip_nothing_else(request_for, scene):
    cell = replace(scene.objects["table"], name="cell", mass=0.02)
    scene = replace(scene, objects={**scene.objects, "cell": cell})
    with pytest.raises(TaskFileError, match="the jaws hold the nut already"):
        plan_task(request_for([*TRANSFER[:2], "grip: cell"], scene=scene), collisions=False)


@pytest.mark.parametrize(
    ("steps", "expected", "message"),
    [
        ([*TRANSFER[:2], "screw_on: {bolt: lower_bolt, turns: 0.2}"],
         "{nut_on: lower_bolt, turns: 3}",
         "turns are engaged on lower_bolt; at least 3 are required"),
        (TRANSFER, "{nut_on: lower_bolt, turns: 5}", "at least 5 are required"),
        (TRANSFER, "{nut_on: upper_bolt}", "the nut is on lower_bolt, not on upper_bolt"),
        (TRANSFER[:2], "{nut_on: lower_bolt}", "the nut is in the jaws, not on lower_bolt"),
        ([*TRANSFER[:2], "open"], "{nut_on: lower_bolt}", "the nut lies on the floor, as open"),
        (TRANSFER, "{nut_on: lowr_bolt}", "no bolt 'lowr_bolt' in the scene; did you mean"),
        (TRANSFER, "{payload: tabel, lies_on: floor}", "no 'tabel' in the scene; did you mean"),
        (["open"], "{payload: table, lies_on: upper_post}", "in the air, not on upper_post"),
    ],
)  # fmt: skip
def test_expectation_that_the_plan_does_not_meet_is_refused(request_for, steps, expected, message):
    with pytest.raises(TaskFileError) as error:
        plan_task(request_for(expecting(steps, expected)), collisions=False)
    assert message in str(error.value)
    assert str(error.value).startswith(f"t.yaml:{len(steps) + 3}: expect: at the end") or (
        "did you mean" in message
    )


@pytest.mark.parametrize("expected", ["{nut_on: lower_bolt, turns: 4}", "{line_within_mm: 3}"])
def test_expectation_that_the_plan_meets_is_accepted(request_for, expected):
    line = "move_linear: {xyz_mm: [0, 0, -1], frame: tool0, orientation: any}"
    steps = [*TRANSFER, line] if "line" in expected else TRANSFER
    assert plan_task(request_for(expecting(steps, expected)), collisions=False).feasible


def test_one_branch_that_meets_the_expectation_is_enough(request_for):
    either = "if: {when: {nut_fallen: true}, then: [open], else: [open]}"
    task = expecting([*TRANSFER, either], "{nut_on: lower_bolt, turns: 3}")
    assert plan_task(request_for(task), collisions=False).feasible


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({}, "the start position is unknown for joint waist, shoulder"),
        ({**REST, "elbow": math.nan}, "the start position of joint elbow is nan"),
        ({**REST, "elbow": 2.0}, "joint elbow starts 0.4292 beyond its limit"),
    ],
)
def test_invalid_start_position_is_rejected(request_for, start, message):
    request = replace(request_for(["open"]), start=ArmConfiguration(start, 0.02))
    with pytest.raises(PlanError, match=message):
        plan_task(request)


def test_start_measured_just_outside_of_the_limits_is_moved_inside(request_for):
    asked = request_for(["open"])
    limit = asked.chain.upper[0]
    start = ArmConfiguration({**REST, "waist": limit + 0.01}, 0.02)
    plan = plan_task(replace(asked, start=start))
    assert plan.feasible and plan.start[0] == limit


def test_start_measured_just_outside_of_what_the_linkage_allows_is_moved_inside(request_for):
    model = load_robot("eezybotarm_mk2")
    chain = Chain.from_model(model)
    q = chain.constraints.inside([0.0, math.radians(90.0), 0.0])
    start = dict(zip(chain.joint_names, np.add(q, (0.0, 0.0, 0.01)), strict=True))
    asked = request_for(["move_posture: rest"], model=model, chain=chain)
    plan = plan_task(replace(asked, start=ArmConfiguration(start, 0.0)))
    assert plan.feasible and np.array_equal(plan.start, q)


def test_missing_robot_data_is_reported(request_for, model):
    with pytest.raises(PlanError, match="width of the jaws at the start is nan"):
        plan_task(request_for(["open"], width=math.nan))
    with pytest.raises(TaskFileError, match="the robot nut_arm has no gripper"):
        plan_task(request_for(["open"], model=replace(model, gripper=None)))
    unlimited = Chain.from_urdf(model.to_urdf())
    with pytest.raises(PlanError, match="joint waist has no acceleration limit"):
        plan_task(request_for(["open"], chain=unlimited))


def test_loosened_nut_stays_on_its_bolt(plan):
    made = plan(["unscrew: {bolt: upper_bolt, turns: 1}", "unscrew: upper_bolt"])
    first = [s for s in made.steps if s.report.number.startswith("1")]
    assert sum(s.report.turns for s in first) == pytest.approx(-1.0)
    assert sum(s.report.turns for s in made.steps) == pytest.approx(-4.478, abs=0.01)


def test_jaws_keep_a_nut_that_all_its_turns_take_off(plan, scene):
    turns = scene.require_nut().turns
    made = plan([f"unscrew: {{bolt: upper_bolt, turns: {turns}, extra_turns: 0}}"])
    assert [step.width for step in made.steps if step.width is not None][-1] < 0.012


def test_trajectory_passes_its_points_and_holds_its_ends():
    rows = np.array([[0.0], [1.0], [0.0]])
    t = PlannedTrajectory(("a",), np.array([0.0, 1.0, 2.0]), rows, np.zeros((3, 1)))
    assert [t.at(x)[0] for x in (-1.0, 0.0, 0.5, 1.0, 2.0, 9.0)] == [0, 0, 0.5, 1, 0, 0]
