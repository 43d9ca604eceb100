# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the marks say is true: where they are, how long they are, and when they are drawn anew."""

import itertools
import math

import numpy as np
import pytest
from arm_common.transforms import Array, pose
from arm_kinematics.chain.robot import Robot
from arm_kinematics.dexterity.measures import measures
from arm_kinematics.markers.frames import METRES_PER_REACH
from arm_kinematics.markers.layers import LAYERS, Cause, MarkerDiff
from arm_kinematics.markers.mark import Kind, Mark
from arm_kinematics.markers.state import (
    MOST_POINTS,
    PIECES,
    IkAttempt,
    MarkerInputs,
    TipTrace,
    axes_of,
)
from arm_kinematics.markers.workspace import find_slice, is_planar, plane_of, radii

from arm_description import load_robot

SHIPPED = ("nut_arm", "planar2", "planar3", "puma560", "spherical_arm", "panda", "ball_arm")


def seen_of(name: str, rng: np.random.Generator, dh: bool = False) -> MarkerInputs:
    robot = Robot(load_robot(name).to_urdf(dh_frames=dh))
    chain = robot.chain("tool0")
    low, high = np.maximum(chain.lower, -2.0), np.minimum(chain.upper, 2.0)
    positions = dict.fromkeys(robot.joint_names, 0.0)
    positions |= dict(zip(chain.joint_names, rng.uniform(low, high).tolist(), strict=True))
    return MarkerInputs(robot, chain, robot.urdf.visuals, robot.urdf.inertials, positions)


@pytest.fixture(params=SHIPPED)
def seen(request, rng) -> MarkerInputs:
    return seen_of(request.param, rng)


def drawn(name: str, seen: MarkerInputs) -> list[Mark]:
    return LAYERS[name].draw(seen)


def in_base(seen: MarkerInputs, mark: Mark, positions: dict[str, float] | None = None) -> Array:
    """Return the points of a mark (k, 3), or its place (1, 3), in the base frame."""
    frame = seen.robot.link_pose(mark.frame, positions or seen.positions) @ mark.pose
    points = mark.points if len(mark.points) else np.zeros((1, 3))
    return np.asarray(points @ frame[:3, :3].T + frame[:3, 3])


def test_every_layer_draws_in_frames_that_tf_knows(seen):
    seen.region = find_slice(seen.chain) if seen.chain.n == 2 else None
    for name in LAYERS:
        for mark in drawn(name, seen):
            assert mark.frame in seen.robot.links, name
            assert np.isfinite(mark.pose).all()
            assert np.isfinite(mark.points).all()
            assert all(0.0 <= value <= 1.0 for value in mark.colour)
            if mark.kind in (Kind.BOX, Kind.SPHERE, Kind.CYLINDER):
                assert min(mark.scale) > 0.0, name
            if mark.kind in (Kind.LINES, Kind.CURVE):
                assert mark.scale[0] > 0.0
                assert len(mark.points) >= 2
            assert len(mark.colours) in (0, len(mark.points))


def test_the_needle_is_on_the_arc_at_the_present_angle(seen, rng):
    axes = list(axes_of(seen.chain))
    assert [axis.name for axis in axes] == list(seen.chain.joint_names)
    for axis in axes:
        q = seen.positions[axis.name]
        parent = seen.robot.link_pose(axis.parent, seen.positions)
        child = seen.robot.link_pose(axis.child, seen.positions)
        moved = np.eye(4)
        if axis.sliding:
            moved[2, 3] = q
        else:
            c, s = math.cos(q), math.sin(q)
            moved[:2, :2] = [[c, -s], [s, c]]
        expected = parent @ axis.in_parent @ moved
        np.testing.assert_allclose(child @ axis.in_child, expected, atol=1e-9)


def test_an_arc_ends_at_the_limits(seen):
    axes = [axis for axis in axes_of(seen.chain) if not axis.sliding]
    arcs = [m for m in drawn("joint_limits", seen) if m.kind is Kind.CURVE and len(m.points) > 2]
    assert len(arcs) == len(axes)
    for axis, arc in zip(axes, arcs, strict=True):
        assert np.array_equal(arc.pose, axis.in_parent)
        ends = [math.atan2(arc.points[i][1], arc.points[i][0]) for i in (0, -1)]
        wanted = [max(axis.lower, -math.pi), min(axis.upper, math.pi)]
        np.testing.assert_allclose(np.cos(ends), np.cos(wanted), atol=1e-9)
        np.testing.assert_allclose(np.sin(ends), np.sin(wanted), atol=1e-9)


def test_only_what_hangs_on_no_link_is_drawn_anew_when_the_arm_moves():
    for name in ("link_frames", "dh_frames", "joint_limits", "reach", "reach_circles"):
        assert Cause.JOINTS not in LAYERS[name].causes


