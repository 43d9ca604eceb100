# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Task files: every kind of step, and every error with its file and line."""

import math

import numpy as np
import pytest
from arm_tasks.errors import TaskFileError
from arm_tasks.task.parser import load_task, task_from_text
from arm_tasks.task.step_parsers import PARSERS
from hypothesis import given
from hypothesis import strategies as st

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
    kinds = "MoveJoints MoveJoints MovePosture MovePose MoveLinear GripStep GripStep GripStep "
    kinds += "Turn Unscrew ScrewOn Wait Repeat"
    assert [type(step).__name__ for step in task.steps] == kinds.split()
    joints, plain, posture, pose, line, grip, wide, release, turn, *others = task.steps
    off, on, wait, again = others
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


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("fly: {}", "there is no step 'fly'"),
        ("move_lienar: {}", "did you mean 'move_linear'?"),
        ("{}", "a step has one key, its kind; found none"),
        ("{grip: {width: 0}, open: {}}", "a step has one key, its kind; found grip, open"),
        ("5", "there is no step '5'"),
        ("[open]", "must be a step"),
        ("grip: {width: 0, width: 1}", "grip.width: is given twice"),
        ("&a {repeat: {times: 2, steps: [*a]}}", "an alias must not contain itself"),
        ("grip", "give either the width or the payload"),
        ("grip: 10", "payload must be text, not 10"),
        ("grip: {width: -1}", "width is -1 but must be at least 0"),
        ("grip: {widht: 1}", "unknown key 'widht'; did you mean 'width'?"),
        ("open: {with: 1}", "unknown key 'with'; did you mean 'width'?"),
        ("turn: {angle: 1, speed: 0}", "speed is 0 but must be from 0.001 to 1"),
        ("turn: {angle: 1, speed: 2}", "speed is 2 but must be from 0.001 to 1"),
        ("turn: {}", "the key 'angle' is missing"),
        ("move_joints: {}", "the key 'joints' is missing"),
        ("move_joints: {joints: {}}", "at least one joint must be named"),
        (
            "move_joints: {joints: {a: b}}",
            "joints.a: 'b' is not a number, and there are no variables",
        ),
        ("move_joints: {joints: 5}", "joints must be a mapping of names, not 5"),
        ("move_pose: {orientation: up}", "orientation cannot be 'up'"),
        ("move_pose: {tilt_deg: 100}", "tilt_deg is 100 but must be from 0 to 90"),
        ("move_pose: {rpy: [0, 0, 0], roll: 1}", "give either rpy or roll, not both"),
        ("screw_on: lower_bolt", "the key 'turns' is missing"),
        ("screw_on: {turns: 4}", "the key 'bolt' is missing"),
        ("unscrew: {bolt: a, turns: 0}", "turns is 0 but must be above 0"),
        ("wait: soon", "wait: 'soon' is not a number, and there are no variables"),
        ("wait: -1", "seconds is -1 but must be from 0"),
        ("wait_until: {topic: a, field: b, timeout: 1}", "give either equals, or above and below"),
        ("wait_until: {topic: a, field: b, equals: 1}", "the key 'timeout' is missing"),
        ("wait_until: {topic: a, field: b, equals: 1, timeout: 0}", "timeout is 0 but must be"),
        ("wait_until: {topic: a, field: b, equals: 1, above: 1, timeout: 1}", "either equals, or"),
        ("wait_until: {topic: a, field: b, equals: [1], timeout: 1}", "equals must be text"),
        ("wait_until: {topic: a, field: b, above: x, timeout: 1}", "'x' is not a number"),
        (
            "wait_until: {gripper_above_mm: 20, gripper_below: 0.01, timeout: 1}",
            "no width is both",
        ),
        (
            "wait_until: {joint: a, joint_above: 1, joint_below: 1, timeout: 1}",
            "no position is both",
        ),
        ("wait_until: {nut_fallen: true, nut_held: true, timeout: 1}", "a fallen nut is neither"),
        ("wait_until: {topic: a, field: b, above: 2, below: 1, timeout: 1}", "no value is above"),
        ("wait_until: {topic: a, field: b..c, equals: 1, timeout: 1}", "'b..c' is not a path"),
        ("wait_until: {topic: a, field: b, equals: 1, type: c, timeout: 1}", "'c' is not a"),
        ("repeat: {times: 0, steps: [open]}", "times is 0 but must be from 1"),
        ("repeat: {times: 1.5, steps: [open]}", "times must be a whole number, not 1.5"),
        (
            "repeat: {times: 99999, steps: [open]}",
            "times is 99999 but must be from 1 to 2000",
        ),
        (
            "repeat: {times: 2, steps: []}",
            "steps must be a list of at least one step, not an empty",
        ),
        (
            "close: {on_failure: open}",
            "on_failure must be a list of at least one step, not 'open'",
        ),
        ("repeat: {times: 2}", "the key 'steps' is missing"),
        ('open: {name: "a\\nb"}', r"name must be one line, not 'a\nb'"),
        ("repeat: {times: 2, steps: [fly]}", "there is no step 'fly'"),
    ],
)
def test_mistake_is_reported_in_one_sentence_with_its_line(step, message):
    text = f"task: t\nsteps:\n  - open\n  - {step}\n"
    with pytest.raises(TaskFileError) as error:
        task_from_text(text, "my.yaml")
    assert message in str(error.value)
    assert str(error.value).startswith("my.yaml:4: ")


