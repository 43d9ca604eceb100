# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Scene and panel on a real server, without a browser: what is sent, and what is not."""

import asyncio
import socket
import threading

import numpy as np
import pytest
from arm_viewer.browser.callbacks import CallbackQueue, PanelGui
from arm_viewer.browser.panel import Panel, PanelActions
from arm_viewer.browser.scene_drawer import SceneDrawer
from arm_viewer.browser.server import address_of, close_server, open_server
from arm_viewer.browser.view import NO_ROBOT, SceneView
from arm_viewer.scene.meshes import MeshFiles
from arm_viewer.scene.robot import read_robot
from arm_viewer.scene.store import SceneStore
from arm_viewer.scene.tool_trace import PIECES, ToolTrace

SWITCHES = {"axes": True, "labels": False, "trace": True}


class Setup:
    """A view on a server, and a count of the messages for browsers."""

    def __init__(self, sliders):
        self.server = open_server("127.0.0.1", 0)
        drawer = SceneDrawer(self.server, MeshFiles(lambda package: 1 / 0), SWITCHES)
        trace = ToolTrace()
        actions = PanelActions(drawer.switch, print, print, trace.clear)
        panel = Panel(PanelGui(self.server, CallbackQueue()), actions, SWITCHES, sliders)
        self.problems = []
        self.view = SceneView(
            SceneStore(), drawer, panel, trace, "tool0", self.show, self.problems.append
        )

    def show(self, robot):
        self.view.panel.set_robot(robot, {joint.name: 0.0 for joint in robot.joints}, ("rest",))

    def sent(self):
        """Number of messages queued for browsers so far."""
        return self.server._websock_server.get_message_buffer().message_counter

    def names(self):
        return set(self.server.scene._handle_from_node_name)

    def draw(self, robot, turn=0.0, **more):
        c, s = np.cos(turn), np.sin(turn)
        R = np.eye(4)
        R[:2, :2] = [[c, -s], [s, c]]
        frames = {n: T if n == "base_link" else R @ T for n, T in robot.zero.items()}
        return self.view.draw("base_link", frames | more, 0.0)


@pytest.fixture(params=[False, True], ids=["plain", "sliders"])
def setup(request):
    setup = Setup(request.param)
    yield setup
    close_server(setup.server)


def test_at_rest_nothing_is_sent(setup, urdf):
    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    values = {joint.name: 0.1 for joint in robot.joints}
    setup.draw(robot)
    setup.view.write_numbers(values)
    before = setup.sent()
    for _ in range(10):
        assert not setup.draw(robot)
        setup.view.write_numbers(values)
    assert setup.sent() == before


def test_a_moving_arm_costs_two_messages_a_frame(setup, urdf):
    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    setup.draw(robot)
    setup.view.trace.step = 1e9
    before = setup.sent()
    setup.draw(robot, turn=0.3)
    moving = len(robot.links) - 1
    assert setup.sent() - before <= 2 * moving


def test_a_changed_robot_replaces_the_former_one(setup, urdf):
    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    setup.draw(robot)
    assert "/frames/elbow_link/visual_1" in setup.names()
    changed = read_robot(urdf.replace("waist_link", "hip_link").replace("sphere", "sphere "))
    setup.view.store.set_robot(changed)
    setup.view.draw("base_link", {**robot.zero, **changed.zero}, 0.0)
    names = setup.names()
    assert not any("waist_link" in name for name in names)
    assert "/frames/hip_link/visual_0" in names
    assert sum(name.startswith("/frames/elbow_link/visual") for name in names) == 2


def test_a_visual_that_is_gone_disappears(setup, urdf):
    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    setup.draw(robot)
    bare = "".join(part.split("</visual>")[-1] for part in urdf.split("<visual>"))
    setup.view.store.set_robot(read_robot(bare))
    setup.draw(robot)
    assert not any("visual" in name for name in setup.names())


