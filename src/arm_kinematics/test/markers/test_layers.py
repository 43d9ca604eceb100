# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Marker layers: positions, sizes, and redrawing after changes only."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from arm_common.transforms import Array, pose
from arm_kinematics.chain.robot import Robot
from arm_kinematics.dexterity.conditioning import measures
from arm_kinematics.dexterity.workspace import SliceOutline
from arm_kinematics.markers.arm import METRES_PER_REACH
from arm_kinematics.markers.layers import LAYERS, Cause, MarkerDiff
from arm_kinematics.markers.mark import GREEN, ORANGE, RED, VIOLET, Kind, Mark
from arm_kinematics.markers.state import (
    MAX_POINTS,
    SEGMENTS,
    IkAttempt,
    MarkerInputs,
    TipTrace,
    drawn_joints,
)
from arm_kinematics.markers.workspace import CELLS, find_slice, is_planar, radii, slice_plane

from arm_description import load_robot

SHIPPED = ("nut_arm", "planar2", "planar3", "puma560", "spherical_arm", "panda", "ball_arm")


def make_inputs(name: str, rng: np.random.Generator, dh: bool = False) -> MarkerInputs:
    robot = Robot(load_robot(name).to_urdf(dh_frames=dh))
    chain = robot.chain("tool0")
    low, high = np.maximum(chain.lower, -2.0), np.minimum(chain.upper, 2.0)
    positions = dict.fromkeys(robot.joint_names, 0.0)
    positions |= dict(zip(chain.joint_names, rng.uniform(low, high).tolist(), strict=True))
    return MarkerInputs(robot, chain, robot.urdf.visuals, robot.urdf.inertials, positions)


@pytest.fixture(params=SHIPPED)
def inputs(request, rng) -> MarkerInputs:
    return make_inputs(request.param, rng)


def drawn(name: str, inputs: MarkerInputs) -> list[Mark]:
    return LAYERS[name].draw(inputs)


def in_base(inputs: MarkerInputs, mark: Mark, positions: dict[str, float] | None = None) -> Array:
    """Return the points of a mark (k, 3), or its position (1, 3), in the base frame."""
    frame = inputs.robot.link_pose(mark.frame, positions or inputs.positions) @ mark.pose
    points = mark.points if len(mark.points) else np.zeros((1, 3))
    return np.asarray(points @ frame[:3, :3].T + frame[:3, 3])


def test_layers_draw_in_known_frames(inputs):
    inputs.region = find_slice(inputs.chain) if inputs.chain.n == 2 else None
    for name in LAYERS:
        for mark in drawn(name, inputs):
            assert mark.frame in inputs.robot.links, name
            assert np.isfinite(mark.pose).all()
            assert np.isfinite(mark.points).all()
            assert all(0.0 <= value <= 1.0 for value in mark.colour)
            if mark.kind in (Kind.BOX, Kind.SPHERE, Kind.CYLINDER):
                assert min(mark.scale) > 0.0, name
            if mark.kind in (Kind.LINES, Kind.CURVE):
                assert mark.scale[0] > 0.0
                assert len(mark.points) >= 2
            assert len(mark.colours) in (0, len(mark.points))


@pytest.mark.parametrize("name", ["puma560", "nut_arm", "scara", "ur5"])
def test_no_position_overlaps_another_from_any_side(name, rng):
    for _ in range(5):
        inputs = make_inputs(name, rng, dh=True)
        if rng.random() < 0.4:
            inputs.positions = dict.fromkeys(inputs.positions, 0.0)
        texts = [mark for mark in drawn("text", inputs) if mark.kind is Kind.TEXT]
        assert len(texts) > inputs.chain.n and all(mark.text.isascii() for mark in texts)
        boxes = [
            (in_base(inputs, m)[0], m.scale[2], 0.5 * len(m.text) * m.scale[2]) for m in texts
        ]
        for (p, height, width), (q, _, other) in itertools.combinations(boxes, 2):
            across, up = math.hypot(*(p - q)[:2]), abs(p[2] - q[2])
            assert across >= 0.5 * (width + other) - 1e-9 or up >= 1.19 * height


