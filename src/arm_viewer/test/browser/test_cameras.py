# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Cameras show arm and scene beside the panel, until a user moves them."""

import itertools
import math
import threading
from collections import deque

import numpy as np
import pytest
from arm_testing.arms.samples import ROBOTS
from arm_testing.pages.page import FakeCamera, FakeServer
from arm_testing.pages.pinhole import pinhole
from arm_testing.pages.viewer_client import visit
from arm_testing.waiting import wait_for
from arm_viewer.browser.access import Access
from arm_viewer.browser.callbacks import CallbackQueue
from arm_viewer.browser.cameras import (
    CALM,
    DIRECTION,
    HANDLE,
    HIGH,
    LINGER,
    LOOKS,
    PHONE,
    WIDE,
    Cameras,
    axes_of,
    close_view,
    handle_tips,
    portrait,
    robot_corners,
    round_length,
    view_of,
    watch_clients,
)
from arm_viewer.browser.server import close_server, open_server
from arm_viewer.scene.robot import PostureBook, read_robot
from arm_viewer.scene.shapes import Box, Cylinder, corners
from hypothesis import given
from hypothesis import strategies as st

from arm_description import load_robot, shipped_robots

# Widths and heights of windows, less the panel's width where that stands beside the picture.
PAGES = [(956, 800), (1116, 900), (1596, 1080), (390, 844)]
NUT_ARM = read_robot(load_robot("nut_arm").to_urdf())
ROUNDING = 1e-9


def seen(view, points, aspect):
    """Return where a camera shows points: from -1 to 1, right and up."""
    right, up = pinhole(view, points)
    return right / aspect, up


def holds(view, points, aspect):
    part = WIDE if aspect >= PHONE else HIGH
    x, y = seen(view, points, aspect)
    return (
        part.left - ROUNDING <= x.min() <= x.max() <= part.right + ROUNDING
        and part.lower - ROUNDING <= y.min() <= y.max() <= part.upper + ROUNDING
    )


def in_postures(name):
    """Return a shipped robot and the poses of its links in each posture."""
    robot = read_robot(load_robot(name).to_urdf())
    return robot, [robot.poses_at(posture) for posture in PostureBook(name).postures.values()]


@pytest.mark.parametrize(("width", "height"), PAGES)
@pytest.mark.parametrize("name", ROBOTS)
def test_view_shows_the_whole_arm_in_every_posture(name, width, height):
    robot, poses = in_postures(name)
    view = view_of(robot, poses, aspect=width / height)
    assert holds(view, robot_corners(robot, [robot.zero, *poses]), width / height)
    assert holds(view, view.caption[None], width / height)


@pytest.mark.parametrize(("width", "height"), PAGES)
@pytest.mark.parametrize("name", ROBOTS)
def test_view_shows_the_handle_in_every_posture(name, width, height):
    robot, poses = in_postures(name)
    view = view_of(robot, poses, aspect=width / height, tool="tool0")
    arrows = handle_tips([robot.zero, *poses], "tool0", HANDLE * view.size)
    assert len(arrows) == 3 * (1 + len(poses))
    assert np.abs(seen(view, arrows, width / height)).max() <= 1.0


def test_posture_poses_match_forward_kinematics():
    for name in shipped_robots():
        model, book = load_robot(name), PostureBook(name)
        robot = read_robot(model.to_urdf())
        for joints in book.postures.values():
            q = [joints.get(joint, 0.0) for joint in model.joint_names]
            np.testing.assert_allclose(robot.poses_at(joints)["tool0"], model.fk(q), atol=1e-9)


@given(st.lists(st.tuples(*[st.floats(-3, 3)] * 3), min_size=1, max_size=6), st.floats(0.3, 3.0))
def test_view_includes_surrounding_objects_from_the_closest_position(places, aspect):
    robot, things = NUT_ARM, np.array(places)
    view = view_of(robot, objects=things, aspect=aspect)
    points = np.vstack([robot_corners(robot, [robot.zero]), things, view.caption])
    assert holds(view, points, aspect)
    part = WIDE if aspect >= PHONE else HIGH
    x, y = seen(view, points, aspect)
    gaps = x.min() - part.left, part.right - x.max(), y.min() - part.lower, part.upper - y.max()
    assert max(gaps[0], gaps[1]) < 1e-6 or max(gaps[2], gaps[3]) < 1e-6  # two edges are touched


