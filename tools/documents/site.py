# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Hooks of MkDocs that take pages from their places in the repository.

A page keeps its path in the repository, so relative links between pages work on GitHub and in the
site. A source file that a page links to becomes a page that shows it. Formulas, which GitHub draws
from LaTeX, become SVG; badges, which come from the internet, are left out.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from html import escape
from pathlib import Path
from posixpath import join, normpath
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Curve
from matplotlib.textpath import TextPath
from mkdocs.structure.files import File, Files, InclusionLevel

from documents.blocks import NOT_TYPED, ROOT, pages

UNTITLED = ("long", "screen")  # words of fences that tell a reader nothing
PICTURES = ("docs/**/*.svg", "docs/**/*.png", "docs/**/*.gif", "docs/site.css")
LANGUAGES = {".py": "python", ".cpp": "cpp", ".yaml": "yaml", ".json": "json", ".xml": "xml"}
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
_BADGES = re.compile(r"^(\[!\[.*\)\n)+", re.MULTILINE)
_FORMULA = re.compile(r"^```math\n(.+?)\n```$|\$`([^`\n]+)`\$", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Return pages, pictures and linked source files; the theme's own files stay."""
    taken = [file for file in files if file.src_dir != config.docs_dir]
    for path in (*pages(), *(p for pattern in PICTURES for p in sorted(ROOT.glob(pattern)))):
        taken.append(_file(path.relative_to(ROOT).as_posix(), config))
    for name in sorted({name for page in pages() for name in _sources(page)}):
        text = (ROOT / name).read_text(encoding="utf-8")
        shown = f"---\nsearch: {{exclude: true}}\n---\n# {name}\n\n{_fenced(name, text)}\n"
        file = File.generated(config, f"{name}.md", content=shown)
        file.inclusion = InclusionLevel.NOT_IN_NAV
        taken.append(file)
    return Files(taken)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links to sources to their pages; titles from words of fences; draw formulas."""
    here = Path(page.file.src_uri).parent.as_posix()

    def link(found: re.Match[str]) -> str:
        target, anchor = found[1], found[2] or ""
        name = normpath(join(here, target))
        return f"]({target}.md{anchor})" if _is_source(name) else found[0]

    def fence(found: re.Match[str]) -> str:
        language = {"keys": "text"}.get(found[1], found[1])
        title = NOT_TYPED.get(found[2], found[2])
        return f"```{language}" + ("" if found[2] in UNTITLED else f' title="{title}"')

    markdown = _FORMULA.sub(_drawn, _BADGES.sub("", markdown))
    return _FENCE.sub(fence, _LINK.sub(link, markdown))


def _file(name: str, config: Any) -> File:
    """Return a file of the repository; docs/ becomes the top of the site."""
    file = File(name, str(ROOT), config.site_dir, config.use_directory_urls)
    file.dest_uri = file.dest_uri.removeprefix("docs/")
    return file


def _sources(page: Path) -> set[str]:
    """Return the source files that a page links to."""
    here = page.relative_to(ROOT).parent.as_posix()
    found = _LINK.findall(page.read_text(encoding="utf-8"))
    names = {normpath(join(here, target)) for target, _ in found if "://" not in target}
    return {name for name in names if _is_source(name)}


def _is_source(name: str) -> bool:
    path = ROOT / name
    return path.is_file() and path.suffix not in (".md", ".svg", ".png", ".gif")


def _fenced(name: str, text: str) -> str:
    return f"```` {LANGUAGES.get(Path(name).suffix, 'text')}\n{text.rstrip()}\n````"


def _drawn(found: re.Match[str]) -> str:
    return f"<p>{_formula(found[1])}</p>" if found[1] else _formula(found[2])


@cache
def _formula(tex: str) -> str:
    """Return a formula as SVG in the colour and size of the text, on its line."""
    path = TextPath((0.0, 0.0), f"${tex}$", 1.0, FontProperties(math_fontfamily="stix"))
    box = path.get_extents().padded(0.03)
    parts = [
        "Z" if code == Curve.CLOSEPOLY else "-MLQC"[code] + " ".join(f"{v:.3f}" for v in points)
        for points, code in path.iter_segments()
    ]
    view = f"{box.x0:.3f} {-box.y1:.3f} {box.width:.3f} {box.height:.3f}"
    size = f"width:{box.width:.2f}em;height:{box.height:.2f}em;vertical-align:{box.y0:.2f}em"
    return (
        f'<svg role="img" aria-label="{escape(tex)}" viewBox="{view}" style="{size}" '
        f'fill="currentColor"><path transform="scale(1 -1)" d="{"".join(parts)}"/></svg>'
    )
