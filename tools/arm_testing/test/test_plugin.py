# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The plugin's lists name tests that exist."""

import pytest
from arm_testing.plugin import LONGEST, REPOSITORY, SLOW

FILES = [path.as_posix() for path in REPOSITORY.glob("*/*/test/**/test_*.py")]


@pytest.mark.parametrize("part", [*LONGEST, *SLOW])
def test_each_listed_path_matches_a_test_file(part):
    assert any(part in path for path in FILES)
