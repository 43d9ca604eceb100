# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Scene and panel on a real server, without a browser, checked by the messages they send."""

import asyncio
import re
import socket
import threading

import numpy as np
import pytest
from arm_common.transforms import turn_z
from arm_viewer.browser.access import make_access
from arm_viewer.browser.callbacks import CallbackQueue, PageGui
from arm_viewer.browser.cameras import HANDLE
from arm_viewer.browser.server import close_server, open_server
from arm_viewer.browser.sidebar import Sidebar, SidebarActions
from arm_viewer.browser.view import NO_ROBOT, SceneDrawer, SceneView
from arm_viewer.control.controls import DragHandle
from arm_viewer.scene.robot import read_robot
from arm_viewer.scene.shapes import Ellipsoid, MeshFiles
from arm_viewer.scene.store import PIECES, SceneStore, ToolTrace

ACCESS = make_access("127.0.0.1")
SWITCHES = {"axes": True, "labels": False, "trace": True}


class Setup:
    """A view on a server, and a count of the messages for browsers."""

    def __init__(self, sliders, urdf):
        self.server, self.robot = open_server("127.0.0.1", 0, ACCESS), read_robot(urdf)
        drawer = SceneDrawer(self.server, MeshFiles(lambda package: 1 / 0), SWITCHES)
        trace = ToolTrace()
        actions = SidebarActions(drawer.switch, print, print, trace.clear, print)
        panel = Sidebar(PageGui(self.server, CallbackQueue(), ACCESS), actions, SWITCHES, sliders)
        self.problems = []
        self.view = SceneView(
            SceneStore(), drawer, panel, trace, "tool0", self.show, self.problems.append
        )

    def show(self, robot):
        self.view.sidebar.set_robot(robot, {joint.name: 0.0 for joint in robot.joints}, ("rest",))

    def sent(self):
        return self.server._websock_server.get_message_buffer().message_counter

    def names(self):
        return set(self.server.scene._handle_from_node_name)

    def node(self, name):
        return self.server.scene._handle_from_node_name[name]

    def draw(self, turn=0.0, **more):
        R = turn_z(turn)
        frames = {n: T if n == "base_link" else R @ T for n, T in self.robot.zero.items()}
        return self.view.draw("base_link", frames | more, 0.0)

    def draw_robot(self, urdf):
        other = read_robot(urdf)
        self.view.store.set_robot(other)
        self.draw(**other.zero)

    def put(self, *markers):
        """Draw markers; return how many messages that costs."""
        before = self.sent()
        assert self.view.store.markers.apply("m", markers, 0.0) == []
        self.draw()
        return self.sent() - before


@pytest.fixture(params=[False, True], ids=["plain", "sliders"])
def empty(request, urdf):
    setup = Setup(request.param, urdf)
    yield setup
    close_server(setup.server)


@pytest.fixture
def setup(empty):
    empty.view.store.set_robot(empty.robot)
    empty.draw()
    return empty


def test_nothing_is_sent_at_rest(setup):
    values = {joint.name: 0.1 for joint in setup.robot.joints}
    setup.view.write_numbers(values)
    before = setup.sent()
    for _ in range(10):
        assert not setup.draw()
        setup.view.write_numbers(values)
    assert setup.sent() == before


def test_moving_arm_costs_at_most_two_messages_per_link(setup):
    setup.view.trace.step = 1e9
    before = setup.sent()
    setup.draw(turn=0.3)
    assert setup.sent() - before <= 2 * (len(setup.robot.links) - 1)


def test_changed_robot_replaces_the_previous_one(setup, urdf):
    assert "/frames/elbow_link/visual_1" in setup.names()
    setup.draw_robot(urdf.replace("waist_link", "hip_link").replace("sphere", "sphere "))
    names = setup.names()
    assert not any("waist_link" in name for name in names)
    assert "/frames/hip_link/visual_0" in names
    assert sum(name.startswith("/frames/elbow_link/visual") for name in names) == 2


def test_edit_redraws_changed_bodies_moves_others_and_keeps_the_sliders(empty, urdf):
    empty.draw_robot(urdf)
    names = [name for name in empty.names() if "/visual_" in name]
    before = {name: empty.node(name) for name in names}
    sliders = dict(empty.view.sidebar._sliders)
    edited = read_robot(urdf).visuals
    changed = [v for v in edited if isinstance(v.shape, Ellipsoid)]
    assert changed
    radius = f'radius="{0.5 * changed[0].shape.diameters[0]:g}"'
    assert radius in urdf
    empty.draw_robot(urdf.replace(radius, 'radius="0.017"'))
    redrawn = {name for name in names if empty.node(name) is not before[name]}
    assert redrawn
    assert {name.rpartition("/")[0] for name in redrawn} == {
        f"/frames/{visual.link}" for visual in changed
    }
    assert empty.view.sidebar._sliders == sliders


