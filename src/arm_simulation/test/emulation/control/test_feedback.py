# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver on simulated smart servos."""

import numpy as np
import pytest
from arm_common.suggestions import program
from arm_hardware.bus import retrying_bus
from arm_hardware.bus.feetech import sts3215
from arm_hardware.bus.interface import RADIANS
from arm_hardware.control.snapshot import DriverState
from arm_hardware.errors import (
    ARM,
    GOAL_TOLERANCE_VIOLATED,
    PATH_TOLERANCE_VIOLATED,
    BusError,
    CommandError,
    HardwareError,
    StateError,
)
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import Tolerances, measured_tolerances, single_point_goal

from arm_description import load_robot

pytest.importorskip("scservo_sdk")
COUNT = RADIANS
THERE = (0.5, 0.2, -0.3, 0.1)
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")


class Arm:
    """A driver on simulated servos; its control loop is turned by hand."""

    def __init__(self, bench) -> None:
        self.driver, self.clock = bench.driver, bench.clock
        self.controller = bench.controller
        self.servos = bench.driver.emulation.servos
        self.faults = bench.driver.emulation.faults
        self.tick = bench.tick

    def run(self, goal, most: int = 400) -> None:
        while not goal.done:
            self.tick()
            most -= 1
            assert most > 0, "the goal does not end"

    def go(self, *q, time=1.0, **tolerances):
        goal = single_point_goal(self.driver.axes, time, q)
        return self.controller.follow(goal, Tolerances(**tolerances))

    @property
    def message(self) -> str:
        return self.controller.snapshot().message

    @property
    def state(self) -> DriverState:
        return self.controller.state

    @property
    def measured(self) -> np.ndarray:
        return np.array(self.controller.snapshot().measured.positions)

    @property
    def torques(self) -> list[int]:
        return [servo.get(sts3215.TORQUE_ENABLE) for servo in self.servos.values()]


@pytest.fixture
def disarmed(make_feetech):
    arm = Arm(make_feetech())
    arm.driver.open()
    arm.tick()
    return arm


@pytest.fixture
def arm(disarmed):
    disarmed.controller.arm()
    disarmed.tick()
    return disarmed


def test_positions_are_known_without_torque(disarmed):
    assert disarmed.state is DriverState.DISARMED and not any(disarmed.torques)
    assert disarmed.measured == pytest.approx([0.0] * 5)
    assert "can be moved by hand" in disarmed.message


def test_disarmed_arm_says_what_its_servos_do(arm):
    arm.controller.disarm()
    assert arm.message == "Disarmed. The servos keep their torque." and all(arm.torques)
    arm.controller.disarm("the driver ended.")
    assert arm.message.startswith("Disarmed: the driver ended. The servos keep")
    arm.controller.release("the service release was called.")
    assert arm.message.endswith("was called. The servos are released.")


def test_arm_without_torque_is_measured_while_a_hand_moves_it(disarmed):
    disarmed.servos[2].hand = 2348
    disarmed.tick(30)
    assert disarmed.measured[1] == pytest.approx(300 * COUNT, abs=COUNT)
    assert disarmed.controller.command()[0][1] == pytest.approx(300 * COUNT, abs=COUNT)
    assert not any(disarmed.torques)


def test_arming_moves_nothing_wherever_the_arm_is(disarmed):
    places = {1: 2500, 2: 1700, 3: 2900, 4: 1200, 6: 2600}
    for number, place in places.items():
        disarmed.servos[number].position = place
    disarmed.controller.arm()
    for _ in range(20):
        disarmed.tick()
        for number, place in places.items():
            assert disarmed.servos[number].position == pytest.approx(place, abs=0.6)
    assert all(disarmed.torques) and disarmed.state is DriverState.ARMED


def test_arming_outside_of_the_limits_is_refused(disarmed):
    disarmed.servos[3].position = 3300
    with pytest.raises(
        StateError, match=r"elbow is at 110 deg, outside of its limits -90 deg to .* by hand"
    ):
        disarmed.controller.arm()
    assert not any(disarmed.torques)


def test_slightly_outside_is_moved_back(disarmed):
    disarmed.servos[3].position = 3080
    disarmed.controller.arm()
    disarmed.tick(20)
    assert disarmed.servos[3].position == pytest.approx(3072, abs=1)


def test_driver_that_starts_again_keeps_torque_and_targets(arm, make_feetech):
    arm.run(arm.go(*THERE))
    before = arm.measured
    arm.controller.disarm("test.")
    arm.controller.read()
    arm.controller.arm()
    arm.tick(5)
    assert arm.measured == pytest.approx(before, abs=1.5 * COUNT)


