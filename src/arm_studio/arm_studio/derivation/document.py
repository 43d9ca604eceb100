# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A page of headings, sentences, formulas, tables and a picture, as HTML, Markdown or LaTeX."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sympy as sp
from arm_kinematics.errors import KinematicsError

from arm_studio.derivation.notation import latex, mathml, number_text

FORMATS = (".html", ".md", ".tex")


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Sentences:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Formula:
    """Expressions with = between them; a name on the left is a text."""

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class Rows:
    """A table; a cell is a text or an expression."""

    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Picture:
    """A drawing, which a function draws as SVG or PDF."""

    draw: Callable[[str], bytes]  # takes "svg" or "pdf"
    caption: str


@dataclass
class DerivationPage:
    """The blocks of a page, in order."""

    blocks: list[Any] = field(default_factory=list)

    def heading(self, text: str, level: int = 2) -> None:
        """Append a heading."""
        self.blocks.append(Heading(text, level))

    def say(self, text: str) -> None:
        """Append a paragraph."""
        self.blocks.append(Sentences(text))

    def show(self, *parts: Any) -> None:
        """Append a formula: expressions, matrices or names with = between them."""
        self.blocks.append(Formula(parts))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Append a table."""
        self.blocks.append(Rows(tuple(head), rows))

    def picture(self, draw: Callable[[str], bytes], caption: str) -> None:
        """Append a drawing; the function takes "svg" or "pdf"."""
        self.blocks.append(Picture(draw, caption))


def rendered(page: DerivationPage, path: Path) -> dict[Path, bytes]:
    """Return the content of the page's file, and of the drawing that .md and .tex need beside it.

    Raises:
        KinematicsError: The name of the file has another ending.
    """
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise KinematicsError(
            f"cannot write {f'a {kind!r} page' if kind else 'a page without an ending'};"
            " choose a name that ends in "
            f"{', '.join(FORMATS)}",
            what="output",
        )
    if kind == ".html":
        return {path: _html(page).encode()}
    write, format_ = (_markdown, "svg") if kind == ".md" else (_tex_page, "pdf")
    drawing = path.with_name(f"{path.stem}_frames.{format_}")  # not the PDF that LaTeX makes
    files = {path: write(page, drawing.name).encode()}
    for block in page.blocks:
        if isinstance(block, Picture):
            files[drawing] = block.draw(format_)
    return files


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


def _html(page: DerivationPage) -> str:
    title = next((b.text for b in page.blocks if isinstance(b, Heading)), "")
    body = "\n".join(_html_block(block) for block in page.blocks)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )


def _html_block(block: Any) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{html.escape(text)}</h{level}>"
        case Sentences(text):
            return f"<p>{html.escape(text)}</p>"
        case Formula(parts):
            inner = "<mo>=</mo>".join(_html_part(part) for part in parts)
            return f'<div class="formula"><math display="block">{inner}</math></div>'
        case Rows(head, rows):
            lines = ["".join(f"<th>{html.escape(cell)}</th>" for cell in head)]
            lines += ["".join(f"<td>{_html_cell(cell)}</td>" for cell in row) for row in rows]
            return "<table>" + "".join(f"<tr>{line}</tr>\n" for line in lines) + "</table>"
    data = base64.b64encode(block.draw("svg")).decode()
    caption = html.escape(block.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _html_part(part: Any) -> str:
    return f"<mtext>{html.escape(part)}</mtext>" if isinstance(part, str) else mathml(part)


def _html_cell(cell: Any) -> str:
    return _cell(cell, lambda formula: f"<math>{mathml(formula)}</math>", html.escape)


def _cell(cell: Any, formula: Callable[[Any], str], text: Callable[[str], str] = str) -> str:
    """Return a cell of a table by what writes formulas, or what writes texts and numbers."""
    if isinstance(cell, sp.Basic | sp.MatrixBase):
        return formula(cell)
    return text(number_text(cell) if isinstance(cell, float) else str(cell))


def _tex_parts(parts: Sequence[Any]) -> str:
    return " = ".join(rf"\text{{{_tex(p)}}}" if isinstance(p, str) else latex(p) for p in parts)


def _markdown(page: DerivationPage, drawing: str) -> str:
    return "\n\n".join(_markdown_block(block, drawing) for block in page.blocks) + "\n"


def _markdown_block(block: Any, drawing: str) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Sentences(text):
            return str(text)
        case Formula(parts):
            return f"$$\n{_tex_parts(parts)}\n$$"
        case Rows(head, rows):
            lines = [head, ["---"] * len(head)]
            lines += [[_markdown_cell(cell) for cell in row] for row in rows]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"![{block.caption}]({drawing})"


def _markdown_cell(cell: Any) -> str:
    return _cell(cell, lambda formula: f"${latex(formula)}$")


_PREAMBLE = r"""\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,graphicx}
\usepackage[margin=2cm]{geometry}
\setcounter{MaxMatrixCols}{20}
\begin{document}
"""
_SECTIONS = {1: "section*", 2: "subsection*", 3: "subsubsection*"}


def _tex_page(page: DerivationPage, drawing: str) -> str:
    body = "\n\n".join(_tex_block(block, drawing) for block in page.blocks)
    return f"{_PREAMBLE}{body}\n\\end{{document}}\n"


def _tex_block(block: Any, drawing: str) -> str:
    match block:
        case Heading(text, level):
            return f"\\{_SECTIONS[level]}{{{_tex(text)}}}"
        case Sentences(text):
            return _tex(text)
        case Formula(parts):
            return f"\\[\n{_tex_parts(parts)}\n\\]"
        case Rows(head, rows):
            lines = [" & ".join(map(_tex, head)) + r" \\ \hline"]
            lines += [" & ".join(map(_tex_cell, row)) + r" \\" for row in rows]
            table = "\n".join(lines)
            return f"\\begin{{tabular}}{{{'l' * len(head)}}}\n{table}\n\\end{{tabular}}"
    return f"\\includegraphics[width=0.6\\linewidth]{{{drawing}}}\n\n{_tex(block.caption)}"


def _tex_cell(cell: Any) -> str:
    return _cell(cell, lambda formula: f"${latex(formula)}$", _tex)


_SPECIAL = str.maketrans(
    {c: rf"\{c}" for c in "#$%&_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "\N{DEGREE SIGN}": r"$^\circ$"}
)


def _tex(text: str) -> str:
    return text.translate(_SPECIAL)
