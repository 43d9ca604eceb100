# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/derivation/test_document.py
"""Formulas as LaTeX and as MathML, with the field's short forms: c_23 is cos(q_2 + q_3)."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.mathml import MathMLPresentationPrinter

from arm_common import errors
from arm_studio.derivation.inline import greek_letter, tex_name

_NUMBERED = re.compile(r"([A-Za-z]+)_?(\d+|(?<=^\w_)[a-z])")  # d4, theta_2, p_x
_JOINT = re.compile(r"q_(\d+)")
_ENTITIES = {
    "&InvisibleTimes;": "\u2062",
    "&ApplyFunction;": "\u2061",
    "&#xB7;": "\u00b7",
    "<mo>-</mo>": "<mo>\u2212</mo>",
    "<mn>-": "<mn>\u2212",
}
# A stretched parenthesis is loose, and nothing but a fraction needs one.
_PLAIN = {f"<mo>{sign}</mo>": f'<mo stretchy="false">{sign}</mo>' for sign in "()"}
# A word and what it is multiplied by, which stand apart.
_WORD_TIMES = re.compile(r"(\\mathrm\{[^}]*\}) (?=\\?[a-zA-Z])(?!\\(?:right|cdot))")
_MATHML_WORD_TIMES = re.compile(r"(<mi>\w{2,}</mi><mo>\u2062</mo>)")
_SMALL = 12  # largest denominator of a fraction that is not written as a decimal


def number_text(value: float) -> str:
    """Return a number with six digits; what only rounding leaves is 0."""
    return errors.number_text(value, decimals=12)


def short_form(angle: sp.Expr) -> str:
    """Return 23 for q_2 + q_3 and 2-3 for q_2 - q_3; "" for any other angle."""
    found = ""
    for term in sp.Add.make_args(angle):
        factor, symbol = term.as_coeff_Mul()
        joint = _JOINT.fullmatch(str(symbol))
        if joint is None or factor not in (1, -1):
            return ""
        number = joint[1] if len(joint[1]) == 1 else f"({joint[1]})"
        sign = "-" if factor == -1 else ""
        # Positive ones first, so that 3-2 and not -23 is written for q_3 - q_2.
        found = f"{found}{sign}{number}" if sign else f"{number}{found}"
    signs = re.findall(r"-?(?:\d|\(\d+\))", found)
    positive = sorted(s for s in signs if not s.startswith("-"))
    return "".join((*positive, *sorted(s for s in signs if s.startswith("-"))))


def _is_long_decimal(value: sp.Rational) -> bool:
    return bool(value.q > _SMALL)


class TexPrinter(LatexPrinter):  # type: ignore[misc]
    """LaTeX in the notation of this page."""

    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        name = expr.name
        numbered = _NUMBERED.fullmatch(name)
        if numbered:
            return f"{tex_name(numbered[1])}_{{{numbered[2]}}}"
        return str(name) if name.startswith("\\") else tex_name(name.replace("_", r"\_"))

    def _trigonometric(self, name: str, expr: sp.Expr, exp: Any) -> str:
        """Return a cosine or sine; SymPy's own `_print_Function` would call this printer again."""
        short = short_form(expr.args[0])
        power = f"^{{{exp}}}" if exp is not None else ""
        if short:
            return f"{name[0]}_{{{short}}}{power}"
        return rf"\{name}{power}{{\left({self._print(expr.args[0])} \right)}}"

    def _print_cos(self, expr: sp.Expr, exp: Any = None) -> str:
        return self._trigonometric("cos", expr, exp)

    def _print_sin(self, expr: sp.Expr, exp: Any = None) -> str:
        return self._trigonometric("sin", expr, exp)

    def _print_atan2(self, expr: sp.Expr) -> str:
        y, x = (self._print(argument) for argument in expr.args)
        return rf"\operatorname{{atan2}}\left({y}, {x}\right)"

    def _print_Float(self, expr: sp.Float) -> str:
        mantissa, _, power = number_text(float(expr)).partition("e")
        return rf"{mantissa} \cdot 10^{{{int(power)}}}" if power else mantissa

    def _print_Rational(self, expr: sp.Rational) -> str:
        if _is_long_decimal(expr):
            return number_text(float(expr))
        return str(super()._print_Rational(expr))


class PagePrinter(MathMLPresentationPrinter):  # type: ignore[misc]
    """MathML in the same notation; browsers draw it without any script or network."""

    def _leaf(self, tag: str, text: str) -> Any:
        node = self.dom.createElement(tag)
        node.appendChild(self.dom.createTextNode(text))
        return node

    def _with_index(self, base: str, index: str) -> Any:
        node = self.dom.createElement("msub")
        node.appendChild(self._leaf("mi", base))
        node.appendChild(self._leaf("mi" if index.isalpha() else "mn", index))
        return node

    def _print_Symbol(self, sym: sp.Symbol, style: str = "plain") -> Any:
        numbered = _NUMBERED.fullmatch(sym.name)
        if numbered:
            return self._with_index(greek_letter(numbered[1]), numbered[2])
        return self._leaf("mi", greek_letter(sym.name))

    def _print_cos(self, expr: sp.Expr) -> Any:
        short = short_form(expr.args[0])
        return self._with_index("c", short) if short else self._print_Function(expr)

    def _print_sin(self, expr: sp.Expr) -> Any:
        short = short_form(expr.args[0])
        return self._with_index("s", short) if short else self._print_Function(expr)

    def _print_atan2(self, expr: sp.Expr) -> Any:
        node = self.dom.createElement("mrow")
        y, x = (self._print(argument) for argument in expr.args)
        leaf = self._leaf
        for part in (leaf("mi", "atan2"), leaf("mo", "("), y, leaf("mo", ","), x, leaf("mo", ")")):
            node.appendChild(part)
        return node

    def _print_Float(self, expr: sp.Float) -> Any:
        return self._leaf("mn", number_text(float(expr)).replace("-", "\u2212"))

    def _print_Rational(self, expr: sp.Rational) -> Any:
        if _is_long_decimal(expr):
            return self._leaf("mn", number_text(float(expr)))
        return super()._print_Rational(expr)

    def _print_MatrixBase(self, matrix: sp.Matrix) -> Any:
        table = self.dom.createElement("mtable")
        for i in range(matrix.rows):
            row = self.dom.createElement("mtr")
            for j in range(matrix.cols):
                cell = self.dom.createElement("mtd")
                cell.appendChild(self._print(matrix[i, j]))
                row.appendChild(cell)
            table.appendChild(row)
        node = self.dom.createElement("mrow")
        for part in (self._leaf("mo", "["), table, self._leaf("mo", "]")):
            node.appendChild(part)
        return node

    _print_ImmutableDenseMatrix = _print_MatrixBase  # noqa: N815


def latex(formula: Any) -> str:
    """Return a formula as LaTeX."""
    text = str(TexPrinter({"mat_delim": "[", "mat_str": "matrix"}).doprint(formula))
    return _WORD_TIMES.sub(r"\1 \\, ", text)


def mathml(formula: Any) -> str:
    """Return a formula as the content of a <math> element."""
    printer = PagePrinter()
    text = str(printer._print(sp.sympify(formula)).toxml())
    plain = {} if "<mfrac>" in text else _PLAIN
    for entity, character in (_ENTITIES | plain).items():  # XML knows none of the first
        text = text.replace(entity, character)
    return _MATHML_WORD_TIMES.sub(r'\1<mspace width="0.17em"></mspace>', text)
