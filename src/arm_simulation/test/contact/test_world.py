# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Laws of the simulated world, and its answers to impossible input."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp
from arm_description.model.elements import LinkMass
from arm_simulation.contact.servos import IDLE_CURRENT, STALL_CURRENT, ServoErrors
from arm_simulation.contact.world import ContactWorld
from arm_simulation.mjcf.elements import CGS
from arm_simulation.mjcf.robot import SERVO
from arm_tasks.scene.scene import GREY, Primitive, Scene, SceneObject

from arm_description import load_robot
from arm_simulation import SimulationError

mujoco = pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")
MODEL = load_robot("nut_arm")
NAMES = (*MODEL.joint_names, "gripper")
GRAVITY = 9.81
EXACT = ServoErrors(dead_band=0.0, play=0.0)
EMPTY = Scene("empty", "", {}, None, {}, {}, floor=-1.0)


@dataclass(frozen=True)
class Linear:
    """A servo of 2000 us for half a turn, or of 1000 us for the jaws' 30 mm."""

    channel: int
    slides: bool = False

    def position_at(self, pulse_us):
        return (pulse_us - 1000.0) * 30e-6 if self.slides else (pulse_us - 1500.0) * math.pi / 2000


MAPS = {name: Linear(i, name == "gripper") for i, name in enumerate(NAMES)}


def pulses(**positions):
    """Return the pulses that request positions [rad or m], 0 for the others."""
    wanted = dict.fromkeys(NAMES, 0.0) | positions
    values = [
        wanted[name] / 30e-6 + 1000.0
        if name == "gripper"
        else wanted[name] * 2000.0 / math.pi + 1500.0
        for name in NAMES
    ]
    return values.__getitem__


def world(*solids, errors=None, floor=-1.0):
    objects = {solid.name: solid for solid in solids}
    return ContactWorld(MODEL, Scene("solids", "", {}, None, objects, {}, floor), MAPS, errors)


def block(name="block", at=(0.3, 0.0, 0.5), mass=0.05, side=0.02):
    part = Primitive("box", (side, side, side), np.eye(4), GREY)
    return SceneObject(name, "objects", pose(p=at), (part,), mass)


def test_free_fall_is_that_of_a_point_mass():
    simulated = world(block(at=(0.3, 0.0, 0.5)))
    simulated.step(pulses(), 10)
    fallen = 0.5 - simulated.pose_of("block")[2, 3]
    assert fallen == pytest.approx(0.5 * GRAVITY * 0.2**2, rel=0.01)


def test_joint_without_torque_swings_at_the_period_of_a_pendulum():
    """Gravity along x lets the arm hang and swing about the waist."""
    simulated = world()
    model, data = simulated.mj_model, simulated.mj_data
    model.dof_damping[:] = model.dof_frictionloss[:] = 0.0
    for name in NAMES[1:4]:
        model.dof_damping[model.joint(name).dofadr[0]] = 1e12  # stiff
    model.opt.gravity[:] = (GRAVITY * CGS.length, 0.0, 0.0)
    simulated.place([0.1, 1.2, 0.0, 0.0], 0.01)
    unit, inertia = np.zeros(model.nv), np.zeros(model.nv)
    unit[0] = 1.0
    mujoco.mj_mulM(model, data, inertia, unit)
    moment = model.body_subtreemass[0] * np.linalg.norm(data.subtree_com[0, :2])
    expected = 2.0 * math.pi * math.sqrt(inertia[0] / (moment * GRAVITY * CGS.length))
    crossings, last = [], 0.1
    for i in range(250):
        simulated.step(lambda _: 0.0)
        now = simulated.joints()["waist"]
        if last * now < 0.0:
            crossings.append((i + last / (last - now)) * 0.02)
        last = now
    assert len(crossings) > 4
    assert 2.0 * np.mean(np.diff(crossings)) == pytest.approx(expected, rel=0.01)


def test_servo_sags_by_its_load_over_its_stiffness():
    """A shoulder that bears the arm stops short by (load - friction) / stiffness."""
    loaded = pulses(shoulder=1.0, gripper=0.01)
    simulated = world(errors=dict.fromkeys(NAMES, EXACT))
    model = simulated.mj_model
    model.dof_frictionloss[:] = 0.0
    simulated.step(loaded, 150)
    sag = simulated.joints()["shoulder"] - 1.0
    dof = model.joint("shoulder").dofadr[0]
    load = float(simulated.mj_data.qfrc_bias[dof])
    stiffness = float(model.actuator("shoulder").gainprm[0])
    assert sag == pytest.approx(-load / stiffness, rel=0.02)
    assert abs(sag) > math.radians(0.1)