def test_goal_reports_the_measured_deviation(arm):
    goal = arm.go(*THERE)
    arm.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED and "from it" in goal.message
    assert arm.measured[:4] == pytest.approx(THERE, abs=5 * COUNT)


def test_effort_holds_the_load(arm):
    arm.servos[2].load = -0.25
    arm.tick(50)
    stall = 19.5 * 0.0980665
    assert arm.controller.snapshot().measured.efforts[1] == pytest.approx(0.25 * stall, rel=0.05)


def test_blocked_joint_aborts_with_its_path_tolerance_and_stops_pushing(arm):
    arm.servos[1].stops = (0, 2100)
    goal = arm.go(*THERE, path={"waist": 0.15})
    arm.run(goal)
    assert goal.code == PATH_TOLERANCE_VIOLATED and goal.message.startswith("waist: 0.15")
    arm.tick(100)
    assert arm.state is DriverState.ARMED
    held = arm.controller.snapshot().measured
    assert abs(held.servos[0].load) < 0.1
    assert arm.controller.command()[0][0] == pytest.approx(52 * COUNT, abs=3 * COUNT)


def test_tolerance_of_another_joint_does_not_abort(arm):
    arm.servos[1].stops = (0, 2100)
    goal = arm.go(*THERE, path={"elbow": 0.15})
    arm.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED


def test_joint_that_never_arrives_violates_its_goal_tolerance(arm):
    arm.servos[1].stops = (0, 2300)
    goal = arm.go(*THERE, goal={"waist": 0.02}, goal_time=0.5)
    arm.run(goal)
    assert goal.code == GOAL_TOLERANCE_VIOLATED and "something holds it" in goal.message


def test_lost_torque_in_motion_does_not_reach_the_goal(arm):
    goal = arm.go(*THERE, **vars(measured_tolerances(arm.driver.axes)))
    arm.tick(10)
    arm.servos[1].set(sts3215.TORQUE_LIMIT, 0)
    arm.run(goal)
    assert goal.code == GOAL_TOLERANCE_VIOLATED and "waist: 0." in goal.message


def test_goal_without_a_tolerance_does_not_claim_to_be_reached(arm):
    arm.servos[1].stops = (0, 2100)
    goal = arm.go(*THERE)
    arm.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED
    assert goal.message.startswith("Commanded to the goal, without a tolerance; waist is 0.4")


@pytest.fixture
def closed_so101(make_bench):
    """The shipped SO-101 with its template: six servos, a jaw that turns."""
    return Arm(make_bench(load_robot("so101"), backend="feetech"))


def test_narrowed_servo_is_refused_with_both_ranges_at_configure(closed_so101):
    closed_so101.servos[1].set(sts3215.MIN_POSITION, 1500)
    closed_so101.servos[1].set(sts3215.MAX_POSITION, 2500)
    with pytest.raises(
        BusError,
        match=rf"1500 and .* 2500, but its .* 796 to 3300; {program('arm_hardware', 'verify')}",
    ):
        closed_so101.driver.open()


@pytest.mark.parametrize("count", [5000, -800])
def test_count_beyond_a_turn_is_named_with_the_multi_turn_setting(closed_so101, count):
    closed_so101.servos[5].position = float(count)
    closed_so101.driver.open()
    with pytest.raises(StateError, match=rf"wrist_roll \(servo 5\) is at count {count},.*Phase"):
        closed_so101.controller.arm()
    assert not any(closed_so101.torques)


def test_servo_without_torque_is_refused_at_configure(closed_so101):
    closed_so101.servos[2].set(sts3215.TORQUE_LIMIT, 0)
    with pytest.raises(BusError, match=r"shoulder_lift\) .* Torque_Limit 0, but .* needs 356"):
        closed_so101.driver.open()


def test_sagging_so101_as_lerobot_sets_it_still_succeeds_and_grips(so101):
    """At P_Coefficient 16, a servo with 63 % of its torque sags by 0.06 rad."""
    for servo in so101.servos.values():
        servo.set(sts3215.P_COEFFICIENT, 16)
    so101.servos[2].load, so101.servos[3].load = -0.63, -0.33
    goal = so101.go(0.3, -0.4, 0.4, 0.2, 0.1, **vars(measured_tolerances(so101.driver.axes)))
    so101.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED, goal.message
    assert 0.05 < abs(so101.measured[1] + 0.4) < 0.1
    so101.servos[6].stops = (1900, 4000)
    grip = so101.controller.grip(0.004)
    so101.run(grip)
    assert grip.stalled


