# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""No interface of a running arm reads a file that the operator has not allowed."""

import os

import pytest
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters

from arm_interfaces.action import RunTask
from arm_interfaces.srv import CheckTask, RecordPath, TeachPose

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n"
PARAMETERS = {
    "task_server": ("robot", "scene", "poses", "paths", "task_path"),
    "nut_world": ("robot", "scene"),
    "arm_hardware": ("robot", "calibration", "sim_registers"),
}


@pytest.fixture
def attacks(tmp_path):
    """Names of files that no request may read."""
    key, fifo = tmp_path / "key.yaml", tmp_path / "fifo.yaml"
    key.write_text(KEY)
    os.mkfifo(fifo)
    up = "../" * 12 + str(key)[1:]
    return (str(key), str(fifo), up, "/etc/passwd", "/dev/zero", "~nobody_here/x.yaml")


def fields(name):
    """Yield the fields of a request that names a file in each possible place."""
    yield {"task": name}
    yield {"scene": name}
    yield {"text": f"task: t\nposes: '{name}'\nsteps: [open]\n"}  # its scene is the server's
    for step in (f"call: {{task: '{name}'}}", f"play: {{path: '{name}'}}"):
        yield {"text": f"task: t\nsteps:\n  - {step}\n"}


def test_tasks_read_no_foreign_file(arm, attacks):
    check = arm.node.create_client(CheckTask, "check_task")
    messages = []
    for request in (*fields(attacks[0]), *({"task": name} for name in attacks[1:])):
        answer = arm.request(check, CheckTask.Request(**request))
        assert not answer.feasible
        messages.append(answer.message)
    for request in (*fields(attacks[0]),)[::2]:
        result = arm.run(**request, dry_run=True)
        assert result.status == RunTask.Result.BAD_REQUEST
        messages.append(result.message)
    arm.node.destroy_client(check)
    for message in messages:
        assert "BEGIN" not in message and "root:" not in message
        assert "there is no" in message


def test_names_of_poses_and_paths_are_no_paths(arm, attacks):
    for kind, service in (
        (TeachPose, "save_pose"),
        (TeachPose, "forget_pose"),
        (RecordPath, "record"),
        (RecordPath, "replay"),
    ):
        client = arm.node.create_client(kind, f"teach/{service}")
        for name in attacks:
            answer = arm.request(client, kind.Request(name=name))
            assert not answer.success and "BEGIN" not in answer.message, answer
        arm.node.destroy_client(client)


@pytest.mark.parametrize("node", PARAMETERS)
def test_parameters_that_name_files_cannot_be_set(arm, attacks, node):
    client = arm.node.create_client(SetParameters, f"{node}/set_parameters")
    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=attacks[0])
    request = SetParameters.Request(
        parameters=[Parameter(name=name, value=value) for name in PARAMETERS[node]]
    )
    results = arm.request(client, request).results
    arm.node.destroy_client(client)
    assert len(results) == len(PARAMETERS[node])
    assert not any(result.successful for result in results)
