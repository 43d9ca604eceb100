# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Collision checks: exact depths, valid bounds, and paths that are proven between their points."""

import math
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from arm_common.transforms import pose, rpy_matrix, shift_z
from arm_description.robot_file.reader import parse_robot
from arm_description.urdf.reader import read_urdf
from arm_kinematics.paths.cartesian_path import PathOptions
from arm_kinematics.paths.planner import follow
from arm_kinematics.paths.shapes import line
from arm_tasks.planning.collision.bodies import CollisionBody, robot_bodies, scene_bodies
from arm_tasks.planning.collision.checker import CollisionChecker, PairDistances
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.scene import GREY, SceneObject
from arm_tasks.scene.scene import box as box_part
from arm_tasks.task.parser import task_from_text
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_testing.arms.samples import ROBOTS

from arm_description import load_robot
from arm_kinematics import Chain

pytest.importorskip("mujoco", reason="collision checks need MuJoCo")

HOME = np.zeros(4)  # the tool is at (160, 0, 185) mm and points along x


def box(name, xyz, size=(0.02, 0.02, 0.02)):
    return SceneObject(name, "boxes", pose(p=xyz), (box_part(size, (0, 0, 0), GREY),))


@pytest.fixture(scope="module")
def empty(scene):
    return replace(scene, bolts={}, objects={}, nut=None, frames={})


@pytest.fixture
def checker_of(model, empty):
    def make(*boxes):
        return CollisionChecker(model, replace(empty, objects={b.name: b for b in boxes}))

    return make


def test_distances_agree_with_those_of_coal():
    """Beyond its tolerance of 1e-6, coal's depths differ: they are not compared."""
    coal = pytest.importorskip("coal", reason="it comes with Pinocchio, which tests use")
    rng = np.random.default_rng(7)
    kinds = {"box": 3, "cylinder": 2, "sphere": 1}
    made = {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere}
    bodies = [
        CollisionBody("a", kind, tuple(rng.uniform(0.01, 0.08, kinds[kind])), np.eye(4))
        for kind in rng.choice(list(kinds), 24)
    ]
    shapes = [made[body.kind](*body.size) for body in bodies]
    matrices = (rpy_matrix(rng.uniform(-0.2, 0.2, 3), rng.uniform(-3, 3, 3)) for _ in bodies)
    poses = np.array(list(matrices))
    frames = [coal.Transform3s(T[:3, :3], T[:3, 3]) for T in poses]
    pairs = list(combinations(range(len(bodies)), 2))
    found = PairDistances(bodies, pairs).distances(poses, math.inf)

    def by_coal(i, j):
        compute = coal.ComputeDistance(shapes[i], shapes[j])
        return compute(frames[i], frames[j], coal.DistanceRequest(), coal.DistanceResult())

    expected = np.array([by_coal(i, j) for i, j in pairs])
    apart = expected > 0.0
    assert 100 < apart.sum() < len(pairs)
    np.testing.assert_allclose(found[apart], expected[apart], atol=3e-6)
    assert (found[~apart] < 0.0).all()


@pytest.mark.parametrize("depth", [-0.004, 0.0025, 0.004])
def test_penetration_depth_is_exact(checker_of, depth):
    """A finger's box ends 3 mm past the tool: its faces and depths are known."""
    wall = box("wall", (0.163 + 0.05 - depth, 0.0, 0.185), (0.1, 0.1, 0.1))
    found = checker_of(wall).at(HOME, 0.02)
    assert found.distance == pytest.approx(-depth, abs=1e-6)
    assert found.second == "wall" and found.first.endswith("finger_link")
    assert found.penetrates == (depth > 0.0)
    if found.penetrates:
        assert f"would be {1e3 * depth:.1f} mm deep in wall" in found.clause


def test_fingers_may_touch_each_other_and_the_scene(checker_of):
    assert checker_of().at(HOME, 0.0).distance > 0.01
    beside = box("beside", (0.16, 0.025, 0.185))  # its face is where the open finger's is
    found = checker_of(beside).at(HOME, 0.02)
    assert found.distance == pytest.approx(0.0, abs=1e-6) and not found.penetrates


def test_pairs_that_always_touch_are_skipped(checker_of):
    checker = checker_of(box("slab", (0.0, 0.0, 0.0), (0.1, 0.1, 0.02)))
    assert ("waist_link", "slab") in checker.always_touching
    assert checker.unchecked == {"slab": ["waist_link"]}
    assert not checker.at(HOME, 0.02).penetrates


def test_plan_says_which_links_an_object_encloses_in_every_posture(request_for, scene):
    room = box("room", (0.0, 0.0, 0.3), (0.9, 0.9, 0.9))
    task = task_from_text("task: t\nsteps: [move_posture: rest]\n")
    enclosed = replace(scene, objects={"room": room})
    (warning,) = plan_task(request_for(task, scene=enclosed)).warnings
    assert "wrist_roll_link with room were not checked: they touch in every" in warning


