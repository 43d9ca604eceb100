# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Hands the actions of users over to the page's thread.

viser runs callbacks in threads of its own, ROS callbacks run in the executor's thread. Everything
else in this package runs in the executor's thread only and needs no locks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from arm_viewer.browser.access import Access, SentCommand, present_command
from arm_viewer.browser.tabs import PageTabs

if TYPE_CHECKING:
    import viser

Action = Callable[[], None]
# What adds elements whose value is no input, but a press.
BUTTONS = ("add_button", "add_button_group", "add_upload_button")


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
        self._actions: deque[tuple[Action, SentCommand | None]] = deque()
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

    def post(self, action: Action, command: SentCommand | None = None) -> None:
        """Queue an action from any thread, and the command of a page that it executes."""
        with self._lock:
            self._actions.append((action, command))
            if self._wake is not None:
                self._wake()

    def drain(self) -> None:
        """Run the waiting actions in order, but no old command; called by the owner's thread."""
        with self._lock:
            actions, self._actions = self._actions, deque()
        dropped: dict[str, SentCommand] = {}  # by what they set; the first knows what was before
        for action, command in actions:
            if command is not None and command.is_old:
                dropped.setdefault(command.target, command)
                continue
            if command is not None:
                dropped.pop(command.target, None)
            self._run(action)
        for command in dropped.values():
            self._run(command.drop)

    def _run(self, action: Action) -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - one fault must not end the view
            self._failed(error)


def element_id(element: Any) -> str:
    """Return the identifier of an element in messages and in the page.

    viser has no public call for it (`GuiInputHandle` of viser 1.1 hides it).
    """
    return str(element._impl.uuid)


class PageElements:
    """viser's own interface to GUI elements; the link learns of each input that is added."""

    def __init__(self, gui: Any, access: Access) -> None:
        self._gui, self._access = gui, access
        self.noted: list[list[Any]] = []  # each gets the elements that are added

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._gui, name)
        return partial(self._add, method, name) if name.startswith("add_") else method

    def _add(self, add: Callable[..., Any], name: str, *arguments: Any, **options: Any) -> Any:
        element = add(*arguments, **options)
        if hasattr(element, "value") and name not in BUTTONS:
            self._access.link.inputs[element_id(element)] = element
        for added in self.noted:
            added.append(element)
        return element


