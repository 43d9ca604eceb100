# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The arm follows the handle; where it cannot, it stays and says why."""

import math

import numpy as np
import pytest
from arm_viewer.control.ik_follower import (
    JOGS,
    LEAP,
    NOBODY,
    PATIENCE,
    STOPPED,
    IkAnswerView,
    IkFollower,
    IkRequest,
    Solution,
    default_mode,
    jogged,
)
from hypothesis import given
from hypothesis import strategies as st


class Stage:
    """A follower among people who note what it does."""

    def __init__(self, somebody=True):
        self.asked, self.moved, self.said, self.offered = [], [], [], []
        self.somebody, self.now, self.here = somebody, 0.0, {"waist": 0.0, "elbow": 0.0}
        self.refusal = ""
        self.follower = IkFollower(
            self,
            lambda: self.here,
            self.command,
            lambda text, problem: self.said.append((text, problem)),
            self.offered.append,
            lambda: self.now,
        )

    def ask(self, frame, pose, wish):
        self.asked.append((frame, pose, wish))
        return self.somebody

    def command(self, joints):
        self.moved.append(dict(joints))
        return self.refusal

    def drag(self, x):
        pose = np.eye(4)
        pose[0, 3] = x
        self.follower.reach("base_link", pose)

    def wanted(self):
        return [pose[0, 3] for _, pose, _ in self.asked]


def reached(waist=0.1, error=0.0):
    return IkAnswerView(True, "", (Solution({"waist": waist}, error, 0.0, abs(waist)),))


OUT_OF_REACH = IkAnswerView(
    False, "The position is out of reach.", (Solution({}, 0.0123, 0.0, 0.0),)
)


def test_the_newest_wish_is_asked_when_the_answer_to_the_last_one_came():
    stage = Stage()
    for x in (0.1, 0.2, 0.3):
        stage.drag(x)
    assert stage.wanted() == [0.1]
    stage.follower.answered(reached())
    assert stage.wanted() == [0.1, 0.3]  # and 0.2 is of no interest any more
    stage.follower.answered(reached())
    assert stage.wanted() == [0.1, 0.3]
    assert stage.moved == [{"waist": 0.1}] * 2


def test_out_of_reach_says_so_by_how_much_and_the_arm_stays():
    stage = Stage()
    stage.drag(9.0)
    stage.follower.answered(OUT_OF_REACH)
    assert stage.moved == []
    ((text, problem),) = stage.said
    assert problem
    assert "out of reach" in text
    assert "12.300 mm" in text


def test_a_leap_to_another_posture_is_not_followed():
    stage = Stage()
    stage.drag(0.1)
    stage.follower.answered(reached(waist=LEAP + 0.1))
    assert stage.moved == []
    assert "waist would leap" in stage.said[-1][0]


def test_a_refused_command_is_said():
    stage = Stage()
    stage.refusal = "Nobody drives the arm."
    stage.drag(0.1)
    stage.follower.answered(reached())
    assert stage.said == [("Nobody drives the arm.", True)]


def test_nobody_to_ask_is_said_and_the_next_wish_is_asked_again():
    stage = Stage(somebody=False)
    stage.drag(0.1)
    stage.drag(0.2)
    assert stage.wanted() == [0.1, 0.2]
    assert stage.said == [(NOBODY, True)] * 2


def test_an_answer_that_never_comes_does_not_block_for_ever():
    stage = Stage()
    stage.drag(0.1)
    stage.now = PATIENCE + 0.1
    stage.drag(0.2)
    assert stage.wanted() == [0.1, 0.2]


def test_after_a_stop_nothing_moves_until_reset_whatever_is_answered():
    stage = Stage()
    stage.drag(0.1)
    stage.drag(0.2)
    stage.follower.stop()
    stage.follower.answered(reached())
    stage.drag(0.3)
    stage.follower.choose(0)
    assert stage.moved == []
    assert stage.wanted() == [0.1]
    assert stage.said[-1] == (STOPPED, True)
    stage.follower.reset()
    stage.drag(0.4)
    stage.follower.answered(reached())
    assert stage.moved == [{"waist": 0.1}]


def test_solutions_are_offered_and_the_chosen_one_is_gone_to_however_far_it_is():
    stage = Stage()
    stage.follower.wish = IkRequest(mode=1, position=0.002)
    stage.follower.list_solutions("base_link", np.eye(4))
    wish = stage.asked[-1][2]
    assert (wish.mode, wish.position) == (1, 0.002)
    assert wish.count > 1
    solutions = tuple(Solution({"waist": q}, 0.0, 0.0, abs(q)) for q in (0.1, 3.0))
    stage.follower.answered(IkAnswerView(True, "", solutions))
    assert stage.offered == [solutions]
    assert stage.moved == []
    stage.follower.choose(1)
    stage.follower.choose(7)
    assert stage.moved == [{"waist": 3.0}]


def test_no_solutions_leave_nothing_to_choose():
    stage = Stage()
    stage.follower.list_solutions("base_link", np.eye(4))
    stage.follower.answered(OUT_OF_REACH)
    assert stage.offered == [()]
    stage.follower.choose(0)
    assert stage.moved == []


@pytest.mark.parametrize(
    ("joints", "mode"),
    [(2, "Position"), (4, "Position"), (5, "Position and axis"), (6, "Pose"), (7, "Pose")],
)
def test_the_mode_suits_the_number_of_joints(joints, mode):
    assert default_mode(joints) == mode


@given(
    st.sampled_from(JOGS),
    st.floats(-0.5, 0.5),
    st.booleans(),
    st.tuples(*[st.floats(-math.pi, math.pi)] * 3),
)
def test_a_step_there_and_back_is_no_step(jog, step, own_axes, rpy):
    from arm_common.transforms import rpy_matrix

    pose = np.asarray(rpy_matrix((0.1, -0.2, 0.3), rpy))
    there = jogged(pose, jog, step, own_axes)
    np.testing.assert_allclose(jogged(there, jog, -step, own_axes), pose, atol=1e-12)
    if jog[0] == "r":
        np.testing.assert_allclose(there[:3, 3], pose[:3, 3], atol=1e-12)
    else:
        axis = pose[:3, :3][:, "xyz".index(jog)] if own_axes else np.eye(3)["xyz".index(jog)]
        np.testing.assert_allclose(there[:3, 3] - pose[:3, 3], step * axis, atol=1e-12)
        np.testing.assert_allclose(there[:3, :3], pose[:3, :3], atol=1e-12)
