# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A class as a question bank of Moodle: one variant a question, numbers with tolerance.

The format is "Moodle XML" (https://docs.moodle.org/en/Moodle_XML_format): numerical questions for
a single number, otherwise embedded answers
(https://docs.moodle.org/en/Embedded_Answers_(Cloze)_question_type), a field for each number such
as {1:NUMERICAL:=23.8:0.1}. A quiz that takes a random question of a category gives each student a
variant. Rows that are in any order on a sheet are in ascending order here.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as ET

from arm_common.errors import number_text

from arm_studio.derivation.document import DerivationPage
from arm_studio.exercises.questions import Part, Question
from arm_studio.exercises.statements import Statements

_PENALTY = "0.3333333"  # as Moodle's own
_PICTURE = re.compile(r'src="data:image/svg\+xml;base64,[^"]*"')
_FILE = "arm.png"  # a tenth of the vector picture of a sheet; each question has its own
_DIGITS = 8


def question_bank(variants: Iterable[Statements]) -> bytes:
    """Return the questions of variants as an XML file, by category of question."""
    categories: dict[str, list[ET.Element]] = {}
    robot = ""
    for number, statements in enumerate(variants, start=1):
        robot = statements.variant.model.name
        for question in statements.questions.values():
            made = categories.setdefault(question.title, [])
            made += _elements(statements, question, f"{question.title} {number:04d}")
    quiz = ET.Element("quiz")
    for title, elements in categories.items():
        category = ET.SubElement(quiz, "question", type="category")
        _text(category, "category", f"$course$/{robot}/{title}")
        quiz.extend(elements)
    ET.indent(quiz, space=" ")
    return bytes(ET.tostring(quiz, encoding="utf-8", xml_declaration=True))


def _elements(statements: Statements, question: Question, name: str) -> list[ET.Element]:
    page = DerivationPage(Path("question.html"))
    statements.arm(page)
    statements.question(page, question.key)
    png = base64.b64encode(statements.drawing("png")).decode()
    if all(part.right.shape == (1, 1) and not part.any_order for part in question.parts.values()):
        return [
            _numerical(f"{name}, {label}", f"{page.body}<p>Write the {label} one.</p>", part, png)
            for label, part in question.parts.items()
        ]
    fields = "".join(_table(label, part) for label, part in question.parts.items())
    return [_question("cloze", name, page.body + fields, png)]


def _question(kind: str, name: str, body: str, png: str) -> ET.Element:
    """Return a question with the elements that all kinds have."""
    element = ET.Element("question", type=kind)
    _text(element, "name", name)
    body, count = _PICTURE.subn(f'src="@@PLUGINFILE@@/{_FILE}"', body)
    shown = _text(element, "questiontext", body, "html")
    if count:
        file = ET.SubElement(shown, "file", name=_FILE, path="/", encoding="base64")
        file.text = png
    _text(element, "generalfeedback", "", "html")
    ET.SubElement(element, "penalty").text = _PENALTY
    ET.SubElement(element, "hidden").text = "0"
    return element


def _numerical(name: str, body: str, part: Part, png: str) -> ET.Element:
    element = _question("numerical", name, body, png)
    ET.SubElement(element, "defaultgrade").text = "1"
    answer = ET.SubElement(element, "answer", fraction="100")
    ET.SubElement(answer, "text").text = _number(part.right[0, 0])
    _text(answer, "feedback", "", "html")
    ET.SubElement(answer, "tolerance").text = _number(part.tolerance[0, 0])
    return element


def _table(label: str, part: Part) -> str:
    """Return a part as a table of fields in HTML."""
    rows, columns = part.right.shape
    head = "".join(f"<th>{name}</th>" for name in part.names)
    lines = [f"<tr>{head}</tr>"] if head else []
    for i in range(rows):
        cells = (_field(part, i, k) for k in range(columns))
        lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    order = "<p>The rows in ascending order of their numbers:</p>" if part.any_order else ""
    return f"<p>{label}</p>{order}<table>{''.join(lines)}</table>"


def _field(part: Part, row: int, column: int) -> str:
    """Return the field of a number; an angle may be off by a whole turn."""
    turns = (0.0, part.turn, -part.turn) if part.angles[row, column] else (0.0,)
    right, tolerance = part.right[row, column], _number(part.tolerance[row, column])
    return f"{{1:NUMERICAL:{'~'.join(f'={_number(right + turn)}:{tolerance}' for turn in turns)}}}"


def _number(value: float) -> str:
    return number_text(float(value), _DIGITS, _DIGITS)


def _text(parent: ET.Element, tag: str, text: str, form: str = "") -> ET.Element:
    element = ET.SubElement(parent, tag, {"format": form} if form else {})
    ET.SubElement(element, "text").text = text
    return element
