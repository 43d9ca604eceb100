# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math

import pytest
from arm_hardware.errors import HardwareError
from arm_hardware.motion.options import DriverOptions


@pytest.mark.parametrize(
    ("hardware", "action", "priority", "slow"),
    [("fake", "hold", 0, False), ("sim", "hold", 0, False), ("real", "release", 40, True)],
)
def test_defaults_depend_on_the_hardware(hardware, action, priority, slow):
    options = DriverOptions(hardware=hardware)
    assert (options.final_action, options.priority, options.slow_homing) == (
        action,
        priority,
        slow,
    )


def test_explicit_options_override_the_defaults():
    options = DriverOptions(
        hardware="real", exit_action="park", recovery="direct", realtime_priority=7
    )
    assert (options.final_action, options.priority, options.slow_homing) == ("park", 7, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hardware": "robot"}, "not one of fake, sim, real"),
        ({"hardware": "real", "speed": 2.0}, "speed 2 is for simulated time only"),
        ({"speed": 0.0}, "speed 0"),
        ({"speed": math.nan}, "speed nan"),
        ({"rate_hz": 1000.0}, "rate_hz"),
        ({"exit_action": "jump"}, "exit_action"),
        ({"recovery": "fast"}, "recovery 'fast' is not one of"),
        ({"realtime_priority": 100}, "realtime_priority 100"),
        ({"jerk_time": -1.0}, "jerk_time -1"),
        ({"command_timeout": math.nan}, "command_timeout nan"),
        ({"max_moving_joints": -1}, "max_moving_joints -1"),
        ({"stagger": 9.0}, "stagger 9"),
        ({"grip_force_limit_counts": 1000}, "grip_force_limit_counts 1000"),
    ],
)
def test_invalid_options_are_rejected(options, message):
    with pytest.raises(HardwareError, match=message):
        DriverOptions(**options).check()