@pytest.mark.parametrize("layer", ["link_frames", "dh_frames"])
@pytest.mark.parametrize("name", ["puma560", "nut_arm", "scara"])
def test_frames_at_one_place_have_one_label_and_each_turns_its_triangle(layer, name, rng):
    inputs = make_inputs(name, rng, dh=True)
    texts = [mark for mark in drawn(layer, inputs) if mark.kind is Kind.TEXT]
    flags = [mark for mark in drawn(layer, inputs) if mark.kind is Kind.TRIANGLES]
    names = [line for mark in texts for line in mark.text.split("\n")]
    assert sorted(names) == sorted(flag.frame for flag in flags)
    places = np.array([in_base(inputs, mark)[0] for mark in flags if mark.frame in names])
    origins = {m.frame: inputs.robot.link_pose(m.frame, inputs.positions)[:3, 3] for m in texts}
    for one, other in itertools.combinations(origins.values(), 2):
        assert np.linalg.norm(one - other) > 1e-6
    assert len(texts) == len(np.unique(places.round(6), axis=0))


def test_effort_that_stands_for_none_gives_no_percentage(rng):
    inputs = make_inputs("stanford_arm", rng)
    texts = [m for m in drawn("gravity_torques", inputs) if m.kind is Kind.TEXT]
    assert texts and all("%" not in m.text and m.colour == VIOLET for m in texts)


def test_needle_is_at_the_current_joint_position(inputs, rng):
    axes = list(drawn_joints(inputs.chain))
    assert [axis.name for axis in axes] == list(inputs.chain.joint_names)
    for axis in axes:
        q = inputs.positions[axis.name]
        parent = inputs.robot.link_pose(axis.parent, inputs.positions)
        child = inputs.robot.link_pose(axis.child, inputs.positions)
        motion = np.eye(4)
        if axis.sliding:
            motion[2, 3] = q
        else:
            c, s = math.cos(q), math.sin(q)
            motion[:2, :2] = [[c, -s], [s, c]]
        expected = parent @ axis.in_parent @ motion
        np.testing.assert_allclose(child @ axis.in_child, expected, atol=1e-9)


def test_arcs_end_at_the_limits(inputs):
    axes = [axis for axis in drawn_joints(inputs.chain) if not axis.sliding]
    arcs = [m for m in drawn("joint_limits", inputs) if m.kind is Kind.CURVE and len(m.points) > 2]
    assert len(arcs) == len(axes)
    for axis, arc in zip(axes, arcs, strict=True):
        assert np.array_equal(arc.pose, axis.in_parent)
        ends = [math.atan2(arc.points[i][1], arc.points[i][0]) for i in (0, -1)]
        limits = [max(axis.lower, -math.pi), min(axis.upper, math.pi)]
        np.testing.assert_allclose(np.cos(ends), np.cos(limits), atol=1e-9)
        np.testing.assert_allclose(np.sin(ends), np.sin(limits), atol=1e-9)


def test_joints_carry_what_follows_along_their_circles(inputs, rng):
    axes = [axis for axis in inputs.axes if not axis.sliding]
    solid = [m for m in drawn("joint_circles", inputs) if m.colour[3] == 1.0]
    circles = {mark.frame: mark for mark in solid}
    tip = inputs.chain.fk(inputs.q)[:3, 3]
    last = inputs.axes[-1]
    out = np.linalg.norm(
        (inputs.robot.link_pose(last.child, inputs.positions) @ last.in_child)[:3, 3] - tip
    )
    assert len(solid) <= len(axes)
    if not last.sliding and last.parent in circles and out > 0.01 * inputs.size:
        mark = circles[last.parent]
        low, high = max(last.lower, -3.0), min(last.upper, 3.0)
        for q in rng.uniform(low, high, 5):
            inputs.positions = {**inputs.positions, last.name: q}
            end = inputs.chain.fk(inputs.q)[:3, 3]
            gaps = np.linalg.norm(in_base(inputs, mark) - end, axis=1)
            assert gaps.min() < 0.04 * inputs.size  # half a step between points
            centre = (inputs.robot.link_pose(mark.frame, inputs.positions) @ mark.pose)[:3, 3]
            radius = np.linalg.norm(mark.points[0][:2])
            assert np.linalg.norm(end - centre) >= radius - 1e-9


