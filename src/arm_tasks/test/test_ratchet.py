# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Laws of the ratchet: the strokes add up, stay in the wrist's span, and grip on flats."""

import math

import pytest
from arm_tasks.planning.screwing.strokes import Stroke, ratchet
from arm_tasks.scene.grasp import SIXTH
from hypothesis import given
from hypothesis import strategies as st

HALF = math.pi / 2


def check(strokes, total, span, fit):
    missing = abs(total) - abs(math.fsum(s.turn for s in strokes))
    assert -1e-9 <= missing <= math.radians(1.0) + 1e-9
    for stroke in strokes:
        assert stroke.turn * total > 0.0
        for roll in (stroke.grip, stroke.grip + stroke.turn):
            assert span[0] - 1e-9 <= roll <= span[1] + 1e-9
        if fit is not None:
            assert abs(math.remainder(stroke.grip - fit, SIXTH)) <= math.radians(0.5) + 1e-9
        fit = stroke.grip + stroke.turn


@given(
    total=st.floats(-40.0, 40.0).filter(lambda t: abs(t) > 0.1),
    low=st.floats(-6.0, 0.0),
    width=st.floats(1.2, 12.0),
    fit=st.one_of(st.none(), st.floats(-3.2, 3.2)),
    last=st.floats(0.0, 0.5),
)
def test_strokes_add_up_stay_in_the_span_and_fit_the_flats(total, low, width, fit, last):
    span = (low, low + width)
    strokes = ratchet(total, span, fit, last_least=last)
    if strokes is not None:
        check(strokes, total, span, fit)
        assert abs(strokes[-1].turn) >= min(last, abs(total)) - 1e-9
    elif abs(total) > last:
        assert width < 4 * SIXTH or last > 0.0


def test_half_turns_where_the_wrist_has_half_a_turn():
    strokes = ratchet(-4.5 * 2 * math.pi, (-HALF, HALF), HALF)
    assert strokes == [Stroke(HALF, -math.pi)] * 9


def test_one_stroke_where_the_wrist_has_enough():
    assert ratchet(9.0, (-6.0, 6.0), None) == [Stroke(-6.0, 9.0)]


def test_no_strokes_where_the_wrist_hardly_turns():
    assert ratchet(9.0, (-0.02, 0.02), 0.0) is None
    assert ratchet(9.0, (-0.02, 0.02), math.radians(20.0)) is None


def test_the_last_stroke_is_made_long_enough():
    total = -(9 * math.pi + math.radians(10.0))
    assert ratchet(total, (-HALF, HALF), HALF)[-1].turn == pytest.approx(-math.radians(10.0))
    strokes = ratchet(total, (-HALF, HALF), HALF, last_least=math.radians(50.0))
    check(strokes, total, (-HALF, HALF), HALF)
    assert abs(strokes[-1].turn) >= math.radians(50.0)


@pytest.mark.parametrize("k", range(6))
def test_the_last_grip_can_be_chosen_among_those_that_leave_room(k):
    """The phase between nut and tool fixes where the last stroke ends; half the circle is ours."""
    total, span = -math.radians(1612.0), (-HALF, HALF)

    def score(turned, grip):
        phase = math.remainder(turned - grip - k * SIXTH - HALF, 2 * math.pi)
        return math.radians(29.0) - abs(phase)

    strokes = ratchet(total, span, HALF, last_least=math.radians(50.0), score=score)
    end = math.remainder(total - k * SIXTH - HALF, 2 * math.pi)
    if not -HALF <= end <= HALF - math.radians(50.0):
        assert strokes is None
        return
    check(strokes, total, span, HALF)
    assert score(math.fsum(s.turn for s in strokes[:-1]), strokes[-1].grip) > 0.0
