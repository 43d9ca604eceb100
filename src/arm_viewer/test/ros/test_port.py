# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a page may rely on, be its arm in a ROS graph, or a model in the same process."""

import math
import threading
import time

import numpy as np
import pytest
from arm_testing.pages.page import FakeGui
from arm_viewer.errors import ViewerError
from arm_viewer.local_arm import LocalArm
from arm_viewer.port import IkRequest, Where
from arm_viewer.scene.robot import PostureBook, read_robot
from arm_viewer.scene.store import SceneStore

from arm_description import load_robot

BOUND = 60.0  # [s]
ROBOT, TOOL = "nut_arm", "tool0"
REACHABLE = {"waist": 0.4, "shoulder": -0.2, "elbow": 0.3, "wrist_roll": 0.0}
POSITION = IkRequest("Position")


class Shown:
    """A page that keeps what its port tells; `until` runs the port until a condition holds."""

    def __init__(self):
        self.gui, self.store, self.postures = FakeGui(), SceneStore(), PostureBook(ROBOT)
        self.stopped, self.moves, self.texts = False, 0, {}

    def show_robot(self, urdf):
        self.store.set_robot(read_robot(urdf))

    def show_markers(self, topic, markers):
        pass

    def show_text(self, key, text):
        self.texts[key] = text

    def joints_moved(self):
        self.moves += 1

    def frames_moved(self):
        pass

    def robot_file_changed(self):
        return ""

    def scene_file_changed(self):
        pass

    def work_on_nut(self, holding):
        pass

    def offer_reset(self):
        pass


class LocalPort:
    def __init__(self):
        self.page, self.arm = Shown(), LocalArm(ROBOT)

    def until(self, condition):
        end = time.monotonic() + BOUND

        def check():
            assert time.monotonic() < end
            if condition():
                timer.cancel()
                self.arm.end()

        timer = self.arm.every(0.005, check)
        self.arm.run()
        assert condition()

    def close(self):
        self.arm.close()


class RosPort:
    def __init__(self, ros, start):
        from arm_viewer.ros.node import RosArm, ViewerParameters

        urdf = load_robot(ROBOT).to_urdf(dh_frames=True)
        self.programs = [start("publisher", robot_description=urdf), start("kinematics")]
        self.page, self._ros = Shown(), ros
        self.arm = RosArm(ros.node, ViewerParameters(robot=ROBOT, sliders=True))

    def until(self, condition):
        self._ros.until(condition, BOUND)

    def close(self):
        for program in self.programs:
            program.process.terminate()


@pytest.fixture(scope="module", params=["ros", "local"])
def port(request):
    """A port that has told its page of nut_arm, whose joints it moves."""
    if request.param == "ros":
        pytest.importorskip("rclpy")
        port = RosPort(request.getfixturevalue("ros"), request.getfixturevalue("start"))
    else:
        port = LocalPort()
    port.arm.open(port.page)
    port.until(lambda: port.page.store.robot is not None)
    port.arm.set_robot(port.page.store.robot, TOOL)
    end = time.monotonic() + BOUND
    while not solution_of(port, tool_at(port, {})).ok:  # until the solver knows the robot
        assert time.monotonic() < end
    yield port
    port.close()


@pytest.fixture
def rest(port):
    """Bring the arm to rest."""
    assert port.arm.move(dict.fromkeys(REACHABLE, 0.0)) == ""
    port.until(lambda: is_at(port, tool_at(port, {})))


def tool_at(port, joints):
    robot = port.page.store.robot
    return robot.pose_of(TOOL, {joint.name: 0.0 for joint in robot.joints} | joints)


def is_at(port, pose):
    tool = port.arm.frames(port.page.store.robot.root).get(TOOL)
    return tool is not None and np.abs(tool - pose).max() < 1e-5


def solution_of(port, pose, request=POSITION):
    responses, frame = [], port.page.store.robot.root
    port.until(lambda: port.arm.solve(frame, pose, request, responses.append))  # once it is there
    port.until(lambda: responses)
    return responses[0]


def test_port_moves_the_joints_of_the_page(port, rest):
    assert port.arm.where is Where.ALONE
    names = {joint.name for joint in port.page.store.robot.joints}
    assert port.arm.positions().keys() == names


