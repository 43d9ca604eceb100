# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Whether whoever gave a command can still be reached: nobody else would take it back."""

from __future__ import annotations

ASK_AGAIN = 0.5  # [s] of the wall; a question without an answer may have been lost on its way


class ClientWatch:
    """Asks one question after another, and misses the client when no answer comes.

    A question is any message whose arrival the middleware acknowledges. So a cable that was
    pulled, a computer that sleeps and a program that was killed are all missed within the timeout,
    long before the middleware gives the client up.
    """

    def __init__(self, timeout: float, now: float, there: bool) -> None:
        """Begin to watch.

        Args:
            timeout: [s] without an answer after which the client counts as gone; 0 for never.
            now: Steady time [s].
            there: Whether the client is known. One that never was is not missed.
        """
        self._timeout = timeout
        self._heard = now if there else None
        self._asked = -float("inf")

    def look(self, now: float, there: bool, answered: bool) -> bool:
        """Take note of what is known; return whether to ask now.

        Args:
            now: Steady time [s].
            there: Whether the middleware knows of a client.
            answered: Whether the last question, if there was one, has been acknowledged.
        """
        if there and answered:
            self._heard = now
        if not answered and now - self._asked < ASK_AGAIN:
            return False
        self._asked = now
        return True

    def gone(self, now: float) -> bool:
        """Return whether the client was there and has not been heard for the timeout."""
        return self._heard is not None and 0.0 < self._timeout < now - self._heard
