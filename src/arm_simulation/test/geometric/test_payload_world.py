# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Payloads: gripped, carried and released by inaccurate jaws, and grips that fail."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp
from arm_description.model.gripper import Claw
from arm_simulation.geometric.world import PayloadWorld
from arm_tasks.scene.file import scene_from_text
from arm_tasks.scene.grasp import FLOOR, SQUEEZE, holding_width, lies_on, resting_pose
from hypothesis import given
from hypothesis import strategies as st

from arm_description import load_robot

SCENE = scene_from_text("""
scene: s
pallets: {pallet: {xyz_mm: [240, 0, 122], length_mm: 100, width_mm: 100, height_mm: 20}}
batteries:
  cell: {frame: pallet, xyz_mm: [0, 0, 25.25], diameter_mm: 14.5, length_mm: 50.5, mass: 0.02}
pegs: {peg: {frame: pallet, xyz_mm: [0, 40, 10], diameter_mm: 8, length_mm: 20}}
""")
LEVEL = np.array([[0, 0, 1], [0, -1, 0], [1, 0, 0]], dtype=float)  # tool z ahead, x up


def tool(x, y, z):
    return pose(LEVEL, (x * 1e-3, y * 1e-3, z * 1e-3))


def close(world, T, start, end, steps=30):
    for width in np.linspace(start, end, steps):
        world.update(T, float(width))


@given(off=st.floats(-5.0, 5.0), along=st.floats(-2.0, 30.0))
def test_closing_jaws_centre_and_carry_a_payload(model, off, along):
    world = PayloadWorld(SCENE, model.gripper)
    close(world, tool(240 + along, off, 150), 0.03, 0.0139)
    assert world.held == "cell"
    assert world.poses["cell"][1, 3] == pytest.approx(off * 1e-3, abs=1e-9)
    world.update(tool(240 + along, off, 200), 0.0139)
    assert world.poses["cell"][2, 3] == pytest.approx(0.122 + 0.02525 + 0.05)


def test_jaws_squeeze_by_an_angle_of_their_servo(model):
    """By 2 % of the travel of fingers that slide; their dead band would take a fixed length."""
    assert holding_width(model.gripper, 14.5e-3) == pytest.approx(14.5e-3 - 0.02 * 30e-3)
    claw = load_robot("mearm").gripper
    touching, squeezing = (claw.claw.angle(w) for w in (20e-3, holding_width(claw, 20e-3)))
    assert touching - squeezing == pytest.approx(SQUEEZE)
    assert holding_width(claw, claw.min_width) == claw.min_width


def test_a_claw_with_one_fixed_jaw_pushes_the_payload_onto_it(model):
    claw = Claw(0.08, 0.028, -0.3, 1.0, turning="right", face=0.02)
    world = PayloadWorld(SCENE, replace(model.gripper, claw=claw))
    close(world, tool(240, 0, 150), 0.04, 0.0139)
    assert world.held == "cell"
    in_hand = -0.02 + 0.0145 / 2  # y of the tool is -y of the base
    assert world.poses["cell"][1, 3] == pytest.approx(-in_hand, abs=1e-9)


@pytest.mark.parametrize(
    ("place", "start"),
    [
        *[((240, 9, 150), 0.03), ((190, 0, 150), 0.03), ((240, 0, 190), 0.03)],
        ((240, 0, 150), 0.0135),
        ((240, 40, 132), 0.03),  # around the peg, which has no mass
    ],
)
def test_jaws_hold_nothing_beside_a_payload_or_without_mass(model, place, start):
    world = PayloadWorld(SCENE, model.gripper)
    close(world, tool(*place), start, 0.0)
    assert world.held == "" and "peg" not in world.poses


@pytest.mark.parametrize(
    ("x", "y", "on", "top"), [(240, 0, "pallet", 0.122), (240, 40, "peg", 0.142), (0, 0, FLOOR, 0)]
)
def test_released_payload_falls_onto_the_support_below_and_stands_up(x, y, on, top):
    leaning = so3_exp(np.array([math.radians(10), 0.0, 0.0]))
    scene = SCENE.with_object("cell", pose(leaning, (x * 1e-3, y * 1e-3, 0.3)))
    assert lies_on(scene, "cell") == ""
    T, found = resting_pose(scene, "cell")
    assert found == on
    assert T[2, 3] == pytest.approx(top + 0.02525) and T[2, 2] == pytest.approx(1.0)
    assert lies_on(scene.with_object("cell", T), "cell") == on


def planned(plan_of, *steps, **options):
    lines = "".join(f"  - {step}\n" for step in steps)
    text = f"task: t\ndefaults: {{tilt_deg: 35}}\nsteps:\n{lines}"
    return plan_of(text, scene=SCENE, width=0.03, collisions=True, **options)


GO = "approach: {frame: cell, axis: [1, 0, 0], distance_mm: 40}"


def test_carried_payload_can_collide(plan_of):
    pytest.importorskip("mujoco", reason="collision checks need MuJoCo")
    down = "move_linear: {frame: tool0, xyz_mm: [-10, 0, 0]}"
    planned(plan_of, GO, down)
    plan = planned(plan_of, GO, "grip: cell", down, refused=True)
    assert "cell would be" in plan.message and "mm deep in pallet" in plan.message


def test_frame_of_a_carried_payload_moves_with_the_tool(plan_of):
    again = "move_pose: {frame: cell, axis: [1, 0, 0]}"
    up = "move_linear: {frame: pallet, xyz_mm: [0, 0, 50], axis: [1, 0, 0]}"
    plan = planned(plan_of, GO, "grip: cell", up, again)
    assert plan.steps[-1].message.endswith("already there")


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (["grip: cell"], "cell is not between the jaws: "),
        (["grip: peg"], "peg has no mass in the scene"),
        (["grip: sell"], "there is no 'sell' in the scene; did you mean 'cell'"),
        ([GO, "grip: cell", "grip: cell"], "the jaws hold cell already"),
    ],
)
def test_invalid_grip_is_reported_with_its_line(plan_of, steps, message):
    with pytest.raises(ValueError, match=r"t\.yaml:") as error:
        planned(plan_of, *steps)
    assert message in str(error.value)
