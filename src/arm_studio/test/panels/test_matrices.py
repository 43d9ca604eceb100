# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""T, J and the condition number of the present posture."""

import re

import numpy as np
import pytest
from arm_studio.panels.matrices import MatricesPanel
from arm_testing.pages.page import FakePage


def shown(page, key):
    html = page.gui.marked(key)
    table = html[html.index(f'data-arm="{key}"') :].partition("</table>")[0]
    rows = [re.findall("<td>(.*?)</td>", row) for row in table.split("</tr>")]
    return np.array([[float(text) for text in row] for row in rows if row])


def at(page, panel, *q):
    names = (f"{page.context.prefix}{name}" for name in page.model.joint_names)
    page.positions |= dict(zip(names, q, strict=True))
    panel.update(page.state)


@pytest.mark.parametrize(
    ("robot", "prefix"),
    [("planar2", ""), ("puma560", ""), ("puma560", "left_"), ("spherical_arm", "")],
)
def test_pose_and_jacobian_are_those_of_the_posture(robot, prefix):
    page = FakePage(robot, prefix=prefix)
    page.positions.clear()
    panel = page.build(MatricesPanel)
    q = np.linspace(0.2, 0.5, page.model.n)
    at(page, panel, *q)
    scale, T = page.model.units.written(1.0, "prismatic"), page.model.fk(q)
    pose = T.copy()
    pose[:3, 3] *= scale
    np.testing.assert_allclose(shown(page, "T"), pose, atol=1e-4 * scale)
    J, step = shown(page, "J"), 1e-6
    for column, change in enumerate(step * np.eye(len(q))):
        v = scale * (page.model.fk(q + change) - T)[:3, 3] / step
        np.testing.assert_allclose(J[:3, column], v, atol=2e-4 * scale)


def test_condition_number_of_two_links_and_where_they_are_singular():
    page = FakePage("planar2")
    panel = page.build(MatricesPanel)
    for elbow, text in ((0.0, "singular (of"), (1e-3, "near a singular posture"), (np.pi, "sing")):
        at(page, panel, 0.3, elbow)
        assert text in page.gui.marked("condition")
    at(page, panel, 0.3, 2.0)
    J = page.model.fk([0.3, 2.0]), shown(page, "J")[:2]
    values = np.linalg.svd(J[1], compute_uv=False)
    assert f"{values[0] / values[1]:.3g}"[:3] in page.gui.marked("condition")


def test_an_arm_of_six_joints_counts_the_turning_with_lengths_over_the_reach():
    page = FakePage("puma560")
    panel = page.build(MatricesPanel)
    at(page, panel, *[0.3] * 6)
    text = page.gui.marked("condition")
    number = float(re.search(r"Condition number</div>([\d.]+)", text)[1])
    J = shown(page, "J")
    J[:3] /= page.model.units.written(page.robot.reach, "prismatic")
    values = np.linalg.svd(J, compute_uv=False)
    assert number == pytest.approx(values[0] / values[-1], rel=1e-2)
    at(page, panel, 0.3, 0.3, 0.3, 0.3, 0.0, 0.3)  # the wrist's axes are one line
    assert "singular" in page.gui.marked("condition")
