# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Files of answers: the form to fill in, and reading what was handed in as a hostile file.

A file is read once, never through a symbolic link, bounded in size, nesting and aliases by the
reader of YAML; a mistake in one answer leaves the others to be read.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from arm_common.errors import InputError, number_text
from arm_common.files.access import FileAccess
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array
from arm_common.yaml.document import Field, read_yaml
from arm_common.yaml.expressions import Expressions

from arm_studio.exercises.questions import Part, Question
from arm_studio.exercises.variants import ExerciseError, Variant

MAX_BYTES = 100_000
LARGEST = 1e9  # of a number
MAX_ROWS = 64  # of an answer with any number of rows
OPEN = "_"  # stands where nothing is filled in
_DIGITS = 8


class HandedInFiles(FileAccess):
    """Files of an untrusted folder; links and devices are refused."""

    def read(self, path: Path, max_bytes: int) -> bytes:
        """Return the content of a regular file; longer than `max_bytes` if there is more.

        Raises:
            OSError: It is not a regular file, or cannot be read.
        """
        if path.is_symlink():
            raise OSError(errno.ELOOP, "it is a symbolic link")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            return file.read(max_bytes + 1)


@dataclass
class HandedIn:
    """What a student handed in.

    Attributes:
        student: Name in the file.
        answers: Numbers by question and part; NaN where nothing is filled in.
        problems: Why an answer cannot be read, by question; other keys for those not asked.
    """

    student: str
    answers: dict[str, dict[str, Array]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def read_answers(path: Path, questions: Mapping[str, Question]) -> HandedIn:
    """Read a file of answers.

    Raises:
        ExerciseError: The file as a whole cannot be read.
    """
    fields = read_yaml(path, ExerciseError, MAX_BYTES, HandedInFiles()).mapping()
    name = fields.pop("student", None)
    handed_in = HandedIn(name.text() if name is not None and name.value is not None else "")
    for key, item in fields.items():
        if key not in questions:
            error = item.error("is not asked", did_you_mean(key, questions))
            handed_in.problems[key] = str(error)
            continue
        try:
            handed_in.answers[key] = _answer(item, questions[key])
        except InputError as error:
            handed_in.problems[key] = str(error)
    return handed_in


def _answer(item: Field, question: Question) -> dict[str, Array]:
    if "" in question.parts:
        return {"": _part(item, question.parts[""])}
    fields = item.mapping(question.parts) if item.value is not None else {}
    empty = {name: np.full(part.right.shape, math.nan) for name, part in question.parts.items()}
    return empty | {name: _part(fields[name], question.parts[name]) for name in fields}


def _part(item: Field, part: Part) -> Array:
    """Return the numbers of a part (r, c)."""
    rows, columns = part.right.shape
    if item.value is None:
        return np.full((0 if part.any_order else rows, columns), math.nan)
    if (rows, columns) == (1, 1) and not part.any_order:
        return np.array([[_number(item)]])
    if rows == 1 and not part.any_order:
        return np.array([_row(item, columns)])
    items = item.items()
    if part.any_order and len(items) > MAX_ROWS:
        raise item.error(f"has {len(items)} rows", f"at most {MAX_ROWS} are read")
    if not part.any_order and len(items) != rows:
        raise item.error(f"has {len(items)} rows, not {rows}")
    if part.any_order and columns == 1:
        read = np.array([_number(one) for one in items]).reshape(-1, 1)
        return np.asarray(read[~np.isnan(read[:, 0])])
    read = np.array([_row(one, columns) for one in items]).reshape(-1, columns)
    return np.asarray(read[~np.isnan(read).all(axis=1)] if part.any_order else read)


def _row(item: Field, columns: int) -> list[float]:
    items = item.items()
    if len(items) != columns:
        raise item.error(f"has {len(items)} numbers, not {columns}")
    return [_number(one) for one in items]


def _number(item: Field) -> float:
    value = item.value
    if value is None or value == OPEN:
        return math.nan
    try:
        number = Expressions().evaluate(value) if isinstance(value, str) else item.number()
    except InputError as error:
        raise item.error(error.problem, error.remedy) from None
    if abs(number) > LARGEST:
        raise item.error(f"is larger than {LARGEST:g}")
    return number


def answer_form(variant: Variant, questions: Mapping[str, Question], solved: bool = False) -> str:
    """Return the file of answers of a variant, to be filled in, or with the right numbers."""
    units = variant.model.units
    lines = [
        f"# Lengths in {units.length}, angles in {units.angle}. Fill in numbers for {OPEN}, or"
        " expressions such as sqrt(2)/2.",
        f"student: {json.dumps(variant.student)}",
    ]
    for key, question in questions.items():
        lines.append("")
        for name, part in question.parts.items():
            label = f"  {name}" if name else key
            if name and name == next(iter(question.parts)):
                lines.append(f"{key}:")
            lines += _form_lines(label, part, "    " if name else "  ", solved)
    return "\n".join(lines) + "\n"


def _form_lines(label: str, part: Part, indent: str, solved: bool) -> list[str]:
    cells = [[number_text(x, _DIGITS, _DIGITS) for x in row] for row in part.right]
    if not solved:
        cells = [[OPEN] * len(row) for row in cells[: 1 if part.any_order else None]]
    rows = [", ".join(row) for row in cells]
    comment = f"  # {', '.join(part.names)}" if part.names else ""
    if part.any_order:
        comment += "; add a row for each" if part.right.shape[1] > 1 else "; one or more numbers"
        if part.right.shape[1] == 1:
            return [f"{label}: [{', '.join(rows)}]{comment}"]
    if len(rows) == 1 and not part.any_order:
        text = rows[0] if part.right.shape == (1, 1) else f"[{rows[0]}]"
        return [f"{label}: {text}{comment}"]
    return [f"{label}:{comment}", *(f"{indent}- [{row}]" for row in rows)]