def test_circles_of_two_links_cross_at_the_elbow():
    inputs = make_inputs("planar2", np.random.default_rng(0))
    inputs.positions = dict(zip(inputs.chain.joint_names, (0.4, 0.7), strict=True))
    circles = [m for m in drawn("joint_circles", inputs) if m.colour[3] == 1.0]
    lengths = [np.linalg.norm(mark.points[0][:2]) for mark in circles]
    np.testing.assert_allclose(lengths, [0.3, 0.2], atol=1e-9)


def test_target_goes_when_the_joints_leave_it(rng):
    inputs = make_inputs("nut_arm", rng)
    start, goal = inputs.q, np.clip(inputs.q + 0.3, inputs.chain.lower, inputs.chain.upper)
    inputs.set_attempt(ik_attempt(inputs, inputs.chain.fk(goal)))
    solution = inputs.attempt.result.q
    for share in (0.0, 0.5, 1.0, 1.0):
        q = start + share * (solution - start)
        inputs.positions = {
            **inputs.positions,
            **dict(zip(inputs.chain.joint_names, q.tolist(), strict=True)),
        }
        assert not inputs.drop_left_attempt()
        assert drawn("target", inputs)
    name = inputs.chain.joint_names[0]
    inputs.positions = {**inputs.positions, name: inputs.positions[name] + 0.1}
    assert inputs.drop_left_attempt()
    assert drawn("target", inputs) == []
    assert not inputs.drop_left_attempt()


def test_former_postures_are_kept_while_the_arm_moves_and_fade(rng):
    inputs = make_inputs("nut_arm", rng)
    trail, name = inputs.former, inputs.chain.joint_names[0]
    for i in range(100):
        trail.update(0.1 * i, {**inputs.positions, name: 0.05 * i})
    assert [p[name] for p in trail.postures] == pytest.approx(
        [0.05 * i for i in range(60, 100, 5)]
    )
    marks = drawn("former_postures", inputs)
    opacities = [mark.colour[3] for mark in marks]
    assert opacities == sorted(opacities)
    assert 0.0 < opacities[0] < opacities[-1] < 1.0
    before = list(trail.postures)
    trail.update(100.0, before[-1])  # at rest
    assert list(trail.postures) == before


def test_layers_fixed_to_links_do_not_depend_on_joints():
    for name in ("link_frames", "dh_frames", "joint_limits", "reach", "reach_circles"):
        assert Cause.JOINTS not in LAYERS[name].causes


def test_dh_frames_match_the_table(rng):
    inputs = make_inputs("puma560", rng, dh=True)
    model = load_robot("puma560")
    q = [inputs.positions[name] for name in model.joint_names]
    triads = [m for m in drawn("dh_frames", inputs) if m.kind is Kind.LINES]
    frames = model.dh_frames(q)
    assert len(triads) == len(frames)
    for T, mark in zip(frames, triads, strict=True):
        np.testing.assert_allclose(in_base(inputs, mark)[0], T[:3, 3], atol=1e-6)
    assert drawn("dh_frames", make_inputs("puma560", rng)) == []


def ik_attempt(inputs: MarkerInputs, target: Array, count: int = 1) -> IkAttempt:
    result = inputs.chain.ik(target, inputs.q, max_solutions=count)
    return IkAttempt(inputs.chain, target, None, result)


