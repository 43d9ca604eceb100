# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Claws: width by geometry in the model, in the URDF and in the robot file; impossible ones."""

import math

import numpy as np
import pytest
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import read_urdf
from hypothesis import given
from hypothesis import strategies as st

from arm_description import DescriptionError, parse_robot

PARALLEL = "gripper: {joints: [left, right], min_width: 0, max_width: 40, velocity: 80}"
BOTH = "{length: 50, pivots: 20, open: 45}"
RIGHT = "{length: 80, pivots: 28, open: 70, closed: -15, turning: right, face: 9}"
LEFT = "{length: 80, pivots: 28, open: 70, turning: left}"


def claw(small, keys, more=""):
    text = f"gripper: {{joints: [left, right], claw: {keys}, velocity: 80{more}}}"
    return parse_robot(small.replace(PARALLEL, text).replace("gripper: 10", "gripper: 30"))


def tips(model, width):
    """Return y of both tips in the palm [m] from the joints of the URDF alone."""
    tree = read_urdf(model.to_urdf("p_"))
    values = {f"p_{k}": v for k, v in model.gripper.positions(width).items()}
    for joint in tree.joints:
        if joint.mimic:
            values[joint.name] = joint.mimic.multiplier * values[joint.mimic.joint]
    poses = link_poses(tree.root, tree.joints, values)
    palm = np.linalg.inv(poses["p_gripper_link"])
    ends = []
    for name in model.gripper.joints:
        tip = model.gripper.claw.length if name in model.gripper.moving else 0.0
        ends.append((palm @ poses[f"p_{name}_link"] @ [0.0, 0.0, tip, 1.0])[:3])
    return np.array(ends)


@pytest.mark.parametrize("keys", [BOTH, RIGHT, LEFT])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_tips_in_the_urdf_are_one_width_apart(small, keys, share):
    model = claw(small, keys)
    grip = model.gripper
    width = grip.min_width + share * (grip.max_width - grip.min_width)
    left, right = tips(model, width)
    assert right[1] - left[1] == pytest.approx(width, abs=1e-12)
    assert (left[1] + right[1]) / 2 == pytest.approx(grip.middle(width), abs=1e-12)


def test_tips_meet_at_the_grasp_point(small):
    assert np.abs(tips(claw(small, BOTH), 0.0)).max() < 1e-12


@given(share=st.floats(0.0, 1.0))
@pytest.mark.parametrize("keys", [BOTH, RIGHT, LEFT])
def test_width_and_joint_positions_are_inverse(small, keys, share):
    grip = claw(small, keys).gripper
    width = grip.min_width + share * (grip.max_width - grip.min_width)
    assert grip.width_of(grip.positions(width)) == pytest.approx(width, abs=1e-12)


def test_rates_are_the_derivative_of_positions(small):
    grip, step = claw(small, BOTH).gripper, 1e-7
    before, after = (grip.positions(0.03 + s * step)["left"] for s in (-1, 1))
    assert grip.rates(0.03, 0.01)["right"] == pytest.approx(
        0.01 * (after - before) / (2 * step), rel=1e-6
    )


def test_widths_follow_from_the_angles(small):
    grip = claw(small, BOTH).gripper
    assert grip.min_width == 0.0
    assert grip.max_width == pytest.approx(0.02 + 0.1 * math.sin(math.radians(45)))


def test_second_jaw_follows_the_first_and_a_fixed_one_stays(small):
    kinds = {}
    for keys in (BOTH, RIGHT):
        tree = read_urdf(claw(small, keys).to_urdf())
        kinds[keys] = {j.name: (j.kind, bool(j.mimic)) for j in tree.joints}
    assert (kinds[BOTH]["left"], kinds[BOTH]["right"]) == (("revolute", False), ("revolute", True))
    assert (kinds[RIGHT]["left"], kinds[RIGHT]["right"]) == (("fixed", False), ("revolute", False))


@pytest.mark.parametrize("keys", [BOTH, RIGHT, LEFT])
def test_robot_file_of_a_claw_reads_back_equal(small, keys):
    model = claw(small, keys)
    assert parse_robot(robot_yaml(model)) == model


@pytest.mark.parametrize(
    ("keys", "more", "says"),
    [
        ("{length: 10, pivots: 20, open: 45}", "", "pivots: jaws of this length cannot meet"),
        ("{length: 50, pivots: 20, open: 90}", "", "open: must be above closed, and at most 85"),
        ("{length: 50, pivots: 20, open: 9, closed: 9}", "", "open: must be above closed"),
        ("{length: 50, pivots: 20, open: 45, closed: -30}", "", "already meet at -11.54 deg"),
        ("{length: 50, pivots: 20, open: 45, face: 5}", "", "one fixed jaw"),
        (BOTH, ", max_width: 40", "max_width: follows from the claw"),
    ],
)
def test_impossible_claws_are_rejected_with_line_and_remedy(small, keys, more, says):
    with pytest.raises(DescriptionError, match=r":\d+:") as caught:
        claw(small, keys, more)
    assert says in str(caught.value)


def test_fingers_that_slide_need_their_widths(small):
    text = small.replace(PARALLEL, "gripper: {joints: [left, right], velocity: 80}")
    with pytest.raises(DescriptionError, match="min_width is missing; add it, or claw"):
        parse_robot(text)
