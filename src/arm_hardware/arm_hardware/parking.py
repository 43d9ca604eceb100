# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The way home before the servos are released."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from arm_hardware.errors import HardwareError
from arm_hardware.goal import Outcome
from arm_hardware.motion import Motion
from arm_hardware.request import Plan, Point, Request, check

LOGGER = logging.getLogger(__name__)
SHARE = 0.3  # of each joint's speed limit, if the time allows
# [s] of the way home, if the speed limits allow: launch gives a process 5 s from SIGINT to SIGTERM
WISHED = 3.5
WITHIN = 10.0  # [s] of the wall; then the servos are released wherever they are
SETTLE = 0.3  # [s] of the wall; a servo is that far behind its pulses
ECHO = (
    0.5  # [s] in which a second signal is the echo of the first: of a terminal and of a launcher
)
POLL = 0.02  # [s]


def park(motion: Motion, rest: Sequence[float], hurried: Callable[[], bool]) -> bool:
    """Go to the rest posture slowly; return whether the arm is there.

    The gripper stays as it is. Nothing else is accepted meanwhile; the stop works.

    Args:
        motion: Of the driver.
        rest: Posture, the arm's axes first [rad or m].
        hurried: Asked again and again: whether to give up.
    """
    try:
        goal = motion.follow(_way_home(motion, rest))
        motion.accept_no_more("the driver is ending")
    except HardwareError as error:
        LOGGER.warning("The arm is not parked: %s", error)
        return False
    begin = time.monotonic()
    while not goal.wait(POLL):
        waited = time.monotonic() - begin
        if waited > WITHIN or (hurried() and waited > ECHO):
            LOGGER.warning("Parking was cut short.")
            return False
    if goal.outcome is not Outcome.SUCCEEDED:
        LOGGER.warning("The arm is not parked: %s", goal.message)
        return False
    time.sleep(SETTLE)
    LOGGER.info("Parked.")
    return True


def _way_home(motion: Motion, rest: Sequence[float]) -> Plan:
    """Return the plan of one straight way."""
    here, arm = motion.command()[0], motion.axes.arm
    least = max(
        abs(home - now) / axis.velocity for axis, home, now in zip(arm, rest, here, strict=False)
    )
    seconds = max(min(least / SHARE, WISHED), 1.05 * least, POLL)
    way = Request(motion.axes.names, [Point(seconds, tuple(rest[: len(arm)]))])
    return check(way, motion.axes)