@pytest.mark.parametrize("empty", [True], ids=["sliders"], indirect=True)
def test_narrower_limits_keep_the_sliders(empty, urdf):
    """As when a driver tells its limits while a person enters a number."""
    empty.draw_robot(urdf)
    before = {name: slider for name, (_, slider) in empty.view.sidebar._sliders.items()}
    waist = re.compile(r'(<joint name="waist".*?lower=")[^"]*(" upper=")[^"]*"', re.DOTALL)
    narrowed, count = waist.subn(r'\g<1>-0.5\g<2>0.5"', urdf)
    assert count == 1
    empty.draw_robot(narrowed)
    after = {name: slider for name, (_, slider) in empty.view.sidebar._sliders.items()}
    assert after == before and (after["waist"].min, after["waist"].max) == (-28.6, 28.6)


def test_removed_visual_disappears(setup, urdf):
    setup.draw_robot("".join(part.split("</visual>")[-1] for part in urdf.split("<visual>")))
    assert not any("visual" in name for name in setup.names())


def test_commanded_arm_is_a_ghost_beside_the_true_one(setup):
    plain, true = "/frames/elbow_link", "/frames/ground_truth%2Felbow_link"
    assert setup.node(f"{plain}/visual_0").opacity is None
    setup.draw(**{"ground_truth/elbow_link": turn_z(0.02) @ setup.robot.zero["elbow_link"]})
    assert setup.node(f"{true}/visual_0").opacity is None
    assert setup.node(f"{plain}/visual_0").opacity == pytest.approx(0.3)
    assert not setup.node(true).show_axes
    setup.draw()
    assert not [name for name in setup.names() if name.startswith(true)]
    assert setup.node(f"{plain}/visual_0").opacity is None


def test_missing_mesh_does_not_affect_other_visuals(setup, urdf):
    setup.draw_robot(
        urdf.replace('<box size="0.03 0.03 0.12"/>', '<mesh filename="/no/such.stl"/>')
    )
    (problem,) = setup.problems
    assert "there is no file /no/such.stl" in str(problem)
    assert "/frames/elbow_link/visual_0" in setup.names()


@pytest.mark.parametrize("type", range(13))
def test_every_marker_type_is_drawn_and_erased(setup, marker, tmp_path, type):
    mesh = tmp_path / "a.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)] * 2
    colours = [(1, 0, 0), (0, 1, 0), (0, 0, 1)] * 2
    fields = {"frame": "tool0", "text": "t", "mesh_resource": str(mesh), "color": (1, 1, 0, 0.5)}
    fields["points"] = points[:2] if type == 0 else points
    setup.put(marker(type, id=1, **fields))
    if type:
        setup.put(marker(type, id=2, frame_locked=True, colors=colours, **fields))
    assert setup.problems == []
    assert "/markers/m/test/1" in setup.names()
    assert type == 0 or "/frames/tool0/markers/m/test/2" in setup.names()
    setup.put(marker(action=3))
    assert not [name for name in setup.names() if name.endswith(("test/1", "test/2"))]


def test_unchanged_marker_sends_no_messages(setup, marker):
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)] * 2
    same = [marker(type, id=type, points=points, text="t") for type in range(1, 13) if type != 10]
    assert setup.put(*same) > 0
    assert setup.put(*same) == 0
    assert setup.put(marker(1, id=1, position=(0, 0, 1))) > 1  # Cameras step back for it, once.
    assert setup.put(marker(1, id=1)) == 1  # The position alone.
    assert setup.put(marker(1, id=1, position=(0, 0, 1))) == 1
    assert setup.put(marker(9, id=9, text="u")) == 1  # The text alone.
    assert setup.put(marker(1, id=1, position=(0, 0, 1), color=(0, 1, 0))) > 1
    assert setup.node("/markers/m/test/1").color == (0, 255, 0)
    assert setup.put(marker(1, id=1, frame="tool0", frame_locked=True)) > 1
    assert "/markers/m/test/1" not in setup.names()
    assert "/frames/tool0/markers/m/test/1" in setup.names()


def test_frame_names_with_slashes_stay_distinct_nodes(setup):
    setup.draw(**{"left/bolt": np.eye(4), "left": np.eye(4), "": np.eye(4)})
    assert {"/frames/left%2Fbolt", "/frames/left", "/frames/%"} <= setup.names()


def test_missing_parts_are_reported(empty, marker):
    view = empty.view
    assert view.problem() == NO_ROBOT
    view.store.set_robot(empty.robot)
    view.draw("base_link", {"base_link": np.eye(4)}, 0.0)
    assert view.problem() == (
        "Waiting for the place of waist_link, elbow_link, left_finger_link, right_finger_link and "
        "1 more: where are the joints?"
    )
    empty.put(marker(frame="bolt"))
    assert view.problem() == "Waiting for the place of bolt."
    empty.draw(bolt=np.eye(4))
    assert view.problem() == ""
    view.description_problem = "robot_description: not XML"
    assert view.problem() == "robot_description: not XML"


