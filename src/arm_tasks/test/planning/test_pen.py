# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A pen draws on paper: allowed contact, its depth, and what is refused."""

import re

import numpy as np
import pytest
from arm_description.library import load_robot, robot_path
from arm_description.robot_file.reader import parse_robot
from arm_tasks.errors import TasksError
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.file import scene_from_text
from arm_tasks.task.parser import task_from_text
from arm_tasks.task.request import ArmConfiguration, TaskRequest

from arm_kinematics import Chain

PEN = {"tool: {rpy: [0, 0, 180]}": "tool: {name: pen, xyz: [0, 0, -110], rpy: [0, 0, 180]}"}
WRITE = "task: t\nscene: paper\nsteps:\n  - play: {text: Hi, frame: paper, tilt_deg: 25%s}\n"
SCENE = scene_from_text("""
scene: paper
surfaces:
  paper:
    {xyz_mm: [180, 0, 20], rpy_deg: [0, 0, -90], length_mm: 148, width_mm: 105, thickness_mm: 9}
  deep: {frame: paper, xyz_mm: [0, 0, -6], length_mm: 1, width_mm: 1, thickness_mm: 1}
""")


@pytest.fixture(scope="module")
def pen_arm():
    text = robot_path("learm").read_text()
    for old, new in PEN.items():
        assert old in text
        text = text.replace(old, new)
    text = text.replace(", gripper: 0}", "}").replace(", gripper: 40}", "}")
    head, _, tail = text.partition("gripper:\n")
    return parse_robot(head + tail[tail.index("postures:") : tail.index("colours:")], "pen.yaml")


def written(model, more="", frame="paper"):
    task = task_from_text((WRITE % more).replace("frame: paper", f"frame: {frame}"), "t.yaml")
    start = ArmConfiguration.of_posture(model, "ready")
    return plan_task(TaskRequest(task, SCENE, model, Chain.from_model(model), start))


def test_pen_draws_on_the_paper_that_it_may_touch(pen_arm):
    plan = written(pen_arm, ", touch: paper, depth_mm: 4")
    assert plan.feasible, plan.message
    (along,) = (s for s in plan.steps if s.name == "play")
    chain, paper = Chain.from_model(pen_arm), SCENE.frame("paper")
    q = along.trajectory.positions
    tips = np.array([(np.linalg.inv(paper) @ chain.fk(row))[:3, 3] for row in q])
    assert tips[:, 2].min() == pytest.approx(0.0, abs=2e-5) and tips[:, 2].max() < 0.0101
    drawn = tips[tips[:, 2] < 1e-4]
    assert np.abs(drawn[:, :2]).max() < 0.02


@pytest.mark.parametrize("tilt", [30, 35, 45, 60])
def test_pen_that_may_tilt_more_draws_what_it_draws_with_less(tilt):
    model, task = load_robot("learm"), (WRITE % ", width_mm: 120").replace("25", str(tilt))
    request = TaskRequest(
        task_from_text(task, "t.yaml"),
        scene_from_text(
            "scene: paper\nframes:\n  paper: {xyz_mm: [180, 0, 20], rpy_deg: [0, 0, -90]}"
        ),
        model,
        Chain.from_model(model),
        ArmConfiguration.of_posture(model, "ready"),
    )
    plan = plan_task(request)
    assert plan.feasible, plan.message
    steps = np.abs(np.diff(plan.steps[-1].trajectory.positions, axis=0))
    assert steps.max() < 0.05


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("", "tool_link would be 1.* mm deep in paper, first after"),
        (", touch: paper, depth_mm: 0.5", "deep in paper, where 0.5 mm are allowed"),
        (", touch: paper, depth_mm: 4, at_mm: [0, 400]", r"at \(.*\) m|out of reach|reach"),
    ],
)
def test_contact_that_is_not_allowed_and_letters_out_of_reach_are_refused(pen_arm, more, says):
    plan = written(pen_arm, more)
    assert not plan.feasible
    assert re.search(says, plan.message), plan.message


def test_tip_deeper_than_allowed_is_refused_with_its_point(pen_arm):
    plan = written(pen_arm, ", touch: paper, depth_mm: 4", "deep")
    assert not plan.feasible and "mm deep in paper, where 4 mm are allowed" in plan.message


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("touch: papr", "there is no 'papr' in the scene; did you mean 'paper'"),
        ("touch: paper, depth_mm: 4.5", "depth must be below 4.5 mm, half the thickness of paper"),
        ("depth_mm: 1", "depth has no effect without touch"),
        ("path: a.svg", "give either path or text"),
    ],
)
def test_wrong_keys_of_a_drawing_name_their_line(pen_arm, keys, says):
    with pytest.raises(TasksError, match=says):
        written(pen_arm, f", {keys}")
