# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes find what a package in a folder of its own adds."""

import os
from pathlib import Path

import pytest
from arm_testing.programs.processes import end
from arm_testing.ros.kinematics import World, joint_state, start
from arm_testing.ros.markers import MarkerWatcher

from arm_description import load_robot

pytestmark = pytest.mark.system
FOLDER = Path(__file__).parents[1] / "outsider"


def test_kinematics_publishes_the_marker_layer():
    model, world = load_robot("nut_arm"), World()
    path = f"{FOLDER}:{os.environ.get('PYTHONPATH', '')}"
    node = start("--ros-args", "-p", "markers.shadow:=true", PYTHONPATH=path)
    watcher = MarkerWatcher(world.node, "kinematics_markers")
    world.describe(model.to_urdf())

    def shown():
        world.joint_states.publish(joint_state(dict.fromkeys(model.joint_names, 0.0)))
        return "shadow" in watcher.layers()

    try:
        world.until(shown)
    finally:
        code, output = end(node)
        world.close()
    assert code == 0, output
