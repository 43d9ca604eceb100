# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A page of headings, sentences, formulas, tables and a picture, as HTML, Markdown or LaTeX."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sympy as sp
from arm_kinematics.errors import KinematicsError

from arm_studio.derivation import printing
from arm_studio.derivation.inline import literal, mathml_of, spans
from arm_studio.derivation.notation import latex, mathml

Table = Sequence[Sequence[str]]
# Brackets and roots grow only in a font with a table of mathematics.
_STYLE = """
@page { size: A4; margin: 16mm 17mm 18mm; @bottom-center { content: counter(page);
  font: 9pt system-ui, sans-serif; color: #57606a } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1f2328; background: #fff }
h1, h2, h3 { line-height: 1.25 }
h2 { margin-top: 2.2rem; border-bottom: 1px solid #d0d7de }
math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math",
  "DejaVu Math TeX Gyre", math; font-size: 1.05em }
.formula { display: inline-block; vertical-align: middle; max-width: 97%; overflow: auto hidden;
  margin: .4rem 0 .4rem 1.5rem }
mtd { padding: .15em .5em }
table { border-collapse: collapse; margin: 1rem 0 }
td, th { border: 1px solid #d0d7de; padding: .25rem .7rem; text-align: left; white-space: nowrap }
figure { margin: 1rem 0 }
figure img { max-width: 34rem; width: 100% }
figcaption { color: #57606a }
@media print {
  body { font-size: 10.5pt; line-height: 1.35; max-width: none; margin: 0; padding: 0 }
  h2 { margin-top: 1.4rem }
  h1, h2, h3, p:has(+ .formula) { break-after: avoid }
  tr, figure, .formula { break-inside: avoid }
  .formula { overflow: visible }
  p, li { orphans: 3; widows: 3 }
  td, th { padding: .1rem .5rem; border-color: #888; font-size: .92em }
  figure img { width: auto; max-width: 100%; max-height: 8.5cm }
}
"""
_WIDE = 80  # characters of a formula, above which it is set smaller
_SMALLEST = 45  # [%]
_PREAMBLE = r"""\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,graphicx}
\usepackage[margin=2cm]{geometry}
\setcounter{MaxMatrixCols}{20}
\setlength{\parindent}{0pt}\setlength{\parskip}{6pt}
\newsavebox{\formulabox}
\newcommand{\fitted}[1]{\sbox{\formulabox}{$\displaystyle #1$}%
  \ifdim\wd\formulabox>\linewidth\resizebox{\linewidth}{!}{\usebox{\formulabox}}%
  \else\usebox{\formulabox}\fi}
\begin{document}
"""
_SECTIONS = {1: "section*", 2: "subsection*", 3: "subsubsection*"}
_TAG = re.compile(r"<[^>]*>|\\[a-z]+|[${}]")
_SPECIAL = str.maketrans(
    {c: rf"\{c}" for c in "#$%&_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "\N{DEGREE SIGN}": r"$^\circ$"}
    | {"\N{PLUS-MINUS SIGN}": r"$\pm$", "\N{MINUS SIGN}": "$-$"}
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
        return f"<h{level}>{self.text(text)}</h{level}>"

    def paragraph(self, text: str) -> str:
        return f"<p>{self.text(text)}</p>"

    def formula(self, parts: Sequence[Any]) -> str:
        texts = [self._part(p) if isinstance(p, str) else mathml(p) for p in parts]
        width = sum(map(_width, parts))
        size = max(_SMALLEST, 100 * _WIDE // width) if width > _WIDE else 100
        style = f' style="font-size: {size}%"' if size < 100 else ""
        math = f'<math display="block"{style}>{"<mo>=</mo>".join(texts)}</math>'
        return f'<div class="formula">{math}</div>'

    def _part(self, text: str) -> str:
        return "".join(
            mathml_of(part) if is_formula else f"<mtext>{html.escape(part)}</mtext>"
            for is_formula, part in spans(text)
        )

    def inline(self, parts: Sequence[Any]) -> str:
        return f"<math>{'<mo>=</mo>'.join(map(mathml, parts))}</math>"

    def text(self, text: str) -> str:
        return "".join(
            f"<math>{mathml_of(part)}</math>" if is_formula else html.escape(part)
            for is_formula, part in spans(text)
        )

    def table(self, head: Sequence[str], rows: Table) -> str:
        lines = ["".join(f"<th>{cell}</th>" for cell in head)]
        lines += ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
        return "<table>" + "".join(f"<tr>{line}</tr>\n" for line in lines) + "</table>"

    def picture(self, file: str, data: bytes, caption: str) -> str:
        shown, inside = self.text(caption), base64.b64encode(data).decode()
        return (
            f'<figure><img alt="{html.escape(caption)}" src="data:image/svg+xml;base64,{inside}">'
            f"<figcaption>{shown}</figcaption></figure>"
        )


class _Markdown:
    drawing = "svg"

    def page(self, title: str, body: str) -> str:
        return f"{body}\n"

    def heading(self, text: str, level: int) -> str:
        return f"{'#' * level} {self.text(text)}"

    def formula(self, parts: Sequence[Any]) -> str:
        return f"$$\n{self._equation(parts)}\n$$"

    def _equation(self, parts: Sequence[Any]) -> str:
        texts = (rf"\text{{{_tex(p)}}}" if isinstance(p, str) else latex(p) for p in parts)
        return " = ".join(texts)

    def inline(self, parts: Sequence[Any]) -> str:
        return f"${' = '.join(map(latex, parts))}$"

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
        return f"\\[\n\\fitted{{{self._equation(parts)}}}\n\\]"

    def text(self, text: str) -> str:
        return _tex(text)

    paragraph = text

    def table(self, head: Sequence[str], rows: Table) -> str:
        lines = [" & ".join(head) + r" \\ \hline", *(" & ".join(row) + r" \\" for row in rows)]
        body = "\n".join(lines)
        return f"\\begin{{tabular}}{{{'l' * len(head)}}}\n{body}\n\\end{{tabular}}"

    def picture(self, file: str, data: bytes, caption: str) -> str:
        size = r"width=0.6\linewidth,height=8.5cm,keepaspectratio"
        return f"\\includegraphics[{size}]{{{file}}}\n\n{_tex(caption)}"


def _tex(text: str) -> str:
    """Return a sentence in LaTeX; its formulas are in LaTeX already."""
    parts = (f"${p}$" if is_formula else p.translate(_SPECIAL) for is_formula, p in spans(text))
    return "".join(parts)


def _width(part: Any) -> int:
    """Return about how many characters a part of a formula is wide."""
    if isinstance(part, sp.MatrixBase):
        return sum(max(_width(e) for e in part[:, j]) + 2 for j in range(part.cols))
    return len(_TAG.sub("", part if isinstance(part, str) else mathml(part)))


FORMATS: dict[str, _Html | _Markdown] = {".html": _Html(), ".md": _Markdown(), ".tex": _Latex()}
_PRINTED = ".pdf"  # of one of these, by another program


class DerivationPage:
    """A page that is written from its top to its end.

    A sentence may have formulas between $ signs (see `inline`); texts that others wrote are made
    literal.

    Args:
        path: of its file, whose ending is .pdf or one of FORMATS.

    Raises:
        KinematicsError: It has another ending, or no program makes a PDF of a page.
    """

    literal = staticmethod(literal)

    def __init__(self, path: Path) -> None:
        kind = path.suffix.lower()
        if kind not in (*FORMATS, _PRINTED):
            raise KinematicsError(
                f"cannot write {f'a {kind!r} page' if kind else 'a page without an ending'};"
                f" choose a name that ends in {', '.join((*FORMATS, _PRINTED))}",
                what="output",
            )
        self._pdf_program = printing.find_pdf_program() if kind == _PRINTED else None
        self._path = path
        self._format = FORMATS[self._pdf_program.source if self._pdf_program else kind]
        self._title, self._parts = "", list[str]()
        self._drawings: dict[Path, bytes] = {}

    def files(self) -> dict[Path, bytes]:
        """Return the content of the page's file, and of a drawing that .md and .tex need.

        Raises:
            KinematicsError: The program that makes a PDF fails.
        """
        text = self._format.page(self._title, self.body).encode()
        if self._pdf_program:
            drawings = {file.name: data for file, data in self._drawings.items()}
            return {self._path: self._pdf_program.pdf(text, drawings)}
        return {self._path: text, **self._drawings}

    @property
    def body(self) -> str:
        """What was written so far, without the head of a file."""
        return "\n\n".join(self._parts)

    def heading(self, text: str, level: int = 2) -> None:
        """Append a heading; level 1 is the title."""
        self._title = self._title or text
        self._parts.append(self._format.heading(text, level))

    def say(self, text: str) -> None:
        """Append a paragraph."""
        self._parts.append(self._format.paragraph(text))

    def show(self, *parts: Any) -> None:
        """Append a formula: expressions, matrices or sentences with = between them."""
        self._parts.append(self._format.formula(parts))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Append a table; a cell is a sentence, an expression, or some of them with = between."""
        cells = [[self._cell(cell) for cell in row] for row in (head, *rows)]
        self._parts.append(self._format.table(cells[0], cells[1:]))

    def _cell(self, cell: Any) -> str:
        if isinstance(cell, str):
            return self._format.text(cell)
        parts = cell if isinstance(cell, tuple) else (cell,)
        return self._format.inline([sp.sympify(part) for part in parts])

    def picture(self, draw: Callable[[str], bytes], caption: str) -> None:
        """Append a drawing; the function takes "svg" or "pdf"."""
        kind = self._format.drawing
        number = len(self._drawings) or ""
        # LaTeX makes another PDF of the name of the page.
        file = self._path.with_name(f"{self._path.stem}_frames{number}.{kind}")
        data = draw(kind)
        if not isinstance(self._format, _Html):  # which contains it
            self._drawings[file] = data
        self._parts.append(self._format.picture(file.name, data, caption))
