# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node on simulated smart servos: a hand holds the waist, an object is in the jaws."""

import pytest
from action_msgs.msg import GoalStatus
from arm_testing.ros import driver as nc
from control_msgs.msg import JointTolerance
from lifecycle_msgs.msg import Transition

from arm_interfaces.msg import HardwareStatus

pytest.importorskip("scservo_sdk")
pytestmark = pytest.mark.system
HAND = 252 * 2 * 3.14159265 / 4096  # [rad] where the hand holds the waist
OBJECT = 0.015  # [m]
NODE = """
from arm_simulation.emulation.feetech_servo import SimulatedServo
created = SimulatedServo.__init__
def create(servo, number):
    created(servo, number, 2900.0 if number == 6 else 2048.0)
    if number == 1:
        servo.hand = 2300
    if number == 6:
        servo.stops = (2560, 4000)
    if number == 4:
        servo.stops = (1500, 2500)
SimulatedServo.__init__ = create
from arm_hardware.ros.process import main
main()
"""


@pytest.fixture(scope="module")
def arm():
    client = nc.Client()
    with nc.running_driver(
        client,
        NODE,
        hardware="sim",
        backend="feetech",
        calibration="nut_arm_feetech",
        autostart="none",
        **{"constraints.wrist_roll.trajectory": 0.15},
    ):
        assert client.change(Transition.TRANSITION_CONFIGURE)
        yield client


def rest_of_the_hand(arm) -> bool:
    return bool(arm.states) and abs(arm.position("waist") - HAND) < nc.NEAR


def test_arm_without_torque_is_a_leader(arm):
    """Its joint_states are measured, though the node is only configured."""
    nc.wait_for(lambda: rest_of_the_hand(arm), "the hand's position")
    assert arm.wait_state(HardwareStatus.DISARMED)
    message = arm.states[-1]
    assert len(message.effort) == len(message.velocity) == len(message.name) == 6


def test_activation_moves_nothing_and_needs_no_homing(arm):
    arm.states.clear()
    assert arm.change(Transition.TRANSITION_ACTIVATE)
    arm.wait_armed()
    assert all(abs(m.position[0] - HAND) < nc.NEAR for m in arm.states)


def test_goal_is_reached_as_measured(arm):
    arm.go(0.2, -0.3, 0.3, 0.2, time=0.5)
    last = arm.feedback[-1]
    assert list(last.actual.positions) != list(last.desired.positions)


def test_grasp_is_in_the_result(arm):
    for width in (0.028, 0.0):
        result = arm.result(arm.grip(width))
        assert result.status == GoalStatus.STATUS_SUCCEEDED
    found = result.result
    assert found.stalled and not found.reached_goal
    assert found.position == pytest.approx(OBJECT, abs=0.0003) and found.effort < 0.0
    nc.wait_for(lambda: arm.states[-1].effort[-1] < 0.0, "the effort of a finger")


@pytest.mark.parametrize(
    ("tolerances", "bound"),
    [([], 0.15), ([JointTolerance(name="wrist_roll", position=0.25)], 0.25)],
    ids=["parameter", "goal"],
)
def test_blocked_joint_violates_its_path_tolerance(arm, tolerances, bound):
    points = nc.trajectory([(1.0, (0.2, -0.3, 0.3, 1.2))])
    handle = arm.send_goal(trajectory=points, path_tolerance=tolerances)
    result = arm.result(handle).result
    assert result.error_code == result.PATH_TOLERANCE_VIOLATED
    assert result.error_string.startswith("wrist_roll: ")
    assert result.error_string.endswith(f"behind the trajectory, more than the tolerance {bound}.")
    arm.wait_settled(HardwareStatus.ARMED)


def test_diagnostics_have_temperature_and_load(arm):
    def values():
        found = arm.diagnostics.status[0].values if arm.diagnostics else ()
        return {v.key: v.value for v in found}

    key = "elbow: temperature, supply, load, current"
    nc.wait_for(lambda: key in values(), "the servo's values")
    assert "deg C, 7.4 V" in values()[key]


def test_released_arm_is_guided_by_hand(arm):
    answer = arm.trigger("release")
    assert answer.success and "released" in answer.message
    nc.wait_for(lambda: rest_of_the_hand(arm), "the hand's position")
    assert arm.wait_state(HardwareStatus.DISARMED)
