# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The remaining motion of an interrupted step, or why it cannot be resumed."""

import numpy as np
import pytest
from arm_hardware.calibration.axes import START_TOLERANCE
from arm_tasks.errors import PlanError
from arm_tasks.execution.step_execution import WIDTH_TOLERANCE, remaining_motion
from arm_tasks.task.request import ArmConfiguration
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture(scope="module")
def motions(nut_plan):
    return [step for step in nut_plan.steps if step.trajectory is not None]


def configuration(plan, q, width):
    return ArmConfiguration.of(plan.joint_names, np.asarray(q), width)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 1.0))
def test_remaining_motion_follows_the_path_to_its_end(motions, chain, nut_plan, pick, share):
    step = motions[pick % len(motions)]
    path = step.trajectory
    current = path.at(share * path.duration)
    rest = remaining_motion(step, configuration(nut_plan, current, step.start_width), chain)
    assert np.abs(rest.end - step.end).max() < 1e-3 or rest.trajectory is None
    assert rest.duration <= 2.0 * path.duration + 1e-9
    if rest.trajectory is None:
        assert np.abs(current - step.end).max() < 1e-3
        return
    dense = [path.at(t) for t in np.linspace(0.0, path.duration, 800)]
    spacing = np.abs(np.diff(dense, axis=0)).max()
    for t in np.linspace(0.0, rest.trajectory.duration, 25):
        q = rest.trajectory.at(t)
        assert min(np.abs(np.array(dense) - q).max(axis=1)) < spacing + 2e-3
    assert np.abs(rest.trajectory.positions[0] - current).max() < 2e-3
    assert (np.abs(rest.trajectory.velocities) <= chain.velocity * 1.0001).all()
    assert not rest.trajectory.velocities[[0, -1]].any()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3), st.floats(2.0 * START_TOLERANCE["rad"], 1.0))
def test_arm_off_the_path_is_rejected_with_joint_and_deviation(
    motions, chain, nut_plan, pick, joint, off
):
    step = motions[pick % len(motions)]
    q = np.array(step.start)
    columns = np.vstack([step.trajectory.at(t) for t in np.linspace(0.0, step.duration, 50)])
    q[joint] = columns[:, joint].max() + off  # beyond every point of the path
    names = "|".join(nut_plan.joint_names)  # another joint is named if it deviates more
    with pytest.raises(PlanError, match=f"({names}) is off by .*move there"):
        remaining_motion(step, configuration(nut_plan, q, step.start_width), chain)


def test_joint_with_unknown_position_is_named(motions, chain, nut_plan):
    with pytest.raises(PlanError, match="the position of waist is unknown"):
        remaining_motion(motions[0], ArmConfiguration({}, motions[0].start_width), chain)


def test_jaw_width_must_be_on_the_path(nut_plan, chain):
    step = next(s for s in nut_plan.steps if s.width is not None and s.width < s.start_width)
    half = 0.5 * (step.width + step.start_width)
    assert remaining_motion(step, configuration(nut_plan, step.start, half), chain) is step
    for width in (step.width - 2.0 * WIDTH_TOLERANCE, step.start_width + 2.0 * WIDTH_TOLERANCE):
        with pytest.raises(PlanError, match="begins with the jaws at"):
            remaining_motion(step, configuration(nut_plan, step.start, width), chain)
