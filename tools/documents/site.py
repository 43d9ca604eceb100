# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Hooks of MkDocs that take pages from their places in the repository.

A page keeps its path in the repository, so relative links between pages work on GitHub and in the
site. A source file that a page links to becomes a page that shows it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from posixpath import join, normpath
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mkdocs.structure.files import File, Files, InclusionLevel

from documents.blocks import NOT_TYPED, ROOT, pages

PICTURES = ("docs/**/*.svg", "docs/**/*.png", "docs/**/*.gif", "docs/site.css")
LANGUAGES = {".py": "python", ".cpp": "cpp", ".yaml": "yaml", ".json": "json", ".xml": "xml"}
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)


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
    """Point links to sources to the pages that show them; turn words of a fence into its title."""
    here = Path(page.file.src_uri).parent.as_posix()

    def link(found: re.Match[str]) -> str:
        target, anchor = found[1], found[2] or ""
        name = normpath(join(here, target))
        return f"]({target}.md{anchor})" if _is_source(name) else found[0]

    def fence(found: re.Match[str]) -> str:
        language = {"keys": "text"}.get(found[1], found[1])
        return f'```{language} title="{NOT_TYPED.get(found[2], found[2])}"'

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
