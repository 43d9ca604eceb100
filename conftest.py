# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Programs under test hear Ctrl-C; without ROS 2 the tests of the cores run, and say so."""

import importlib.util
import re
import signal
from pathlib import Path

HERE = Path(__file__).resolve().parent
HAVE_ROS = importlib.util.find_spec("rclpy") is not None
HAVE_LAUNCH = importlib.util.find_spec("launch_testing") is not None
LAUNCH_TESTS = "src/*/test/launch/test_*.py"
LONGEST = "src/arm_tasks/test/system", "src/arm_viewer"
OF_ROS = re.compile(
    r"^\s*(?:from|import) (?:rclpy|launch|\w+_msgs|\w+_interfaces|std_srvs|xacro|node_world)\b"
    r"|^from arm_\w+[\w.]* import .*node|^from arm_\w+\.(?:ros|\w+_node|client|bringup|demo)\b",
    re.MULTILINE,
)


def pytest_configure(config):
    """A background process ignores SIGINT, and its children inherit that."""
    del config
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest, so that in the end nobody waits for one."""
    system = {item.path for item in items if item.get_closest_marker("system")}

    def rank(item):
        path = item.path.as_posix()
        if item.path not in system:
            return len(LONGEST) + 1
        return next((i for i, part in enumerate(LONGEST) if part in path), len(LONGEST))

    items.sort(key=rank)


def pytest_report_header():
    """Say what is left out."""
    return None if HAVE_ROS else "no rclpy: tests that need ROS 2 are left out"


def pytest_terminal_summary(terminalreporter):
    """Name what was not run."""
    if not HAVE_LAUNCH:
        terminalreporter.section("not run: launch_testing is not installed", sep="-")
        for file in sorted(HERE.glob(LAUNCH_TESTS)):
            terminalreporter.write_line(str(file.relative_to(HERE)))


def pytest_ignore_collect(collection_path):
    """Leave out what imports ROS 2 where there is none, folders by their conftest.py."""
    if not HAVE_LAUNCH and collection_path.match(LAUNCH_TESTS):
        return True
    file = collection_path / "conftest.py" if collection_path.is_dir() else collection_path
    if (
        HAVE_ROS
        or file.suffix != ".py"
        or not file.is_file()
        or file.parent == collection_path.root
    ):
        return None
    return True if OF_ROS.search(file.read_text()) else None
