# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The arm follows a handle; if the target is unreachable, it keeps its position."""

import math

import numpy as np
import pytest
from arm_common.transforms import rpy_matrix
from arm_viewer.control.ik_follower import (
    LARGEST_STEP,
    LATE,
    RESPONSE_TIMEOUT,
    STOPPED,
    UNAVAILABLE,
    IkFollower,
    default_mode,
    jogged,
)
from arm_viewer.port import IkRequest, IkResponse, Solution
from hypothesis import given
from hypothesis import strategies as st


class World:
    """A follower, and records of everything it does."""

    def __init__(self, available=True):
        self.requests, self.moves, self.reports, self.lists = [], [], [], []
        self.callbacks = []
        self.available, self.now, self.problem = available, 0.0, ""
        self.follower = IkFollower(
            self.send,
            lambda: {"waist": 0.0, "elbow": 0.0},
            self.command,
            self.reports.append,
            self.lists.append,
            lambda: self.now,
        )

    def send(self, frame, pose, request, on_response):
        self.requests.append((frame, pose, request))
        self.callbacks.append(on_response)
        return self.available

    def command(self, joints):
        self.moves.append(dict(joints))
        return self.problem

    def drag(self, x):
        pose = np.eye(4)
        pose[0, 3] = x
        self.follower.move_to("base_link", pose)

    def respond(self, response, request=-1):
        self.callbacks[request](response)

    def targets(self):
        return [pose[0, 3] for _, pose, _ in self.requests]


def reached(waist=0.1):
    return IkResponse(True, "", (Solution({"waist": waist}, 0.0, 0.0),))


OUT_OF_REACH = IkResponse(False, "The position is out of reach.", (Solution({}, 0.0123, 0.0),))


@pytest.fixture
def world():
    return World()


def test_newest_target_is_requested_after_the_previous_response(world):
    for x in (0.1, 0.2, 0.3):
        world.drag(x)
    assert world.targets() == [0.1]
    world.respond(reached())
    assert world.targets() == [0.1, 0.3]  # 0.2 is outdated
    world.respond(reached())
    assert world.targets() == [0.1, 0.3]
    assert world.moves == [{"waist": 0.1}] * 2


def test_unreachable_target_is_reported_with_its_residual(world):
    world.drag(9.0)
    world.respond(OUT_OF_REACH)
    assert world.moves == []
    (text,) = world.reports
    assert "out of reach" in text and "12.300 mm" in text


def test_jump_to_another_posture_is_not_followed(world):
    world.drag(0.1)
    world.respond(reached(waist=LARGEST_STEP + 0.1))
    assert world.moves == []
    assert "waist would jump" in world.reports[-1]


def test_failed_command_is_reported(world):
    world.problem = "No driver."
    world.drag(0.1)
    world.respond(reached())
    assert world.reports == ["No driver."]


def test_missing_solver_is_reported_and_requested_again():
    world = World(available=False)
    world.drag(0.1)
    world.drag(0.2)
    assert world.targets() == [0.1, 0.2]
    assert world.reports == [UNAVAILABLE] * 2


def test_lost_response_does_not_block_forever(world):
    world.drag(0.1)
    world.now = RESPONSE_TIMEOUT + 0.1
    world.drag(0.2)
    assert world.targets() == [0.1, 0.2]


def test_nothing_moves_between_stop_and_reset(world):
    world.drag(0.1)
    world.drag(0.2)
    world.follower.stop()
    world.respond(reached())
    world.drag(0.3)
    world.follower.select_solution(0)
    assert world.moves == []
    assert world.targets() == [0.1]
    assert world.reports[-1] == STOPPED
    world.follower.reset()
    world.drag(0.4)
    world.respond(reached())
    assert world.moves == [{"waist": 0.1}]


def test_selected_solution_is_moved_to_however_far_it_is(world):
    world.follower.request = IkRequest(mode=1, position_tolerance=0.002)
    world.follower.list_solutions("base_link", np.eye(4))
    request = world.requests[-1][2]
    assert (request.mode, request.position_tolerance) == (1, 0.002)
    assert request.max_solutions > 1
    solutions = tuple(Solution({"waist": q}, 0.0, 0.0) for q in (0.1, 3.0))
    world.respond(IkResponse(True, "", solutions))
    assert world.lists == [solutions]
    assert world.moves == []
    world.follower.select_solution(1)
    world.follower.select_solution(7)
    assert world.moves == [{"waist": 3.0}]


