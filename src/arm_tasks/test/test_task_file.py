# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Task files: every kind of step, and every error with its file and line."""

import math

import pytest
from arm_tasks.errors import TaskFileError
from arm_tasks.task.parser import load_task, task_from_text
from arm_tasks.task.steps import (
    GripStep,
    MoveJoints,
    MoveLinear,
    MovePose,
    MovePosture,
    Repeat,
    ScrewOn,
    Turn,
    Unscrew,
    Wait,
)

ALL = """\
task: all
scene: nut_transfer
defaults: {speed: 0.4, tilt_deg: 5, position_mm: 0.5}
steps:
  - move_joints: {joints_deg: {waist: 90}, speed: 1}
  - move_joints: {joints: {waist: 1}}
  - move_posture: rest
  - move_pose: {frame: upper_bolt, xyz_mm: [0, 0, -20], roll_deg: 90}
  - move_linear: {frame: tool0, xyz: [0, 0, 0.01], orientation: axis, tilt_deg: 1}
  - grip: {width_mm: 10.5}
  - open
  - release: {width: 0.02}
  - turn: {angle_deg: -90, advance_mm: 1}
  - unscrew: upper_bolt
  - screw_on: {name: put it on, bolt: lower_bolt, turns: 3, press_mm: 0.5}
  - wait: 0.5
  - repeat: {times: 3, steps: [{wait: 0.1}, open]}
"""


def test_every_kind_of_step_is_read_in_si_units():
    task = task_from_text(ALL, "all.yaml")
    kinds = [type(step) for step in task.steps]
    assert kinds == [
        *(
            MoveJoints,
            MoveJoints,
            MovePosture,
            MovePose,
            MoveLinear,
            GripStep,
            GripStep,
            GripStep,
            Turn,
        ),
        *(Unscrew, ScrewOn, Wait, Repeat),
    ]
    joints, plain, posture, pose, line, grip, wide, release, turn, off, on, wait, again = (
        task.steps
    )
    assert joints.positions == {"waist": pytest.approx(math.pi / 2)} and joints.speed == 1.0
    assert plain.positions == {"waist": 1.0} and plain.speed == 0.4
    assert posture.posture == "rest"
    assert pose.target.pose[:3, 3] == pytest.approx([0, 0, -0.02])
    assert pose.target.pose[:3, 0] == pytest.approx([0, 1, 0])
    assert (pose.tolerance.position, pose.tolerance.tilt) == pytest.approx((5e-4, math.radians(5)))
    assert (line.target.frame, line.target.orientation) == ("tool0", "axis")
    assert line.tolerance.tilt == pytest.approx(math.radians(1))
    assert (grip.width, wide.width, release.width) == (pytest.approx(0.0105), None, 0.02)
    assert (turn.angle, turn.advance) == pytest.approx((-math.pi / 2, 1e-3))
    assert (off.bolt, off.turns, off.name) == ("upper_bolt", None, "unscrew")
    assert (on.name, on.turns, on.press) == ("put it on", 3, pytest.approx(5e-4))
    assert wait.seconds == 0.5
    assert (again.times, len(again.steps)) == (3, 2)
    assert [step.line for step in task.steps] == list(range(5, 18))
    assert task.scene == "nut_transfer"


def test_the_shipped_task_is_short_and_says_what_it_does():
    task = load_task("nut_transfer")
    assert [step.name for step in task.steps][2:5] == [
        "take the nut off",
        "carry it over",
        "screw it on",
    ]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("fly: {}", "there is no step 'fly'"),
        ("move_lienar: {}", "did you mean 'move_linear'?"),
        ("{}", "a step has one key, its kind; here are none"),
        ("{grip: {width: 0}, open: {}}", "a step has one key, its kind; here are grip, open"),
        ("5", "there is no step '5'"),
        ("[open]", "must be a step"),
        ("grip: {width: 0, width: 1}", "grip.width: is given twice"),
        ("&a {repeat: {times: 2, steps: [*a]}}", "an alias that contains itself"),
        ("grip", "give either the width or the payload"),
        ("grip: 10", "payload must be text, not 10"),
        ("grip: {width: -1}", "width is -1 but must be at least 0"),
        ("grip: {widht: 1}", "unknown key 'widht'; did you mean 'width'?"),
        ("open: {with: 1}", "unknown key 'with'; did you mean 'width'?"),
        ("turn: {angle: 1, speed: 0}", "speed is 0 but must be above 0 and at most 1"),
        ("turn: {angle: 1, speed: 2}", "speed is 2 but must be above 0 and at most 1"),
        ("turn: {}", "the key 'angle' is missing"),
        ("move_joints: {}", "give one of 'joints' [rad or m] and 'joints_deg'"),
        ("move_joints: {joints: {}}", "at least one joint must be named"),
        ("move_joints: {joints: {a: b}}", "joints.a: 'b' is not a variable of this file"),
        ("move_joints: {joints: 5}", "joints must hold names with keys, not 5"),
        ("move_pose: {orientation: up}", "orientation cannot be 'up'"),
        ("move_pose: {tilt_deg: 100}", "tilt_deg is 100 but must be at least 0 and at most 90"),
        ("move_pose: {rpy: [0, 0, 0], roll: 1}", "give either rpy or roll, not both"),
        ("screw_on: lower_bolt", "the key 'turns' is missing"),
        ("screw_on: {turns: 4}", "the key 'bolt' is missing"),
        ("unscrew: {bolt: a, turns: 0}", "turns is 0 but must be above 0"),
        ("wait: soon", "wait: 'soon' is not a variable of this file"),
        ("wait: -1", "seconds is -1 but must be at least 0"),
        ("repeat: {times: 0, steps: [open]}", "times is 0 but must be at least 1"),
        ("repeat: {times: 1.5, steps: [open]}", "times must be a whole number, not 1.5"),
        ("repeat: {times: 99999, steps: [open]}", "times is 99999, at most 10000 is possible"),
        ("repeat: {times: 2, steps: []}", "a list of at least one step, not a list"),
        ("repeat: {times: 2}", "the key 'steps' is missing"),
        ("repeat: {times: 2, steps: [fly]}", "there is no step 'fly'"),
    ],
)
def test_a_mistake_is_told_in_one_sentence_with_its_line(step, said):
    text = f"task: t\nsteps:\n  - open\n  - {step}\n"
    with pytest.raises(TaskFileError) as error:
        task_from_text(text, "my.yaml")
    assert said in str(error.value)
    assert str(error.value).startswith("my.yaml, line 4: ")


def test_a_task_needs_a_name_and_steps():
    for text in ("steps: [open]", "task: t", "task: t\nsteps: open", "task: t\nsteps: []"):
        with pytest.raises(TaskFileError):
            task_from_text(text)


def test_an_unknown_task_lists_the_shipped_ones():
    with pytest.raises(TaskFileError, match="did you mean 'nut_transfer'"):
        load_task("nut_trasnfer")