def test_dh_frames_are_those_of_the_table(rng):
    seen = seen_of("puma560", rng, dh=True)
    model = load_robot("puma560")
    q = [seen.positions[name] for name in model.joint_names]
    triads = [m for m in drawn("dh_frames", seen) if m.kind is Kind.LINES]
    frames = model.dh_frames(q)
    assert len(triads) == len(frames)
    for T, mark in zip(frames, triads, strict=True):
        np.testing.assert_allclose(in_base(seen, mark)[0], T[:3, 3], atol=1e-6)
    assert drawn("dh_frames", seen_of("puma560", rng)) == []


def answer_of(seen: MarkerInputs, target: Array, count: int = 1) -> IkAttempt:
    result = seen.chain.ik(target, seen.q, max_solutions=count)
    return IkAttempt(seen.chain, target, None, result)


def test_the_residual_is_drawn_from_target_to_reached_and_written(nut_arm, rng):
    seen = seen_of("nut_arm", rng)
    away = pose(p=[0.9, 0.0, 0.3])
    seen.answer = answer_of(seen, away)
    line = drawn("target", seen)[-2]
    np.testing.assert_allclose(line.points[0], away[:3, 3])
    np.testing.assert_allclose(line.points[1], seen.answer.reached[:3, 3])
    millimetres = 1e3 * float(np.linalg.norm(line.points[1] - line.points[0]))
    assert drawn("target", seen)[-1].text.startswith(f"{millimetres:.3g} mm, ")
    seen.answer = answer_of(seen, seen.chain.fk(seen.q))
    assert drawn("target", seen)[-1].text.startswith("0 mm")


def test_a_ghost_stands_where_the_links_will_be(seen, rng):
    there = {name: 0.5 * q for name, q in seen.positions.items()}
    seen.goal = {name: there[name] for name in seen.chain.joint_names}
    ghosts = drawn("goal", seen)
    expected = [
        (seen.robot.link_pose(solid.link, {**seen.positions, **seen.goal}) @ solid.origin.matrix)
        for solid in seen.visuals
        if seen.robot.moves(solid.link)
    ]
    assert len(ghosts) == len(expected) > 0
    for mark, T in zip(ghosts, expected, strict=True):
        np.testing.assert_allclose(in_base(seen, mark)[0], T[:3, 3], atol=1e-12)
        assert mark.colour[3] < 0.5
    seen.positions = {**seen.positions, **seen.goal}
    assert drawn("goal", seen) == []


def test_each_branch_that_was_asked_for_has_a_ghost(rng):
    seen = seen_of("puma560", rng)
    seen.positions = dict(
        zip(seen.chain.joint_names, [0.3, -0.6, 0.7, 0.2, 0.8, 0.1], strict=True)
    )
    target = seen.chain.fk(seen.q)
    seen.answer = answer_of(seen, target)
    assert drawn("branches", seen) == []
    seen.answer = answer_of(seen, target, count=4)
    one = sum(seen.robot.moves(visual.link) for visual in seen.visuals)
    others = len(seen.answer.result.solutions) - 1
    assert others >= 1
    assert len(drawn("branches", seen)) == others * one


def test_the_ellipsoid_holds_every_tip_velocity_and_its_volume_is_the_measure(seen, rng):
    marks = drawn("manipulability_ellipsoid", seen)
    ball = marks[0]
    rates = rng.normal(size=(200, seen.chain.n))
    rates /= np.linalg.norm(rates, axis=1, keepdims=True)
    J = seen.chain.jacobian(seen.q)
    reached = METRES_PER_REACH * rates @ J[:3].T @ ball.pose[:3, :3] / (0.5 * np.array(ball.scale))
    assert (np.linalg.norm(reached, axis=1) < 1.0 + 1e-9).all()
    assert f"{measures(J)[0]:.3g}" in marks[1].text
    assert np.linalg.det(ball.pose[:3, :3]) == pytest.approx(1.0)


def test_the_centre_of_all_masses_is_the_mean_of_the_links(seen):
    balls = [m for m in drawn("centres_of_mass", seen) if m.kind is Kind.SPHERE]
    heavy = [inertial for inertial in seen.inertials if inertial.mass > 0.0]
    places = np.array([in_base(seen, m)[0] for m in balls[:-1]])
    masses = np.array([body.mass for body in heavy])
    centre = masses @ places / masses.sum()
    np.testing.assert_allclose(in_base(seen, balls[-1])[0], centre, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "planar"), [("planar2", True), ("planar3", True), ("ball_arm", False)]
)
def test_circles_of_reach_bound_the_tips_of_planar_arms(name, planar, rng):
    seen = seen_of(name, rng)
    assert is_planar(seen.chain) is planar
    assert bool(drawn("reach_circles", seen)) is planar
    if not planar:
        return
    plane = plane_of(seen.chain)
    limits = radii(seen.chain)
    least = limits[0] if len(limits) == 2 else 0.0
    for _ in range(200):
        tip = seen.chain.fk(rng.uniform(-math.pi, math.pi, seen.chain.n))[:3, 3]
        x, y, z = (tip - plane[:3, 3]) @ plane[:3, :3]
        assert least - 1e-9 <= math.hypot(x, y) <= limits[-1] + 1e-9
        assert abs(z) < 1e-9


