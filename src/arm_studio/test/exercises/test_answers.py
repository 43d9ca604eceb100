# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Files of answers: the form is readable, and a hostile file costs one sentence."""

import os

import numpy as np
import pytest
from arm_studio.exercises.answers import MAX_BYTES, answer_form, read_answers
from arm_studio.exercises.grading import grade_file
from arm_studio.exercises.variants import ExerciseError
from hypothesis import given
from hypothesis import strategies as st

ARMS = ("planar2", "scara", "puma560", "modified")
BOMB = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)


@pytest.mark.parametrize("arm", ARMS)
def test_filled_form_reads_back_and_an_empty_one_is_no_answer(arm, variants, questions, tmp_path):
    variant, asked = variants[arm], questions[arm]
    file = tmp_path / "a.yaml"
    file.write_text(answer_form(variant, asked, solved=True))
    found = read_answers(file, asked)
    assert found.student == variant.student and not found.problems
    for key, question in asked.items():
        for name, part in question.parts.items():
            np.testing.assert_allclose(found.answers[key][name], part.right, atol=1e-7)
    assert grade_file(variant, file).total == 1.0
    file.write_text(answer_form(variant, asked))
    result = grade_file(variant, file)
    assert {mark.remark for mark in result.marks.values()} == {"not answered"}


def test_numbers_may_be_expressions(variants, questions, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("dh_table:\n  - [0, 1/2, sqrt(2)/2, -90]\n  - [_, 1e-3, ~, +4]\n")
    found = read_answers(file, questions["planar2"]).answers["dh_table"][""]
    np.testing.assert_allclose(found[0], [0.0, 0.5, 0.5**0.5, -90.0])
    assert np.isnan(found[1, [0, 2]]).all() and found[1, 3] == 4.0


HOSTILE_FILES = {
    "no yaml": (b"fk: [1, 2", "is not valid YAML"),
    "no text": (b"\xff\xfe\x00\x80", "UTF-8"),
    "empty": (b"", "empty"),
    "list": (b"- 1\n", "must be a mapping"),
    "bomb": (BOMB.encode(), "aliases stand for more than"),
    "loop": (b"fk: &a [*a]\n", "alias must not contain itself"),
    "deep": (b"fk: " + b"[" * 500, "nested too deeply"),
    "large": (b"#" * (MAX_BYTES + 1), "is larger than"),
    "twice": (b"fk: 1\nfk: 2\n", "is given twice"),
    "name": (b"student: {a: 1}\n", "must be text"),
}
HOSTILE_ANSWERS = {
    "infinite": ("workspace: {largest: .inf}", "must be a finite number"),
    "nan": ("workspace: {largest: .nan}", "must be a finite number"),
    "huge": ("workspace: {largest: 1e300}", "is larger than"),
    "digits": (f"workspace: {{largest: {'9' * 5000}}}", "cannot be read"),
    "power": ("workspace: {largest: '9**9**9**9'}", "largest"),
    "time": ("workspace: {largest: 1:30}", "is not a decimal number"),
    "text": ("workspace: {largest: about one}", "largest"),
    "code": ("workspace: {largest: '__import__(\"os\")'}", "largest"),
    "truth": ("workspace: {largest: yes}", "must be a finite number"),
    "list": ("workspace: {largest: [1]}", "must be a finite number"),
    "tag": ("workspace: {largest: !!python/object:os.system x}", "cannot be read"),
    "date": ("workspace: {largest: 2020-01-01}", "largest"),
    "number": ("workspace: 3", "must be a mapping"),
    "unknown": ("workspace: {longest: 3}", "is not a known key"),
    "rows": ("dh_table: [[1, 2, 3, 4]]", "has 1 rows, not 2"),
    "columns": ("dh_table: [[1, 2], [1, 2]]", "has 2 numbers, not 4"),
    "scalar": ("dh_table: 5", "must be a list"),
    "many": ("ik: [" + "[1, 2], " * 100 + "]", "at most 64 are read"),
}


@pytest.mark.parametrize("case", HOSTILE_FILES)
def test_a_file_that_cannot_be_read_is_one_sentence(case, variants, tmp_path):
    content, expected = HOSTILE_FILES[case]
    file = tmp_path / "a.yaml"
    file.write_bytes(content)
    result = grade_file(variants["planar2"], file)
    (sentence,) = result.sentences()
    assert expected in sentence and "\n" not in sentence and result.total == 0.0


@pytest.mark.parametrize("case", HOSTILE_ANSWERS)
def test_one_bad_answer_leaves_the_others(case, variants, questions, tmp_path):
    text, expected = HOSTILE_ANSWERS[case]
    file, asked = tmp_path / "a.yaml", questions["planar2"]
    bad = text.partition(":")[0]
    form = answer_form(variants["planar2"], asked, solved=True).split("\n\n")
    kept = "\n".join(part for part in form if not part.startswith(bad))
    file.write_text(f"{kept}\n{text}\n")
    result = grade_file(variants["planar2"], file)
    assert {key for key, mark in result.marks.items() if mark.score < 1.0} == {bad}
    (sentence,) = result.sentences()
    assert expected in sentence and "\n" not in sentence and len(sentence) < 2500


def test_links_devices_and_folders_are_not_read(variants, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("fk: 1")
    (tmp_path / "link.yaml").symlink_to(secret)
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    cases = {"link": "symbolic link", "pipe": "not a regular file", "folder": "directory"}
    for name, expected in cases.items():
        (sentence,) = grade_file(variants["planar2"], tmp_path / f"{name}.yaml").sentences()
        assert "cannot be read" in sentence and expected in sentence


def test_what_is_not_asked_is_said_and_the_rest_is_graded(variants, questions, tmp_path):
    file = tmp_path / "a.yaml"
    solved = answer_form(variants["planar2"], questions["planar2"], solved=True)
    file.write_text(solved.replace("dh_table:", "dh_tabel:"))
    result = grade_file(variants["planar2"], file)
    assert "did you mean" in result.remarks[0] and result.marks["dh_table"].score == 0.0
    assert result.total == pytest.approx(5 / 6)


def test_the_name_of_another_student_is_said(variants, questions, tmp_path):
    file = tmp_path / "a.yaml"
    solved = answer_form(variants["planar2"], questions["planar2"], solved=True)
    file.write_text(solved.replace("Ada Lovelace", "Bob"))
    result = grade_file(variants["planar2"], file)
    assert result.total == 1.0 and "the name in it is 'Bob'" in result.remarks[0]


@given(content=st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
def test_any_content_is_graded_or_refused(content, variants, questions, tmp_path_factory):
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_bytes(content)
    assert grade_file(variants["planar2"], file).total == 0.0
    try:
        read_answers(file, questions["planar2"])
    except ExerciseError as error:
        assert "\n" not in str(error)
