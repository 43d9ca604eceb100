# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Servos that act through gears and linkages turn the joints as the transmissions say."""

import math
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest
from arm_simulation.contact.servos import ServoErrors
from arm_simulation.contact.world import ContactWorld
from arm_simulation.mjcf.elements import CGS, SI
from arm_simulation.mjcf.robot import robot_mjcf
from arm_simulation.mjcf.shafts import Tangents, shafts_of
from arm_tasks.scene.scene import Scene

from arm_description import load_robot, parse_robot

mujoco = pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")
EXACT = ServoErrors(dead_band=0.0, play=0.0)
EVERY_KIND = """\
name: linkage_arm
convention: standard
units: {length: mm, angle: deg}
joints:
  - {name: waist, type: revolute, d: 92, a: 0, alpha: 90,
     limits: {lower: -90, upper: 90, effort: 2}}
  - {name: shoulder, type: revolute, d: 0, a: 135, alpha: 0,
     limits: {lower: 39, upper: 120, effort: 4}}
  - {name: elbow, type: revolute, d: 0, a: 147, alpha: 0,
     limits: {lower: -140, upper: -40, effort: 3}}
  - {name: pitch, type: revolute, d: 0, a: 0, alpha: 90,
     limits: {lower: -60, upper: 60, effort: 2}}
  - {name: roll, type: revolute, d: 60, a: 0, alpha: 0,
     limits: {lower: -60, upper: 60, effort: 2}}
  - {name: slide, type: prismatic, theta: 0, a: 0, alpha: 0,
     limits: {lower: 0, upper: 30, effort: 20}}
transmissions:
  - {type: simple, joint: waist, mechanical_reduction: -2.05, offset: 3}
  - {type: several, joint: shoulder, actuators: [left, right], mirrored: [false, true],
     allowed_difference: 3}
  - {type: crank, joint: elbow, against: shoulder, ground: 135, crank: 40, rod: 140, rocker: 38,
     rocker_angle: 180, crank_angle: 180, branch: open}
  - {type: differential, joints: [pitch, roll], actuators: [upper, lower],
     mechanical_reduction: [2, 2]}
  - {type: table, joint: slide, actuator: rack, points: [[0, 5], [10, 12], [30, 40]]}
"""


@dataclass(frozen=True)
class Direct:
    """A servo whose pulse [us] is a thousand times its position [rad or m], plus 10000."""

    channel: int

    def position_at(self, pulse_us):
        return (pulse_us - 10000.0) / 1000.0


def simulated(model, errors=EXACT):
    """Return a world without gravity and the names of its servos."""
    names = list(model.drivetrain.actuators)
    if model.gripper:
        names.append("gripper")
    maps = {name: Direct(i) for i, name in enumerate(names)}
    world = ContactWorld(
        model, Scene("empty", "", {}, None, {}, {}, floor=-1.0), maps, dict.fromkeys(names, errors)
    )
    world.mj_model.opt.gravity[:] = 0.0
    return world, names


def linkages():
    yield parse_robot(EVERY_KIND)
    for name in ("mearm", "eezybotarm_mk1", "eezybotarm_mk2"):
        yield load_robot(name)


@pytest.fixture(params=linkages(), ids=lambda model: model.name)
def model(request):
    return request.param


def postures(model, number):
    rng = np.random.default_rng(7)
    tried = (rng.uniform(model.lower, model.upper) for _ in iter(int, 1))
    return list(islice((q for q in tried if model.constraint_set.worst(q) is None), number))


@pytest.mark.parametrize("units", [SI, CGS])
def test_shafts_are_where_the_transmissions_put_them_and_their_torques_pass(model, units):
    """By virtual work, the torques of the joints are the transposed Jacobian times the shafts'."""
    compiled = mujoco.MjModel.from_xml_string(robot_mjcf(model, units))
    data, tangents = mujoco.MjData(compiled), Tangents(compiled, model, units.length)
    names, train = model.joint_names, model.drivetrain
    scale = np.array([units.length if j.type == "prismatic" else 1.0 for j in model.joints])
    ids = [compiled.actuator(name).id for name in train.actuators]
    gain = compiled.actuator_gainprm[ids, 0]
    for q in postures(model, 5):
        for name, value in zip(names, q * scale, strict=True):
            data.joint(name).qpos = value
        tangents.update(data)
        mujoco.mj_forward(compiled, data)
        shafts = data.actuator_length[ids] - compiled.actuator_biasprm[ids, 0] / gain
        a, jacobian = train.to_actuators(q), train.jacobian(q)
        own = np.where([name == "rack" for name in train.actuators], units.length, 1.0)
        assert shafts == pytest.approx(a * own, abs=1e-9 * units.length)
        data.ctrl[ids] = a * own + 1e-3
        mujoco.mj_forward(compiled, data)
        dofs = [compiled.joint(name).dofadr[0] for name in names]
        expected = (data.actuator_force[ids] * own) @ jacobian / scale
        assert np.abs(data.actuator_force[ids]).min() > 0.0
        assert data.qfrc_actuator[dofs] == pytest.approx(expected, rel=1e-9)


def test_arm_goes_where_its_servos_turn(model):
    world, names = simulated(model)
    for q in postures(model, 2):
        pulses = [1000.0 * a + 10000.0 for a in model.drivetrain.to_actuators(q)]
        pulses += [10000.0] * (len(names) - len(pulses))
        for _ in range(20):
            world.step(pulses.__getitem__, 10)
            true = world.joints()
            off = np.abs([true[name] for name in model.joint_names] - q).max()
            if off < math.radians(0.5):
                break
        assert off < math.radians(0.5)


@pytest.mark.parametrize("name", ["mearm", "eezybotarm_mk2"])
def test_hand_that_follows_two_joints_stays_level_under_its_weight(name):
    """As two coincident joints with a tiny link between them it would swing."""
    world, _ = simulated(load_robot(name))
    world.mj_model.opt.gravity[2] = -9.81 * CGS.length
    for _ in range(5):
        world.step(lambda _: 0.0, 4)  # limp
        q = world.joints()
        assert abs(q["shoulder"] + q["elbow"] + q["level_shoulder"] + q["level_elbow"]) < 1e-3
        assert q["level_shoulder"] == -q["shoulder"]


def test_effort_of_a_joint_is_what_all_servos_of_its_transmission_give():
    arm = {shaft.name: shaft for shaft in shafts_of(parse_robot(EVERY_KIND))}
    assert arm["waist"].effort == pytest.approx(2.0 / 2.05)  # behind a gear
    assert arm["left"].effort == arm["right"].effort == 2.0  # two of a joint of 4 N m
    assert arm["upper"].effort == arm["lower"].effort == 0.5  # both turn it, behind gears of 2
    assert not any(shaft.is_joint for name, shaft in arm.items() if name != "left")


@pytest.mark.parametrize("mirrored", ["true", "false"])
def test_second_servo_of_a_joint_has_friction_and_inertia_of_its_own(mirrored):
    text = EVERY_KIND.replace("mirrored: [false, true]", f"mirrored: [false, {mirrored}]")
    compiled = mujoco.MjModel.from_xml_string(robot_mjcf(parse_robot(text)))
    dof, tendon = compiled.joint("shoulder").dofadr[0], compiled.tendon("right").id
    for what in ("damping", "armature", "frictionloss"):
        own, other = (getattr(compiled, f"{kind}_{what}") for kind in ("dof", "tendon"))
        assert own[dof] == pytest.approx(other[tendon]) and own[dof] > 0.0
