# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
from arm_hardware.motion.execution import GoalOutcome

HELD = (0.0, 0.8, 0.3, 0.0)


def test_driver_compensates_with_the_stiffness_of_its_calibration(make_bench):
    bench = make_bench(max_sag_compensation=0.05)
    bench.armed()
    goal = bench.go(*HELD)
    bench.tick(200)
    assert goal.outcome is GoalOutcome.SUCCEEDED
    expected = bench.driver.output.sag.offsets_at(HELD)
    assert np.abs(expected[1:3]).min() > 0.001 and not expected[[0, 3]].any()
    np.testing.assert_allclose(bench.driver.output.sag.offsets, expected, atol=1e-9)
