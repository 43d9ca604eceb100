# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin of the packages: selects and orders tests and assigns ROS domains.

Tests of nodes are in folders `ros`, `system` and `launch`. Without rclpy, only the others run.
"""

from __future__ import annotations

import gc
import importlib.util
import logging
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arm_testing import domains
from arm_testing.repository import use_repository_around

# colcon starts pytest in the source of a package, whose modules Python would find before those
# that are installed, with the compiled kernels.
if Path("package.xml").exists():
    sys.path[:] = [path for path in sys.path if path and Path(path) != Path.cwd()]
HAVE_ROS = importlib.util.find_spec("rclpy") is not None
HAVE_LAUNCH = importlib.util.find_spec("launch_testing") is not None
NEED_ROS = {"ros", "system", "launch"}
LAUNCH_TESTS = "test/launch/test_*.py"
ONE_ARM = "one_arm"  # a folder whose tests share a running arm and therefore a worker
# Started first, in this order, so that no worker ends with a long file.
LONGEST = (
    f"system/{ONE_ARM}/",
    "system/test_demo",
    "system/test_interrupted",
    "arm_viewer/test/ros/test_panel_browser",
    "arm_kinematics/test/ros/test_moveit_services",
    "system/",
    "_browser",
    "arm_simulation/test/emulation/ros/test_node",
    "arm_kinematics/test/ros/",
    "pip_ros/test/test_venv",
    "/ros/",
)

# Beginnings of the tests that ./arm test --fast omits; arm_testing.slow_tests measures them.
SLOW = tuple(Path(__file__).with_name("slow_tests.txt").read_text(encoding="utf-8").split())


MARKERS = (
    "system: starts real processes over real DDS",
    "slow: takes long; left out by ./arm test --fast",
    *(f"{name}: by a linter of ROS 2" for name in ("copyright", "linter", "xmllint")),
    "thorough: left out by ./arm test, which runs one of its kind; part of ./arm test --all",
)
pytest_plugins = ["arm_testing.files.robot_files"]


def pytest_configure(config: pytest.Config) -> None:
    """Declare markers, find the repository, restore SIGINT, which background processes ignore."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    use_repository_around(config.rootpath)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if importlib.util.find_spec("hypothesis"):
        from hypothesis import settings

        # The time of an example depends on the machine's load and proves nothing.
        settings.register_profile("no_deadline", deadline=None)
        settings.load_profile("no_deadline")


@pytest.fixture(scope="module", autouse=True)
def ros_domain() -> Iterator[int]:
    """Give each test file a ROS domain of its own, in ROS_DOMAIN_ID."""
    yield from _in_new_domain()


@pytest.fixture
def fresh_domain(ros_domain: int) -> Iterator[int]:
    """Give one test a ROS domain of its own."""
    del ros_domain
    yield from _in_new_domain()


def _in_new_domain() -> Iterator[int]:
    with domains.leased() as domain, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        if importlib.util.find_spec("arm_common"):  # not where this package is tested alone
            _stay_on_this_computer(patch)
        yield domain


def _stay_on_this_computer(patch: pytest.MonkeyPatch) -> None:
    from arm_common.network import NETWORK, limit_to_this_computer, report_reach

    patch.delenv(NETWORK, raising=False)
    environment = limit_to_this_computer({})
    report_reach(environment)  # nodes of tests need not
    for name, value in environment.items():
        patch.setenv(name, value)


@pytest.fixture(autouse=True)
def signal_handlers_of_rclpy() -> Iterator[None]:
    """Uninstall rclpy's handlers of signals after a test, which its try_shutdown() leaves.

    In a later test of this process, a Ctrl-C would shut down all contexts.
    """
    yield
    if "rclpy" in sys.modules:
        sys.modules["rclpy"].uninstall_signal_handlers()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --cores."""
    parser.addoption("--cores", action="store_true", help="leave out the tests of nodes")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Keep launch_testing from importing all files by their bare names in search of launch tests.

    It fails if a package has two test files of one name.
    """
    if module_path.match(LAUNCH_TESTS):
        return None
    module: pytest.Module = pytest.Module.from_parent(parent, path=module_path)
    return module


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest files first; mark system tests and slow files."""
    propagate_logs()

    def rank(item: pytest.Item) -> int:
        path = item.path.as_posix()
        return next((i for i, part in enumerate(LONGEST) if part in path), len(LONGEST))

    items.sort(key=rank)
    for item in items:
        if "/test/system/" in item.path.as_posix():
            item.add_marker("system")
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")
        if hasattr(getattr(item, "module", None), "generate_test_description"):
            # Collected as a plain unittest, its tests would wait for nodes that nobody launches.
            item.add_marker(pytest.mark.skip("pytest has not loaded launch_testing's plugin"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect in little time: keep the compiled tests, and exempt them from garbage collection."""
    write, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    gc.disable()
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = write
        gc.freeze()
        gc.enable()


def propagate_logs() -> None:
    """Let our loggers reach caplog where launch is installed: loggers of its class do not."""
    logging.setLoggerClass(logging.Logger)
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith("arm_") and isinstance(logger, logging.Logger):
            logger.propagate = True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file, and those that share a running arm, on one worker."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return ONE_ARM if f"/{ONE_ARM}/" in nodeid else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_report_header() -> str | None:
    """Report that tests are omitted without ROS 2."""
    return None if HAVE_ROS else "no rclpy: tests that need ROS 2 are omitted"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List the launch tests that were not run."""
    if not HAVE_LAUNCH:
        terminalreporter.section("not run: launch_testing is not installed", sep="-")
        root = config.rootpath  # of the repository, or of a package alone
        for file in sorted([*root.glob(LAUNCH_TESTS), *root.glob(f"src/*/{LAUNCH_TESTS}")]):
            terminalreporter.write_line(str(file.relative_to(root)))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Omit the tests of nodes without ROS 2, or with --cores."""
    if not HAVE_LAUNCH and collection_path.match(LAUNCH_TESTS):
        return True
    folders = collection_path.parts[len(config.rootpath.parts) :]
    cores_only = not HAVE_ROS or config.getoption("cores")
    return True if cores_only and NEED_ROS.intersection(folders) else None