def test_late_joint_within_its_goal_time_succeeds(arm):
    goal = arm.go(*THERE, goal=dict.fromkeys(arm.driver.axes.names, 0.01), goal_time=1.0)
    arm.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED
    assert arm.measured[:4] == pytest.approx(THERE, abs=0.01)


def test_object_in_the_jaws_is_felt(arm):
    arm.run(arm.controller.grip(0.03))
    arm.servos[6].stops = (2048 + 512, 4000)  # 15 mm
    goal = arm.controller.grip(0.0)
    arm.run(goal)
    assert goal.stalled and goal.message == "Grasped an object at 15.0 mm."
    arm.tick(100)
    load = arm.controller.snapshot().measured.servos[-1].load
    assert 0.05 < abs(load) < 0.2


@pytest.fixture
def so101(closed_so101):
    closed_so101.driver.open()
    closed_so101.controller.arm()
    closed_so101.tick()
    return closed_so101


def test_shipped_so101_goes_where_it_is_sent_as_measured(so101):
    goal = so101.go(0.5, -0.4, 0.6, -0.3, 1.0, time=1.5, path=dict.fromkeys(JOINTS, 0.4))
    so101.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED, goal.message
    assert so101.measured[:5] == pytest.approx((0.5, -0.4, 0.6, -0.3, 1.0), abs=5 * COUNT)


def test_packets_of_a_tick_have_the_documented_bytes(so101, monkeypatch):
    """docs/servos_that_answer.md; every fifth tick of 20 ms also reads the operating modes."""
    carried, answer = [0], so101.driver.emulation.answer

    def counted(instruction):
        found = answer(instruction)
        carried[-1] += len(instruction) + len(found)
        return found

    monkeypatch.setattr(so101.driver.emulation, "answer", counted)
    so101.go(0.5, 0.3, -0.3, 0.4, 0.5, time=2.0)
    so101.controller.grip(0.09)
    for _ in range(20):
        so101.tick()
        carried.append(0)
    moving = carried[5:15]
    assert sorted(moving) == 8 * [314] + 2 * [370]


def test_blocked_joint_of_the_so101_aborts(so101):
    so101.servos[3].stops = (2000, 2200)
    goal = so101.go(0.0, 0.0, 0.8, 0.0, 0.0, time=1.0, path={"elbow_flex": 0.2})
    so101.run(goal)
    assert goal.code == PATH_TOLERANCE_VIOLATED and goal.message.startswith("elbow_flex: 0.2")


def test_claw_closes_to_0_as_far_as_it_goes(so101):
    closed = so101.driver.axes.gripper.lower
    assert closed > 1e-3
    goal = so101.controller.grip(0.0)
    so101.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED and "Reached 3.0 mm" in goal.message
    assert so101.measured[-1] == pytest.approx(closed, abs=3e-4)
    assert so101.controller.grip(-1e-12).outcome is None  # a 0 that was computed
    with pytest.raises(CommandError, match="outside of its limits"):
        so101.controller.grip(-0.001)


def test_turning_jaw_of_the_so101_feels_an_object(so101):
    axes = so101.driver.axes
    claw = axes.claw(axes.gripper)
    so101.run(so101.controller.grip(0.06))
    so101.servos[6].stops = (1700, 4000)
    goal = so101.controller.grip(axes.gripper.lower)
    so101.run(goal)
    width = claw.width(claw.closed + (1700 - 1422) * COUNT)
    assert goal.stalled and goal.message == f"Grasped an object at {1e3 * width:.1f} mm."
    assert so101.controller.snapshot().measured.efforts[-1] < 0.0  # [N] it closes


def test_requested_force_is_that_of_the_grasp(arm):
    arm.run(arm.controller.grip(0.03))
    arm.servos[6].stops = (2048 + 512, 4000)
    loads = []
    for counts in (4.0, 8.0):
        arm.run(arm.controller.grip(0.014, counts))
        arm.tick(20)
        loads.append(abs(arm.controller.snapshot().measured.servos[-1].load))
    assert loads == pytest.approx([0.128, 0.256], abs=0.04)


