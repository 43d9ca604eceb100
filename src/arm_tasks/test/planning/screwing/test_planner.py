# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The screw primitive: its spiral search, its strokes and its grips."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from arm_common.transforms import frame_along, pose, tilt_z, wrap
from arm_tasks.errors import TaskFileError
from arm_tasks.planning.planner import plan_task
from arm_tasks.planning.screwing.last_grip import grip_score
from arm_tasks.planning.screwing.strokes import Stroke, ratchet
from arm_tasks.planning.screwing.wrist import Spiral
from arm_tasks.planning.world_model import OnBolt
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.grasp import SIXTH
from arm_tasks.scene.screw_thread import ScrewThread
from arm_tasks.task.parser import load_task, task_from_text
from arm_tasks.task.request import ArmConfiguration
from arm_testing.arms.plans import MEASURE
from arm_testing.arms.samples import sampled
from hypothesis import given, settings
from hypothesis import strategies as st


def transfer(*kinds, **keys):
    """Return the shipped task with changed fields in its steps of some kinds."""
    task = load_task("nut_transfer")
    steps = tuple(replace(step, **keys) if step.kind in kinds else step for step in task.steps)
    return replace(task, steps=steps)


def test_nut_is_pulled_off_when_so_little_thread_is_left(plan_of):
    plan = plan_of(transfer("unscrew", pull_off_turns=1.0))
    names = [step.name for step in plan.steps if step.name.startswith("take the nut off")]
    assert "3.4 of 3.4 turns" in names[-2]
    assert names[-1].endswith("retreat")


@pytest.mark.parametrize("left", [1.5, 3.0, 99.0])
def test_nut_is_not_pulled_off_from_more_thread_than_it_leaves(plan_of, left):
    depth = min(left * 1.27, 5.56)
    with pytest.raises(TaskFileError, match=f"leaves {depth:.2f} mm of thread.*at most 1.3"):
        plan_of(transfer("unscrew", pull_off_turns=left))


def test_pressing_tool_does_not_go_back_before_the_first_release(plan_of, chain, scene):
    depths = []
    for keep in (False, True):
        plan = plan_of(transfer("screw_on", keep_pressing=keep))
        first = next(
            step for step in plan.steps if "turn 1 of" in step.name and "onto" in step.message
        )
        T = np.linalg.inv(scene.bolt("lower_bolt").pose) @ chain.fk(first.trajectory.positions[-1])
        depths.append(float(T[2, 3]))
    assert depths[1] > depths[0] + 2e-3


def test_kept_press_is_light_and_slow_until_the_tip_is_found(plan_of, chain, scene):
    """The joints yield by angles: a firm press would drive the nut past the tip."""
    plan = plan_of(transfer("screw_on", keep_pressing=True))
    to_bolt = np.linalg.inv(scene.bolt("lower_bolt").pose)
    half_nut = scene.nut.thickness / 2.0
    parts = {step.name.removeprefix("screw it on: "): step for step in plan.steps}

    def depth(part):
        return (to_bolt @ chain.fk(parts[part].trajectory.positions[-1]))[2, 3] + half_nut

    push = "push the nut against the bolt"
    assert depth(push) == pytest.approx(2.5e-3, abs=1e-5)
    assert depth("search for the tip") == pytest.approx(5e-3, abs=1e-5)
    go = next(step for step in plan.steps if "go to the nut" in step.name)
    assert parts[push].duration > 1.5 * go.duration
    names = [step.name for step in plan.steps]
    assert names[names.index(f"screw it on: {push}") - 1] == "screw it on: compensate play"


def test_last_grip_lets_the_next_thread_catch_early(scene, chain):
    """The more turns are left in that stroke, the firmer the nut sits at its first release."""
    then = next(step for step in load_task("nut_transfer").steps if step.kind == "screw_on")
    nut, q = OnBolt("upper_bolt", 4.378, 0.0), np.zeros(chain.n)
    for start in (-2.1, -1.7, -1.3):
        bolt = replace(scene.bolt("lower_bolt"), start=start)
        moved = replace(scene, bolts={**scene.bolts, "lower_bolt": bolt})
        score = grip_score(chain, moved, nut, then, q)
        best = max(score(0.0, HALF + i * SIXTH) for i in range(6))
        assert score(0.0, 0.0) <= 1e-9 < best  # jaws that open sideways do not lift the arm
        to_go = math.pi - math.radians(30.0) - best
        assert math.radians(14.0) < to_go < math.radians(136.0)


