# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panels "Motion" and "Play" without a browser and without ROS."""

import math
import shutil
import time
from functools import partial

import pytest
from arm_description.model.elements import ActuatorLimits
from arm_studio.editing.robot_editing import editing_of
from arm_studio.motion import PAUSED
from arm_studio.panels.motion import MotionPanel
from arm_studio.panels.play import PlayPanel
from arm_testing.pages.page import FakePage
from arm_viewer.errors import ViewerError

from arm_description import load_robot, robot_path

WAY = "time,x,y,z\n0,0.2,0,0.17\n0.3,0.2,0.02,0.17\n"


class Page(FakePage):
    """A page with one panel."""

    def __init__(self, kind, robot):
        super().__init__(str(robot))
        self.positions = {}
        self.panel = self.build(kind)
        self.timer = self.timers[-1]
        self.tick = self.timer.action

    @property
    def editing(self):
        return editing_of(self.context)

    def run_until(self, condition):
        end = time.monotonic() + 60.0
        while not condition():
            assert time.monotonic() < end, self.gui.answer
            self.gui.posted.wait(0.01)
            self.gui.queue.drain()
            if self.timer.running:
                self.tick()


@pytest.fixture
def motion():
    return Page(MotionPanel, "nut_arm")


def test_functions_move_their_joints_once_the_clock_starts(motion):
    motion.gui.use("waist, °", "30*sin(90*t)")
    assert not motion.timer.running and not motion.moved
    motion.gui.use("Clock", "Start")
    motion.run_until(lambda: motion.moved and motion.moved[-1]["waist"] > 0.0)
    assert set(motion.moved[-1]) == {"waist"} and motion.moved[-1]["waist"] < math.radians(30.01)
    motion.gui.use("Clock", "Pause")
    motion.tick()
    assert not motion.timer.running
    motion.gui.use("Clock", "Zero")
    assert motion.moved[-1] == {"waist": 0.0}


def check_pause_by_another_motion(page, *start):
    """Move a joint as a slider does: the panel pauses and says why, until its start is pressed."""
    count = len(page.moved)
    page.positions["waist"] = 1.0
    page.tick()
    assert len(page.moved) == count and "something else moved the arm" in page.gui.answer
    page.tick()
    assert not page.timer.running
    page.gui.use(*start)
    page.run_until(lambda: len(page.moved) > count + 1)


def test_the_clock_pauses_when_something_else_moves_a_joint_of_a_function(motion):
    motion.gui.use("waist, °", "30*sin(90*t)")
    motion.gui.use("Clock", "Start")
    motion.run_until(lambda: len(motion.moved) > 2)
    motion.positions["elbow"] = 1.0  # no function moves it
    motion.tick()
    assert len(motion.moved) > 3
    check_pause_by_another_motion(motion, "Clock", "Start")


def test_wrong_function_is_explained_at_its_field_and_the_former_one_stays(motion):
    set_waist = partial(motion.gui.use, "waist, °")
    set_waist("10 + t")
    set_waist("10 + x")
    problem = motion.gui.below("waist, °")
    assert problem.visible and "&#x27;x&#x27; is not a name" in problem.content
    motion.gui.use("Clock", "Zero")
    assert motion.moved == [{"waist": math.radians(10.0)}]
    set_waist("10 + t")
    assert not problem.visible


def test_joint_that_stays_at_its_limit_is_named(motion):
    motion.gui.use("waist, °", "100 + t")
    motion.gui.use("Clock", "Zero")
    assert "At the limit: waist." in motion.gui.answer
    motion.gui.use("waist, °", "20 + t")
    motion.gui.use("Clock", "Zero")
    assert "limit" not in motion.gui.answer


def test_nothing_moves_by_itself_after_a_stop(motion):
    motion.gui.use("waist, °", "t")
    motion.gui.use("Clock", "Start")
    motion.problem = "Stopped."
    motion.tick()
    assert PAUSED in motion.gui.answer  # not that it could not follow
    motion.problem, motion.moved = "", []
    motion.tick()
    assert not motion.moved and not motion.timer.running


def test_constants_breathe_and_one_undo_takes_it_all_back():
    page = Page(MotionPanel, "planar2")
    editing = page.editing
    before = editing.editor.data
    constant = editing.editor.symbols()[0]
    value = editing.editor.model.constants[constant]
    page.gui.use(constant, f"{constant}*(1.5 + 0.1*sin(3600*t))")
    page.gui.use("Clock", "Start")
    for _ in range(2):  # each waits until the constant has another value than now
        now = editing.editor.model.constants[constant]
        page.run_until(lambda now=now: editing.editor.model.constants[constant] != now)
    page.gui.use("Clock", "Pause")
    page.gui.use("Clock", "Zero")
    assert editing.editor.model.constants[constant] == pytest.approx(1.5 * value)
    editing.undo()
    assert editing.editor.data == before


