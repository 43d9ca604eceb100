# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import itertools
import math

import numpy as np
import pytest
from arm_description.model.gripper import Claw
from arm_hardware.bus.interface import count_us, prescale
from arm_hardware.calibration.servo_map import FineMap, JawMap, PointMap
from hypothesis import given
from hypothesis import strategies as st


@st.composite
def maps(draw):
    """Point maps of any number of points, either direction, any clamp, board clocks of +-10 %."""
    n = draw(st.integers(2, 5))
    steps = draw(st.lists(st.floats(0.2, 1.0), min_size=n - 1, max_size=n - 1))
    rises = draw(st.lists(st.floats(100.0, 600.0), min_size=n - 1, max_size=n - 1))
    positions = [draw(st.floats(-2.0, 0.0))]
    pulses = [500.0]
    for step, rise in zip(steps, rises, strict=True):
        positions.append(positions[-1] + step)
        pulses.append(pulses[-1] + rise)
    if draw(st.booleans()):
        pulses.reverse()
    low = draw(st.floats(400.0, 530.0))
    high = draw(st.floats(570.0, 3000.0))
    clock = draw(st.floats(22.5e6, 27.5e6))
    return PointMap(0, tuple(positions), tuple(pulses), (low, high), count_us(50.0, clock))


def least_slope(servo: PointMap) -> float:
    return np.abs(np.diff(servo.positions) / np.diff(servo.setpoints)).max()


@given(maps())
def test_counts_survive_the_round_trip_through_positions(servo):
    least, most = servo.counts
    for count in range(least, most + 1):
        assert servo.count_of(servo.position_of(count)) == count


@given(maps(), st.floats(0.0, 1.0))
def test_positions_survive_the_round_trip_within_one_count(servo, share):
    position = servo.lower + share * (servo.upper - servo.lower)
    back = servo.position_of(servo.count_of(position))
    assert abs(back - position) <= servo.setpoint_per_count * least_slope(servo) * (1 + 1e-9)


@given(maps())
def test_map_is_strictly_monotonic_and_within_pulse_limits(servo):
    least, most = servo.counts
    values = [servo.position_of(c) for c in range(least, most + 1)]
    steps = [b - a for a, b in itertools.pairwise(values)]
    assert all(s > 0 for s in steps) or all(s < 0 for s in steps)
    for position in (-math.inf, -100.0, servo.lower, servo.upper, 100.0, math.inf):
        pulse = servo.count_of(position) * servo.setpoint_per_count
        assert servo.setpoint_limits[0] - 1e-6 <= pulse <= servo.setpoint_limits[1] + 1e-6


@given(maps())
def test_positions_of_counts_stay_within_the_map(servo):
    least, most = servo.counts
    for count in (least, most):
        assert servo.lower - 1e-9 <= servo.position_of(count) <= servo.upper + 1e-9


def test_one_count_at_50_hz_is_4_88_us():
    assert prescale(50.0, 25e6) == 121  # data sheet, section 7.3.5, with its equation 1
    assert prescale(200.0, 25e6) == 0x1E  # the worked example and power-on value there
    assert count_us(50.0, 25e6) == pytest.approx(4.88)


def test_map_passes_through_the_calibrated_points():
    servo = PointMap(0, (-1.0, 0.0, 2.0), (2400.0, 1400.0, 600.0), (500.0, 2500.0), 1.0)
    counts = [servo.count_of(p) for p in (-1.0, -0.5, 0.0, 1.0, 2.0)]
    assert counts == [2400, 1900, 1400, 1000, 600]


@given(st.floats(-1e3, 1e3))
def test_fake_counts_are_finer_than_a_nanoradian(position):
    servo = FineMap(0)
    assert servo.position_of(servo.count_of(position)) == pytest.approx(position, abs=1e-9)


CLAW = Claw(length=0.05, pivots=0.02, closed=-math.asin(0.2), open=math.radians(60))
JAW = JawMap(
    5, (CLAW.closed, CLAW.open), (900.0, 1800.0), (900.0, 1800.0), count_us(50.0, 25e6), claw=CLAW
)


def test_pulses_of_a_claw_follow_its_geometry():
    middle = 0.5 * (CLAW.closed + CLAW.open)
    assert JAW.setpoint_of(CLAW.width(middle)) == pytest.approx(1350.0, abs=1e-6)
    assert (JAW.lower, JAW.upper) == pytest.approx((0.0, CLAW.width(CLAW.open)), abs=1e-12)


def test_counts_of_a_claw_survive_the_round_trip_through_widths():
    for count in range(JAW.counts[0], JAW.counts[1] + 1):
        assert JAW.count_of(JAW.position_of(count)) == count