def test_task_needs_a_name_and_steps():
    for text in ("steps: [open]", "task: t", "task: t\nsteps: open", "task: t\nsteps: []"):
        with pytest.raises(TaskFileError):
            task_from_text(text)


def test_too_many_repetitions_are_rejected():
    inner = "{repeat: {times: 100, steps: [open]}}"
    with pytest.raises(TaskFileError, match="more than 2000 steps"):
        read_step(f"repeat: {{times: 100, steps: [{inner}]}}")


@pytest.mark.parametrize("text", ["  - open\n" * 20_000, "BOMB"])
def test_too_many_steps_are_rejected_before_they_are_read(text, monkeypatch):
    """Aliases multiply the steps of a short file."""
    read, parse = [], PARSERS["open"]
    monkeypatch.setitem(PARSERS, "open", lambda *keys: read.append(1) or parse(*keys))
    if text == "BOMB":
        rows = ["{if: {when: {nut_held: true}, then: &a0 [open, open]}}"]
        for i in range(1, 14):
            step = f"{{repeat: {{times: 1, steps: *a{i - 1}}}}}"
            rows.append(f"{{if: {{when: {{nut_held: true}}, then: &a{i} [{step}, {step}]}}}}")
        text = "".join(f"  - {row}\n" for row in rows)
    with pytest.raises(TaskFileError, match="more than 2000 steps, repetitions expanded"):
        task_from_text(f"task: t\nsteps:\n{text}", "my.yaml")
    assert len(read) <= 2000


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            "move_linear: {xyz: [250, 0, 0.1]}",
            "xyz is 250 m, but nothing may be larger than 10 m; is `_mm` missing?",
        ),
        (
            "move_linear: {xyz_mm: [25000, 0, 0]}",
            "xyz is 25 m, but nothing may be larger than 10 m",
        ),
        (
            "retreat: {distance: 300}",
            "distance is 300 m, but nothing may be larger than 10 m; is `_mm` missing?",
        ),
        (
            "turn: {angle: 90}",
            "angle is 90 rad, but no angle may exceed 10 turns; is `_deg` missing?",
        ),
        ("turn: {angle_deg: 1e9}", "angle is 1.74533e+07 rad, but no angle may exceed 10 turns"),
        ("move_joints: {joints: {a: 1e300}}", "a is 1e+300 rad, but no angle may exceed 10 turns"),
        (
            "move_posture: {posture: a, speed: 1e-300}",
            "speed is 1e-300 but must be from 0.001",
        ),
        ("wait: 1e300", "seconds is 1e+300 but must be from 0 to 86400"),
        ("screw_on: {bolt: a, turns: 1e9}", "turns is 1e+09 but must be above 0 and at most 1000"),
    ],
)
def test_absurd_number_is_rejected_with_what_it_should_be(step, message):
    with pytest.raises(TaskFileError) as error:
        read_step(step)
    assert str(error.value).endswith(f": {message}") or message in str(error.value)


def test_axis_of_any_length_is_a_direction():
    long, short = (
        read_step(f"move_pose: {{axis: [{n}, {n}, 0]}}").target.pose for n in ("1e300", "1")
    )
    assert long == pytest.approx(short)


def read_step(step, variables="{}"):
    text = f"task: t\nvariables: {variables}\nsteps:\n  - {step}\n"
    return task_from_text(text, "my.yaml").steps[0]


@given(st.floats(-100, 100), st.floats(0.1, 100))
def test_expressions_are_evaluated(a, b):
    step = read_step("move_linear: {xyz_mm: [a + b, a*b, -a/b]}", f"{{a: {a!r}, b: {b!r}}}")
    assert step.target.pose[:3, 3] * 1e3 == pytest.approx([a + b, a * b, -a / b], abs=1e-9)


