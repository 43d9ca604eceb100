# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Any range of a joint is solved: outside a turn, empty, wide, scaled and reversed by a mimic."""

import numpy as np
import pytest
from arm_testing.arms.chains import in_limits

from arm_kinematics import Chain, ChainJoint, KinematicsError

AXES = ("1 0 0", "0 1 0", "0 0 1", "0.6 0 0.8")


def urdf(joints):
    """Return a URDF of joints (type, axis, range or None, mimic or ()) from base to tool."""
    parts, parent = ['<robot name="any"><link name="base_link"/>'], "base_link"
    for i, (kind, axis, limits, mimic) in enumerate(joints):
        child = "tool0" if i == len(joints) - 1 else f"link{i}"
        ends = "" if limits is None else f'lower="{limits[0]!r}" upper="{limits[1]!r}"'
        leader = "" if not mimic else 'joint="j{}" multiplier="{!r}" offset="{!r}"'.format(*mimic)
        parts.append(
            f'<link name="{child}"/><joint name="j{i}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="0.1 0.05 0.2" rpy="0.1 0 0.2"/>'
            f'<axis xyz="{axis}"/>'
            + (f'<limit {ends} velocity="1" effort="1"/>' if limits is not None else "")
            + (f"<mimic {leader}/>" if leader else "")
            + "</joint>"
        )
        parent = child
    return "".join(parts) + "</robot>"


def any_range(rng):
    """Return a range: usual, beyond a turn, far away, narrow, empty or wide."""
    low = float(rng.choice([0.0, -0.0, rng.uniform(-4, 4), rng.uniform(-30, 30), 1e6, -999999.0]))
    width = float(rng.choice([0.0, 1e-9, rng.uniform(0, 3), rng.uniform(0, 20), 2e6]))
    high = low + width
    return (low, -0.0 if high == 0.0 and rng.random() < 0.5 else high)


def any_joint(i, rng):
    kind = str(rng.choice(["revolute", "revolute", "prismatic", "continuous"]))
    limits = None if kind == "continuous" else any_range(rng)
    mimic = ()
    if i > 0 and rng.random() < 0.25:
        ratio = float(rng.choice([-1.0, 1.0, rng.uniform(-3, 3), 1e-3, -250.0]))
        mimic = (int(rng.integers(i)), ratio, float(rng.choice([0.0, rng.uniform(-2, 2)])))
        limits = limits if rng.random() < 0.5 or limits is None else (0.0, 0.0)
    return kind, str(rng.choice(AXES)), limits, mimic


@pytest.mark.parametrize("count", [60, pytest.param(4000, marks=pytest.mark.thorough)])
def test_no_description_raises_anything_but_kinematics_errors(count):
    rng, built = np.random.default_rng(11), 0
    for _ in range(count):
        text = urdf([any_joint(i, rng) for i in range(rng.integers(1, 9))])
        try:
            chain = Chain.from_urdf(text)
        except KinematicsError:
            continue
        built += 1
        for mode in ("pose", "position"):
            T = chain.fk(chain.middle)
            result = chain.ik(T, None, mode, timeout=0.2)
            assert in_limits(chain, result.q), text
            assert result, (text, result.message)
    assert built > 0.6 * count


EMPTY = (0.0, -0.0)
FAR = {
    "beyond half a turn": [("revolute", (3.5, 6.0)), ("revolute", (-1.0, 1.0))],
    "slide at 5 to 6 m": [("prismatic", (5.0, 6.0)), ("revolute", (-1.0, 1.0))],
    "negative zero": [("revolute", EMPTY), ("revolute", (-1.0, 1.0)), ("prismatic", EMPTY)],
}


@pytest.mark.parametrize("joints", FAR.values(), ids=FAR)
def test_ranges_far_from_zero_are_solved(joints, rng):
    chain = Chain.from_urdf(urdf([(kind, "0 1 0", limits, ()) for kind, limits in joints]))
    for _ in range(20):
        q = chain.lower + rng.random(chain.n) * (chain.upper - chain.lower)
        result = chain.ik(chain.fk(q), mode="position")
        assert result and in_limits(chain, result.q)


def test_reversed_follower_with_limits_is_solved(rng):
    finger = ("revolute", "0 0 1", (0.0, 0.8757), (0, -1.0, 0.0))
    for limits in ((-0.8757, 0.0), (-0.8757, 0.8757), (-3.0, -0.1)):
        chain = Chain.from_urdf(urdf([("revolute", "0 1 0", limits, ()), finger]))
        assert chain.lower[0] >= -0.8757 and chain.upper[0] <= 0.0
        for q in rng.uniform(chain.lower, chain.upper, (10, 1)):
            assert chain.ik(chain.fk(q))


ARM = [("revolute", axis, (-2.8, 2.8), ()) for axis in (AXES[2], AXES[1], AXES[1])]
WRIST = [("revolute", axis, (-2.8, 2.8), ()) for axis in (AXES[0], AXES[1], AXES[0])]


def wide(reach):
    """Return carriers with slides as far as reach [m] to either side, with an arm of six."""
    slides = [("prismatic", axis, (-reach, reach), ()) for axis in AXES[:3]]
    return {
        "mobile base": [*slides[:2], ("continuous", "0 0 1", None, ())],
        "gantry": slides,
        "rail": slides[:1],
    }


@pytest.mark.parametrize("count", [10, pytest.param(300, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("reach", [20.0, 200.0, 1000.0, 999999.0])
@pytest.mark.parametrize("carrier", ["mobile base", "gantry", "rail"])
def test_wide_slides_are_solved_from_mid_range(carrier, reach, count):
    chain = Chain.from_urdf(urdf([*wide(reach)[carrier], *ARM, *WRIST]))
    rng = np.random.default_rng(2)
    low, high = np.maximum(chain.lower, -reach), np.minimum(chain.upper, reach)
    for _ in range(count):
        T = chain.fk(rng.uniform(low, high))
        result = chain.ik(T)
        assert result, result.message
        assert in_limits(chain, result.q)
        assert np.linalg.norm(chain.fk(result.q)[:3, 3] - T[:3, 3]) < 1.001e-5


def test_seed_a_billion_turns_away_takes_no_time():
    """The whole turns towards the seed are one division, whatever the limits."""
    about_z = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]).T
    one = Chain(about_z, np.eye(4), [ChainJoint("j", False, -4.0, 4.0)])
    for q, seed, turns in ((1.0, 9e8, 0), (-3.0, 9e8, 1), (3.0, -9e8, -1)):
        assert one.ik(one.fk([q]), [seed]).q == pytest.approx([q + turns * 2 * np.pi])
    chain = Chain.from_urdf(urdf([("revolute", "0 0 1", (-3.0, 3.0), ()), *ARM[1:]]))
    assert chain.ik(chain.fk([0.3, 0.2, 0.1]), [9e8, 0.0, 0.0], "position")
