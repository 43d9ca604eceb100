# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs `arm` as on Windows or macOS: `python -m arm_testing.programs.other_systems PROGRAM ...`.

What they lack is removed first; processes start by spawn. Use in a process of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from typing import Any

MODULES = ("fcntl", "termios", "tty", "pty", "grp", "pwd", "resource")
OF_OS = ("fork", "getuid", "killpg", "setsid", "sched_getaffinity", "set_blocking", "fchmod")
FLAGS = ("O_TMPFILE", "O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_CLOEXEC")
OF_SIGNAL = ("SIGHUP", "SIGUSR1", "SIGKILL", "SIGTTOU", "SIGALRM", "pthread_sigmask")


class Missing:
    """A finder of modules before all others, which finds nothing that only POSIX has."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise ModuleNotFoundError for a missing module."""
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def remove() -> None:
    """Remove what other systems lack from this process."""
    finder: Any = Missing()
    sys.meta_path.insert(0, finder)
    for name in MODULES:
        sys.modules.pop(name, None)
    for owner, names in ((os, (*OF_OS, *FLAGS)), (signal, OF_SIGNAL)):
        for name in names:
            delattr(owner, name)
    multiprocessing.set_start_method("spawn")


if __name__ == "__main__":
    remove()
    from arm_studio.commands.arm import main

    sys.exit(main())