def test_current_of_the_supply_rises_when_the_arm_touches():
    """A fixed block stops the upper arm; the same motion without it ends at rest."""
    part = Primitive("box", (0.02, 0.2, 0.4), np.eye(4), GREY)
    wall = SceneObject("wall", "objects", pose(p=(0.2, 0.0, 0.2)), (part,))
    free, touching = world(), world(wall)
    for angle in np.linspace(0.0, 0.5, 50):
        for simulated in (free, touching):
            simulated.step(pulses(shoulder=angle))
    for simulated in (free, touching):
        simulated.step(pulses(shoulder=0.5), 25)
    assert touching.contacts() and not free.contacts()
    loads = touching.servo_loads()
    assert loads.keys() == set(NAMES) and max(map(abs, loads.values())) > 0.99
    assert touching.supply_current > free.supply_current + 1.5
    touching.step(lambda _: 0.0, 50)  # limp
    assert touching.supply_current == pytest.approx(5 * IDLE_CURRENT, abs=1e-3)


def test_current_tells_how_far_a_servo_is_commanded_past_a_touch():
    """2.5 A at the 4 degrees of error at which a servo stalls: 0.18 A for a mm at 0.2 m."""
    tip = MODEL.fk([0.0, 0.4, -0.4, 0.0])[:3, 3]
    rod = Primitive("cylinder", (3e-3, 0.1), np.eye(4), GREY)
    touching = world(SceneObject("post", "objects", pose(p=(tip[0] - 0.01, 0.06, tip[2])), (rod,)))
    currents = []
    for angle in (0.1, 0.2, 0.25, 0.28, 0.3):
        touching.step(pulses(waist=angle, shoulder=0.4, elbow=-0.4), 25)
        currents.append(touching.supply_current)
    assert touching.contacts()
    assert np.ptp(currents[:3]) < 0.1  # before the touch
    assert currents[3] > currents[2] + 0.2  # 2 mm past it
    rise = (currents[4] - currents[3]) / 0.02
    assert rise == pytest.approx(STALL_CURRENT / SERVO.stall_error, rel=0.1)


def test_current_balances_the_load_at_rest():
    simulated = world(errors=dict.fromkeys(NAMES, EXACT))
    simulated.mj_model.dof_frictionloss[:] = 0.0
    simulated.step(pulses(shoulder=1.0, gripper=0.01), 150)
    dof = simulated.mj_model.joint("shoulder").dofadr[0]
    torque = float(simulated.mj_data.qfrc_bias[dof]) / CGS.torque
    share = torque / MODEL.joints[1].effort
    assert simulated.servo_loads()["shoulder"] == pytest.approx(share, rel=0.02)
    assert simulated.supply_current > STALL_CURRENT * abs(share)


def held_block(mass, errors):
    """Return a world after the jaws of a level arm closed on a block, with nothing below it."""
    jaws = world()
    at = jaws.pose_of("left_finger_link")[:3, 3] + jaws.pose_of("right_finger_link")[:3, 3]
    tip = MODEL.fk([0.0] * 4)[:3, 3]
    middle = (tip[0] - 5e-3, *(at / 2.0)[1:])
    simulated = world(block(mass=mass, side=0.012), errors=errors)
    simulated.mj_data.joint("block").qpos[:3] = np.array(middle) * CGS.length
    simulated.place([0.0] * 4, 0.0122)
    simulated.mj_model.opt.gravity[:] = 0.0
    simulated.step(pulses(gripper=0.008), 15)
    simulated.mj_model.opt.gravity[2] = -GRAVITY * CGS.length
    return simulated, middle


@pytest.mark.parametrize(("share", "slips"), [(0.06, True), (1.0, False)])
def test_block_slips_if_the_grip_is_weak(share, slips):
    """Two pads of friction 0.8 hold 1.5 N if each presses with more than 0.92 N."""
    simulated, middle = held_block(0.15, {"gripper": ServoErrors(supply=share)})
    simulated.step(pulses(gripper=0.008), 25)
    moved = float(np.linalg.norm(simulated.pose_of("block")[:3, 3] - np.array(middle)))
    assert (moved > 0.1) == slips
    assert slips or moved < 20e-3  # the arm yields