def test_camera_moves_only_if_the_robot_size_changes(setup, urdf):
    camera = setup.server.initial_camera
    first = camera.position.copy()
    setup.draw_robot(urdf.replace("0.19 0 0", "0.2 0 0"))
    np.testing.assert_array_equal(camera.position, first)
    setup.draw_robot(urdf.replace("0.19 0 0", "1.9 0 0"))
    assert np.linalg.norm(camera.position) > 3 * np.linalg.norm(first)


def test_floor_is_below_the_lowest_box(setup, marker):
    def floor():
        return setup.node("/floor").position[2]

    assert -0.002 < floor() < 0.0
    table = marker(position=(0, 0, -0.01), scale=(0.4, 0.4, 0.02), frame_locked=True)
    setup.put(table, marker(2, id=1, position=(0, 0, -0.2)))
    assert -0.022 < floor() < -0.02
    half = np.sqrt(0.5)
    setup.put(marker(scale=(0.6, 0.1, 0.1), orientation=(0, half, 0, half), frame="tool0"))
    # tool0 is turned by 90 degrees and the box in it by as much: the long side lies again.
    assert -0.022 < floor() < -0.02


def test_caption_is_hidden_if_a_marker_shows_it(setup, marker):
    setup.view.store.set_text("task", "turning")
    setup.draw()
    caption = setup.node("/caption")
    assert (caption.text, caption.visible) == ("turning", True)
    setup.put(marker(9, text="Step 3: turning"))
    assert not caption.visible
    setup.put(marker(action=3))
    assert caption.visible


def test_switches_hide_axes_names_and_path(setup):
    for turn in (0.5, 1.0):
        setup.draw(turn=turn)
    frame, label, trace = map(setup.node, ("/frames/tool0", "/frames/tool0/label", "/trace/0"))
    triangle = setup.node("/frames/tool0/triangle")
    assert frame.show_axes and trace.visible and triangle.visible
    corners = triangle.vertices
    assert np.ptp(corners[:, 2]) == 0.0 and corners[0, 0] == corners[1, 1] > 0.0  # from x to y
    for switch in SWITCHES:
        setup.view.drawer.switch(switch, False)
    assert not frame.show_axes and not label.visible and not trace.visible
    assert not triangle.visible
    setup.view.trace.clear()
    setup.draw(turn=1.0)
    assert "/trace/0" not in setup.names()


def test_path_of_the_tool_ends_where_another_robot_begins(setup, urdf):
    setup.draw(turn=0.5)
    assert "/trace/0" in setup.names()
    setup.draw_robot(urdf.replace("0.19 0 0", "0.2 0 0"))  # an edit of the same one
    assert len(setup.node("/trace/0").points) == 1  # no line to where its tool is
    setup.view.draw("base_link", setup.robot.zero, 1.0)
    assert len(setup.node("/trace/1").points) == 1  # but from there
    setup.draw_robot(urdf.replace('robot name="', 'robot name="other_'))
    assert "/trace/0" not in setup.names()


def test_handle_is_as_large_as_the_robot_wants_it(setup):
    handle = DragHandle(setup.server.scene, CallbackQueue(), print, shown=True)
    for size in (0.5, 2.0):
        handle.set_tool(np.eye(4), size)
        assert setup.node("/handle").scale == pytest.approx(HANDLE * size)


def test_closing_does_not_wait_for_idle_connections():
    server = open_server("127.0.0.1", 0, ACCESS)
    with socket.create_connection(("127.0.0.1", server.get_port())):
        loop = server.get_event_loop()
        # Until the server has taken the connection.
        while not any("conn_handler" in repr(task) for task in asyncio.all_tasks(loop)):
            threading.Event().wait(0.01)
        close_server(server)
        assert loop.is_closed()


def test_long_path_uses_a_bounded_number_of_nodes(setup):
    """The server keeps a record of every name: their number must be bounded."""
    kept = setup.server._websock_server.get_message_buffer().message_from_id
    sizes = []
    for point in range(9 * 64 * PIECES):
        setup.view.trace.add(np.array([float(point), 0.0, 0.0]))
        if point % 64 == 63:
            setup.view.drawer.apply_trace(setup.view.trace.take())
            sizes.append(len(kept))
    assert max(sizes[5 * PIECES :]) == max(sizes[2 * PIECES : 5 * PIECES])


def test_frames_at_one_place_share_a_label_until_they_part(setup):
    setup.view.drawer.switch("labels", True)
    here, beside = turn_z(0.0), turn_z(0.0)
    here[:3, 3], beside[:3, 3] = (0.4, 0.3, 0.2), (0.4, 0.3, 0.1)
    labels = [f"/frames/{name}/label" for name in ("camera", "lens")]
    setup.draw(camera=here, lens=here)
    camera, lens = map(setup.node, labels)
    assert (camera.text, camera.visible, lens.visible) == ("camera\nlens", True, False)
    setup.draw(camera=here, lens=beside)
    assert (camera.text, lens.text) == ("camera", "lens")
    assert camera.visible
    assert lens.visible
    setup.draw(lens=beside)  # the camera is gone
    assert lens.visible