def test_residual_is_drawn_and_labelled(nut_arm, rng):
    inputs = make_inputs("nut_arm", rng)
    away = pose(p=[0.9, 0.0, 0.3])
    inputs.attempt = ik_attempt(inputs, away)
    line = drawn("target", inputs)[-2]
    np.testing.assert_allclose(line.points[0], away[:3, 3])
    np.testing.assert_allclose(line.points[1], inputs.attempt.reached[:3, 3])
    millimetres = 1e3 * float(np.linalg.norm(line.points[1] - line.points[0]))
    assert drawn("target", inputs)[-1].text.startswith(f"{millimetres:.3g} mm, ")
    inputs.attempt = ik_attempt(inputs, inputs.chain.fk(inputs.q))
    assert drawn("target", inputs)[-1].text.startswith("0 mm")


def test_goal_ghost_is_at_the_goal(inputs, rng):
    names = inputs.chain.joint_names
    inputs.goal = target = {name: 0.5 * inputs.positions[name] for name in names}
    ghosts = drawn("goal", inputs)
    expected = [
        inputs.robot.link_pose(solid.link, {**inputs.positions, **target}) @ solid.origin.matrix
        for solid in inputs.visuals
        if inputs.robot.moves(solid.link)
    ]
    assert len(ghosts) == len(expected) > 0
    for mark, T in zip(ghosts, expected, strict=True):
        np.testing.assert_allclose(in_base(inputs, mark)[0], T[:3, 3], atol=1e-12)
        assert mark.colour[3] < 0.5
    inputs.positions = {**inputs.positions, **inputs.goal}
    assert drawn("goal", inputs) == []


def test_requested_branches_have_ghosts(rng):
    inputs = make_inputs("puma560", rng)
    inputs.positions = dict(
        zip(inputs.chain.joint_names, [0.3, -0.6, 0.7, 0.2, 0.8, 0.1], strict=True)
    )
    target = inputs.chain.fk(inputs.q)
    inputs.attempt = ik_attempt(inputs, target)
    assert drawn("branches", inputs) == []
    inputs.attempt = ik_attempt(inputs, target, count=4)
    one = sum(inputs.robot.moves(visual.link) for visual in inputs.visuals)
    others = len(inputs.attempt.result.solutions) - 1
    assert others >= 1
    assert len(drawn("branches", inputs)) == others * one


def test_ellipsoid_contains_all_tip_velocities_and_shows_manipulability(inputs, rng):
    marks = drawn("manipulability_ellipsoid", inputs)
    ball = marks[0]
    rates = rng.normal(size=(200, inputs.chain.n))
    rates /= np.linalg.norm(rates, axis=1, keepdims=True)
    J = inputs.chain.jacobian(inputs.q)
    reached = METRES_PER_REACH * rates @ J[:3].T @ ball.pose[:3, :3] / (0.5 * np.array(ball.scale))
    assert (np.linalg.norm(reached, axis=1) < 1.0 + 1e-9).all()
    assert f"{measures(J)[0]:.3g}" in marks[1].text
    assert np.linalg.det(ball.pose[:3, :3]) == pytest.approx(1.0)


def test_arrows_of_gravity_torques_turn_with_their_sign_and_share(inputs):
    torques = inputs.chain.gravity_torques(inputs.q)
    marks = drawn("gravity_torques", inputs)
    shown = dict(zip((m.text.split()[0] for m in marks[2::3]), marks[::3], strict=True))
    notable = {
        f"{t:.3g}": i for i, t in enumerate(torques) if abs(t) > 1e-2 * np.abs(torques).max()
    }
    for text, i in notable.items():
        if abs(torques[i]) < 1e-9 or inputs.chain.sliding[i]:
            continue
        x, y, _ = shown[text].points[1]
        assert math.copysign(1.0, math.atan2(y, x)) == math.copysign(1.0, torques[i])
        limit = inputs.chain.effort[i]  # without one, the largest torque is the whole turn
        share = abs(torques[i]) / (limit if np.isfinite(limit) else np.abs(torques).max())
        turned = 5.0 * (len(shown[text].points) - 1)  # [deg], in steps of at most 5
        assert turned - 5.0 <= 300.0 * min(share, 1.0) + 1e-6


