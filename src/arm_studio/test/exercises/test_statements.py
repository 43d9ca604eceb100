# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a sheet says determines the answers, and says none of them."""

import re
from pathlib import Path

import numpy as np
import pytest
from arm_description.model.elements import dh_matrix
from arm_studio.derivation.document import DerivationPage
from arm_studio.exercises.statements import Statements

ARMS = ("planar2", "scara", "puma560", "ur5", "five_axis", "modified")
_TRIPLE = re.compile(r"\$\(([^)]*)\)\$")


def sheet(variant, solved=False) -> str:
    page = DerivationPage(Path("sheet.md"))
    Statements(variant).write(page, solved)
    return page.body


def frames(text: str) -> list[np.ndarray]:
    """The frames of the table of a sheet, the last one that of the tool."""
    found = []
    for line in text.splitlines():
        triples = [[float(x) for x in m.split(",")] for m in _TRIPLE.findall(line)]
        if line.startswith("| ") and len(triples) == 3:
            p, x, z = map(np.array, triples)
            T = np.eye(4)
            T[:3] = np.column_stack([x, np.cross(z, x), z, p])
            found.append(T)
    return found


@pytest.mark.parametrize("arm", ARMS)
def test_the_frames_of_a_sheet_have_its_table(arm, variants):
    model = variants[arm].model
    found = frames(sheet(variants[arm]))
    assert len(found) == model.n + 2
    size = model.units.written(1.0, "prismatic")
    for i, joint in enumerate(model.rows):
        step = np.linalg.inv(found[i]) @ found[i + 1]
        step[:3, 3] /= size
        np.testing.assert_allclose(step, dh_matrix(joint.row, model.convention), atol=2e-5)
    tool = np.linalg.inv(found[-2]) @ found[-1]
    tool[:3, 3] /= size
    np.testing.assert_allclose(tool, model.tool.matrix, atol=2e-5)


@pytest.mark.parametrize("arm", ARMS)
def test_a_sheet_asks_all_and_solves_nothing(arm, variants, questions):
    text = sheet(variants[arm])
    assert all(question.title in text for question in questions[arm].values())
    assert "Solution" not in text and variants[arm].student in text
    solved = sheet(variants[arm], solved=True)
    assert solved.count("Solution") == sum(len(q.parts) for q in questions[arm].values())


def test_a_name_with_signs_of_formulas_is_a_name(variants):
    from dataclasses import replace

    variant = replace(variants["planar2"], student=r"A$\frac$B <b>")
    page = DerivationPage(Path("sheet.html"))
    Statements(variant).write(page)
    assert r"A$\frac$B &lt;b&gt;" in page.body
