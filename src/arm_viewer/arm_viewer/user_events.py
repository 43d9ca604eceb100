# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a person does in a browser becomes an action in the node's thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from .mailbox import Mailbox


def on_user(mailbox: Mailbox, register: Callable[[Any], Any], action: Callable[[], None]) -> None:
    """Run an action in the node's thread when a person, not the node, causes an event.

    The callback is a coroutine: viser runs it in its event loop, in the order of events.

    Args:
        mailbox: Takes the action over.
        register: viser's method that takes a callback, e.g. on_click of a button.
        action: What to do.
    """

    async def callback(event: Any) -> None:
        if event.client_id is not None:
            mailbox.post(action)

    handler: Callable[[Any], Coroutine[Any, Any, None]] = callback
    register(handler)
