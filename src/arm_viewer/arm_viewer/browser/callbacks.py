# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Hands the actions of users over to the node's thread.

viser runs callbacks in threads of its own, ROS callbacks run in the executor's thread. Everything
else in this package runs in the executor's thread only and needs no locks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser

    from arm_viewer.browser.access import Access

Action = Callable[[], None]


def _raise(error: Exception) -> None:
    raise error


class CallbackQueue:
    """A queue of actions that its owner's thread runs.

    Args:
        failed: takes the exception of an action, after which the next action runs.
    """

    def __init__(self, failed: Callable[[Exception], None] = _raise) -> None:
        self._failed = failed
        self._lock = threading.Lock()
        self._actions: deque[Action] = deque()
        self._wake: Action | None = None

    def open(self, wake: Action) -> None:
        """Start to deliver; `wake`, which each post calls, makes the owner's thread `drain`."""
        with self._lock:
            self._wake = wake
            if self._actions:
                wake()

    def close(self) -> None:
        """Drop all waiting and later actions; `wake` is not called any more."""
        with self._lock:
            self._wake = None
            self._actions.clear()

    def post(self, action: Action) -> None:
        """Queue an action from any thread."""
        with self._lock:
            self._actions.append(action)
            if self._wake is not None:
                self._wake()

    def drain(self) -> None:
        """Run the waiting actions in order; called by the owner's thread."""
        with self._lock:
            actions, self._actions = self._actions, deque()
        for action in actions:
            try:
                action()
            except Exception as error:  # noqa: BLE001 - one fault must not end the view
                self._failed(error)


class PanelGui:
    """viser's GUI elements; the callbacks of users run in the node's thread."""

    def __init__(self, server: viser.ViserServer, queue: CallbackQueue, access: Access) -> None:
        self.elements: Any = server.gui  # viser's own interface, for elements without callbacks
        self.queue = queue
        self._access = access

    def on_user(
        self,
        register: Callable[[Any], Any],
        action: Callable[..., None],
        arguments: Callable[[], tuple[Any, ...]] = tuple,
    ) -> None:
        """Run an action when a user, not the node, causes an event, e.g. on_click of a button.

        Its arguments are those at the time of the event. The callback is a coroutine: viser runs
        it in its event loop, in the order of events.
        """

        async def callback(event: Any) -> None:
            if event.client_id is not None:
                self.queue.post(partial(action, *arguments()))

        register(callback)

    def on_browser(
        self,
        register: Callable[[Any], Any],
        action: Callable[..., None],
        arguments: Callable[[], tuple[Any, ...]] = tuple,
    ) -> None:
        """Run an action for the browser whose user causes an event, as `on_user` does.

        It takes viser's handle of that browser before its arguments.
        """

        async def callback(event: Any) -> None:
            if event.client is not None:
                self.queue.post(partial(action, event.client, *arguments()))

        register(callback)

    def emptied(self, folder: Any) -> Any:
        """Remove what is inside a folder and return the folder, to be filled again by `with`.

        A callback must not make a new folder instead: viser would add it outside the panel's own.
        """
        for element in tuple(folder._children.values()):
            element.remove()
        return folder

    def on_change(self, element: Any, action: Callable[[Any], None]) -> None:
        """Run an action with the value that a user sets, even if the node sets another first."""
        self.on_user(element.on_update, action, lambda: (element.value,))

    def button(self, label: str, action: Action, **options: Any) -> Any:
        """Add a button and return viser's handle."""
        button = self.elements.add_button(label, **{"color": "gray", **options})
        self.on_user(button.on_click, action)
        return button

    def views(
        self,
        label: str,
        options: Sequence[str],
        action: Callable[[Any, str], None],
        order: float,
    ) -> None:
        """Add buttons in a row that only change what one browser shows; anyone may press them.

        The action takes viser's handle of that browser, and the label of the pressed button.
        """
        buttons = self.elements.add_button_group(label, tuple(options), order=order)
        self.open_to_everyone(buttons)
        self.on_browser(buttons.on_click, action, lambda: (buttons.value,))

    def open_to_everyone(self, element: Any) -> None:
        """Let a button or command work without the token, too."""
        self._access.open_elements.add(element._impl.uuid)

    def checkbox(self, label: str, value: bool, action: Callable[[bool], None]) -> Any:
        """Add a checkbox and return viser's handle; the action takes its new value."""
        box = self.elements.add_checkbox(label, value)
        self.on_change(box, action)
        return box

    def remember(self, key: str, element: Any) -> Any:
        """Let browsers remember the value that a user sets, under a key; return the element.

        A browser sets it again in a view in which nobody has set it yet (`page.js`).
        """

        def mark(fresh: str) -> str:
            uuid = element._impl.uuid
            return (
                f'<span data-remember="{key}" data-element="{uuid}" data-fresh="{fresh}" hidden>'
                "</span>"
            )

        html = self.elements.add_html(mark("1"))

        async def on_set(event: Any) -> None:
            if event.client_id is not None:
                html.content = mark("")

        element.on_update(on_set)
        return element

    def text(self, label: str, value: str, action: Callable[[str], None], **options: Any) -> Any:
        """Add a text field and return viser's handle; the action takes each new text."""
        field = self.elements.add_text(label, value, **options)
        self.on_change(field, action)
        return field

    def choice(
        self, label: str, options: Sequence[str], value: str, action: Callable[[str], None]
    ) -> Any:
        """Add a drop-down list and return viser's handle; the action takes the chosen option."""
        field = self.elements.add_dropdown(label, tuple(options), initial_value=value)
        self.on_change(field, action)
        return field

    def line(self, label: str, action: Callable[[str], None], hint: str = "") -> Any:
        """Add a text field whose text the action takes on Enter, and return viser's handle."""
        form = self.elements.add_form(None)
        with form:
            field = self.elements.add_text(label, "", hint=hint or None)
        self.on_user(form.on_submit, action, lambda: (field.value,))
        return field
