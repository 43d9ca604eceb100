# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The plugin's lists name tests that exist; logs reach caplog beside launch."""

import logging

import pytest
from arm_testing.plugin import LONGEST, REPOSITORY, SLOW, propagate_logs

FILES = [path.as_posix() for path in REPOSITORY.glob("*/*/test/**/test_*.py")]


@pytest.mark.parametrize("part", [*LONGEST, *SLOW])
def test_each_listed_path_matches_a_test_file(part):
    assert any(part in path for path in FILES)


class LaunchLogger(logging.Logger):
    """As that of launch.logging, which sets it for all loggers created after its import."""

    def __init__(self, name):
        super().__init__(name)
        self.propagate = False


def test_loggers_created_after_an_import_of_launch_propagate():
    try:
        logging.setLoggerClass(LaunchLogger)
        before = logging.getLogger(f"arm_hardware.before_{id(object())}")
        assert not before.propagate
        propagate_logs()
        after = logging.getLogger(f"{before.name}.after")
    finally:
        logging.setLoggerClass(logging.Logger)
    assert before.propagate and after.propagate
