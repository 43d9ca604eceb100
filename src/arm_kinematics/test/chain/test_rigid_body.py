# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Torques and inertia: laws of mechanics, agreement with Pinocchio, and refused input."""

import itertools
import math

import numpy as np
import pytest
from arm_description.model.elements import Payload
from arm_description.urdf.bodies import holding_torques
from arm_kinematics.chain.rigid_body import GRAVITY
from arm_kinematics.chain.robot import Robot
from arm_testing.arms.chains import posture
from arm_testing.arms.samples import ROBOTS

from arm_description import load_robot
from arm_kinematics import Chain, KinematicsError

STEP = 1e-6


def numbers(values):
    return " ".join(repr(float(v)) for v in values)


def link(name, rng):
    a = rng.normal(size=(3, 3))
    xx, xy, xz, _, yy, yz, _, _, zz = ((a @ a.T + np.eye(3)) * 1e-2).ravel()
    return (
        f'<link name="{name}"><inertial><mass value="{rng.uniform(0.1, 3.0)}"/><origin '
        f'xyz="{numbers(rng.normal(scale=0.1, size=3))}" rpy="{numbers(rng.normal(size=3))}"/>'
        f'<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>'
        "</inertial></link>"
    )


def joint(name, parent, rng, mimic=""):
    kind = rng.choice(["revolute", "prismatic"], p=[0.75, 0.25])
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{name}_link"/><axis xyz="{numbers(rng.normal(size=3))}"/><origin '
        f'xyz="{numbers(rng.normal(scale=0.3, size=3))}" rpy="{numbers(rng.normal(size=3))}"/>'
        f'<limit lower="-3" upper="3" velocity="1" effort="1"/>{mimic}</joint>'
    )


def random_arm(seed):
    """Return a URDF with a chain to j5_link, mimic joints in and beside it, and a still branch."""
    rng = np.random.default_rng(seed)
    names, carrier = [f"j{i}" for i in range(6)], "base_link"
    parts = [link("base_link", rng)]
    mimics = {"j2": ("j0", -0.7, 0.4), "j4": ("j5", 1.3, -0.2), "bar": ("j1", -1.0, 0.3)}
    for name in [*names, "bar", "far", "jaw"]:
        mimic = ""
        if name in mimics:
            leader, ratio, offset = mimics[name]
            mimic = f'<mimic joint="{leader}" multiplier="{ratio}" offset="{offset}"/>'
        parent = {"bar": "j1_link", "far": "bar_link", "jaw": "j4_link"}.get(name, carrier)
        parts += [link(f"{name}_link", rng), joint(name, parent, rng, mimic)]
        carrier = f"{name}_link"
    return f'<robot name="random">{"".join(parts)}</robot>', mimics


class Peer:
    """The same arm in Pinocchio: a matrix and a shift give all its joints from the chain's."""

    def __init__(self, urdf, mimics, names):
        self.pin = pytest.importorskip("pinocchio")
        self.model = self.pin.buildModelFromXML(urdf)
        self.data = self.model.createData()
        drives = {name: (name, 1.0, 0.0) for name in names} | mimics
        self.G, self.shift = np.zeros((self.model.nv, len(names))), np.zeros(self.model.nv)
        for name, (leader, ratio, offset) in drives.items():
            row = self.model.joints[self.model.getJointId(name)].idx_v
            self.G[row, names.index(leader)], self.shift[row] = ratio, offset

    def torques(self, q, qd, qdd):
        args = (self.G @ q + self.shift, self.G @ qd, self.G @ qdd)
        return self.G.T @ self.pin.rnea(self.model, self.data, *args)

    def inertia(self, q):
        M = np.triu(self.pin.crba(self.model, self.data, self.G @ q + self.shift))
        return self.G.T @ (M + np.triu(M, 1).T) @ self.G


