# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Formulas of arms: those of textbooks, and laws that hold for every arm."""

import ctypes
import math
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from arm_studio.symbolic.arm import Product, SymbolicArm, inverse_of, shift, turn
from arm_studio.symbolic.code import kinematics_code
from arm_studio.symbolic.polynomials import TrigRing, equal
from arm_testing.arms.samples import ROBOTS

from arm_description import DescriptionError, load_robot, parse_robot

Q1, Q2, Q3 = (sp.Symbol(f"q_{i}", real=True) for i in (1, 2, 3))
GENERAL = ("raghavan_roth", "rediestro")  # general twists: minutes to multiply out
C1, S1, C2, S2 = sp.cos(Q1), sp.sin(Q1), sp.cos(Q2), sp.sin(Q2)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def same(a, b) -> bool:
    """Return whether two formulas, or matrices of them, are identically equal."""
    return sp.simplify(sp.Matrix([a]) - sp.Matrix([b])) == sp.zeros(*sp.Matrix([a]).shape)


def symbols(*names):
    return [sp.Symbol(name, real=True) for name in names]


class TestTextbooks:
    def test_planar_arm(self):
        """Spong, Hutchinson, Vidyasagar, "Robot Modeling and Control", example 3.1 and 4.5."""
        arm = SymbolicArm(load_robot("planar2"))
        l1, l2, height = symbols("l1", "l2", "height")
        c12, s12 = sp.cos(Q1 + Q2), sp.sin(Q1 + Q2)
        x, y = l1 * C1 + l2 * c12, l1 * S1 + l2 * s12
        T = sp.Matrix([[c12, -s12, 0, x], [s12, c12, 0, y], [0, 0, 1, height], [0, 0, 0, 1]])
        assert arm.fk == T
        J = sp.Matrix([[-l1 * S1 - l2 * s12, -l2 * s12], [l1 * C1 + l2 * c12, l2 * c12]])
        assert arm.jacobian == J.col_join(sp.Matrix([[0, 0], [0, 0], [0, 0], [1, 1]]))

    def test_spherical_arm(self):
        """Siciliano et al., "Robotics", equation 2.65, with frame 0 at the height of the base."""
        arm = SymbolicArm(load_robot("spherical_arm"))
        d2, height = symbols("d2", "height")
        p = [C1 * S2 * Q3 - S1 * d2, S1 * S2 * Q3 + C1 * d2, C2 * Q3 + height]
        R = [[C1 * C2, -S1, C1 * S2], [S1 * C2, C1, S1 * S2], [-S2, 0, C2]]
        assert same(arm.fk[:3, :3], sp.Matrix(R)) and same(arm.fk[:3, 3], sp.Matrix(p))

    def test_anthropomorphic_arm(self):
        """Siciliano et al., "Robotics", equation 2.66."""
        arm = SymbolicArm(load_robot("anthropomorphic_arm"))
        a2, a3, height = symbols("a2", "a3", "height")
        c23, s23 = sp.cos(Q2 + Q3), sp.sin(Q2 + Q3)
        reach = a2 * C2 + a3 * c23
        p = sp.Matrix([C1 * reach, S1 * reach, a2 * S2 + a3 * s23 + height])
        assert same(arm.fk[:3, 3], p)


@pytest.mark.parametrize("name", ROBOTS)
def test_formulas_agree_with_the_model(name, rng):
    model = load_robot(name)
    if name in GENERAL:
        pytest.skip("general twists take minutes; the rows are compared by every other arm")
    arm = SymbolicArm(model)
    entries = [*arm.fk, *arm.home, *arm.base, *arm.tool]
    f = sp.lambdify(list(arm.joints.values()), sp.Matrix(entries).subs(arm.values))
    for q in rng.uniform(model.lower, model.upper, (3, model.n)):
        numbers = np.array(f(*q), dtype=float).reshape(4, 4, 4)
        zero = np.zeros(model.n)
        expected = [model.fk(q), model.fk(zero), model.base.matrix, model.tool.matrix]
        np.testing.assert_allclose(numbers, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["nut_arm", "spherical_arm", "puma560", "ur5"])
def test_products_of_rows_and_of_exponentials_are_identical(name):
    arm = SymbolicArm(load_robot(name))
    factors = [*(arm.exponential(i) for i in range(len(arm.joints))), arm.home]
    assert equal(arm.fk, factors)
    assert not equal(arm.fk, [*factors[:-1], arm.home * arm.home])


