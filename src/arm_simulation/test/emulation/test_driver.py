# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import os
import re
import threading

import pytest
import yaml
from arm_hardware.control import loop as priority
from arm_hardware.control.loop import SLIP, ControlLoop, raise_priority, tick_period
from arm_hardware.control.snapshot import DriverState
from arm_hardware.driver import Driver
from arm_hardware.errors import CalibrationError, HardwareError, StateError
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import single_point_goal
from arm_hardware.motion.options import DriverOptions
from arm_simulation.emulation.pca9685_chip import PCA9685_CHIP_CHANNELS

from arm_description import load_robot

SIM = {"hardware": "sim", "backend": "i2c_dev", "speed": 10.0}
THERE = (0.5, -0.5, 0.5, 1.0)


def go(driver, *q, time=1.0):
    return driver.controller.follow(single_point_goal(driver.axes, time, q or THERE))


@pytest.mark.parametrize(("rate", "fits"), [(50.0, True), (200.0, False)])
def test_bus_too_slow_for_a_tick_is_reported(make_bench, monkeypatch, caplog, rate, fits):
    bench = make_bench(rate_hz=rate)
    transfer, now = bench.sim.i2c.transfer, [0.0]

    def at_100_khz(address, data, length):
        now[0] += 9e-5 * (1 + len(data) + bool(length) + length)
        return transfer(address, data, length)

    monkeypatch.setattr(bench.sim.i2c, "transfer", at_100_khz)
    with monkeypatch.context() as patch:
        patch.setattr("time.perf_counter", lambda: now[0])
        bench.driver.open()
    found = re.findall(r"the bus needs (\d+) ms of each 5 ms tick", caplog.text)
    assert bool(found) is not fits
    assert fits or found == ["9"]  # 8.7 ms by calculation


@pytest.mark.parametrize("hardware", ["fake", "sim"])
def test_fake_and_sim_hardware_behave_alike(opened, hardware):
    driver = opened(hardware=hardware)
    assert driver.controller.state is DriverState.UNKNOWN
    with pytest.raises(StateError):
        go(driver)
    driver.arm()
    assert driver.controller.state is DriverState.ARMED
    arm, grip = go(driver), driver.controller.grip(0.012)
    assert arm.wait(10) and grip.wait(10)
    assert arm.outcome is grip.outcome is GoalOutcome.SUCCEEDED
    shown = driver.controller.snapshot().positions
    assert shown == pytest.approx((*THERE, 0.012), abs=0.004)
    driver.controller.stop()
    assert driver.controller.state is DriverState.STOPPED
    driver.controller.reset()
    assert driver.controller.state is DriverState.ARMED


@pytest.mark.parametrize(
    ("action", "pulses"), [("hold", 5), ("park", 0), ("release", 0), ("auto", 5)]
)
def test_exit_action_is_carried_out_on_the_chip(opened, action, pulses):
    driver = opened(exit_action=action)
    driver.arm()
    goal = go(driver, time=100.0)
    driver.close()
    driver.close()
    chip = driver.emulation.chip
    assert goal.outcome is GoalOutcome.ABORTED
    assert sum(chip.pulse_us(channel) > 0 for channel in range(PCA9685_CHIP_CHANNELS)) == pulses


@pytest.fixture
def clamped(tmp_path, calibration_path):
    """Write a calibration with other pulse limits of the elbow, or for another robot."""

    def write(*limits, robot="nut_arm"):
        content = yaml.safe_load(calibration_path.read_text())
        content["robot"] = robot
        if limits:
            content["joints"]["elbow"]["pulse_limits_us"] = list(limits)
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump(content))
        return str(path)

    return write


def test_real_hardware_rejects_the_example_calibration(model, calibration_path):
    driver = Driver(model, DriverOptions(hardware="real", calibration=str(calibration_path)))
    with pytest.raises(CalibrationError, match="is an example"):
        driver.arm()


def test_calibration_of_another_robot_is_rejected(model, clamped):
    with pytest.raises(CalibrationError, match="'other', not 'nut_arm'"):
        Driver(model, DriverOptions(calibration=clamped(robot="other"), **SIM))


def test_pulse_limits_narrow_the_joint_limits(opened, clamped):
    driver = opened(calibration=clamped(1000, 2000))
    elbow = driver.axes.arm[2]
    assert (elbow.lower, elbow.upper) == pytest.approx((-0.7854, 0.7854), abs=1e-3)
    driver.arm()
    with pytest.raises(HardwareError, match="elbow"):
        go(driver, 0.0, 0.0, 1.0, 0.0)


def test_rest_posture_outside_the_limits_is_rejected(model, clamped):
    with pytest.raises(HardwareError, match=r"elbow.*rest posture"):
        Driver(model, DriverOptions(calibration=clamped(1600, 2000), **SIM))