def test_corners_match_the_bounding_box_of_a_solid():
    pose = np.eye(4)
    pose[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    pose[:3, 3] = 1.0, 2.0, 3.0
    found = corners(Box((0.2, 0.4, 0.6)), pose)
    np.testing.assert_allclose(found.min(axis=0), [0.8, 1.9, 2.7])
    np.testing.assert_allclose(found.max(axis=0), [1.2, 2.1, 3.3])
    assert corners(Cylinder((0.2, 0.2), 1.0), pose).shape == (8, 3)


@pytest.fixture
def robot(urdf):
    return read_robot(urdf)


@pytest.fixture
def show(robot):
    def show(server):
        cameras = Cameras(server, dict)
        cameras.set_robot(robot)
        return cameras, server.clients.get(0)

    return show


def far_box(reach):
    return corners(Box((0.1, 0.1, 0.1)), np.eye(4) + reach * np.eye(4, k=3))


@pytest.mark.parametrize("size", ["image_width", "image_height"])
def test_minimised_browser_is_ignored(show, size):
    server = FakeServer(2.0)
    camera = server.clients[0].camera
    setattr(camera, size, 0)
    del camera.aspect  # which cannot be asked for: it divides by zero
    cameras, client = show(server)
    cameras.fit(client)
    assert not cameras.update(client)
    np.testing.assert_array_equal(camera.position, np.full(3, 3.0))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("position", np.array([np.inf, 0.0, 0.0])),
        ("look_at", np.array([0.0, np.nan, 0.0])),
        ("aspect", np.inf),
        ("aspect", np.nan),
        ("aspect", 1e-300),
        ("aspect", -1.0),
    ],
)
def test_browser_whose_camera_has_no_numbers_is_ignored(show, key, value):
    server = FakeServer(2.0)
    cameras, client = show(server)
    view = client.camera.position.copy()
    setattr(client.camera, key, value)
    for _ in range(3):
        cameras.update(client)
        cameras.fit(client)
        cameras.glide()
    assert np.isfinite(cameras.view.position).all()
    assert key == "position" or np.array_equal(client.camera.position, view)


def test_positions_are_read_while_another_thread_adds_some(show):
    """viser's event loop reads what the page's thread writes."""
    cameras, client = show(FakeServer(2.0))
    failures, done = [], threading.Event()

    def read():
        while not done.is_set():
            try:
                cameras.update(client)
            except RuntimeError as error:
                failures.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    for i in range(20000):
        cameras._cameras[0].remember(np.full(3, float(i)))
    done.set()
    thread.join()
    assert not failures


def test_later_browsers_fit_a_robot_of_nearly_the_same_size(show, urdf):
    server = FakeServer()
    cameras, _ = show(server)
    other = read_robot(urdf.replace('length="0.06"', 'length="0.066"'))
    cameras.set_robot(other)
    server.clients = FakeServer(0.5).clients
    cameras.fit(server.clients[0])
    held = view_of(other, aspect=0.5).position
    np.testing.assert_array_equal(server.clients[0].camera.position, held)


def test_camera_fits_its_picture_and_follows_its_aspect_ratio(show, robot):
    server = FakeServer(2.0, 0.5)
    cameras, client = show(server)

    def assert_fits(camera):
        held = view_of(robot, aspect=camera.aspect).position
        np.testing.assert_array_equal(camera.position, held)

    for other in server.clients.values():
        assert_fits(other.camera)
    assert not cameras.update(client)
    client.camera.aspect = 0.7
    assert cameras.update(client)
    cameras.fit(client)
    assert_fits(client.camera)


def test_outdated_position_is_not_mistaken_for_a_user_s(show):
    cameras, client = show(FakeServer(1.5))
    placed = client.camera.position
    client.camera.position = np.full(3, 3.0)  # reported before it got there
    cameras.update(client)
    cameras.fit(client)
    np.testing.assert_array_equal(client.camera.position, placed)


def test_browser_that_takes_the_first_view_of_all_last_is_fitted_again(show, robot):
    """As on a telephone whose page sets viser's initial camera after its own."""
    server = FakeServer(0.46)
    cameras, client = show(server)
    camera, held = client.camera, view_of(robot, aspect=0.46).position
    for _ in range(2):
        camera.position = server.initial_camera.position
        assert cameras.update(client)
        cameras.fit(client)
        np.testing.assert_array_equal(camera.position, held)
        assert not cameras.update(client)


