# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task server's state, without ROS."""

from arm_viewer.ros.tasks import task_progress

from arm_interfaces.msg import TaskState


def share(**fields):
    return task_progress(TaskState(state=TaskState.RUNNING, **fields)).share


def test_progress_is_the_completed_share():
    assert share(step=1, steps_total=4, progress=0.5) == 0.375
    assert share() == 0.0
    assert share(step=4, steps_total=4, progress=1.0) == 1.0
    assert task_progress(TaskState()).state == "idle"
    assert task_progress(TaskState(state=TaskState.PAUSED, task="wave")).state == "paused"
    assert task_progress(TaskState(state=99)).state == "99"