def test_payload_bends_the_arm_by_the_compliance_of_its_servos():
    """The shoulder yields by the additional moment over its stiffness."""
    angles = []
    for mass in (0.02, 0.12):
        simulated, _ = held_block(mass, dict.fromkeys(NAMES, EXACT))
        model = simulated.mj_model
        model.dof_frictionloss[: len(NAMES) - 1] = 0.0
        simulated.step(pulses(gripper=0.008), 100)
        angles.append(simulated.joints()["shoulder"])
    shoulder = simulated.pose_of("shoulder_link")[:3, 3]
    moment = 0.1 * GRAVITY * (simulated.pose_of("block")[0, 3] - shoulder[0])
    stiffness = float(model.actuator("shoulder").gainprm[0]) / CGS.torque
    assert angles[1] - angles[0] == pytest.approx(moment / stiffness, rel=0.05)
    assert moment / stiffness > math.radians(0.5)


def test_claw_turns_to_the_angle_of_the_width():
    model = load_robot("braccio")
    names = (*model.joint_names, "gripper")
    maps = {name: Linear(i, name == "gripper") for i, name in enumerate(names)}
    simulated = ContactWorld(model, EMPTY, maps)
    width = 1000.0 + 0.03 / 30e-6
    simulated.step(lambda channel: width if channel == maps["gripper"].channel else 0.0, 50)
    jaw = simulated.joints()[model.gripper.moving[0]]
    assert jaw == pytest.approx(model.gripper.claw.angle(0.03), abs=math.radians(0.6))


def test_servo_stops_within_its_dead_band():
    ends = []
    for band in (0.0, 2.0):
        errors = dict.fromkeys(NAMES, ServoErrors(dead_band=math.radians(band), play=0.0))
        simulated = world(errors=errors)
        simulated.step(pulses(waist=0.5), 100)
        ends.append(math.degrees(abs(0.5 - simulated.joints()["waist"])))
    assert ends[0] < 0.3  # dry friction
    assert 0.7 < ends[1] < 1.1


@pytest.mark.parametrize(("share", "slides"), [(0.8, False), (1.2, True)])
def test_block_slides_beyond_the_angle_of_friction(share, slides):
    """On a plane of friction 0.5, a block stays up to atan(0.5)."""
    angle = share * math.atan(0.5)
    R = so3_exp(np.array([0.0, angle, 0.0]))
    plane = Primitive("box", (0.4, 0.2, 0.01), np.eye(4), GREY)
    ramp = SceneObject("ramp", "objects", pose(R, (0.5, 0.0, 0.5)), (plane,))
    on = pose(R, tuple(np.array([0.5, 0.0, 0.5]) + R @ np.array([0.0, 0.0, 0.015])))
    part = Primitive("box", (0.02, 0.02, 0.02), np.eye(4), GREY)
    simulated = world(ramp, SceneObject("block", "objects", on, (part,), 0.05))
    simulated.step(pulses(), 25)
    moved = float(np.linalg.norm(simulated.pose_of("block")[:3, 3] - on[:3, 3]))
    assert (moved > 0.02) == slides
    assert slides or moved < 1e-3


def test_energy_does_not_grow_without_input():
    simulated = world(block(at=(0.3, 0.0, 0.3)), floor=0.0)
    simulated.mj_model.opt.enableflags |= 2  # energy
    energies = []
    for _ in range(50):
        simulated.step(lambda _: 0.0)
        energies.append(float(simulated.mj_data.energy.sum()) / CGS.torque)
    assert max(np.diff(energies)) < 1e-5


def test_block_at_rest_sleeps_until_its_support_is_gone():
    simulated = world(
        block("lower", (0.3, 0.0, 0.01)), block("upper", (0.3, 0.0, 0.03)), floor=0.0
    )
    simulated.step(pulses(), 30)
    assert not simulated.mj_data.body_awake[simulated.mj_model.body("upper").id]
    simulated.mj_data.joint("lower").qpos[0] += 20.0
    simulated.step(pulses(), 30)
    assert simulated.pose_of("upper")[2, 3] == pytest.approx(0.01, abs=1e-3)


def test_collision_keeps_linear_and_angular_momentum():
    simulated = world(block("a", (0.3, 0.0, 0.5)), block("b", (0.36, 0.008, 0.504)))
    model, data = simulated.mj_model, simulated.mj_data
    model.opt.gravity[:] = 0.0
    data.joint("a").qvel = [60.0, 0.0, 0.0, 0.0, 2.0, 0.0]  # [cm/s, rad/s]
    bodies = [model.body(name).id for name in "ab"]

    def momentum():
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        linear = [model.body_mass[i] * data.subtree_linvel[i] for i in bodies]
        angular = [
            data.subtree_angmom[i] + np.cross(data.xipos[i], p)
            for i, p in zip(bodies, linear, strict=True)
        ]
        return np.concatenate([sum(linear), sum(angular)])

    before, speed = momentum(), float(data.joint("b").qvel[0])
    simulated.step(lambda _: 0.0, 20)
    assert data.joint("b").qvel[0] > speed + 10.0  # they have met
    assert np.abs(momentum() - before).max() < 1e-6 * np.abs(before).max()


