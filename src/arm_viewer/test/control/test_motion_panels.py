# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The folders "Motion" and "Play" without a browser and without ROS."""

import math
import shutil
import threading
import time
from types import SimpleNamespace

import pytest
from arm_description.model.transmissions.transmission import ActuatorLimits
from arm_description.robot_model import ServoLimits
from arm_viewer.browser.callbacks import CallbackQueue
from arm_viewer.control.command_table import CommandTable
from arm_viewer.control.robot_editing import RobotEditing
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import PanelState
from arm_viewer.panels.motion import MotionPanel
from arm_viewer.panels.play import PlayPanel
from arm_viewer.scene.robot import read_robot

from arm_description import load_robot, robot_path

WAY = "time,x,y,z\n0,0.2,0,0.17\n0.3,0.2,0.02,0.17\n"


class Element(SimpleNamespace):
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class FakeGui:
    """Elements by label, and what a user's event on them calls."""

    def __init__(self):
        self.queue = CallbackQueue()
        self.posted = threading.Event()
        self.queue.open(self.posted.set)
        self.found, self.actions = {}, {}
        self.texts, self.below, self.last = [], {}, ""  # below: by the label of the field above
        self.elements = self

    def __getattr__(self, name):
        if not name.startswith("add_"):
            raise AttributeError(name)

        def add(label, first=None, **options):
            value = options.get("initial_value", first)
            element = Element(
                label=label,
                value=value,
                content=label,
                on_click=label,
                visible=options.get("visible", True),
                **{key: options[key] for key in ("max",) if key in options},
            )
            if name == "add_html":
                self.texts.append(element)
                self.below[self.last] = element
            else:
                self.found[label], self.last = element, label
            return element

        return add

    def emptied(self, folder):
        return folder

    def never_too_late(self, element, when=None):
        pass

    def on_change(self, element, action):
        self.actions[element.label] = action

    def on_user(self, register, action, arguments=tuple):
        self.actions[register] = lambda: action(*arguments())

    def text(self, label, value, action, **options):
        field = self.add_text(label, value, **options)
        self.on_change(field, action)
        return field

    def checkbox(self, label, value, action):
        self.actions[label] = action

    def press(self, group, button):
        self.found[group].value = button
        self.actions[group]()

    @property
    def answer(self):
        marked = 'data-arm="answer"'
        return "".join(text.content for text in self.texts if marked in text.content)


class Timer:
    def __init__(self):
        self.running = True

    def cancel(self):
        self.running = False

    def reset(self):
        self.running = True


class Page:
    """A page with one panel; `moved` are the joint positions that it commanded."""

    def __init__(self, kind, robot, editing=None):
        self.moved, self.problem, self.gui = [], "", FakeGui()
        self.positions, self.limited = {}, lambda model: model
        self.timer, self.tick, self.commands = Timer(), None, CommandTable()
        context = SimpleNamespace(
            robot=str(robot),
            editing=editing,
            commands=self.commands,
            move=self.move,
            positions=lambda: self.positions,
            every=self.every,
            limited=lambda model: self.limited(model),
            redraw=lambda: None,
        )
        self.panel = kind(context)
        self.panel.build(self.gui)
        self.state = PanelState(read_robot(load_robot(robot).to_urdf()), {}, "", None)
        self.panel.update(self.state)

    def every(self, period, action):
        self.tick = action
        return self.timer

    def move(self, joints):
        self.moved.append(joints)
        self.positions |= joints
        return self.problem

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
    motion.gui.actions["waist, °"]("30*sin(90*t)")
    assert not motion.timer.running and not motion.moved
    motion.gui.press("Clock", "Start")
    motion.run_until(lambda: motion.moved and motion.moved[-1]["waist"] > 0.0)
    assert set(motion.moved[-1]) == {"waist"} and motion.moved[-1]["waist"] < math.radians(30.01)
    motion.gui.press("Clock", "Pause")
    motion.tick()
    assert not motion.timer.running
    motion.gui.press("Clock", "Zero")
    assert motion.moved[-1] == {"waist": 0.0}