@pytest.mark.parametrize(
    ("angle", "rad"),
    [
        ("angle: pi/6", math.pi / 6),
        ("angle_deg: 60/2", math.pi / 6),
        ("angle_deg: asin(0.5)", math.pi / 6),
        ("angle: asin(0.5)", math.pi / 6),
        ("angle: deg(30)", math.pi / 6),
        ("angle_deg: rad(pi/6)", math.pi / 6),
    ],
)
def test_angles_in_an_expression_have_the_unit_of_the_key(angle, rad):
    assert read_step(f"turn: {{{angle}}}").angle == pytest.approx(rad)


CALL = "run_function: {function: f, arguments:"
UNTIL = "wait_until: {topic: a, field: b, timeout: 1,"


@pytest.mark.parametrize(
    ("step", "variables", "message"),
    [
        ("wait: a + c", "{a: 1, b: 2}", "'c' is not a variable of this file"),
        ("wait: a", "{a: b, b: a}", "variables are circular"),
        ("wait: 010", "{}", "'010' is not a decimal number; write 10"),
        ("wait: 1_0", "{}", "'1_0' is not a decimal number; write 10"),
        ("wait: 1:30", "{}", "'1:30' is a time of day, not a number"),
        ("turn: {angle_deg: -0x1F}", "{}", "is not a decimal number"),
        ("wait: a", "{a: 1/0}", "divides by zero"),
        ("wait: __import__(1)", "{}", "there is no function '__import__'"),
        ("wait: a.b", "{a: 1}", "is not allowed in an expression"),
        ("unscrew: $bolt", "{blot: upper_bolt}", "'bolt' is not a variable of this file; did you"),
        ("grip: cell_$row", "{row: 1}", "$row is only part of the text; write $(row)"),
        ("grip: $row_$column", "{row: 1, column: 2}", "$row is only part of the text"),
        ("grip: cell_$rows", "{row: 1}", "'rows' is not a variable of this file; did you mean"),
        ("grip: cell_$(rwo)", "{row: 1}", "'rwo' is not a variable of this file; did you mean"),
        ("grip: cell_$(1/row)", "{row: 0}", "divides by zero"),
        ("grip: cell_$(row", "{row: 0}", "$( has no matching )"),
        ("grip: cell_$(2*((row)))", "{row: 0}", "nest at most one pair of parentheses"),
        ("grip: $(a)", f"{{a: {'x' * 10_001}}}", "has 10001 characters; at most 10000"),
        (
            f"{CALL} {{row: row}}}}",
            "{row: 1}",
            "'row' is a text here, not the value of a variable",
        ),
        (f"{CALL} {{at: [10 * row]}}}}", "{row: 1}", "write $(10 * row) for its value"),
        (f"{CALL} {{part: part}}}}", "{part: cup}", "write $part for its value"),
        (f"{UNTIL} equals: part}}", "{part: cup}", "write $part for its value"),
        ("wait: 1", "{pi: 3}", "'pi' is reserved"),
        ("wait: 1", "{a-b: 3}", "is not a name"),
        ("wait: 1", "{a: [1]}", "must be a number, an expression or a text"),
        ("turn: {angle_deg: pi}", "{}", "pi is an angle in radians"),
    ],
)
def test_invalid_number_is_reported_with_its_line(step, variables, message):
    with pytest.raises(TaskFileError, match=r"my\.yaml:[24]: ") as error:
        read_step(step, variables)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cell_$(row)_$(row + 1)", "cell_1_2"),
        ("$(name)_$(half)", "cup_0.5"),
        ("$(min(row*2, row + 4))", "2"),
        ("costs 5 $", "costs 5 $"),
    ],
)
def test_texts_have_the_values_of_expressions(text, value):
    step = read_step(f"pause_for_person: '{text}'", "{row: 1, half: row/2, name: cup}")
    assert step.say == value


def test_text_that_only_contains_the_name_of_a_variable_is_kept():
    step = read_step(f"{CALL} {{say: take the cup, at: row 3, sum: 1 + 2}}}}", "{row: 1, cup: 2}")
    assert step.content == {"say": "take the cup", "at": "row 3", "sum": "1 + 2"}


