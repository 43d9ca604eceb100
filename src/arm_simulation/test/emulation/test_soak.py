# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import pytest
from arm_testing.hardware import soak


def test_no_bound_is_broken_under_random_commands_and_faults(model, backend):
    run = soak.Soak(1, backend, model)
    run.run(150)
    assert run.tally["SUCCEEDED"] > 15 and run.tally["ABORTED"] > 15 and run.tally["CANCELED"]
    assert run.tally["refused"] > 50 and run.sim.faults.failed > 15
    assert run.tally["interfere"] > 5 and run.sim.faults.flipped > 50
    assert run.judge.fastest > 0.9


@pytest.mark.parametrize(
    "counts",
    [
        [600],  # out of the pulse limits
        [317],  # too fast
        [307, 307, 310],  # too abrupt
        [309, 313, 319, 327],  # too abrupt, in steps too small to be seen one by one
    ],
)
def test_judge_detects_each_broken_bound(model, counts):
    """A soak that cannot fail proves nothing: each law is broken once, past the driver."""
    run = soak.Soak(0, "i2c_dev", model)
    assert run.judge.counts()[0] == 307
    for _ in range(2 * soak.WINDOW + 1):
        run.judge.check_tick(abrupt=False)
    *lawful, last = counts
    for count in lawful:
        run.driver.bus.write_counts({0: count})
        run.judge.check_tick(abrupt=False)
    run.driver.bus.write_counts({0: last})
    with pytest.raises(AssertionError):
        run.judge.check_tick(abrupt=False)


def test_judge_detects_motion_that_is_not_allowed(model):
    run = soak.Soak(0, "i2c_dev", model)
    run.driver.bus.write_counts({0: 308})
    with pytest.raises(AssertionError, match="no motion is allowed"):
        run.judge.check_unmoved()
