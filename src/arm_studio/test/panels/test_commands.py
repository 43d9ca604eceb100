# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Commands" without a browser and without ROS."""

import numpy as np
import pytest
from arm_studio.panels.commands import CommandsPanel
from arm_testing.pages.page import FakePage

from arm_description import load_robot


@pytest.mark.parametrize(("robot", "per_metre"), [("nut_arm", 1000.0), ("planar2", 1.0)])
def test_commands_take_and_answer_the_units_of_the_file(robot, per_metre):
    page = FakePage(robot)
    CommandsPanel(page.context)
    answer = page.commands.run("fk").removeprefix("tool0: ")
    xyz = [float(word) for word in answer.partition(" m")[0].split()]
    page.commands.run("ik " + " ".join(f"{x:.9g}" for x in xyz))
    (target,) = page.targets
    np.testing.assert_allclose(target[:3, 3] * per_metre, xyz, atol=1e-9 * per_metre)
    joint = page.context.view.store.robot.joints[0].name
    page.commands.run(f"go {joint}=1")
    units = load_robot(robot).units
    assert page.moved == [{joint: units.radians(1.0)}]


def test_a_joint_is_not_sent_beyond_its_limits_and_the_palette_answers_at_the_top():
    page = FakePage("nut_arm")
    panel = page.build(CommandsPanel)
    panel._choose("go waist=500")
    panel._choose("fk")
    refused, place = page.reports
    assert refused == "go waist=500: go: waist moves from -90 to 90 deg"
    assert place.startswith("fk: tool0: 160 0 185 mm") and not page.moved