def test_colours_of_gravity_torques_say_how_close_the_limit_is(rng):
    inputs = make_inputs("nut_arm", rng)
    inputs.positions = {**inputs.positions, "shoulder": 1.5, "elbow": -1.5}
    torque = np.abs(inputs.chain.gravity_torques(inputs.q)).max()
    colours = []
    for share in (0.3, 0.8, 1.5, 0.0):
        effort = np.full(inputs.chain.n, torque / share if share else np.inf)
        inputs.chain.effort = effort
        largest = max(drawn("gravity_torques", inputs)[::3], key=lambda mark: len(mark.points))
        colours.append(largest.colour)
    assert colours == [GREEN, ORANGE, RED, VIOLET]


def test_total_centre_of_mass_is_the_weighted_mean_of_links(inputs):
    balls = [m for m in drawn("centres_of_mass", inputs) if m.kind is Kind.SPHERE]
    heavy = [inertial for inertial in inputs.inertials if inertial.mass > 0.0]
    places = np.array([in_base(inputs, m)[0] for m in balls[:-1]])
    masses = np.array([body.mass for body in heavy])
    centre = masses @ places / masses.sum()
    np.testing.assert_allclose(in_base(inputs, balls[-1])[0], centre, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "planar"), [("planar2", True), ("planar3", True), ("ball_arm", False)]
)
def test_reach_circles_bound_the_tips_of_planar_arms(name, planar, rng):
    inputs = make_inputs(name, rng)
    assert is_planar(inputs.chain) is planar
    assert bool(drawn("reach_circles", inputs)) is planar
    if not planar:
        return
    plane = slice_plane(inputs.chain)
    limits = radii(inputs.chain)
    least = limits[0] if len(limits) == 2 else 0.0
    for _ in range(200):
        tip = inputs.chain.fk(rng.uniform(-math.pi, math.pi, inputs.chain.n))[:3, 3]
        x, y, z = (tip - plane[:3, 3]) @ plane[:3, :3]
        assert least - 1e-9 <= math.hypot(x, y) <= limits[-1] + 1e-9
        assert abs(z) < 1e-9


def inside(region: SliceOutline, points: Array) -> Array:
    """Whether points (m, 2) are in one of the triangles of an outline."""
    a, b, c = region.surface[:, :, None, :2].swapaxes(0, 1)
    sides = [
        (q - p)[..., 0] * (points - p)[..., 1] - (q - p)[..., 1] * (points - p)[..., 0]
        for p, q in ((a, b), (b, c), (c, a))
    ]
    return (np.array(sides) >= -1e-12).all(axis=0).any(axis=0)


def test_region_contains_every_tip_in_its_plane(rng):
    inputs = make_inputs("planar2", rng)
    inputs.region = region = find_slice(inputs.chain)
    q = rng.uniform(inputs.chain.lower, inputs.chain.upper, (300, 2))
    tips = (inputs.chain.fk(q)[:, :3, 3] - region.T[:3, 3]) @ region.T[:3, :3]
    assert inside(region, tips[:, :2]).all()
    surface, border = drawn("reach", inputs)
    assert len(surface.points) == 3 * len(region.surface)
    # Each end of a line of the border is the end of another line: it is closed.
    _, times = np.unique(border.points, axis=0, return_counts=True)
    assert (times % 2 == 0).all()


def test_outline_of_two_links_has_no_stairs(rng):
    """Its outer part is an arc about the first axis, within a tenth of a cell."""
    region = find_slice(make_inputs("planar2", rng).chain)
    ends = region.border[:, 0, :2]
    r, angles = np.hypot(*ends.T), np.arctan2(*ends.T[::-1])
    outer = r[(r > 0.45) & (np.abs(angles) < 1.0)]
    assert len(outer) > 30
    assert outer.min() > 0.5 and outer.max() < 0.5 + 0.3 / CELLS and np.ptp(outer) < 0.1 / CELLS


