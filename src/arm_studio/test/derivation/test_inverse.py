# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The inverse on the pages of ./arm explain: formulas and numbers, or why there are none."""

import re
import shutil
import subprocess
from xml.dom import minidom

import numpy as np
import pytest
from arm_studio.derivation.document import DerivationPage
from arm_studio.derivation.inverse import write_inverse

from arm_description import load_robot, parse_robot
from arm_kinematics import Chain


@pytest.fixture
def page_of(tmp_path):
    """Return a function that writes the inverse of a model at a posture."""

    def text(model, q=None, ending="md"):
        chain = Chain.from_model(model)
        low, high = np.maximum(chain.lower, -3.0), np.minimum(chain.upper, 3.0)
        page = DerivationPage(tmp_path / f"page.{ending}")
        write_inverse(page, model, chain, 0.4 * low + 0.6 * high if q is None else np.array(q))
        return page.files()[tmp_path / f"page.{ending}"].decode()

    return text


def test_page_has_formulas_with_the_names_of_the_file_and_their_numbers(page_of):
    text = page_of(load_robot("puma560"))
    assert r"p_{x} s_{1} - p_{y} c_{1} = d_{3}" in text
    first = (
        r"\operatorname{atan2}\left(d_{3}, \pm \sqrt{- d_{3}^{2} + p_{x}^{2} + p_{y}^{2}}\right)"
    )
    assert first in text and r"\operatorname{atan2}\left(p_{y}, p_{x}\right)" in text
    assert "At most 8 solutions" in text
    assert "Out of reach if what is below the root is negative." in text
    assert r"If $r_{13}$ and $r_{23}$ are 0, $q_{4}$ is free" in text
    assert "with $q_{4}$ chosen" in text
    assert len(re.findall(r"branch \d", text)) == 8
    errors = "|".join(re.findall(r"\| error of fk \|(.*)\|", text)).split("|")
    assert len(errors) == 8 and max(map(float, errors)) < 1e-12
    off = re.search(r"those of the solver differ by at most ([\d.e+-]+\d)", text)
    assert float(off[1]) < 1e-10
    for number in re.findall(r"\d+\.\d+", text.split("### The solutions")[0]):
        pytest.fail(f"{number} is a number inside a formula")


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
def test_page_is_a_document_for_latex(page_of, tmp_path):
    (tmp_path / "document.tex").write_text(page_of(load_robot("puma560"), ending="tex"))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


@pytest.mark.parametrize("name", ["planar2", "nut_arm", "scara", "spherical_arm", "ur5", "so101"])
@pytest.mark.parametrize("ending", ["html", "tex"])
def test_other_formats_are_well_formed(page_of, name, ending):
    text = page_of(load_robot(name), ending=ending)
    for formula in re.findall(r"<math.*?</math>", text, re.DOTALL):
        minidom.parseString(formula)
    assert text.count(r"\left(") == text.count(r"\right)")
    assert "branch 2" in text


def test_aligned_wrist_of_the_example_keeps_its_posture(page_of):
    text = page_of(load_robot("puma560"), [0.3, 0.7, -0.4, 0.5, 0.0, 0.7])
    off = re.search(r"those of the solver differ by at most ([\d.e+-]+\d)", text)
    assert float(off[1]) < 1e-6


def test_general_arm_says_which_axes_miss_each_other(page_of):
    text = page_of(load_robot("raghavan_roth"))
    assert "No three consecutive axes meet in a point, and no three consecutive axes are" in text
    assert "Axes 3, 4 and 5: axes 3 and 4 miss each other by 0.033 m." in text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("rediestro", "It has 7 joints, one more than a pose determines"),
        ("mearm", "Its rows follow one another (level)"),
    ],
)
def test_other_arms_without_a_closed_form_say_why(page_of, name, reason):
    text = page_of(load_robot(name))
    assert "has no closed form that is known here" in text and reason in text


ROWS = "".join(
    f"  - {{name: j{i}, type: {kind}, theta: 0, d: {d}, a: {a}, alpha: {alpha},"
    " limits: {lower: -1, upper: 1}}\n"
    for i, (kind, d, a, alpha) in enumerate(
        [
            ("revolute", 0.1, 0.2, 0.5),
            ("revolute", 0.0, 0.0, 1.5),  # 2, 3 and 4 meet
            ("revolute", 0.0, 0.0, 1.2),
            ("revolute", 0.3, 0.1, 0.9),
            ("prismatic", 0.2, 0.1, 0.7),
            ("revolute", 0.2, 0.1, 0.7),
        ]
    )
)


def test_axes_that_meet_in_the_middle_are_told(page_of):
    head = "name: middle\nconvention: standard\nunits: {length: m, angle: rad}\njoints:\n"
    text = page_of(parse_robot(head + ROWS))
    assert "Axes 2, 3 and 4 meet in a point, but not in a place that allows one" in text
    assert "one of them is a slide" in text


def test_arm_whose_plan_leaves_a_joint_free_says_so(page_of):
    rows = [  # the slide is on the axis of joint 2, so joint 2 does not move the wrist's point
        ("revolute", 0, 0.9, 0, -1.5707963267948966),
        ("revolute", 0, 0.1, 0, 0),
        ("prismatic", 0, 0, 0, 1.5707963267948966),
        ("revolute", 0, 0.6, 0, 0),
    ]
    lines = ["name: free", "convention: standard", "units: {length: m, angle: rad}", "joints:"]
    lines += [
        f"  - {{name: j{i}, type: {kind}, theta: {theta}, d: {d}, a: {a}, alpha: {alpha},"
        " limits: {lower: -1, upper: 1}}"
        for i, (kind, theta, d, a, alpha) in enumerate(rows)
    ]
    text = page_of(parse_robot("\n".join(lines)))
    assert "It is not shown as formulas, since the point is on the axis of q_2" in text
