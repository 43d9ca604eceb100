# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The linters of ROS 2 on a whole package, as tests that test/test_linters.py of each imports.

ament_copyright knows long headers only; it takes other licences from entry points (setup.py).
ruff checks the style of the code.
"""

from types import SimpleNamespace

import pytest

NEEDS_ROS = "needs a full ROS 2"
COPYRIGHT_HOLDER = "Arm developers"
SPDX_HEADER = SimpleNamespace(
    name="Apache License, Version 2.0",
    spdx="Apache-2.0",
    file_headers=["{copyright}\nSPDX-License-Identifier: Apache-2.0"],
    license_files=[],
    contributing_files=[],
)


@pytest.mark.copyright
@pytest.mark.linter
def test_copyright(request: pytest.FixtureRequest) -> None:
    """Each file names its copyright and licence."""
    linter = pytest.importorskip("ament_copyright.main", reason=NEEDS_ROS)
    assert linter.main(argv=[str(request.path.parents[1])]) == 0


@pytest.mark.linter
@pytest.mark.xmllint
def test_xmllint(request: pytest.FixtureRequest) -> None:
    """package.xml follows its schema, and other XML is well formed."""
    linter = pytest.importorskip("ament_xmllint.main", reason=NEEDS_ROS)
    assert linter.main(argv=[str(request.path.parents[1])]) == 0