@pytest.mark.parametrize("robot", ["planar2", "puma560"])
def test_fake_hardware_drives_any_robot(opened, robot):
    driver = opened(load_robot(robot), hardware="fake")
    driver.arm()
    assert driver.controller.state is DriverState.ARMED


def test_exception_in_a_tick_is_a_fault(opened):
    driver = opened(hardware="fake")
    driver.arm()
    failed = threading.Event()
    driver.controller.changed = lambda: (
        driver.controller.state is DriverState.FAULT and failed.set()
    )
    driver.output.verify_registers = lambda: 1 / 0
    assert failed.wait(5)
    assert "ZeroDivisionError" in driver.controller.snapshot().message


def test_tick_period_is_bounded_in_wall_time():
    assert tick_period(50.0, 1.0) == pytest.approx(0.02)
    assert tick_period(50.0, 8.0) == pytest.approx(0.02)
    assert tick_period(50.0, 100.0) == pytest.approx(0.25)


def test_loop_keeps_its_schedule_and_slips_when_late(clock):
    moments, told, done = [], [], threading.Event()

    def tick(moment):
        moments.append(clock.now())
        told.append(moment)
        if len(moments) == 3:
            clock.time += 0.015  # a long tick
        if len(moments) == 5:
            clock.time += 0.05  # longer than the period
        if len(moments) == 7:
            clock.sleep_until = lambda moment, closing: closing.wait()
            done.set()

    loop = ControlLoop(tick, lambda error: None, clock, 0.02, SLIP)
    loop.start()
    assert done.wait(5)
    loop.close()
    assert moments == pytest.approx([0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.17])
    assert told == pytest.approx(moments)
    late = loop.lateness()
    assert late.slips == 1 and late.worst == pytest.approx(0.03)


def test_late_tick_is_a_stall_before_it_is_done(clock):
    events, done = [], threading.Event()

    def tick(moment):
        events.append("tick")
        clock.time += 0.7 if len(events) == 1 else 0.9 if len(events) == 2 else 0.0
        if len(events) == 4:
            clock.sleep_until = lambda moment, closing: closing.wait()
            done.set()

    loop = ControlLoop(
        tick, lambda error: None, clock, 0.02, SLIP, stall=0.8, stalled=events.append
    )
    loop.start()
    assert done.wait(5)
    loop.close()
    assert events == ["tick", "tick", pytest.approx(0.88), "tick"]
    assert loop.lateness().stalls == 1


def test_failure_that_is_not_handled_does_not_end_the_loop(clock, caplog):
    ticks, done = [], threading.Event()

    def tick(moment):
        ticks.append(moment)
        if len(ticks) == 3:
            clock.sleep_until = lambda moment, closing: closing.wait()
            done.set()
        raise RecursionError("on purpose")

    def failed(error):
        raise MemoryError("on purpose, too")

    loop = ControlLoop(tick, failed, clock, 0.02, SLIP)
    loop.start()
    assert done.wait(5)
    loop.close()
    assert caplog.text.count("The control loop failed: on purpose") == 1
    assert "MemoryError('on purpose, too')" in caplog.text


@pytest.mark.parametrize(
    ("raised", "says"),
    [(None, "SCHED_FIFO 40"), (PermissionError(1, "not permitted"), "refused.*LimitRTPRIO")],
)
def test_priority_is_requested_and_a_refusal_explained(monkeypatch, raised, says):
    asked = []

    def schedule(pid, policy, parameter):
        asked.append((pid, policy, parameter.sched_priority))
        if raised:
            raise raised

    monkeypatch.setattr(os, "sched_setscheduler", schedule)
    monkeypatch.setattr(priority, "other_threads", lambda: [7])
    assert re.search(says, raise_priority(40))
    assert asked == [(7, os.SCHED_FIFO, 39), (0, os.SCHED_FIFO, 40)][: 1 if raised else 2]
    asked.clear()
    assert raise_priority(0) == "normal" and not asked


def test_other_threads_of_the_process_are_found():
    done = threading.Event()
    thread = threading.Thread(target=done.wait, args=(30,))
    thread.start()
    assert thread.native_id in priority.other_threads()
    assert threading.get_native_id() not in priority.other_threads()
    done.set()
    thread.join()


def test_prefixed_names_of_joints_need_no_other_calibration(opened):
    bare, driver = opened(), opened(prefix="left_")
    assert driver.axes.names == tuple(f"left_{name}" for name in bare.axes.names)
    assert driver.axes.hand.joints == ("left_left_finger", "left_right_finger")
    assert (driver.rest, driver.output.maps) == (bare.rest, bare.output.maps)