@pytest.fixture
def files(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.yaml").write_text(f"task: {name}\n{text}")
        return tmp_path

    return write


def test_call_overrides_variables_and_keeps_the_others(files):
    inner = "variables: {s: 1, t: s*2, bolt: upper_bolt}\nsteps: [{wait: t}, {unscrew: $bolt}]\n"
    outer = (
        "variables: {x: 5}\nsteps:\n  - call: ./inner.yaml\n"
        "  - call: {task: inner.yaml, variables: {s: x + 1, bolt: lower_bolt}}\n"
    )
    folder = files(inner=inner, outer=outer)
    first, second = load_task(folder / "outer.yaml").steps
    assert (first.steps[0].seconds, first.steps[1].bolt) == (2, "upper_bolt")
    assert (second.steps[0].seconds, second.steps[1].bolt) == (12, "lower_bolt")
    assert all(call.steps[0].file.endswith("inner.yaml") for call in (first, second))


@pytest.mark.parametrize("deep", [20, 21, 200])
def test_long_chain_of_calls_is_refused(files, deep):
    chain = {f"t{i}": f"steps: [{{call: t{i + 1}.yaml}}]\n" for i in range(1, deep)}
    folder = files(**chain, **{f"t{deep}": "steps: [{wait: 1}]\n"})
    if deep == 20:
        assert load_task(folder / "t1.yaml").steps
        return
    with pytest.raises(TaskFileError, match=r"t20\.yaml:2: .*more than 20 deep"):
        load_task(folder / "t1.yaml")


def test_circular_calls_are_reported_with_the_chain(files):
    folder = files(
        a="steps: [{call: b.yaml}]\n",
        b="steps: [{wait: 1}, {repeat: {times: 2, steps: [{call: c.yaml}]}}]\n",
        c="steps: [{call: b.yaml}]\n",
        d="steps: [{call: d.yaml}]\n",
    )
    with pytest.raises(TaskFileError, match=r"c\.yaml:2: .*endlessly: b -> c -> b"):
        load_task(folder / "a.yaml")
    with pytest.raises(TaskFileError, match="d -> d"):
        load_task(folder / "d.yaml")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("call: {task: inner.yaml, variables: {z: 1}}", "the task has no variable 'z'"),
        ("call: none.yaml", "there is no such task file"),
        ("call: nut_trasnfer", "did you mean 'nut_transfer'"),
        ("call: {task: inner.yaml, variables: {s: up}}", "'up' is not a variable"),
    ],
)
def test_invalid_call_is_reported_at_the_call(files, call, message):
    folder = files(inner="variables: {s: 1}\nsteps: [{wait: s}]\n", outer=f"steps:\n  - {call}\n")
    with pytest.raises(TaskFileError, match=r"outer\.yaml:3: ") as error:
        load_task(folder / "outer.yaml")
    assert message in str(error.value)


def test_scene_path_is_relative_to_the_task_file(files):
    folder = files(t="scene: ./s.yaml\nsteps: [open]\n", u="scene: easel\nsteps: [open]\n")
    assert load_task(folder / "t.yaml").scene == str(folder / "s.yaml")
    assert load_task(folder / "u.yaml").scene == "easel"


def test_set_speed_applies_to_the_end_of_its_list():
    text = """
task: t
defaults: {speed: 0.4}
steps:
  - move_posture: rest
  - set_speed: 0.2
  - move_posture: rest
  - repeat: {times: 2, steps: [{set_speed: 0.9}, {move_posture: rest}]}
  - move_posture: {posture: rest, speed: 1}
  - move_posture: rest
"""
    steps = task_from_text(text).steps
    assert [s.speed for s in steps if s.kind == "move_posture"] == [0.4, 0.2, 1.0, 0.2]
    assert steps[3].steps[1].speed == 0.9


@pytest.mark.parametrize(("axes", "end"), [("target", [0, 0, 5]), ("tool", [0, -5, 0])])
def test_offset_is_along_the_axes_of_target_or_tool(axes, end):
    step = read_step(
        f"move_pose: {{rpy_deg: [90, 0, 0], offset_mm: [0, 0, 5], offset_in: {axes}}}"
    )
    assert step.target.pose[:3, 3] * 1e3 == pytest.approx(end, abs=1e-12)


