# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tolerances are met whenever they can be: distance and angle, or components in a box."""

from functools import cache

import numpy as np
import pytest
from arm_common.transforms import inverse, pose, so3_exp

from arm_description import load_robot, shipped_robots
from arm_kinematics import Chain, KinematicsError

INF = np.inf
TOLERANCES = {
    "5 mm, 0.1 rad": ([0.005] * 3, [0.1] * 3),
    "1 mm, loose roll": ([0.001] * 3, [0.2, 0.2, 1.0]),
    "20 mm, one tight turn": ([0.02] * 3, [0.3, 0.01, 0.3]),
    "nearly half a turn": ([0.005] * 3, [2.0, 0.2, 0.2]),
    "distance and angle": (0.005, 0.1),
    "free roll": ([0.005] * 3, [0.1, 0.1, INF]),
    "free along x": ([INF, 0.01, 0.01], [0.1] * 3),
}
EVERYWHERE = [
    pytest.param(2, id="small"),
    pytest.param(70, id="large", marks=pytest.mark.thorough),  # 20 robots: 29 000 targets
]


LINKAGES_MISS = 0.003
"""Share of targets that arms whose limits depend on other joints may miss: those at an edge."""


@cache
def shipped():
    return {name: Chain.from_model(load_robot(name)) for name in sorted(shipped_robots())}


def inside(chain, rng):
    """Return a posture inside limits and constraints."""
    low, high = np.maximum(chain.lower, -np.pi), np.minimum(chain.upper, np.pi)
    while True:
        q = rng.uniform(low, high)
        if float(chain.constraints.violation(q)) <= 0.0:
            return q


def target(tip, position, orientation, axes, rng):
    """Return a target (4, 4) whose tolerances a tip meets, in half of all cases just so."""
    both = np.concatenate([np.broadcast_to(position, 3), np.broadcast_to(orientation, 3)])
    share = 0.999 * rng.uniform(-1.0, 1.0, 6)
    if rng.random() < 0.5:
        share = 0.95 * np.sign(share)
    for part, bound in ((share[:3], position), (share[3:], orientation)):
        if np.ndim(bound) == 0:
            part /= max(1.0, 1.0001 * np.linalg.norm(part))
    error = share * np.where(np.isinf(both), 1.0, both)
    R = so3_exp(error[3:])
    if np.isinf(both[5]):  # the tilt of z along x and y, and any roll
        tilt, roll = so3_exp([*error[3:5], 0.0]), so3_exp([0.0, 0.0, error[5]])
        R = tilt @ roll if axes == "target" else roll @ tilt
    along_target = axes == "target" or np.ndim(position) == 0
    return tip @ inverse(pose(R, error[:3] if along_target else R @ error[:3]))


@pytest.mark.parametrize("count", EVERYWHERE)
@pytest.mark.parametrize("seeds", ["in the box", "mid-range", "anywhere"])
@pytest.mark.parametrize("tolerances", TOLERANCES.values(), ids=TOLERANCES)
def test_no_target_with_a_posture_in_the_box_is_refused(tolerances, seeds, count):
    missed, at_edge = [], []
    for name, chain in shipped().items():
        rng = np.random.default_rng(7)
        for k in range(count):
            axes, q = ("target", "tool")[k % 2], inside(chain, rng)
            T = target(chain.fk(q), *tolerances, axes, rng)
            seed = {"in the box": q, "mid-range": None, "anywhere": inside(chain, rng)}[seeds]
            result = chain.ik(T, seed, "pose", *tolerances, tolerance_axes=axes)
            if not result:
                refused = at_edge if chain.constraints else missed
                refused.append((name, axes, q, result.message))
    assert not missed, missed
    assert len(at_edge) <= LINKAGES_MISS * 3 * count, at_edge


# Robot, posture, error there [m, rad], tolerances, seed: found only at an edge of unequal ones.
UNEQUAL = [
    (
        "anthropomorphic_arm",
        [0.7891, -0.0793, -0.8108],
        [3.8e-05, 1.9e-05, 1e-05, 0.026919, 0.026971, -0.026956],
        (5.17e-05, 0.04668),
        None,
    ),
    (
        "ball_arm",
        [1.5814, -1.4241, 0.7678, -1.19, 1.1965, 0.5712, -0.7034],
        [0.008104, -0.032664, 5.1e-05, 0.441605, -0.100778, -0.391455],
        ([0.00853, 0.03438, 5.41e-05], [0.46484, 0.10608, 0.41206]),
        [0.027, -0.195, 0.279, -0.785, 0.228, 0.609, -0.047],
    ),
    (
        "braccio",
        [-1.2788, 0.9931, -1.5537, -0.95, -0.5895],
        [-0.010596, 0.003774, 3.3e-05, 0.169505, 0.648627, 0.366198],
        ([0.011154, 0.003979, 3.87e-05], [0.17838, 0.68275, 0.38547]),
        [-0.83, -0.809, 0.773, 0.735, -0.327],
    ),
    (
        "five_axis",
        [1.2234, 0.8302, -1.5598, -1.4605, -0.7505],
        [-0.034909, 0.014344, -0.002133, -0.000418, -1.399176, 0.883361],
        ([0.03674, 0.0151, 0.002248], [0.0004405, 1.47282, 0.92986]),
        [0.359, -1.11, -1.522, 1.33, -1.17],
    ),
]


@pytest.mark.parametrize(("name", "q", "error", "tolerances", "seed"), UNEQUAL)
def test_edge_of_unequal_tolerances_is_found(name, q, error, tolerances, seed):
    chain = shipped()[name]
    T = chain.fk(q) @ inverse(pose(so3_exp(error[3:]), error[:3]))
    assert chain.ik(T, q, "pose", *tolerances)
    assert chain.ik(T, seed, "pose", *tolerances)


def test_answer_is_in_the_box():
    chain, rng = Chain.from_model(load_robot("nut_arm")), np.random.default_rng(3)
    for _ in range(100):
        T = target(chain.fk(inside(chain, rng)), [0.005] * 3, [0.1] * 3, "target", rng)
        result = chain.ik(T, None, "pose", [0.005] * 3, [0.1] * 3)
        off = inverse(T) @ chain.fk(result.q)
        turned = result.orientation_error
        assert np.abs(off[:3, 3]).max() <= 0.005 + 1e-12
        assert turned <= 0.1 * np.sqrt(3.0) + 1e-12


def test_batch_and_service_like_calls_meet_the_box_too():
    chain, rng = Chain.from_model(load_robot("braccio")), np.random.default_rng(5)
    box = ([0.005] * 3, [0.1] * 3)
    Ts = [target(chain.fk(inside(chain, rng)), *box, "target", rng) for _ in range(100)]
    batch = chain.ik_batch(Ts, None, "pose", *box)
    assert batch.ok.all()
    assert all(chain.ik(T, None, "pose", *box, max_solutions=2) for T in Ts)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"axis": (1.0, 0.0, 0.0)}, "axis has no meaning in mode 'pose'"),
        ({"mode": "position", "axis": (1.0, 0.0, 0.0)}, "axis has no meaning"),
        ({"mode": "position", "orientation_tolerance": 0.1}, "orientation_tolerance has no"),
    ],
)
def test_argument_without_meaning_in_a_mode_is_refused(arguments, words):
    chain = Chain.from_model(load_robot("nut_arm"))
    for call in (chain.ik, chain.all_solutions):
        with pytest.raises(KinematicsError, match=words):
            call(chain.fk(chain.middle), **arguments)
