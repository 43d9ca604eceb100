# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From power-up to the rest posture, with servos that stand anywhere."""

import re
from dataclasses import replace

import numpy as np
import pytest
from arm_hardware.calibration.axes import rest_positions
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.servo_map import SLEW_US, FineMap, PointMap
from arm_hardware.control.arming import HOMING_TIME, plan_bursts
from arm_hardware.control.position_estimate import ServoModel
from arm_hardware.control.snapshot import DriverState
from arm_hardware.errors import ARM, StateError
from hypothesis import given
from hypothesis import strategies as st

from arm_description import load_robot

CHANNELS = (0, 1, 2, 3, 5)


@pytest.fixture
def opened(make_bench):
    """Return a function that opens a driver whose servos stand anywhere."""

    def make(seed: int = 0, recovery: str = "slow"):
        bench = make_bench(recovery=recovery)
        rng = np.random.default_rng(seed)
        bench.sim.servos = tuple(ServoModel(x) for x in rng.uniform(500, 2500, 16))
        bench.driver.open()
        return bench

    return make


@pytest.fixture
def bench(opened):
    return opened()


def stands(bench) -> np.ndarray:
    return np.array([bench.sim.servos[c].position(bench.clock.time) for c in CHANNELS])


def test_no_channel_register_is_written_before_arming(bench):
    stood = stands(bench)
    bench.tick(100)
    bench.controller.stop()
    bench.controller.reset()
    with pytest.raises(StateError, match=f"UNKNOWN.*run {re.escape(ARM)}"):
        bench.controller.grip(0.01)
    bench.controller.disarm()
    bench.controller.end("cleaned up.")
    assert bench.chip.channel_writes == 0 and (stands(bench) == stood).all()
    assert bench.controller.state is DriverState.UNKNOWN
    assert set(bench.controller.snapshot().positions) == {None}
    assert set(bench.controller.snapshot().servo_estimates) == {None}


@pytest.mark.parametrize("seed", range(4))
def test_slow_homing_moves_joints_one_by_one_and_slowly(opened, clock, seed):
    bench = opened(seed)
    stood, started = stands(bench), clock.time
    bench.controller.arm()
    track = [stood]
    while bench.controller.arming:
        assert bench.controller.state is DriverState.UNKNOWN
        bench.tick()
        track.append(stands(bench))
    assert clock.time - started <= 5 * (HOMING_TIME + 1.0)
    steps = np.abs(np.diff(track, axis=0))
    assert (np.count_nonzero(steps, axis=1) <= 1).all(), "two joints moved at once"
    second = round(1.0 / bench.driver.period)
    way = np.array([steps[k : k + second].sum(axis=0) for k in range(len(steps) - second)])
    assert way.max() <= SLEW_US / 5.0, "faster than a fifth of the servos' speed"
    rest = [
        servo.setpoint_of(p) for servo, p in zip(bench.driver.output.maps, (0,) * 5, strict=True)
    ]
    np.testing.assert_allclose(stands(bench), rest, atol=8.0)
    assert bench.controller.state is DriverState.ARMED and all(bench.pulses)
    assert "not measured" in bench.message


def test_homing_status_names_the_joint_and_leaves_its_position_unknown(bench):
    bench.controller.arm()
    said = set()
    while bench.controller.arming:
        bench.tick()
        shot = bench.controller.snapshot()
        if bench.controller.arming:
            said.add(shot.message)
            assert None in shot.positions
            k = int(shot.message.split("(")[1][0])
            assert all(p is None for p in shot.positions[k - 1 :])
    assert len(said) == 5 and all("stop ends it" in message for message in said)
    assert None not in bench.controller.snapshot().positions


@pytest.mark.parametrize("end", ["stop", "fail", "disarm"])
@pytest.mark.parametrize("tick", [1, 2, 5, 400, 641])
def test_nothing_moves_once_homing_is_interrupted(bench, end, tick):
    bench.controller.arm()
    bench.tick(tick)
    recovered = [p is not None for p in bench.controller.snapshot().positions]
    getattr(bench.controller, end)(*([] if end == "stop" else ["the test says so."]))
    written, stood = bench.chip.channel_writes, stands(bench)
    assert [pulse > 0 for pulse in bench.pulses] == recovered
    bench.tick(100)
    assert bench.chip.channel_writes == written
    np.testing.assert_array_equal(stands(bench), stood)
    assert not bench.controller.arming