def test_approach_and_retreat_move_straight_along_the_tool(plan_of, scene, chain):
    text = """
task: t
defaults: {tilt_deg: 20}
steps:
  - open: {width_mm: 20}
  - approach: {frame: upper_bolt, xyz_mm: [0, 0, -5], distance_mm: 30}
  - retreat: {distance_mm: 20}
"""
    plan = plan_of(task_from_text(text))
    _, front, on, back = plan.steps
    bolt = scene.frame("upper_bolt")
    reached = np.linalg.inv(bolt) @ chain.fk(on.end)
    assert reached[:3, 3] * 1e3 == pytest.approx([0, 0, -5], abs=0.02)
    for step, travel in ((on, -30e-3), (back, -20e-3)):
        start, end = (chain.fk(q) for q in (step.start, step.end))
        near, far = (end, start) if step is on else (start, end)
        assert (np.linalg.inv(near) @ far)[:3, 3] == pytest.approx([0, 0, travel], abs=2e-5)
        for q in step.trajectory.positions:
            off = np.cross(chain.fk(q)[:3, 3] - near[:3, 3], near[:3, 2])
            assert np.linalg.norm(off) < 5e-5
    assert front.name == "approach: in front"


def loop(each, steps="[{wait: row}]"):
    text = "task: t\nvariables: {n: 2, side: 30, on: upper_bolt}\nsteps:\n"
    text += f"  - for: {{each: {each}, steps: {steps}}}\n"
    return task_from_text(text, "t.yaml").steps[0]


@pytest.mark.parametrize(
    ("each", "waits", "names"),
    [
        ("{row: 3}", [0, 1, 2], ["row 0", "row 1", "row 2"]),
        ("{row: n}", [0, 1], ["row 0", "row 1"]),
        ("{row: [5, side/2]}", [5, 15], ["row 5", "row side/2"]),
        ("{row: 2, other: [a, b]}", [0, 0, 1, 1],
         ["row 0, other a", "row 0, other b", "row 1, other a", "row 1, other b"]),
    ],
)  # fmt: skip
def test_loop_has_a_round_for_each_combination_of_values(each, waits, names):
    made = loop(each)
    assert [steps[0].seconds for steps in made.rounds] == waits
    assert list(made.values) == names
    assert len(made.steps) == len(waits)


def test_values_of_loops_are_used_in_expressions_texts_and_nested_loops():
    inner = "[{for: {each: {column: row + 1}, steps: [{move_pose: {frame: $bolt, " + (
        "xyz_mm: [row*side, column, 0]}}]}}]"
    )
    made = loop("{row: 2, bolt: [$on, lower_bolt]}", inner)
    rounds = [step for steps in made.rounds for inner in steps for step in inner.steps]
    at = [(step.target.frame, *(1e3 * step.target.pose[:2, 3]).round(6)) for step in rounds]
    assert at == [
        ("upper_bolt", 0, 0),
        ("lower_bolt", 0, 0),
        *(("upper_bolt", 30, 0), ("upper_bolt", 30, 1)),
        *(("lower_bolt", 30, 0), ("lower_bolt", 30, 1)),
    ]


def test_texts_have_the_values_of_loops():
    made = loop("{row: 2, number: [3, row + n]}", "[{grip: cell_$(row)_$(number)}]")
    assert [steps[0].payload for steps in made.rounds] == [
        *("cell_0_3", "cell_0_2"),
        *("cell_1_3", "cell_1_3"),
    ]


def test_value_of_a_loop_does_not_leave_it():
    with pytest.raises(TaskFileError, match="row"):
        task_from_text(
            "task: t\nsteps:\n  - for: {each: {row: 2}, steps: [open]}\n  - wait: row\n"
        )


@pytest.mark.parametrize(
    ("each", "message"),
    [
        ("{}", "each gives 0 rounds; 1 to 1000 are possible"),
        ("{row: 0}", "row must be a list or a whole number from 1 to 1000, not 0"),
        ("{row: 1.5}", "not 1.5"),
        ("{row: []}", "each gives 0 rounds"),
        ("{row: 1000, column: 1000}", "each gives 1000000 rounds"),
        ("{side: 3}", "the variable side exists already; choose another name"),
        ("{pi: 3}", "'pi' is reserved"),
        ("{row: nowhere}", "nowhere"),
        ("{row: [[1]]}", "row"),
        ("3", "each must be a mapping of names"),
    ],
)
def test_impossible_loop_is_refused_with_its_line(each, message):
    with pytest.raises(TaskFileError, match=r"t\.yaml:4: ") as error:
        loop(each)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("{}", "expect is empty; give one of nut_on"),
        ("{line_within_mm: 1}", "line_within needs a move_linear step"),
    ],
)
def test_expectation_that_nothing_can_fail_is_refused(expect, message):
    text = f"task: t\nsteps: [{{move_posture: rest}}]\nexpect: {expect}\n"
    with pytest.raises(TaskFileError, match=message):
        task_from_text(text)


def test_value_is_shown_as_written():
    with pytest.raises(TaskFileError, match=r"not off\b"):
        task_from_text("task: t\nsteps: [{wait: off}]\n")
