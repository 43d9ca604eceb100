# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
r"""Sentences with formulas between $ signs, such as "$\theta_i$ turns about z".

The formulas are in a part of LaTeX, which Markdown and LaTeX take as it is: letters, numbers,
signs, Greek letters, sub- and superscripts, fractions, roots, the commands below. For a page in
HTML they become MathML.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator

from sympy.core.alphabets import greeks

_FORMULA = re.compile(r"(?<!\\)\$((?:[^$\\]|\\.)+)\$")
_GREEK = "|".join(sorted(greeks))
_SYMBOL = re.compile(
    rf"\b(?:(?P<base>[A-Za-z]{{1,2}}|{_GREEK})_(?P<index>\d+|[xyz])|(?P<letter>{_GREEK}))\b"
)
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[^\s]")
_SIGNS = {
    "cdot": "\u22c5",
    "cdots": "\u22ef",
    "times": "\u00d7",
    "pm": "\u00b1",
    "mp": "\u2213",
    "le": "\u2264",
    "ge": "\u2265",
    "ne": "\u2260",
    "approx": "\u2248",
    "in": "\u2208",
    "to": "\u2192",
    "circ": "\u2218",
    "{": "{",
    "}": "}",
    "|": "\u2016",
}
_FUNCTIONS = ("sin", "cos", "tan", "arctan", "arccos", "exp", "det", "max", "min")
_IGNORED = (r"\left", r"\right")
_SPACES = {",": "0.17em", ";": "0.28em", " ": "0.33em"}
_UPRIGHT = (r"\mathrm", r"\operatorname", r"\text")
_FORMS = dict.fromkeys("([", "prefix") | dict.fromkeys(")]", "postfix")
_FULL_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def literal(text: str) -> str:
    """Escape the $ signs of a text so that they begin no formula in a sentence."""
    return text.replace("$", r"\$")


def with_symbols(text: str) -> str:
    """Return a sentence whose symbols, such as q_2, r_13 and phi, are formulas."""
    return _SYMBOL.sub(_as_formula, text)


def _as_formula(match: re.Match[str]) -> str:
    if match["letter"]:
        return f"${tex_name(match['letter'])}$"
    return f"${tex_name(match['base'])}_{{{match['index']}}}$"


def tex_name(name: str) -> str:
    """Return a name in LaTeX: a Greek letter, a letter, or an upright word."""
    if name in greeks:
        return rf"\{name}"
    return name if len(name) == 1 else rf"\mathrm{{{name}}}"


def spans(sentence: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a sentence: True and LaTeX for a formula, else False and text."""
    at = 0
    for match in _FORMULA.finditer(sentence):
        if match.start() > at:
            yield False, sentence[at : match.start()].replace(r"\$", "$")
        yield True, match[1]
        at = match.end()
    if at < len(sentence):
        yield False, sentence[at:].replace(r"\$", "$")


def greek_letter(name: str) -> str:
    """Return a Greek letter by its English name; any other name as it is."""
    if name not in greeks:
        return name
    return unicodedata.lookup(
        f"GREEK SMALL LETTER {'LAMDA' if name == 'lambda' else name.upper()}"
    )


def mathml_of(tex: str) -> str:
    """Return a formula in LaTeX as the content of a <math> element.

    Raises:
        ValueError: It has a command that is not known here.
    """
    return _TexReader(_TOKEN.findall(tex)).row("")


class _TexReader:
    """Reads the tokens of one formula from left to right."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens[::-1]

    def row(self, end: str) -> str:
        """Return the MathML of everything before a token, or before the end."""
        parts: list[str] = []
        while self._tokens and self._tokens[-1] != end:
            if self._tokens[-1] in ("_", "^"):
                base = parts.pop() if parts else "<mrow></mrow>"
                parts.append(self._with_scripts(base))
            else:
                parts.append(self._item(_begins(parts)))
        if end:
            self._next()
        return "".join(parts)

    def _next(self) -> str:
        if not self._tokens:
            raise ValueError("the formula ends too early")
        return self._tokens.pop()

    def _with_scripts(self, base: str) -> str:
        scripts = {}
        while self._tokens and self._tokens[-1] in ("_", "^"):
            sign = self._next()
            scripts[sign] = self._item()
        tag = {"_": "msub", "^": "msup"}.get("".join(scripts), "msubsup")
        return f"<{tag}>{base}{scripts.get('_', '')}{scripts.get('^', '')}</{tag}>"

    def _item(self, begins: bool = False) -> str:
        """Return the next item; a sign that begins a term stands close to it."""
        token = self._next()
        if token == "{":
            return f"<mrow>{self.row('}')}</mrow>"
        if token in _IGNORED:
            return self._item()
        if token in _UPRIGHT:
            return f"<mi>{self._word()}</mi>"
        if token == r"\frac":
            return f"<mfrac>{self._item()}{self._item()}</mfrac>"
        if token == r"\sqrt":
            return f"<msqrt>{self._item()}</msqrt>"
        if token[0] == "\\":
            return self._named(token[1:])
        if _FULL_NUMBER.fullmatch(token):
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        sign = {"-": "\u2212", "'": "\u2032"}.get(token, html.escape(token))
        form = "prefix" if begins and token in "+-" else _FORMS.get(token)
        return f'<mo form="{form}" stretchy="false">{sign}</mo>' if form else f"<mo>{sign}</mo>"

    def _named(self, name: str) -> str:
        if name in greeks:
            return f"<mi>{greek_letter(name)}</mi>"
        if name in _FUNCTIONS:
            apart = "" if self._tokens[-1:] in (["("], ["^"]) else _space(",")
            return f"<mi>{name}</mi>{apart}"
        if name in _SPACES:
            return _space(name)
        if name in _SIGNS:
            return f"<mo>{_SIGNS[name]}</mo>"
        raise ValueError(f"\\{name} is not known")

    def _word(self) -> str:
        self._next()  # the opening brace
        letters = []
        while (token := self._next()) != "}":
            letters.append(token.removeprefix("\\"))
        return html.escape("".join(letters))


def _begins(parts: list[str]) -> bool:
    """Return True if a term begins after the given parts of a formula."""
    return not parts or (parts[-1].startswith("<mo") and "postfix" not in parts[-1])


def _space(name: str) -> str:
    return f'<mspace width="{_SPACES[name]}"></mspace>'
