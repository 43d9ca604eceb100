# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/panels/test_interface.py
"""The tabs of the sidebar and their folders; STOP and the messages are above them."""

from __future__ import annotations

from typing import Any

MOVE, ROBOT, SCENE, RUN, VIEW, MORE = "Move", "Robot", "Scene", "Run", "View", "More"
TABS = (MOVE, ROBOT, SCENE, RUN, VIEW, MORE)


class PageTabs:
    """Folders by purpose. Its methods are called by one thread.

    A tab is there while it has folders. Those that have some when empty ones are removed first
    are in the order of TABS.
    """

    def __init__(self, elements: Any) -> None:
        self._elements, self._group = elements, elements.add_tab_group(order=1.0)
        self._tabs = {name: self._group.add_tab(name) for name in TABS}
        self._folders: dict[tuple[str, str], tuple[Any, int]] = {}  # by tab and title; its users

    def folder(self, tab: str, title: str, **options: Any) -> Any:
        """Return a folder of a tab, which is added unless there is one of that title."""
        if tab not in self._tabs:
            self._tabs[tab] = self._group.add_tab(tab)
        folder, users = self._folders.get((tab, title), (None, 0))
        if folder is None:
            with self._tabs[tab]:
                folder = self._elements.add_folder(title, **options)
        self._folders[tab, title] = folder, users + 1
        return folder

    def leave(self, tab: str, title: str) -> None:
        """Remove a folder if each of its users has left it, and a tab without folders."""
        folder, users = self._folders.pop((tab, title))
        if users > 1:
            self._folders[tab, title] = folder, users - 1
            return
        folder.remove()
        self.remove_empty_tabs()

    def remove_empty_tabs(self) -> None:
        """Remove the tabs that have no folder."""
        used = {tab for tab, _ in self._folders}
        for name in self._tabs.keys() - used:
            self._tabs.pop(name).remove()