def test_a_constant_that_the_reader_refuses_stops_the_clock():
    page = Page(MotionPanel, "planar2")
    editing = page.editing
    before = editing.editor.data
    page.gui.use(editing.editor.symbols()[0], "1e6 + t")
    page.gui.use("Clock", "Start")
    page.tick()
    assert editing.editor.data == before and "check units" in page.gui.answer
    page.tick()
    assert not page.timer.running


def test_the_clock_is_a_command(motion):
    with pytest.raises(ViewerError, match="start, pause, zero"):
        motion.commands.run("clock now")
    assert motion.commands.run("clock zero") == "t = 0.00 s"


@pytest.fixture
def own(tmp_path):
    """A page of one's own robot, with a trajectory of the tool and one that is out of reach."""
    shutil.copy(robot_path("nut_arm"), tmp_path / "my.yaml")
    (tmp_path / "way.csv").write_text(WAY)
    (tmp_path / "far.csv").write_text(WAY.replace("0.02", "0.9"))
    return Page(PlayPanel, tmp_path / "my.yaml")


def test_list_has_the_shipped_trajectories_and_those_beside_the_robot(own, tmp_path):
    names = own.gui.find("Trajectory").options
    assert names[1:] == ("look_around", "reach", "wave", "far.csv", "way.csv")
    (tmp_path / "later.csv").write_text(WAY)
    own.panel.update(own.state)
    assert "later.csv" in own.gui.find("Trajectory").options


def test_trajectory_of_the_tool_is_played_to_its_end_and_back(own):
    assert own.commands.run("play way.csv") == "Playing way.csv."
    own.run_until(lambda: own.moved and not own.timer.running)
    chain_end = own.moved[-1]
    model = load_robot("nut_arm")
    tip = model.fk([chain_end[name] for name in model.joint_names])[:3, 3]
    assert tip == pytest.approx([0.2, 0.02, 0.17], abs=1e-4)
    own.panel.update(own.state)
    assert own.gui.find("Time [s]").value == own.gui.find("Time [s]").max == 0.3
    own.gui.use("", "◀ Back")
    own.run_until(lambda: not own.timer.running)
    tip = model.fk([own.moved[-1][name] for name in model.joint_names])[:3, 3]
    assert tip == pytest.approx([0.2, 0.0, 0.17], abs=1e-4)


def test_trajectory_is_judged_by_the_limits_of_a_driver(own):
    model = load_robot("nut_arm")
    slow = {j.name: ActuatorLimits(velocity=0.1 * j.velocity) for j in model.joints}
    tight = {j.name: ActuatorLimits(lower=-0.01, upper=0.01) for j in model.joints}
    own.gui.use("Trajectory", "wave")
    own.run_until(lambda: "points" in own.gui.answer)
    duration = own.gui.find("Time [s]").max
    own.limited = lambda model: model.limited(slow)
    own.gui.use("Trajectory", "wave")
    own.run_until(lambda: "points" in own.gui.answer)
    assert own.gui.find("Time [s]").max > 2.0 * duration
    own.limited = lambda model: model.limited(tight)
    own.gui.use("Trajectory", "wave")
    own.run_until(lambda: "its limit" in own.gui.answer)


def test_time_bar_moves_the_arm_while_paused(own):
    own.gui.use("Trajectory", "wave")
    own.run_until(lambda: "points" in own.gui.answer)
    assert not own.moved
    own.gui.use("Time [s]", 0.5)
    assert len(own.moved) == 1 and not own.timer.running


def test_playing_ends_when_something_else_moves_the_arm(own):
    own.gui.use("Trajectory", "wave")
    own.run_until(lambda: "points" in own.gui.answer)
    own.gui.use("", "Play ▶")
    own.run_until(lambda: len(own.moved) > 2)
    assert own.timer.running
    check_pause_by_another_motion(own, "", "Play ▶")


def test_unreachable_way_says_where(own):
    own.gui.use("Trajectory", "far.csv")
    own.run_until(lambda: "between point 1 and 2" in own.gui.answer)
    own.gui.use("", "Play ▶")
    assert not own.moved


def test_a_page_whose_folder_is_gone_offers_the_shipped_trajectories(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "robot.yaml").write_bytes(robot_path("planar2").read_bytes())
    (folder / "way.csv").write_text(WAY)
    page = Page(PlayPanel, folder / "robot.yaml")
    assert "way.csv" in page.gui.find("Trajectory").options
    shutil.rmtree(folder)
    page.panel.update(page.state)
    assert "way.csv" not in page.gui.find("Trajectory").options


def test_a_page_offers_the_trajectories_beside_the_robot_that_is_edited(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "way.csv").write_text(WAY)
    page = Page(PlayPanel, "planar2")
    editing = page.editing
    assert "way.csv" not in page.gui.find("Trajectory").options
    editing.save_as("mine")
    page.panel.update(page.state)
    assert "way.csv" in page.gui.find("Trajectory").options
    editing.set_symbol("l1", "0.4")
    assert page.model.constants["l1"] == 0.4
