# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Who runs first: the control loop's thread before other programs, where the system allows it."""

from __future__ import annotations

import os

NORMAL = "normal"
REMEDY = (
    "allow it with 'LimitRTPRIO=99' in the systemd unit, or with a line '<user> - rtprio 99' in "
    "/etc/security/limits.d and a new login, or set realtime_priority to 0"
)


def raise_priority(wanted: int) -> str:
    """Let the calling thread run before all of normal priority (Linux: SCHED_FIFO).

    Args:
        wanted: 1 to 99, or 0 to leave it as it is.

    Returns:
        How it runs now; if the wish was refused, why and what to do.
    """
    if wanted <= 0:
        return NORMAL
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(wanted))
    except (AttributeError, OSError) as error:
        return f"{NORMAL}; priority {wanted} was refused ({error}): {REMEDY}"
    return f"SCHED_FIFO {wanted}"