def move_first_joint(inputs: MarkerInputs, times: Array) -> None:
    """Turn the first joint at constant speed."""
    first = inputs.chain.joint_names[0]
    for time in times.tolist():
        inputs.positions = {**inputs.positions, first: 0.1 * time}
        inputs.update_trace(time)


def test_trace_drops_points_older_than_its_length(rng):
    inputs = make_inputs("nut_arm", rng)
    inputs.trace = TipTrace(5.0)
    move_first_joint(inputs, np.arange(0.0, 10.0, 0.02))
    assert inputs.trace.segments[0].times[0] >= 9.9 - 5.0 * (1.0 + 1.0 / SEGMENTS)
    lines = drawn("trace", inputs)
    assert len(lines) in (SEGMENTS, SEGMENTS + 1)
    assert all(len(line.points) <= MAX_POINTS + 2 for line in lines)
    reds = np.concatenate([line.colours[:, 0] for line in lines])
    assert (np.diff(reds) >= -1e-9).all()  # from old blue to new orange
    for one, other in itertools.pairwise(lines):
        np.testing.assert_allclose(one.points[-1], other.points[0])
    tip = inputs.chain.fk(inputs.q)[:3, 3]
    assert np.linalg.norm(lines[-1].points[-1] - tip) < 1e-3 * inputs.size  # the smallest step
    inputs.update_trace(0.0)  # simulated time started again
    assert drawn("trace", inputs) == []


def test_only_the_last_trace_segment_changes(rng):
    diff = MarkerDiff(LAYERS, ["trace"])
    inputs = diff.inputs = make_inputs("nut_arm", rng)
    move_first_joint(inputs, np.arange(0.0, 10.0, 0.1))
    diff.note_change(Cause.JOINTS)
    assert len(diff.changes()) == 4  # 20 s are 8 segments
    move_first_joint(inputs, np.array([10.02]))
    diff.note_change(Cause.JOINTS)
    ((layer, number, _),) = diff.changes()
    assert (layer, number) == ("trace", 3)


def test_diff_returns_only_changes_and_removals(rng):
    diff = MarkerDiff(LAYERS, ["text", "link_frames"])
    diff.inputs = make_inputs("nut_arm", rng)
    diff.note_change(Cause.ROBOT)
    first = diff.changes()
    assert {m.layer for m in first} == {"text", "link_frames"}
    assert not diff.due
    assert diff.changes() == []
    diff.note_change(Cause.IK_ATTEMPT)
    assert not diff.due
    diff.note_change(Cause.JOINTS)
    assert diff.changes() == []  # nothing moved
    first_joint, *_ = diff.inputs.chain.joint_names
    diff.inputs.positions = {**diff.inputs.positions, first_joint: 0.123}
    diff.note_change(Cause.JOINTS)
    changed = diff.changes()
    assert {m.layer for m in changed} == {"text"}
    assert {m.mark.frame for m in changed} == {"waist_link", "tool0"}
    assert [m[:2] for m in diff.changes(complete=True)] == [m[:2] for m in first]
    diff.switch("text", on=False)
    removed = diff.changes()
    assert removed
    assert all(m.layer == "text" and m.mark is None for m in removed)
    assert {m.layer for m in diff.changes(complete=True)} == {"link_frames"}


def test_layers_that_need_joint_states_are_empty_without_them(rng):
    inputs = make_inputs("nut_arm", rng)
    inputs.positions = {}
    for name in ("text", "manipulability_ellipsoid", "velocity_ellipsoid", "centres_of_mass"):
        assert drawn(name, inputs) == []
    assert drawn("link_frames", inputs)


def test_readme_describes_every_layer():
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert not [name for name in LAYERS if f"`markers.{name}`" not in text]