def test_a_mesh_that_is_missing_leaves_the_rest(setup, urdf):
    text = urdf.replace('<box size="0.03 0.03 0.12"/>', '<mesh filename="/no/such.stl"/>')
    robot = read_robot(text)
    setup.view.store.set_robot(robot)
    setup.draw(robot)
    (problem,) = setup.problems
    assert "there is no file /no/such.stl" in str(problem)
    assert "/frames/elbow_link/visual_0" in setup.names()


def test_every_marker_type_is_drawn_and_erased(setup, urdf, marker, tmp_path):
    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    setup.draw(robot)
    mesh = tmp_path / "a.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    before, points = setup.names(), [(0, 0, 0), (1, 0, 0), (0, 1, 0)] * 2
    for type in range(13):
        some = points[:2] if type == 0 else points
        plain, coloured = (
            marker(
                type,
                id=id,
                frame="tool0",
                frame_locked=id == 2,
                points=some,
                colors=colours,
                text="t",
                mesh_resource=str(mesh),
                color=(1, 1, 0, 0.5),
            )
            for id, colours in ((1, ()), (2, [(1, 0, 0), (0, 1, 0), (0, 0, 1)] * 2))
        )
        markers = [plain] if type == 0 else [plain, coloured]
        assert setup.view.store.markers.apply("m", markers, 0.0) == []
        assert setup.draw(robot)
        assert setup.problems == []
        drawn = setup.names() - before
        assert "/markers/m/test/1" in drawn
        assert type == 0 or "/frames/tool0/markers/m/test/2" in drawn
        setup.view.store.markers.apply("m", [marker(action=3)], 0.0)
        setup.draw(robot)
        assert not [name for name in setup.names() if name.endswith(("test/1", "test/2"))]


def test_a_marker_published_again_costs_nothing(setup, urdf, marker):
    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    setup.draw(robot)

    def cost(*markers):
        before = setup.sent()
        assert setup.view.store.markers.apply("m", markers, 0.0) == []
        setup.draw(robot)
        return setup.sent() - before

    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)] * 2
    same = [marker(type, id=type, points=points, text="t") for type in range(1, 13) if type != 10]
    assert cost(*same) > 0
    assert cost(*same) == 0
    assert cost(marker(1, id=1, position=(0, 0, 1))) > 1  # Cameras step back for it, once.
    assert cost(marker(1, id=1)) == 1  # The position alone.
    assert cost(marker(1, id=1, position=(0, 0, 1))) == 1
    assert cost(marker(9, id=9, text="u")) == 1  # The text alone.
    assert cost(marker(1, id=1, position=(0, 0, 1), color=(0, 1, 0))) > 1
    node = setup.server.scene._handle_from_node_name["/markers/m/test/1"]
    assert node.color == (0, 255, 0)
    assert cost(marker(1, id=1, frame="tool0", frame_locked=True)) > 1
    assert "/markers/m/test/1" not in setup.names()
    assert "/frames/tool0/markers/m/test/1" in setup.names()


def test_names_with_slashes_stay_one_level_and_apart(setup, urdf):
    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    setup.draw(robot, **{"left/bolt": np.eye(4), "left": np.eye(4), "": np.eye(4)})
    assert {"/frames/left%2Fbolt", "/frames/left", "/frames/%"} <= setup.names()


def test_missing_parts_are_reported(setup, urdf, marker):
    view = setup.view
    assert view.problem() == NO_ROBOT
    robot = read_robot(urdf)
    view.store.set_robot(robot)
    view.draw("base_link", {"base_link": np.eye(4)}, 0.0)
    assert view.problem() == (
        "Waiting for tf of waist_link, elbow_link, left_finger_link, right_finger_link and 1 "
        "more: is joint_states being published?"
    )
    view.store.markers.apply("m", [marker(frame="bolt")], 0.0)
    setup.draw(robot)
    assert view.problem() == "Markers wait for tf of bolt."
    setup.draw(robot, bolt=np.eye(4))
    assert view.problem() == ""
    view.description_problem = "robot_description: not XML"
    assert view.problem() == "robot_description: not XML"


