# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A nut on a bolt moves by contact and friction alone: it advances, stays, spins down, falls."""

import math

import numpy as np
import pytest
from arm_common.transforms import pose, shift_z, turn_z
from arm_simulation.contact.world import ContactWorld
from arm_simulation.mjcf.elements import CGS
from arm_tasks.scene.scene import Bolt, Nut, Scene
from arm_tasks.scene.screw_thread import ScrewThread

from arm_description import load_robot

mujoco = pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")
pytestmark = pytest.mark.thorough  # the octree of a thread takes seconds
MODEL = load_robot("nut_arm")
THICKNESS = 5.56e-3
LEVEL = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])  # z along base x
ONTO = (9.81, 0.0, 0.0)  # gravity along the bolt: as if its free end pointed up


class AnyServo:
    """A servo without pulses."""

    channel = 0

    def position_at(self, pulse_us):
        raise AssertionError(pulse_us)


MAPS = dict.fromkeys((*MODEL.joint_names, "gripper"), AnyServo())


class NutOnBolt:
    """A nut on one level bolt, away from an arm without pulses; gravity may point elsewhere.

    With the diameter of a pin [m], the bolt is a smooth pin.
    """

    def __init__(self, thread, depth, gravity=(0.0, 0.0, -9.81), pin=None):
        start = 0.4
        self.thread = thread
        self.bolt = Bolt(
            "bolt",
            pose(LEVEL, (0.3, 0.0, 0.3)),
            thread.diameter if pin is None else pin,
            25e-3 if pin is None else 15e-3,
            thread.pitch if pin is None else 0.0,
            thread.hand,
            start,
        )
        nut = Nut(11.11e-3, THICKNESS, "bolt", depth / thread.pitch, 0.0, thread)
        scene = Scene("nut", "", {"bolt": self.bolt}, nut, {}, {})
        self.world = ContactWorld(MODEL, scene, MAPS)
        if pin is not None:
            roll = start + thread.hand * 2.0 * math.pi * depth / thread.pitch
            T = self.bolt.pose @ shift_z(depth - THICKNESS / 2.0) @ turn_z(roll)
            self.world.place_nut(T)
        self.model, self.data = self.world.mj_model, self.world.mj_data
        self.model.opt.gravity[:] = np.array(gravity) * CGS.length
        self.turned = 0.0

    def wait(self, seconds):
        self.world.step(lambda _: 0.0, round(seconds / 0.02))

    @property
    def asleep(self):
        return bool(self.data.body_awake[self.model.body("nut").id] == 0)

    def stay_awake(self):
        self.model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)

    @property
    def depth(self):
        """Of the nut's front face past the free end [m]."""
        at = np.linalg.inv(self.bolt.pose) @ self.world.pose_of("nut")
        return float(at[2, 3]) + THICKNESS / 2.0

    def turn(self, turns, seconds):
        """Turn the nut by a torque that keeps its speed."""
        body, dof = self.model.body("nut").id, self.model.joint("nut").dofadr[0] + 5
        wanted = 2.0 * math.pi * turns / seconds
        for _ in range(round(seconds / 1e-3)):
            axis = self.data.body("nut").xmat.reshape(3, 3)[:, 2]
            torque = np.clip(300.0 * (wanted - self.data.qvel[dof]), -5e5, 5e5)
            self.data.xfrc_applied[body, 3:] = axis * torque
            mujoco.mj_step(self.model, self.data)
            self.turned += float(self.data.qvel[dof]) * 1e-3 / (2.0 * math.pi)
        self.data.xfrc_applied[body] = 0.0


QUARTER_20 = ScrewThread.of(6.35e-3, 1.27e-3)


@pytest.mark.parametrize("thread", [QUARTER_20, ScrewThread.of(6e-3, 1e-3, -1)])
def test_nut_advances_by_the_pitch_a_turn(thread):
    nut = NutOnBolt(thread, 3e-3)
    nut.wait(0.1)
    before = nut.depth
    nut.turn(1.2 * thread.hand, 0.8)
    advance = (nut.depth - before) / (nut.turned * thread.hand)
    assert abs(nut.turned) > 0.8
    assert advance == pytest.approx(thread.pitch, rel=0.02)