def test_the_clock_pauses_when_something_else_moves_a_joint_of_a_function(motion):
    motion.gui.actions["waist, °"]("30*sin(90*t)")
    motion.gui.press("Clock", "Start")
    motion.run_until(lambda: len(motion.moved) > 2)
    motion.positions["elbow"] = 1.0  # no function moves it
    motion.tick()
    count = len(motion.moved)
    assert count > 3
    motion.positions["waist"] = 1.0  # a slider
    motion.tick()
    assert len(motion.moved) == count and "something else moved the arm" in motion.gui.answer
    motion.tick()
    assert not motion.timer.running
    motion.gui.press("Clock", "Start")
    motion.run_until(lambda: len(motion.moved) > count + 1)


def test_wrong_function_is_explained_at_its_field_and_the_former_one_stays(motion):
    set_waist = motion.gui.actions["waist, °"]
    set_waist("10 + t")
    set_waist("10 + x")
    problem = motion.gui.below["waist, °"]
    assert problem.visible and "&#x27;x&#x27; is not a name" in problem.content
    motion.gui.press("Clock", "Zero")
    assert motion.moved == [{"waist": math.radians(10.0)}]
    set_waist("10 + t")
    assert not problem.visible


def test_joint_that_stays_at_its_limit_is_named(motion):
    motion.gui.actions["waist, °"]("100 + t")
    motion.gui.press("Clock", "Zero")
    assert "At the limit: waist." in motion.gui.answer
    motion.gui.actions["waist, °"]("20 + t")
    motion.gui.press("Clock", "Zero")
    assert "limit" not in motion.gui.answer


def test_nothing_moves_by_itself_after_a_stop(motion):
    motion.gui.actions["waist, °"]("t")
    motion.gui.press("Clock", "Start")
    motion.problem = "Stopped."
    motion.tick()
    assert "could not follow" in motion.gui.answer
    motion.problem, motion.moved = "", []
    motion.tick()
    assert not motion.moved and not motion.timer.running


def test_constants_breathe_and_one_undo_takes_it_all_back():
    editing = RobotEditing("planar2", show=lambda model: None, watch=lambda path: None)
    page, before = Page(MotionPanel, "planar2", editing), editing.editor.data
    constant = editing.editor.symbols()[0]
    value = editing.editor.model.constants[constant]
    page.gui.actions[constant](f"{constant}*(1.5 + 0.1*sin(3600*t))")
    page.gui.press("Clock", "Start")
    for _ in range(2):  # each waits until the constant has another value than now
        now = editing.editor.model.constants[constant]
        page.run_until(lambda now=now: editing.editor.model.constants[constant] != now)
    page.gui.press("Clock", "Pause")
    page.gui.press("Clock", "Zero")
    assert editing.editor.model.constants[constant] == pytest.approx(1.5 * value)
    editing.undo()
    assert editing.editor.data == before


def test_a_constant_that_the_reader_refuses_stops_the_clock():
    editing = RobotEditing("planar2", show=lambda model: None, watch=lambda path: None)
    page, before = Page(MotionPanel, "planar2", editing), editing.editor.data
    page.gui.actions[editing.editor.symbols()[0]]("1e6 + t")
    page.gui.press("Clock", "Start")
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
    names = own.gui.found["Trajectory"].options
    assert names[1:] == ("look_around", "reach", "wave", "far.csv", "way.csv")
    (tmp_path / "later.csv").write_text(WAY)
    own.panel.update(own.state)
    assert "later.csv" in own.gui.found["Trajectory"].options