@pytest.mark.parametrize("seed", range(12))
def test_random_arms_agree_with_pinocchio(seed, rng):
    urdf, mimics = random_arm(seed)
    chain = Chain.from_urdf(urdf, "base_link", "j5_link")
    assert chain.joint_names == ("j0", "j1", "j3", "j5")
    peer, zero = Peer(urdf, mimics, list(chain.joint_names)), np.zeros(chain.n)
    for q, qd, qdd in rng.normal(size=(20, 3, chain.n)):
        close = {"rtol": 1e-11, "atol": 1e-9}
        assert np.allclose(chain.inverse_dynamics(q, qd, qdd), peer.torques(q, qd, qdd), **close)
        assert np.allclose(chain.gravity_torques(q), peer.torques(q, zero, zero), **close)
        assert np.allclose(chain.inertia_matrix(q), peer.inertia(q), **close)


def potential_energy(robot, chain, q, gravity=GRAVITY):
    """Return the potential energy [J] from the poses of all links that have a mass."""
    joints = robot.positions({name: 0.0 for name in robot.joint_names})
    joints |= robot.positions(dict(zip(chain.joint_names, q, strict=True)))
    total = 0.0
    for body in robot.urdf.inertials:
        T = robot.link_pose(body.link, joints)
        total -= body.mass * (gravity @ (T[:3, :3] @ body.centre + T[:3, 3]))
    return total


@pytest.mark.parametrize("name", ROBOTS)
def test_gravity_torque_is_the_gradient_of_the_potential_energy(name, rng):
    robot = Robot(load_robot(name).to_urdf())
    chain = Chain.from_model(load_robot(name))
    for gravity in (GRAVITY, np.array([3.0, -8.0, 2.0])):
        q = posture(chain, rng)
        slopes = [
            (potential_energy(robot, chain, q + d, gravity)
             - potential_energy(robot, chain, q - d, gravity)) / (2 * STEP)
            for d in STEP * np.eye(chain.n)
        ]  # fmt: skip
        assert_same_without_kernels(chain, q)
        assert np.allclose(chain.gravity_torques(q, gravity=gravity), slopes, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ROBOTS)
def test_power_is_the_change_of_energy(name, rng):
    robot = Robot(load_robot(name).to_urdf())
    chain = Chain.from_model(load_robot(name))
    q, qd, qdd = posture(chain, rng), *rng.normal(size=(2, chain.n))

    def energy(t):
        speed, at = qd + t * qdd, q + t * qd + t * t / 2 * qdd
        return speed @ chain.inertia_matrix(at) @ speed / 2 + potential_energy(robot, chain, at)

    change = (energy(STEP) - energy(-STEP)) / (2 * STEP)
    assert qd @ chain.inverse_dynamics(q, qd, qdd) == pytest.approx(change, rel=1e-5, abs=1e-6)


