# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every package that is locked is in the list of licences, and nothing else is."""

import re

import pytest
from documents import licences
from documents.reference import FOLDER
from pip_ros import venv

LOCKS = (venv.REQUIREMENTS, venv.TEST_REQUIREMENTS)


@pytest.mark.parametrize(("part", "file"), list(enumerate(LOCKS, 1)))
def test_licence_list_has_each_package_once(part, file):
    """The licences listed depend on the Python that wrote the page, the packages do not."""
    text = (FOLDER / "licences.md").read_text(encoding="utf-8").split("\n## ")[part]
    rows = re.findall(r"^\| (?!licence|---)(.+?) \| (.+) \|$", text, re.MULTILINE)
    listed = sorted(name for _, names in rows for name in names.split(", "))
    why = "run ./arm exec python3 tools/documents/write.py"
    assert listed == licences.names(file), why


def test_package_without_a_licence_is_reported():
    with pytest.raises(LookupError, match="no-such-package does not state its licence"):
        licences.licence("no-such-package")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pluggy", "MIT"),
        ("ros-rclpy", "Apache-2.0"),
        ("numpy", "BSD-3-Clause"),
        ("certifi", "MPL-2.0"),
    ],
)
def test_licences_are_read_from_packages(name, said):
    assert said in licences.licence(name)
