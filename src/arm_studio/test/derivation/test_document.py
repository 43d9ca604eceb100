# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The pages of ./arm explain: their numbers, their steps, and that they can be read anywhere."""

import math
import os
import re
import signal
import time
from pathlib import Path
from xml.dom import minidom

import numpy as np
import pytest
import sympy as sp
from arm_studio.commands import explain
from arm_studio.derivation.document import DerivationPage
from arm_studio.derivation.forward import within
from arm_studio.derivation.notation import latex, mathml, short_form
from arm_testing.arms.chains import shipped

Q = [sp.Symbol(f"q_{i}", real=True) for i in range(13)]


@pytest.mark.parametrize(
    ("angle", "expected"),
    [
        (Q[1], "1"),
        (Q[2] + Q[3], "23"),
        (Q[3] - Q[2], "3-2"),
        (Q[1] + Q[12], "(12)1"),
        (2 * Q[1], ""),
        (Q[1] + sp.pi / 3, ""),
    ],
)
def test_short_forms(angle, expected):
    assert sorted(short_form(angle)) == sorted(expected)


def test_formulas_are_printed_in_both_languages():
    upper = sp.Symbol("upper_arm", real=True)
    square = upper * sp.cos(Q[2] + Q[3]) ** 2
    f = sp.Matrix([[square, sp.Rational(37, 200)], [sp.Float(0.25), 0]])
    assert latex(f[0]) == r"\mathrm{upper\_arm} \, c_{23}^{2}"
    shifted = sp.sin(Q[2] + sp.Float(0.5)) ** 2
    assert latex(shifted) == r"\sin^{2}{\left(q_{2} + 0.5 \right)}"
    assert latex(f[1]) == "0.185" and latex(f[2]) == "0.25"
    assert latex(sp.Float(2.5e16)) == r"2.5 \cdot 10^{16}"
    page = minidom.parseString(f"<math>{mathml(f)}</math>").toxml()
    assert "<mi>upper_arm</mi>" in page and "<mn>23</mn>" in page and "mtable" in page
    assert mathml(sp.Symbol("theta_2")) == "<msub><mi>\u03b8</mi><mn>2</mn></msub>"


def test_work_that_takes_too_long_ends():
    start = time.monotonic()
    assert within(0.2, time.sleep, 60.0) is None
    assert time.monotonic() - start < 30.0
    assert within(60.0, math.sqrt, 4.0) == 2.0


def test_work_ends_whatever_signals_its_process_inherits():
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        test_work_that_takes_too_long_ends()
    finally:
        signal.signal(signal.SIGTERM, before)


def test_work_that_fails_or_is_killed_hangs_nothing():
    with pytest.raises(ValueError, match=r"math domain|nonnegative"):
        within(60.0, math.sqrt, -1.0)
    assert within(60.0, os._exit, 3) is None


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of one arm, by ending."""
    folder = tmp_path_factory.mktemp("pages")
    for kind in ("html", "md", "tex"):
        assert explain.main(["planar2", "-o", str(folder / f"p.{kind}")]) == 0
    return {kind: (folder / f"p.{kind}").read_text() for kind in ("html", "md", "tex")}, folder


def test_page_has_every_part(pages):
    texts, folder = pages
    for text in texts.values():
        for part in (
            "Frames and symbols",
            "The matrix of each row",
            "Forward kinematics",
            "Both products are the same",
            "Geometric Jacobian",
            "Singular postures",
            "Example",
            "branch 2",
        ):
            assert part in text
        off = re.search(r"differs from fk by at most ([\d.e+-]+\d)", text)
        assert off and float(off[1]) <= 1e-12
    assert (folder / "p_frames.svg").is_file() and (folder / "p_frames.pdf").is_file()
    assert texts["tex"].count(r"\begin") == texts["tex"].count(r"\end")
    assert r"l_{1} c_{1} + l_{2} c_{12}" in texts["md"]


def test_html_needs_no_network(pages):
    text = pages[0]["html"]
    assert "DejaVu Math TeX Gyre" in text and "@media print" in text
    assert "<script" not in text and "<link" not in text and 'src="http' not in text
    for formula in re.findall(r"<math.*?</math>", text, re.DOTALL):
        minidom.parseString(formula)  # well formed


def test_example_may_be_a_posture_and_an_arm_without_closed_form_says_so(tmp_path):
    page = tmp_path / "m.md"
    arguments = ["mearm", "--posture", "rest", "--seconds", "20", "-o", str(page)]
    assert explain.main(arguments) == 0
    assert "no closed form that is known here" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["planar2"], "name the page by -o"),
        (["planar2", "-o", "page.docx"], "cannot write a '.docx' page"),
        (["planar2", "-o", "p.md", "--posture", "up"], "no posture 'up'"),
        (["nobody", "-o", "p.md"], "nobody"),
    ],
)
def test_unusable_arguments_are_told(arguments, message, capsys):
    assert explain.main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error


def test_code_goes_to_standard_output(capsys):
    assert explain.main(["planar2", "--code", "python"]) == 0
    scope: dict = {}
    exec(capsys.readouterr().out, scope)
    np.testing.assert_allclose(
        scope["fk"]([0.2, 0.3]), shipped("planar2").fk([0.2, 0.3]), atol=1e-12
    )


@pytest.mark.parametrize(
    ("name", "shown"),
    [("a.tex", [r"a\_b \& c", r"50 \%"]), ("a.html", ["a_b &amp; c", "&lt;x&gt;"])],
)
def test_special_characters_are_escaped(tmp_path, name, shown):
    page = DerivationPage(tmp_path / name)
    page.heading("a_b & c", 1)
    page.table(("<x>",), [("50 %",)])
    text = page.files()[tmp_path / name].decode()
    assert all(part in text for part in shown)


FRACTION = Path(__file__).parent / "explain_fraction.yaml"  # joint 2 follows by 1.5


@pytest.mark.parametrize("ratio", ["1.5", "-0.75", "0.7165", "7/13", "k"])
def test_follower_of_any_ratio_has_a_page(ratio, tmp_path):
    robot, page = tmp_path / "dep.yaml", tmp_path / "page.md"
    text = FRACTION.read_text().replace("1.5*j1", f"{ratio}*j1")
    robot.write_text(text.replace("joints:", "constants: {k: 0.3}\njoints:"))
    assert explain.main([str(robot), "-o", str(page)]) == 0
    assert "It differs from fk by at most" in page.read_text()
