# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is left of a step: on its way, within its speeds, to its end; or a refusal."""

import numpy as np
import pytest
from arm_tasks.errors import PlanError
from arm_tasks.execution.resume import AT_START, AT_WIDTH, remaining_motion
from arm_tasks.task.request import ArmConfiguration
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture(scope="module")
def motions(nut_plan):
    return [step for step in nut_plan.steps if step.trajectory is not None]


def standing(plan, q, width):
    return ArmConfiguration.of(plan.joint_names, np.asarray(q), width)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 1.0))
def test_the_rest_goes_on_along_the_way_to_its_end(motions, chain, nut_plan, pick, share):
    step = motions[pick % len(motions)]
    way = step.trajectory
    here = way.at(share * way.duration)
    rest = remaining_motion(step, standing(nut_plan, here, step.start_width), chain)
    assert np.abs(rest.end - step.end).max() < 1e-3 or rest.trajectory is None
    assert rest.duration <= 2.0 * way.duration + 1e-9
    if rest.trajectory is None:
        assert np.abs(here - step.end).max() < 1e-3
        return
    dense = [way.at(t) for t in np.linspace(0.0, way.duration, 800)]
    spacing = np.abs(np.diff(dense, axis=0)).max()
    for t in np.linspace(0.0, rest.trajectory.duration, 25):
        q = rest.trajectory.at(t)
        assert min(np.abs(np.array(dense) - q).max(axis=1)) < spacing + 2e-3
    assert np.abs(rest.trajectory.positions[0] - here).max() < 2e-3
    assert (np.abs(rest.trajectory.velocities) <= chain.velocity * 1.0001).all()
    assert not rest.trajectory.velocities[[0, -1]].any()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3), st.floats(2.0 * AT_START, 1.0))
def test_an_arm_beside_the_way_is_refused_by_joint_and_amount(
    motions, chain, nut_plan, pick, joint, off
):
    step = motions[pick % len(motions)]
    q = np.array(step.start)
    columns = np.vstack([step.trajectory.at(t) for t in np.linspace(0.0, step.duration, 50)])
    q[joint] = columns[:, joint].max() + off  # beyond all that the way has
    names = "|".join(nut_plan.joint_names)  # where another joint is off by more, that one is named
    with pytest.raises(PlanError, match=f"({names}) is off by .*move there"):
        remaining_motion(step, standing(nut_plan, q, step.start_width), chain)


def test_a_joint_of_which_nothing_is_known_is_named(motions, chain, nut_plan):
    with pytest.raises(PlanError, match="the position of waist is unknown"):
        remaining_motion(motions[0], ArmConfiguration({}, motions[0].start_width), chain)


def test_jaws_elsewhere_are_refused_and_those_on_their_way_are_not(nut_plan, chain):
    step = next(s for s in nut_plan.steps if s.width is not None and s.width < s.start_width)
    half = 0.5 * (step.width + step.start_width)
    assert remaining_motion(step, standing(nut_plan, step.start, half), chain) is step
    for width in (step.width - 2.0 * AT_WIDTH, step.start_width + 2.0 * AT_WIDTH):
        with pytest.raises(PlanError, match="begins with the jaws at"):
            remaining_motion(step, standing(nut_plan, step.start, width), chain)
