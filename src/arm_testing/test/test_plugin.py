# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The plugin's lists name tests that exist; logs reach caplog beside launch."""

import logging
from types import SimpleNamespace

import pytest
from arm_testing.plugin import (
    LONGEST,
    SLOW,
    propagate_logs,
    pytest_collection_modifyitems,
)
from arm_testing.repository import repository


def test_each_listed_path_matches_a_test_file():
    files = [path.as_posix() for path in repository().glob("*/*/test/**/test_*.py")]
    assert not [part for part in LONGEST if not any(part in path for path in files)]


def test_each_slow_test_exists():
    assert len(SLOW) > 100
    for slow in SLOW:
        file, *names = slow.split("::")
        assert not names or f"def {names[-1]}(" in (repository() / file).read_text(), slow
        assert (repository() / file).exists(), slow


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


@pytest.mark.parametrize("is_launch_test", [True, False])
def test_launch_test_that_pytest_took_for_a_unittest_is_skipped(is_launch_test, request):
    module = SimpleNamespace(**({"generate_test_description": None} if is_launch_test else {}))
    marks = []
    item = SimpleNamespace(path=request.path, nodeid="", module=module, add_marker=marks.append)
    pytest_collection_modifyitems([item])
    assert [mark.name for mark in marks] == (["skip"] if is_launch_test else [])


@pytest.mark.parametrize("_", ["leaves the handlers", "begins without them"])
def test_rclpys_handlers_of_signals_end_with_a_test(_):
    """With them, a Ctrl-C of a later test shut down the contexts of its nodes."""
    rclpy = pytest.importorskip("rclpy", reason="needs ROS 2")
    handlers = rclpy.signals.get_current_signal_handlers_options
    assert handlers() == rclpy.SignalHandlerOptions.NO
    rclpy.init()
    rclpy.try_shutdown()
    assert handlers() != rclpy.SignalHandlerOptions.NO
