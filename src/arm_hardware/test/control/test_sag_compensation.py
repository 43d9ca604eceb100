# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Commands are offset against the sag of the servos: within all limits, and without a jump."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_description.urdf.bodies import bodies_of_model, holding_torques
from arm_hardware.control.controller import TrajectoryController
from arm_hardware.control.sag_compensation import SagCompensation
from arm_hardware.control.servo_output import ServoOutput
from arm_hardware.errors import HardwareError
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.options import DriverOptions

DT = 0.02
STIFFNESS = (math.inf, 8.0, 6.0, math.inf)  # [N m/rad]
HELD = (0.0, 0.8, 0.3, 0.0)


@pytest.fixture
def compensated(make_rig, model):
    def make(limit=0.2, stiffness=STIFFNESS):
        return make_rig(lambda axes: SagCompensation.of_model(model, axes, stiffness, limit, DT))

    return make


def commands(rig):
    """Return the positions of the servos by their counts, and half a count of each."""
    pairs = [(m, rig.bus.counts[m.channel]) for m in rig.maps]
    return np.array([(m.position_of(n), m.rounding(n) + 1e-9) for m, n in pairs]).T


def hold(rig):
    goal = rig.follow((1.0, HELD))
    rig.run(goal)
    rig.tick(50)
    assert goal.outcome is GoalOutcome.SUCCEEDED and rig.output.is_settled


def test_settled_command_is_the_position_and_torque_over_stiffness(compensated, model):
    rig = compensated()
    hold(rig)
    np.testing.assert_array_equal(rig.positions[:4], HELD)
    torques = holding_torques(bodies_of_model(model), HELD)
    assert abs(torques[1] / STIFFNESS[1]) > math.radians(0.5)
    sent, half = commands(rig)
    assert np.all(np.abs(sent[:4] - HELD - torques / STIFFNESS) <= half[:4])
    shown = np.array(rig.controller.snapshot().positions[:4])
    assert np.all(np.abs(shown - HELD) <= half[:4])


def test_offset_is_limited_and_no_offset_leaves_every_count_as_it_is(compensated, make_rig):
    rigs = [compensated(), compensated(limit=0.004), compensated(stiffness=(1e9,) * 4), make_rig()]
    for rig in rigs:
        hold(rig)
    free, bounded, stiff, plain = rigs
    assert max(map(abs, free.output.sag.offsets)) > 0.01
    assert np.abs(bounded.output.sag.offsets).max() == pytest.approx(0.004)
    assert stiff.bus.counts == plain.bus.counts != free.bus.counts


def test_motions_at_full_speed_stay_inside_every_limit(compensated):
    """The output refuses a step beyond limits: neither motions nor preemptions must meet that."""
    rig, rows, rng = compensated(), [], np.random.default_rng(21)
    arm = rig.axes.arm
    low, high = np.array([(axis.lower, axis.upper) for axis in arm]).T
    speed = np.array([axis.velocity for axis in arm])
    for _ in range(8):
        there = np.where(rng.random(4) < 0.3, low, rng.uniform(low, high))
        least = (np.abs(there - rig.positions[:4]) / speed).max()
        rig.follow((1.05 * least + 0.1, there))
        for _ in range(int(rng.integers(5, 60))):
            rig.tick()
            offsets = rig.output.sag.offsets
            rows.append(rig.positions[:4] + offsets)
    rig.rest()
    rows, rate = np.array(rows), speed * DT
    bend = np.array([axis.acceleration for axis in arm]) * DT**2
    assert (np.abs(np.diff(rows, axis=0)) <= rate + 1e-9).all()
    assert (np.abs(np.diff(rows, 2, axis=0)) <= bend + 1e-6).all()
    assert (rows >= low - 1e-9).all() and (rows <= high + 1e-9).all()


def test_next_driver_takes_over_what_the_board_holds_without_moving(compensated):
    rig = compensated()
    hold(rig)
    counts = dict(rig.bus.counts)
    for _ in range(3):  # again and again: nothing creeps
        again = ServoOutput(rig.bus, rig.axes, rig.maps, DT, rig.output.sag)
        motion = TrajectoryController(rig.axes, again, DT, (0.0,) * 5)
        motion.read()
        motion.arm()
        for _ in range(20):
            motion.tick()
        assert rig.bus.counts == counts and again.writes == 0
        np.testing.assert_allclose(motion.command()[0][:4], HELD, atol=0.004)


def test_stop_during_a_motion_freezes_the_command_and_reset_moves_nothing(compensated):
    rig = compensated()
    rig.follow((0.8, HELD))
    rig.tick(20)
    rig.controller.stop()
    counts = dict(rig.bus.counts)
    rig.tick(20)
    assert rig.bus.counts == counts
    before, half = commands(rig)
    rig.controller.reset()
    rig.tick()
    assert np.all(np.abs(commands(rig)[0] - before) <= 2.0 * half)
    hold(rig)


@pytest.mark.parametrize("limit", [-0.1, 0.5, math.nan, math.inf])
def test_limit_out_of_range_is_refused(limit):
    with pytest.raises(HardwareError, match=r"max_sag_compensation .* is not within 0 to 0\.2"):
        DriverOptions(hardware="sim", max_sag_compensation=limit).check()


def test_arm_that_cannot_be_compensated_is_refused(compensated, model, make_rig):
    with pytest.raises(HardwareError, match="fake servos are exact"):
        DriverOptions(max_sag_compensation=0.1).check()
    with pytest.raises(HardwareError, match="measure it with calibrate, key s"):
        compensated(stiffness=(math.inf,) * 4)
    bodies = bodies_of_model(model)
    light = replace(bodies, table=bodies.table * (np.arange(bodies.table.shape[1]) < 17))
    with pytest.raises(HardwareError, match="needs a robot description with masses"):
        SagCompensation(make_rig().axes, light, STIFFNESS, 0.1, DT)