def test_moved_joints_move_the_frames_and_the_page_hears_of_it(port, rest):
    before = port.page.moves
    assert port.arm.move(REACHABLE) == ""
    port.until(lambda: is_at(port, tool_at(port, REACHABLE)))
    shown = port.arm.positions()
    assert {name: shown[name] for name in REACHABLE} == REACHABLE
    assert port.page.moves >= before
    links = set(port.page.store.robot.links)
    assert links <= port.arm.frames(port.page.store.robot.root).keys()


def test_frames_are_given_in_any_of_them(port, rest):
    frames = port.arm.frames(TOOL)
    np.testing.assert_allclose(frames[TOOL], np.eye(4), atol=1e-9)
    root = port.page.store.robot.root
    np.testing.assert_allclose(np.linalg.inv(frames[root]), tool_at(port, {}), atol=1e-6)


def test_joints_stop_at_their_limits_and_numbers_must_be_finite(port, rest):
    port.arm.move({"waist": 10.0, "no_such_joint": 1.0})
    upper = next(j.upper for j in port.page.store.robot.joints if j.name == "waist")
    assert port.arm.positions()["waist"] == upper
    with pytest.raises(ViewerError, match="not a finite number"):
        port.arm.move({"waist": math.nan})
    assert port.arm.positions()["waist"] == upper


def test_solution_brings_the_tool_to_the_target(port, rest):
    target = tool_at(port, REACHABLE)
    response = solution_of(port, target)
    assert response.ok and response.solutions[0].position_error < 1e-4
    assert port.arm.move(response.solutions[0].joints) == ""
    reached = tool_at(port, response.solutions[0].joints)
    np.testing.assert_allclose(reached[:3, 3], target[:3, 3], atol=1e-4)
    port.until(lambda: is_at(port, reached))


def test_several_solutions_and_a_target_out_of_reach(port, rest):
    target = tool_at(port, REACHABLE)
    response = solution_of(port, target, IkRequest("Position", 1e-4, 0.0, 16))
    assert response.ok and response.solutions
    for solution in response.solutions:
        reached = tool_at(port, solution.joints)
        np.testing.assert_allclose(reached[:3, 3], target[:3, 3], atol=2e-4)
    target[:3, 3] = (5.0, 0.0, 0.0)
    response = solution_of(port, target)
    assert not response.ok and "reach" in response.message


def test_robot_that_is_edited_is_shown_with_the_joints_where_they_are(port, rest):
    model = load_robot(ROBOT)
    port.arm.move({"waist": 0.3})
    port.arm.describe(load_robot("planar2"))
    port.until(lambda: port.page.store.robot.name == "planar2")
    port.arm.describe(model)
    port.until(lambda: port.page.store.robot.name == ROBOT)
    port.arm.set_robot(port.page.store.robot, TOOL)
    assert port.arm.positions().keys() == {j.name for j in port.page.store.robot.joints}
    assert port.arm.limited(model) is model


def test_robot_that_begins_has_its_own_joint_values_whatever_the_names(port, rest):
    robot, waist = port.page.store.robot, lambda: port.arm.positions()["waist"]
    port.arm.move({"waist": 0.3})
    port.arm.begin({"waist": 0.1})
    port.arm.set_robot(robot, TOOL)
    assert waist() == 0.1
    port.arm.move({"waist": 0.2})
    port.arm.set_robot(robot, TOOL)  # an edit of the same one
    assert waist() == 0.2
    port.arm.begin({})  # no joint has a position of its own
    port.arm.set_robot(robot, TOOL)
    assert waist() == 0.0


def test_timers_tick_until_they_are_cancelled(port):
    ticks = []
    timer = port.arm.every(0.01, lambda: ticks.append(port.arm.now()))
    port.until(lambda: len(ticks) > 2)
    assert ticks == sorted(ticks) and not timer.is_canceled()
    timer.cancel()
    count = len(ticks)
    assert timer.is_canceled()
    timer.reset()
    port.until(lambda: len(ticks) > count)
    timer.cancel()


def test_any_thread_wakes_the_thread_of_the_page(port):
    woken = []
    wake = port.arm.waker(lambda: woken.append(threading.current_thread()))
    threading.Thread(target=wake).start()
    port.until(lambda: woken)
    assert threading.current_thread() in woken


def test_stop_and_reset_are_taken_at_any_time(port, rest):
    port.arm.stop()
    port.arm.reset()
    port.arm.send_scene("")
