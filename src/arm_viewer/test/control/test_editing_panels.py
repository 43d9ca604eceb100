# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The folders that edit a robot file, without a browser and without ROS."""

from types import SimpleNamespace

import numpy as np
import pytest
from arm_viewer.browser.access import make_access
from arm_viewer.browser.callbacks import CallbackQueue, PanelGui
from arm_viewer.browser.server import close_server, open_server
from arm_viewer.control.command_table import CommandTable
from arm_viewer.control.robot_editing import RobotEditing
from arm_viewer.panels.commands import CommandsPanel
from arm_viewer.panels.interface import PanelContext
from arm_viewer.panels.pose import PosePanel
from arm_viewer.panels.robot_file import NOTHING, RobotFilePanel
from arm_viewer.panels.symbols import SymbolsPanel, _number
from arm_viewer.panels.table import TablePanel
from arm_viewer.scene.robot import read_robot

from arm_description import load_robot


class Gui:
    """Elements by label; `use` does what a user would."""

    def __init__(self):
        self.elements, self.found, self.actions = self, {}, {}

    def __getattr__(self, name):
        if not name.startswith("add_"):
            raise AttributeError(name)
        return lambda label, *arguments, **options: self._add(label)

    def _add(self, label, value="", action=None, options=()):
        element = SimpleNamespace(
            label=label, value=value, options=options, order=1.0, on_click=label, on_update=label
        )
        element.visible = element.precision = True
        element.remove = lambda: None
        self.found[label], self.actions[label] = element, action
        return Entered(element)

    def emptied(self, folder):
        return folder

    def never_too_late(self, element, when=None):
        pass

    def on_change(self, element, action):
        self.actions[element.label] = action

    def on_user(self, register, action, arguments=tuple):
        self.actions[register] = lambda: action(*arguments())

    def choice(self, label, options, value, action):
        return self._add(label, value, action, tuple(options))

    def text(self, label, value, action):
        return self._add(label, value, action)

    def line(self, label, action, hint="", never_too_late=None):
        return self._add(label, "", action)


class Entered:
    """An element that is a folder, too."""

    def __init__(self, element):
        self.__dict__ = element.__dict__

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class EditedPage:
    def __init__(self, robot, edited=True):
        self.targets, self.moved, self.commands = [], [], CommandTable()
        show = lambda model: None  # noqa: E731
        self.editing = RobotEditing(robot, show, show) if edited else None
        drawn = read_robot(load_robot(robot).to_urdf()) if robot else None
        self.context = PanelContext(
            robot=robot,
            scene="",
            tool_frame="tool0",
            view=SimpleNamespace(store=SimpleNamespace(robot=drawn)),
            editing=self.editing,
            commands=self.commands,
            positions=lambda: {} if drawn is None else {j.name: 0.0 for j in drawn.joints},
            move=lambda joints: self.moved.append(joints) or "",
            move_tool=self.targets.append,
            postures=dict,
            report=self.targets.append,
            limited=lambda model: model,
            redraw=lambda: None,
            every=lambda period, action: None,
        )
        self.gui = Gui()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_open_can_be_chosen_again_and_lists_what_was_saved(folder):
    page = EditedPage("planar2")
    RobotFilePanel(page.context, page.editing).build(page.gui)
    field = page.gui.found["Open"]
    other = next(option for option in field.options if option.startswith("puma560 "))
    page.editing.set_symbol("l1", "0.4")
    for path in (page.editing.path, None):  # refused, then opened
        field.value = other
        page.gui.actions["Open"](other)
        assert field.value == NOTHING
        assert (page.editing.path == path) is (path is not None)
    assert page.editing.editor.model.name == "puma560"
    page.editing.save_as("mine")
    assert any(option.startswith("mine.yaml ") for option in field.options)