def test_self_collisions_are_found(empty):
    """A PUMA can fold its hand into its shoulder; links that a joint connects never count."""
    puma = load_robot("puma560")
    checker = CollisionChecker(puma, empty)
    rng = np.random.default_rng(1)
    seen = [checker.at(rng.uniform(puma.lower, puma.upper), 0.0) for _ in range(300)]
    own = {(c.first, c.second) for c in seen if c.penetrates and c.second != "the floor"}
    assert own and own.isdisjoint(checker.always_touching)
    links = [f"{name}_link" for name in puma.joint_names]
    assert own.isdisjoint(pairwise(links))


STANFORD = """\
name: stanford
convention: standard
units: {length: mm, angle: deg}
joints:
  - {name: waist, type: revolute, d: 412, a: 0, alpha: -90, limits: {lower: -170, upper: 170}}
  - {name: shoulder, type: revolute, d: 154, a: 0, alpha: 90, limits: {lower: -170, upper: 170}}
  - {name: slide, type: prismatic, theta: -90, a: 0, alpha: 0, limits: {lower: 160, upper: 900}}
  - {name: roll, type: revolute, d: 0, a: 0, alpha: -90, limits: {lower: -170, upper: 170}}
  - {name: pitch, type: revolute, d: 0, a: 0, alpha: 90, limits: {lower: -110, upper: 110}}
  - {name: hand, type: revolute, d: 263, a: 0, alpha: 0, limits: {lower: -170, upper: 170}}
postures:
  rest: {waist: 0, shoulder: 0, slide: 160, roll: 0, pitch: 0, hand: 0}
"""


@pytest.fixture(scope="module")
def stanford():
    return parse_robot(STANFORD)


def test_slide_as_drawn_is_in_no_collision_with_its_own_arm(stanford, empty):
    """Its bar reaches through the base behind the guide, its wrist withdraws into the guide."""
    low = replace(empty, floor=-5.0)
    start = ArmConfiguration.of_posture(stanford)
    assert CollisionChecker(stanford, low).at(start.array(stanford.joint_names), 0.0).distance > 0
    task = task_from_text("task: t\nsteps: [move_joints: {joints: {slide: 0.5, pitch: 1}}]", "t")
    chain = Chain.from_model(stanford)
    assert plan_task(TaskRequest(task, low, stanford, chain, start)).feasible


def test_slide_still_collides_with_the_scene_and_its_hand_with_the_arm(stanford, empty):
    checker = CollisionChecker(stanford, empty)
    rest = ArmConfiguration.of_posture(stanford).array(stanford.joint_names)
    assert checker.at(rest, 0.0).second == "the floor"  # the bar behind the guide
    rng = np.random.default_rng(1)
    seen = [checker.at(rng.uniform(stanford.lower, stanford.upper), 0.0) for _ in range(300)]
    own = {(c.first, c.second) for c in seen if c.penetrates}
    assert {("waist_link", "hand_link"), ("shoulder_link", "hand_link")} & own


@pytest.mark.parametrize("robot", ROBOTS)
def test_arm_starts_outside_itself(empty, robot):
    model = load_robot(robot)
    posture = model.home_posture[1]
    checker = CollisionChecker(model, replace(empty, floor=-5.0))
    width = model.gripper.max_width if model.gripper else 0.0
    assert not checker.at([posture[name] for name in model.joint_names], width).penetrates


@pytest.mark.parametrize("robot", ["nut_arm", "puma560", "planar2", "spherical_arm"])
def test_levers_bound_the_change_of_every_distance(scene, robot):
    model = load_robot(robot)
    checker = CollisionChecker(model, scene)
    rng = np.random.default_rng(3)
    for _ in range(100):
        a = rng.uniform(model.lower, model.upper)
        b = np.clip(a + rng.normal(0.0, 0.1, len(a)), model.lower, model.upper)
        before, after = (checker.distances(q, 0.02, math.inf) for q in (a, b))
        assert len(before) and np.isfinite(before).all()
        assert (before - after <= checker.levers @ np.abs(b - a) + 1e-7).all()


def test_thin_plate_between_two_path_points_is_found(checker_of):
    """Both ends of the swing are free; the plate is half a millimetre thin."""
    plate = box("plate", (0.12, 0.0, 0.185), (0.2, 0.0005, 0.1))
    checker = checker_of(plate)
    ends = np.array([[-0.8, 0.0, 0.0, 0.0], [0.8, 0.0, 0.0, 0.0]])
    assert not any(checker.at(q, 0.02).penetrates for q in ends)
    way = checker.along(ends, (0.02, 0.02))
    assert way.nearest.penetrates and way.nearest.second == "plate"
    assert way.hit_at == pytest.approx(0.295, abs=0.01)  # the wrist, 6.4 mm thick, at its edge
    free = checker.along(ends[:1], (0.02, 0.02))
    assert free.hit_at is None and free.nearest.distance > 0.0


