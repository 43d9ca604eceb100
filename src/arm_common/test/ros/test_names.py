# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tests of arm_common.ros.names."""

import math

import pytest
from arm_common.ros.names import (
    MAX_JOINTS,
    PrefixedNames,
    remember_positions,
)
from arm_common.ros.tf import TransformTree

JOINTS = ("waist", "elbow")


@pytest.mark.parametrize("prefix", ["", "left_", "left/"])
def test_names_survive_the_way_out_and_back(prefix):
    names = PrefixedNames(prefix)
    assert [names.remove(name) for name in names.add_all(JOINTS)] == list(JOINTS)
    assert names.own(names.add_all(JOINTS), (1.0, 2.0)) == {"waist": 1.0, "elbow": 2.0}


def test_joints_of_another_arm_in_the_same_message_are_ignored():
    both = ("left_waist", "right_waist", "waist")
    assert PrefixedNames("left_").own(both, (1.0, 2.0, 3.0)) == {"waist": 1.0}


def test_own_name_wins_over_the_same_name_of_another_arm():
    known = {"tool0", "left_tool0"}
    assert PrefixedNames("left_").find("tool0", known.__contains__) == "left_tool0"
    assert PrefixedNames("left_").find("left_tool0", known.__contains__) == "left_tool0"
    assert PrefixedNames("left_").find("camera", known.__contains__) == "camera"
    assert PrefixedNames().find("tool0", known.__contains__) == "tool0"


def test_tree_has_the_frames_that_were_set():
    tree = TransformTree()
    assert not tree.has("nut")
    tree.set("base_link", "nut", lambda: None)
    assert tree.has("nut")


def test_positions_that_no_joint_has_are_not_stored():
    known = {"waist": 0.1}
    values = [math.nan, 1e308, -math.inf, 0.2]
    remember_positions(known, ["waist", "waist", "elbow", "wrist_roll"], values)
    assert known == {"waist": 0.1, "wrist_roll": 0.2}


def test_joints_that_nobody_publishes_any_more_are_forgotten():
    known = {}
    for i in range(3 * MAX_JOINTS):
        remember_positions(known, ["waist", f"j{i}", "x" * 256], [float(i), 0.0, 0.0])
    assert len(known) == MAX_JOINTS and known["waist"] == 3 * MAX_JOINTS - 1
    assert "j0" not in known and f"j{3 * MAX_JOINTS - 1}" in known


def test_joints_of_the_arm_are_kept_whatever_others_publish():
    known = {"waist": 0.1, "tail": 0.2}
    names = [f"j{i}" for i in range(2 * MAX_JOINTS)]
    remember_positions(known, names, [0.0] * len(names), {"waist"})
    assert known["waist"] == 0.1 and "tail" not in known and len(known) == MAX_JOINTS