class LateCamera(FakeCamera):
    """A camera whose browser reports each position some time after it was given."""

    def __init__(self, **fields):
        super().__init__(**fields)
        self.unreported = deque()

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "position" and "unreported" in vars(self):
            self.unreported.append(value)

    def report(self):
        if self.unreported:
            vars(self)["position"] = self.unreported.popleft()


def test_every_edit_is_fitted_however_late_the_browser_reports(robot, urdf):
    edited = read_robot(urdf.replace("0.19 0 0", "0.21 0 0"))  # nearly of the same size
    for counts in itertools.product((0, 1, 2), repeat=5):
        server = FakeServer(1.5)
        client = server.clients[0]
        client.camera = LateCamera(**vars(client.camera))
        cameras = Cameras(server, dict)
        cameras.set_robot(robot)
        for count, shown in zip(counts, itertools.cycle([edited, robot])):
            for _ in range(count):
                client.camera.report()
                cameras.update(client)
            assert not cameras.set_robot(shown)
            wanted = view_of(shown, aspect=1.5).position
            np.testing.assert_array_equal(client.camera.position, wanted, str(counts))


def test_postures_that_come_after_their_robot_are_shown(robot):
    server, postures = FakeServer(1.5), []
    cameras = Cameras(server, lambda: postures[-1] if postures else {})
    cameras.set_robot(robot)
    camera = server.clients[0].camera
    assert not cameras.glide()
    turned = {joint.name: 0.5 for joint in robot.joints}
    postures.append({"turned": turned})
    glided(cameras, server.clients[0])
    wanted = view_of(robot, (robot.poses_at(turned),), aspect=1.5).position
    assert np.linalg.norm(wanted - view_of(robot, aspect=1.5).position) > 0.01
    np.testing.assert_allclose(camera.position, wanted, atol=2e-3)


def test_camera_moved_by_a_user_stays_until_the_robot_size_changes(show, urdf):
    cameras, client = show(FakeServer(1.5))
    cameras.update(client)
    turned = client.camera.position + 0.1
    client.camera.position = turned
    client.camera.aspect = 0.8
    cameras.include(far_box(0.5))
    cameras.fit(client)
    np.testing.assert_array_equal(client.camera.position, turned)
    cameras.set_robot(read_robot(urdf.replace("0.19 0 0", "1.9 0 0")))
    assert np.abs(client.camera.position - turned).max() > 0.1
    cameras.remove(client)
    assert not cameras.update(client)


def test_view_includes_nearby_but_not_distant_objects(show):
    cameras, client = show(FakeServer(1.5))
    alone = client.camera.position
    cameras.include(far_box(100.0))
    np.testing.assert_array_equal(client.camera.position, alone)
    box = far_box(0.5)
    cameras.include(box)
    assert holds(cameras.view, box, 1.2)
    beside = client.camera.position
    assert np.abs(beside - alone).max() > 0.01
    cameras.include(box)
    assert client.camera.position is beside


NUT = np.array([0.16, 0.04, 0.18])  # [m]
FRAMES = 200  # more than any camera takes to its place


def glided(cameras, client):
    """Let the cameras arrive, as a browser would report it; return the last position."""
    frames = 0
    while cameras.glide():
        cameras.update(client)
        frames += 1
        assert frames < FRAMES
    return client.camera.position


def test_cameras_come_close_while_the_nut_is_held_and_go_back_later(show):
    cameras, client = show(FakeServer(1.5))
    cameras.update(client)
    whole = client.camera.position
    cameras.set_tool(NUT, 0.14, working=False, now=0.0)
    assert not cameras.glide()
    cameras.set_tool(NUT, 0.14, working=True, now=1.0)
    close = glided(cameras, client)
    np.testing.assert_allclose(close, close_view(NUT, 0.14, 1.5).position, atol=1e-3)
    cameras.set_tool(NUT + 0.001, 0.14, working=False, now=1.0 + LINGER - 0.1)
    assert not cameras.glide()  # between two strokes, and the tool is still in the middle
    cameras.set_tool(NUT, 0.14, working=False, now=1.0 + LINGER)
    np.testing.assert_allclose(glided(cameras, client), whole, atol=1e-3)


