# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tool poses to joints: residuals, density of a line, jumps, and the wrist's span at a bolt."""

import math

import numpy as np
import pytest
from arm_tasks.geometry import pose, shift_z, turn_z
from arm_tasks.screw_places import Place, between, thread_turn_to_go, wrists
from arm_tasks.task_steps import Tolerance
from arm_tasks.tool_path import OutOfReach, branches, follow, reach, straight

from arm_kinematics import Chain

LOOSE = Tolerance(tilt=math.radians(8.0))


@pytest.mark.parametrize("orientation", ["full", "axis", "any"])
def test_what_the_arm_can_do_is_reached(chain, orientation):
    rng = np.random.default_rng(7)
    for q in rng.uniform(0.9 * chain.lower, 0.9 * chain.upper, (60, chain.n)):
        T = chain.fk(q)
        seed = np.clip(q + rng.uniform(-0.2, 0.2, chain.n), chain.lower, chain.upper)
        found = reach(chain, T, seed, orientation, Tolerance())
        assert np.linalg.norm(chain.fk(found.joints[0])[:3, 3] - T[:3, 3]) < 2e-5
        assert found.position_error < 2e-5
        if orientation == "full":
            assert found.orientation_error <= LOOSE.tilt + 1e-4


def test_the_ways_to_a_pose_come_nearest_first(chain):
    q = np.array([0.4, 0.5, -0.9, 0.3])
    ways = branches(chain, chain.fk(q), q, "any", Tolerance())
    distances = [np.linalg.norm(way.joints[0] - q) for way in ways]
    assert distances[0] < 1e-3
    assert distances == sorted(distances)


def test_a_line_is_dense_and_ends_at_its_goal():
    goal = pose(turn_z(math.radians(41.0))[:3, :3], (0.0, 0.021, 0.0))
    line = straight(np.eye(4), goal)
    assert len(line) == 21
    assert np.allclose(line[-1], goal)
    steps = np.diff([T[:3, 3] for T in [np.eye(4), *line]], axis=0)
    assert np.linalg.norm(steps, axis=1).max() <= 2e-3
    assert len(straight(np.eye(4), np.eye(4))) == 1


def test_a_jump_is_refused_with_the_joint_and_the_amount(chain):
    far = chain.fk(np.array([0.8, 0.0, 0.0, 0.0]))
    with pytest.raises(OutOfReach, match="joint waist would have to jump by 46 deg"):
        follow(chain, [far], np.zeros(4), "full", LOOSE)


def test_a_miss_says_where_on_the_way(chain):
    line = straight(chain.fk(np.zeros(4)), chain.fk(np.zeros(4)) @ shift_z(0.2))
    with pytest.raises(OutOfReach, match=r"out of reach by .* mm.* at \d+ % of the way") as miss:
        follow(chain, line, np.zeros(4), "any", LOOSE)
    assert miss.value.position_error > 0.0


def test_the_span_of_the_wrist_is_found_by_trying(scene, chain):
    bolt = scene.bolt("upper_bolt")
    found = list(wrists(chain, bolt, 0.00278, -0.00278, np.zeros(4), LOOSE))
    assert len(found) == 1
    assert math.degrees(found[0].low) == pytest.approx(-90.0, abs=0.02)
    assert math.degrees(found[0].high) == pytest.approx(90.0, abs=0.02)
    turned = found[0].turned(chain, 1.0, LOOSE)
    T = np.linalg.inv(bolt.pose) @ chain.fk(turned)
    assert math.atan2(T[1, 0], T[0, 0]) == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(OutOfReach):
        found[0].turned(chain, 1.7, LOOSE)


def test_the_span_is_in_joints_that_are_coupled_too(scene, model):
    """A wrist whose roll is split over two joints still turns as far as both together."""
    first = Chain.from_model(model)
    S = np.column_stack([first.S, first.S[:, -1]])
    joints = [*_joints(first), _joint("roll_2", math.radians(45))]
    split = Chain(S, first.M, joints)
    found = next(iter(wrists(split, scene.bolt("upper_bolt"), 0.0028, 0.0, np.zeros(5), LOOSE)))
    assert math.degrees(found.high - found.low) == pytest.approx(270.0, abs=0.5)


def _joint(name, limit):
    from arm_kinematics import ChainJoint

    return ChainJoint(name, False, -limit, limit, 3.0, 10.0)


def _joints(chain):
    return [_joint(name, math.pi / 2) for name in chain.joint_names]


def test_roll_and_depth_go_in_step(scene):
    bolt = scene.bolt("upper_bolt")
    poses = between(Place(bolt, 0.0, 0.0), Place(bolt, 0.001, 1.0))
    for i, T in enumerate(poses):
        local = np.linalg.inv(bolt.pose) @ T
        u = (i + 1) / len(poses)
        assert local[2, 3] == pytest.approx(0.001 * u)
        assert math.atan2(local[1, 0], local[0, 0]) == pytest.approx(u)


def test_turns_to_the_start_of_a_thread(scene):
    bolt = scene.bolt("lower_bolt")
    assert thread_turn_to_go(bolt, bolt.start) == pytest.approx(0.0)
    assert thread_turn_to_go(bolt, bolt.start - 0.5) == pytest.approx(0.5)
    assert thread_turn_to_go(bolt, bolt.start + 0.5) == pytest.approx(2 * math.pi - 0.5)
