# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command new: questions, templates, and no file after an error."""

import contextlib
import io
import signal
import subprocess
import sys
from subprocess import PIPE

import numpy as np
import pytest
from arm_common.suggestions import program
from arm_description.commands.new import main

from arm_description import load_robot, shipped_robots


def answers(monkeypatch, *lines):
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_interview_creates_a_robot(tmp_path, monkeypatch, capsys):
    file = tmp_path / "my arm.yaml"
    answers(
        monkeypatch,
        "", "", "2", "mod", "", "",                               # name, joints, convention, units
        "turn", "", "-90", "80", "2*50", "rad(pi/2)", "", "90", "",
        "", "pris", "0", "5", "0", "", "-10", "20", "30",
    )  # fmt: skip
    assert main([str(file)]) == 0
    model = load_robot(file)
    assert (model.name, model.convention, model.n) == ("my_arm", "modified", 2)
    turn, slide = model.joints
    assert (turn.name, slide.name) == ("turn", "joint_2")
    assert (turn.row.d, turn.row.a) == (0.08, 0.1)
    assert turn.row.alpha == pytest.approx(1.5707963267948966)
    assert (slide.lower, slide.upper, slide.velocity) == (-0.01, 0.02, 0.03)
    assert "units: {length: mm, angle: deg}" in file.read_text()
    assert program("arm_tasks", "view") in capsys.readouterr().err


def test_universal_and_ball_joints_are_asked_for_limits_by_axis(tmp_path, monkeypatch):
    file = tmp_path / "arm.yaml"
    answers(
        monkeypatch,
        "", "", "2", "", "", "",
        "hip", "universal", "", "10", "20", "30", "-10", "10", "40", "-20", "20", "50",
        "hip", "wrist", "ball", "", "", "", "", "-1", "1", "", "-2", "2", "", "-3", "3", "",
    )  # fmt: skip
    assert main([str(file)]) == 0
    model = load_robot(file)
    assert model.joint_names == ("hip_z", "hip_y", "wrist_z", "wrist_y", "wrist_x")
    assert model.upper == pytest.approx(np.radians([10, 20, 1, 2, 3]))
    assert model.joints[1].row.d == 0.01 and model.joints[1].velocity == pytest.approx(
        np.radians(50)
    )
    assert "type: ball" in file.read_text()


def test_invalid_answers_are_asked_again(tmp_path, monkeypatch, capsys):
    file = tmp_path / "arm.yaml"
    answers(
        monkeypatch,
        "x", "table", "a b", "arm", "0", "1", "craig", "standard", "x", "m", "q", "deg",
        "base", "j", "cone", "revolute", "90,5", "9000", "0", "100", "0.1", "1/0", "0", "0",
        "10", "5", "20", "-3", "0", "45",
    )  # fmt: skip
    assert main([str(file)]) == 0
    out = capsys.readouterr().out
    for reason in (
        "contains ' '",
        "not a number from 1 to 64",
        "cannot be 'craig'",
        "cannot be 'x'; ",
        "the name 'base' is already used",
        "cannot be 'cone'",
        "a comma is not allowed",
        "too large for an arm",
        "divides by zero",
        "must be above the lower limit",
        "must be greater than 0",
    ):
        assert reason in out
    assert load_robot(file).joints[0].name == "j"


def test_end_of_input_leaves_no_file(tmp_path, monkeypatch, capsys):
    answers(monkeypatch, "", "arm", "2")
    assert main([str(tmp_path / "arm.yaml")]) == 1
    assert "the input ended before the last question" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_no_file(tmp_path):
    """The signal arrives while the command waits for an answer."""
    run = "from arm_description.commands.new import main; exit(main())"
    command = [sys.executable, "-uc", run, str(tmp_path / "arm.yaml")]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        seen = b""
        while b"described by" not in seen:
            seen += process.stdout.read(1)
        while process.poll() is None:  # a signal just before the read may be missed
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("robot", shipped_robots())
def test_template_is_copied_with_its_comments(robot, tmp_path):
    file = tmp_path / "mine.yaml"
    assert main([str(file), "--from", robot]) == 0
    model, original = load_robot(file), shipped_robots()[robot].read_text()
    assert model.name == "mine"
    assert model.joints == load_robot(robot).joints
    lines = zip(original.splitlines(), file.read_text().splitlines(), strict=True)
    (changed,) = (new for old, new in lines if old != new)
    assert changed.startswith("name: mine")


