# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The site builds with strict checks: no broken link or anchor, no page left out."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from documents.blocks import ROOT, pages


def build(config, folder):
    """Build a site; return the completed process."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", folder],
        capture_output=True,
        text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def place(page):
    """Return the path in the site of a page of the repository."""
    name = page.relative_to(ROOT).as_posix().removeprefix("docs/")
    return re.sub(r"(README)?\.md$", lambda found: "index.html" if found[1] else ".html", name)


def test_every_page_is_built(site):
    assert len(pages()) > 20
    for page in pages():
        assert (site / place(page)).is_file(), page


def test_every_internal_link_leads_to_a_file(site):
    links = 0
    for page in site.rglob("*.html"):
        if page.name == "404.html":
            continue
        for target in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', page.read_text()):
            assert (page.parent / target).resolve().exists(), f"{page.name}: {target}"
            links += 1
    assert links > 500


def test_pages_load_nothing_from_the_internet(site):
    for page in site.rglob("*.html"):
        assert not re.search(r'(?:src|<link[^>]*href)="https?://', page.read_text()), page


def test_linked_source_file_becomes_a_page(site):
    shown = (site / "src/arm_tasks/arm_tasks/bringup/processes.py.html").read_text()
    assert "ARGUMENTS" in shown


def test_words_after_a_fence_become_titles(site):
    assert "needs a person at a screen" not in (site / "reference/teleop.html").read_text()
    assert "needs servos on their board" in (site / "tutorials/on_the_pi.html").read_text()
    assert "scara.yaml" in (site / "tutorials/from_a_dh_table.html").read_text()


def test_every_item_of_a_list_is_an_item_of_the_site(site):
    """Behind an indented paragraph, Python-Markdown needs a blank line, GitHub does not."""
    for page in pages():
        text = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        items = re.findall(r"^(?:\d+\.|-) ", text, re.MULTILINE)
        shown = (site / place(page)).read_text().partition("<article")[2]
        assert shown.count("<li>") >= len(items), page


@pytest.mark.parametrize("link", ["docs/nowhere.md", "docs/safety.md#no-such-place"])
def test_broken_link_fails_the_build(tmp_path, link):
    for name in ("docs", "tools/documents"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "README.md").write_text(f"# Arm\n\n[there]({link})\n")
    text = (ROOT / "mkdocs.yml").read_text()
    (tmp_path / "mkdocs.yml").write_text(text.partition("nav:\n")[0])
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 1 and link in done.stdout + done.stderr


def test_formulas_are_drawn_and_badges_left_out(site):
    page = (site / "kinematics.html").read_text()
    assert page.count('<svg role="img"') > 20
    for name in ("kinematics.html", "screw.html"):
        assert "$`" not in (site / name).read_text() and "math</span>" not in name
    assert "badge" not in (site / "index.html").read_text()
