# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Loads of the actuators: work through transmissions, the worst posture, and the payload."""

import numpy as np
import pytest
from arm_description.model.transmissions.transmission import Drivetrain
from arm_kinematics.dexterity.loads import ActuatorLoads
from arm_testing.arms.chains import posture
from arm_testing.arms.samples import ROBOTS, sampled

from arm_description import load_robot, parse_robot
from arm_kinematics import Chain, KinematicsError

LIMITED = sampled(["five_axis", "nut_arm", "panda", "puma560", "ur5"], "nut_arm", "panda")
# A level elbow by a parallelogram, as in a palletiser: its servo carries the forearm alone.
LINKAGE = """
name: linkage
convention: standard
units: {length: m, angle: rad}
joints:
  - {name: shoulder, type: revolute, theta: 0, d: 0, a: 0.3, alpha: 0,
     limits: {lower: -1, upper: 1, effort: 4}}
  - {name: elbow, type: revolute, theta: 0, d: 0, a: 0.2, alpha: 0,
     limits: {lower: -1, upper: 1, effort: 2}}
base: {rpy: [1.5707963267948966, 0, 0]}
transmissions:
  - {type: parallelogram, joint: elbow, against: shoulder}
"""


@pytest.mark.parametrize("name", ROBOTS)
def test_actuators_do_the_work_of_the_joints(name, rng):
    model = load_robot(name)
    loads = ActuatorLoads.of_model(model)
    q = posture(loads.chain, rng)
    qd, tau = rng.normal(size=(2, model.n))
    speeds = Drivetrain.of(model).jacobian(q) @ qd
    assert loads.torques(q[None], tau[None])[0] @ speeds == pytest.approx(tau @ qd, rel=1e-9)


def test_parallelogram_takes_the_forearm_off_the_shoulder():
    model = parse_robot(LINKAGE)
    loads, q = ActuatorLoads.of_model(model), np.zeros((1, 2))
    tau = loads.chain.gravity_torques(q)
    shoulder, elbow = loads.torques(q, tau)[0]
    assert elbow == pytest.approx(tau[0, 1])
    assert shoulder == pytest.approx(tau[0, 0] - tau[0, 1])
    assert np.allclose(loads.shares(q, tau), [[shoulder / 4.0, elbow / 2.0]])


def test_two_servos_share_the_torque_of_a_joint():
    parallelogram = "{type: parallelogram, joint: elbow, against: shoulder}"
    pair = (
        "{type: several, joint: elbow, actuators: [left, right], mirrored: [false, true],"
        " allowed_difference: 0.1}"
    )
    loads, q = ActuatorLoads.of_model(parse_robot(LINKAGE.replace(parallelogram, pair))), [[0, 0]]
    tau = loads.chain.gravity_torques(q)
    half = tau[0, 1] / 2
    assert loads.names == ("shoulder", "elbow", "elbow")
    assert np.allclose(loads.torques(np.array(q), tau), [[tau[0, 0], half, -half]])
    assert np.allclose(loads.shares(np.array(q), tau)[0, 1:], [tau[0, 1] / 2, -tau[0, 1] / 2])


@pytest.mark.parametrize("name", LIMITED)
def test_no_random_posture_is_loaded_more_than_the_heaviest(name, rng):
    loads = ActuatorLoads.of_model(load_robot(name))
    chain = loads.chain
    postures = np.array([posture(chain, rng) for _ in range(3000)])
    shares = np.abs(loads.holding(postures, 0.1)).max(axis=0)
    found = loads.heaviest_postures(0.1)
    assert [each.actuator for each in found] == list(loads.names)
    assert (shares <= [each.share + 1e-9 for each in found]).all()
    for each in found:
        assert ((each.q >= chain.lower) & (each.q <= chain.upper)).all()


@pytest.mark.parametrize("name", LIMITED)
def test_payload_capacity_is_where_the_first_actuator_is_at_its_limit(name, rng):
    loads = ActuatorLoads.of_model(load_robot(name))
    postures = np.array([posture(loads.chain, rng) for _ in range(10)])
    for share in (0.6, 1.0):
        for q, mass in zip(postures, loads.payload_capacity(postures, share), strict=True):
            assert np.abs(loads.holding(q[None], mass)).max() == pytest.approx(share)
    least, worst = loads.least_capacity()
    assert least <= loads.payload_capacity(postures).min()
    assert loads.payload_capacity(worst)[0] == least


@pytest.mark.parametrize("name", ["puma560", "ur5"])
def test_least_loaded_of_all_solutions_comes_first(name, rng):
    loads = ActuatorLoads.of_model(load_robot(name))
    chain = loads.chain
    every = chain.all_solutions(chain.fk(posture(chain, rng))).every_q
    ordered = loads.by_load(every, 0.5)
    tau = chain.gravity_torques(ordered, 0.5)
    worst = np.abs(tau / chain.effort).max(axis=1)
    assert len(every) > 1 and (np.diff(worst) >= 0.0).all()
    assert {tuple(q) for q in ordered} == {tuple(q) for q in every}


def test_arm_that_does_not_bear_itself_carries_nothing():
    loads = ActuatorLoads.of_model(parse_robot(LINKAGE.replace("effort: 2", "effort: 1e-4")))
    assert loads.least_capacity()[0] == 0.0
    assert loads.payload_capacity([0.0, 0.0])[0] == 0.0
    with pytest.raises(KinematicsError, match="share is 0; expected a positive number"):
        loads.payload_capacity([0.0, 0.0], 0)


def test_unknown_limits_limit_nothing():
    loads = ActuatorLoads(Chain.from_model(load_robot("mearm")))
    assert not loads.known
    assert loads.payload_capacity(np.zeros(3))[0] == np.inf
    described = Chain.from_urdf(load_robot("ur5").to_urdf())
    assert list(described.effort) == [150.0, 150.0, 150.0, 28.0, 28.0, 28.0]
