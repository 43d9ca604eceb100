# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every package has the version, maintainer and addresses of one file."""

import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from documents import identity
from documents.identity import URLS, identified_files, manifest, setup

REAL = {
    "version": "1.2.3",
    "maintainer": "Ada",
    "email": "ada@arm.test",
    **{kind: f"https://arm.test/{kind}" for kind in URLS},
}


@pytest.mark.parametrize("path", identified_files(), ids=lambda path: path.parent.name)
def test_file_is_up_to_date(path):
    remedy = "run ./arm exec python3 tools/documents/write.py"
    assert path.read_text(encoding="utf-8") == identified_files()[path], remedy


def test_another_identity_is_written_everywhere():
    for path, text in identified_files().items():
        rewrite = manifest if path.name == "package.xml" else setup
        changed = rewrite(text, REAL)
        assert identity.PLACEHOLDER not in changed
        assert REAL["version"] in changed and REAL["email"] in changed
        assert rewrite(changed, REAL) == changed
        if path.name == "package.xml":
            urls = {url.get("type"): url.text for url in ET.fromstring(changed).iter("url")}
            assert urls == {kind: REAL[kind] for kind in URLS}


def test_release_refuses_placeholders():
    assert identity.placeholders(REAL) == []
    left = identity.placeholders(REAL | {"email": "arm@example.org"})
    assert left == ["email"]


def test_release_of_this_identity_is_as_the_file_says():
    command = [sys.executable, identity.__file__, "--release"]
    done = subprocess.run(command, capture_output=True, text=True)
    left = identity.placeholders(identity.identity())
    assert (done.returncode == 0) is (not left)
    assert all(name in done.stderr for name in left)
