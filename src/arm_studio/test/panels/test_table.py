# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panels that edit a robot file, without a browser and without ROS."""

import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from arm_description.robot_file.editor import RobotEditor
from arm_studio.editing.grid import REFUSED, Grid
from arm_studio.editing.robot_editing import editing_of
from arm_studio.panels.kept_poses import KeptPosesPanel
from arm_studio.panels.robot_file import NOTHING, RobotFilePanel
from arm_studio.panels.symbols import SymbolsPanel, _number
from arm_studio.panels.table import SWITCH, TablePanel
from arm_testing.pages.page import FakeClient, FakePage
from arm_viewer.browser.access import make_access
from arm_viewer.browser.callbacks import CallbackQueue, PageGui
from arm_viewer.browser.server import close_server, open_server
from arm_viewer.errors import ViewerError
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import parse_robot


class EditedPage(FakePage):
    @property
    def editing(self):
        return editing_of(self.context)


def with_scene(page):
    node = lambda *_, **__: SimpleNamespace(remove=lambda: None)  # noqa: E731
    scene = SimpleNamespace(add_frame=node, add_label=node, add_line_segments=node)
    page.context.view.drawer.scene = scene
    return page


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_open_can_be_chosen_again_and_lists_what_was_saved(folder):
    page = EditedPage("planar2")
    page.build(RobotFilePanel, page.editing)
    field = page.gui.find("Open")
    other = next(option for option in field.options if option.startswith("puma560 "))
    page.editing.set_symbol("l1", "0.4")
    for path in (page.editing.path, None):  # refused, then opened
        page.gui.use("Open", other)
        assert field.value == NOTHING
        assert (page.editing.path == path) is (path is not None)
    assert page.editing.editor.model.name == "puma560"
    page.editing.save_as("mine")
    assert any(option.startswith("mine.yaml ") for option in field.options)


def test_each_entry_of_the_table_can_be_changed(folder):
    page = EditedPage("planar2")
    page.build(TablePanel, page.editing)
    edit, model = page.gui.edit, lambda: page.editing.editor.model
    edit("0 name", "hip")
    edit("1 type", "prismatic")
    edit("0 a", "0,4")
    edit("0 lower", "-95°")
    assert model().joint_names == ("hip", "elbow")
    assert model().joints[1].type == "prismatic"
    assert model().rows[0].row.a == 0.4
    edit("1 theta", "q2 + 90")
    assert model().joints[1].type == "revolute"
    edit("1", action="add")
    edit("2", action="up")
    assert model().joint_names == ("hip", "joint_1", "elbow")
    edit("1", action="remove")
    edit("0", action="up")
    assert "end of the table" in page.gui.marked("wrong")
    for name in ("hip", ""):
        edit("1 name", name)
        assert page.gui.marked("wrong")
    while page.editing.editor.undo():
        pass
    assert page.editing.is_saved


class Counted:
    """A method whose calls are counted."""

    def __init__(self, monkeypatch, kind, name):
        method, self.count = getattr(kind, name), 0

        def call(*arguments):
            self.count += 1
            return method(*arguments)

        monkeypatch.setattr(kind, name, call)

    def of(self, action):
        before = self.count
        action()
        return self.count - before


def test_the_rows_are_read_as_often_for_many_joints_as_for_few(folder, monkeypatch):
    read = Counted(monkeypatch, RobotEditor, "rows")
    counts = []
    for robot in ("planar2", "puma560"):
        page = EditedPage(robot)
        page.build(TablePanel, page.editing)
        counts.append(
            [
                read.of(partial(page.gui.edit, "0 a", "0.1")),
                read.of(partial(page.gui.edit, "0 a", "0.1\t0\n0.2\t0", "paste")),
            ]
        )
    assert counts[0] == counts[1]


def test_each_edit_shows_the_grid_once(folder, monkeypatch):
    page = EditedPage("planar2")
    page.build(TablePanel, page.editing)
    shown = Counted(monkeypatch, Grid, "show")
    for key, text, action in (
        ("0 a", "0.4", "set"),
        ("0 a", "l9", "set"),
        ("0 a", "0.5\t0", "paste"),
        ("0 a", "1\n2\t3", "paste"),
        ("0", "", "add"),
        ("0", "", "up"),
    ):
        assert shown.of(partial(page.gui.edit, key, text, action)) == 1, (text, action)


@pytest.mark.parametrize("prefix", ["", "left_"])
def test_a_hidden_table_has_no_matrix(folder, prefix):
    page = with_scene(EditedPage("planar2", prefix=prefix))
    page.positions = {f"{prefix}{name}": 0.0 for name in page.model.joint_names}
    panel = page.build(TablePanel, page.editing)
    page.gui.use(SWITCH, client=FakeClient())
    page.gui.edit("0 a", action="show")
    assert panel._matrix.visible
    page.gui.use(SWITCH, False, client=FakeClient())
    panel.update(page.state)
    assert not panel._matrix.visible


def test_a_drawn_row_does_not_outlive_an_edit(folder):
    page = with_scene(EditedPage("planar2"))
    page.positions = dict.fromkeys(page.model.joint_names, 0.0)
    panel = page.build(TablePanel, page.editing)
    page.gui.edit("0 a", action="show")
    assert panel._matrix.visible and panel._drawn._nodes
    page.gui.edit("0 a", "0.4", "set")
    panel.update(page.state)
    assert not panel._matrix.visible and not panel._drawn._nodes