def test_close_up_follows_the_tool(show):
    cameras, client = show(FakeServer(1.5))
    cameras.set_tool(NUT, 0.14, working=True, now=0.0)
    first = glided(cameras, client)
    cameras.set_tool(NUT + np.array([0.1, 0.0, 0.0]), 0.14, working=True, now=0.1)
    np.testing.assert_allclose(
        glided(cameras, client) - first, [0.1 - CALM * 0.14, 0.0, 0.0], atol=2e-3
    )


def test_camera_moved_by_a_user_comes_close_only_by_the_button(show, robot):
    cameras, client = show(FakeServer(1.5))
    cameras.update(client)
    turned = client.camera.position = client.camera.position + 0.1
    cameras.set_tool(NUT, 0.14, working=True, now=0.0)
    assert not cameras.glide()
    np.testing.assert_array_equal(client.camera.position, turned)
    cameras.look(client, LOOKS[1])
    close = glided(cameras, client)
    np.testing.assert_allclose(close, close_view(NUT, 0.14, 1.5).position, atol=1e-3)
    cameras.look(client, LOOKS[0])
    whole = glided(cameras, client)  # although the nut is held
    np.testing.assert_allclose(whole, view_of(robot, aspect=1.5).position, atol=1e-3)


def test_whole_arm_shows_the_arm_as_it_stands_not_the_postures_of_its_file(robot):
    server = FakeServer(1.5)
    wide = {joint.name: 2.0 for joint in robot.joints}
    cameras = Cameras(server, lambda: {"wide": wide})
    cameras.set_robot(robot)
    client = server.clients[0]
    every = glided(cameras, client)
    cameras.frames = robot.zero
    cameras.look(client, LOOKS[0])
    whole = glided(cameras, client)
    points = robot_corners(robot, [robot.zero])
    x, y = seen(portrait(robot, robot.zero, 1.5, area=WIDE), points, 1.5)
    np.testing.assert_allclose(
        whole, portrait(robot, robot.zero, 1.5, area=WIDE).position, atol=1e-3
    )
    assert np.linalg.norm(whole - every) > 0.01
    assert max(np.abs(x).max(), np.abs(y).max()) > 0.8


@given(st.tuples(*[st.floats(-1, 1)] * 3), st.floats(0.01, 1.0), st.sampled_from(PAGES))
def test_close_up_shows_what_is_around_the_point(point, width, page):
    aspect = page[0] / page[1]
    view = close_view(np.array(point), width, aspect)
    right, up, _ = axes_of(DIRECTION)
    around = np.array(point) + 0.5 * width * np.array([right, -right, up, -up])
    assert holds(view, around, aspect)


@pytest.mark.parametrize("name", ROBOTS)
def test_portrait_fills_the_picture_with_the_first_posture(name):
    robot, book = read_robot(load_robot(name).to_urdf()), PostureBook(name)
    poses = robot.poses_at(book.home)
    x, y = seen(portrait(robot, poses, 4 / 3), robot_corners(robot, [poses]), 4 / 3)
    assert np.abs([x, y]).max() <= 0.94 + ROUNDING
    gaps = np.array([0.94 - np.abs(x).max(), 0.92 - np.abs(y).max()])
    assert gaps.min() < 1e-6


@given(st.floats(1e-4, 1e4))
def test_round_length_is_round_and_just_below(length):
    rounded = round_length(length)
    assert 0.39 * length < rounded <= 1.002 * length
    assert round(rounded / 10 ** math.floor(math.log10(rounded) + 1e-9)) in (1, 2, 5)


def test_browsers_that_come_and_go_leave_no_thread_and_no_camera(robot):
    server = open_server("127.0.0.1", 0, Access("the-token-of-a-test", frozenset()))
    cameras, queue = Cameras(server, dict), CallbackQueue()
    placed, fit = [], cameras.fit
    cameras.fit = lambda client: placed.append(client) or fit(client)
    cameras.set_robot(robot)
    watch_clients(server, cameras, queue)
    before = names_of_threads()
    for _ in range(3):
        visit(f"127.0.0.1:{server.get_port()}")
    wait_for(lambda: not server.get_clients(), "the end of the connections")
    wait_for(lambda: (queue.drain(), len(placed) >= 3 and not cameras._cameras)[1], "removal")
    assert names_of_threads() <= before
    close_server(server)


def names_of_threads():
    return {thread.name for thread in threading.enumerate()}
