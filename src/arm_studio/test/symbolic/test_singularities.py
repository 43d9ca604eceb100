# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conditions for a loss of rank: those of textbooks, and matrices whose conditions are known."""

from __future__ import annotations

import pytest
import sympy as sp
from arm_studio.derivation.singularities import ToolTask, conditions_of
from arm_studio.symbolic.arm import SymbolicArm
from arm_studio.symbolic.elimination import TooLongError
from arm_studio.symbolic.factors import factors_of
from arm_studio.symbolic.polynomials import TrigRing
from arm_studio.symbolic.singularities import rank_loss

from arm_description import load_robot

Q = sp.symbols("q_0:7", real=True)
A, B, D = sp.symbols("a b d", real=True)
LENGTHS = {A: 0.4, B: 0.3, D: 0.2}
sin, cos = sp.sin, sp.cos


def conditions(name, task=ToolTask.POSE) -> set[str]:
    """Return the conditions of a shipped robot, checked to be all."""
    found = conditions_of(SymbolicArm(load_robot(name)), task)
    assert found is not None and found.complete and not found.long
    return {" and ".join(sorted(map(str, condition))) for condition in found.conditions}


@pytest.mark.parametrize(
    ("name", "task", "expected"),
    [
        ("planar2", ToolTask.POSITION, {"sin(q_2)"}),
        ("planar3", ToolTask.POSE, {"sin(q_2)"}),
        ("scara", ToolTask.POSE, {"sin(q_2)"}),
        # Siciliano et al., "Robotics", section 3.3.2
        (
            "anthropomorphic_arm",
            ToolTask.POSITION,
            {"sin(q_3)", "a2*cos(q_2) + a3*cos(q_2 + q_3)"},
        ),
        ("spherical_arm", ToolTask.POSITION, {"q_3", "sin(q_2)"}),
        ("stanford_arm", ToolTask.POSE, {"q_3", "sin(q_2)", "sin(q_5)"}),
        (
            "puma560",
            ToolTask.POSE,
            {
                "sin(q_5)",
                "a3*sin(q_3) + d4*cos(q_3)",
                "a2*cos(q_2) + a3*cos(q_2 + q_3) - d4*sin(q_2 + q_3)",
            },
        ),
        (
            "ur5",
            ToolTask.POSE,
            {
                "sin(q_3)",
                "sin(q_5)",
                "a_2*cos(q_2) + a_3*cos(q_2 + q_3) + d_5*sin(q_2 + q_3 + q_4)",
            },
        ),
        # Not square: the roll is about the waist's axis
        ("nut_arm", ToolTask.POSE, {"cos(q_2 + q_3) and sin(q_2)"}),
    ],
)
def test_conditions_are_those_of_textbooks(name, task, expected):
    assert conditions(name, task) == expected


def test_matrix_of_less_than_full_rank_and_one_that_never_loses_any():
    turn = sp.Matrix([[cos(Q[1]), -sin(Q[1])], [sin(Q[1]), cos(Q[1])]])
    assert rank_loss([turn], Q[1:2], {}).conditions == []
    column = sp.Matrix([A * sin(Q[1]), B * Q[2]])
    found = rank_loss([column * sp.Matrix([[1, cos(Q[2])]])], Q[1:3], LENGTHS)
    assert found.rank == 1 and found.complete
    assert [set(condition) for condition in found.conditions] == [{sin(Q[1]), Q[2]}]


@pytest.mark.parametrize(
    "factors",
    [
        [A * sin(Q[1]) + B * cos(Q[1]), A * cos(Q[2]) + B * cos(Q[1] + Q[2]) + D],
        [sin(Q[1]), A + B * cos(Q[1])],
        [cos(Q[1]), A * sin(Q[1]) + B * cos(Q[1])],
        [Q[3] + D, A * sin(Q[1]) + Q[3] * cos(Q[1])],
    ],
)
def test_product_is_taken_apart_whatever_its_form(factors):
    for product in (sp.Mul(*factors), sp.expand(sp.expand_trig(sp.Mul(*factors)))):
        for arguments in ((), (sp.Matrix([sin(Q[1] - Q[2])]),)):  # other angles of the ring
            ring = TrigRing(product, *arguments)
            found = factors_of(ring, ring.polynomial(product), Q)
            assert {str(f) for f in found} == {str(f) for f in factors}


def test_determinant_with_too_many_terms_is_refused():
    n = 7
    entries = sp.Matrix(n, n, lambda i, j: sp.Symbol(f"x_{i}_{j}", real=True))
    with pytest.raises(TooLongError):
        rank_loss([entries], list(entries), {})
