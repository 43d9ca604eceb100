# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from arm_testing.ros.kinematics import PATIENCE, World, start


@contextmanager
def _serving(*arguments: str, number: int = signal.SIGINT, **environment: str) -> Iterator[World]:
    """Yield a client node of the process, which must end cleanly; its output is added to it."""
    process = start(*arguments, **environment)
    world = World()
    world.pid = process.pid
    try:
        yield world
    finally:
        world.close()
        process.send_signal(number)
        world.output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, world.output
    assert "Traceback" not in world.output


@pytest.fixture(scope="session")
def serving() -> Callable[..., AbstractContextManager[World]]:
    return _serving
