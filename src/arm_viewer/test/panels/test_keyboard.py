# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Keys" without a browser: which joint is chosen, and when it moves."""

from types import SimpleNamespace

import pytest
from arm_testing.pages.page import FakePage
from arm_viewer.panels import keyboard
from arm_viewer.panels.interface import PanelState
from arm_viewer.panels.keyboard import CHOOSE_FIRST, HOLD, RATES, SPEED, KeysPanel
from arm_viewer.scene.robot import VisualJoint

JOINTS = (
    VisualJoint("waist", False, -9.0, 0.1),
    VisualJoint("slide", True, 0.0, 0.3, velocity=0.02),
)


class KeyedPage(FakePage):
    def __init__(self, where, monkeypatch):
        self.now, self.marks = 0.0, []
        monkeypatch.setattr(keyboard, "time", SimpleNamespace(monotonic=lambda: self.now))
        sidebar = SimpleNamespace(mark=self.marks.append)
        drawer = SimpleNamespace(size=0.5, mark_axis=lambda robot, joint: None)
        view = SimpleNamespace(drawer=drawer, sidebar=sidebar)
        super().__init__(where=where, view=view)
        self.positions = {"waist": 0.0, "slide": 0.1}
        self.state = PanelState(SimpleNamespace(joints=JOINTS), self.positions)
        self.rate, self.panel = RATES[where], self.build(KeysPanel)

    def _move(self, joints):
        return self.problem or super()._move(joints)

    @property
    def ticking(self):
        return self.timers[0].running

    def wait(self, seconds, line=""):
        """Let the time pass, with a line of the page's script ten times a second."""
        end, sent = self.now + seconds, self.now
        while self.now < end:
            self.now += self.rate.period
            if line and self.now >= sent + 0.1:
                self.panel.receive(line)
                sent = self.now
            if self.ticking:
                self.timers[0].action()


@pytest.fixture(params=list(RATES))
def page(request, monkeypatch):
    return KeyedPage(request.param, monkeypatch)


def test_a_held_key_turns_the_chosen_joint_until_it_is_released(page):
    page.panel.receive("choose 1 #1")
    page.panel.receive("turn -1 #2")
    page.wait(0.5, "turn -1 #3")
    page.panel.receive("turn 0 #4")
    page.wait(0.2)
    turned = page.positions["waist"]
    assert -9.0 < turned < -0.4 * SPEED  # at least as far as the time that it was held
    assert not page.ticking
    page.wait(1.0)
    assert page.positions == {"waist": turned, "slide": 0.1}
    assert page.marks[-1] == "waist"


def test_a_page_that_is_lost_turns_nothing(page):
    page.panel.receive("choose 1 #1")
    page.panel.receive("turn -1 #2")
    page.wait(HOLD + 0.2)
    assert not page.ticking
    held = page.positions["waist"]
    page.wait(1.0)
    assert page.positions["waist"] == held


def test_limits_and_speed_limits_hold(page):
    page.panel.receive("choose 1 #1")
    page.panel.receive("turn 1 #2")
    page.wait(3.0, "turn 1 #3")
    assert page.positions["waist"] == 0.1
    page.panel.receive("turn 0 #4")
    page.wait(0.2)
    page.panel.receive("choose 2 #5")
    page.panel.receive("turn 1 #6")
    assert page.positions["slide"] - 0.1 == pytest.approx(0.5 * 0.02 * page.rate.ahead)


def test_only_the_release_of_a_key_is_never_too_late(page):
    lines = ("turn 0 #3", "turn 1 #2", "turn -1 #4", "choose 0 #1")
    assert [page.gui.is_ageless("", line) for line in lines] == [True, False, False, False]


def test_nothing_turns_without_a_choice_after_a_refusal_or_for_other_lines(page):
    before = dict(page.positions)
    page.panel.receive("turn 1 #1")
    assert CHOOSE_FIRST in page.gui.marked("chosen")
    for line in ("", "choose", "choose x #1", "turn 7 #2", "choose 9 #3", "jump 1 #4"):
        page.panel.receive(line)
        assert not page.ticking
    page.problem = "Stopped: nothing moves until Reset."
    page.panel.receive("choose 1 #5")
    page.panel.receive("turn 1 #6")
    assert not page.ticking
    assert page.positions == before
    page.panel.receive("choose 1 #7")  # again: none
    assert page.marks[-1] == ""
