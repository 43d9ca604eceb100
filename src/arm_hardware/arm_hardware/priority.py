# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Who runs first: the control loop's thread before other programs, where the system allows it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import get_native_id

NORMAL = "normal"
REMEDY = (
    "allow it with 'LimitRTPRIO=99' in the systemd unit, or with a line '<user> - rtprio 99' in "
    "/etc/security/limits.d and a new login, or set realtime_priority to 0"
)


def raise_priority(wanted: int) -> str:
    """Let the calling thread run before all of normal priority (Linux: SCHED_FIFO).

    The other threads of the process come next: one that waits for a processor while it holds the
    interpreter's lock would keep the calling one waiting too.

    Args:
        wanted: 1 to 99, or 0 to leave it as it is.

    Returns:
        How it runs now; if the wish was refused, why and what to do.
    """
    if wanted <= 0:
        return NORMAL
    try:
        for thread in _others():
            with suppress(ProcessLookupError):  # it has just ended
                os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(max(1, wanted - 1)))
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(wanted))
    except (AttributeError, OSError) as error:
        return f"{NORMAL}; priority {wanted} was refused ({error}): {REMEDY}"
    return f"SCHED_FIFO {wanted}"


def _others() -> list[int]:
    """Return the process' other threads, as far as the system tells (Linux: proc(5))."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return []
    return [int(task.name) for task in tasks.iterdir() if int(task.name) != get_native_id()]