def test_cells_keep_the_constants_of_the_file():
    text = """
name: named
convention: modified
units: {length: mm, angle: deg}
constants: {reach: 120, tilt: 30, ratio: 2}
tool: {xyz: [0, 0, reach/2]}
joints:
  - {name: a, type: revolute, d: 185 - reach, a: -reach*cos(tilt), alpha: tilt,
     limits: {lower: -90, upper: 90}}
  - {name: b, type: prismatic, d: "hypot(3, reach)", theta: 45, a: 7, alpha: 90,
     limits: {lower: 0, upper: 90}}
"""
    model = parse_robot(text)
    arm = SymbolicArm(model)
    reach, tilt, d, theta, a = symbols("reach", "tilt", "d_2", "theta_2", "a_1")
    assert dict(arm.values) == pytest.approx(
        {
            reach: 0.12,
            tilt: math.radians(30),
            d: model.joints[1].row.d,
            theta: math.pi / 4,
            a: 0.007,
        }
    )
    assert arm.rows[0][0, 3] == -reach * sp.cos(tilt)
    assert arm.meanings[reach] == "constants.reach" and arm.meanings[d] == "joints.b.d"
    assert arm.tool[2, 3] == reach / 2
    T = np.array(arm.numbers(arm.fk).subs({Q1: 0.3, Q2: 0.02}), dtype=float)
    np.testing.assert_allclose(T, model.fk([0.3, 0.02]), atol=1e-15)


def test_parallel_turns_add_up_also_behind_half_a_turn():
    motions = [turn("z", Q1), shift("x", Q3), turn("x", sp.pi), turn("z", Q2)]
    T = Product(motions)
    assert T.R[0, 0] == sp.cos(Q1 - Q2)
    assert same((T.matrix * Product(inverse_of(motions)).matrix), sp.eye(4))


def test_ring_reduces_and_drops_what_never_vanishes():
    ring = TrigRing(sp.Matrix([S1, C1, Q2]))
    assert ring.is_zero(ring.matrix(sp.Matrix([[S1**2 + C1**2 - 1]])))
    assert not ring.is_zero(ring.matrix(sp.Matrix([[S1**2 + C1**2 - 1 + Q2]])))


@pytest.mark.parametrize("name", ["nut_arm", "puma560", "mearm"])
def test_python_code_equals_the_model(name, rng):
    model = load_robot(name)
    scope: dict = {}
    exec(kinematics_code(model, "python"), scope)
    for q in rng.uniform(model.lower, model.upper, (3, model.n)):
        np.testing.assert_allclose(scope["fk"](q), model.fk(q), atol=1e-12)
        np.testing.assert_allclose(scope["jacobian"](q)[:3], numeric_velocity(model, q), atol=1e-8)


def numeric_velocity(model, q, h=1e-6):
    """Return the derivative (3, n) of the tool's position by central differences."""
    steps = h * np.eye(model.n)
    return np.transpose(
        [(model.fk(q + s)[:3, 3] - model.fk(q - s)[:3, 3]) / (2.0 * h) for s in steps]
    )


def test_c_code_compiles_without_warnings_and_equals_the_model(tmp_path, rng):
    model = load_robot("puma560")
    source, library = tmp_path / "arm.c", tmp_path / "arm.so"
    source.write_text(kinematics_code(model, "c"))
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "./arm needs a compiler"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([compiler, *strict, "-o", str(library), str(source), "-lm"], check=True)
    code = ctypes.CDLL(str(library))
    scope: dict = {}
    exec(kinematics_code(model, "python"), scope)
    for q in rng.uniform(model.lower, model.upper, (5, 6)):
        T, J = np.zeros((4, 4)), np.zeros((6, 6))
        for function, out in ((code.fk, T), (code.jacobian, J)):
            function(q.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p))
        np.testing.assert_allclose(T, model.fk(q), atol=1e-12)
        np.testing.assert_allclose(J, scope["jacobian"](q), atol=1e-12)


def test_unknown_language_is_rejected():
    with pytest.raises(DescriptionError, match="no code can be written in 'fortran'"):
        kinematics_code(load_robot("planar2"), "fortran")


def test_missing_sympy_is_told(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("arm_studio.symbolic")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(DescriptionError, match="formulas need SymPy"):
        import_module("arm_studio.symbolic.arm")


def test_other_commands_do_not_load_sympy():
    code = "import sys, arm_studio.commands.explain; print('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("ratio", [sp.Rational(3, 2), sp.Rational(-7, 4)])
def test_angles_of_any_ratio_are_polynomials(ratio):
    q, k = sp.symbols("q k", real=True)
    a, b = ratio * q, k * q
    same = sp.Matrix([sp.sin(a + q) - sp.sin(a) * sp.cos(q) - sp.cos(a) * sp.sin(q)])
    with_symbol = sp.Matrix([sp.cos(a - b) - sp.cos(a) * sp.cos(b) - sp.sin(a) * sp.sin(b)])
    other = sp.Matrix([sp.sin(a + q) - sp.sin(a) * sp.cos(q)])
    for formula, is_zero in ((same, True), (with_symbol, True), (other, False)):
        ring = TrigRing(formula)
        assert ring.is_zero(ring.matrix(formula)) is is_zero


@pytest.mark.parametrize(("text", "offset"), [("q1 - 90", -90), ("-90 + A1", -90), ("(q1)", 0)])
def test_own_variable_beside_the_offset_is_implied(text, offset):
    printed = Path(__file__).with_name("theta_q1.yaml").read_text()  # theta: q1 - 90, of joint A1
    model, plain = (parse_robot(printed.replace("q1 - 90", str(t))) for t in (text, offset))
    assert SymbolicArm(model).rows == SymbolicArm(plain).rows