def test_the_camera_moves_only_if_the_robot_has_another_size(setup, urdf):
    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    setup.draw(robot)
    camera = setup.server.initial_camera
    first = camera.position.copy()
    setup.view.store.set_robot(read_robot(urdf.replace("0.19 0 0", "0.2 0 0")))
    setup.draw(robot)
    np.testing.assert_array_equal(camera.position, first)
    setup.view.store.set_robot(read_robot(urdf.replace("0.19 0 0", "1.9 0 0")))
    setup.draw(robot)
    assert np.linalg.norm(camera.position) > 3 * np.linalg.norm(first)


def test_the_floor_lies_under_the_lowest_box(setup, urdf, marker):
    def floor():
        return setup.server.scene._handle_from_node_name["/floor"].position[2]

    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    setup.draw(robot)
    assert -0.002 < floor() < 0.0
    table = marker(position=(0, 0, -0.01), scale=(0.4, 0.4, 0.02), frame_locked=True)
    ball = marker(2, id=1, position=(0, 0, -0.2))
    setup.view.store.markers.apply("m", [table, ball], 0.0)
    setup.draw(robot)
    assert -0.022 < floor() < -0.02
    half = np.sqrt(0.5)
    lying = marker(scale=(0.6, 0.1, 0.1), orientation=(0, half, 0, half), frame="tool0")
    setup.view.store.markers.apply("m", [lying], 0.0)
    setup.draw(robot)
    # tool0 is turned by 90 degrees and the box in it by as much: the long side lies again.
    assert -0.022 < floor() < -0.02


def test_the_caption_is_not_shown_twice(setup, urdf, marker):
    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    setup.view.store.set_text("task", "turning")
    setup.draw(robot)
    caption = setup.server.scene._handle_from_node_name["/caption"]
    assert (caption.text, caption.visible) == ("turning", True)
    setup.view.store.markers.apply("m", [marker(9, text="Step 3: turning")], 0.0)
    setup.draw(robot)
    assert not caption.visible
    setup.view.store.markers.apply("m", [marker(action=3)], 0.0)
    setup.draw(robot)
    assert caption.visible


def test_switches_hide_axes_names_and_path(setup, urdf):
    robot = read_robot(urdf)
    setup.view.store.set_robot(robot)
    for turn in (0.0, 0.5, 1.0):
        setup.draw(robot, turn=turn)
    nodes = setup.server.scene._handle_from_node_name
    assert nodes["/frames/tool0"].show_axes
    assert nodes["/trace/0"].visible
    for switch in SWITCHES:
        setup.view.drawer.switch(switch, False)
    assert not nodes["/frames/tool0"].show_axes
    assert not nodes["/frames/tool0/label"].visible
    assert not nodes["/trace/0"].visible
    setup.view.trace.clear()
    setup.draw(robot, turn=1.0)
    assert "/trace/0" not in setup.names()


def test_the_address_can_be_typed(setup):
    assert address_of(setup.server) == f"http://127.0.0.1:{setup.server.get_port()}"


def test_the_end_does_not_wait_for_connections_kept_in_reserve():
    server = open_server("127.0.0.1", 0)
    with socket.create_connection(("127.0.0.1", server.get_port())):
        loop = server.get_event_loop()
        # Until the server has taken the connection.
        while not any("conn_handler" in repr(task) for task in asyncio.all_tasks(loop)):
            threading.Event().wait(0.01)
        close_server(server)
        assert loop.is_closed()


def test_the_longest_path_takes_no_more_than_a_bounded_one(setup):
    """The server keeps a record of every name: their number must be bounded."""
    kept = setup.server._websock_server.get_message_buffer().message_from_id
    sizes = []
    for point in range(9 * 64 * PIECES):
        setup.view.trace.add(np.array([float(point), 0.0, 0.0]))
        if point % 64 == 63:
            setup.view.drawer.apply_trace(setup.view.trace.take())
            sizes.append(len(kept))
    assert max(sizes[5 * PIECES :]) == max(sizes[2 * PIECES : 5 * PIECES])
