# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""PDF pages: by a browser, by LaTeX, and the sentence where there is neither."""

import re
import shutil
from pathlib import Path

import pytest
from arm_studio.commands import explain
from arm_studio.derivation import printing
from arm_viewer.screenshot import PROGRAMS

LATEX = ("latexmk", "pdflatex", "tectonic")


def only(monkeypatch, names):
    """Leave only some programs of this computer to be found."""
    found = {name: shutil.which(name) for name in names}
    monkeypatch.setattr(printing.shutil, "which", found.get)
    return any(found.values())


@pytest.mark.parametrize("programs", [PROGRAMS, LATEX], ids=["browser", "LaTeX"])
def test_pdf_is_made_by(programs, monkeypatch, tmp_path):
    if not only(monkeypatch, programs):
        pytest.skip(f"none of {', '.join(programs)} is installed")
    page = tmp_path / "planar2.pdf"
    assert explain.main(["planar2", "-o", str(page)]) == 0
    data = page.read_bytes()
    assert data.startswith(b"%PDF-") and b"%%EOF" in data[-20:]
    assert [file.name for file in tmp_path.iterdir()] == ["planar2.pdf"]
    if programs is PROGRAMS:  # others compress the tree of the pages
        sizes = {tuple(map(float, m.split())) for m in re.findall(rb"/MediaBox \[([^]]*)\]", data)}
        width, height = (round(size) for size in sizes.pop()[2:])
        assert (width, height) in ((595, 842), (596, 842)) and not sizes


def test_without_a_program_one_sentence_comes_before_any_work(monkeypatch, tmp_path, capsys):
    only(monkeypatch, ())
    page = tmp_path / "planar2.pdf"
    assert explain.main(["planar2", "-o", str(page)]) == 1
    error = capsys.readouterr().err
    assert "neither a browser" in error and error.count("\n") == 1 and not page.exists()


@pytest.mark.parametrize("script", ["exit 3", "exec sleep 60"], ids=["fails", "hangs"])
def test_a_program_that_makes_no_pdf_is_named(script, monkeypatch, tmp_path, capsys):
    program = tmp_path / "chromium"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(printing.shutil, "which", {"chromium": str(program)}.get)
    monkeypatch.setattr(printing, "TIME", 1.0)
    assert explain.main(["planar2", "-o", str(tmp_path / "p.pdf")]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"{program} made no PDF" in error and not (tmp_path / "p.pdf").exists()


def test_drawings_lie_beside_the_page_that_latex_reads(tmp_path):
    seen = tmp_path / "seen"
    command = ["/bin/sh", "-c", f"ls > {seen}; printf %s %PDF > page.pdf"]
    press = printing.PdfProgram(".tex", "sh", lambda _, folder: command)
    assert press.pdf(b"text", {"drawing.pdf": b"x"}) == b"%PDF"
    assert Path(seen).read_text().split() == ["drawing.pdf", "page.tex"]
