# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""When frames are drawn: with every tick while a browser is connected, rarely otherwise."""

import math

import pytest
from arm_testing.pages.page import FakeTimer
from arm_viewer.page.render_loop import NUMBERS_EVERY, UNSEEN_EVERY, RenderLoop


class Recorder:
    def __init__(self):
        self.drawn, self.written, self.clients, self.expiry = [], [], False, math.inf
        self.loop = RenderLoop(
            lambda: self.drawn.append(self.loop.ticks) or False,
            lambda: self.written.append(self.loop.ticks) or False,
            lambda: self.clients,
            lambda: self.expiry,
            lambda: 10.0,
            FakeTimer(None),
        )

    def tick(self, count, redraw=False):
        for _ in range(count):
            if redraw:
                self.loop.request_redraw()
            self.loop.tick()


@pytest.fixture
def recorder():
    return Recorder()


def test_every_frame_is_drawn_while_a_browser_is_connected(recorder):
    recorder.clients = True
    recorder.tick(12, redraw=True)
    assert recorder.drawn == list(range(1, 13))


def test_frames_are_rare_without_a_browser(recorder):
    recorder.tick(UNSEEN_EVERY - 1)
    assert recorder.drawn == [] and recorder.loop.timer.running
    recorder.tick(1)
    assert recorder.drawn == [UNSEEN_EVERY] and recorder.written == [UNSEEN_EVERY]
    assert UNSEEN_EVERY % NUMBERS_EVERY == 0 and not recorder.loop.timer.running
    recorder.loop.request_redraw()
    assert recorder.loop.timer.running


def test_new_browser_gets_the_next_frame(recorder):
    recorder.tick(2)
    recorder.clients = True
    recorder.tick(1)
    assert recorder.drawn == [3]


def test_expired_marker_triggers_a_frame(recorder):
    recorder.clients = True
    recorder.tick(6)
    recorder.expiry = 11.0
    recorder.tick(1)
    assert recorder.drawn == [1]
    recorder.expiry = 10.0
    recorder.tick(1)
    assert recorder.drawn == [1, 8]
