# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Look" without a browser: looks of bodies, and frames by themselves."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
import viser
from arm_common.files.access import installed_share
from arm_common.files.requests import RestrictedFiles
from arm_testing.pages.page import FakePage
from arm_viewer.browser.drawers import BodyLook, FrameDrawer
from arm_viewer.panels.interface import PanelState
from arm_viewer.panels.look import FramesPanel, frame_names
from arm_viewer.scene.robot import read_robot
from arm_viewer.scene.shapes import MeshFiles

from arm_description import load_robot


@pytest.fixture(scope="module")
def server():
    server = viser.ViserServer(port=0, verbose=False)
    yield server
    server.stop()


@pytest.fixture
def robot():
    return read_robot(load_robot("puma560").to_urdf(dh_frames=True))


@pytest.fixture
def drawer(server, robot):
    drawer = FrameDrawer(
        server.scene, MeshFiles(installed_share, RestrictedFiles([])), 0.5, True, False
    )
    drawer.set_robot(robot, 0.5)
    drawer.move(robot.zero)
    return drawer


def visuals(drawer):
    return [visual for frame in drawer._frames.values() for visual in frame.visuals]


def test_each_look_draws_the_same_bodies_but_the_skeleton_joins_the_joints(drawer, robot):
    count = len(visuals(drawer))
    assert count == len(robot.visuals)
    for look in (BodyLook.SEE_THROUGH, BodyLook.WIREFRAME, BodyLook.SOLID):
        assert drawer.set_look(look, 0.3) == []
        assert len(visuals(drawer)) == count
        assert all(v.wireframe is (look is BodyLook.WIREFRAME) for v in visuals(drawer))
    drawer.set_look(BodyLook.SEE_THROUGH, 0.3)
    drawer.set_look(BodyLook.SEE_THROUGH, 0.6)
    assert {visual.opacity for visual in visuals(drawer)} == {0.6}
    drawer.set_look(BodyLook.SKELETON, 0.3)
    assert visuals(drawer) == []
    moved = {name: pose + np.eye(4, k=3) * 0.1 for name, pose in robot.zero.items()}
    before = np.array(drawer._sticks.points)
    drawer.move(moved)
    ends = np.array(drawer._sticks.points)
    np.testing.assert_allclose(ends, before + np.array([0.1, 0.0, 0.0]), atol=1e-6)
    gaps = np.linalg.norm(ends.reshape(-1, 3) - moved["flange"][:3, 3], axis=1)
    assert gaps.min() < 1e-6
    drawer.set_look(BodyLook.SOLID, 1.0)
    assert drawer._sticks is None
    assert len(visuals(drawer)) == count


def test_frames_are_switched_by_themselves_until_all_are(drawer, robot):
    own, dh = frame_names(robot, "tool0")
    assert list(dh) == [str(number) for number in range(7)]
    assert [own[str(n)] for n in (0, 1, 6)] == [robot.root, "waist_link", "wrist_turn_link"]
    for link in (own["2"], dh["3"]):
        shown = drawer.is_shown(link)
        drawer.switch_frame(link, not shown)
        assert drawer._frames[link].node.show_axes is not shown
    drawer.switch(False, False)
    assert not drawer.is_shown(own["2"])
    assert drawer.is_shown(dh["3"])  # a layer of its own
    drawer.switch(True, False)
    assert drawer.is_shown(own["2"])


def test_panel_offers_a_button_for_each_frame_and_takes_only_frames(drawer, robot):
    page = FakePage(view=SimpleNamespace(drawer=SimpleNamespace(frames=drawer)))
    page.state = state = PanelState(robot, {})
    panel = page.build(FramesPanel)
    html = page.gui.below("")
    links = re.findall('data-send="([^"]*)"', html.content)
    assert sorted(links) == sorted(robot.links)
    pressed = html.content.count('aria-pressed="true"')
    panel.receive("waist_link #1")
    panel.receive("no_link #2")
    panel.receive("")
    panel.update(state)
    assert html.content.count('aria-pressed="true"') == pressed - 1