def test_left_hand_thread_is_the_mirror_image_of_a_right_hand_one():
    ends = []
    for hand in (1, -1):
        nut = NutOnBolt(ScrewThread.of(6.35e-3, 1.27e-3, hand), 3e-3)
        nut.wait(0.1)
        nut.turn(0.6 * hand, 0.4)
        ends.append((nut.turned * hand, nut.depth))
    assert ends[0] == pytest.approx(ends[1], rel=0.02)
    assert ends[0][1] > 3.5e-3


@pytest.mark.parametrize("tightened", [True, False])
def test_torque_to_slide_is_that_of_a_screw_with_friction(tightened):
    """A load F on the flanks: F r (mu' +- tan lead) / (1 -+ mu' tan lead), mu' = mu / cos 30."""
    thread, heavier = QUARTER_20, 100.0
    radius, slope = thread.external.pitch_diameter / 2.0, 0.15 / math.cos(math.radians(30.0))
    sign = -1.0 if tightened else 1.0  # gravity drives the nut on, which helps to tighten
    lead = sign * thread.pitch / (2.0 * math.pi * radius)
    moved = {}
    for share in (0.7, 1.6):
        nut = NutOnBolt(thread, 3e-3, (heavier * 9.81, 0.0, 0.0))
        nut.wait(0.1)
        body = nut.model.body("nut").id
        load = nut.model.body_mass[body] * heavier * 9.81 * CGS.length
        expected = load * radius * CGS.length * (slope + lead) / (1.0 - slope * lead)
        before = nut.depth
        axis = nut.data.body("nut").xmat.reshape(3, 3)[:, 2].copy()
        nut.data.xfrc_applied[body, 3:] = -sign * share * expected * axis
        nut.wait(0.3)
        moved[share] = abs(nut.depth - before)
    assert moved[0.7] < 0.05e-3
    assert moved[1.6] > 0.2e-3


def test_friction_holds_a_released_nut_and_without_it_the_nut_spins_down():
    nut = NutOnBolt(QUARTER_20, 2e-3, ONTO)
    nut.wait(0.1)
    before = nut.depth
    nut.wait(0.5)
    assert nut.depth == pytest.approx(before, abs=2e-5)
    assert nut.world.nut().bolt == "bolt"
    nut.model.geom_friction[:] = 0.0
    nut.stay_awake()
    nut.wait(1.0)
    assert nut.depth > before + 0.3e-3


def test_nut_that_is_hardly_engaged_falls_and_an_engaged_one_stays():
    for depth, stays in ((0.7e-3, False), (1.7e-3, True)):
        nut = NutOnBolt(QUARTER_20, depth)
        nut.wait(0.6)
        truth = nut.world.nut()
        assert (truth.bolt == "bolt") == stays
        assert truth.fallen == (not stays)
        assert not stays or truth.turns_engaged == pytest.approx(1.34, abs=0.1)


def test_nut_hangs_on_a_pin_through_its_hole_and_falls_from_its_tip():
    for depth, hangs in ((THICKNESS + 3e-3, True), (1.5e-3, False)):
        nut = NutOnBolt(QUARTER_20, depth, pin=4e-3)
        nut.wait(0.6)
        truth = nut.world.nut()
        assert ((truth.bolt == "bolt"), truth.fallen) == (hangs, not hangs)
        assert truth.turns_engaged == 0.0
        if hangs:
            assert nut.depth == pytest.approx(depth, abs=0.2e-3)
            lower = QUARTER_20.internal.minor / 2.0 - 2e-3  # its hole rests on the pin
            assert truth.pose[2, 3] == pytest.approx(0.3 - lower, abs=0.1e-3)


def test_parts_of_a_nut_at_rest_do_not_sink_into_each_other():
    nut = NutOnBolt(QUARTER_20, 4e-3)
    nut.stay_awake()
    nut.wait(0.4)
    deepest = min(contact.dist for contact in nut.data.contact) / CGS.length
    assert -10e-6 < deepest < 0.0
    assert nut.world.nut().thread_force > 0.5 * 0.0032 * 9.81


def test_nut_at_rest_sleeps_with_the_forces_on_it_until_it_is_turned():
    nut = NutOnBolt(QUARTER_20, 3e-3)
    nut.wait(0.5)
    before = nut.depth
    assert nut.asleep
    assert not nut.world.contacts()
    assert nut.world.nut().thread_force > 0.5 * 0.0032 * 9.81
    nut.turn(-0.5, 0.5)
    assert not nut.asleep
    assert nut.depth - before == pytest.approx(nut.turned * QUARTER_20.pitch, rel=0.03)
