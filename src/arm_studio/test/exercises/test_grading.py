# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Grades: full for the solutions, and the first error and its cause for everything else."""

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest
from arm_studio.exercises.answers import HandedIn
from arm_studio.exercises.grading import AnswerMark, Grade, as_csv, as_table, grade, mark_answer
from hypothesis import given
from hypothesis import strategies as st

ARMS = ("planar2", "scara", "puma560", "ur5", "five_axis", "modified")


def right(question):
    return {name: part.right.copy() for name, part in question.parts.items()}


def marked(variants, questions, arm, key, change=lambda answer: answer):
    question = questions[arm][key]
    answer = right(question)
    return mark_answer(question, variants[arm], change(answer) or answer)


@pytest.mark.parametrize("arm", ARMS)
def test_the_solution_has_full_marks(variants, questions, arm):
    answers = {key: right(question) for key, question in questions[arm].items()}
    result = grade(variants[arm], questions[arm], HandedIn("", answers))
    assert {key: mark.score for key, mark in result.marks.items()} == dict.fromkeys(answers, 1.0)
    assert result.total == 1.0 and not list(result.sentences())


@pytest.mark.parametrize("arm", ARMS)
@given(data=st.data())
def test_rounding_counts_nothing_and_a_real_error_always(variants, questions, arm, data):
    key = data.draw(st.sampled_from(sorted(questions[arm])))
    question = questions[arm][key]
    name = data.draw(st.sampled_from(sorted(question.parts)))
    part, answer = question.parts[name], right(question)
    row = data.draw(st.integers(0, len(part.right) - 1))
    column = data.draw(st.integers(0, part.right.shape[1] - 1))
    size = data.draw(st.floats(-0.9, 0.9))
    answer[name][row, column] += size * part.tolerance[row, column]
    assert mark_answer(question, variants[arm], answer).score == 1.0
    sign = data.draw(st.sampled_from([-1.0, 1.0]))
    answer = right(question)
    answer[name][row, column] += sign * 2.0 * part.tolerance[row, column]
    assert mark_answer(question, variants[arm], answer).score < 1.0


def scaled(part, kind, factor):
    return np.where(getattr(part, kind), part.right * factor, part.right)


@pytest.mark.parametrize("arm", ["planar2", "scara", "puma560", "ur5", "modified"])
@pytest.mark.parametrize("key", ["fk", "dh_table", "ik", "singular", "jacobian", "workspace"])
def test_other_units_are_named(variants, questions, arm, key):
    question = questions[arm][key]
    mm = variants[arm].model.units.length == "mm"
    for kind, factor, expected in (
        ("angles", math.radians(1.0), "radians for degrees"),
        ("lengths", 1e-3, "metres for millimetres"),
        ("lengths", 1e3, "millimetres for metres"),
    ):
        if kind == "lengths" and (factor < 1.0) != mm:
            continue
        answer = {name: scaled(part, kind, factor) for name, part in question.parts.items()}
        score = np.mean([p.score(answer[n], p.right) for n, p in question.parts.items()])
        if score == 1.0:
            continue  # no such number in it
        mark = mark_answer(question, variants[arm], answer)
        assert expected in mark.remark and mark.score < 1.0, mark


def test_degrees_for_radians_are_named(variants, questions):
    """Of a file in radians."""
    variant = variants["puma560"]
    units = replace(variant.model.units, angle="rad")
    variant = replace(variant, model=replace(variant.model, units=units))
    from arm_studio.exercises.questions import questions_of

    question = questions_of(variant)["dh_table"]
    answer = {"": scaled(question.parts[""], "angles", math.degrees(1.0))}
    mark = mark_answer(question, variant, answer)
    assert "degrees for radians" in mark.remark and "row 1, alpha" in mark.remark


ALPHA = 3


@pytest.mark.parametrize("arm", ["puma560", "ur5", "modified"])
def test_wrong_sign_of_alpha_is_named(variants, questions, arm):
    question, model = questions[arm]["dh_table"], variants[arm].model
    signs = [i for i, j in enumerate(model.rows) if abs(math.sin(j.row.alpha)) > 0.1]
    for rows, where in ((signs, ""), (signs[:1], f" in row {signs[0] + 1}")):
        answer = right(question)
        answer[""][rows, ALPHA] *= -1.0
        mark = mark_answer(question, variants[arm], answer)
        assert f"(wrong sign of alpha{where})" in mark.remark
        assert mark.remark.startswith(f"row {signs[0] + 1}, alpha: ")
        assert mark.score == pytest.approx(1.0 - len(rows) / model.n)
    joints = list(model.joints)
    row = joints[signs[0]].row
    joints[signs[0]] = replace(joints[signs[0]], row=replace(row, alpha=-row.alpha))
    T = replace(model, joints=tuple(joints)).fk(variants[arm].q)
    mark = mark_answer(questions[arm]["fk"], variants[arm], pose(questions[arm]["fk"], T, model))
    assert f"wrong sign of alpha in row {signs[0] + 1}" in mark.remark