def test_mirrored_motion_of_a_symmetric_arm_is_the_mirror_image():
    """The arm moves a block aside, to the left and to the right."""
    ends = []
    for side in (1.0, -1.0):
        simulated = world(block(at=(0.15, 0.06 * side, 0.185), side=0.03))
        simulated.mj_model.opt.gravity[:] = 0.0
        simulated.step(pulses(waist=0.6 * side), 30)
        x, y, z = simulated.pose_of("block")[:3, 3]
        ends.append((x, side * y, z, side * simulated.joints()["waist"]))
    assert ends[0][1] > 0.07  # it was pushed
    assert ends[0] == pytest.approx(ends[1], abs=1e-4)


def test_equal_pulses_give_equal_motions():
    ends = []
    for _ in range(2):
        simulated = world(block(at=(0.2, 0.02, 0.2)), floor=0.0)
        simulated.step(pulses(waist=0.3, shoulder=0.6), 30)
        ends.append(simulated.mj_data.qpos.tobytes())
    assert ends[0] == ends[1]


def test_servo_without_pulses_has_no_torque():
    simulated = world()
    simulated.step(lambda _: 0.0, 5)
    assert not simulated.mj_data.actuator_force.any()


def test_weak_supply_limits_the_torque():
    simulated = world(errors={"shoulder": ServoErrors(supply=0.1)})
    simulated.step(pulses(shoulder=1.5), 10)
    assert simulated.mj_data.actuator("shoulder").force[0] <= 0.09 * CGS.torque * 1.001


def test_divergence_is_a_fault_of_the_simulation(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    simulated = world(block())
    simulated.mj_data.qvel[:] = 1e9
    simulated.mj_data.qpos[:] = math.nan
    with pytest.raises(SimulationError, match="diverged after"):
        simulated.step(pulses())
    assert "unstable" in caplog.text
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("solids", "floor", "why"),
    [
        ((block("a"), block("b", (0.31, 0.0, 0.5))), -1.0, "a and b overlap by 10.0 mm"),
        ((block("a", (0.3, 0.0, 0.005)),), 0.0, "the floor and a overlap by 5.0 mm"),
    ],
)
def test_loose_body_in_another_one_is_refused(solids, floor, why):
    with pytest.raises(SimulationError, match=why):
        world(*solids, floor=floor)


def test_arm_in_another_body_is_refused():
    post = block("post", at=(0.15, 0.0, 0.185), mass=None, side=0.05)
    with pytest.raises(SimulationError, match=r"_link and post overlap by .* mm; move one"):
        world(post)


@pytest.mark.parametrize("kind", ["mjWARN_CONTACTFULL", "mjWARN_CNSTRFULL", "mjWARN_BADQACC"])
def test_contacts_that_are_left_out_are_a_fault_of_the_simulation(kind):
    simulated = world(block())
    simulated.mj_data.warning[int(getattr(mujoco.mjtWarning, kind))].number = 1
    with pytest.raises(SimulationError, match=r"diverged after 0\.02 s.*; report"):
        simulated.step(pulses())


@pytest.mark.parametrize("masses", [{}, {"waist_link": LinkMass(0.3)}])
def test_robot_without_masses_gets_estimated_ones_with_a_sentence(masses):
    reports, model = [], replace(MODEL, masses=masses)
    simulated = ContactWorld(model, EMPTY, MAPS, report=reports.append)
    moved = simulated.mj_model.dof_bodyid
    assert (simulated.mj_model.body_subtreemass[moved] > 0.0).all()
    assert bool(reports) == (not masses)
    assert not reports or "has no masses in its file; they are estimated" in reports[0]


def test_fixed_bodies_may_overlap():
    world(block("a", mass=None), block("b", (0.31, 0.0, 0.5), mass=None))


def test_joint_without_servo_is_named():
    with pytest.raises(SimulationError, match="elbow has no servo"):
        ContactWorld(MODEL, EMPTY, {name: MAPS[name] for name in NAMES if name != "elbow"})
