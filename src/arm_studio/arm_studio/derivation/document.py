# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A page of headings, sentences, formulas, tables and a picture, as HTML, Markdown or LaTeX."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sympy as sp
from arm_kinematics.errors import KinematicsError

from arm_studio.derivation.notation import latex, mathml, number_text

Table = Sequence[Sequence[str]]
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1f2328; background: #fff }
h1, h2, h3 { line-height: 1.25 }
h2 { margin-top: 2.2rem; border-bottom: 1px solid #d0d7de }
math { font-size: 1.05em }
.formula { overflow: auto hidden; padding-bottom: .3rem; margin: .8rem 0 .8rem 1.5rem }
mtd { padding: .15em .5em }
table { border-collapse: collapse; margin: 1rem 0 }
td, th { border: 1px solid #d0d7de; padding: .25rem .7rem; text-align: left }
figure { margin: 1rem 0 }
figure img { max-width: 34rem; width: 100% }
figcaption { color: #57606a }
"""
_PREAMBLE = r"""\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,graphicx}
\usepackage[margin=2cm]{geometry}
\setcounter{MaxMatrixCols}{20}
\begin{document}
"""
_SECTIONS = {1: "section*", 2: "subsection*", 3: "subsubsection*"}
_SPECIAL = str.maketrans(
    {c: rf"\{c}" for c in "#$%&_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "\N{DEGREE SIGN}": r"$^\circ$"}
)


class _Html:
    drawing = "svg"

    def page(self, title: str, body: str) -> str:
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>{html.escape(title)}'
            f"</title><style>{_STYLE}</style></head><body>\n{body}\n</body></html>\n"
        )

    def heading(self, text: str, level: int) -> str:
        return f"<h{level}>{html.escape(text)}</h{level}>"

    def paragraph(self, text: str) -> str:
        return f"<p>{html.escape(text)}</p>"

    def formula(self, parts: Sequence[Any]) -> str:
        texts = (
            f"<mtext>{html.escape(p)}</mtext>" if isinstance(p, str) else mathml(p) for p in parts
        )
        math = f'<math display="block">{"<mo>=</mo>".join(texts)}</math>'
        return f'<div class="formula">{math}</div>'

    def inline(self, formula: Any) -> str:
        return f"<math>{mathml(formula)}</math>"

    def text(self, text: str) -> str:
        return html.escape(text)

    def table(self, head: Sequence[str], rows: Table) -> str:
        lines = ["".join(f"<th>{cell}</th>" for cell in head)]
        lines += ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
        return "<table>" + "".join(f"<tr>{line}</tr>\n" for line in lines) + "</table>"

    def picture(self, file: str, data: bytes, caption: str) -> str:
        caption, inside = html.escape(caption), base64.b64encode(data).decode()
        return (
            f'<figure><img alt="{caption}" src="data:image/svg+xml;base64,{inside}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )


class _Markdown:
    drawing = "svg"

    def page(self, title: str, body: str) -> str:
        return f"{body}\n"

    def heading(self, text: str, level: int) -> str:
        return f"{'#' * level} {text}"

    def formula(self, parts: Sequence[Any]) -> str:
        return f"$$\n{self._equation(parts)}\n$$"

    def _equation(self, parts: Sequence[Any]) -> str:
        texts = (rf"\text{{{_tex(p)}}}" if isinstance(p, str) else latex(p) for p in parts)
        return " = ".join(texts)

    def inline(self, formula: Any) -> str:
        return f"${latex(formula)}$"

    def text(self, text: str) -> str:
        return text

    paragraph = text

    def table(self, head: Sequence[str], rows: Table) -> str:
        lines = [head, ["---"] * len(head), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def picture(self, file: str, data: bytes, caption: str) -> str:
        return f"![{caption}]({file})"


class _Latex(_Markdown):
    drawing = "pdf"

    def page(self, title: str, body: str) -> str:
        return f"{_PREAMBLE}{body}\n\\end{{document}}\n"

    def heading(self, text: str, level: int) -> str:
        return f"\\{_SECTIONS[level]}{{{_tex(text)}}}"

    def formula(self, parts: Sequence[Any]) -> str:
        return f"\\[\n{self._equation(parts)}\n\\]"

    def text(self, text: str) -> str:
        return _tex(text)

    paragraph = text

    def table(self, head: Sequence[str], rows: Table) -> str:
        lines = [" & ".join(head) + r" \\ \hline", *(" & ".join(row) + r" \\" for row in rows)]
        body = "\n".join(lines)
        return f"\\begin{{tabular}}{{{'l' * len(head)}}}\n{body}\n\\end{{tabular}}"

    def picture(self, file: str, data: bytes, caption: str) -> str:
        return f"\\includegraphics[width=0.6\\linewidth]{{{file}}}\n\n{_tex(caption)}"


def _tex(text: str) -> str:
    return text.translate(_SPECIAL)


FORMATS: dict[str, _Html | _Markdown] = {".html": _Html(), ".md": _Markdown(), ".tex": _Latex()}


class DerivationPage:
    """A page that is written from its top to its end.

    Args:
        path: of its file, whose ending is one of FORMATS.

    Raises:
        KinematicsError: It has another ending.
    """

    def __init__(self, path: Path) -> None:
        kind = path.suffix.lower()
        if kind not in FORMATS:
            raise KinematicsError(
                f"cannot write {f'a {kind!r} page' if kind else 'a page without an ending'};"
                f" choose a name that ends in {', '.join(FORMATS)}",
                what="output",
            )
        self._path, self._format = path, FORMATS[kind]
        self._title, self._parts = "", list[str]()
        self._drawings: dict[Path, bytes] = {}

    def files(self) -> dict[Path, bytes]:
        """Return the content of the page's file, and of a drawing that .md and .tex need."""
        text = self._format.page(self._title, "\n\n".join(self._parts))
        return {self._path: text.encode(), **self._drawings}

    def heading(self, text: str, level: int = 2) -> None:
        """Append a heading; level 1 is the title."""
        self._title = self._title or text
        self._parts.append(self._format.heading(text, level))

    def say(self, text: str) -> None:
        """Append a paragraph."""
        self._parts.append(self._format.paragraph(text))

    def show(self, *parts: Any) -> None:
        """Append a formula: expressions, matrices or names with = between them."""
        self._parts.append(self._format.formula(parts))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Append a table; a cell is a text, a number or an expression."""
        cells = [[self._cell(cell) for cell in row] for row in (head, *rows)]
        self._parts.append(self._format.table(cells[0], cells[1:]))

    def _cell(self, cell: Any) -> str:
        if isinstance(cell, sp.Basic | sp.MatrixBase):
            return self._format.inline(cell)
        return self._format.text(number_text(cell) if isinstance(cell, float) else str(cell))

    def picture(self, draw: Callable[[str], bytes], caption: str) -> None:
        """Append a drawing; the function takes "svg" or "pdf"."""
        kind = self._format.drawing
        file = self._path.with_name(f"{self._path.stem}_frames.{kind}")  # LaTeX makes another PDF
        data = draw(kind)
        if not isinstance(self._format, _Html):  # which contains it
            self._drawings[file] = data
        self._parts.append(self._format.picture(file.name, data, caption))