@settings(max_examples=25, deadline=None)
@given(
    radius=st.floats(0.5e-3, 6e-3),
    roll=st.floats(-2.0, 2.0),
    mouth=st.floats(4e-4, 1.1e-3),
    share=st.floats(0.01, 0.99),
)
def test_spiral_stays_within_its_radius_and_has_the_right_velocity(radius, roll, mouth, share):
    start = pose(frame_along(np.array([1.0, 0.3, 0.1])), (0.2, 0.0, 0.1))
    spiral = Spiral(start, radius, roll, mouth, advance := 2e-3)
    from_middle = np.linalg.inv(spiral.start) @ spiral.pose(share)
    assert np.hypot(*from_middle[:2, 3]) <= radius + 1e-12
    assert from_middle[2, 3] == pytest.approx(share * advance, abs=1e-12)
    for end in (0.0, 1.0):
        along = spiral.start[:3, 3] + end * advance * spiral.start[:3, 2]
        assert spiral.pose(end)[:3, 3] == pytest.approx(along, abs=1e-12)
    step = 1e-7
    slope = (spiral.pose(share + step) - spiral.pose(share - step))[:3, 3] / (2 * step)
    corner = min(abs(share * (spiral.rings + 0.25) - at) for at in (0.25, 1.25)) < 1e-3
    assert corner or spiral.velocity(share)[:3] == pytest.approx(slope, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize(
    "thread", [ScrewThread.of(6.35e-3, 1.27e-3), ScrewThread.of(3e-3, 0.5e-3)]
)
def test_spiral_finds_a_tip_anywhere_in_its_disc(thread):
    spiral = Spiral(np.eye(4), 3.2e-3, 0.0, thread.mouth)
    path = np.array([spiral.pose(s)[:2, 3] for s in np.linspace(0.0, 1.0, 2000)])
    for place in product(np.linspace(-3.2e-3, 3.2e-3, 15), repeat=2):
        if math.hypot(*place) <= 3.2e-3:
            assert np.linalg.norm(path - place, axis=1).min() < thread.mouth


def test_tool_is_upright_while_the_thread_starts(scene, chain, nut_plan):
    step = next(s for s in nut_plan.steps if "catches" in s.name)
    to_bolt = np.linalg.inv(scene.bolt("lower_bolt").pose)
    for q in step.trajectory.positions:
        assert tilt_z((to_bolt @ chain.fk(q))[:3, :3]) <= math.radians(3.0) + 1e-6


def test_starting_a_thread_with_a_tilted_tool_is_refused(plan_of, scene):
    """12 mm higher the tool tilts, which is allowed while turning but not at the start."""
    up = scene.bolt("lower_bolt").pose.copy()
    up[2, 3] += 0.012
    moved = scene.with_bolt("lower_bolt", up)
    tolerance = next(s for s in transfer().steps if s.kind == "screw_on").tolerance
    task = transfer("screw_on", tolerance=replace(tolerance, tilt=math.radians(12.0)))
    plan = plan_of(task, scene=moved, refused=True)
    assert "turn until the thread catches" in plan.message
    assert "where 3.43 deg are allowed" in plan.message


@pytest.mark.parametrize("part", ["turn 5 of 9", "search for the tip", "turn back 3"])
def test_arm_can_return_to_rest_from_the_middle_of_a_turn(request_for, chain, nut_plan, part):
    """The jaws enclose the bolt: they retreat along it first, then move to rest."""
    home = request_for(["move_posture: rest"])
    for step in (s for s in nut_plan.steps if part in s.name and s.trajectory):
        q = step.trajectory.at(0.5 * step.duration)
        start = ArmConfiguration.of(chain.joint_names, q, step.start_width)
        plan = plan_task(replace(home, start=start))
        assert plan.feasible, plan.message


HALF = math.pi / 2


def check(strokes, total, span, fit):
    missing = abs(total) - abs(math.fsum(s.turn for s in strokes))
    assert -1e-9 <= missing <= math.radians(1.0) + 1e-9
    for stroke in strokes:
        assert stroke.turn * total > 0.0
        for roll in (stroke.grip, stroke.grip + stroke.turn):
            assert span[0] - 1e-9 <= roll <= span[1] + 1e-9
        if fit is not None:
            assert abs(math.remainder(stroke.grip - fit, SIXTH)) <= math.radians(0.5) + 1e-9
        fit = stroke.grip + stroke.turn


@given(
    total=st.floats(-40.0, 40.0).filter(lambda t: abs(t) > 0.1),
    low=st.floats(-6.0, 0.0),
    width=st.floats(1.2, 12.0),
    fit=st.one_of(st.none(), st.floats(-3.2, 3.2)),
    last=st.floats(0.0, 0.5),
)
def test_strokes_add_up_stay_in_range_and_fit_the_flats(total, low, width, fit, last):
    span = (low, low + width)
    strokes = ratchet(total, span, fit, min_last_turn=last)
    if strokes is not None:
        check(strokes, total, span, fit)
        assert abs(strokes[-1].turn) >= min(last, abs(total)) - 1e-9
    elif abs(total) > last:
        assert width < 4 * SIXTH or last > 0.0


@pytest.mark.parametrize(
    ("total", "span", "fit", "strokes"),
    [
        (-4.5 * 2 * math.pi, (-HALF, HALF), HALF, [Stroke(HALF, -math.pi)] * 9),
        (9.0, (-6.0, 6.0), None, [Stroke(-6.0, 9.0)]),
        (9.0, (-0.02, 0.02), 0.0, None),
        (9.0, (-0.02, 0.02), math.radians(20.0), None),
    ],
)
def test_strokes_use_the_whole_wrist_range(total, span, fit, strokes):
    assert ratchet(total, span, fit) == strokes


@pytest.mark.parametrize("k", range(6))
def test_last_grip_is_chosen_by_its_score(k):
    """The phase between nut and tool fixes where the last stroke ends; half of them fit."""
    total, span = -math.radians(1612.0), (-HALF, HALF)

    def score(turned, grip):
        phase = math.remainder(turned - grip - k * SIXTH - HALF, 2 * math.pi)
        return math.radians(29.0) - abs(phase)

    strokes = ratchet(total, span, HALF, min_last_turn=math.radians(50.0), score=score)
    end = math.remainder(total - k * SIXTH - HALF, 2 * math.pi)
    if not -HALF <= end <= HALF - math.radians(50.0):
        assert strokes is None
        return
    check(strokes, total, span, HALF)
    assert score(math.fsum(s.turn for s in strokes[:-1]), strokes[-1].grip) > 0.0


QUARTER = {"diameter": 6.35e-3, "pitch": 1.27e-3, "hand": 1}


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"pitch": 1e-3}, "6.35 mm x 1 mm"),
        ({"diameter": 3e-3, "pitch": 0.5e-3}, "M3x0.5"),
        ({"diameter": 8e-3}, "M8x1.27"),
        ({"hand": -1}, "1/4-20 LH"),
    ],
)
def test_nut_is_not_planned_onto_a_thread_that_does_not_fit(
    request_for, scene_with, changed, name
):
    request = request_for(transfer(), scene=scene_with("lower_bolt", **QUARTER | changed))
    with pytest.raises(TaskFileError, match=f"the nut, 1/4-20, does not fit lower_bolt, {name}"):
        plan_task(request, collisions=False)


