# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm in contact physics whose servos sag: what the driver's compensation leaves of it."""

import math

import numpy as np
import pytest
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.selection import calibration_for, config_folder
from arm_hardware.control.sag_compensation import SagCompensation
from arm_simulation.contact.world import ContactWorld
from arm_simulation.mjcf.robot import SERVO
from arm_tasks.scene.scene import Scene

from arm_description import load_robot

pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")

# of the nut transfer: before the upper bolt, and at three grips of the lower one
POSTURES = [
    (0.26, -0.1, 0.1, 1.57),
    (-0.26, 0.69, -0.69, 0.0),
    (-0.26, 0.76, -0.79, 1.57),
    (-0.26, 0.8, -0.84, 1.57),
]
LIMIT = math.radians(3.0)


def test_compensation_takes_most_of_the_sag_of_new_servos():
    """What is left is what no load explains: dead band, play and friction of the servos."""
    model = load_robot("nut_arm")
    calibration = calibration_for(model, "", config_folder(), simulated=True)
    axes = axes_of(model)
    maps = calibration.maps(axes)
    by_name = dict(zip([axis.name for axis in axes.actuators], maps, strict=True))
    stiffness = [SERVO.stiffness(joint.effort, slides=False) for joint in model.joints]
    sag = SagCompensation.of_model(model, calibration.narrowed(axes), stiffness, LIMIT, 0.02)
    world = ContactWorld(model, Scene("empty", "", {}, None, {}, {}, floor=-1.0), by_name)

    def sunk(q, offsets):
        """Return how far the tool is below where it is meant to be [m]."""
        pulses = {
            m.channel: m.setpoint_of(x) for m, x in zip(maps, [*(q + offsets), 0.012], strict=True)
        }
        world.place(q.tolist(), 0.012)
        world.step(pulses.__getitem__, 60)
        places = world.joints()
        return (model.fk(q) - model.fk([places[name] for name in model.joint_names]))[2, 3]

    rows = [(sunk(q, np.zeros(4)), sunk(q, sag.offsets_at(q))) for q in np.array(POSTURES)]
    without, compensated = np.abs(rows).mean(axis=0)
    assert 3e-3 < without < 6e-3
    assert compensated < 0.5 * without
