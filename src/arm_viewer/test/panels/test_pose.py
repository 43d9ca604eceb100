# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Pose" without a browser and without ROS."""

from arm_testing.pages.page import FakePage
from arm_viewer.panels.pose import PosePanel

from arm_description import load_robot


def test_pose_follows_the_units_of_another_robot():
    page = FakePage("planar2")
    panel = page.build(PosePanel)
    assert panel._fields[0].label == "x [m]"
    page.model = load_robot("nut_arm")
    panel.update(page.state)
    assert [field.label for field in panel._fields][2:4] == ["z [mm]", "roll [deg]"]


def test_units_are_mm_and_degrees_without_a_file():
    units = FakePage().context.units
    assert (units.length, units.angle) == ("mm", "deg")
