# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Whatever numbers a task file has, a check ends with a finite plan or one sentence."""

import copy
import json
import math
import random
import re

import pytest
import yaml
from arm_tasks.errors import TasksError
from arm_tasks.planning.feasibility import check_feasibility
from arm_tasks.task.request import ArmConfiguration, load_request

NUMBERS = (
    *(0, -0.0, 1e-300, 5e-324, 1e-9, -1, 1, 3.2, 10, -10, 90, 250, 1e4, 1e9, -1e300, 1.7e308),
    *(".nan", ".inf", 10**400, "1/0", "10**10**10", "a", "", None, True, [1], [1, 2, 3], {"a": 1}),
)
BODIES = (
    "move_linear: {xyz: [0.2, 0, 0.12], orientation: any}",
    "move_linear: {frame: tool0, xyz_mm: [0, 0, 10], offset_mm: [1, 0, 0], tilt_deg: 40}",
    "move_pose: {xyz: [0.2, 0, 0.12], rpy_deg: [180, 0, 0], orientation: any, position_mm: 1}",
    "move_pose: {xyz: [0.2, 0, 0.12], axis: [1, 0, -1], tilt_deg: 45}",
    "approach: {xyz: [0.2, 0, 0.12], distance_mm: 20, orientation: any}",
    "retreat: {distance_mm: 5, tilt_deg: 40}",
    "turn: {angle_deg: 30, advance_mm: 1, tilt_deg: 40}",
    "move_joints: {joints: {waist: 0.3, shoulder: 0.1}, speed: 0.5}",
    "move_joints: {joints_deg: {waist: 10}}",
    "grip: {width_mm: 12}",
    "wait: {seconds: 1}",
    "set_speed: {speed: 0.5}",
    "repeat: {times: 2, steps: [{wait: {seconds: 1}}]}",
    "unscrew: {bolt: upper_bolt, turns: 2, extra_turns: 0.1, approach_mm: 20, tilt_deg: 3}",
    "wait_until: {topic: a, field: b, above: 1, timeout: 5}",
    "until: {when: {gripper_above_mm: 5}, at_most: 2, steps: [{wait: {seconds: 1}}]}",
)


def leaves(value, path=()):
    """Yield the paths of all numbers."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, (*path, i))
    elif isinstance(value, int | float):
        yield path


def mutated(numbers):
    """Return the text of a task of two steps with some absurd numbers."""
    steps = [yaml.safe_load(numbers.choice(BODIES)) for _ in range(2)]
    for _ in range(numbers.choice((1, 1, 2, 3))):
        *above, last = numbers.choice(list(leaves(steps)) or [(0,)])
        place = steps
        for key in above:
            place = place[key]
        value = copy.deepcopy(numbers.choice(NUMBERS))  # else it could come to contain itself
        place[last] = value if numbers.random() < 0.7 else numbers.uniform(-300.0, 300.0)
    return yaml.safe_dump({"task": "t", "steps": steps}).replace("'.nan'", ".nan")


def check(model, chain, text):
    """Check a task; assert that the answer is one sentence."""
    start = ArmConfiguration.of_posture(model)
    try:
        request = load_request("t", model, chain, start, "nut_transfer", text)
        found = check_feasibility(request)
    except TasksError as error:
        message = str(error)
    else:
        message = found.message
        assert math.isfinite(found.plan.duration)
        json.dumps(found.as_dict(), allow_nan=False)
    assert message and len(message.splitlines()) == 1 and len(message) < 1000
    assert not re.search(r"\b(nan|Traceback)\b", re.sub(r"not \.?nan", "", message)), message


@pytest.mark.parametrize(
    "number", [pytest.param(15, id="small"), pytest.param(10_000, marks=pytest.mark.thorough)]
)
def test_absurd_numbers_are_answered_with_one_sentence(model, chain, number):
    numbers = random.Random(number)
    for k in range(number):
        text = mutated(numbers)
        try:
            check(model, chain, text)
        except Exception as error:
            raise AssertionError(f"number {k}:\n{text}") from error
