# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The inverse on the pages of ./arm explain: formulas and numbers, or why there are none."""

import math
import re
import shutil
import subprocess
from xml.dom import minidom

import numpy as np
import pytest
from arm_studio.derivation.document import DerivationPage
from arm_studio.derivation.inverse import write_inverse
from scipy.optimize import brentq

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
    assert "Axes 3, 4 and 5: axes 3 and 4 miss each other by 0.33 dm." in text
    assert "| axes | angle in deg | distance in dm |  |" in text
    assert "| 3 and 4 | $45$ | $0.33$ | miss each other |" in text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("rediestro", "It has 7 joints, 1 more than a pose determines"),
        ("mearm", "Its rows follow one another (level)"),
    ],
)
def test_other_arms_without_a_closed_form_say_why(page_of, name, reason):
    text = page_of(load_robot(name))
    assert "has no closed form that is known here" in text and reason in text


def arm_of(rows, units="{length: m, angle: rad}", limit=1, convention="standard"):
    """Return an arm of rows of d, a and alpha; those of a slide have a fourth entry."""
    lines = ["name: some_arm", f"convention: {convention}", f"units: {units}", "joints:"]
    lines += [
        f"  - {{name: j{i}, type: {'prismatic' if slide else 'revolute'}, theta: 0, d: {d},"
        f" a: {a}, alpha: {alpha}, limits: {{lower: {-limit}, upper: {limit}}}}}"
        for i, (d, a, alpha, *slide) in enumerate(rows)
    ]
    return parse_robot("\n".join(lines))


def test_an_arm_of_many_joints_says_how_many_are_spare(page_of):
    snake = arm_of([(0.1, 0.1, 1.5)] * 13)
    assert "It has 13 joints, 7 more than a pose determines" in page_of(snake)


def test_page_has_units_of_the_file_and_no_empty_paragraph(page_of):
    text = page_of(arm_of([(100, 0, 0), (50, 0, 0)], "{length: mm, angle: rad}"))
    assert "angle in rad | distance in mm" in text and "has no closed form" in text
    assert "\n\n\n" not in text


def test_pose_at_the_edge_of_the_reach_without_a_branch_is_said(page_of):
    """The wrist is above the first axis, where the root is 0 up to rounding."""
    rows = [(0, 0, 0), (0, 0, -90), (149, 432, 0), (433, 20, -90), (0, 0, 90), (0, 0, -90)]
    arm = arm_of(rows, "{length: mm, angle: deg}", 160, "modified")
    chain, q = Chain.from_model(arm), np.array([0.0, 0.0, -1.9, -1.5, 0.7, 0.6])

    def ahead(x: float) -> float:
        q[1] = x
        p = chain.fk(q)[:3, 3]
        return math.cos(q[0]) * p[0] + math.sin(q[0]) * p[1]

    for q[0] in np.linspace(-1.0, 1.0, 40):
        q[1] = brentq(ahead, 1.0, 2.0, xtol=1e-15)
        text = page_of(arm, q)
        if "No branch gives the pose" in text:
            break
    else:
        pytest.fail("each pose has a branch")
    assert "branch 1" not in text and "within the limits" not in text


def test_axes_that_meet_in_the_middle_are_told(page_of):
    rows = [(0.1, 0.2, 0.5), (0, 0, 1.5), (0, 0, 1.2), (0.3, 0.1, 0.9), (0.2, 0.1, 0.7, "slide")]
    text = page_of(arm_of([*rows, (0.2, 0.1, 0.7)]))
    assert "Axes 2, 3 and 4 meet in a point, but not in a place that allows one" in text
    assert "one of them is a slide" in text


def test_arm_whose_plan_leaves_a_joint_free_says_so(page_of):
    """The slide is on the axis of joint 2, so joint 2 does not move the wrist's point."""
    quarter = math.pi / 2
    rows = [(0.9, 0, -quarter), (0.1, 0, 0), (0, 0, quarter, "slide"), (0.6, 0, 0)]
    text = page_of(arm_of(rows))
    assert "It is not shown as formulas, since the point is on the axis of q_2" in text
