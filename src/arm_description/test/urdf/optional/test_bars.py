# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Bars of linkages close at every position of the joints, and are no part of the arm."""

import itertools

import numpy as np
import pytest
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import read_urdf

from arm_description import DescriptionError, load_robot

LINKAGES = ("mearm", "eezybotarm_mk1", "eezybotarm_mk2")


@pytest.fixture(params=LINKAGES)
def model(request):
    return load_robot(request.param)


def corners(model, steps=3):
    axes = [np.linspace(joint.lower, joint.upper, steps) for joint in model.joints]
    return [dict(zip(model.joint_names, q, strict=True)) for q in itertools.product(*axes)]


def test_bars_are_parallel_to_their_links_and_end_at_the_next_joint(model):
    tree = read_urdf(model.to_urdf())
    for q in corners(model):
        poses = link_poses(tree.root, tree.joints, q)
        for bar in model.bars:
            beside = poses[f"{bar.beside}_link"]
            assert poses[f"{bar.name}_link"][:3, :3] == pytest.approx(beside[:3, :3], abs=1e-12)
            rows = [row.name for row in model.rows]
            following = poses[f"{rows[rows.index(bar.beside) + 1]}_link"]
            x, y, _ = bar.at
            end = poses[f"{bar.name}_far_link"] @ [-x, -y, -bar.at[2], 1.0]
            assert end == pytest.approx(following[:, 3], abs=1e-12)


def test_levers_turn_with_their_link(model):
    tree = read_urdf(model.to_urdf())
    turns = []
    for q in corners(model):
        poses = link_poses(tree.root, tree.joints, q)
        turns.append(
            [
                poses[f"{bar.levers}_link"][:3, :3].T @ poses[f"{bar.name}{end}_link"][:3, :3]
                for bar in model.bars
                for end in ("_near", "_far")
            ]
        )
    assert np.ptp(turns, axis=0).max() < 1e-12


def test_bars_do_not_collide_and_only_follow(model):
    tree = read_urdf(model.to_urdf())
    bars = {f"{bar.name}{end}_link" for bar in model.bars for end in ("_near", "", "_far")}
    assert bars <= {shape.link for shape in tree.visuals}
    assert not bars & {shape.link for shape in tree.collisions}
    assert all(joint.mimic for joint in tree.joints if joint.child in bars)


def test_written_bars_are_read_back(model):
    assert parse_robot(robot_yaml(model)).bars == model.bars


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("levers: elbow", "levers: waist_"), "bars.*levers: cannot be 'waist_'"),
        (("beside: elbow, levers: level", "beside: level, levers: elbow"), "cannot be 'level'"),
        (("levers: elbow", "levers: shoulder"), "is the joint beside it"),
        (("beside: elbow, levers: level", "beside: waist, levers: level"), "not parallel"),
        (("name: back_rod", "name: hand_rod"), "'hand_rod' is already used"),
    ],
)
def test_impossible_bars_are_refused_in_one_sentence(change, message):
    text = robot_yaml(load_robot("eezybotarm_mk2"))
    assert change[0] in text
    with pytest.raises(DescriptionError, match=message):
        parse_robot(text.replace(*change))
