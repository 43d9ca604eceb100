# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How often pictures are made: as often as asked for while somebody looks, else now and then."""

import math
from types import SimpleNamespace

import pytest
from arm_viewer.ros.node import NUMBERS_EVERY, UNSEEN_EVERY, ViewerNode


@pytest.fixture
def node():
    """What a viewer needs to know for its pictures."""
    made = SimpleNamespace(
        _pictures=0, _picture_due=True, _numbers_due=True, _now=lambda: 0.0, clients={}
    )
    made.drawn, made.written, made.rests = [], [], []
    made._server = SimpleNamespace(get_clients=lambda: made.clients)
    made._stage = SimpleNamespace(
        store=SimpleNamespace(markers=SimpleNamespace(next_expiry=lambda: math.inf))
    )
    made._timer = SimpleNamespace(cancel=lambda: made.rests.append(made._pictures))
    made._draw = lambda: made.drawn.append(made._pictures)
    made._write_numbers = lambda: made.written.append(made._pictures)
    return made


def run(node, count):
    for _ in range(count):
        ViewerNode._picture(node)


def test_each_picture_is_made_while_somebody_looks(node):
    node.clients = {0: "a browser"}
    run(node, 12)
    assert node.drawn == list(range(1, 13))


def test_while_nobody_looks_pictures_are_rare_and_the_timer_goes_on_until_they_are_made(node):
    run(node, UNSEEN_EVERY - 1)
    assert node.drawn == [] and node.rests == []
    run(node, 1)
    assert node.drawn == [UNSEEN_EVERY] and node.written == [UNSEEN_EVERY]
    assert UNSEEN_EVERY % NUMBERS_EVERY == 0 and node.rests == [UNSEEN_EVERY]


def test_who_comes_gets_the_next_picture(node):
    run(node, 2)
    node.clients = {0: "a browser"}
    run(node, 1)
    assert node.drawn == [3]
