# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The question bank beside the published format, https://docs.moodle.org/en/Moodle_XML_format."""

import base64
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from arm_studio.exercises.moodle import question_bank
from arm_studio.exercises.statements import Statements

# Elements that the format names, with those that may be inside; of the kinds written here.
INSIDE = {
    "quiz": {"question"},
    "category": {"text"},
    "name": {"text"},
    "questiontext": {"text", "file"},
    "generalfeedback": {"text"},
    "answer": {"text", "feedback", "tolerance"},
    "feedback": {"text"},
}
COMMON = {"name", "questiontext", "generalfeedback", "penalty", "hidden"}
OF_KIND = {
    "category": {"category"},
    "cloze": COMMON,
    "numerical": COMMON | {"defaultgrade", "answer"},
}
FORMATS = {"html", "moodle_auto_format", "plain_text", "markdown"}
ATTRIBUTES = {"question": {"type"}, "answer": {"fraction"}, "file": {"name", "path", "encoding"}}
ALTERNATIVE = r"=(-?[\d.]+):([\d.]+)"
FIELD = re.compile(rf"\{{1:NUMERICAL:{ALTERNATIVE}((?:~{ALTERNATIVE})*)\}}")


@pytest.fixture(scope="module", params=["planar2", "puma560", "scara"])
def bank(request, variants, questions):
    """The questions of a variant, and its bank twice, as of a class of two."""
    data = question_bank([Statements(variants[request.param])] * 2)
    return questions[request.param], data


def test_file_has_the_elements_of_the_format_and_no_others(bank):
    _, data = bank
    assert data.startswith(b"<?xml") and data.decode("utf-8")
    root = ET.fromstring(data)
    assert root.tag == "quiz"
    for element in root.iter():
        allowed = INSIDE.get(element.tag, set())
        if element.tag == "question":
            allowed = OF_KIND[element.attrib["type"]]
            required = allowed - {"file"}
            assert {child.tag for child in element} == required
        assert {child.tag for child in element} <= allowed, element.tag
        attributes = ATTRIBUTES.get(element.tag, {"format"})
        assert set(element.attrib) <= attributes
        assert element.attrib.get("format", "html") in FORMATS


def test_each_category_has_a_question_of_each_variant(bank):
    asked, data = bank
    categories, names = {}, []
    for question in ET.fromstring(data):
        if question.attrib["type"] == "category":
            current = question.findtext("category/text")
            assert current.startswith("$course$/")
            categories[current.rpartition("/")[2]] = 0
        else:
            categories[current.rpartition("/")[2]] += 1
            names.append(question.findtext("name/text"))
    counts = {q.title: 4 if q.key == "workspace" else 2 for q in asked.values()}
    assert categories == counts and len(set(names)) == len(names)


def test_fields_have_the_right_numbers_and_tolerances(bank):
    asked, data = bank
    root = ET.fromstring(data)
    for question in asked.values():
        found = [
            q for q in root if (q.findtext("name/text") or "").startswith(f"{question.title} 0001")
        ]
        texts = [q.findtext("questiontext/text") for q in found]
        numbers = [tuple(map(float, m[:2])) for text in texts for m in FIELD.findall(text)]
        numbers += [
            (float(q.findtext("answer/text")), float(q.findtext("answer/tolerance")))
            for q in found
            if q.attrib["type"] == "numerical"
        ]
        parts = question.parts.values()
        right = np.concatenate([part.right.ravel() for part in parts])
        tolerance = np.concatenate([part.tolerance.ravel() for part in parts])
        np.testing.assert_allclose([n for n, _ in numbers], right, atol=1e-7)
        np.testing.assert_allclose([t for _, t in numbers], tolerance, rtol=1e-5)
        rest = [FIELD.sub("", text) for text in texts]
        assert not any("{" in text or "}" in text for text in rest)  # else Moodle sees fields


def test_angles_may_be_off_by_a_whole_turn_and_other_numbers_not(bank):
    """On a sheet -170 deg counts for 190 deg, too."""
    asked, data = bank
    question, turns = asked["dh_table"], 0
    name = f"{question.title} 0001"
    (found,) = (q for q in ET.fromstring(data) if q.findtext("name/text") == name)
    fields = FIELD.findall(found.findtext("questiontext/text"))
    (part,) = question.parts.values()
    for field, angle in zip(fields, part.angles.ravel(), strict=True):
        others = [float(number) for number, _ in re.findall(ALTERNATIVE, field[2])]
        offsets = sorted(other - float(field[0]) for other in others)
        assert offsets == pytest.approx([-part.turn, part.turn] if angle else [], abs=1e-6)
        turns += bool(others)
    assert turns == part.angles.sum() > 0


def test_pictures_are_files_of_the_question(bank):
    for question in ET.fromstring(bank[1]):
        if question.attrib["type"] == "category":
            continue
        text = question.findtext("questiontext/text")
        file = question.find("questiontext/file")
        assert f'src="@@PLUGINFILE@@/{file.attrib["name"]}"' in text and "data:" not in text
        assert base64.b64decode(file.text).startswith(b"\x89PNG")


def test_rows_in_any_order_ascend(questions):
    for asked in questions.values():
        rows = [tuple(row) for row in np.round(asked["ik"].parts[""].right, 3)]
        assert rows == sorted(rows)
