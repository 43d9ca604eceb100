# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""MJCF of every shipped robot: MuJoCo reads it, its kinematics and masses are ours.

Servos that act through gears and linkages turn the joints as the transmissions say.
"""

import math
import sys
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pytest
from arm_description.model.elements import LinkMass, mimic_names
from arm_description.model.gripper import Claw
from arm_description.model.transmissions.transmission import Drivetrain
from arm_description.urdf.assembly import written_effort
from arm_description.urdf.elements import UrdfLink
from arm_description.urdf.optional.bars import bar_parts
from arm_description.urdf.reader import read_urdf
from arm_simulation.commands.export import dh2mjcf
from arm_simulation.contact.servos import ServoErrors
from arm_simulation.contact.world import ContactWorld
from arm_simulation.mjcf.elements import CGS, SI, document, xml_text
from arm_simulation.mjcf.robot import RobotMjcf, Tangents, robot_mjcf, shafts_of
from arm_tasks.planning.collision import mujoco_library
from arm_tasks.scene.scene import Scene

from arm_description import DescriptionError, load_robot, parse_robot, shipped_robots

mujoco = pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")


@pytest.fixture(scope="module", params=shipped_robots())
def robot(request):
    model = load_robot(request.param)
    return model, mujoco.MjModel.from_xml_string(robot_mjcf(model))


def test_forward_kinematics_are_ours(robot):
    model, compiled = robot
    data, rng = mujoco.MjData(compiled), np.random.default_rng(19)
    for _ in range(20):
        q = rng.uniform(model.lower, model.upper)
        for name, value in zip(model.joint_names, q, strict=True):
            data.joint(name).qpos = value
        where = dict(zip(model.joint_names, q, strict=True))
        for joint in model.dependents:
            data.joint(joint.name).qpos = sum(f * where[name] for name, f in joint.terms)
        mujoco.mj_kinematics(compiled, data)
        tool, T = data.body("tool0"), model.fk(q)
        assert np.abs(tool.xpos - T[:3, 3]).max() < 1e-9
        assert np.abs(tool.xmat.reshape(3, 3) - T[:3, :3]).max() < 1e-9


def test_limits_masses_and_actuators_are_those_of_the_robot(robot):
    model, compiled = robot
    for joint in model.joints:
        assert compiled.joint(joint.name).range == pytest.approx([joint.lower, joint.upper])
    middle = 0.5 * (model.lower + model.upper)
    rates = np.abs(Drivetrain.of(model).jacobian(middle))
    for joint, own in zip(model.joints, np.diag(rates), strict=True):  # behind its gear
        most = compiled.actuator(joint.name).forcerange[1] * own
        assert most == pytest.approx(written_effort(joint))
    left_out = {joint.child for joint in bar_parts(model).joints}  # drawn only
    for joint in model.dependents:  # the small links between coincident mimic joints
        left_out |= {f"{name}_link" for name in mimic_names(joint.name, joint.terms)[:-1]}
    for inertial in read_urdf(model.to_urdf()).inertials:
        if inertial.link in left_out:
            continue
        body = compiled.body(inertial.link)
        assert body.mass == pytest.approx(inertial.mass, rel=1e-5)
        assert body.ipos == pytest.approx(np.array(inertial.centre), abs=1e-6)


def test_units_change_no_motion():
    model = load_robot("nut_arm")
    ends = []
    for units in (SI, CGS):
        compiled = mujoco.MjModel.from_xml_string(robot_mjcf(model, units))
        data = mujoco.MjData(compiled)
        data.actuator("shoulder").ctrl = 0.3
        data.actuator("gripper").ctrl = 0.02 * units.length
        mujoco.mj_step(compiled, data, 200)
        fingers = [data.joint(name).qpos[0] / units.length for name in model.gripper.joints]
        ends.append([data.joint(name).qpos[0] for name in model.joint_names] + fingers)
    assert ends[0] == pytest.approx(ends[1], abs=1e-5)
    assert ends[0][-1] == pytest.approx(0.01, abs=5e-4)


def test_moving_link_without_a_body_is_simulated():
    root = document("frames", SI)
    robot = RobotMjcf(load_robot("nut_arm"))
    robot._links["elbow_link"] = UrdfLink("elbow_link")
    robot.add_to(root)
    compiled = mujoco.MjModel.from_xml_string(xml_text(root))
    assert 0.0 < compiled.body("elbow_link").mass[0] < 1e-3


def heavy(inertia, mass=0.2):
    model = load_robot("planar2")
    return replace(model, masses={"elbow_link": LinkMass(mass, (0.1, 0.0, 0.0), inertia)})


def test_an_inertia_that_no_body_can_have_is_refused_with_its_link():
    for moments in ((0.1, 0.0, 0.0, 0.1, 0.0, 0.5), (-0.01, 0.0, 0.0, 0.1, 0.0, 0.1)):
        with pytest.raises(DescriptionError, match=r"link 'elbow_link'.*MuJoCo and Gazebo refuse"):
            robot_mjcf(heavy(moments))


@pytest.mark.parametrize(
    ("mass", "moments"),
    [
        (0.2, (0.1, 0.0, 0.0, 0.1, 0.0, 0.200001)),  # rounded
        (0.2, (1e-6, 2e-7, 0.0, 1e-6, 0.0, 2.0001e-6)),
        (0.2, (0.0, 0.0, 0.0, 0.1, 0.0, 0.1)),  # a rod
        (0.2, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),  # a point
        (0.0, None),
        (0.0, (1e-4, 0.0, 0.0, 1e-4, 0.0, 1e-4)),  # a rotor
    ],
)
def test_mujoco_takes_masses_of_any_kind(mass, moments):
    compiled = mujoco.MjModel.from_xml_string(robot_mjcf(heavy(moments, mass)))
    assert compiled.body("elbow_link").mass[0] == pytest.approx(mass, abs=1e-3)


def test_command_writes_a_file_and_reports_an_unknown_robot(tmp_path, capsys):
    file = tmp_path / "arm.xml"
    assert dh2mjcf(["nut_arm", "-o", str(file)]) == 0
    assert mujoco.MjModel.from_xml_path(str(file)).nu == 5
    assert dh2mjcf(["nut_arms"]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "nut_arm" in message


def test_command_needs_no_mujoco(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    mujoco_library.mujoco.cache_clear()
    assert not mujoco_library.has_mujoco()
    assert dh2mjcf(["nut_arm", "-o", str(tmp_path / "arm.xml")]) == 0


def test_claw_is_driven_by_the_angle_of_its_jaws():
    model = load_robot("nut_arm")
    claw = Claw(length=0.05, pivots=0.01, closed=0.0, open=1.0)
    gripper = replace(model.gripper, claw=claw, max_width=claw.width(claw.open))
    model = replace(model, gripper=gripper)
    compiled = mujoco.MjModel.from_xml_string(robot_mjcf(model))
    data = mujoco.MjData(compiled)
    data.actuator("gripper").ctrl = 0.5
    mujoco.mj_step(compiled, data, 1000)
    angles = [data.joint(name).qpos[0] for name in model.gripper.joints]
    assert angles == pytest.approx([0.5, 0.5], abs=0.02)


@pytest.mark.parametrize(
    ("robot", "weak"),
    [("ball_arm", {"shoulder_y"}), ("nut_arm", set()), ("planar2", set())],
)
def test_actuators_that_cannot_hold_the_arm_are_named(robot, weak, capsys):
    assert dh2mjcf([robot]) == 0
    said = capsys.readouterr().err.splitlines()
    assert {line.partition(":")[0] for line in said} == weak
    assert all("cannot hold the arm in" in line and "raise limits.effort" in line for line in said)


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
    names = list(Drivetrain.of(model).actuators)
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
    names, train = model.joint_names, Drivetrain.of(model)
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
        pulses = [1000.0 * a + 10000.0 for a in Drivetrain.of(model).to_actuators(q)]
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