def test_the_region_holds_every_tip_in_its_plane(rng):
    seen = seen_of("planar2", rng)
    seen.region = region = find_slice(seen.chain)
    width, height = region.x[1] - region.x[0], region.y[1] - region.y[0]
    for _ in range(300):
        q = rng.uniform(seen.chain.lower, seen.chain.upper)
        x, y, _ = (seen.chain.fk(q)[:3, 3] - region.T[:3, 3]) @ region.T[:3, :3]
        i, j = round((x - region.x[0]) / width), round((y - region.y[0]) / height)
        assert region.reached[max(j - 1, 0) : j + 2, max(i - 1, 0) : i + 2].any()
    surface, _ = drawn("reach", seen)
    a, b, c = (surface.points[k::3] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    assert area == pytest.approx(region.reached.sum() * width * height)


def follow(seen: MarkerInputs, times: Array) -> None:
    """Turn the first joint, as fast as the time goes."""
    first = seen.chain.joint_names[0]
    for time in times.tolist():
        seen.positions = {**seen.positions, first: 0.1 * time}
        seen.note_tip(time)


def test_the_trace_forgets_what_is_older_than_its_length(rng):
    seen = seen_of("nut_arm", rng)
    seen.trail = TipTrace(5.0)
    follow(seen, np.arange(0.0, 10.0, 0.02))
    assert seen.trail.pieces[0].times[0] >= 9.9 - 5.0 * (1.0 + 1.0 / PIECES)
    lines = drawn("trace", seen)
    assert len(lines) in (PIECES, PIECES + 1)
    assert all(len(line.points) <= MOST_POINTS + 2 for line in lines)
    reds = np.concatenate([line.colours[:, 0] for line in lines])
    assert (np.diff(reds) >= -1e-9).all()  # from old and blue to new and orange
    for one, other in itertools.pairwise(lines):
        np.testing.assert_allclose(one.points[-1], other.points[0])
    tip = seen.chain.fk(seen.q)[:3, 3]
    assert np.linalg.norm(lines[-1].points[-1] - tip) < 1e-3 * seen.size  # the least step
    seen.note_tip(0.0)  # simulated time began anew
    assert drawn("trace", seen) == []


def test_of_a_long_trace_only_the_end_is_new(rng):
    board = MarkerDiff(["trace"])
    seen = board.inputs = seen_of("nut_arm", rng)
    follow(seen, np.arange(0.0, 10.0, 0.1))
    board.note_change(Cause.JOINTS)
    assert len(board.changes()) == 4  # of 20 s in 8 pieces
    follow(seen, np.array([10.02]))
    board.note_change(Cause.JOINTS)
    ((layer, number, _),) = board.changes()
    assert (layer, number) == ("trace", 3)


def test_a_board_draws_only_what_changed_and_tells_what_is_gone(rng):
    board = MarkerDiff(["text", "link_frames"])
    board.inputs = seen_of("nut_arm", rng)
    board.note_change(Cause.ROBOT)
    first = board.changes()
    assert {m.layer for m in first} == {"text", "link_frames"}
    assert not board.due
    assert board.changes() == []
    board.note_change(Cause.ANSWER)
    assert not board.due
    board.note_change(Cause.JOINTS)
    assert board.changes() == []  # for nothing moved
    first_joint, *_ = board.inputs.chain.joint_names
    board.inputs.positions = {**board.inputs.positions, first_joint: 0.123}
    board.note_change(Cause.JOINTS)
    moved = board.changes()
    assert {m.layer for m in moved} == {"text"}
    assert {m.mark.frame for m in moved} == {"waist_link", "tool0"}
    assert [m[:2] for m in board.changes(complete=True)] == [m[:2] for m in first]
    board.switch("text", on=False)
    gone = board.changes()
    assert gone
    assert all(m.layer == "text" and m.mark is None for m in gone)
    assert {m.layer for m in board.changes(complete=True)} == {"link_frames"}


def test_without_joint_states_nothing_that_needs_them_is_drawn(rng):
    seen = seen_of("nut_arm", rng)
    seen.positions = {}
    for name in ("text", "manipulability_ellipsoid", "velocity_ellipsoid", "centres_of_mass"):
        assert drawn(name, seen) == []
    assert drawn("link_frames", seen)