def test_plate_that_only_opening_jaws_sweep_over_is_found(chain, checker_of):
    """Both widths are free at both ends of the path; the plate is a millimetre thin."""
    ends, tool, found = np.array([HOME, HOME + 0.001]), chain.fk(HOME), []
    for side in np.arange(0.002, 0.03, 0.002):
        plate = box("plate", tuple((tool @ (0.0, side, 0.0, 1.0))[:3]), (0.01, 0.001, 0.01))
        checker = checker_of(plate)
        if all(checker.along(ends, (w, w)).hit_at is None for w in (0.002, 0.03)):
            found.append(checker.along(ends, (0.002, 0.03)))
    hits = [way for way in found if way.hit_at is not None]
    assert hits and all(way.nearest.second == "plate" for way in hits)
    assert len(hits) < len(found)


def test_tool_path_stops_before_a_collision(chain, checker_of):
    checker = checker_of(box("wall", (0.28, 0.0, 0.185), (0.2, 0.2, 0.2)))
    start = chain.fk(HOME)
    path = line(start, start @ shift_z(0.04))
    options = PathOptions(mode="position")

    def collision(q):
        found = checker.at(q, 0.02)
        return found.clause if found.penetrates else None

    result = follow(chain, [path], HOME, options, collision)
    assert result.status.name == "COLLISION"
    assert "finger_link would be" in result.message and "deep in wall" in result.message
    assert result.fraction == pytest.approx(17.0 / 40.0, abs=0.05)


def test_collision_shapes_of_robot_and_scene_are_read(model, scene):
    bodies, unknown = robot_bodies(read_urdf(model.to_urdf()))
    assert not unknown
    assert {b.kind for b in bodies} == {"box", "cylinder"}
    objects = {b.owner: b for b in scene_bodies(scene)}
    assert {"table", "upper_post", "upper_bolt", "lower_bolt", "the floor"} <= set(objects)
    bolt = objects["upper_bolt"]
    assert bolt.size == (0.006350 / 2.0, 0.0254)
    assert np.allclose(bolt.pose, scene.frame("upper_bolt") @ shift_z(0.0127))


def test_meshes_are_reported_as_unsupported():
    xml = """<robot name="r"><link name="base"><collision><geometry>
    <mesh filename="a.stl"/></geometry></collision></link></robot>"""
    assert robot_bodies(read_urdf(xml)) == ([], ["base"])


def test_bounding_balls_enclose_their_body():
    sizes = {"box": (0.1, 0.2, 0.3), "sphere": (0.1,)}
    for body in (CollisionBody("a", kind, size, np.eye(4)) for kind, size in sizes.items()):
        assert max(np.linalg.norm(c) + r for c, r in body.balls) == pytest.approx(body.radius)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("move_joints: {joints_deg: {waist: 80}}", "in post, first after"),
        ("move_pose: {xyz: [0.03, 0.16, 0.185], orientation: any}", "deep in post"),
        ("move_linear: {xyz: [0.1, 0.12, 0.185], orientation: any}", "in post, first after"),
    ],
)
def test_colliding_step_is_refused_with_both_bodies(request_for, empty, step, message):
    post = box("post", (0.10, 0.10, 0.18), (0.03, 0.03, 0.3))
    scene = replace(empty, objects={"post": post})
    plan = plan_task(request_for([step], scene=scene, width=0.02))
    free = plan_task(request_for([step], scene=empty, width=0.02))
    assert free.feasible and not plan.feasible
    assert message in plan.message
    assert "mm deep in post" in plan.message and "_link would be" in plan.message


def test_nut_transfer_is_free_of_collisions(nut_plan):
    near = [r.near for r in nut_plan.reports if r.near is not None]
    assert len(near) > 50
    assert not any(clearance.penetrates for clearance in near)
    bolt = min((c for c in near if "bolt" in c.second), key=lambda c: c.distance)
    assert 1e-3 < bolt.distance < 4e-3  # the jaws on the nut


def test_missing_collision_library_is_a_warning(request_for, monkeypatch, empty):
    monkeypatch.setattr("arm_tasks.planning.planner.has_mujoco", lambda: False)
    plan = plan_task(request_for(["open"], scene=empty, width=0.02))
    assert plan.feasible and "pip install mujoco" in plan.warnings[0]
    assert plan.reports[0].near is None
