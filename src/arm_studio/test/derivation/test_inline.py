# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Sentences with formulas: the same in all languages, and texts of others as they are."""

from pathlib import Path
from xml.dom import minidom

import pytest
import sympy as sp
from arm_studio.derivation.document import DerivationPage
from arm_studio.derivation.inline import literal, mathml_of, spans, with_symbols
from arm_studio.derivation.notation import latex
from hypothesis import given
from hypothesis import strategies as st


def test_a_sentence_is_split_at_its_formulas():
    parts = list(spans(r"joint $i$ costs \$5, $\theta_i$"))
    assert parts == [(False, "joint "), (True, "i"), (False, " costs $5, "), (True, r"\theta_i")]


@given(st.text(max_size=60))
def test_what_others_wrote_is_never_a_formula(text):
    found = list(spans(literal(text)))
    assert not any(is_formula for is_formula, _ in found)
    assert "".join(part for _, part in found) == text


@pytest.mark.parametrize(
    ("tex", "parts"),
    [
        (r"\theta_{i-1}", ["<msub><mi>\u03b8</mi><mrow><mi>i</mi><mo>\u2212</mo>"]),
        (r"q_{12}^2", ["<msubsup><mi>q</mi><mrow><mn>12</mn></mrow><mn>2</mn>"]),
        (r"\mathrm{Rot}(z, \alpha)", ["<mi>Rot</mi>", "<mo>,</mo>", "<mi>\u03b1</mi>"]),
        (r"\frac{1}{\sqrt{x}}", ["<mfrac><mrow><mn>1</mn></mrow><mrow><msqrt>"]),
        (r"a < b \times c", ["<mo>&lt;</mo>", "<mo>\u00d7</mo>"]),
        (r"\cos q_1", ["<mi>cos</mi><mspace"]),
        (
            "v = -w - (-u) - 1",
            ['=</mo><mo form="prefix"', "<mi>w</mi><mo>\u2212</mo>", ")</mo><mo>"],
        ),
    ],
)
def test_formulas_of_sentences_are_mathml(tex, parts):
    text = mathml_of(tex)
    minidom.parseString(f"<math>{text}</math>")
    assert all(part in text for part in parts), text


@pytest.mark.parametrize("tex", [r"\unknown", "{x", r"\frac{1}", r"\mathrm{x"])
def test_other_latex_is_refused(tex):
    with pytest.raises(ValueError, match=r"not known|too early"):
        mathml_of(tex)


q1, a = sp.Symbol("q_1", real=True), sp.Symbol("a_2", real=True)


@pytest.mark.parametrize(
    "formula", [a * sp.cos(q1 + 0.5) ** 2, -sp.Rational(1, 2) * sp.sqrt(a), sp.Float(2e16) * a]
)
def test_what_sympy_prints_can_be_in_a_sentence(formula):
    minidom.parseString(f"<math>{mathml_of(latex(formula))}</math>")


@pytest.mark.parametrize(
    ("ending", "shown"),
    [("html", "<math><msub>"), ("md", r"$z_{i-1}$"), ("tex", r"50 \% of $z_{i-1}$")],
)
def test_sentences_headings_and_cells_have_formulas(tmp_path: Path, ending, shown):
    page = DerivationPage(tmp_path / f"page.{ending}")
    page.say("50 % of $z_{i-1}$")
    page.heading("$z_{i-1}$")
    page.table(("$z_{i-1}$",), [((a, sp.Float(0.25)),), (-1.5,)])
    text = page.files()[tmp_path / f"page.{ending}"].decode()
    assert shown in text and text.count(shown.rpartition(" ")[2]) >= 3
    assert "0.25" in text and "1.5" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("If r_13 is 0, q_4 is free.", "If $r_{13}$ is 0, $q_{4}$ is free."),
        ("what remains of phi, base_link", r"what remains of $\phi$, base_link"),
        ("(p_x, xk_0)", r"($p_{x}$, $\mathrm{xk}_{0}$)"),
    ],
)
def test_symbols_of_a_sentence_become_formulas(text, expected):
    assert with_symbols(text) == expected
    assert not any(part == "base_link" for is_formula, part in spans(expected) if is_formula)
