# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/symbolic/test_arm.py
"""Forward kinematics and Jacobian of an arm as C or Python, with common parts computed once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import sympy as sp
from arm_description.errors import DescriptionError

from arm_studio.symbolic.arm import SymbolicArm

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

LANGUAGES = ("c", "python")
_HEAD = "Kinematics of {name}: base_link <- tool0, in m and rad. Joints: {joints}."


def kinematics_code(model: RobotModel, language: str) -> str:
    """Return a file with the functions ``fk`` and ``jacobian``.

    In C ``void fk(const double *q, double *T)`` fills T (4, 4) and
    ``void jacobian(const double *q, double *J)`` J (6, n), row by row. In Python they return lists
    of rows. Both need nothing but the language's own mathematics.

    Raises:
        DescriptionError: The language is not known.
    """
    if language not in LANGUAGES:
        raise DescriptionError(
            f"no code can be written in {language!r}", remedy=f"choose {' or '.join(LANGUAGES)}"
        )
    arm = SymbolicArm(model)
    joints = ", ".join(f"q[{i}] {name}" for i, name in enumerate(arm.joints))
    head = _HEAD.format(name=model.name, joints=joints)
    functions = (("fk", arm.fk), ("jacobian", arm.jacobian))
    if language == "c":
        parts = [f"/* {head} */", "#include <math.h>"]
        parts += [_c_function(arm, name, matrix) for name, matrix in functions]
    else:
        parts = [f'"""{head}"""', "import math"]
        parts += [_python_function(arm, name, matrix) for name, matrix in functions]
    return "\n\n".join(parts) + "\n"


def _statements(
    arm: SymbolicArm, matrix: sp.Matrix
) -> tuple[list[tuple[sp.Symbol, sp.Expr]], Sequence[sp.Expr]]:
    """Return assignments, one after the other, and the entries (k,) that follow from them."""
    renamed = {s: sp.Symbol(f"k_{_word(s.name)}", real=True) for s in arm.values}
    temporaries = (sp.Symbol(f"t{i}", real=True) for i in range(1_000_000))
    entries = [entry.subs(renamed) for entry in matrix]
    shared, results = sp.cse(entries, symbols=temporaries)
    used = {s for e in (*results, *(e for _, e in shared)) for s in sp.sympify(e).free_symbols}
    values = {renamed[s]: sp.Float(v, 17) for s, v in arm.values.items()}
    constants = [(symbol, value) for symbol, value in values.items() if symbol in used]
    joints = [(q, sp.Symbol(f"q[{i}]")) for i, q in enumerate(arm.joints.values()) if q in used]
    return [*joints, *constants, *shared], results


def _word(name: str) -> str:
    """Return a name as one that both languages allow."""
    return re.sub(r"\W", lambda match: f"u{ord(match[0]):x}", name)


def _c_function(arm: SymbolicArm, name: str, matrix: sp.Matrix) -> str:
    shared, results = _statements(arm, matrix)
    lines = [f"    const double {symbol} = {sp.ccode(value)};" for symbol, value in shared]
    lines += [f"    out[{i}] = {sp.ccode(entry)};" for i, entry in enumerate(results)]
    return "\n".join([f"void {name}(const double *q, double *out)\n{{", *lines, "}"])


def _python_function(arm: SymbolicArm, name: str, matrix: sp.Matrix) -> str:
    shared, results = _statements(arm, matrix)
    width = matrix.shape[1]
    lines = [f"    {symbol} = {sp.pycode(value)}" for symbol, value in shared]
    entries = [sp.pycode(entry) for entry in results]
    rows = [
        f"        [{', '.join(entries[at : at + width])}]," for at in range(0, len(entries), width)
    ]
    return "\n".join([f"def {name}(q):", *lines, "    return [", *rows, "    ]"])
