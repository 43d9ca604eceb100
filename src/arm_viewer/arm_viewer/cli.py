# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executable `viewer`: starts the node, and ends cleanly on SIGINT and SIGTERM at any moment.

No exception is ever raised from a signal handler: it could land in code that swallows it. Before
rclpy is up a signal ends the process at once, for there is nothing to clean up; afterwards rclpy
shuts its context down on a signal, and whatever then fails or returns leads to the clean end.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

    from rclpy.executors import Executor

    from .viewer_node import ViewerNode

LOCAL = ("127.0.0.1", "localhost", "::1")
LONGEST_WAIT = 0.5  # s
NAP = 0.02  # s; a picture is made every 33 ms at most


def main() -> NoReturn:
    """Run the viewer; exit code 0 after a signal, 1 with one sentence if it cannot start."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _on_signal)
    import rclpy
    from arm_description.static_executor import StaticExecutor
    from rclpy.utilities import try_shutdown

    from .viewer_node import ViewerNode

    rclpy.init()
    _Signals.rclpy_is_up = True
    try:
        code = _run(ViewerNode, StaticExecutor(NAP))
    finally:
        try_shutdown()
    sys.exit(code)


class _Signals:
    rclpy_is_up = False


def _on_signal(number: int, frame: FrameType | None) -> None:
    if not _Signals.rclpy_is_up:
        os._exit(0)


def _run(make_node: type[ViewerNode], executor: Executor) -> int:
    from rclpy.exceptions import ParameterException
    from rclpy.logging import get_logger

    from arm_description import DescriptionError

    from .errors import ViewerError

    node = None
    try:
        node = make_node()
        address = node.start()
        executor.add_node(node)
        if executor.context.ok():
            _announce(node, address)
        while executor.context.ok():
            # With a bound, for rclpy may miss the signal while it waits for ever.
            executor.spin_once(timeout_sec=LONGEST_WAIT)
    except (ViewerError, DescriptionError, ParameterException) as error:
        get_logger("arm_viewer").fatal(str(error))
        return 1
    except Exception:
        if executor.context.ok():
            raise  # A fault; otherwise a step that failed because a signal ended the context.
    finally:
        executor.shutdown()
        if node is not None:
            node.stop()
    return 0


def _announce(node: ViewerNode, address: str) -> None:
    logger = node.get_logger()
    logger.info(f"Browser view: {address}")
    if node.parameters.host not in LOCAL:
        moves = ", and moves it" if node.parameters.sliders or node.parameters.drive else ""
        logger.warning(
            f"host is {node.parameters.host}: whoever reaches this machine by network sees the "
            f"robot{moves}; there is no password"
        )