def assert_same_without_kernels(chain, q):
    held = holding_torques(chain.bodies, q)
    assert np.allclose(held, chain.gravity_torques(q), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_holding_torques_without_compiled_kernels_are_the_same(seed, rng):
    chain = Chain.from_urdf(random_arm(seed)[0], "base_link", "j5_link")
    assert_same_without_kernels(chain, rng.uniform(-2.0, 2.0, chain.n))


@pytest.mark.parametrize("name", ROBOTS)
def test_inertia_matrix_is_symmetric_positive_definite_and_the_slope_of_torque(name, rng):
    chain = Chain.from_model(load_robot(name))
    for _ in range(5):
        q, qd, qdd = posture(chain, rng), *rng.normal(size=(2, chain.n))
        M = chain.inertia_matrix(q)
        assert (M == M.T).all()
        assert np.linalg.eigvalsh(M)[0] > 0.0
        slope = chain.inverse_dynamics(q, qd, qdd) - chain.inverse_dynamics(q, qd, 0 * qdd)
        assert np.allclose(M @ qdd, slope, rtol=1e-9, atol=1e-9 * np.abs(M).max())


def test_plane_arm_by_hand():
    """A point of 2 kg at the tip of a level arm of two links of 0.5 m (two weightless rods)."""
    rod = (
        '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>'
        '<origin xyz="{3} 0 0"/><axis xyz="0 -1 0"/><limit velocity="1" effort="9"/></joint>'
    )
    urdf = (
        '<robot name="rods"><link name="base_link"/><link name="a"/><link name="b"/>'
        f'<link name="tool0"/>{rod.format("one", "base_link", "a", 0)}'
        f'{rod.format("two", "a", "b", 0.5)}<joint name="tip" type="fixed"><parent link="b"/>'
        '<child link="tool0"/><origin xyz="0.5 0 0"/></joint></robot>'
    )
    chain = Chain.from_urdf(urdf)
    with pytest.raises(KinematicsError, match="no link that the joints move has a mass"):
        chain.gravity_torques([0, 0])
    assert np.allclose(chain.gravity_torques([0, 0], payload=2.0), [19.62, 9.81])
    assert np.allclose(chain.gravity_torques([math.pi / 2, 0], payload=2.0), 0.0, atol=1e-14)
    assert np.allclose(chain.inertia_matrix([0, 0], payload=2.0), [[2.0, 1.0], [1.0, 0.5]])
    # straight and turning: the centripetal force has no lever
    assert np.allclose(chain.inverse_dynamics([0, 0], [3, 0], [0, 0], 2.0, [0, 0, 0]), 0.0)


@pytest.mark.parametrize("name", ["nut_arm", "panda"])
def test_payload_equals_a_heavier_link(name, rng):
    model = load_robot(name)
    load = Payload(0.3, (0.01, -0.02, 0.05), (0.02, 0.03, 0.08))
    x, y, z = np.square(load.size) * load.mass / 12
    box = (
        f'<link name="box"><inertial><mass value="0.3"/><origin xyz="{numbers(load.centre)}"/>'
        f'<inertia ixx="{y + z}" iyy="{x + z}" izz="{x + y}"/></inertial></link>'
        '<joint name="held" type="fixed"><parent link="tool0"/><child link="box"/></joint></robot>'
    )
    light = Chain.from_model(model)
    heavy = Chain.from_urdf(model.to_urdf().replace("</robot>", box))
    for q, qd, qdd in rng.normal(size=(5, 3, light.n)):
        torques = light.inverse_dynamics(q, qd, qdd, load)
        assert np.allclose(torques, heavy.inverse_dynamics(q, qd, qdd), rtol=1e-12)
        gap = light.gravity_torques(q, load) - light.gravity_torques(q)
        assert np.allclose(gap, heavy.gravity_torques(q) - light.gravity_torques(q), atol=1e-12)


@pytest.mark.parametrize("base", ["base_link", "forearm_link", "wrist_roll_link"])
def test_chain_of_a_URDF_may_start_anywhere(base, nut_arm, rng):
    """Held at another link, the arm has the same torques with the directions of motion turned."""
    text = load_robot("nut_arm").to_urdf().replace("elbow_link", "forearm_link")
    robot, chain = (
        Robot(text),
        Chain.from_urdf(text, base, "base_link" if base[0] != "b" else "tool0"),
    )
    if base == "base_link":
        q = posture(chain, rng)
        assert np.allclose(chain.gravity_torques(q), nut_arm.gravity_torques(q), atol=1e-15)
        return
    assert chain.bodies.mass < sum(body.mass for body in robot.urdf.inertials)
    joints = dict.fromkeys((*robot.joint_names, *robot.followers), 0.0)

    def energy(at):
        joints.update(zip(chain.joint_names, at, strict=True))
        held = np.linalg.inv(robot.link_pose(base, joints))
        poses = [(b, held @ robot.link_pose(b.link, joints)) for b in robot.urdf.inertials]
        return -sum(b.mass * GRAVITY @ (T[:3, :3] @ b.centre + T[:3, 3]) for b, T in poses)

    for q in rng.normal(size=(3, chain.n)):
        slopes = [(energy(q + d) - energy(q - d)) / 2e-6 for d in 1e-6 * np.eye(chain.n)]
        assert np.allclose(chain.gravity_torques(q), slopes, atol=1e-8)


def test_many_postures_at_once(nut_arm, rng):
    postures = np.array([posture(nut_arm, rng) for _ in range(7)])
    each = [nut_arm.gravity_torques(q) for q in postures]
    assert (nut_arm.gravity_torques(postures) == each).all()
    assert nut_arm.gravity_torques(np.empty((0, 4))).shape == (0, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda c: c.gravity_torques([0, 0, 0]),
            "q: expected 4 finite numbers in the order waist",
        ),
        (lambda c: c.gravity_torques(["a"]), "q: expected 4 finite numbers"),
        (lambda c: c.gravity_torques(np.zeros((2, 3))), "q: expected 4 finite numbers"),
        (lambda c: c.gravity_torques(np.zeros((2, 2, 4))), "q: expected 4 finite numbers"),
        (lambda c: c.gravity_torques([0, 0, math.nan, 0]), "q: expected 4 finite numbers"),
        (lambda c: c.gravity_torques([0, 0, 1e200, 0]), "below 1e100"),
        (lambda c: c.gravity_torques([0] * 4, gravity=[0, 0]), "gravity: expected 3"),
        (lambda c: c.gravity_torques([0] * 4, payload=-1.0), "payload is -1.0; expected a mass"),
        (lambda c: c.gravity_torques([0] * 4, payload="heavy"), "payload is 'heavy'"),
        (lambda c: c.inverse_dynamics([0] * 4, [0] * 3, [0] * 4), "qd: expected 4 finite"),
        (lambda c: c.inverse_dynamics([0] * 4, [0] * 4, [math.inf] * 4), "qdd: expected 4 finite"),
        (lambda c: c.inertia_matrix([0] * 5), "q: expected 4 finite numbers"),
        (lambda c: c.inertia_matrix(np.zeros((1, 4))), "q: expected 4 finite numbers"),
        (lambda c: Chain(c.S, c.M, joints_of(c)).gravity_torques([0] * 4), "screws has no masses"),
    ],
)
def test_bad_input_gets_one_sentence(call, message, nut_arm):
    with pytest.raises(KinematicsError, match=message):
        call(nut_arm)


