# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table and the numbers of a page are those of the file, in its units."""

import numpy as np
import pytest
import sympy as sp
from arm_description.library import shipped_robots
from arm_description.model.elements import DependentJoint
from arm_studio.derivation.dh_table import COLUMNS, UnitsOfPage
from arm_studio.symbolic.arm import SymbolicArm

from arm_description import load_robot

MIXED = """
name: mixed
convention: standard
units: {length: mm, angle: deg}
constants: {l1: 120, turn: 30}
joints:
  - {name: one, type: revolute, theta: turn + 90, d: l1 + 40, a: 2*l1, alpha: turn,
     limits: {lower: -90, upper: 90, velocity: 90, effort: 1}}
  - {name: two, type: prismatic, theta: 12.5, d: 5, a: 0, alpha: 0,
     limits: {lower: 0, upper: 100, velocity: 90, effort: 1}}
"""


def number(cell, arm, units) -> float:
    """The number that a cell shows, or means with all variables at 0."""
    if isinstance(cell, tuple):
        assert cell[1].is_Number
        cell = cell[1]
    scale = {"prismatic": 1.0, "revolute": units.written(1.0, "revolute")}
    values = {s: value * scale[arm.kinds[s]] for s, value in arm.values.items()}
    zero = dict.fromkeys(arm.joints.values(), 0.0)
    return float(sp.sympify(cell).subs(values | zero))


@pytest.mark.parametrize("name", [*shipped_robots(), "mixed"])
def test_every_cell_is_the_value_of_the_file(name, tmp_path):
    if name == "mixed":
        name = tmp_path / "mixed.yaml"
        name.write_text(MIXED)
    model = load_robot(name)
    page = UnitsOfPage(model)
    head, rows = page.table()
    columns = COLUMNS[model.convention]
    for joint, row in zip(model.rows, rows, strict=True):
        for key, cell in zip(columns, row[3:], strict=False):
            kind = "prismatic" if key in "da" else "revolute"
            expected = model.units.written(getattr(joint.row, key), kind)
            assert number(cell, page.arm, model.units) == pytest.approx(expected, abs=1e-9)
            own = key == ("d" if joint.type == "prismatic" else "theta") and joint.axis == "z"
            shown = set(sp.sympify(cell).free_symbols) if not isinstance(cell, tuple) else set()
            variables = shown & set(page.arm.joints.values())
            assert bool(variables) == own
            if own and not isinstance(joint, DependentJoint):
                assert variables == {page.arm.joints[joint.name]}
    assert f"[{model.units.length}]" in " ".join(head)


def test_cells_mix_constants_and_numbers_in_the_units_of_the_file(tmp_path):
    (tmp_path / "mixed.yaml").write_text(MIXED)
    page = UnitsOfPage(load_robot(tmp_path / "mixed.yaml"))
    _, rows = page.table()
    l1, turn, q = (sp.Symbol(name, real=True) for name in ("l1", "turn", "q_1"))
    assert rows[0][3] == q + turn + 90
    assert rows[0][4] == (l1 + 40, 160.0) and rows[0][5] == (2 * l1, 240.0)
    assert page.arm.rows[0][2, 3] == l1 + 40  # also in the formulas
    assert [row[1:3] for row in page.symbols()][:2] == [
        [pytest.approx(30.0), "deg"],
        [120.0, "mm"],
    ]
    assert "inside formulas" in page.sentence


@pytest.mark.parametrize("name", ["nut_arm", "scara", "panda", "travpuma"])
def test_formulas_in_another_unit_are_those_in_metres(name, rng):
    model = load_robot(name)
    page, metres = UnitsOfPage(model), SymbolicArm(model)
    units = model.units
    q = rng.uniform(model.lower, model.upper)
    types = [joint.type for joint in model.joints]
    shown = [x if t == "revolute" else units.written(x, t) for x, t in zip(q, types, strict=True)]
    T, J = (
        [
            np.array(sp.lambdify([], arm.numbers(part).subs(at))(), dtype=float)
            for part in (arm.fk, arm.jacobian)
        ]
        for arm, at in (
            (metres, dict(zip(metres.joints.values(), q, strict=True))),
            (page.arm, dict(zip(page.arm.joints.values(), shown, strict=True))),
        )
    )
    np.testing.assert_allclose(page.pose(T[0]), J[0], atol=1e-9)
    np.testing.assert_allclose(page.jacobian(T[1]), J[1], atol=1e-9)


def test_a_number_never_takes_the_name_of_a_constant(tmp_path):
    text = MIXED.replace("l1: 120,", "l1: 120, a_2: 7,").replace(
        "a: 0, alpha: 0,", "a: 3, alpha: 0,"
    )
    (tmp_path / "mixed.yaml").write_text(text.replace("2*l1", "2*l1 + a_2"))
    page = UnitsOfPage(load_robot(tmp_path / "mixed.yaml"))
    _, rows = page.table()
    assert rows[0][5][1] == 247.0 and rows[1][5][1] == 3.0
