# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is generated for MoveIt fits what runs: the driver's actions, and links that may touch."""

import signal
import subprocess
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import rclpy
import yaml
from ament_index_python.packages import get_package_prefix
from arm_description.exporters.moveit_package import moveit_package
from arm_description.urdf.reader import read_urdf
from arm_tasks.planning.collision.bodies import robot_bodies
from arm_tasks.planning.collision.checker import LIBRARY, TOUCH, Pairs
from arm_tasks.planning.collision.motion_bounds import BodyPlacement
from rclpy.action import get_action_names_and_types
from rclpy.context import Context
from rclpy.node import Node

from arm_description import load_robot, shipped_robots

PATIENCE = 60.0


@pytest.fixture
def node():
    """A node beside a driver of the nut arm."""
    driver = subprocess.Popen(
        [
            *(f"{get_package_prefix('arm_hardware')}/lib/arm_hardware/hardware", "--ros-args"),
            *("-p", "robot:=nut_arm", "-p", "hardware:=fake", "-p", "autostart:=auto"),
        ],
    )
    context = Context()
    rclpy.init(context=context)
    node = Node("beside", context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)
    driver.send_signal(signal.SIGINT)
    assert driver.wait(PATIENCE) == 0


def test_the_controllers_are_the_drivers_actions(node):
    files = moveit_package(load_robot("nut_arm"))
    manager = yaml.safe_load(files["config/moveit_controllers.yaml"])
    manager = manager["moveit_simple_controller_manager"]
    wanted = {
        (f"/{name}/{manager[name]['action_ns']}", f"control_msgs/action/{manager[name]['type']}")
        for name in manager["controller_names"]
    }
    end = time.monotonic() + PATIENCE
    served: set = set()
    while not wanted <= served:
        assert time.monotonic() < end, served
        time.sleep(0.05)
        served = {(n, t) for n, types in get_action_names_and_types(node) for t in types}
    assert len(wanted) == 2


@pytest.mark.parametrize("robot", sorted(shipped_robots()))
def test_the_rest_posture_is_no_collision(robot):
    """Else MoveIt plans nothing. The links are drawn overlapping where a joint is."""
    pytest.importorskip(LIBRARY)
    model = load_robot(robot)
    files = moveit_package(model)
    tree = read_urdf(files[f"config/{robot}.urdf"])
    bodies, _ = robot_bodies(tree)
    may = {
        frozenset((e.get("link1"), e.get("link2")))
        for e in ET.fromstring(files[f"config/{robot}.srdf"]).iter("disable_collisions")
    }
    pairs = [
        (i, j)
        for j in range(len(bodies))
        for i in range(j)
        if bodies[i].owner != bodies[j].owner
        and frozenset((bodies[i].owner, bodies[j].owner)) not in may
    ]
    rest = np.array([model.postures["rest"][name] for name in model.joint_names])
    width = model.postures["rest"].get("gripper", 0.0)
    distances = Pairs(bodies, pairs).distances(
        BodyPlacement(model, tree, bodies).poses(rest, width), 1.0
    )
    assert (distances >= -TOUCH).all()
