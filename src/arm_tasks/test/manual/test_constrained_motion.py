# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Jogging, following, paths and plans keep to limits that depend on other joints."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from arm_description.trajectories.files import read_trajectory
from arm_description.urdf.reader import read_urdf
from arm_kinematics.paths.cartesian_path import PathOptions, PathStatus
from arm_kinematics.paths.planner import plan_path
from arm_tasks.errors import PlanError
from arm_tasks.manual.follower import Follower, FollowOptions, JointMapping
from arm_tasks.manual.jogger import HORIZON, MAX_DIRECTIONS, PERIOD, JogCommand, Jogger
from arm_tasks.manual.teaching import PathRecorder
from arm_tasks.planning.collision.bodies import neighbours
from arm_tasks.planning.planner import plan_task
from arm_tasks.task.request import ArmConfiguration, load_request
from arm_testing.arms.samples import sampled
from arm_testing.files.robot_files import LINKAGE

from arm_description import DescriptionError, parse_robot
from arm_kinematics import Chain

MODEL = parse_robot(LINKAGE)
CHAIN = Chain.from_model(MODEL)
START = np.radians([0.0, 85.0, -90.0])


def assert_inside(positions):
    assert CHAIN.constraints.violation(positions).max() < 1e-8
    assert (positions > CHAIN.lower - 1e-8).all() and (positions < CHAIN.upper + 1e-8).all()


def fast_follower():
    """Return a follower at START that nothing but the limits slows."""
    mapping = tuple(JointMapping(name) for name in CHAIN.joint_names)
    follower = Follower(CHAIN, mapping, FollowOptions(speed=1.0, align_speed=1.0))
    follower.start(START)
    return follower


@pytest.mark.parametrize("runs", sampled([2, 8], 2))
@pytest.mark.parametrize("mode", ["joint", "base", "tool"])
def test_jogging_stops_inside_whatever_the_command(mode, runs):
    rng, touched = np.random.default_rng(0), set()
    for _ in range(runs):
        jogger = Jogger(CHAIN)
        jogger.start(START)
        direction = tuple(rng.choice([-1.0, 0.0, 1.0], MAX_DIRECTIONS))
        for step in range(160):
            rates = jogger.rates
            command = JogCommand(mode, direction if step < 140 else (0.0,) * 7, 1.0)
            planned = jogger.step(command)
            if planned is None:
                continue
            assert_inside(planned.positions)
            assert_inside(jogger.q)
            change = np.abs(jogger.rates - rates)
            assert (change <= 1.01 * CHAIN.acceleration * PERIOD).all()
            touched.update(jogger.slowed_by)
    assert "elbow" in touched or mode == "tool"


def test_follower_keeps_inside_whatever_the_leader_does():
    follower = fast_follower()
    rng, now, nearest = np.random.default_rng(1), 10.0, -np.inf
    for step in range(500):
        if step % 40 == 0:
            target = rng.uniform(CHAIN.lower - 0.5, CHAIN.upper + 0.5)
        follower.leader.receive(dict(zip(CHAIN.joint_names, target, strict=True)), now, now)
        planned = follower.step(True, now)
        if planned is not None:
            assert_inside(planned.positions)
            nearest = max(nearest, float(CHAIN.constraints.violation(planned.positions).max()))
        now += PERIOD
    assert nearest > -0.02  # it was at a limit
    assert HORIZON > PERIOD


@pytest.mark.parametrize("runs", sampled([2, 6], 2))
@pytest.mark.parametrize("mode", ["joint", "base", "tool"])
def test_jogging_brakes_before_a_limit_within_the_accelerations(mode, runs):
    """The direction changes at full speed, also into a limit along which the arm moves."""
    rng = np.random.default_rng(4)
    for _ in range(runs):
        jogger = Jogger(CHAIN)
        jogger.start(START)
        for step in range(150):
            if step % 12 == 0:
                direction = tuple(rng.choice([-1.0, 0.0, 1.0], MAX_DIRECTIONS))
            before = jogger.rates
            motion = jogger.step(JogCommand(mode, direction, 1.0))
            assert_inside(jogger.q)
            if motion is not None:
                assert_inside(motion.positions)
            change = np.abs(jogger.rates - before)
            assert (change <= CHAIN.acceleration * PERIOD).all(), change / CHAIN.acceleration


