# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""PDF of a page by a program of this computer: a browser without a window, or LaTeX."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from subprocess import DEVNULL
from typing import NamedTuple

from arm_kinematics.errors import KinematicsError
from arm_viewer.screenshot import FLAGS, PROGRAMS

_QUIET = ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape")
_LATEX = {"latexmk": ("-pdf", *_QUIET), "pdflatex": _QUIET, "tectonic": ()}  # and their options
TIME = 120.0  # [s] for one page; the first start of a browser takes long


def _browser(program: str, folder: Path) -> list[str]:
    profile = f"--user-data-dir={folder / 'profile'}"
    output = ["--no-pdf-header-footer", f"--print-to-pdf={folder / 'page.pdf'}"]
    return [program, "--headless", *FLAGS, profile, *output, (folder / "page.html").as_uri()]


def _latex(options: Sequence[str], program: str, folder: Path) -> list[str]:
    return [program, *options, str(folder / "page.tex")]


class PdfProgram(NamedTuple):
    """A program that makes a PDF.

    Attributes:
        source: Ending of the page that it takes.
        program: Its path.
        command: Makes its command line of the path, and of the folder with ``page``.
    """

    source: str
    program: str
    command: Callable[[str, Path], list[str]]

    def pdf(self, text: bytes, drawings: Mapping[str, bytes]) -> bytes:
        """Return the PDF of a page and of the files that it names.

        Raises:
            KinematicsError: The program fails.
        """
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            folder = Path(name)
            for file, data in {f"page{self.source}": text, **drawings}.items():
                (folder / file).write_bytes(data)
            command = self.command(self.program, folder)
            try:
                # by pipes, its own children could keep this waiting after its time
                run = partial(subprocess.run, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
                run(command, cwd=folder, timeout=TIME, check=False)
                return (folder / "page.pdf").read_bytes()
            except (OSError, subprocess.TimeoutExpired) as error:
                raise KinematicsError(
                    f"{self.program} made no PDF; write a {self.source} page and print that",
                    what="output",
                ) from error


def find_pdf_program() -> PdfProgram:
    """Return the first program of this computer that makes a PDF.

    Raises:
        KinematicsError: There is none.
    """
    for name in PROGRAMS:
        if program := shutil.which(name):
            return PdfProgram(".html", program, _browser)
    for name, options in _LATEX.items():
        if program := shutil.which(name):
            return PdfProgram(".tex", program, partial(_latex, options))
    raise KinematicsError(
        "neither a browser (Chromium, Chrome, Edge) nor LaTeX is installed, which make a PDF;"
        " write a .html page and print it from a browser",
        what="output",
    )
