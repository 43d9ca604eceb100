# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the pages for contributors link to exists."""

import re

import pytest
from house.layout import SOURCE

REPOSITORY = SOURCE.parent
LINK = re.compile(r"\]\(([^)#]+)(?:#[\w-]+)?\)")
PATH = re.compile(r"`((?:src|tools|docs|docker|benchmarks)/[\w./-]+)`")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_each_path_exists(page):
    file = REPOSITORY / page
    text = file.read_text()
    links = [file.parent / link for link in LINK.findall(text) if "://" not in link]
    named = [REPOSITORY / path for path in PATH.findall(text)]
    assert links
    assert not [str(path) for path in (*links, *named) if not path.exists()]