def test_nut_that_fits_neither_bolt_by_its_own_sizes_is_refused(request_for, scene):
    """Its thread is given, as a scene file may, instead of taken from its bolt."""
    nut = replace(scene.nut, thread=ScrewThread.of(6e-3, 1e-3))
    with pytest.raises(TaskFileError, match="the nut, M6x1, does not fit upper_bolt, 1/4-20"):
        plan_task(request_for(transfer(), scene=replace(scene, nut=nut)), collisions=False)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"diameter": 5e-3}, "pin is too thick, 5.00 mm, for the nut's hole of 5.12 mm"),
        ({"length": 10e-3}, "pin is too short, 10.0 mm; the nut needs 11.6 mm"),
        ({"pitch": 1e-3}, "pin has a thread; a bolt without a pitch is a smooth pin"),
    ],
)
def test_nut_does_not_hang_on_any_pin(request_for, changed, what):
    over = load_scene("nut_over_pin")
    bolts = {**over.bolts, "pin": replace(over.bolt("pin"), **changed)}
    with pytest.raises(TaskFileError, match=what):
        plan_task(request_for("nut_over_pin", scene=replace(over, bolts=bolts)), collisions=False)


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (["unscrew: pin"], "pin is a smooth pin; a bolt with a thread has a pitch"),
        (["regrasp: pin"], "the nut is on upper_bolt at this step, not in the jaws"),
        (["unscrew: upper_bolt", "regrasp: pin"], "needs a following screw_on onto a bolt with a"),
        (["unscrew: upper_bolt", "regrasp: {bolt: pin, open_width_mm: 12}"], "does not clear the"),
    ],
)
def test_regrasp_that_makes_no_sense_is_refused(request_for, lines, what):
    text = "\n".join(["task: t", "steps:", *(f"  - {line}" for line in ["open", *lines])])
    request = request_for(task_from_text(text), scene=load_scene("nut_over_pin"))
    with pytest.raises(TaskFileError, match=what):
        plan_task(request, collisions=False)


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        (
            {"grip_width": 11.2e-3},
            "a grip width of 11.2 mm does not hold the nut; its flats are 11.11",
        ),
        (
            {"open_width": 12.8e-3},
            "an open width of 12.8 mm does not clear the nut; its corners are",
        ),
        (
            {"turns": 19.6},
            "19.6 turns and 0.5 extra_turns are too many; lower_bolt has thread for 19",
        ),
    ],
)
def test_widths_and_turns_must_fit_nut_and_bolt(request_for, keys, what):
    with pytest.raises(TaskFileError, match=what):
        plan_task(request_for(transfer("screw_on", **keys)), collisions=False)