@pytest.mark.parametrize(("recovery", "tick"), [("slow", 400), ("direct", 1)])
def test_arming_again_after_a_stop_continues_with_the_remaining_joints(opened, recovery, tick):
    bench = opened(recovery=recovery)
    bench.controller.arm()
    bench.tick(tick)
    bench.controller.stop()
    with pytest.raises(StateError, match="reset before arming"):
        bench.controller.arm()
    bench.controller.reset()
    with pytest.raises(StateError, match=f"positions are unknown; run {re.escape(ARM)}"):
        bench.controller.grip(0.01)
    before = bench.pulses
    bench.tick(50)
    assert bench.pulses == before and before.count(0.0) in range(1, 5)
    assert bench.controller.state is DriverState.UNKNOWN
    bench.arm()
    assert all(old in (0.0, new) for old, new in zip(before, bench.pulses, strict=True))
    assert bench.controller.state is DriverState.ARMED


def test_only_servos_without_pulses_are_homed_after_a_crash(make_bench, tmp_path):
    board = {"sim_registers": str(tmp_path / "board")}
    crashed = make_bench(recovery="direct", **board)
    crashed.armed()
    crashed.driver.bus.release([1])
    crashed.driver.bus.close()  # as the end of its process does
    again = make_bench(recovery="slow", **board)
    again.driver.open()
    assert again.chip.channel_writes == 0
    shot = again.controller.snapshot()
    assert [p is None for p in shot.positions] == [False, True, False, False, False]
    assert shot.servo_estimates == shot.servo_positions
    assert again.controller.state is DriverState.UNKNOWN
    again.controller.arm()
    while again.controller.arming:
        again.tick()
        assert all(np.delete(again.pulses, 1))
    assert again.controller.state is DriverState.ARMED


def test_estimate_is_unknown_until_the_servo_must_have_arrived(opened):
    bench = opened(3, "direct")
    bench.arm()
    known = 0
    for _ in range(60):
        bench.tick()
        estimated = bench.controller.snapshot().servo_estimates
        for servo, at, said in zip(
            bench.driver.output.maps, stands(bench), estimated, strict=True
        ):
            if said is not None:
                known += 1
                assert abs(servo.setpoint_of(said) - at) <= 11.0
    assert known > 100 and None not in bench.controller.snapshot().servo_estimates
    bench.controller.release("the test says so.")
    assert set(bench.controller.snapshot().servo_estimates) == {None}


maps = st.builds(
    PointMap,
    st.just(0),
    st.just((-1.0, 1.0)),
    st.sampled_from([(1000.0, 2000.0), (2400.0, 600.0)]),
    st.just((500.0, 2500.0)),
    st.sampled_from([4.88, 2.44]),
    st.floats(1000.0, 20000.0),
)


@given(maps, st.floats(-1.0, 1.0), st.sampled_from([0.005, 0.01, 0.02, 0.05]))
def test_bursts_cover_the_whole_travel_in_time(servo, target, dt):
    bursts = plan_bursts(servo, target, dt)
    way = (
        max(abs(servo.setpoint_of(target) - end) for end in servo.travel)
        - servo.setpoint_per_count
    )
    assert bursts.number * bursts.on * dt * servo.slew / 2.0 >= way
    assert bursts.on * dt >= servo.frame - 1e-9 and 2 * bursts.on <= bursts.period
    assert bursts.ticks * dt <= HOMING_TIME or bursts.period == 2 * bursts.on


def test_fake_hardware_needs_a_single_burst():
    assert plan_bursts(FineMap(0), 0.0, 0.02).ticks == 1


def test_the_arm_rests_where_everything_else_starts():
    model = load_robot("nut_arm")
    shut = replace(model, postures={"low": {**model.postures["ready"], "gripper": 0.004}})
    for robot in (shut, replace(model, postures={})):
        posture = robot.home_posture[1]
        *arm, width = rest_positions(robot, axes_of(robot))
        assert arm == [posture[name] for name in robot.joint_names]
        assert width == posture.get("gripper", robot.gripper.max_width)


@pytest.mark.parametrize("tick", [1, 2, 5, 400])
def test_arming_twice_does_not_give_up_the_joint_that_is_being_homed(opened, tick):
    once, twice = opened(), opened()
    for bench in (once, twice):
        bench.controller.arm()
        bench.tick(tick)
    twice.controller.arm()
    for _ in range(200):
        for bench in (once, twice):
            bench.tick()
        assert twice.pulses == once.pulses
