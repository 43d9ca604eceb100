# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A view beside a driver is silent, follows it, and commands it only after control was taken."""

import dataclasses
import math
import signal

import pytest
from arm_common.ros.qos import LATCHED
from arm_description.urdf.servo_limits import TOPIC, limits_text
from arm_testing.pages.page import FakeGui
from arm_viewer.ros.driver_panel import READ_ONLY, SharedControl
from arm_viewer.ros.joint_commands import SliderPublisher
from arm_viewer.scene.robot import PostureBook, read_robot
from arm_viewer.scene.store import SceneStore
from std_msgs.msg import String

pytestmark = pytest.mark.system

BOUND = 60.0  # [s]


class Page:
    """A view of nut_arm, and the checkbox of its page."""

    def __init__(self, node, model):
        self.gui, self.store, self.postures = FakeGui(), SceneStore(), PostureBook(model.name)
        self.stopped = False
        robot = read_robot(model.to_urdf())
        self.store.set_robot(robot)
        self.sliders = SliderPublisher(node, self.postures.home)
        self.sliders.set_robot(robot)
        self.control = SharedControl(node, self, self.sliders)
        self.control.set_arm(robot.joints_to("tool0"), robot.constraints)

    def show_text(self, key, text):
        self.store.set_text(key, text)

    def joints_moved(self):
        pass

    @property
    def box(self):
        return self.gui.find("Take control")

    @property
    def waist(self):
        return self.control.positions()["waist"]


def test_driver_that_comes_later_silences_a_view_that_moves_it_on_request(ros, model, start):
    page = Page(ros.node, model)
    assert page.control.move({"waist": 0.5}) == "" and page.waist == 0.5
    driver = start("driver", hardware="fake", robot="nut_arm", autostart="activate")
    ros.until(lambda: page.store.text("beside") == READ_ONLY, BOUND)
    ros.until(lambda: page.waist == 0.0, BOUND)  # the driver's
    ros.joint_states.clear()
    assert page.control.move({"waist": 0.7}) == READ_ONLY and page.box.visible
    ros.until(lambda: len(ros.joint_states) > 10, BOUND)
    assert {m.position[list(m.name).index("waist")] for m in ros.joint_states} == {0.0}
    page.gui.use("Take control", True)
    assert page.store.text("beside") == ""
    target = math.radians(45.0)
    assert page.control.move({"waist": target}) == ""
    ros.until(lambda: abs(page.waist - target) < 1e-3, BOUND)
    assert driver.end(signal.SIGTERM) == 0
    ros.until(lambda: not page.box.visible, BOUND)
    assert page.control.move({"waist": -0.5}) == "" and page.waist == -0.5


def test_robot_of_a_view_has_the_limits_of_its_driver_alone(ros, model):
    page, slow = Page(ros.node, model), dataclasses.replace(model.joints[0], velocity=0.1)
    limited = dataclasses.replace(model, joints=(slow, *model.joints[1:]))
    limits = ros.node.create_publisher(String, TOPIC, LATCHED)
    assert page.control.limited(model) is model
    limits.publish(String(data=limits_text(limited)))
    ros.until(lambda: page.control.limited(model).joints[0].velocity == 0.1, BOUND)
    limits.publish(String(data=limits_text(dataclasses.replace(limited, name="other"))))
    ros.until(lambda: page.control.limited(model) is model, BOUND)
