# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from arm_common.ros.actions.server import PROBE_PERIOD, RETRY_PERIOD, ClientLivenessMonitor
from hypothesis import given
from hypothesis import strategies as st

TIMEOUT, LOOK = 2.0, 0.05


def missed_at(
    reachable, there=lambda t: True, timeout=TIMEOUT, delay=0.0, lost=lambda k: False, until=30.0
):
    """Return when a client is missed, None if never; it acknowledges after a delay [s].

    Messages pass at times that are ``reachable``, except probes whose number is ``lost``; the
    middleware knows of the client while it is ``there``.
    """
    watch, probes = ClientLivenessMonitor(timeout, 0.0, there(0.0)), []
    for k in range(1, round(until / LOOK)):
        now = k * LOOK
        # only the last probe counts
        acknowledged = not probes or (
            reachable(probes[-1])
            and reachable(now)
            and now - probes[-1] >= delay
            and not lost(len(probes))
        )
        if watch.poll(now, there(now), acknowledged):
            probes.append(now)
        if watch.timed_out(now):
            return now
    return None


@given(st.floats(0.0, 20.0))
def test_broken_link_is_detected_within_the_timeout(cut):
    at = missed_at(lambda t: t < cut)
    assert at is not None and cut < at <= cut + PROBE_PERIOD + TIMEOUT + 2 * LOOK


@given(st.floats(0.0, 20.0), st.floats(0.0, TIMEOUT - RETRY_PERIOD - 3 * LOOK))
def test_interruption_shorter_than_the_timeout_is_tolerated(cut, length):
    assert missed_at(lambda t: not cut <= t < cut + length) is None


@given(st.floats(0.0, RETRY_PERIOD - LOOK))
def test_slow_link_is_not_a_broken_link(delay):
    assert missed_at(lambda t: True, delay=delay) is None


@given(st.lists(st.booleans(), min_size=200, max_size=200))
def test_lost_probes_are_repeated(lost):
    """As long as of three in a row one arrives."""
    assert missed_at(lambda t: True, lost=lambda k: k % 3 != 0 and lost[k % 200]) is None


def test_client_that_leaves_is_detected():
    at = missed_at(lambda t: True, there=lambda t: t < 5.0)
    assert 5.0 < at <= 5.0 + TIMEOUT + 2 * LOOK


def test_client_that_was_never_known_does_not_time_out():
    assert missed_at(lambda t: True, there=lambda t: False) is None


def test_monitor_without_timeout_never_expires():
    assert missed_at(lambda t: t < 1.0, timeout=0.0) is None
