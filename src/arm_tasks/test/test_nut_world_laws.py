# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Laws of the simulated nut under motions that nobody planned."""

import math

import numpy as np
from arm_common.transforms import is_rigid, pose, shift_z, so3_exp
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.nut_state import NutStatus
from arm_tasks.world.nut_world import NutWorld
from hypothesis import given, settings
from hypothesis import strategies as st

SCENE = load_scene("nut_transfer")
FULL = SCENE.the_nut().thickness / SCENE.bolt("upper_bolt").pitch

# Near the upper bolt more often than far from it, so that the nut is really gripped and pulled.
near = st.tuples(
    st.sampled_from(["upper_bolt", "lower_bolt"]),
    st.floats(-0.012, 0.012),
    st.floats(-0.003, 0.003),
    st.floats(-4.0, 4.0),
    st.floats(-0.1, 0.1),
)
far = st.tuples(
    st.just("base_link"),
    st.floats(-0.4, 0.4),
    st.floats(-0.4, 0.4),
    st.floats(-4.0, 4.0),
    st.floats(-3.0, 3.0),
)
width = st.sampled_from([0.0, 0.0105, 0.0112, 0.0114, 0.012, 0.02, 0.03])
moves = st.lists(st.tuples(st.one_of(near, near, far), width), min_size=1, max_size=25)


def tool(place):
    frame, z, off, roll, tilt = place
    R = so3_exp(np.array([tilt, 0.0, 0.0])) @ so3_exp(np.array([0.0, 0.0, roll]))
    return SCENE.frame(frame) @ shift_z(z) @ pose(R, (off, 0.0, 0.0))


def start_on_the_nut(world):
    centre = (pose(p=(0, 0, 0.00278)))[2, 3]
    T = tool(("upper_bolt", centre, 0.0, math.pi / 2, 0.0))
    world.update(T, 0.02)
    return world.update(T, 0.0105), T


@settings(max_examples=60, deadline=None)
@given(moves=moves, gripped=st.booleans())
def test_whatever_the_tool_does_the_nut_stays_a_nut(moves, gripped):
    world = NutWorld(SCENE)
    before, T_before = start_on_the_nut(world) if gripped else (world.report, None)
    for place, w in moves:
        T = tool(place)
        now = world.update(T, w)
        assert is_rigid(now.pose)
        assert 0.0 <= now.turns_engaged <= FULL
        assert (now.bolt != "") == (now.status in (NutStatus.ON_BOLT, NutStatus.ON_BOLT_HELD))
        assert now.grasped == (now.status in (NutStatus.HELD, NutStatus.ON_BOLT_HELD))
        assert now.message
        moved = np.linalg.norm(now.pose[:3, 3] - before.pose[:3, 3])
        if now.status != NutStatus.FALLEN and T_before is not None:
            way = np.linalg.norm(T[:3, 3] - T_before[:3, 3])
            turned = math.sqrt(max(0.0, 6.0 - 2.0 * np.trace(T[:3, :3].T @ T_before[:3, :3])))
            assert moved <= way + 0.006 * turned + 0.003
        before, T_before = now, T


@settings(max_examples=30, deadline=None)
@given(turns=st.lists(st.floats(-0.45, 0.45), min_size=1, max_size=12))
def test_on_the_thread_only_the_sum_of_the_turns_counts(turns):
    world = NutWorld(SCENE)
    start_on_the_nut(world)
    roll, most = math.pi / 2, world.scene.bolt("upper_bolt").most_turns
    total = world.nut.turns
    for turn in turns:
        roll += 2.0 * math.pi * turn
        total = min(total + turn, most)
        if total <= 0.02:
            return
        depth = world.scene.bolt("upper_bolt").depth(total) - 0.00278
        now = world.update(tool(("upper_bolt", depth, 0.0, roll, 0.0)), 0.0105)
        assert now.status == NutStatus.ON_BOLT_HELD
        at = (np.linalg.inv(SCENE.frame("upper_bolt")) @ now.pose)[2, 3]
        assert math.isclose(at, depth, abs_tol=1e-7)