@pytest.mark.parametrize("limit", [1, 2])
def test_contact_is_pressed_with_the_limit_of_the_force_at_most(make_feetech, limit):
    force = {"grip_force_limit_counts": limit, "gripper_hold_squeeze": 0}
    arm = Arm(make_feetech(gripper_hold_time=0.5, **force))
    arm.driver.open()
    arm.tick()
    arm.controller.arm()
    arm.run(arm.controller.grip(0.03))
    arm.servos[6].stops = (2048 + 512, 4000)
    goal = arm.controller.grip(0.0)
    arm.run(goal)
    arm.tick(20)
    assert goal.stalled and pressed(arm) == pytest.approx(limit, abs=0.6)
    arm.tick(150)  # gripper_hold_time is over, and what it holds is still there
    assert pressed(arm) == pytest.approx(0, abs=0.6)


def pressed(arm: Arm) -> float:
    servo = arm.servos[6]
    return abs(servo.get(sts3215.GOAL_POSITION) - servo.position)


def test_jaws_at_rest_without_load_are_not_a_grasp(arm):
    arm.run(arm.controller.grip(0.03))
    arm.servos[6].set(sts3215.TORQUE_LIMIT, 0)
    goal = arm.controller.grip(0.0)
    arm.run(goal)
    assert goal.outcome is GoalOutcome.ABORTED and not goal.stalled
    assert goal.code == GOAL_TOLERANCE_VIOLATED
    assert goal.message.startswith("The jaws rest at 30.0 mm, short of their command, without")


def test_empty_jaws_are_not_a_grasp(arm):
    arm.run(arm.controller.grip(0.03))
    goal = arm.controller.grip(0.0)
    arm.run(goal)
    assert not goal.stalled and goal.message == "Reached 0.0 mm; nothing is in the jaws."


@pytest.mark.parametrize(
    ("disturb", "words"),
    [
        (lambda servo: setattr(servo, "voltage", 3.5), "supply of 3.5 V, outside of its limits"),
        (lambda servo: setattr(servo, "temperature", 75.0), "too hot (75 deg C)"),
        (lambda servo: setattr(servo, "load", 0.95), "is overloaded and has reduced its torque"),
    ],
    ids=["voltage", "heat", "overload"],
)
def test_servo_that_protects_itself_is_a_fault_with_its_name(arm, disturb, words):
    goal = arm.go(*THERE, time=10.0)
    disturb(arm.servos[3])
    arm.run(goal)
    assert goal.outcome is GoalOutcome.ABORTED and arm.state is DriverState.FAULT
    assert arm.message.startswith("elbow (servo 3) ") and words in arm.message
    assert arm.controller.snapshot().measured is not None  # joint_states go on
    arm.servos[3].voltage, arm.servos[3].temperature, arm.servos[3].load = 7.4, 30.0, 0.0
    arm.tick(50)
    arm.controller.arm()
    arm.tick(10)
    assert arm.state is DriverState.ARMED


def test_short_dip_of_the_supply_is_no_fault(arm):
    arm.servos[3].voltage = 3.5
    arm.tick(4)
    arm.servos[3].voltage = 7.4
    arm.tick(50)
    assert arm.state is DriverState.ARMED


def test_fault_that_lasts_refuses_to_arm(arm):
    arm.servos[3].temperature = 90.0
    arm.tick(20)
    with pytest.raises(StateError, match=r"elbow \(servo 3\) is too hot"):
        arm.controller.arm()


def test_warm_servo_is_a_warning(arm):
    assert arm.controller.warnings() == []
    arm.servos[4].temperature = 65.0
    arm.tick()
    assert arm.controller.warnings() == ["wrist_roll is at 65 deg C"]


def test_servo_that_loses_its_torque_is_a_fault(arm):
    arm.servos[4].power_cycle()
    arm.tick(20)
    assert arm.state is DriverState.FAULT
    assert "Servo 4 (wrist_roll) of /dev/ttyACM0 was switched off" in arm.message
    assert "or lost its power" in arm.message


def test_silent_servo_is_a_fault_until_it_answers(arm):
    arm.faults.silent = {3}
    arm.tick(2)
    assert arm.state is DriverState.FAULT and "Servo 3 (elbow)" in arm.message
    assert arm.controller.snapshot().measured is None
    arm.faults.clear()
    arm.tick(60)
    assert arm.controller.snapshot().measured is not None
    arm.controller.arm()
    arm.tick()
    assert arm.state is DriverState.ARMED


def test_another_program_that_commands_the_servos_is_a_fault(arm):
    arm.servos[1].set(sts3215.GOAL_POSITION, 2500)
    arm.tick(10)
    assert arm.state is DriverState.FAULT
    assert "another program writes to a servo" in arm.message and "board" not in arm.message


def test_servo_that_was_reset_is_not_called_a_board(arm):
    arm.servos[1].set(sts3215.OPERATING_MODE, 1)
    arm.servos[1].set(sts3215.TORQUE_ENABLE, 0)
    arm.tick(10)
    assert arm.state is DriverState.FAULT
    assert arm.message.startswith("A servo was reset") and "board" not in arm.message