def test_existing_file_is_kept_without_force(tmp_path, sentence):
    file = tmp_path / "arm.yaml"
    file.write_text("mine")
    found = sentence(main, file, "--from", "planar2")
    assert "already exists; choose another name or give --force" in found
    assert file.read_text() == "mine"
    assert main([str(file), "--from", "planar2", "--force"]) == 0
    assert load_robot(file).n == 2


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("arm", [], "must end in .yaml; call it arm.yaml"),
        ("arm.yaml", ["--from", "plnar2"], "no robot named 'plnar2'; did you mean 'planar2'"),
        ("no/such/arm.yaml", ["--from", "planar2"], "cannot be written"),
    ],
)
def test_errors_leave_no_file(name, options, message, tmp_path, sentence):
    found = sentence(main, tmp_path / name, *options)
    assert found.startswith("new: ") and message in found
    assert list(tmp_path.iterdir()) == []


def test_numeric_file_name_becomes_a_quoted_name(tmp_path):
    assert main([str(tmp_path / "123.yaml"), "--from", "planar2"]) == 0
    assert load_robot(tmp_path / "123.yaml").name == "123"


def test_questions_can_be_returned_to_and_lengths_may_have_a_unit(tmp_path, monkeypatch):
    file = tmp_path / "arm.yaml"
    answers(
        monkeypatch,
        "", "", "3", "<", "1", "", "", "<", "mm", "",             # the number of joints was wrong
        "turn", "", "0", "25 cm", "<", "26cm", "0.5 m", "pi/2 rad", "", "", "",
    )  # fmt: skip
    assert main([str(file)]) == 0
    (turn,) = load_robot(file).joints
    assert (turn.row.d, turn.row.a) == (pytest.approx(0.26), pytest.approx(0.5))
    assert turn.row.alpha == pytest.approx(1.5707963267948966)


def test_first_question_cannot_be_left_backwards(tmp_path, monkeypatch):
    answers(monkeypatch, "<", "<", "")
    assert main([str(tmp_path / "arm.yaml")]) == 1  # the input ended, no traceback


LENGTHS = (
    "--base-height",
    "90",
    "--upper-arm",
    "10.5cm",
    "--forearm",
    "2*49",
    "--hand",
    "0.16m",
    "--servo",
    "mg996r",
)


@pytest.mark.parametrize("gripper", ["55", "0"])
@pytest.mark.parametrize(("wrist", "joints"), [("rolls", 5), ("fixed", 4)])
def test_kit_arm_of_options_stands_straight_up(tmp_path, wrist, joints, gripper):
    file = tmp_path / "kit.yaml"
    options = ("--ruler", "--wrist", wrist, *LENGTHS, "--gripper", gripper)
    assert main([str(file), *options]) == 0
    model = load_robot(file)
    assert (model.name, model.n) == ("kit", joints)
    assert (model.gripper and model.gripper.max_width) == (0.055 if gripper == "55" else None)
    assert model.without_effort == ()
    assert all(joint.effort < 1.0 for joint in model.joints)  # of an MG996R [N m]
    up = model.fk(np.zeros(joints))
    assert up[:3, 3] == pytest.approx([0.0, 0.0, 0.09 + 0.105 + 0.098 + 0.16])
    assert up[:3, 2] == pytest.approx([0.0, 0.0, 1.0])
    level = {"shoulder": np.pi / 2}
    flat = model.fk([level.get(name, 0.0) for name in model.joint_names])
    assert flat[:3, 3] == pytest.approx([0.105 + 0.098 + 0.16, 0.0, 0.09])
    assert flat[:3, :3] == pytest.approx(np.array([[0, 0, 1], [0, -1, 0], [1, 0, 0]]))


def test_kit_arm_is_asked_for_what_no_option_answers(tmp_path, monkeypatch):
    file, same = tmp_path / "kit.yaml", tmp_path / "same.yaml"
    answers(
        monkeypatch, "ruler", "kit", "rol", "mg996r", "90", "-1", "0", "10.5 cm", "98", "160", "0"
    )
    assert main([str(file)]) == 0
    answers(monkeypatch, "", "0")
    assert main([str(same), "--ruler", *LENGTHS, "--force"]) == 0
    assert same.read_text().replace("same", "kit") == file.read_text()
    assert load_robot(file).gripper is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--hand", "0"], "--hand: must be greater than 0"),
        (["--hand", "16 inches"], "--hand: "),
        (["--base-height", "1e9"], "--base-height: 1e9 is too large for an arm; check the unit"),
    ],
)
def test_invalid_length_of_a_kit_arm_leaves_no_file(options, message, tmp_path, sentence):
    given = ("--ruler", "--wrist", "fixed", "--gripper", "0", *LENGTHS, *options)
    assert message in sentence(main, tmp_path / "kit.yaml", *given)
    assert list(tmp_path.iterdir()) == []
