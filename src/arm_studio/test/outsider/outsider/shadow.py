# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A marker layer: the tip's shadow on the ground."""

import numpy as np
from arm_common.transforms import pose
from arm_kinematics.markers.layers import Cause, Layer
from arm_kinematics.markers.mark import INK, Kind, Mark
from arm_kinematics.markers.state import MarkerInputs


def shadow(inputs: MarkerInputs) -> list[Mark]:
    """Draw a flat disc below the tip."""
    tip = inputs.chain.fk(inputs.q)[:3, 3]
    disc = pose(p=np.array([tip[0], tip[1], 0.0]))
    return [Mark(Kind.CYLINDER, inputs.robot.base, disc, (0.02, 0.02, 0.001), INK)]


LAYER = Layer("outsider.shadow:shadow", (Cause.JOINTS,), "Shadow of the tip.")