def pose(question, T, model):
    """The answer of a pose [m]."""
    position = T[None, :3, 3] * model.units.written(1.0, "prismatic")
    return {"position": position, "rotation": T[:3, :3]}


@pytest.mark.parametrize("arm", ["puma560", "ur5", "five_axis", "modified"])
def test_the_other_convention_is_named(variants, questions, arm):
    question, model = questions[arm]["dh_table"], variants[arm].model
    standard = model.convention == "standard"
    expected = "modified for standard" if standard else "standard for modified"
    answer = right(question)
    answer[""][:, 2:] = np.roll(answer[""][:, 2:], 1 if standard else -1, axis=0)
    mark = mark_answer(question, variants[arm], answer)
    assert f"({expected} convention)" in mark.remark
    other = replace(model, convention="modified" if standard else "standard")
    answer = pose(questions[arm]["fk"], other.fk(variants[arm].q), model)
    assert expected in mark_answer(questions[arm]["fk"], variants[arm], answer).remark


def rolled(answer):
    return {"": np.roll(answer[""], 1, axis=0)}


def transposed(answer):
    return {**answer, "rotation": answer["rotation"].T}


def both(answer):
    radians = np.array([math.radians(1.0), 1.0, 1.0, math.radians(1.0)])
    return {"": np.roll(answer[""], 1, axis=0) * radians}


@pytest.mark.parametrize(
    ("key", "change", "expected"),
    [
        ("dh_table", rolled, "rows shifted"),
        ("dh_table", both, "rows shifted, radians for degrees"),
        ("dh_table", lambda a: {"": a[""][:, [0, 2, 1, 3]]}, "a and d exchanged"),
        ("fk", transposed, "rotation transposed"),
        ("jacobian", lambda a: {"": np.roll(a[""], 3, axis=0)}, "angular velocity above"),
        ("jacobian", lambda a: {"": np.roll(a[""], 1, axis=1)}, "columns shifted"),
        ("jacobian", lambda a: {"": a[""] * math.radians(1)}, "by degrees for radians"),
        (
            "workspace",
            lambda a: {"largest": a["smallest"], "smallest": a["largest"]},
            "largest and smallest exchanged",
        ),
    ],
)
def test_other_mistakes_are_named(variants, questions, key, change, expected):
    mark = marked(variants, questions, "puma560", key, change)
    assert expected in mark.remark and mark.score < 1.0


def test_mistakes_in_the_use_of_the_table_are_named(variants, questions):
    variant, question = variants["puma560"], questions["puma560"]["fk"]
    model, q = variant.model, variant.q
    taken = pose(question, model.fk(np.degrees(q)), model)
    assert "degrees taken for radians" in mark_answer(question, variant, taken).remark
    from arm_description.model.elements import NO_MOTION

    bare = pose(question, replace(model, base=NO_MOTION).fk(q), model)
    remark = mark_answer(question, variant, bare).remark
    assert "base left out" in remark and "position, z: " in remark


def test_solutions_in_any_order_by_whole_turns_twice_wrong_and_missing(variants, questions):
    question, variant = questions["puma560"]["ik"], variants["puma560"]
    rows = question.parts[""].right
    count = len(rows)
    assert count > 2

    def mark(answer):
        return mark_answer(question, variant, {"": np.array(answer)})

    turned = rows[::-1].copy()
    turned[:, 5] += 360.0
    assert mark(turned) == AnswerMark(1.0, "")
    assert mark(rows[1:]).score == pytest.approx(1.0 - 1.0 / count)
    assert mark(rows[1:]).remark == f"1 of {count} missing"
    twice = mark([*rows[:-1], rows[0]])
    assert twice.score == pytest.approx(1.0 - 2.0 / count)
    assert twice.remark == f"row {count} is there twice"
    wrong = mark([rows[0] + [0, 10, 0, 0, 0, 0], *rows[1:]])
    assert (
        wrong.score == pytest.approx(1.0 - 2.0 / count)
        and "row 1 misses the target by" in wrong.remark
    )
    assert mark([[math.nan] * 6]) == AnswerMark(0.0, "not answered")


def test_what_is_not_filled_in_is_said(variants, questions):
    def open_cell(answer):
        answer["position"][0, 1] = math.nan

    mark = marked(variants, questions, "puma560", "fk", open_cell)
    assert mark.score == 0.5 and mark.remark == "position, y: not answered"


def test_grades_as_table_and_as_csv_that_no_spreadsheet_computes():
    marks = {"fk": AnswerMark(0.5, "position, x: 1 where 2 is right"), "ik": AnswerMark(1.0, "")}
    grades = [Grade("=cmd()", marks), Grade("Ada", marks, ("-late; \x1b[31mred",))]
    table = as_table(grades)
    assert "75 %" in table and "fk: position, x: 1 where 2 is right" in table
    assert "\x1b" not in table
    rows = list(csv.reader(io.StringIO(as_csv(grades))))
    assert rows[0] == ["student", "fk", "ik", "total", "remarks"]
    assert rows[1][:4] == ["'=cmd()", "0.5", "1", "0.75"]
    assert rows[2][4].startswith("'-late")