def test_slow_bus_is_to_get_another_baud_rate(make_feetech, monkeypatch, caplog):
    made = make_feetech()
    monkeypatch.setattr(retrying_bus.RetryingBus, "tick_time", lambda *_: 1.0)
    made.driver.open()
    assert "use a faster bus (its baud_rate)" in caplog.text


def test_servo_that_keeps_no_target_is_named(arm, monkeypatch):
    monkeypatch.setattr(arm.driver.bus, "_write", lambda register, values: None, raising=True)
    arm.go(*THERE)
    arm.tick(3)
    assert arm.state is DriverState.FAULT
    assert "witched off: Servo 1 (waist) of /dev/ttyACM0" in arm.message


@pytest.fixture
def patient(arm, monkeypatch):
    """The same on a computer that may be busy: only the number of attempts counts."""
    monkeypatch.setattr(retrying_bus, "GIVE_UP_AFTER", 60.0)
    return arm


def test_echo_of_the_adapter_disturbs_no_motion(patient):
    arm = patient
    arm.faults.echo = True
    goal = arm.go(*THERE)
    arm.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED, goal.message
    assert arm.measured[:4] == pytest.approx(THERE, abs=5 * COUNT)


def test_servo_that_answers_with_another_id_is_a_fault(arm):
    goal = arm.go(*THERE)
    arm.tick(5)
    arm.faults.answers_as = {2: 3}
    arm.tick(2)
    assert goal.outcome is GoalOutcome.ABORTED and arm.state is DriverState.FAULT
    assert "Servo 2 (shoulder)" in arm.message and arm.message.endswith(f"then run {ARM}.")
    before = [servo.get(sts3215.GOAL_POSITION) for servo in arm.servos.values()]
    arm.tick(20)
    assert before == [servo.get(sts3215.GOAL_POSITION) for servo in arm.servos.values()]


def test_wrong_checksums_of_one_servo_are_a_fault(arm):
    goal = arm.go(*THERE)
    arm.tick(5)
    arm.faults.corrupt(1.0, seed=3)
    arm.tick(2)
    assert goal.outcome is GoalOutcome.ABORTED and arm.state is DriverState.FAULT
    assert "The servo bus at /dev/ttyACM0" in arm.message


def test_unplugged_adapter_is_a_fault(arm):
    goal = arm.go(*THERE)
    arm.tick(5)
    arm.driver.emulation.unplug()
    arm.tick(2)
    assert goal.outcome is GoalOutcome.ABORTED and arm.state is DriverState.FAULT
    assert "plug the adapter in again" in arm.message


def test_release_takes_the_torque(arm):
    arm.controller.release("test.")
    arm.tick()
    assert not any(arm.torques) and arm.state is DriverState.DISARMED
    arm.servos[1].hand = 2200
    arm.tick(20)
    assert arm.measured[0] == pytest.approx(152 * COUNT, abs=COUNT)


def test_stop_freezes_the_targets(arm):
    goal = arm.go(*THERE)
    arm.tick(10)
    before = [servo.get(sts3215.GOAL_POSITION) for servo in arm.servos.values()]
    arm.controller.stop()
    arm.tick(10)
    assert before == [servo.get(sts3215.GOAL_POSITION) for servo in arm.servos.values()]
    assert goal.done and arm.state is DriverState.STOPPED


def test_disturbed_bus_does_not_disturb_a_motion(patient):
    arm = patient
    arm.faults.corrupt(0.005, seed=5)
    for q in (THERE, (0.0,) * 4):
        goal = arm.go(*q)
        arm.run(goal)
        assert goal.outcome is GoalOutcome.SUCCEEDED, goal.message
    assert arm.faults.corrupted > 2


def test_positions_beyond_the_points_are_extrapolated(disarmed):
    servo = disarmed.driver.output.maps[0]
    for count in (0, 1024, 2048, 3072, 4095):
        assert servo.measured(count) == pytest.approx((count - 2048) * COUNT)
        assert servo.slope(count) == pytest.approx(COUNT)


def test_backend_and_calibration_must_suit(make_bench):
    with pytest.raises(HardwareError, match=r"smart servos .*; servokit cannot"):
        make_bench(backend="servokit", calibration="nut_arm_feetech")
    with pytest.raises(HardwareError, match=r"is for a PCA9685"):
        make_bench(backend="feetech", calibration="nut_arm_servos")