def test_a_refused_add_keeps_the_selected_row(folder):
    page = EditedPage("planar2")
    panel = TablePanel(page.context, page.editing)
    panel.build(page.gui)
    page.editing.change = lambda change: "refused"
    page.gui.found["Rows"].value = "Add"
    page.gui.actions["Rows"]()
    assert panel._index == 0


@pytest.mark.parametrize("make", [TablePanel, SymbolsPanel])
def test_fields_that_are_made_anew_stay_in_the_folder_of_the_panel(folder, make):
    """On viser's own server, whose callbacks run outside every folder."""
    page, access = EditedPage("planar2"), make_access("127.0.0.1")
    server = open_server("127.0.0.1", 0, access)
    try:
        panel = make(page.context, page.editing)
        with server.gui.add_folder("Panel") as own:
            panel.build(PanelGui(server, CallbackQueue(), access))
        inside = {element._impl.uuid for element in own._children.values()}
        before = set(server.gui._gui_input_handle_from_uuid)
        for robot in ("puma560", "planar2"):
            page.editing.open(robot)
            assert {element._impl.uuid for element in own._children.values()} == inside
            for uuid in set(server.gui._gui_input_handle_from_uuid) - before:
                owner = server.gui._gui_input_handle_from_uuid[uuid]._impl.parent_container_id
                assert owner != "root"
    finally:
        close_server(server)


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1e999", "l1"])
def test_a_slider_is_only_for_finite_numbers(text):
    assert _number(text) is None
    assert _number("1e3") == 1000.0


def test_pose_follows_the_units_of_the_file_that_is_opened(folder):
    page = EditedPage("planar2")
    panel = PosePanel(page.context)
    panel.build(page.gui)
    assert panel._fields[0].label == "x [m]"
    page.editing.open("nut_arm")
    assert [field.label for field in panel._fields][2:4] == ["z [mm]", "roll [deg]"]


def test_poses_are_added_to_a_file_beside_the_robot_and_chosen_from_it(folder):
    page = EditedPage("nut_arm")
    panel = PosePanel(page.context)
    panel.build(page.gui)
    add, field = page.gui.actions["Add to file of poses"], page.gui.found["Files of poses"]
    add("mine")
    assert "Save as" in panel._answer.content
    page.editing.save_as("own")
    (folder / "other.csv").write_text("time,waist\n0,1\n")
    here = page.context.view.store.robot.pose_of("tool0", page.context.positions())
    for count in ("1 pose.", "2 poses."):
        add("mine")
        assert f"mine.csv has {count}" in panel._answer.content
    panel._show_files()
    _, first, second = field.options
    assert (first[:11], second[:11]) == ("mine.csv 1:", "mine.csv 2:")
    for _ in range(2):
        page.gui.actions["Files of poses"](second)
        assert field.value == field.options[0]
        np.testing.assert_allclose(page.targets.pop(), here, atol=1e-8)
    for name in ("other", "../mine"):
        before = panel._answer.content
        add(name)
        assert panel._answer.content != before
    assert sorted(path.name for path in folder.iterdir()) == [
        "mine.csv",
        "mine.csv.bak",
        "other.csv",
        "own.yaml",
    ]


@pytest.mark.parametrize("edited", [True, False])
@pytest.mark.parametrize(("robot", "per_metre"), [("nut_arm", 1000.0), ("planar2", 1.0)])
def test_commands_take_and_answer_the_units_of_the_file(robot, per_metre, edited):
    page = EditedPage(robot, edited)
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
    page = EditedPage("nut_arm")
    panel = CommandsPanel(page.context)
    panel.build(page.gui)
    panel._choose("go waist=500")
    panel._choose("fk")
    refused, place = page.targets
    assert refused == "go waist=500: go: waist moves from -90 to 90 deg"
    assert place.startswith("fk: tool0: 160 0 185 mm") and not page.moved


def test_units_are_mm_and_degrees_without_a_file():
    units = EditedPage("", edited=False).context.units
    assert (units.length, units.angle) == ("mm", "deg")
