# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The generated MoveIt package matches the driver's actions and allows overlapping links."""

import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np
import pytest
import yaml
from arm_description.urdf.reader import read_urdf
from arm_studio.commands.moveit import moveit_package
from arm_tasks.planning.collision.bodies import BodyPlacement, robot_bodies
from arm_tasks.planning.collision.checker import TOUCH, PairDistances
from arm_testing.arms.samples import ROBOTS
from arm_testing.ros.driver import NodeProcess
from arm_testing.ros.probe import Probe
from rclpy.action import get_action_names_and_types

from arm_description import load_robot


def test_moveit_controllers_match_the_drivers_actions():
    files = moveit_package(load_robot("nut_arm"))
    manager = yaml.safe_load(files["config/moveit_controllers.yaml"])
    manager = manager["moveit_simple_controller_manager"]
    expected = {
        (f"/{name}/{manager[name]['action_ns']}", f"control_msgs/action/{manager[name]['type']}")
        for name in manager["controller_names"]
    }
    assert len(expected) == 2
    driver, probe = NodeProcess(robot="nut_arm", hardware="fake", autostart="auto"), Probe()

    def available():
        return {(n, t) for n, types in get_action_names_and_types(probe.node) for t in types}

    # the actions of a driver that an earlier test killed may still be in the graph
    probe.until(lambda: driver.handles_sigterm() and expected <= available())
    probe.close()
    assert driver.end()[0] == 0


@pytest.mark.parametrize("robot", ROBOTS)
def test_rest_posture_is_free_of_collisions(robot):
    """MoveIt plans nothing from a start in collision; links overlap at their joints."""
    pytest.importorskip("mujoco")
    model = load_robot(robot)
    files = moveit_package(model)
    tree = read_urdf(files[f"config/{robot}.urdf"])
    bodies, _ = robot_bodies(tree)
    allowed = {
        frozenset((e.get("link1"), e.get("link2")))
        for e in ET.fromstring(files[f"config/{robot}.srdf"]).iter("disable_collisions")
    }
    allowed |= {frozenset((body.owner,)) for body in bodies}
    pairs = [
        (i, j)
        for i, j in combinations(range(len(bodies)), 2)
        if frozenset((bodies[i].owner, bodies[j].owner)) not in allowed
    ]
    rest = np.array([model.postures["rest"][name] for name in model.joint_names])
    width = model.postures["rest"].get("gripper", 0.0)
    distances = PairDistances(bodies, pairs).distances(
        BodyPlacement(model, tree, bodies).poses(rest, width), 1.0
    )
    assert (distances >= -TOUCH).all()
