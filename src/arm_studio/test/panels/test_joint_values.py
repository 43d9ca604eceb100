# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Joint values" without a browser: motions whose rates are known."""

import re

import numpy as np
import pytest
from arm_studio.panels.joint_values import PERIOD, SWITCH, JointValuesPanel, motion
from arm_testing.pages.page import FakePage

from arm_kinematics import Chain

Q, V, A = np.array([0.2, -0.1]), np.array([0.7, -1.2]), np.array([3.0, 0.5])


def samples(v, a, count=9, period=PERIOD):
    times = np.arange(count) * period
    back = times - times[-1]
    return [(t, Q + v * b + 0.5 * a * b * b) for t, b in zip(times, back, strict=True)]


def test_rates_of_a_uniform_acceleration_are_exact():
    q, v, a = motion(samples(V, A))
    assert np.allclose(q, Q) and np.allclose(v, V) and np.allclose(a, A)


def test_joints_at_rest_have_no_rates():
    _, v, a = motion(samples(0.0 * V, 0.0 * A))
    assert not v.any() and not a.any()


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_too_short_a_time_gives_no_rates(count):
    q, v, a = motion(samples(V, A, count))
    assert np.allclose(q, Q) and not v.any() and not a.any()


class Page(FakePage):
    def __init__(self, robot, **more):
        super().__init__(robot, **more)
        self.panel = self.build(JointValuesPanel)
        self.gui.use(SWITCH)

    def run(self, joints, start=0.0):
        """Move joints by functions of time for a second; return the shown rows by joint."""
        for time in np.arange(start, start + 1.0, PERIOD):
            self.time = float(time)
            self.positions |= {name: at(time - start) for name, at in joints.items()}
            self.timers[-1].action()
        self.panel.update(self.state)
        rows = re.findall(r"<tr><td>(.*?)</tr>", self.panel._html.content)
        return {cells[0]: cells[1:] for cells in (re.split("</?td>+", row) for row in rows)}


@pytest.fixture
def page():
    return Page("puma560")


def numbers(row):
    return [cell.split()[0] for cell in row if cell]


def test_row_has_the_rates_in_units_of_the_file_and_the_effort_of_the_motion(page):
    rows = page.run({"waist": lambda t: 0.5 * t * t})
    assert list(rows) == list(page.model.joint_names)
    chain = Chain.from_model(page.model)
    q = np.array([page.positions[name] for name in chain.joint_names])
    rates = np.eye(6)[0] * [page.positions["waist"] * 2 / 0.95], np.eye(6)[0]
    tau = chain.inverse_dynamics(q, rates[0], rates[1])
    _, velocity, acceleration, effort = numbers(rows["waist"])
    assert float(velocity) == pytest.approx(np.degrees(0.95), rel=1e-2)
    assert float(acceleration) == pytest.approx(np.degrees(1.0), rel=1e-2)
    assert float(effort) == pytest.approx(tau[0], rel=0.02)
    assert float(numbers(rows["shoulder"])[3]) == pytest.approx(tau[1], rel=0.02)


def test_clock_that_begins_anew_begins_new_rates(page):
    page.run({"waist": lambda t: t}, start=100.0)
    rows = page.run({"waist": lambda t: 0.3})
    assert numbers(rows["waist"])[1:3] == ["0", "0"]


def test_nothing_is_computed_until_it_is_asked_for(page):
    assert page.timers[-1].running
    page.run({"waist": lambda t: t})
    page.gui.use(SWITCH, False)
    assert not page.timers[-1].running and not page.panel._html.content
    page.panel.update(page.state)
    assert not page.panel._html.content


def test_each_sample_is_shown_so_that_the_end_of_a_motion_is():
    asked = []
    page = Page("puma560", redraw=lambda: asked.append(page.time))
    page.run({"waist": lambda t: t})
    assert asked == list(np.arange(0.0, 1.0, PERIOD))


def test_names_of_the_page_may_have_a_prefix():
    page = Page("puma560", prefix="left_")
    page.positions = {f"left_{name}": 0.0 for name in page.model.joint_names}
    rows = page.run({"left_waist": lambda t: t})
    assert list(rows) == list(page.model.joint_names)
    assert float(numbers(rows["waist"])[1]) == pytest.approx(np.degrees(1.0), rel=1e-2)


def test_arm_that_moves_nothing_has_no_numbers():
    page = Page("puma560")
    page.positions.clear()
    page.timers[-1].action()
    page.panel.update(page.state)
    assert not page.panel._html.content