def test_follower_brakes_before_a_limit_within_the_accelerations():
    follower = fast_follower()
    rng, now = np.random.default_rng(6), 10.0
    for step in range(500):
        if step % 15 == 0:
            target = rng.uniform(CHAIN.lower - 0.5, CHAIN.upper + 0.5)
        follower.leader.receive(dict(zip(CHAIN.joint_names, target, strict=True)), now, now)
        before = follower.rates
        motion = follower.step(True, now)
        if motion is not None:
            assert_inside(motion.positions)
        change = np.abs(follower.rates - before)
        assert (change <= CHAIN.acceleration * PERIOD).all(), change / CHAIN.acceleration
        now += PERIOD


def test_path_ends_at_the_limit_and_names_it():
    T = CHAIN.fk(START)
    out = T.copy()
    out[0, 3] += 0.15
    path = plan_path(CHAIN, [out], START, PathOptions(mode="position"))
    assert path.status == PathStatus.JOINT_LIMIT
    assert 0.05 < path.fraction < 1.0
    assert "elbow: at shoulder" in path.message and "the linkage allows" in path.message
    assert_inside(path.positions)
    up = T.copy()
    up[2, 3] += 0.02
    complete = plan_path(CHAIN, [up], START, PathOptions(mode="position"))
    assert complete.ok
    assert_inside(complete.positions)


def test_path_that_starts_outside_is_refused():
    outside = np.radians([0.0, 85.0, -60.0])
    path = plan_path(CHAIN, [CHAIN.fk(START)], outside, PathOptions(mode="position"))
    assert path.status == PathStatus.JOINT_LIMIT
    assert "elbow: at shoulder 85 deg the linkage allows -128.2 to -74.05 deg" in path.message


def test_recording_with_rounding_beyond_a_limit_is_a_valid_trajectory():
    recorder = PathRecorder(MODEL)
    limit = MODEL.constraints[0].bounds({"shoulder": START[1]})[1]
    for time, elbow in enumerate((START[2], limit + 2e-4, limit + 1e-4)):
        recorder.add(float(time), np.array([*START[:2], elbow]))
    assert_inside(recorder.trajectory().positions)


def test_trajectory_file_outside_is_one_sentence(tmp_path):
    file = tmp_path / "a.csv"
    rows = np.radians([[0.0, 85.0, -90.0], [0.0, 85.0, -60.0]])
    lines = [",".join(map(str, (time, *row))) for time, row in enumerate(rows)]
    file.write_text("time,waist,shoulder,elbow\n" + "\n".join(lines) + "\n")
    with pytest.raises(DescriptionError, match="at 1 s, elbow: at shoulder 85 deg the linkage"):
        read_trajectory(file, MODEL)


def planned(scene, *steps, start=START):
    text = yaml.safe_dump({"task": "t", "steps": list(steps)})
    empty = replace(scene, bolts={}, objects={}, nut=None, frames={})
    where = ArmConfiguration(dict(zip(CHAIN.joint_names, start.tolist(), strict=True)), 0.0)
    return plan_task(load_request("t", MODEL, CHAIN, where, empty, text))


def test_plan_keeps_inside_and_names_the_limit(scene):
    fine = planned(scene, {"move_joints": {"joints_deg": {"shoulder": 60, "elbow": -100}}})
    assert fine.feasible, fine.message  # collisions too: the hand touches the forearm
    for step in fine.steps:
        assert_inside(step.trajectory.positions)
    refused = planned(scene, {"move_joints": {"joints_deg": {"elbow": -60}}})
    assert not refused.feasible
    assert "elbow: at shoulder 85 deg the linkage allows -128.2 to -74.05 deg" in refused.message


def test_plan_from_outside_is_refused(scene):
    with pytest.raises(PlanError, match=r"outside its limits \(elbow: at shoulder 85 deg"):
        planned(scene, {"wait": 1.0}, start=np.radians([0.0, 85.0, -60.0]))


def test_links_beside_coincident_joints_are_neighbours():
    tree = read_urdf(MODEL.to_urdf())
    assert frozenset(("elbow_link", "level_link")) in neighbours(tree)
    assert frozenset(("shoulder_link", "level_link")) not in neighbours(tree)