@pytest.mark.parametrize(
    ("flats", "what"),
    [(26.5e-3, "the jaws open to 30 mm; the nut's corners are 30.60 mm apart"), (2e-3, "")],
)
def test_nut_must_be_within_the_range_of_the_jaws(request_for, scene, flats, what):
    request = request_for(
        transfer(), scene=replace(scene, nut=replace(scene.nut, across_flats=flats))
    )
    if what:
        with pytest.raises(TaskFileError, match=what):
            plan_task(request, collisions=False)
    narrow = replace(request.model.gripper, min_width=8e-3)
    model = replace(request.model, gripper=narrow)
    request = replace(request, model=model)
    if not what:
        with pytest.raises(TaskFileError, match="the jaws close to 8 mm; the nut's flats are 2"):
            plan_task(request, collisions=False)


@pytest.mark.parametrize("around_deg", sampled((0, 120, 240), 120))
def test_last_grip_lets_the_nut_be_turned_back_around_an_angle(plan_of, chain, around_deg):
    """Three tasks of half a turn each find every start."""
    text = MEASURE.replace("around_deg: 0", f"around_deg: {around_deg}")
    task = task_from_text(text.replace("upper_bolt", "{bolt: upper_bolt, pull_off_turns: 1}"))
    (back,) = (s for s in plan_of(task, collisions=False).steps if s.thread)
    ends = [back.thread.start(chain.fk(back.trajectory.positions[k])) for k in (0, -1)]
    half = abs(wrap(ends[0] - ends[1] - 0.01)) / 2.0
    assert half > math.radians(85.0)
    middle = wrap(ends[0] - half)
    assert abs(wrap(middle - math.radians(around_deg))) < math.radians(31.0)