def test_trajectory_of_the_tool_is_played_to_its_end_and_back(own):
    assert own.commands.run("play way.csv") == "Playing way.csv."
    own.run_until(lambda: own.moved and not own.timer.running)
    chain_end = own.moved[-1]
    model = load_robot("nut_arm")
    tip = model.fk([chain_end[name] for name in model.joint_names])[:3, 3]
    assert tip == pytest.approx([0.2, 0.02, 0.17], abs=1e-4)
    own.panel.update(own.state)
    assert own.gui.found["Time [s]"].value == own.gui.found["Time [s]"].max == 0.3
    own.gui.press("", "◀ Back")
    own.run_until(lambda: not own.timer.running)
    tip = model.fk([own.moved[-1][name] for name in model.joint_names])[:3, 3]
    assert tip == pytest.approx([0.2, 0.0, 0.17], abs=1e-4)


def test_trajectory_is_judged_by_the_limits_of_a_driver(own):
    model = load_robot("nut_arm")
    slow = {j.name: ActuatorLimits(velocity=0.1 * j.velocity) for j in model.joints}
    tight = {j.name: ActuatorLimits(lower=-0.01, upper=0.01) for j in model.joints}
    own.gui.actions["Trajectory"]("wave")
    own.run_until(lambda: "points" in own.gui.answer)
    duration = own.gui.found["Time [s]"].max
    own.limited = lambda model: model.limited(ServoLimits(slow))
    own.gui.actions["Trajectory"]("wave")
    own.run_until(lambda: "points" in own.gui.answer)
    assert own.gui.found["Time [s]"].max > 2.0 * duration
    own.limited = lambda model: model.limited(ServoLimits(tight))
    own.gui.actions["Trajectory"]("wave")
    own.run_until(lambda: "its limit" in own.gui.answer)


def test_time_bar_moves_the_arm_while_paused(own):
    own.gui.actions["Trajectory"]("wave")
    own.run_until(lambda: "points" in own.gui.answer)
    assert not own.moved
    own.gui.actions["Time [s]"](0.5)
    assert len(own.moved) == 1 and not own.timer.running


def test_playing_ends_when_something_else_moves_the_arm(own):
    own.gui.actions["Trajectory"]("wave")
    own.run_until(lambda: "points" in own.gui.answer)
    own.gui.press("", "Play ▶")
    own.run_until(lambda: len(own.moved) > 2)
    assert own.timer.running
    own.positions["waist"] = 1.0  # a slider
    count = len(own.moved)
    own.tick()
    assert len(own.moved) == count and "something else moved the arm" in own.gui.answer
    own.tick()
    assert not own.timer.running
    own.gui.press("", "Play ▶")
    own.run_until(lambda: len(own.moved) > count + 1)


def test_unreachable_way_says_where(own):
    own.gui.actions["Trajectory"]("far.csv")
    own.run_until(lambda: "between point 1 and 2" in own.gui.answer)
    own.gui.press("", "Play ▶")
    assert not own.moved


def test_a_page_whose_folder_is_gone_offers_the_shipped_trajectories(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "robot.yaml").write_bytes(robot_path("planar2").read_bytes())
    (folder / "way.csv").write_text(WAY)
    page = Page(PlayPanel, folder / "robot.yaml")
    assert "way.csv" in page.gui.found["Trajectory"].options
    shutil.copy(folder / "robot.yaml", tmp_path / "kept.yaml")
    page.panel._model = lambda: load_robot(tmp_path / "kept.yaml")
    shutil.rmtree(folder)
    page.panel.update(page.state)
    assert "way.csv" not in page.gui.found["Trajectory"].options


def test_a_page_offers_the_trajectories_beside_the_robot_that_is_edited(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "way.csv").write_text(WAY)
    editing = RobotEditing("planar2", lambda model: None, lambda path: None)
    page = Page(PlayPanel, "planar2", editing)
    assert "way.csv" not in page.gui.found["Trajectory"].options
    editing.save_as("mine")
    page.panel.update(page.state)
    assert "way.csv" in page.gui.found["Trajectory"].options
    editing.set_symbol("l1", "0.4")
    assert page.panel._model().constants["l1"] == 0.4
