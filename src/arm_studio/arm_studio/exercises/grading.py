# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Marks of answers that were handed in: how much is right, and where the first error is."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arm_common.errors import aligned, number_text, one_line
from arm_common.transforms import Array

from arm_studio.exercises.answers import HandedIn, read_answers
from arm_studio.exercises.mistakes import mistakes
from arm_studio.exercises.questions import Part, Question, questions_of
from arm_studio.exercises.variants import ExerciseError, Variant

ENDINGS = (".yaml", ".yml")
_MEANT = re.compile(r"\.ya?ml(\.|$)")  # an answer, also if a browser has added .txt
_EXPLAINED = 0.75  # smallest fraction that a mistake must explain to be named
_MAX_FILES = 5000
_TOLD = 200  # characters of a remark about a file
_FORMULA_SIGNS = ("=", "+", "-", "@")  # that begin a formula in a spreadsheet


@dataclass(frozen=True)
class AnswerMark:
    """The mark of one answer.

    Attributes:
        score: The fraction of the answer that is right.
        remark: The first error and its cause, "" if all is right.
    """

    score: float
    remark: str


@dataclass(frozen=True)
class Grade:
    """The marks of one student.

    Attributes:
        student: Name.
        marks: By question.
        remarks: On the file as a whole.
    """

    student: str
    marks: Mapping[str, AnswerMark]
    remarks: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """The mean of all scores."""
        return sum(mark.score for mark in self.marks.values()) / max(len(self.marks), 1)

    def sentences(self) -> Iterator[str]:
        """Yield one sentence for each error."""
        yield from self.remarks
        for key, mark in self.marks.items():
            if mark.remark:
                yield f"{key}: {mark.remark}"


def mark_answer(question: Question, variant: Variant, answer: Mapping[str, Array]) -> AnswerMark:
    """Return the mark of an answer: arrays by part, NaN where nothing is filled in."""
    parts = question.parts
    if all(np.isnan(array).all() for array in answer.values()):
        return AnswerMark(0.0, "not answered")
    scores = [part.score(answer[name], part.right) for name, part in parts.items()]
    mean = sum(scores) / len(scores)
    if mean == 1.0:
        return AnswerMark(1.0, "")
    remark = next(_first_errors(question, variant, answer), "an answer is missing")
    best = max(
        ((one.score(parts, answer), one.name) for one in mistakes(question, variant)),
        key=lambda pair: pair[0],
        default=(0.0, ""),
    )
    if best[0] >= _EXPLAINED and best[0] > mean:
        remark = f"{remark} ({best[1]})"
    return AnswerMark(mean, remark)


def _first_errors(
    question: Question, variant: Variant, answers: Mapping[str, Array]
) -> Iterator[str]:
    """Yield sentences on the errors of an answer, the first one first."""
    for name, part in question.parts.items():
        answer = answers[name]
        if part.any_order:
            yield from _wrong_rows(question, variant, part, answer)
            continue
        wrong = np.argwhere(np.logical_not(part.fits(answer, part.right)))
        if part.group == "column":
            wrong = wrong[np.argsort(wrong[:, 1], kind="stable")]
        for row, column in wrong:
            yield f"{_place(name, part, int(row), int(column))}{_gap(part, answer, row, column)}"


def _place(name: str, part: Part, row: int, column: int) -> str:
    """Return the place of a number in an answer."""
    places = [name] if name else []
    if len(part.right) > 1:
        places.append(f"row {row + 1}")
    if part.names:
        places.append(part.names[column])
    return f"{', '.join(places)}: " if places else ""


def _gap(part: Part, answer: Array, row: int, column: int) -> str:
    value, right = answer[row, column], part.right[row, column]
    if math.isnan(value):
        return "not answered"
    return f"{number_text(value)} where {number_text(right)} is right"


def _wrong_rows(question: Question, variant: Variant, part: Part, answer: Array) -> Iterator[str]:
    """Yield sentences on the wrong, repeated and missing rows of an unordered answer."""
    pairs = part.pairs(answer, part.right)
    for i in range(len(answer)):
        if i in pairs:
            continue
        shown = ", ".join(map(number_text, answer[i]))
        if np.isnan(answer[i]).any():
            yield f"row {i + 1} is not filled in"
        elif part.pairs(answer[i : i + 1], part.right):
            yield f"row {i + 1} is there twice"
        elif question.key == "ik":
            yield f"row {i + 1} {_miss(variant, answer[i])}"
        else:
            yield f"{shown} is no such position"
    missing = len(part.right) - len(pairs)
    if missing:
        yield f"{missing} of {len(part.right)} missing"


