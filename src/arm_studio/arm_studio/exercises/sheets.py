# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/exercises/test_commands.py
"""The files of a class: a sheet and a form of answers for each student, solutions, the list.

A sheet has the numbers of its student and no solution; the list has the arm and the names, from
which the secret makes the same variants again.
"""

from __future__ import annotations

import csv
import getpass
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arm_common.errors import CONTROL, one_line
from arm_common.files.access import read_text
from arm_common.yaml.document import read_yaml
from arm_description.library import load_robot

from arm_studio.derivation.document import DerivationPage
from arm_studio.exercises.answers import HandedInFiles, answer_form
from arm_studio.exercises.statements import Statements
from arm_studio.exercises.variants import ExerciseError, Variant, VariantMaker, digest

SECRET_VARIABLE = "ARM_EXERCISE_SECRET"
LIST = "_exercise.yaml"  # no student's file begins with _
MAX_STUDENTS = 1000
_MAX_NAME = 100  # characters
_SECRET_BYTES = (8, 4096)
_MAX_BYTES = 1_000_000
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_HEADS = ("name", "student", "names", "students")


@dataclass(frozen=True)
class ClassList:
    """A class and its arm.

    Attributes:
        robot: Name or path of the robot file.
        students: Names.
        digest: Of the arm of the sheets; "" before they are made.
        check: Of their secret and arm; "" before they are made.
    """

    robot: str
    students: tuple[str, ...]
    digest: str = ""
    check: str = ""

    def variants(self, secret: bytes) -> VariantMaker:
        """Return the variants of the class.

        Raises:
            ExerciseError: The arm has no exercise, or arm or secret are not those of the sheets.
        """
        made = VariantMaker(load_robot(self.robot), secret)
        if self.digest and digest(made.model) != self.digest:
            raise ExerciseError(
                f"the numbers of {self.robot} have changed since the sheets were made",
                remedy="grade with the robot file of that time",
            )
        if self.check and made.check != self.check:
            raise ExerciseError(
                "the secret is not that of the sheets",
                remedy="grade with the secret that they were made with",
            )
        return made

    def files(self) -> dict[str, str]:
        """Return the names of the students' files, without extension, by student."""
        stems, taken = dict[str, str](), set[str]()
        for student in self.students:
            plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode()
            base = _SEPARATORS.sub("-", plain.lower()).strip("-") or "student"
            stem, number = base, 2
            while stem in taken:
                stem, number = f"{base}-{number}", number + 1
            stems[student] = stem
            taken.add(stem)
        return stems


def read_names(path: Path) -> tuple[str, ...]:
    """Return the names of a CSV file: its first column, without a head such as ``name``.

    Raises:
        ExerciseError: It cannot be read, or a name is empty, twice or too long.
    """
    text = read_text(path, _MAX_BYTES, ExerciseError)
    delimiter = ";" if ";" in text and "," not in text else ","
    names: list[str] = []
    try:
        for row in csv.reader(text.splitlines(), delimiter=delimiter):
            cell = unicodedata.normalize("NFC", " ".join(row[0].split())) if row else ""
            if cell and not (not names and cell.lower() in _HEADS):
                names.append(cell)
    except csv.Error as error:
        raise ExerciseError(f"is no CSV file ({error})", file=str(path)) from None
    _check_names(names, str(path))
    return tuple(names)


def _check_names(names: Sequence[str], file: str) -> None:
    if not 1 <= len(names) <= MAX_STUDENTS:
        problem = f"has {len(names)} names; a class has 1 to {MAX_STUDENTS} students"
        raise ExerciseError(problem, file=file)
    for i, name in enumerate(names):
        if len(name) > _MAX_NAME or CONTROL.search(name):
            raise ExerciseError(f"{one_line(name, 60)!r} is no name of a student", file=file)
        if name in names[:i]:
            remedy = "tell the two apart, as by a number"
            raise ExerciseError(f"{name!r} is there twice", remedy=remedy, file=file)


def read_secret(file: str) -> bytes:
    """Read the teacher's secret from a file, the environment or the terminal.

    Raises:
        ExerciseError: There is none, or it is too short or too long.
    """
    if file:
        secret = read_text(Path(file), _MAX_BYTES, ExerciseError)
    elif SECRET_VARIABLE in os.environ:
        secret = os.environ[SECRET_VARIABLE]
    elif sys.stdin.isatty():
        try:
            secret = getpass.getpass("Secret of the exercise: ")
        except EOFError:  # Ctrl-D
            secret = ""
    else:
        remedy = f"give it by --secret FILE, or in the variable {SECRET_VARIABLE}"
        raise ExerciseError("the secret of the exercise is missing", remedy=remedy)
    shortest, longest = _SECRET_BYTES
    encoded = secret.strip().encode("utf-8", "surrogateescape")
    if not shortest <= len(encoded) <= longest:
        raise ExerciseError(f"the secret has {len(encoded)} bytes, not {shortest} to {longest}")
    return encoded


def list_text(listed: ClassList, variants: VariantMaker) -> str:
    """Return the file of a class."""
    path = Path(listed.robot)
    robot = str(path.resolve()) if path.is_file() else listed.robot
    lines = [
        "# The arm and the names of the sheets beside this file; they are graded by it.",
        f"robot: {json.dumps(robot)}",
        f"digest: {digest(variants.model)}",
        f"check: {variants.check}",
        "students:",
        *(f"  - {json.dumps(student)}" for student in listed.students),
    ]
    return "\n".join(lines) + "\n"


def read_list(folder: Path) -> ClassList:
    """Return the class of a folder of sheets.

    Raises:
        ExerciseError: It has no readable list.
    """
    root = read_yaml(folder / LIST, ExerciseError, _MAX_BYTES, HandedInFiles())
    keys = ("robot", "digest", "check", "students")
    fields = root.mapping(keys, required=keys)
    students = tuple(item.text() for item in fields["students"].items())
    _check_names(students, str(folder / LIST))
    codes = (fields[key].raw("a code") for key in ("digest", "check"))
    return ClassList(fields["robot"].text(), students, *codes)


def sheet_files(statements: Statements, path: Path, solved: bool = False) -> dict[Path, bytes]:
    """Return the sheet of a variant and the form of its answers, with them if ``solved``."""
    page = DerivationPage(path)
    statements.write(page, solved)
    form = answer_form(statements.variant, statements.questions, solved)
    return {**page.files(), path.with_suffix(".yaml"): form.encode()}


def class_variants(listed: ClassList, variants: VariantMaker) -> Iterator[tuple[str, Variant]]:
    """Yield the name of each student's file and the variant, in the order of the list."""
    stems: Mapping[str, str] = listed.files()
    for student in listed.students:
        yield stems[student], variants.of(student)
