# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/exercises/test_commands.py
"""Commands that make the exercise sheets of a class, and grade what is handed in.

exercise puma560 --students names.csv -o sheets/ --solutions solutions/ --secret my_secret.txt
grade sheets/ answers/ --secret my_secret.txt -o grades.csv
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from arm_common.errors import InputError
from arm_common.files.saving import check_writable, write_bytes
from arm_description.library import shipped_robots

from arm_common import cli

FORMATS = ("html", "pdf", "md", "tex")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command ``exercise`` and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="exercise",
        description="Make exercise sheets on an arm, with individual numbers for each student.",
    )
    cli.add_robot(parser, shipped_robots())
    add = parser.add_argument
    names = "CSV file whose first column has the names"
    add("--students", required=True, metavar="FILE", help=names)
    add("-o", "--output", required=True, metavar="FOLDER", help="folder of sheets and forms")
    add("--solutions", default="", metavar="FOLDER", help="folder of the teacher's solutions")
    add("--moodle", default="", metavar="FILE", help="also write a question bank of Moodle (XML)")
    add("--format", choices=FORMATS, default=FORMATS[0], help="of the sheets (default: html)")
    _add_secret(parser)
    add("--force", action="store_true", help="overwrite the sheets of a folder")
    return cli.run(parser, _exercise, argv)


def grade(argv: Sequence[str] | None = None) -> int:
    """Run the command ``grade`` and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="grade",
        description="Grade the answers to exercise sheets, and say where the first error is.",
    )
    add = parser.add_argument
    add("sheets", help="folder of the sheets, as exercise wrote it")
    add("answers", help="folder of the files of answers that were handed in (.yaml)")
    add("-o", "--output", default="", metavar="FILE", help="also write the grades as CSV")
    _add_secret(parser)
    return cli.run(parser, _grade, argv)


def _add_secret(parser: argparse.ArgumentParser) -> None:
    secret = "file of the secret (default: ARM_EXERCISE_SECRET, or asked for)"
    parser.add_argument("--secret", default="", metavar="FILE", help=secret)


def _exercise(arguments: argparse.Namespace) -> None:
    from arm_studio.exercises import sheets
    from arm_studio.exercises.moodle import question_bank
    from arm_studio.exercises.statements import Statements

    listed = sheets.ClassList(arguments.robot, sheets.read_names(Path(arguments.students)))
    maker = listed.variants(sheets.read_secret(arguments.secret))
    folder, solutions = Path(arguments.output), Path(arguments.solutions)
    if arguments.solutions and solutions.resolve() == folder.resolve():
        raise InputError("--solutions is the folder of the sheets", remedy="choose another one")
    _make(folder)
    cli.refuse_overwriting(str(folder / sheets.LIST), arguments.force)
    if arguments.moodle:
        check_writable(arguments.moodle)
    if arguments.solutions:
        _make(solutions)
    variants = {
        stem: Statements(variant) for stem, variant in sheets.class_variants(listed, maker)
    }
    for stem, statements in variants.items():
        cli.print_status(f"Writing: {stem} ...")
        file = f"{stem}.{arguments.format}"
        _write(sheets.sheet_files(statements, folder / file))
        if arguments.solutions:
            _write(sheets.sheet_files(statements, solutions / file, solved=True))
    if arguments.moodle:
        write_bytes(question_bank(variants.values()), arguments.moodle)
    write_bytes(sheets.list_text(listed, maker).encode(), folder / sheets.LIST)
    cli.print_status(f"Wrote {len(variants)} sheets to {folder}")


def _write(files: Mapping[Path, bytes]) -> None:
    for file, content in files.items():
        write_bytes(content, file)


def _make(folder: Path) -> None:
    """Make a folder if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", file=str(folder)) from None


def _grade(arguments: argparse.Namespace) -> None:
    from arm_studio.exercises.grading import as_csv, as_table, files_of_students, grade_file
    from arm_studio.exercises.sheets import class_variants, read_list, read_secret

    listed = read_list(Path(arguments.sheets))
    files, unmatched = files_of_students(Path(arguments.answers), listed.files())
    if arguments.output:
        check_writable(arguments.output)
    variants = listed.variants(read_secret(arguments.secret))
    grades = [
        grade_file(variant, files.get(variant.student))
        for _, variant in class_variants(listed, variants)
    ]
    sys.stdout.write(as_table(grades))
    for problem in unmatched.values():
        cli.print_status(problem)
    if arguments.output:
        cli.write_text(as_csv(grades), arguments.output)


if __name__ == "__main__":
    sys.exit(main())