def joints_of(chain):
    from arm_kinematics import ChainJoint

    bounds = zip(chain.joint_names, chain.lower, chain.upper, strict=True)
    return [ChainJoint(name, False, low, high) for name, low, high in bounds]


def test_invalid_inertia_is_told_when_torques_are_asked_for():
    urdf, _ = random_arm(0)
    chain = Chain.from_urdf(urdf.replace("ixx=", "iqq="), "base_link", "j5_link")
    for ask in itertools.repeat(lambda: chain.gravity_torques([0] * 4), 2):
        with pytest.raises(KinematicsError, match=r'ixx="".*must be a finite number'):
            ask()


@pytest.mark.parametrize(("moments", "told"), [("0.5", 1), ("-0.3", 1), ("0.2", 0)])
def test_an_inertia_that_no_body_can_have_is_told_once(moments, told, caplog):
    body = f'<inertia ixx="0.1" iyy="0.1" izz="{moments}"/>'
    urdf = f"""<robot name="r"><link name="b"/><link name="plate"><inertial><mass value="1"/>{body}
    </inertial></link><joint name="j" type="revolute"><parent link="b"/><child link="plate"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
    for _ in range(2):
        Chain.from_urdf(urdf, "b", "plate").inertia_matrix([0.0])
    sentences = [record.message for record in caplog.records]
    assert len(sentences) == told
    assert all("'plate'" in text and f"{float(moments):g}" in text for text in sentences)