class PageGui:
    """viser's GUI elements; the callbacks of users run in the page's thread."""

    def __init__(self, server: viser.ViserServer, queue: CallbackQueue, access: Access) -> None:
        self.elements: Any = PageElements(server.gui, access)
        self.tabs = PageTabs(self.elements)
        self._marks = self.elements.add_folder(None, order=99)
        self.queue = queue
        self.failed: Callable[[str, Exception], None] = lambda title, error: _raise(error)
        self._access = access
        self._contents: dict[str, list[Any]] = {}  # of folders that are filled anew

    def mark(self, html: str = "") -> Any:
        """Add HTML that no tab hides, for the page's script; return viser's handle."""
        with self._marks:
            return self.elements.add_html(html)

    @contextmanager
    def noted(self) -> Iterator[list[Any]]:
        """Return a list of the elements that are added in this context."""
        added: list[Any] = []
        self.elements.noted.append(added)
        try:
            yield added
        finally:
            self.elements.noted.pop()

    def remove(self, elements: Sequence[Any]) -> None:
        """Remove elements, those of a folder before it; some may have been removed already."""
        with catch_warnings():
            simplefilter("ignore")  # viser warns of an element that is gone
            for element in reversed(elements):
                element.remove()

    @contextmanager
    def part(self, title: str) -> Iterator[None]:
        """Build a part of the page; if that fails, the part is left out, and nothing else."""
        with self.noted() as added:
            try:
                yield
            except Exception as error:  # noqa: BLE001 - one fault must not end the page
                self.remove(added)
                self.failed(title, error)

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
                self.queue.post(partial(action, *arguments()), present_command.get())

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
                client = event.client
                self.queue.post(partial(action, client, *arguments()), present_command.get())

        register(callback)

    def on_dropped_drag(self, handle: str, put_back: Action) -> None:
        """Put a drag handle back, by its name, after a drag of it was too late."""
        waiting = False

        def run() -> None:
            nonlocal waiting
            waiting = False
            put_back()

        def post() -> None:
            nonlocal waiting
            if not waiting:  # one drag is many messages
                waiting = True
                self.queue.post(run)

        self._access.link.handles[handle] = post

    @contextmanager
    def emptied(self, folder: Any) -> Iterator[None]:
        """Remove what was added to a folder in the last such context, and fill it again.

        A callback must not make a new folder instead: viser would add it outside the panel's own.
        """
        self.remove(self._contents.pop(element_id(folder), ()))
        with folder, self.noted() as added:
            yield
        self._contents[element_id(folder)] = added

    def on_change(self, element: Any, action: Callable[[Any], None]) -> None:
        """Run an action with the value that a user sets, even if the node sets another first."""
        self.on_user(element.on_update, action, lambda: (element.value,))

    def button(self, label: str, action: Action, **options: Any) -> Any:
        """Add a button and return viser's handle."""
        button = self.elements.add_button(label, **options)
        self.on_user(button.on_click, action)
        return button

    def row(self, label: str, actions: Mapping[str, Action]) -> Any:
        """Add buttons in a row, label -> action, and return viser's handle of all."""
        row = self.elements.add_button_group(label, tuple(actions))
        self.on_user(row.on_click, lambda pressed: actions[pressed](), lambda: (row.value,))
        return row

    def views(self, options: Sequence[str], action: Callable[[Any, str], None]) -> None:
        """Add buttons over the picture that only change it in one browser; anyone may press them.

        The action takes viser's handle of that browser, and the label of the pressed button.
        """
        buttons = self.elements.add_button_group("", tuple(options), visible=False)
        of = f'data-element="{element_id(buttons)}" data-options="{"|".join(options)}"'
        self.mark(f'<span data-arm="views" {of} hidden></span>')
        self.open_to_everyone(buttons)
        self.on_browser(buttons.on_click, action, lambda: (buttons.value,))

    def add_script(self, file: Path) -> None:
        """Add a script to the pages that are opened from now on, after `page.js`."""
        if file not in self._access.scripts:
            self._access.scripts.append(file)

    def open_to_everyone(self, element: Any) -> None:
        """Let a button or command work without the token, too, and however late it is."""
        self._access.open_elements.add(element_id(element))
        self.never_too_late(element)

    def never_too_late(
        self, element: Any, when: Callable[[Any], bool] = lambda value: True
    ) -> None:
        """Accept an element however late it is if its value only ends or slows a motion."""
        self._access.link.ageless[element_id(element)] = when

    def offer_stop(self, stop: Action) -> None:
        """Let all pages stop the arm, whatever else of them works; they learn when it is done."""

        def stop_and_tell(done: Action) -> None:
            stop()
            done()

        self._access.link.stop = lambda done: self.queue.post(partial(stop_and_tell, done))

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
            uuid = element_id(element)
            return (
                f'<span data-remember="{key}" data-element="{uuid}" data-fresh="{fresh}" hidden>'
                "</span>"
            )

        html = self.mark(mark("1"))

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

    def line(
        self,
        label: str,
        action: Callable[[str], None],
        hint: str = "",
        never_too_late: Callable[[str], bool] = lambda text: False,
    ) -> Any:
        """Add a text field whose text the action takes on Enter, and return viser's handle."""
        form = self.elements.add_form(None)
        with form:
            field = self.elements.add_text(label, "", hint=hint or None)
        self.on_user(form.on_submit, action, lambda: (field.value,))
        self.never_too_late(field)  # only Enter commands
        self.never_too_late(form, lambda _: never_too_late(field.value))
        return field
