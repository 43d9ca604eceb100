# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Start a program so that a signal while it is still being imported ends it silently.

Importing takes a second. Python would answer a SIGINT in it with a traceback from wherever it was.
"""

from __future__ import annotations

import importlib
import os
import signal
from types import FrameType


def start(module: str, function: str = "main", interrupted: int = 0) -> int:
    """Import a module and call a function of it.

    Args:
        module: its full name.
        function: takes no arguments and returns an exit code.
        interrupted: exit code after a signal during the import; 0 for nodes, which are ended so.

    Returns:
        The exit code.
    """

    def leave(number: int, frame: FrameType | None) -> None:
        """End at once: nothing was begun that would have to be put in order."""
        del number, frame
        os._exit(interrupted)

    before = {n: signal.signal(n, leave) for n in (signal.SIGINT, signal.SIGTERM)}
    run = getattr(importlib.import_module(module), function)
    for number, handler in before.items():
        signal.signal(number, handler)
    return int(run())