def _miss(variant: Variant, row: Array) -> str:
    """Return the error of a posture, in the units of the file, as a sentence."""
    units = variant.model.units
    kinds = [joint.type for joint in variant.model.joints]
    q = np.array([units.si(float(x), kind) for x, kind in zip(row, kinds, strict=True)])
    T, target = variant.chain.fk(q), variant.target
    gap = float(np.linalg.norm(T[:3, 3] - target[:3, 3]))
    cosine = (float(np.trace(T[:3, :3].T @ target[:3, :3])) - 1.0) / 2.0
    turned = math.acos(min(max(cosine, -1.0), 1.0))
    text = f"misses the target by {units.text(gap, 'prismatic', 3)}"
    if variant.mode == "position":
        return text
    return f"{text} and {units.text(turned, 'revolute', 3)}"


def grade(variant: Variant, questions: Mapping[str, Question], handed_in: HandedIn) -> Grade:
    """Return the grade of what a student handed in."""
    marks = {}
    for key, question in questions.items():
        if key in handed_in.problems:
            marks[key] = AnswerMark(0.0, handed_in.problems[key])
        elif key not in handed_in.answers:
            marks[key] = AnswerMark(0.0, "not answered")
        else:
            marks[key] = mark_answer(question, variant, handed_in.answers[key])
    remarks = (text for key, text in handed_in.problems.items() if key not in questions)
    return Grade(variant.student, marks, tuple(remarks))


def grade_file(variant: Variant, path: Path | None) -> Grade:
    """Return the grade of a file, which may be hostile or missing."""
    questions = questions_of(variant)
    nothing = {key: AnswerMark(0.0, "") for key in questions}
    if path is None:
        return Grade(variant.student, nothing, ("nothing was handed in",))
    try:
        handed_in = read_answers(path, questions)
    except ExerciseError as error:
        return Grade(variant.student, nothing, (str(error),))
    result = grade(variant, questions, handed_in)
    if handed_in.student and handed_in.student != variant.student:
        remark = f"{path}: the name in it is {one_line(handed_in.student, _TOLD)!r}"
        return Grade(variant.student, result.marks, (remark, *result.remarks))
    return result


def files_of_students(
    folder: Path, stems: Mapping[str, str]
) -> tuple[dict[str, Path], dict[Path, str]]:
    """Return the file of each student who handed one in, and why the others are not graded.

    A file has the name of the student's form; one with another name, as systems that collect
    files give, is that of the student who is named in it, if there is none by that name.

    Args:
        folder: Of the answers.
        stems: The names of the forms, without extension, by student.

    Raises:
        ExerciseError: The folder cannot be read, or has too many files.
    """
    try:
        entries = sorted(p for p in folder.iterdir() if p.is_dir() or _MEANT.search(p.name))
    except OSError as error:
        raise ExerciseError(
            f"cannot be read ({error.strerror})", remedy="check the path", file=str(folder)
        ) from None
    files = [path for path in entries if path.suffix in ENDINGS]
    if len(files) > _MAX_FILES:
        raise ExerciseError(f"has more than {_MAX_FILES} files", file=str(folder))
    by_stem = {path.stem: path for path in files}
    matched = {student: by_stem[stem] for student, stem in stems.items() if stem in by_stem}
    taken, unmatched = set(matched.values()), {}
    for path in entries:
        if path in taken:
            continue
        student, problem = _named_in(path)
        if problem:
            unmatched[path] = problem
        elif student not in stems:
            unmatched[path] = f"{path} is the file of no student of this class"
        elif student in matched:
            unmatched[path] = f"{path} is a second file of {student}; {matched[student]} is graded"
        else:
            matched[student] = path
    return matched, unmatched


def _named_in(path: Path) -> tuple[str, str]:
    """Return the student who is named in a file, or why it cannot be read."""
    if path.suffix not in ENDINGS:
        return "", f"{path} is not read: put the students' .yaml files themselves into this folder"
    try:
        return read_answers(path, {}).student, ""
    except ExerciseError as error:
        return "", str(error)


def as_table(grades: Sequence[Grade]) -> str:
    """Return the grades as a table, followed by the errors."""
    keys = list(grades[0].marks) if grades else []
    rows = [["student", *keys, "total"]]
    rows += [[one_line(each.student), *_scores(each)] for each in grades]
    lines = aligned(rows, left=(0,))
    for each in grades:
        sentences = list(each.sentences())
        if sentences:
            lines += ["", f"{one_line(each.student)}:"]
            lines += [f"  {one_line(sentence)}" for sentence in sentences]
    return "\n".join(lines) + "\n"


def _scores(each: Grade) -> list[str]:
    scores = (f"{mark.score:.2f}" for mark in each.marks.values())
    return [*scores, f"{100.0 * each.total:.0f} %"]


def as_csv(grades: Sequence[Grade]) -> str:
    """Return the grades as CSV; no cell begins a formula of a spreadsheet."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    keys = list(grades[0].marks) if grades else []
    writer.writerow(["student", *keys, "total", "remarks"])
    for each in grades:
        remarks = "; ".join(one_line(sentence) for sentence in each.sentences())
        cells = [each.student, *(f"{mark.score:.4g}" for mark in each.marks.values())]
        cells += [f"{each.total:.4g}", remarks]
        writer.writerow([f"'{c}" if c.startswith(_FORMULA_SIGNS) else c for c in cells])
    return file.getvalue()
