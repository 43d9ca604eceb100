# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What arm_kinematics plans is what the driver takes: no point of a path is refused."""

from __future__ import annotations

import numpy as np
import pytest
from arm_hardware.calibration.axes import axes_of
from arm_hardware.motion.goal_validation import GoalPoint, TrajectoryGoal, validate_goal
from arm_kinematics.paths.options import PathOptions
from arm_kinematics.paths.planner import plan_path
from arm_kinematics.paths.timing import point_to_point, time_result

from arm_description import load_robot
from arm_kinematics import Chain


@pytest.mark.parametrize("scaling", [1.0, 0.3])
def test_the_driver_takes_a_planned_path_as_it_is(scaling):
    model = load_robot("nut_arm")
    chain, axes = Chain.from_model(model), axes_of(model)
    q = np.array([0.3, 0.4, 0.2, 0.1])
    poses = [chain.fk(q), chain.fk(q + 0.2), chain.fk(q - 0.3)]
    path = plan_path(chain, poses, q, PathOptions(mode="position"))
    assert path.ok, path.message
    timed = time_result(path, chain.velocity, chain.acceleration, scaling)
    back = point_to_point(chain, path.positions[-1], q, scaling)
    for times, positions, velocities in (timed, back):
        rows = zip(times, positions.tolist(), velocities.tolist(), strict=True)
        plan = validate_goal(
            TrajectoryGoal(chain.joint_names, [GoalPoint(*row) for row in rows]), axes
        )
        assert np.array_equal(plan.positions, positions) and np.array_equal(plan.times, times)