def test_late_response_to_a_drag_is_not_taken_for_the_list(world):
    world.drag(0.1)
    world.follower.list_solutions("base_link", np.eye(4))
    world.respond(reached(0.1), request=0)
    world.respond(reached(0.2), request=1)
    world.follower.select_solution(0)
    assert world.moves == [{"waist": 0.2}]


@pytest.mark.parametrize("later", ["drop_requests", "stop"])
def test_late_response_does_not_undo_a_later_command(world, later):
    world.drag(0.1)
    world.drag(0.2)
    getattr(world.follower, later)()
    world.follower.reset()
    world.respond(reached())
    assert world.moves == []
    assert world.targets() == [0.1]
    world.drag(0.3)
    world.respond(reached(0.3))
    assert world.moves == [{"waist": 0.3}]


def test_response_after_its_timeout_is_ignored(world):
    world.drag(0.1)
    world.now = RESPONSE_TIMEOUT + 0.1
    world.drag(0.2)
    world.respond(reached(0.2), request=1)
    world.respond(reached(0.1), request=0)
    assert world.moves == [{"waist": 0.2}]


def test_arm_does_not_move_to_a_target_that_was_answered_too_late(world):
    world.drag(0.1)
    world.now = RESPONSE_TIMEOUT + 0.1
    world.respond(reached(0.1))
    assert (world.moves, world.reports[-1]) == ([], LATE)
    world.drag(0.2)
    world.respond(reached(0.2))
    assert world.moves == [{"waist": 0.2}]


def test_lost_response_is_reported_once_and_moves_nothing_later(world):
    world.drag(0.1)
    for now in (0.5 * RESPONSE_TIMEOUT, RESPONSE_TIMEOUT, 2.0 * RESPONSE_TIMEOUT):
        world.now = now
        world.follower.check_response()
    assert world.reports == [LATE]
    world.respond(reached(0.1))
    assert (world.moves, world.targets()) == ([], [0.1])


def test_newest_target_is_requested_when_a_response_is_overdue(world):
    for x in (0.1, 0.2, 0.3):
        world.drag(x)
    world.now = RESPONSE_TIMEOUT
    world.follower.check_response()
    assert (world.targets(), world.reports) == ([0.1, 0.3], [])
    world.respond(reached(0.1), request=0)
    world.respond(reached(0.3), request=1)
    assert world.moves == [{"waist": 0.3}]


def test_nothing_can_be_selected_without_solutions(world):
    world.follower.list_solutions("base_link", np.eye(4))
    world.respond(OUT_OF_REACH)
    assert world.lists == [()]
    world.follower.select_solution(0)
    assert world.moves == []


@pytest.mark.parametrize(
    ("joints", "mode"),
    [(2, "Position"), (4, "Position"), (5, "Position and axis"), (6, "Pose"), (7, "Pose")],
)
def test_default_mode_suits_the_number_of_joints(joints, mode):
    assert default_mode(joints) == mode


@given(
    st.sampled_from(["x", "y", "z", "rx", "ry", "rz"]),
    st.floats(-0.5, 0.5),
    st.booleans(),
    st.tuples(*[st.floats(-math.pi, math.pi)] * 3),
)
def test_jogging_forward_and_back_restores_the_pose(jog, step, own_axes, rpy):
    pose = np.asarray(rpy_matrix((0.1, -0.2, 0.3), rpy))
    there = jogged(pose, jog, step, own_axes)
    np.testing.assert_allclose(jogged(there, jog, -step, own_axes), pose, atol=1e-12)
    if jog[0] == "r":
        np.testing.assert_allclose(there[:3, 3], pose[:3, 3], atol=1e-12)
    else:
        axis = pose[:3, :3][:, "xyz".index(jog)] if own_axes else np.eye(3)["xyz".index(jog)]
        np.testing.assert_allclose(there[:3, 3] - pose[:3, 3], step * axis, atol=1e-12)
        np.testing.assert_allclose(there[:3, :3], pose[:3, :3], atol=1e-12)
