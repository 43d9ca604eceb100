# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Branches and pauses over ROS: what nut_world and the jaws say decides which way a run takes."""

import pytest
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.msg import NutState

pytestmark = pytest.mark.system

TEXT = """
task: looks
defaults: {speed: 1}
steps:
  - if:
      when: {nut_on: upper_bolt, turns: 4, nut_held: false}
      then: [{move_joints: {name: it is there, joints_deg: {waist: 10}}}]
      else: [{move_joints: {name: it is gone, joints_deg: {waist: -10}}}]
  - until:
      when: {gripper_above_mm: 15}
      at_most: 2
      steps: [{open: {name: open again, width_mm: 20}}]
  - pause_for_person: look at it
  - move_posture: rest
  - until: {when: {nut_on: lower_bolt}, at_most: 1, steps: [{wait: 0.1}]}
"""


def test_a_run_takes_the_way_that_it_sees_and_waits_for_a_person(shared_arm):
    arm = shared_arm
    arm.feedback.clear()
    handle = arm.send(arm.run_task, RunTask.Goal(task="looks", text=TEXT))
    resume = arm.node.create_client(Trigger, "run_task/resume")
    arm.wait_for(lambda: any("look at it" in f.message for f in arm.feedback), "the pause")
    answer = None

    def goes_on():
        nonlocal answer
        if answer is None or (answer.done() and not answer.result().success):
            answer = resume.call_async(Trigger.Request())
        return answer.done() and answer.result().success

    arm.wait_for(goes_on, "the run to go on")
    result = arm.result(handle)
    names = [feedback.name for feedback in arm.feedback]
    assert any(name.startswith("it is there") for name in names)
    assert not any(name.startswith("it is gone") for name in names)
    assert any("open again" in name and "1 of at most 2" in name for name in names)
    assert not any("2 of at most 2" in name for name in names)
    assert result.status == RunTask.Result.HARDWARE  # the last condition does not hold
    assert "it does not hold that the nut is on lower_bolt" in result.message
    assert arm.nut.state == NutState.ON_BOLT and arm.nut.bolt == "upper_bolt"
    assert arm.joints["waist"] == pytest.approx(0.0, abs=0.01)