@pytest.mark.parametrize("make", [SymbolsPanel])
def test_fields_that_are_made_anew_stay_in_the_folder_of_the_panel(folder, make):
    """On viser's own server, whose callbacks run outside every folder."""
    page, access = EditedPage("planar2"), make_access("127.0.0.1")
    server = open_server("127.0.0.1", 0, access)
    try:
        panel = make(page.context, page.editing)
        with server.gui.add_folder("Panel") as own:
            panel.build(PageGui(server, CallbackQueue(), access))
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


def test_poses_are_added_to_a_file_beside_the_robot_and_chosen_from_it(folder):
    page = EditedPage("nut_arm")
    panel = page.build(KeptPosesPanel, page.editing)
    add, field = partial(page.gui.use, "Add to file of poses"), page.gui.find("Files of poses")
    add("mine")
    assert "Save as" in panel._answer.content
    page.editing.save_as("own")
    (folder / "other.csv").write_text("time,waist\n0,1\n")
    here = page.context.view.store.robot.pose_of("tool0", page.context.positions())
    for count in ("1 pose.", "2 poses."):
        add("mine")
        assert f"mine.csv has {count}" in panel._answer.content
    panel.update(page.state)
    _, first, second = field.options
    assert (first[:11], second[:11]) == ("mine.csv 1:", "mine.csv 2:")
    for _ in range(2):
        page.gui.use("Files of poses", second)
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


def test_constants_are_added_renamed_and_removed_in_the_page(folder):
    page = EditedPage("planar2")
    page.build(SymbolsPanel, page.editing)
    edit, gui = page.gui.edit, page.gui
    edit(" name", "l3 = l1 + l2")
    edit("l3 name", "reach")
    edit("l1", "0.4")
    assert page.model.constants == pytest.approx(
        {"l1": 0.4, "l2": 0.2, "height": 0.1, "reach": 0.6}
    )
    gui.use("l2", 0.25)  # a slider
    assert page.model.constants["reach"] == pytest.approx(0.65)
    assert not gui.find("reach").visible
    edit("l1 name", action="remove")
    assert "l1 is used in" in gui.marked("wrong").replace("&#x27;", "")
    assert len(page.model.constants) == 4
    page.editing.undo()
    edit("reach name", action="remove")
    assert "reach" not in page.model.constants


def test_name_convention_units_base_and_tool_are_set_in_the_page(folder):
    page = EditedPage("planar2")
    page.build(RobotFilePanel, page.editing)
    edit = page.gui.edit
    edit("name", "mine")
    edit("convention", "modified")
    edit("base xyz 2", "0.5")
    edit("tool rpy 0", "90")
    model = page.model
    assert (model.name, model.convention) == ("mine", "modified")
    assert (model.base.xyz[2], model.tool.rpy[0]) == pytest.approx((0.5, np.pi / 2))
    edit("length", "cm")
    assert page.model.base.xyz[2] == pytest.approx(0.005)
    edit("angle", "furlong")
    assert "furlong" in page.gui.marked("wrong")


@pytest.mark.parametrize("joints", [2, 6])
def test_a_new_robot_takes_other_units_until_it_is_edited(folder, joints):
    page = EditedPage("planar2")
    page.build(RobotFilePanel, page.editing)
    page.editing.new(joints)
    before = page.model
    page.gui.edit("angle", "rad")
    page.gui.edit("length", "m")
    assert (page.model.units.length, page.model.units.angle) == ("m", "rad")
    q = [0.1] * joints
    np.testing.assert_allclose(page.model.fk(q), before.fk(q), atol=1e-9)


def test_postures_are_listed_renamed_and_removed_in_the_page(folder):
    page = EditedPage("planar2")
    page.build(KeptPosesPanel, page.editing)
    page.gui.edit("1", "left")
    page.gui.edit("2", action="remove")
    assert [*page.model.postures] == ["rest", "left"]
    page.gui.edit("1", "rest")
    assert "rest" in page.gui.marked("wrong") and [*page.model.postures] == ["rest", "left"]


def test_a_posture_is_kept_by_the_names_of_the_file(folder):
    page = EditedPage("planar2", prefix="left_")
    page.positions = {f"left_{name}": 0.3 for name in page.model.joint_names}
    page.build(KeptPosesPanel, page.editing)
    page.gui.use("Keep as posture", "here")
    assert page.model.postures["here"] == pytest.approx(dict.fromkeys(page.model.joint_names, 0.3))


CELLS = st.sampled_from(["0 a", "1 theta", "0 type", "1", "9 a", "0", "", "-1 a", "0 __class__"])
DEEDS = st.sampled_from(["set", "paste", "show", "add", "up", "down", "remove", "exec", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@settings(max_examples=60)
@given(st.data())
def test_no_message_breaks_the_table_and_undo_takes_all_back(data):
    page = with_scene(EditedPage("planar2"))
    panel = page.build(TablePanel, page.editing)
    first = page.editing.editor.data
    for _ in range(data.draw(st.integers(1, 4))):
        fields = {"do": DEEDS | JSON, "cell": CELLS | JSON, "text": st.text(max_size=60) | JSON}
        message = data.draw(st.fixed_dictionaries(fields) | JSON)
        text = data.draw(st.sampled_from([json.dumps(message), str(message)]))
        try:
            panel._grid.receive(f"{text} #1")
        except ViewerError as error:
            assert str(error) == REFUSED
        parse_robot(page.editing.editor.data)
    while page.editing.editor.undo():
        pass
    assert page.editing.editor.data == first
